"""A source: the columns of a file, and its rows in batches that are small compared to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pyarrow as pa
import pyarrow.types as types

from riparian.sources.errors import BadData
from riparian.sources.raw import Block, Blocks, Raw

MOST_ROWS = 2**15  # of a batch


class Kind(Enum):
    """What a column is wanted as."""

    NUMBER = "number"
    TEXT = "text"
    INTEGER = "integer"
    BOOL = "bool"
    RAW = "raw"  # as it is: a text file has texts, others what they say


def kind_of(natural: pa.DataType) -> Kind | None:
    """What a column of this type can serve as, as a feature; None: nothing."""
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
    """The type to read a column as.

    Numbers are read as float64 whatever they look like at first: whole numbers may get fractions
    later. Only true and false have to be read as such.
    """
    if kind is Kind.NUMBER:
        return natural if types.is_boolean(natural) else pa.float64()
    if kind is Kind.RAW:
        return raw_type(natural)
    return {Kind.TEXT: pa.string(), Kind.INTEGER: pa.int64(), Kind.BOOL: pa.bool_()}[kind]


def raw_type(natural: pa.DataType) -> pa.DataType:
    """The type of values as they are; texts have one type whichever the file has for them."""
    if types.is_dictionary(natural):
        return raw_type(natural.value_type)
    return pa.string() if types.is_large_string(natural) else natural


@dataclass(frozen=True)
class Place:
    """Where a source can begin to read: only the source knows what `at` means."""

    row: int = 0  # of the file: the first that is read from here
    at: Any = None  # for JSON; None is the beginning


@dataclass(frozen=True)
class Batch:
    """Some rows of a file, with the columns that were wanted."""

    file: str
    first: int  # rows of the file before these
    table: pa.RecordBatch
    place: Place  # from which these rows are read again, perhaps after others
    missing: tuple[str, ...] = ()  # texts that mean that there is no value

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, rows: slice) -> Batch:
        start, stop, _ = rows.indices(len(self))
        some = self.table.slice(start, max(0, stop - start))
        return Batch(self.file, self.first + start, some, self.place, self.missing)

    def bad(self, row: int, fault: str, column: str | None = None) -> BadData:
        """An error about a row, which is counted within the batch."""
        return BadData(fault, file=self.file, row=self.first + row + 1, column=column)


class Source(ABC):
    """One file, or the standard input. It is read once; open another to read it again."""

    file: str  # as messages name it
    fields: dict[str, pa.DataType]  # the columns and what they seem to be

    @abstractmethod
    def batches(self, kinds: Mapping[str, Kind], start: Place) -> Iterator[Batch]:
        """The rows from a place on, with the columns that are wanted."""

    def place_of(self, row: int) -> Place:
        """A place at or before a row, if one is known without reading; else the beginning."""
        return Place()

    @property
    @abstractmethod
    def fraction(self) -> float | None:
        """How much of the file has been read; None where its size is not known."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the file."""

    def stray_text(self, column: str) -> BadData | None:
        """What makes a column one of text after numbers, where that can be told."""
        return None

    def types(self, kinds: Mapping[str, Kind]) -> dict[str, pa.DataType]:
        return {name: type_of(kind, self.fields[name]) for name, kind in kinds.items()}

    def converted(self, batch: pa.RecordBatch, kinds: Mapping[str, Kind]) -> pa.RecordBatch:
        """The wanted columns of a batch whose file says the types itself."""
        columns = [self._cast(batch.column(name), name, kind) for name, kind in kinds.items()]
        return pa.RecordBatch.from_arrays(columns, names=list(kinds))

    def _cast(self, array: pa.Array, name: str, kind: Kind) -> pa.Array:
        wanted = type_of(kind, array.type)
        # Arrow would read numbers out of texts, and write texts of numbers.
        mixed = kind is not Kind.RAW and ((kind is Kind.TEXT) != (kind_of(array.type) is Kind.TEXT))
        try:
            if (
                kind is not Kind.RAW
                and mixed
                and not types.is_null(array.type)
                and not types.is_temporal(array.type)
            ):
                raise pa.ArrowInvalid("text and numbers are not converted into each other")
            return array.cast(wanted, safe=kind is not Kind.NUMBER)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise BadData(
                f"expected values of type {kind.value}, got {array.type}: {error}",
                file=self.file,
                column=name,
            ) from None


class TextSource(Source):
    """A source that is a text."""

    blocks: Blocks

    def __init__(self, raw: Raw) -> None:
        self.file = raw.name
        self.raw = raw

    def _data(self) -> Iterator[Block]:
        """The blocks that have the rows."""
        return iter(self.blocks)

    def _blocks_from(self, start: Place) -> Iterator[Block]:
        if start.at is None:
            return self._data()
        offset, line = start.at
        return self.blocks.after(self._last(), offset, line)

    def _last(self) -> Block:
        """The last block that was read before the rows."""
        return self.blocks.head

    def _place(self, block: Block, row: int) -> Place:
        return Place(row, [block.offset, block.line])

    @property
    def fraction(self) -> float | None:
        return self.raw.fraction

    def close(self) -> None:
        self.raw.close()
