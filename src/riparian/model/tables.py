"""Tables at the door: which columns are categorical (R22), and rows as numbers and categories.

Frames of pandas, polars and pyarrow say of what type each column is. In an array, categorical columns
are those that the user names.
"""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from riparian.engine.categories import Coded, MixedRows, is_missing
from riparian.model.rows import as_rows

Kind = Literal["number", "bool", "category", "time", "other"]
Numbers = NDArray[np.float64]

FROM_DTYPE = "from_dtype"


class Frame(ABC):
    """A table whose columns have names and types of their own."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.names: list[Any] = list(self._names())
        self.shape: tuple[int, int] = tuple(table.shape)

    @abstractmethod
    def _names(self) -> Sequence[Any]: ...

    @abstractmethod
    def kind(self, column: int) -> Kind: ...

    @abstractmethod
    def type_name(self, column: int) -> str: ...

    @abstractmethod
    def numbers(self, column: int) -> Numbers:
        """NaN where a value is missing."""

    @abstractmethod
    def coded(self, column: int) -> Coded: ...


class PandasFrame(Frame):
    def _names(self) -> Sequence[Any]:
        names: Sequence[Any] = self.table.columns.tolist()
        return names

    def type_name(self, column: int) -> str:
        return str(self.table.dtypes.iloc[column])

    def kind(self, column: int) -> Kind:
        dtype = self.table.dtypes.iloc[column]
        name, kind = str(dtype), dtype.kind
        if name == "category" or kind in "OUS":
            return "time" if name.startswith(("period", "interval")) else "category"
        if kind == "b":
            return "bool"
        return "time" if kind in "mM" else "number" if kind in "iuf" else "other"

    def numbers(self, column: int) -> Numbers:
        values: Numbers = self.table.iloc[:, column].to_numpy(np.float64, na_value=np.nan)
        return values

    def coded(self, column: int) -> Coded:
        name, cells = self.names[column], self.table.iloc[:, column]
        if str(cells.dtype) == "category":
            places = cells.cat.codes.to_numpy()
            used = np.unique(places[places >= 0])  # most categories may be of other rows
            which = np.where(places >= 0, np.searchsorted(used, places), -1)
            return Coded.numbered(name, cells.cat.categories[used].tolist(), which)
        return Coded.of(name, cells.tolist())


class PolarsFrame(Frame):
    TEXT = ("String", "Categorical", "Enum", "Object")
    TIMES = ("Date", "Time", "Duration")
    OTHERS = ("List", "Array", "Struct", "Binary", "Unknown")

    def _names(self) -> Sequence[Any]:
        names: Sequence[Any] = self.table.columns
        return names

    def type_name(self, column: int) -> str:
        return str(self.table.dtypes[column])

    def kind(self, column: int) -> Kind:
        name = self.type_name(column)
        if name == "Boolean":
            return "bool"
        for kind, beginnings in (
            ("category", self.TEXT),
            ("time", self.TIMES),
            ("other", self.OTHERS),
        ):
            if name.startswith(beginnings):
                return kind  # type: ignore[return-value]
        return "number"

    def numbers(self, column: int) -> Numbers:
        cells = self.table.to_series(column)
        missing = cells.is_null().to_numpy()
        values: Numbers = np.array(cells.cast(float).to_numpy(), dtype=np.float64)
        values[missing] = np.nan
        return values

    def coded(self, column: int) -> Coded:
        return Coded.of(self.names[column], self.table.to_series(column).to_list())


class ArrowTable(Frame):
    def _names(self) -> Sequence[Any]:
        names: Sequence[Any] = self.table.column_names
        return names

    def type_name(self, column: int) -> str:
        return str(self.table.schema.field(column).type)

    def kind(self, column: int) -> Kind:
        name = self.type_name(column)
        if name == "bool":
            return "bool"
        if name in ("string", "large_string", "string_view") or name.startswith("dictionary"):
            return "category"
        if name.startswith(("date", "time", "duration", "month_day_nano")):
            return "time"
        numbers = ("int", "uint", "float", "halffloat", "double", "decimal", "null")
        return "number" if name.startswith(numbers) else "other"

    def numbers(self, column: int) -> Numbers:
        values: Numbers = np.array(self.table.column(column).cast("float64").to_numpy())
        return values

    def coded(self, column: int) -> Coded:
        return Coded.of(self.names[column], self.table.column(column).to_pylist())


def frame_of(X: Any) -> Frame | None:
    """X as a frame, if it is one that we know."""
    library = type(X).__module__.partition(".")[0]
    if library == "pandas" and getattr(X, "ndim", 0) == 2 and hasattr(X, "columns"):
        return PandasFrame(X)
    if library == "polars" and hasattr(X, "to_series") and hasattr(X, "columns"):
        return PolarsFrame(X)
    if library == "pyarrow" and hasattr(X, "schema") and hasattr(X, "column_names"):
        return ArrowTable(X)
    return None


# -- which columns are categorical -------------------------------------------------------------------


def chosen_columns(given: Any, frame: Frame | None, names: Any, n_features: int) -> list[int]:
    """The categorical columns of the first batch, by `categorical_features`."""
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
        raise ValueError(f"categorical_features names {name!r}, but X has {what}")
    return known.index(name)


# -- rows ----------------------------------------------------------------------------------------------


def mixed_rows(X: Any, categorical: Sequence[int], names: Any) -> MixedRows:
    """The rows of a frame or of an array of two dimensions; `names` are for the errors."""
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
    for column, name in enumerate(frame.names):
        if frame.kind(column) == "time":
            raise ValueError(
                f"feature {name!r} holds dates or times ({frame.type_name(column)}): turn it into "
                "numbers first, such as the seconds since the first of them, the hour and the weekday"
            )


def check_numbers(frame: Frame, categorical: Sequence[int]) -> None:
    """All other columns hold numbers."""
    check_no_time(frame)
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
            coded[column] = frame.coded(column)
        else:
            numbers[:, column] = frame.numbers(column)
    return MixedRows(_as_rows(numbers, categorical), coded)


def _rows_of_numbers(X: NDArray[Any], categorical: Sequence[int], names: Any) -> MixedRows:
    coded = {}
    for column in categorical:
        values, which = np.unique(X[:, column], return_inverse=True)
        coded[column] = Coded.numbered(names[column], values.tolist(), which)
    return MixedRows(_as_rows(X, categorical), coded)


def _as_rows(numbers: NDArray[Any], categorical: Sequence[int]) -> NDArray[np.float32]:
    """Checked, with NaN for what is categorical."""
    numbers = np.array(numbers, dtype=np.float64 if numbers.dtype.kind != "f" else None)
    numbers[:, list(categorical)] = np.nan
    rows: NDArray[np.float32] = as_rows(numbers)
    return rows


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
