"""From a column to features: numbers and categories as they are, texts by one of three encodings.

What is learned of a text column only ever grows, or is fixed once: to encode a row again, later,
gives the same features. So a run that was interrupted can read rows again that it had read before,
and a checkpoint may know of texts in rows that have been read and not been learned.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
from numpy.typing import NDArray

from riparian.cli.errors import shown
from riparian.cli.sources.csv import MISSING
from riparian.cli.sources.source import Kind
from riparian.engine.categories import Coded

OTHER = "(other)"
MOST_CATEGORIES = 2**24  # that float32 can tell apart


class Unreadable(Exception):
    """A value that a column cannot have."""

    def __init__(self, row: int, fault: str) -> None:
        super().__init__(fault)
        self.row = row  # of the batch


class Encoder(ABC):
    """One column of a table as one or more features."""

    name: ClassVar[str]  # in a model file
    kind: ClassVar[Kind] = Kind.TEXT
    nothing: ClassVar[Sequence[str]] = ()  # texts that mean that there is no value

    @property
    def words(self) -> str:
        """What the column is, for a person."""
        return f"text, encoded: {self.name}"

    @property
    @abstractmethod
    def width(self) -> int:
        """How many features it gives."""

    @abstractmethod
    def features(self, column: str) -> list[str]:
        """What they are called."""

    @abstractmethod
    def fill(self, values: pa.Array, out: NDArray[np.float32]) -> None:
        """Put the features of a column into (rows, width)."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Everything but the name, for JSON."""


class Number(Encoder):
    """A number is its own feature; NaN where there is none."""

    name = "number"
    kind = Kind.NUMBER
    width = 1
    words = "number"

    def features(self, column: str) -> list[str]:
        return [column]

    def fill(self, values: pa.Array, out: NDArray[np.float32]) -> None:
        if pa.types.is_boolean(values.type):
            values = values.cast(pa.uint8())
        with np.errstate(over="ignore"):  # infinities are reported when all is filled
            out[:, 0] = values.to_numpy(zero_copy_only=False)

    def state(self) -> dict[str, Any]:
        return {}


class Numeral(Number):
    """A number whatever the file has, because the user says so: texts are read as numbers."""

    name = "numeral"
    kind = Kind.RAW
    nothing = MISSING
    words = "number, as --numeric says"

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
    """A category is one, and the forest knows which there are (R22): an empty text is none."""

    name = "category"
    kind = Kind.RAW
    width = 1
    words = "category"

    def __init__(self, numbers: bool = False) -> None:
        self.numbers = numbers  # whether the forest has numbers for categories, not texts

    def features(self, column: str) -> list[str]:
        return [column]

    def coded(self, column: str, values: pa.Array) -> Coded:
        """The categories of the rows."""
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
    """The values, but none where a text says that there is none."""
    if not pa.types.is_string(values.type) or not nothing:
        return values
    said = compute.is_in(values, value_set=pa.array(nothing, pa.string()))
    return compute.if_else(said, pa.scalar(None, pa.string()), values)


class Ordinal(Encoder):
    """0, 1, 2, ... in the order in which values were first seen; NaN for none and for a new one."""

    name = "ordinal"
    width = 1

    def __init__(self, most: int, categories: list[str]) -> None:
        self.most = most  # values that are told apart: later ones are as if never seen
        self.categories = categories
        self._code = {category: float(i) for i, category in enumerate(categories)}

    def features(self, column: str) -> list[str]:
        return [column]

    def follow(self, values: pa.Array) -> None:
        """Learn the values that appear, before they are encoded."""
        for value in _distinct(values)[0]:
            if len(self.categories) < self.most and value not in self._code:
                self._code[value] = float(len(self.categories))
                self.categories.append(value)

    def fill(self, values: pa.Array, out: NDArray[np.float32]) -> None:
        texts, which = _distinct(values)
        codes = np.array([*(self._code.get(value, np.nan) for value in texts), np.nan])
        out[:, 0] = codes[which]

    def state(self) -> dict[str, Any]:
        # A copy, in one step: another thread may read on, and learn more.
        return {"most": self.most, "categories": [*self.categories]}


class OneHot(Encoder):
    """A feature for each value seen at the beginning of the stream, and one for all others."""

    name = "onehot"

    def __init__(self, most: int, categories: list[str] | None) -> None:
        self.most = most  # values that have a feature of their own
        self.settled = categories is not None
        self.categories = categories or []

    @property
    def width(self) -> int:
        return len(self.categories) + 1

    def features(self, column: str) -> list[str]:
        return [f"{column}={category}" for category in [*self.categories, OTHER]]

    def settle(self, values: list[pa.Array]) -> None:
        """Learn, once, the values at the beginning of the stream."""
        seen = dict.fromkeys(value for array in values for value in _distinct(array)[0])
        self.categories = list(seen)[: self.most]
        self.settled = True

    def fill(self, values: pa.Array, out: NDArray[np.float32]) -> None:
        place = {category: i for i, category in enumerate(self.categories)}
        texts, which = _distinct(values)
        places = np.array([*(place.get(value, self.width - 1) for value in texts), -1])
        _set_one(out, places[which])

    def state(self) -> dict[str, Any]:
        return {"most": self.most, "categories": self.categories}


class Hash(Encoder):
    """One feature per bucket that values fall into: nothing is learned, and values may collide."""

    name = "hash"

    def __init__(self, buckets: int) -> None:
        self.buckets = buckets

    @property
    def width(self) -> int:
        return self.buckets

    def features(self, column: str) -> list[str]:
        return [f"{column}#{i}" for i in range(self.buckets)]

    def fill(self, values: pa.Array, out: NDArray[np.float32]) -> None:
        texts, which = _distinct(values)
        places = [zlib.crc32(value.encode("utf-8", "surrogatepass")) for value in texts]
        _set_one(out, np.array([*(place % self.buckets for place in places), -1])[which])

    def state(self) -> dict[str, Any]:
        return {"buckets": self.buckets}


def from_state(name: str, state: dict[str, Any]) -> Encoder:
    """The encoder that a model file describes; a ValueError if there can be none like that."""
    match name, state:
        case "number" | "numeral", {**rest} if not rest:
            return Number() if name == "number" else Numeral()
        case "category", {"numbers": bool(numbers)}:
            return Category(numbers)
        case "ordinal" | "onehot", {"most": int(most), "categories": list(categories)}:
            texts = all(isinstance(category, str) for category in categories)
            if texts and len({*categories}) == len(categories) <= most <= MOST_CATEGORIES:
                return (Ordinal if name == "ordinal" else OneHot)(most, categories)
        case "hash", {"buckets": int(buckets)} if 1 <= buckets <= MOST_CATEGORIES:
            return Hash(buckets)
    raise ValueError(f"no encoding is like {name!r} with {str(state)[:100]}")


def _distinct(values: pa.Array) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct values in the order of appearance, and the number of each row's value: -1 for none.

    An empty text is no value: CSV cannot write it otherwise.
    """
    coded = values.cast(pa.string()).dictionary_encode()
    texts = coded.dictionary.to_pylist()
    which = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    if "" in texts:
        empty = texts.index("")
        which = np.where(which == empty, -1, which - (which > empty))
        texts.pop(empty)
    return texts, which


def _set_one(out: NDArray[np.float32], places: NDArray[np.int64]) -> None:
    out[:] = 0
    there = np.flatnonzero(places >= 0)
    out[there, places[there]] = 1
