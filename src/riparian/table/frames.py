"""A column of a frame (pandas, polars, pyarrow) as cells."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from riparian.engine.categories import Coded
from riparian.table.cells import Cells, Form, Listed, Texts, Times

Numbers = NDArray[np.float64]

TEXT_TYPES = (nw.String, nw.Categorical, nw.Enum)


class SeriesCells(Cells):
    """A column whose type says what its values are."""

    def __init__(self, series: Any) -> None:
        self.series = series
        self.type_name = type_name_of(series)
        form = _form(series.dtype, self.type_name)
        self.form = "empty" if form == "texts" and series.is_null().all() else form
        self.days = bool(series.dtype == nw.Date)

    def __len__(self) -> int:
        return len(self.series)

    def numbers(self) -> Numbers:
        if self.form == "empty":
            return np.full(len(self), np.nan)
        return numbers_of(self.series)

    def times(self) -> Times:
        there = ~self.series.is_null().to_numpy().astype(np.bool_)
        if self.form == "empty":
            return Times(np.zeros(len(self), np.int64), there)
        kind = self.series.dtype.base_type()
        if kind == nw.Time:
            return Listed(self.series.to_list()).times()
        dates = self.series.filter(there.tolist())  # a null would make floats of the rest
        micros = np.zeros(len(self), dtype=np.int64)
        whole = dates.dt.total_microseconds() if kind == nw.Duration else dates.dt.timestamp("us")
        micros[there] = whole.to_numpy()
        return Times(micros, there)

    def texts(self) -> Texts:
        if self.type_name == "category":
            coded = self.coded("")
            texts = Texts.of(coded.values)
            return Texts(texts.values, np.append(texts.which, -1)[coded.which])
        return Texts.of(self.series.to_list())

    def coded(self, name: Any) -> Coded:
        if self.type_name == "category":  # pandas also has categories that no row uses
            native = self.series.to_native()
            places = native.cat.codes.to_numpy()
            used = np.unique(places[places >= 0])
            which = np.where(places >= 0, np.searchsorted(used, places), -1)
            return Coded.numbered(name, native.cat.categories[used].tolist(), which)
        return Coded.of(name, self.series.to_list())

    def stray(self, wanted: Form) -> tuple[int, Any]:
        return Listed(self.series.to_list()).stray("empty")


def cells_of(series: Any) -> Cells:
    """Return a column of a frame as cells; one without a type of its own is read value by value."""
    cells = SeriesCells(series)
    return Listed(series.to_list()) if series.dtype == nw.Object else cells


def numbers_of(series: Any) -> Numbers:
    """Return a numeric or boolean column as float64, with NaN where a value is missing."""
    if series.dtype == nw.Boolean:  # as numbers: pandas marks missing bools in another way
        series = series.cast(nw.Int8)
    values: Numbers = np.asarray(series.to_numpy(), dtype=np.float64)
    return values


def type_name_of(series: Any) -> str:
    """Return the type of a column, as its library calls it."""
    native = series.to_native()
    return str(native.dtype if hasattr(native, "dtype") else native.type)


def _form(dtype: Any, name: str) -> Form:
    if name.lower() == "null":
        return "empty"
    if dtype.is_numeric() or dtype == nw.Boolean:
        return "numbers"
    if dtype in TEXT_TYPES:
        return "texts"
    if dtype in (nw.Datetime, nw.Date):
        return "moments"
    return "clocks" if dtype in (nw.Duration, nw.Time) else "other"
