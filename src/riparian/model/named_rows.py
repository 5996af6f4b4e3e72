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
from riparian.table.cells import Cells, Listed, Unreadable
from riparian.table.frames import cells_of

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

    Columns that were text before (`categorical`) are among these, even if they have no value here.
    """
    rows = np.full((len(frame), width(columns)), np.nan, dtype=np.float32)
    texts: dict[Key, Coded] = {}
    for series in frame.iter_columns():
        key = series.name
        if key not in columns:
            continue
        cells = cells_of(series)
        is_text = key in categorical
        if not is_text and cells.form in ("texts", "mixed"):
            check_may_be_text(key, cells.stray("numbers")[1])
            is_text = True
        if is_text:
            texts[key] = _texts(key, cells)
        else:
            rows[:, columns[key]] = _column_of(key, cells)
    return rows, texts


def _texts(key: Key, cells: Cells) -> Coded:
    if cells.form not in ("texts", "empty"):
        check_text(key, cells.stray("texts")[1])
    return cells.coded(key)


def _column_of(key: Key, cells: Cells) -> NDArray[np.float32]:
    if cells.form not in ("numbers", "empty"):
        raise not_a_number(key, cells.stray("numbers")[1])
    # Through float64, like every Python number, so that large integers are rounded the same way.
    try:
        numbers = cells.numbers()
    except Unreadable as error:
        assert isinstance(cells, Listed)  # the others have numbers of a type
        raise _does_not_fit(key, cells.cells[error.row]) from None
    with np.errstate(over="ignore"):
        column: NDArray[np.float32] = numbers.astype(np.float32)
    if np.isinf(column).any():
        raise _does_not_fit(key, float(numbers[np.isinf(column)][0]))
    return column


def _does_not_fit(key: Key, value: Any) -> ValueError:
    return ValueError(f"feature {key!r} must be finite and fit float32, got {value!r}")
