"""A source: the columns of a file, and its rows in small batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as types
from numpy.typing import NDArray

from riparian.sources.errors import BadData
from riparian.sources.raw import Block, Blocks, Raw
from riparian.tools.shapes import COUNT, Shape

MOST_ROWS = 2**15  # per batch

# What pyarrow raises for a broken file; names that are not UTF-8 are found late.
BROKEN = (pa.ArrowException, OSError, UnicodeDecodeError)


class Kind(Enum):
    """How to read a column."""

    NUMBER = "number"
    TEXT = "text"
    INTEGER = "integer"
    BOOL = "bool"
    RAW = "raw"  # as it is: text in a text file, otherwise the type that the file declares


def kind_of(natural: pa.DataType) -> Kind | None:
    """Return how to read a feature of this type, or None if it cannot be a feature."""
    if types.is_dictionary(natural):
        return kind_of(natural.value_type)
    if types.is_null(natural) or types.is_boolean(natural) or _is_number(natural):
        return Kind.NUMBER
    if types.is_string(natural) or types.is_large_string(natural):
        return Kind.TEXT
    return None


def _is_number(natural: pa.DataType) -> bool:
    return bool(
        types.is_integer(natural) or types.is_floating(natural) or types.is_decimal(natural)
    )


def type_of(kind: Kind, natural: pa.DataType) -> pa.DataType:
    """Return the type to read a column as.

    Numbers are always read as float64, because later rows of a column of whole numbers may have
    fractions. Booleans are read as booleans.
    """
    if kind is Kind.NUMBER:
        return natural if types.is_boolean(natural) else pa.float64()
    if kind is Kind.RAW:
        return raw_type(natural)
    return {Kind.TEXT: pa.string(), Kind.INTEGER: pa.int64(), Kind.BOOL: pa.bool_()}[kind]


def raw_type(natural: pa.DataType) -> pa.DataType:
    """Return the type of values as they are; all text types become one."""
    if types.is_dictionary(natural):
        return raw_type(natural.value_type)
    return pa.string() if types.is_large_string(natural) else natural


@dataclass(frozen=True)
class Place:
    """Where a source can start to read; only the source interprets `at`."""

    row: int = 0  # number in the file of the first row read from here
    at: Any = None  # a JSON value; None is the beginning


@dataclass(frozen=True)
class Batch:
    """Some rows of a file, with the wanted columns."""

    file: str
    first: int  # rows of the file before these
    table: pa.RecordBatch
    place: Place  # where to start in order to read these rows again
    missing: tuple[str, ...] = ()  # texts that mean a missing value
    numbers: NDArray[np.int64] | None = None  # of the rows in the file, if some were left out
    faults: Sequence[BadData] = ()  # of the rows that were left out

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, rows: slice) -> Batch:
        start, stop, _ = rows.indices(len(self))
        some = self.table.slice(start, max(0, stop - start))
        if self.numbers is not None:
            return replace(self, table=some, numbers=self.numbers[start:stop])
        return replace(self, first=self.first + start, table=some)

    def number(self, row: int) -> int:
        """Return the number in the file, from 0, of a row of the batch."""
        return self.first + row if self.numbers is None else int(self.numbers[row])

    def bad(self, row: int, fault: str, column: str | None = None) -> BadData:
        """Return an error about a row, given its number within the batch."""
        return BadData(fault, file=self.file, row=self.number(row) + 1, column=column)

    def without(self, faults: Mapping[int, BadData]) -> Batch:
        """Return the batch without some of its rows, given by their number within it."""
        good = np.delete(np.arange(len(self)), [*faults])
        return replace(
            self,
            table=self.table.take(pa.array(good)),
            numbers=np.array([self.number(row) for row in good.tolist()], dtype=np.int64),
            faults=[*self.faults, *faults.values()],
        )


class Source(ABC):
    """One file, or standard input. A source is read once; open another to read the file again."""

    file: str  # the name in messages
    place: Shape = COUNT  # of `Place.at`
    fields: dict[str, pa.DataType]  # the columns, with declared or inferred types

    @abstractmethod
    def batches(self, kinds: Mapping[str, Kind], start: Place) -> Iterator[Batch]:
        """Yield the rows from a place on, with the wanted columns."""

    def place_of(self, row: int) -> Place:
        """Return a place at or before a row, if one is known without reading; else the beginning."""
        return Place()

    @property
    @abstractmethod
    def fraction(self) -> float | None:
        """Return how much of the file has been read, or None if its size is unknown."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    def stray_text(self, column: str) -> BadData | None:
        """Return an error about the first text in a column that began with numbers, if known."""
        return None

    def types(self, kinds: Mapping[str, Kind]) -> dict[str, pa.DataType]:
        return {name: type_of(kind, self.fields[name]) for name, kind in kinds.items()}

    def converted(self, batch: pa.RecordBatch, kinds: Mapping[str, Kind]) -> pa.RecordBatch:
        """Convert the wanted columns of a batch from a file that declares its types."""
        columns = [self._cast(batch.column(name), name, kind) for name, kind in kinds.items()]
        return pa.RecordBatch.from_arrays(columns, names=list(kinds))

    def _cast(self, array: pa.Array, name: str, kind: Kind) -> pa.Array:
        wanted = type_of(kind, array.type)
        # Arrow would convert texts to numbers and numbers to texts.
        mixed = kind is not Kind.RAW and ((kind is Kind.TEXT) != (kind_of(array.type) is Kind.TEXT))
        try:
            if (
                kind is not Kind.RAW
                and mixed
                and not types.is_null(array.type)
                and not types.is_temporal(array.type)
            ):
                raise pa.ArrowInvalid("text and numbers cannot be converted into each other")
            return array.cast(wanted, safe=kind is not Kind.NUMBER)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise BadData(
                f"expected values of type {kind.value}, got {array.type}: {error}",
                file=self.file,
                column=name,
            ) from None


