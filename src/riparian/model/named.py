"""A model with named features: keys of dicts or columns of frames, which may differ from row to row.

The engine takes rows of a matrix, so every feature gets a column when it is first learned, and keeps
it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Set
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from riparian.engine import native
from riparian.engine.categories import (
    CategoryTables,
    Coded,
    MixedRows,
    Table,
    Value,
    bytes_of_tables,
    is_missing,
)
from riparian.model.classes import Classes
from riparian.model.model import Model
from riparian.model.named_rows import (
    ColumnMap,
    Frame,
    Key,
    Row,
    check_text,
    in_order,
    not_a_number,
    split_frame,
    texts_of,
)
from riparian.model.numbers import Numbers
from riparian.model.target import Target
from riparian.parameters.forests import StreamParameters

Label = Any  # bool, int, float or str


class NamedModel(Model):
    """A model whose columns have names and may join.

    Other threads may predict while one learns.
    """

    engine: native.ColumnEngine
    label_type: ClassVar[type[np.generic]]  # of what the engine takes

    def __init__(
        self,
        parameters: StreamParameters,
        keys: Iterable[Key],
        most: int | None,
        target: Target,
    ) -> None:
        self.columns: ColumnMap = {key: column for column, key in enumerate(in_order(keys))}
        super().__init__(native.ColumnEngine(parameters, len(self.columns)), target)
        self.undecided: set[Key] = {*self.columns}  # features that have had no value yet
        self.categorical: set[Key] = set()  # those that are text
        self.most = most  # categories of each
        self.max_bytes = bytes_of_tables(parameters.max_memory)  # of all categories
        self.row = Row(self.columns)

    @abstractmethod
    def known_label(self, y: Label) -> Any:
        """Return a label as the engine takes it, if nothing changes with it; otherwise None."""

    @abstractmethod
    def engine_labels(self, labels: list[Label]) -> list[Any]:
        """Return labels as the engine takes them. All are checked before one joins."""

    # Under the lock, rows have the columns that the trees know, and all agree on the classes.
    # When learning, everything that can fail comes before the first change.

    def learn_one(self, x: Mapping[Key, Any], y: Label, weight: float) -> None:
        with self.engine.learning:
            label = self.known_label(y)
            if label is not None and self.writes_all(x):
                self.engine.learn_one(self.row.matrix, label, weight)
                return
        with self.whole_batch():
            label = self.known_label(y)
            columns = self.columns_with(x.keys())
            row = self.row if columns is self.columns else Row(columns)
            point, texts = self.read(x, row)
            for key in texts:
                self.check_may_be_text(key, texts[key])
            if label is None:
                label = self.engine_labels([y])[0]
            self.add_features(columns, texts)
            if texts:
                values: dict[int, Value] = {columns[key]: text for key, text in texts.items()}
                self._tables.join_row(point[0], values)
            if self.undecided:
                self.undecided -= {key for key, value in x.items() if not is_missing(value)}
            self.engine.learn_one(point, label, weight)

    def writes_all(self, x: Mapping[Key, Any]) -> bool:
        """Write a point into the row if it has the known features and no others, all numbers.

        Return whether it does.
        """
        if self.categorical or self.undecided or len(x) != len(self.columns):
            return False
        return self.row.write_whole(x)

    def learn_many(
        self,
        frame: Frame,
        labels: list[Label],
        weights: NDArray[np.float64],
        workers: int,
    ) -> None:
        with self.whole_batch():
            columns = self.columns_with(set(frame.columns))
            rows, texts = split_frame(frame, columns, self.categorical, self.check_may_be_text)
            mixed = MixedRows(rows, {columns[key]: coded for key, coded in texts.items()})
            self.check_room(mixed)
            learned = np.array(self.engine_labels(labels), dtype=self.label_type)
            start = self.first_text(texts.values())
            if start > 0:
                self.add_features(columns, ())
                self.engine.learn(rows[:start], learned[:start], weights[:start], workers)
            self.add_features(columns, texts)
            if texts:
                rows = self._tables.join(mixed)
            if self.undecided:
                there = np.flatnonzero((~np.isnan(rows)).any(axis=0)).tolist()
                self.undecided -= {key for key in frame.columns if columns[key] in there}
            self.engine.learn(rows[start:], learned[start:], weights[start:], workers)

    def coded(self, x: Mapping[Key, Any]) -> NDArray[np.float32]:
        """Return a point as a row, with the codes of its texts."""
        if not self.categorical and self.row.write_whole(x):
            return self.row.matrix
        point, texts = self.read(x, self.row)
        for key, text in texts.items():
            self.check_may_be_text(key, text)
            if key in self.categorical:
                column = self.columns[key]
                point[0, column] = self._tables.tables[column].code(text)
        return point

    def coded_rows(self, frame: Frame) -> NDArray[np.float32]:
        """Return the rows of a frame, with the codes of its texts."""
        known = self.columns
        rows, texts = split_frame(frame, known, self.categorical, self.check_may_be_text)
        for key in texts.keys() & self.categorical:
            rows[:, known[key]] = self._tables.tables[known[key]].codes(texts[key])
        return rows

    # -- features that are text (R22) -------------------------------------------------------------

    def read(self, x: Mapping[Key, Any], row: Row) -> tuple[NDArray[np.float32], dict[Key, str]]:
        """Return the numbers of a point as a row, and its texts."""
        if not self.categorical:
            try:
                return row.write(x), {}
            except TypeError:
                if not texts_of(x, row.columns):
                    raise
        texts = texts_of(x, row.columns)
        for key in self.categorical & x.keys():
            check_text(key, x[key])
        others = {k: v for k, v in x.items() if k not in texts and k not in self.categorical}
        return row.write(others), texts

    def check_may_be_text(self, key: Key, text: Any) -> None:
        """Raise an error if a feature that has held numbers gets a text."""
        if key in self.columns and key not in self.categorical and key not in self.undecided:
            raise not_a_number(key, text)

    def check_room(self, rows: MixedRows) -> None:
        if self.most is None:
            known = {} if self.engine.categories is None else self._tables.tables
            new = {column: Table() for column in rows.coded if column not in known}
            CategoryTables({**known, **new}, most=None).check_room(rows)

    def first_text(self, texts: Iterable[Coded]) -> int:
        """Return the row with the first text of the stream, or 0 if it changes nothing.

        A part of the budget is set aside for categories from this row on, and not from the start of
        its batch, so that batches do not matter.
        """
        if self.engine.categories is not None or self.max_bytes is None:
            return 0
        return min((coded.arrivals()[0][0] for coded in texts), default=0)

    def columns_with(self, keys: Set[Key]) -> ColumnMap:
        """Return the columns, with new ones for new keys."""
        if keys <= self.columns.keys():
            return self.columns
        new = in_order(keys - self.columns.keys())
        return {**self.columns, **{key: len(self.columns) + i for i, key in enumerate(new)}}

    def add_features(self, columns: ColumnMap, texts: Iterable[Key]) -> None:
        """Add columns for new features, and tables for those that are text for the first time."""
        new_texts = {key for key in texts if key not in self.categorical}
        joining = columns.keys() - self.columns.keys()
        if not new_texts and not joining:
            return
        self.widen(len(columns), (columns[key] for key in new_texts), self.most)
        if joining:
            self.undecided |= joining
            self.columns, self.row = columns, Row(columns)
        self.categorical |= new_texts
        self.undecided -= new_texts

    def bytes_held(self) -> int:
        """Return the bytes of the trees, the kept points and their lists."""
        sizes = self.engine.sizes()
        trees: int = sum(sizes[kind] for kind in ("node_bytes", "leaf_bytes", "fringe_bytes"))
        return trees + int(self.engine.kept_bytes()) + int(self.engine.list_bytes())


class NamedClasses(NamedModel):
    """A model of classes whose columns have names."""

    label_type = np.uint32

    def __init__(self, parameters: StreamParameters, keys: Iterable[Key], most: int | None) -> None:
        super().__init__(parameters, keys, most, Classes(None))
        self.classes: list[Label] = []  # the labels in the public order
        # The number of each label, by arrival. In a dict, True and 1 are one key; with their types
        # they are two, so that `Classes` can raise an error.
        self.numbers: dict[tuple[type, Label], int] = {}

    def known_label(self, y: Label) -> int | None:
        return self.numbers.get((type(y), y))

    def engine_labels(self, labels: list[Label]) -> list[int]:
        pairs = [(type(label), label) for label in labels]
        new = list(dict.fromkeys(pair for pair in pairs if pair not in self.numbers))
        if new:
            values = [label for _, label in new]
            self.numbers |= zip(
                new, self.join(lambda: self.target.join_values(values)), strict=True
            )
            self.classes = self.class_target.classes.tolist()
        return [self.numbers[pair] for pair in pairs]

    def predict_proba_one(self, x: Mapping[Key, Any]) -> tuple[list[float], list[Label]]:
        with self.engine.learning:
            return self.engine.predict_one(self.coded(x)), self.classes

    def predict_one(self, x: Mapping[Key, Any]) -> Label:
        with self.engine.learning:
            return self.classes[self.engine.most_probable(self.coded(x))]

    def predict_proba_many(
        self, frame: Frame, workers: int
    ) -> tuple[NDArray[np.float64], list[Label]]:
        with self.engine.learning:
            return self.engine.predict_proba(self.coded_rows(frame), workers), self.classes


class NamedNumbers(NamedModel):
    """A model of numbers whose columns have names."""

    label_type = np.float64
    target: Numbers

    def __init__(self, parameters: StreamParameters, keys: Iterable[Key], most: int | None) -> None:
        super().__init__(parameters, keys, most, Numbers())

    def known_label(self, y: Label) -> float | None:
        return self.target.known(y) if type(y) in (float, int) else None

    def engine_labels(self, labels: list[Label]) -> list[float]:
        numbers: list[float] = self.join(lambda: self.target.join_values(labels))
        return numbers

    def predict_one(self, x: Mapping[Key, Any]) -> float:
        with self.engine.learning:
            return self.engine.mean_of_one(self.coded(x)) + (self.target.origin or 0.0)

    def predict_interval_one(self, x: Mapping[Key, Any], coverage: float) -> tuple[float, float]:
        with self.engine.learning:
            low, high = self.predict_interval(self.coded(x), coverage, 1)[0].tolist()
        return low, high

    def predict_many(self, frame: Frame, workers: int) -> NDArray[np.float64]:
        with self.engine.learning:
            return self.target.predicted(
                self.target.answers(self.engine, self.coded_rows(frame), workers)
            )
