"""Encoders turn a column into features: numbers and categories here, dates and times in times.py."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
from numpy.typing import NDArray

from riparian.engine.categories import Coded
from riparian.sources.csv import MISSING
from riparian.sources.errors import shown
from riparian.sources.source import Kind


class Unreadable(Exception):
    """A value that its column cannot have."""

    def __init__(self, row: int, fault: str) -> None:
        super().__init__(fault)
        self.row = row  # of the batch


class Encoder(ABC):
    """Turns one column of a table into one or more features."""

    name: ClassVar[str]  # in a model file
    kind: ClassVar[Kind]  # how to read the column
    nothing: ClassVar[Sequence[str]] = ()  # texts that mean a missing value

    @property
    @abstractmethod
    def words(self) -> str:
        """Describe the column in words."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Return the number of features."""

    @abstractmethod
    def features(self, column: str) -> list[str]:
        """Return the names of the features."""

    @abstractmethod
    def fill(self, values: pa.Array, out: NDArray[np.float32]) -> None:
        """Write the features of a column to `out`, of shape (rows, width)."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return everything but the name, for JSON."""


class Number(Encoder):
    """A number is one feature; a missing value is NaN."""

    name = "number"
    kind = Kind.NUMBER
    width = 1
    words = "number"

    def features(self, column: str) -> list[str]:
        return [column]

    def fill(self, values: pa.Array, out: NDArray[np.float32]) -> None:
        if pa.types.is_boolean(values.type):
            values = values.cast(pa.uint8())
        with np.errstate(over="ignore"):  # infinities are reported after all columns are filled
            out[:, 0] = values.to_numpy(zero_copy_only=False)

    def state(self) -> dict[str, Any]:
        return {}


class Numeral(Number):
    """A number by the user's choice: texts are read as numbers."""

    name = "numeral"
    kind = Kind.RAW
    nothing = MISSING
    words = "number (--numeric)"

    def fill(self, values: pa.Array, out: NDArray[np.float32]) -> None:
        if pa.types.is_temporal(values.type):
            raise Unreadable(0, f"expected numbers, got dates or times ({values.type})")
        if pa.types.is_string(values.type):
            values = _numbers(values)
        super().fill(values, out)


def _numbers(texts: pa.Array) -> pa.Array:
    trimmed = compute.utf8_trim_whitespace(texts)
    try:
        return trimmed.cast(pa.float64())
    except pa.ArrowInvalid:
        row = next(i for i, text in enumerate(trimmed.to_pylist()) if not _is_number(text))
        raise Unreadable(row, f"expected a number, got {shown(texts[row].as_py())}") from None


def _is_number(text: str | None) -> bool:
    try:
        pa.array([text], pa.string()).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


class Category(Encoder):
    """A category is one feature, for which the forest keeps a table (R22). Empty text is missing."""

    name = "category"
    kind = Kind.RAW
    width = 1
    words = "category"

    def __init__(self, numbers: bool = False) -> None:
        self.numbers = numbers  # whether the categories of the forest are numbers, not texts

    def features(self, column: str) -> list[str]:
        return [column]

    def coded(self, column: str, values: pa.Array) -> Coded:
        """Return the categories of the rows."""
        if not self.numbers:
            if pa.types.is_floating(values.type):
                values = compute.if_else(compute.is_nan(values), None, values)
            return Coded.numbered(column, *_distinct(values))
        out = np.empty((len(values), 1), dtype=np.float64)
        Numeral.fill(Numeral(), without(values, MISSING), out)  # type: ignore[arg-type]
        return Coded.of(column, out[:, 0].tolist())

    def fill(self, values: pa.Array, out: NDArray[np.float32]) -> None:
        out[:] = np.nan  # the forest has the codes

    def state(self) -> dict[str, Any]:
        return {"numbers": self.numbers}


def without(values: pa.Array, nothing: Sequence[str]) -> pa.Array:
    """Return the values, with null for each text that means a missing value."""
    if not pa.types.is_string(values.type) or not nothing:
        return values
    missing = compute.is_in(values, value_set=pa.array(nothing, pa.string()))
    return compute.if_else(missing, pa.scalar(None, pa.string()), values)


def from_state(name: str, state: dict[str, Any]) -> Encoder:
    """Return the encoder that a model file describes, or raise a ValueError."""
    match name, state:
        case "number" | "numeral", {**rest} if not rest:
            return Number() if name == "number" else Numeral()
        case "category", {"numbers": bool(numbers)}:
            return Category(numbers)
        case "ordinal" | "onehot" | "hash", _:
            raise ValueError(
                f"a column was learned with --encode {name}, which riparian supports only up to 0.2: "
                "use the file with riparian 0.2, or learn the model again without --encode"
            )
    raise ValueError(f"unknown encoding {name!r} with {str(state)[:100]}")


def _distinct(values: pa.Array) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct values in order of appearance, and the number of each row's value or -1.

    An empty text is a missing value, because CSV has no other way to write one.
    """
    coded = values.cast(pa.string()).dictionary_encode()
    texts = coded.dictionary.to_pylist()
    which = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    if "" in texts:
        empty = texts.index("")
        which = np.where(which == empty, -1, which - (which > empty))
        texts.pop(empty)
    return texts, which
