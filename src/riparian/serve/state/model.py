"""The forest of a service: points are dicts of features, columns may join, readers do not wait long."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.forest import OnlineForestClassifier
from riparian.serve.items import Features, Forecast, Label, Lesson
from riparian.serve.options import Limits
from riparian.serve.state.catalogue import Catalogue
from riparian.snapshot.extra import from_bytes_with_extra, to_bytes_with_extra

EXTRA = "serve"  # what the extra part of a snapshot holds for a service
NOTHING = Forecast(None, (), (), 0)  # before anything is learned


class Model:
    """A forest and the names of its columns. One thread learns; any may predict."""

    def __init__(
        self,
        forest: OnlineForestClassifier,
        catalogue: Catalogue,
        points: int,
    ) -> None:
        self.forest = forest  # without names: it is fed arrays
        self.catalogue = catalogue  # of what was learned
        self.points = points
        self._changing = (
            threading.Lock()
        )  # held while columns join, and while a row is made for them

    @classmethod
    def new(
        cls,
        forest: OnlineForestClassifier,
        classes: Sequence[Label] | None,
        limits: Limits | None = None,
    ) -> Model:
        """A forest that has learned nothing, and whose features are not known yet."""
        labels = frozenset(classes or ())
        return cls(forest, Catalogue({}, labels, True, classes is None, limits or Limits()), 0)

    @classmethod
    def of(cls, forest: OnlineForestClassifier, limits: Limits | None = None) -> Model:
        """A forest that comes from elsewhere: its features are fixed, by name or by position."""
        names = names_of(forest)
        if hasattr(forest, "feature_names_in_"):
            del forest.feature_names_in_
        columns = {name: column for column, name in enumerate(names)}
        labels = frozenset(forest.classes_.tolist())
        if not all(isinstance(label, bool | int | float | str) for label in labels):
            raise ValueError("labels must be strings, numbers or bools, got bytes: JSON has none")
        catalogue = Catalogue(columns, labels, False, not forest._labels.closed, limits or Limits())
        return cls(forest, catalogue, int(forest.stats()["points"]))

    # -- predicting -------------------------------------------------------------------------------

    def forecasts(self, points: Sequence[Features]) -> list[Forecast]:
        """What the forest says about each. Features that it has not learned do not count."""
        if self.points == 0:
            return [NOTHING] * len(points)
        learned = self.points  # or more, by the time that the forest is asked
        with self._changing:
            proba = self.forest.predict_proba(rows_of(points, self.catalogue.columns))
            classes = self.forest.classes_
            while len(classes) != proba.shape[1]:  # a class has joined in between
                proba = self.forest.predict_proba(rows_of(points, self.catalogue.columns))
                classes = self.forest.classes_
        labels = tuple(classes.tolist())
        best = proba.argmax(axis=1).tolist()
        return [
            Forecast(labels[b], labels, tuple(shares), learned)
            for b, shares in zip(best, proba.tolist(), strict=True)
        ]

    # -- learning ---------------------------------------------------------------------------------

    def learn(self, lessons: Sequence[Lesson]) -> None:
        """Learn lessons in their order. How they are cut into calls does not change a bit."""
        catalogue = self.catalogue
        after: list[tuple[Catalogue, Lesson]] = []
        for lesson in lessons:
            catalogue = catalogue.with_lesson(lesson.features, lesson.label)
            after.append((catalogue, lesson))
        for width, group in groupby(after, key=lambda pair: len(pair[0].columns)):
            part = list(group)
            if width != len(self.catalogue.columns):
                self._widen(part[0][0])
            self._learn([lesson for _, lesson in part])
            self.catalogue = part[-1][0]

    def _learn(self, lessons: list[Lesson]) -> None:
        rows = rows_of([lesson.features for lesson in lessons], self.catalogue.columns)
        labels = np.array([lesson.label for lesson in lessons])
        weights = [lesson.weight for lesson in lessons]
        weighted = any(weight != 1.0 for weight in weights)
        self.forest.partial_fit(rows, labels, sample_weight=weights if weighted else None)
        self.points += len(lessons)

    def _widen(self, catalogue: Catalogue) -> None:
        with self._changing:
            width = len(catalogue.columns)
            if not self.catalogue.columns:  # the first features: the trees begin with them
                empty = np.empty((0, width), np.float32)
                closed = not catalogue.open_labels
                classes = sorted(catalogue.labels) if closed else None
                self.forest.partial_fit(empty, np.empty(0, label_type(catalogue)), classes=classes)
            else:
                self.forest._add_features(width - len(self.catalogue.columns))
            self.catalogue = catalogue

    # -- as a file --------------------------------------------------------------------------------

    def to_bytes(self, extra: dict[str, Any]) -> bytes:
        """The forest as a snapshot that `riparian.load` reads, with what a service adds to it."""
        own = {
            "columns": list(self.catalogue.columns),
            "open_features": self.catalogue.open_features,
            "classes": None if self.catalogue.open_labels else sorted(self.catalogue.labels),
            **extra,
        }
        return to_bytes_with_extra(self._to_save(), {EXTRA: own})

    def _to_save(self) -> OnlineForestClassifier:
        """The same forest under another name: with names of features, which learning does without."""
        if not self.catalogue.columns:  # a forest cannot be saved without a column
            forest = type(self.forest)(**self.forest.get_params())
            forest.partial_fit(np.empty((0, 1), np.float32), np.empty(0, np.int64))
            forest.n_jobs = None
            return forest
        shell = object.__new__(type(self.forest))
        shell.__dict__ = {**self.forest.__dict__, "n_jobs": None}
        shell.feature_names_in_ = np.array(list(self.catalogue.columns), dtype=object)
        return shell

    @classmethod
    def from_bytes(cls, data: bytes, limits: Limits | None = None) -> tuple[Model, dict[str, Any]]:
        """What `to_bytes` wrote, and what was added to it."""
        forest, extra = from_bytes_with_extra(data)
        if extra is None or EXTRA not in extra:
            raise ValueError("this snapshot was not written by a service")
        own = extra[EXTRA]
        if not own["columns"]:
            fresh = type(forest)(**forest.get_params())
            return cls.new(fresh, own["classes"], limits), own
        model = cls.of(forest, limits)
        model.catalogue = Catalogue(
            {name: column for column, name in enumerate(own["columns"])},
            frozenset(model.catalogue.labels),
            bool(own["open_features"]),
            own["classes"] is None,
            limits or Limits(),
        )
        return model, own


def names_of(forest: OnlineForestClassifier) -> list[str]:
    """The names of its features; by position, from x0, if it has none."""
    names = getattr(forest, "feature_names_in_", None)
    if names is None:
        return [f"x{column}" for column in range(forest.n_features_in_)]
    return [str(name) for name in names]


def rows_of(points: Sequence[Features], columns: Any) -> NDArray[np.float32]:
    """The points as rows: a feature without a column is left out, one that is not there is NaN."""
    rows = np.full((len(points), max(1, len(columns))), np.nan, dtype=np.float32)
    cells: Any = rows.data
    for number, point in enumerate(points):
        for name, value in point.items():
            if value is not None and name in columns:
                cells[number, columns[name]] = value
    return rows


def label_type(catalogue: Catalogue) -> Any:
    """What numpy calls the type of the labels."""
    return np.array(list(catalogue.labels)).dtype