Checked = tuple[bytes, BadData | None]  # a row, and why it cannot be read


@dataclass(frozen=True)
class Sifted:
    """The rows of a block that can be read, and the errors of those that cannot."""

    data: bytes
    numbers: NDArray[np.int64]  # in the file
    faults: Sequence[BadData]


class TextSource(Source):
    """A source in a text format."""

    blocks: Blocks
    place = (COUNT, COUNT)  # an offset in bytes and a number of a line

    def __init__(self, raw: Raw, *, skip: bool = False) -> None:
        self.file = raw.name
        self.raw = raw
        self.skip = skip  # whether rows that cannot be read are left out

    def _sifted(self, rows: Iterable[Checked], first: int) -> Sifted:
        """Return the rows that can be read, or raise the error of the first that cannot.

        `rows` are those of a block, from number `first` of the file on.
        """
        good: list[bytes] = []
        numbers: list[int] = []
        faults: list[BadData] = []
        for number, (record, fault) in enumerate(rows, start=first):
            if fault is None:
                good.append(record)
                numbers.append(number)
            elif self.skip:
                faults.append(fault)
            else:
                raise fault
        return Sifted(b"".join(good), np.array(numbers, dtype=np.int64), faults)

    def _data(self) -> Iterator[Block]:
        """Yield the blocks that contain the rows."""
        return iter(self.blocks)

    def _blocks_from(self, start: Place) -> Iterator[Block]:
        """Yield the blocks from a place on, except those that are only white space."""
        blocks = self._data() if start.at is None else self.blocks.after(self._last(), *start.at)
        return (block for block in blocks if block.data and not block.data.isspace())

    def _last(self) -> Block:
        """Return the last block that was read before the rows."""
        return self.blocks.head

    def _place(self, block: Block, row: int) -> Place:
        return Place(row, [block.offset, block.line])

    @property
    def fraction(self) -> float | None:
        return self.raw.fraction

    def close(self) -> None:
        self.raw.close()
