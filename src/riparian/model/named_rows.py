"""Rows with named features (dicts, frames) as rows of a matrix; features are numbers or text (R22)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Set
from operator import itemgetter
from struct import Struct
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from riparian import _core
from riparian.engine.categories import Coded, is_missing
from riparian.model.tables import numbers_of

Key = Any  # the name of a feature: anything that can be a key of a dict
Frame = nw.DataFrame[Any]
ColumnMap = Mapping[Key, int]  # the column of each feature, in the order in which they joined


def in_order(keys: Iterable[Key]) -> list[Key]:
    """Return the keys sorted; if their types cannot be compared, by type and repr."""
    keys = list(keys)
    try:
        return sorted(keys)
    except TypeError:
        return sorted(keys, key=lambda key: (type(key).__name__, repr(key)))


def width(columns: ColumnMap) -> int:
    """Return the width of a row. The engine may read its first cell even if there is no feature."""
    return max(1, len(columns))


# -- one point -----------------------------------------------------------------------------------------


class Row:
    """A point as the engine takes it: one row, which the next point overwrites.

    To make a new array takes as long as a tree takes to learn the point.
    """

    def __init__(self, columns: ColumnMap) -> None:
        self.columns = columns
        self.matrix = np.empty((1, width(columns)), dtype=np.float32)
        self.cells = self.matrix[0].data  # takes only numbers; numpy would convert "1.5"
        self._values = itemgetter(*columns) if len(columns) > 1 else None  # gets all at once
        self._pack = Struct(f"{len(columns)}f").pack_into

    def __reduce__(self) -> tuple[Any, ...]:
        return Row, (self.columns,)

    def write_whole(self, x: Mapping[Key, Any]) -> bool:
        """Write a plain dict that has a number for every column; return False if it has not.

        Most points are like that, and `write` takes several times as long.
        """
        if self._values is None or type(x) is not dict or len(x) < len(self.columns):
            return False
        try:
            self._pack(self.cells, 0, *self._values(x))
        except Exception:  # `write` raises the error that names the feature
            return False
        return not _core.any_infinite(self.matrix)  # R4

    def write(self, x: Mapping[Key, Any]) -> NDArray[np.float32]:
        """Write a point. Features without a column are left out; other columns are missing."""
        columns, cells = self.columns, self.cells
        self.matrix.fill(np.nan)
        key = value = None
        try:
            for key, value in x.items():
                if value is not None and key in columns:
                    cells[columns[key]] = value
        except TypeError:
            raise not_a_number(key, value) from None
        except (ValueError, OverflowError):
            raise _does_not_fit(key, value) from None
        if _core.any_infinite(self.matrix):  # R4
            key = next(key for key, column in columns.items() if math.isinf(cells[column]))
            raise _does_not_fit(key, x[key])
        return self.matrix


def texts_of(x: Mapping[Key, Any], columns: ColumnMap) -> dict[Key, str]:
    """Return the features of a point that are text and have a column."""
    return {key: value for key, value in x.items() if isinstance(value, str) and key in columns}


def check_text(key: Key, value: Any) -> None:
    """Raise an error if a feature that has held text gets another value."""
    if not isinstance(value, str) and not is_missing(value):
        raise TypeError(f"feature {key!r} must be text or None, as before, got {value!r}")


def not_a_number(key: Key, value: Any) -> TypeError:
    return TypeError(f"feature {key!r} must be a number or None, got {value!r}")


# -- a frame -------------------------------------------------------------------------------------------


def split_frame(
    frame: Frame,
    columns: ColumnMap,
    categorical: Set[Key],
    check_may_be_text: Callable[[Key, str], None],
) -> tuple[NDArray[np.float32], dict[Key, Coded]]:
    """Return the rows of a frame, each as `Row` would hold it, and its columns of text.

    ColumnMap that were text before (`categorical`) are among these, even if they have no value here.
    """
    rows = np.full((len(frame), width(columns)), np.nan, dtype=np.float32)
    texts: dict[Key, Coded] = {}
    for series in frame.iter_columns():
        key = series.name
        if key not in columns:
            continue
        is_text = key in categorical
        cells = series.to_list() if is_text or not _is_numeric(series) else []
        text = next((cell for cell in cells if isinstance(cell, str)), None)
        if not is_text and text is not None:
            check_may_be_text(key, text)
        if is_text or text is not None:
            texts[key] = _texts(key, cells)
        else:
            rows[:, columns[key]] = _column_of(series)
    return rows, texts


def _is_numeric(series: Any) -> bool:
    return bool(series.dtype == nw.Boolean or series.dtype.is_numeric())


def _texts(key: Key, cells: list[Any]) -> Coded:
    for cell in cells:
        check_text(key, cell)
    return Coded.of(key, [None if is_missing(cell) else str(cell) for cell in cells])


def _column_of(series: Any) -> NDArray[np.float32]:
    if not _is_numeric(series):
        return _cells_of(series)
    # Through float64, like every Python number, so that large integers are rounded the same way.
    numbers = numbers_of(series)
    with np.errstate(over="ignore"):
        cells: NDArray[np.float32] = numbers.astype(np.float32)
    if np.isinf(cells).any():
        raise _does_not_fit(series.name, float(numbers[np.isinf(cells)][0]))
    return cells


def _cells_of(series: Any) -> NDArray[np.float32]:
    """Return a column that may hold anything but text, converted cell by cell."""
    cell = Row({series.name: 0})
    cells = [cell.write({series.name: value})[0, 0] for value in series.to_list()]
    return np.array(cells, dtype=np.float32)


def _does_not_fit(key: Key, value: Any) -> ValueError:
    return ValueError(f"feature {key!r} must be finite and fit float32, got {value!r}")
