"""The forest of a service: it learns and predicts dicts of features, and columns may join."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from riparian.loading import from_bytes_with_extra, to_bytes_with_extra
from riparian.model.numbers import Numbers
from riparian.serve.items import Features, Forecast, Label, Lesson
from riparian.serve.options import Limits
from riparian.serve.state.catalogue import Catalogue
from riparian.serve.state.classes import ServedClasses
from riparian.serve.state.numbers import ServedNumbers
from riparian.serve.state.target import ServedTarget
from riparian.sklearn.row_forest import RowForest
from riparian.table.cells import Listed
from riparian.table.raw import COLUMNS, RawColumns
from riparian.tools.shapes import COUNT, LABEL, Either, shaped

EXTRA = "serve"  # what the extra part of a snapshot holds for a service
OWN = {"columns": [str], "open_features": bool, "classes": Either(None, [LABEL])}
NOTHING = Forecast(None, (), (), 0)  # before anything is learned


class ServedModel:
    """A forest, its target, and the names of its columns. One thread learns; any may predict."""

    def __init__(
        self,
        forest: RowForest,
        catalogue: Catalogue,
        points: int,
        about: dict[str, Any] | None = None,
    ) -> None:
        self.forest = forest  # without names: it takes rows of features
        self.raw = catalogue.raw  # how features of requests become those rows
        self._about = about or {}  # the other entries of its file, which a snapshot passes on
        self.catalogue = catalogue  # of what was learned
        self.points = points
        self.set_aside = 0  # lessons that could not be learned
        self._changing = threading.Lock()  # held while columns join, and while rows are made

    @classmethod
    def new(
        cls,
        forest: RowForest,
        classes: Sequence[Label] | None,
        limits: Limits | None = None,
    ) -> ServedModel:
        """Return a model of a forest that has learned nothing, and whose features are not known yet.

        If `classes` are given, there are no others; a forest for numbers has none.
        """
        limits = limits or Limits()
        labels = frozenset(classes or ())
        target: ServedTarget = ServedClasses(labels, classes is None, limits.classes)
        if is_regressor(forest):
            target = ServedNumbers()
        return cls(forest, Catalogue(RawColumns({}), target, True, limits), 0)

    @classmethod
    def of(
        cls,
        forest: RowForest,
        limits: Limits | None = None,
        extra: dict[str, Any] | None = None,
    ) -> ServedModel:
        """Return the model of a forest that has learned; its columns are fixed, by name or position.

        `extra` are the other entries of its file. A snapshot of a service names its features there:
        those of riparian 0.2 may be parts of dates where the model has columns of dates.
        """
        extra, limits = extra or {}, limits or Limits()
        if COLUMNS in extra:
            RawColumns.from_state(extra[COLUMNS])  # raises an error for columns of 0.2
        raw = columns_of(forest, extra.get(EXTRA, {}).get("columns"))
        model = forest.model_
        if isinstance(model.target, Numbers):
            target: ServedTarget = ServedNumbers()
        else:
            target = ServedClasses.of(model.class_target, limits.classes)
        catalogue = Catalogue(raw, target, False, limits)
        sparse = COLUMNS in extra and model.raw_columns is None
        about = {COLUMNS: extra[COLUMNS]} if sparse else {}
        return cls(forest, catalogue, int(forest.stats()["points"]), about)

    # -- predicting -------------------------------------------------------------------------------

    def forecasts(self, points: Sequence[Features]) -> list[Forecast]:
        """Return what the forest predicts for each. It ignores features that it has not learned."""
        if self.points == 0:
            return [NOTHING] * len(points)
        learned = self.points  # or more, when the forest predicts
        with self._changing:
            rows, workers = self.raw.of_points(points), self.forest.threads()
            return self.catalogue.target.forecasts(self.forest.model_, rows, workers, learned)

    @property
    def feature_names(self) -> list[str]:
        """Return the names of the columns of the forest: a date may have several."""
        return self.raw.feature_names

    # -- learning ---------------------------------------------------------------------------------

    def learn(self, lessons: Sequence[Lesson]) -> list[Lesson]:
        """Learn lessons in their order, and return them without those that were set aside.

        How lessons are divided into calls does not change a bit: whether one can be learned depends
        only on those before it. No lesson is set aside that a service of this version has accepted.
        """
        catalogue = self.catalogue
        after: list[tuple[Catalogue, Lesson]] = []
        for lesson in lessons:
            label = catalogue.target.canonical(lesson.label)
            if catalogue.target.fault(label) is not None:
                self.set_aside += 1
                continue
            catalogue = catalogue.with_lesson(lesson.features, label)
            after.append(
                (catalogue, lesson if label is lesson.label else replace(lesson, label=label))
            )
        for width, group in groupby(after, key=lambda pair: len(pair[0].raw.encoders)):
            part = list(group)
            if width != len(self.raw.encoders):
                self._widen(part[0][0])
            self._learn([lesson for _, lesson in part])
            self.catalogue = part[-1][0]
        return [lesson for _, lesson in after]

    def _learn(self, lessons: list[Lesson]) -> None:
        points = [lesson.features for lesson in lessons]
        self.raw = self.raw.followed(lambda name: Listed([point.get(name) for point in points]))
        rows = self.raw.of_points(points)
        labels = self.catalogue.target.array([lesson.label for lesson in lessons])
        weights = np.array([lesson.weight for lesson in lessons])
        model = self.forest.model_
        model.target.check(labels)
        if model.raw_columns is not None:
            model.raw_columns = self.raw
        model.learn(rows, labels, None if (weights == 1).all() else weights, self.forest.threads())
        self.points += len(lessons)

    def _widen(self, catalogue: Catalogue) -> None:
        with self._changing:
            width = catalogue.raw.n_features
            if not self.raw.encoders:  # the first features: the trees begin with them
                catalogue.target.start(self.forest, np.empty((0, width), np.float32))
            new = sorted({*catalogue.raw.categorical} - {*self.raw.categorical})
            add_columns(self.forest, width, new)
            self.catalogue, self.raw = catalogue, catalogue.raw

    # -- as a file --------------------------------------------------------------------------------

    def to_bytes(self, extra: dict[str, Any]) -> bytes:
        """Return the forest as a snapshot that `riparian.load` reads, with what a service adds."""
        own = {
            "columns": list(self.raw.encoders),
            "open_features": self.catalogue.open_features,
            "classes": self.catalogue.target.given(),
            "set_aside": self.set_aside,
            **extra,
        }
        return to_bytes_with_extra(self._to_save(), {**self._about, EXTRA: own})

    def _to_save(self) -> RowForest:
        if not self.raw.encoders:  # a forest cannot be saved without a column
            forest: Any = type(self.forest)(**self.forest.get_params())
            empty: RowForest = forest.partial_fit(np.empty((0, 1), np.float32), np.empty(0, int))
            return empty
        self.forest.model_.feature_names = self.feature_names
        return self.forest

    @classmethod
    def from_bytes(
        cls, data: bytes, limits: Limits | None = None
    ) -> tuple[ServedModel, dict[str, Any]]:
        """Return the model that `to_bytes` wrote, and what was added to it."""
        forest, extra = from_bytes_with_extra(data, named=False)
        if extra is None or EXTRA not in extra:
            raise ValueError("this snapshot was not written by a service")
        own = shaped(EXTRA, extra[EXTRA], OWN)
        if own["columns"]:
            model = cls.of(forest, limits, extra)
            open_features = bool(own["open_features"])
            model.catalogue = replace(model.catalogue, open_features=open_features)
        else:
            fresh = type(forest)(**forest.get_params())
            model = cls.new(fresh, own["classes"], limits)
        model.set_aside = shaped("set_aside", own.get("set_aside", 0), COUNT)  # 0.2 had none
        return model, own


def columns_of(forest: RowForest, names: Sequence[str] | None) -> RawColumns:
    """Return the columns of a model; `names` are those that its folder has, if it has any."""
    model = forest.model_
    if model.raw_columns is not None and names in (None, [*model.raw_columns.encoders]):
        return model.raw_columns.for_tables(model.categories, as_it_is=True)
    features = model.feature_names or [f"x{column}" for column in range(forest.n_features_in_)]
    return RawColumns.of_features([str(name) for name in features], model.categories)


def add_columns(forest: RowForest, width: int, categorical: list[int]) -> None:
    """Add columns at the right, up to a width. No call may predict meanwhile.

    Categorical columns must have had no value yet: they are new, or the forest is.
    """
    with forest.model_.whole_batch():
        forest.model_.widen(width, categorical, forest.max_categories)
        forest.n_features_in_ = width
