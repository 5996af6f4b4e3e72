"""Tables as input: which columns are categorical (R22), and rows as numbers and categories.

The columns of a frame have types. In an array, categorical columns are those that the user names.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from riparian.engine.categories import Coded, MixedRows, is_missing
from riparian.model.rows import as_rows
from riparian.sources.formats import MISSING
from riparian.table.cells import Cells
from riparian.table.encoders import Category, Encoder, Number
from riparian.table.frames import TEXT_TYPES, Numbers, cells_of, type_name_of
from riparian.table.raw import RawColumns
from riparian.table.times import time_from

ColumnKind = Literal["number", "bool", "category", "time", "other"]

FROM_DTYPE = "from_dtype"


class Frame:
    """A table whose columns have names and types, of any library that narwhals knows."""

    def __init__(self, table: nw.DataFrame[Any], names: Sequence[Any]) -> None:
        self.names = list(names)
        self.columns = list(table.iter_columns())
        self.shape = (len(table), len(self.names))

    def kind(self, column: int) -> ColumnKind:
        dtype, name = self.columns[column].dtype, self.type_name(column)
        if dtype.is_numeric() or name.lower() == "null":
            return "number"
        if dtype.is_temporal() or name.startswith(("period", "interval", "month_day_nano")):
            return "time"
        if dtype in TEXT_TYPES or dtype == nw.Object:
            return "category"
        return "bool" if dtype == nw.Boolean else "other"

    def type_name(self, column: int) -> str:
        """Return the type, as the library of the frame calls it."""
        return type_name_of(self.columns[column])

    def cells(self, column: int) -> Cells:
        return cells_of(self.columns[column])

    def find(self, name: str) -> Cells | None:
        """Return a column by its name, or None if the frame has none of that name."""
        return self.cells(self.names.index(name)) if name in self.names else None


def frame_of(X: Any) -> Frame | None:
    """Return X as a frame, or None if it is not one."""
    if isinstance(X, np.ndarray | list | tuple) or not nw.dependencies.is_into_dataframe(X):
        return None
    names: list[Any] = list(X.column_names if hasattr(X, "column_names") else X.columns)
    if len({*names}) < len(names):  # pandas allows it, narwhals does not
        X = X.set_axis(range(len(names)), axis=1)
    return Frame(nw.from_native(X, eager_only=True), names)


def is_records(X: Any) -> bool:
    """Return whether X is a list of dicts."""
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


# -- which columns are categorical -------------------------------------------------------------------


def chosen_columns(given: Any, frame: Frame | None, names: Any, n_features: int) -> list[int]:
    """Return the categorical columns of the first batch, by `categorical_features`."""
    if given is None:
        return []
    if isinstance(given, str):
        if given != FROM_DTYPE:
            raise ValueError(
                f"categorical_features must be {FROM_DTYPE!r}, a mask, indices, names or None, "
                f"got {given!r}"
            )
        if frame is None:
            return []
        return [i for i in range(n_features) if frame.kind(i) in ("category", "bool")]
    chosen = np.asarray(given)
    if chosen.ndim != 1 or (chosen.dtype.kind not in "biuU" and not _texts(chosen)):
        if chosen.size == 0:
            return []
        raise ValueError(
            "categorical_features must be a mask, indices or names, "
            f"got {reprlib.repr(chosen.tolist())}"
        )
    if chosen.dtype.kind == "b":
        if len(chosen) != n_features:
            raise ValueError(
                f"categorical_features as a mask must have {n_features} entries, one per feature, "
                f"got {len(chosen)}"
            )
        return [int(i) for i in np.flatnonzero(chosen)]
    if chosen.dtype.kind in "iu":
        for i in chosen.tolist():
            if not 0 <= i < n_features:
                raise ValueError(
                    f"categorical_features must name columns from 0 to {n_features - 1}, got {i}"
                )
        return sorted({*chosen.tolist()})
    return sorted({_place(name, names) for name in chosen.tolist()})


def _texts(values: NDArray[Any]) -> bool:
    return values.dtype.kind == "O" and all(isinstance(value, str) for value in values.tolist())


def _place(name: str, names: Any) -> int:
    known = [] if names is None else list(names)
    if name not in known:
        what = reprlib.repr(known) if known else "no names"
        raise ValueError(f"categorical_features must name columns of X, got {name!r}; X has {what}")
    return known.index(name)


# -- dates ---------------------------------------------------------------------------------------------


def raw_columns_of(frame: Frame, categorical: Sequence[int], given: Any) -> RawColumns | None:
    """Return the columns of a first batch if one holds dates or times, or None.

    Dates are columns of that type, and texts that are mostly dates, as on the command line; a column
    that the user names in `categorical_features` (`given`) holds categories, whatever it looks like.
    """
    named = {*categorical} if given is not None and not isinstance(given, str) else set()
    times = {i: time for i in range(frame.shape[1]) if i not in named and (time := _time(frame, i))}
    if not times:
        return None
    encoders: dict[str, Encoder] = {}
    for i, name in enumerate(frame.names):
        if not isinstance(name, str) or name in encoders:
            raise ValueError(
                f"columns must have names that are texts and differ, if one holds dates, got {name!r}"
            )
        plain = Category(as_it_is=True) if i in categorical else Number()
        encoders[name] = times.get(i, plain)
    columns = RawColumns(encoders)
    names = columns.feature_names
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"two columns give a feature {twice[0]!r}; rename or drop one of them")
    return columns


def _time(frame: Frame, column: int) -> Encoder | None:
    if frame.kind(column) not in ("time", "category"):
        return None
    cells = frame.cells(column)
    if cells.form in ("texts", "mixed"):
        cells = cells.texts().without(MISSING)
    time = time_from([cells])
    if time is None and frame.kind(column) == "time":
        raise ValueError(
            f"feature {frame.names[column]!r} must hold numbers, categories, dates or times, got "
            f"values of type {frame.type_name(column)}"
        )
    return time


# -- rows ----------------------------------------------------------------------------------------------


def mixed_rows(X: Any, categorical: Sequence[int], names: Any) -> MixedRows:
    """Return the rows of a frame or of a two-dimensional array; `names` are for errors."""
    frame = frame_of(X)
    if frame is not None:
        return _rows_of_frame(frame, categorical)
    labels = range(X.shape[1]) if names is None else names
    if X.dtype.kind in "biuf":
        return _rows_of_numbers(X, categorical, labels)
    numbers = np.full(X.shape, np.nan)
    coded = {}
    for column, name in enumerate(labels):
        cells = X[:, column].tolist()
        if column in categorical:
            coded[column] = Coded.of(name, cells)
        else:
            numbers[:, column] = _numbers(name, cells)
    return MixedRows(_as_rows(numbers, categorical), coded)


def check_no_time(frame: Frame) -> None:
    """Raise an error if a column holds dates, in a forest that has learned none."""
    for column, name in enumerate(frame.names):
        if frame.kind(column) == "time":
            raise ValueError(
                f"feature {name!r} must hold numbers or categories, as before, got dates or times "
                f"({frame.type_name(column)})"
            )


def check_numbers(frame: Frame, categorical: Sequence[int]) -> None:
    """Raise an error if a column that is not categorical does not hold numbers."""
    for column, name in enumerate(frame.names):
        if column in categorical or frame.kind(column) in ("number", "bool"):
            continue
        advice = ""
        if frame.kind(column) == "category":
            advice = ": name it in categorical_features, or turn it into numbers"
        raise ValueError(
            f"feature {name!r} must hold numbers, got values of type "
            f"{frame.type_name(column)}{advice}"
        )


def _rows_of_frame(frame: Frame, categorical: Sequence[int]) -> MixedRows:
    check_numbers(frame, categorical)
    numbers = np.full(frame.shape, np.nan)
    coded = {}
    for column in range(frame.shape[1]):
        if column in categorical:
            coded[column] = frame.cells(column).coded(frame.names[column])
        else:
            numbers[:, column] = frame.cells(column).numbers()
    return MixedRows(_as_rows(numbers, categorical), coded)


def _rows_of_numbers(X: NDArray[Any], categorical: Sequence[int], names: Any) -> MixedRows:
    coded = {}
    for column in categorical:
        values, which = np.unique(X[:, column], return_inverse=True)
        coded[column] = Coded.numbered(names[column], values.tolist(), which)
    return MixedRows(_as_rows(X, categorical), coded)


def _as_rows(numbers: NDArray[Any], categorical: Sequence[int]) -> NDArray[np.float32]:
    """Return checked rows, with NaN in the categorical columns."""
    numbers = np.array(numbers, dtype=np.float64 if numbers.dtype.kind != "f" else None)
    numbers[:, list(categorical)] = np.nan
    rows: NDArray[np.float32] = as_rows(numbers)
    return rows


def not_a_number(X: Any, frame: Frame | None) -> str:
    """Describe the first value of X that is a text and no number."""
    if frame is not None:
        columns = zip(frame.names, (column.to_list() for column in frame.columns), strict=True)
    else:
        columns = enumerate(np.array(X, dtype=object).T.tolist())  # type: ignore[assignment]
    for name, cells in columns:
        for row, cell in enumerate(cells):
            try:
                float(cell)
            except (TypeError, ValueError):
                if isinstance(cell, str):
                    return (
                        f"feature {name!r} must hold numbers, got {reprlib.repr(cell)} in row {row}: "
                        "name it in categorical_features, or turn it into numbers"
                    )
    return "X must hold numbers, got texts"


def _numbers(name: Any, cells: list[Any]) -> Numbers:
    try:
        values = [np.nan if is_missing(cell) else cell for cell in cells]
        texts = [value for value in values if isinstance(value, str | bytes)]
        if texts:
            raise TypeError
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        bad = next((cell for cell in cells if not isinstance(cell, int | float)), None)
        raise ValueError(
            f"feature {name!r} must hold numbers, got {reprlib.repr(bad)}: "
            "name it in categorical_features, or turn it into numbers"
        ) from None
