"""A column of Arrow as cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.types as types
from numpy.typing import NDArray

from riparian.engine.categories import Coded
from riparian.table.cells import Cells, Form, Texts, Times, Unreadable


class ArrowCells(Cells):
    def __init__(self, values: pa.Array) -> None:
        self.values = values
        natural = values.type.value_type if types.is_dictionary(values.type) else values.type
        self.type_name = str(natural)
        form = _form(natural)
        self.form = "empty" if form == "texts" and values.null_count == len(values) else form
        self.days = bool(types.is_date(natural))

    def __len__(self) -> int:
        return len(self.values)

    def numbers(self) -> NDArray[np.float64]:
        if self.form == "empty":
            return np.full(len(self), np.nan)
        values = self._plain()
        kind = pa.uint8() if types.is_boolean(values.type) else pa.float64()
        # Whole numbers above 2^53 are rounded.
        numbers = compute.cast(values, kind, safe=False).to_numpy(zero_copy_only=False)
        return np.asarray(numbers, dtype=np.float64)

    def times(self) -> Times:
        there = self.values.is_valid().to_numpy(zero_copy_only=False)
        if self.form == "empty":
            return Times(np.zeros(len(self), np.int64), there)
        values = self._plain()
        if types.is_time(values.type) or types.is_duration(values.type):
            wanted = pa.time64("us") if types.is_time(values.type) else pa.duration("us")
        else:
            wanted = pa.timestamp("us", getattr(values.type, "tz", None))
        # Nanoseconds may be truncated; a moment that does not fit is an error.
        options = compute.CastOptions(wanted, allow_time_truncate=True)
        try:
            micros = compute.cast(values, options=options).cast(pa.int64())
        except pa.ArrowInvalid as error:
            fault = f"expected times that fit 64 bits of microseconds: {error}"
            raise Unreadable(0, fault) from None
        return Times(micros.fill_null(0).to_numpy(zero_copy_only=False), there)

    def texts(self) -> Texts:
        values = self._plain()
        if types.is_floating(values.type):
            values = compute.if_else(compute.is_nan(values), None, values)
        coded = values.cast(pa.string()).dictionary_encode()
        which = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return Texts(coded.dictionary.to_pylist(), which.astype(np.intp))

    def coded(self, name: str) -> Coded:
        return Coded.of(name, self.values.to_pylist())

    def stray(self, wanted: Form) -> tuple[int, Any]:
        row = self.values.is_valid().index(True).as_py()
        return row, self.values[row].as_py()

    def _plain(self) -> pa.Array:
        dictionary = types.is_dictionary(self.values.type)
        return self.values.dictionary_decode() if dictionary else self.values


def _form(natural: pa.DataType) -> Form:
    number = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    if any(fits(natural) for fits in number):
        return "numbers"
    if types.is_string(natural) or types.is_large_string(natural) or types.is_string_view(natural):
        return "texts"
    if types.is_timestamp(natural) or types.is_date(natural):
        return "moments"
    return "clocks" if types.is_time(natural) or types.is_duration(natural) else "other"
