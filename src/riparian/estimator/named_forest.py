"""The engine with names: features are the keys of a dict, or the columns of a frame, and come and go.

The engine wants rows of a matrix, so every feature gets a column when it is first learned, and keeps it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Set
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from riparian.engine import native
from riparian.estimator.labels import FAMILIES, Labels
from riparian.estimator.parameters import Parameters

Key = Any  # the name of a feature: anything that can be a key of a dict
Label = Any  # bool, int, float or str
Frame = nw.DataFrame[Any]
Columns = Mapping[Key, int]  # the column of each feature, in the order in which they joined


class NamedForest:
    """The engine, with names for its columns and labels for its classes.

    Other threads may predict while one learns.
    """

    def __init__(self, parameters: Parameters, keys: Iterable[Key]) -> None:
        self.columns: Columns = {key: column for column, key in enumerate(in_order(keys))}
        self.row = Row(self.columns)
        self.engine = native.ColumnEngine(parameters, len(self.columns))
        self.labels = Labels(None)
        self.classes: list[Label] = []  # the labels in the public order
        # Of each label, in order of arrival. To a dict True and 1 are one key: with their types,
        # they are two, and `Labels` can object.
        self.numbers: dict[tuple[type, Label], int] = {}

    # Under the lock, rows have the columns that the trees know, and all agree on the classes.
    # When learning, everything that can fail comes before the first change.

    def learn_one(self, x: Mapping[Key, Any], y: Label, weight: float) -> None:
        with self.engine.learning:
            columns = self.columns_with(x.keys())
            row = self.row if columns is self.columns else Row(columns)
            point = row.write(x)
            number = self.numbers.get((type(y), y))
            if number is None:
                number = self.join([y])[0]
            self.widen(columns)
            self.engine.learn_one(point, number, weight)

    def learn_many(
        self,
        frame: Frame,
        labels: list[Label],
        weights: NDArray[np.float64],
        workers: int,
    ) -> None:
        with self.engine.learning:
            columns = self.columns_with(set(frame.columns))
            rows = rows_of(frame, columns)
            numbers = np.array(self.join(labels), dtype=np.uint32)
            self.widen(columns)
            self.engine.learn(rows, numbers, weights, workers)

    def predict_proba_one(self, x: Mapping[Key, Any]) -> tuple[list[float], list[Label]]:
        with self.engine.learning:
            proba = self.engine.predict_proba(self.row.write(x), 1)
            return proba[0].tolist(), self.classes

    def predict_proba_many(
        self, frame: Frame, workers: int
    ) -> tuple[NDArray[np.float64], list[Label]]:
        with self.engine.learning:
            proba = self.engine.predict_proba(rows_of(frame, self.columns), workers)
            return proba, self.classes

    def columns_with(self, keys: Set[Key]) -> Columns:
        """The columns, with those that new keys are to have."""
        if keys <= self.columns.keys():
            return self.columns
        new = in_order(keys - self.columns.keys())
        return {**self.columns, **{key: len(self.columns) + i for i, key in enumerate(new)}}

    def widen(self, columns: Columns) -> None:
        if len(columns) > len(self.columns):
            self.columns, self.row = columns, Row(columns)
            self.engine.set_dims(len(columns))

    def join(self, labels: list[Label]) -> list[int]:
        """The number of each label; new ones join, all of them or, if one is bad, none."""
        pairs = [(type(label), label) for label in labels]
        new = dict.fromkeys(pair for pair in pairs if pair not in self.numbers)
        if new:
            joined = copy.copy(self.labels)
            self.numbers |= {pair: int(joined.join(_as_array(pair[1]))[0]) for pair in new}
            self.labels, self.classes = joined, joined.classes.tolist()
            self.engine.set_classes(joined.rank(), len(joined.classes))
        return [self.numbers[pair] for pair in pairs]

    def bytes_held(self) -> int:
        """By the trees, the kept points and the lists of them."""
        kinds = ("node_bytes", "leaf_bytes", "fringe_bytes")
        trees = sum(tree[kind] for tree in self.engine.core.stats() for kind in kinds)
        return trees + self.engine.kept_bytes() + self.engine.list_bytes()


def in_order(keys: Iterable[Key]) -> list[Key]:
    """Sorted; keys of several types, which cannot be, by type and by their repr."""
    keys = list(keys)
    try:
        return sorted(keys)
    except TypeError:
        return sorted(keys, key=lambda key: (type(key).__name__, repr(key)))


class Row:
    """A point as the engine takes it: one row, which the next point overwrites.

    Making a new array takes as long as a tree takes to learn the point.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.matrix = np.empty((1, width(columns)), dtype=np.float32)
        self.cells = self.matrix[0].data  # takes numbers only, where numpy would read "1.5" as one

    def __reduce__(self) -> tuple[Any, ...]:
        return Row, (self.columns,)

    def write(self, x: Mapping[Key, Any]) -> NDArray[np.float32]:
        """Features without a column are left out; columns without a feature are missing."""
        columns, cells = self.columns, self.cells
        self.matrix.fill(np.nan)
        key = value = None
        try:
            for key, value in x.items():
                if value is not None and key in columns:
                    cells[columns[key]] = value
        except TypeError:
            raise TypeError(f"feature {key!r} must be a number or None, got {value!r}") from None
        except (ValueError, OverflowError):
            raise _does_not_fit(key, value) from None
        if True in np.isinf(self.matrix).tobytes():  # R4; .any() would take twice as long
            key = next(key for key, column in columns.items() if math.isinf(cells[column]))
            raise _does_not_fit(key, x[key])
        return self.matrix


def width(columns: Columns) -> int:
    """The width of a row: the engine may read its first cell even if there is no feature yet."""
    return max(1, len(columns))


def rows_of(frame: Frame, columns: Columns) -> NDArray[np.float32]:
    """The rows of a frame as the engine takes them; each is what `Row` would hold."""
    rows = np.full((len(frame), width(columns)), np.nan, dtype=np.float32)
    for series in frame.iter_columns():
        if series.name in columns:
            rows[:, columns[series.name]] = _column_of(series)
    return rows


def _column_of(series: Any) -> NDArray[np.float32]:
    if series.dtype == nw.Boolean:  # as numbers, or pandas would have its own idea of missing
        return _numbers_of(series.cast(nw.Int8))
    return _numbers_of(series) if series.dtype.is_numeric() else _cells_of(series)


def _numbers_of(series: Any) -> NDArray[np.float32]:
    # By way of float64, like every Python number, so that large integers are rounded the same.
    numbers: NDArray[np.float64] = np.asarray(series.to_numpy(), dtype=np.float64)
    with np.errstate(over="ignore"):
        cells: NDArray[np.float32] = numbers.astype(np.float32)
    if np.isinf(cells).any():
        raise _does_not_fit(series.name, float(numbers[np.isinf(cells)][0]))
    return cells


def _cells_of(series: Any) -> NDArray[np.float32]:
    """A column that may hold anything, one cell after the other."""
    cell = Row({series.name: 0})
    cells = [cell.write({series.name: value})[0, 0] for value in series.to_list()]
    return np.array(cells, dtype=np.float32)


def _does_not_fit(key: Key, value: Any) -> ValueError:
    return ValueError(f"feature {key!r} must be finite and fit float32, got {value!r}")


def _as_array(label: Label) -> NDArray[Any]:
    array = np.array([label.item() if isinstance(label, np.generic) else label])
    if array.shape != (1,) or array.dtype.kind not in FAMILIES or label != label:
        raise ValueError(f"y must be a bool, an int, a float or a str, got {label!r}")
    return array
