"""The forest of a service: points are dicts of features, columns may join, readers do not wait long."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.engine.categories import (
    Coded,
    MixedRows,
    Table,
)
from riparian.forest import OnlineForestClassifier
from riparian.loading import from_bytes_with_extra, to_bytes_with_extra
from riparian.serve.items import Features, Forecast, Label, Lesson
from riparian.serve.options import Limits
from riparian.serve.state.catalogue import Catalogue
from riparian.serve.state.dates import Dates, put_numbers

EXTRA = "serve"  # what the extra part of a snapshot holds for a service,
COLUMNS = "columns"  # and for the command line
NOTHING = Forecast(None, (), (), 0)  # before anything is learned


class ServedModel:
    """A forest and the names of its columns. One thread learns; any may predict."""

    def __init__(
        self,
        forest: OnlineForestClassifier,
        catalogue: Catalogue,
        points: int,
        dates: Dates | None = None,
        about: dict[str, Any] | None = None,
    ) -> None:
        self.forest = forest  # without names: it is fed arrays
        self.dates = dates  # where columns are not features as they are
        self._about = about or {}  # the other entries of its file, which a snapshot passes on
        self.catalogue = catalogue  # of what was learned
        self.points = points
        self.set_aside = 0  # lessons that could not be learned
        self._changing = (
            threading.Lock()
        )  # held while columns join, and while a row is made for them

    @classmethod
    def new(
        cls,
        forest: OnlineForestClassifier,
        classes: Sequence[Label] | None,
        limits: Limits | None = None,
    ) -> ServedModel:
        """A forest that has learned nothing, and whose features are not known yet."""
        labels = frozenset(classes or ())
        return cls(forest, Catalogue({}, labels, True, classes is None, limits or Limits()), 0)

    @classmethod
    def of(
        cls,
        forest: OnlineForestClassifier,
        limits: Limits | None = None,
        extra: dict[str, Any] | None = None,
    ) -> ServedModel:
        """A forest that comes from elsewhere: its features are fixed, by name or by position.

        `extra` is what else its file says: `riparian learn` says how it reads dates.
        """
        dates = dates_of(extra, forest)
        names = names_of(forest)
        columns = {name: column for column, name in enumerate(names)}
        texts = {names[c] for c, table in categories_of(forest).items() if table.kind != "numbers"}
        if dates is not None:
            columns, texts = dict(dates.first), {*dates.texts}
        labels = frozenset(forest.classes_.tolist())
        if not all(isinstance(label, bool | int | float | str) for label in labels):
            raise ValueError("labels must be strings, numbers or bools, got bytes: JSON has none")
        catalogue = Catalogue(
            columns,
            labels,
            False,
            not forest.model_.target.closed,
            limits or Limits(),
            frozenset(texts),
            None if dates is None else dates.fault,
        )
        about = {COLUMNS: extra[COLUMNS]} if extra and COLUMNS in extra else {}
        return cls(forest, catalogue, int(forest.stats()["points"]), dates, about)

    # -- predicting -------------------------------------------------------------------------------

    def forecasts(self, points: Sequence[Features]) -> list[Forecast]:
        """What the forest says about each. Features that it has not learned do not count."""
        if self.points == 0:
            return [NOTHING] * len(points)
        learned = self.points  # or more, by the time that the forest is asked
        with self._changing:
            rows = self._rows(points)
            proba, classes = self.forest.model_.predict_proba(rows, self.forest.threads())
        labels = tuple(classes.tolist())
        best = proba.argmax(axis=1).tolist()
        return [
            Forecast(labels[b], labels, tuple(shares), learned)
            for b, shares in zip(best, proba.tolist(), strict=True)
        ]

    def _rows(self, points: Sequence[Features]) -> Any:
        if self.dates is not None:
            return self.dates.rows(points)
        rows = rows_of(points, self.catalogue.columns)
        categorical = categories_of(self.forest)
        if not categorical:
            return rows
        rows[:, list(categorical)] = np.nan
        names = list(self.catalogue.columns)
        return MixedRows(rows, {c: self._category(points, names[c]) for c in categorical})

    def _category(self, points: Sequence[Features], name: str) -> Coded:
        """A column of categories. Values of another type are left out: lessons were checked before."""
        values = [point.get(name) for point in points]
        return Coded.of(name, [v if self.catalogue.of_kind(name, v) else None for v in values])

    @property
    def feature_names(self) -> list[str]:
        """Of the columns of the forest: a date may have several."""
        if self.dates is not None:
            return self.dates.table.feature_names
        return list(self.catalogue.columns)

    # -- learning ---------------------------------------------------------------------------------

    def learn(self, lessons: Sequence[Lesson]) -> list[Lesson]:
        """Learn lessons in their order, and return them without those that were set aside.

        How they are cut into calls does not change a bit: whether a lesson can be learned depends only
        on those before it. None is set aside that a service of this version has accepted.
        """
        catalogue = self.catalogue
        after: list[tuple[Catalogue, Lesson]] = []
        for lesson in lessons:
            label = catalogue.canonical(lesson.label)
            if catalogue.label_fault(label) is not None:
                self.set_aside += 1
                continue
            catalogue = catalogue.with_lesson(lesson.features, label)
            after.append(
                (catalogue, lesson if label is lesson.label else replace(lesson, label=label))
            )
        for width, group in groupby(after, key=lambda pair: len(pair[0].columns)):
            part = list(group)
            if width != len(self.catalogue.columns):
                self._widen(part[0][0])
            self._learn([lesson for _, lesson in part])
            self.catalogue = part[-1][0]
        return [lesson for _, lesson in after]

    def _learn(self, lessons: list[Lesson]) -> None:
        points = [lesson.features for lesson in lessons]
        if self.dates is not None:
            self.dates.follow(points)
        rows = self._rows(points)
        labels = np.array([lesson.label for lesson in lessons], label_type(lessons[0].label))
        weights = np.array([lesson.weight for lesson in lessons])
        model = self.forest.model_
        model.target.check(labels)
        model.learn(rows, labels, None if (weights == 1).all() else weights, self.forest.threads())
        self.points += len(lessons)

    def _widen(self, catalogue: Catalogue) -> None:
        with self._changing:
            width = len(catalogue.columns)
            if not self.catalogue.columns:  # the first features: the trees begin with them
                empty = np.empty((0, width), np.float32)
                closed = not catalogue.open_labels
                classes = sorted(catalogue.labels) if closed else None
                label = next(iter(catalogue.labels))
                self.forest.partial_fit(empty, np.empty(0, label_type(label)), classes=classes)
            new = catalogue.texts - self.catalogue.texts
            add_columns(self.forest, width, sorted(catalogue.columns[name] for name in new))
            self.catalogue = catalogue

    # -- as a file --------------------------------------------------------------------------------

    def to_bytes(self, extra: dict[str, Any]) -> bytes:
        """The forest as a snapshot that `riparian.load` reads, with what a service adds to it."""
        own = {
            "columns": list(self.catalogue.columns),
            "open_features": self.catalogue.open_features,
            "classes": None if self.catalogue.open_labels else sorted(self.catalogue.labels),
            "set_aside": self.set_aside,
            **extra,
        }
        about = dict(self._about)
        if self.dates is not None:
            about[COLUMNS] = self.dates.table.state()
        return to_bytes_with_extra(self._to_save(), {**about, EXTRA: own})

    def _to_save(self) -> OnlineForestClassifier:
        if not self.catalogue.columns:  # a forest cannot be saved without a column
            forest = type(self.forest)(**self.forest.get_params())
            return forest.partial_fit(np.empty((0, 1), np.float32), np.empty(0, np.int64))
        self.forest.model_.feature_names = self.feature_names
        return self.forest

    @classmethod
    def from_bytes(
        cls, data: bytes, limits: Limits | None = None
    ) -> tuple[ServedModel, dict[str, Any]]:
        """What `to_bytes` wrote, and what was added to it."""
        forest, extra = from_bytes_with_extra(data, named=False)
        if extra is None or EXTRA not in extra:
            raise ValueError("this snapshot was not written by a service")
        own = extra[EXTRA]
        if own["columns"]:
            model = cls.of(forest, limits, extra)
            model.catalogue = replace(
                model.catalogue,
                open_features=bool(own["open_features"]),
                open_labels=own["classes"] is None,
            )
        else:
            fresh = type(forest)(**forest.get_params())
            model = cls.new(fresh, own["classes"], limits)
        model.set_aside = int(own.get("set_aside", 0))  # riparian 0.2 had none
        return model, own


def names_of(forest: OnlineForestClassifier) -> list[str]:
    """The names of its features; by position, from x0, if it has none."""
    names = forest.model_.feature_names
    if names is None:
        return [f"x{column}" for column in range(forest.n_features_in_)]
    return [str(name) for name in names]


def rows_of(points: Sequence[Features], columns: Any) -> NDArray[np.float32]:
    """The points as rows: a feature without a column is left out, one that is not there is NaN."""
    rows = np.full((len(points), max(1, len(columns))), np.nan, dtype=np.float32)
    put_numbers(rows, points, columns)
    return rows


def dates_of(extra: dict[str, Any] | None, forest: OnlineForestClassifier) -> Dates | None:
    """None where every column is a feature as it is."""
    if extra is None or COLUMNS not in extra:
        return None
    from riparian.table.saved import columns_of
    from riparian.table.table import TableColumns

    columns = columns_of(extra, forest)
    if not isinstance(columns, TableColumns) or categories_of(forest):
        return None
    dates = Dates(columns)
    return dates if dates.texts else None


def categories_of(forest: OnlineForestClassifier) -> dict[int, Table]:
    """By column (R22)."""
    return forest.model_.categories


def add_columns(forest: OnlineForestClassifier, width: int, categorical: list[int]) -> None:
    """Add columns at the right, up to a width. No call may predict meanwhile.

    Those that are categorical have had no value yet: they are new, or the forest is.
    """
    with forest.model_.engine.learning:
        forest.model_.widen(width, categorical, forest.max_categories)
        forest.n_features_in_ = width


def label_type(label: Label) -> Any:
    """What numpy calls the type of labels like this one, whatever the other labels of a batch are."""
    return {bool: np.bool_, int: np.int64, float: np.float64, str: np.str_}[type(label)]
