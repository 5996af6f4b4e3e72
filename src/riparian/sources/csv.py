"""CSV and TSV, read by pyarrow in blocks, so that an error can name the bad cell."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv
import pyarrow.types as types

from riparian.sources.errors import BadData, names, shown
from riparian.sources.formats import MISSING
from riparian.sources.raw import LONGEST_RECORD, Block, Blocks, Raw, last_newline, reader
from riparian.sources.source import Batch, Checked, Kind, Place, Sifted, TextSource

PLAIN_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)

CONVERT = "convert the file first, for example with iconv -f LATIN1 -t UTF-8"
CONVERT_16 = "it looks like UTF-16: convert it first with iconv -f UTF-16 -t UTF-8"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

csv.field_size_limit(LONGEST_RECORD)


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written."""

    delimiter: str = ","
    header: bool = True  # whether the first line names the columns; else they are c1, c2, ...
    missing: tuple[str, ...] = ()  # additional texts that mean a missing number

    def ends(self, data: bytes, *, whole: bool = False) -> Iterator[int]:
        """Yield the end of each record; unless `whole`, of an incomplete last one as well."""
        place, over = 0, False

        def lines() -> Iterator[str]:
            nonlocal place, over
            for line in data.splitlines(keepends=True):
                place += len(line)
                yield line.decode("latin-1")
            over = True

        for _ in csv.reader(lines(), delimiter=self.delimiter):
            if whole and over:  # the record needs more lines than there are
                return
            yield place

    def whole(self, data: bytes) -> int:
        """Return how many of these bytes are whole records: a line may end within quotes.

        Quotes come in pairs, so a line that ends after an even number of them ends a record. If the
        number is odd, the records are parsed one by one, because a quote in the middle of a cell is
        an ordinary character.
        """
        end = last_newline(data)
        if data.count(b'"', 0, end) % 2 == 0:
            return end
        return max(self.ends(data[:end], whole=True), default=0)

    def cells(self, record: str) -> list[str]:
        return next(csv.reader(io.StringIO(record, newline=""), delimiter=self.delimiter), [])


class CsvSource(TextSource):
    def __init__(self, raw: Raw, dialect: Dialect, *, skip: bool = False) -> None:
        super().__init__(raw, skip=skip)
        self.dialect = dialect
        self.blocks = Blocks(raw, dialect.whole)
        if not self.blocks.head.data.strip():
            raise BadData("the file is empty", file=self.file)
        self.names, self._start = self._header()
        self.fields = self._infer()

    def batches(self, kinds: Mapping[str, Kind], start: Place) -> Iterator[Batch]:
        wanted, first = self.types(kinds), start.row
        for block in self._blocks_from(start):
            table, rows = self._read(block, wanted, first)
            place = self._place(block, first)
            if rows is not None:
                yield Batch(
                    self.file, first, table, place, self.dialect.missing, rows.numbers, rows.faults
                )
                first += len(rows.faults)
            elif table.num_rows:
                yield Batch(self.file, first, table, place, self.dialect.missing)
            first += table.num_rows

    def types(self, kinds: Mapping[str, Kind]) -> dict[str, pa.DataType]:
        raw = {name: pa.string() for name, kind in kinds.items() if kind is Kind.RAW}
        return {**super().types(kinds), **raw}

    def _data(self) -> Iterator[Block]:
        for block in self.blocks:
            yield self._below_header() if block is self.blocks.head else block

    def _below_header(self) -> Block:
        head = self.blocks.head
        lines = head.data.count(b"\n", 0, self._start)
        return Block(head.data[self._start :], head.line + lines, head.offset + self._start)

    # -- what the columns are ---------------------------------------------------------------------

    def _header(self) -> tuple[list[str], int]:
        """Return the names of the columns, and where the data begins."""
        head = self.blocks.head.data
        end = next(self.dialect.ends(head))
        try:
            cells = self.dialect.cells(head[:end].decode("utf-8"))
        except UnicodeDecodeError as error:
            what_to_do = CONVERT_16 if head.startswith(UTF_16) else CONVERT
            raise BadData(
                f"the header is not UTF-8: {error}; {what_to_do}", file=self.file, line=1
            ) from None
        if not self.dialect.header:
            return [f"c{i + 1}" for i in range(len(cells))], 0
        twice = sorted(name for name, count in Counter(cells).items() if count > 1)
        if twice:
            raise BadData(
                f"column names must be unique, but these appear more than once: {names(twice)}"
                f"{no_header(cells)}",
                file=self.file,
                line=1,
            )
        return cells, end

    def _infer(self) -> dict[str, pa.DataType]:
        if not self._below_header().data.strip():
            return dict.fromkeys(self.names, pa.null())
        schema = self._read(self._below_header(), None, 0)[0].schema
        # If a cell is not UTF-8, the error that names it comes when the cell is read as text.
        return {
            field.name: pa.string() if types.is_binary(field.type) else field.type
            for field in schema
        }

    # -- the rows ---------------------------------------------------------------------------------

    def _read(
        self, block: Block, wanted: dict[str, pa.DataType] | None, first: int
    ) -> tuple[pa.RecordBatch, Sifted | None]:
        """Return the rows of a block: the wanted columns, or all with inferred types."""
        try:
            return self._parse(block.data, wanted), None
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            rows = self._sifted(self._checked(block, wanted or {}, first), first)
            if not rows.faults:
                raise BadData(str(error), file=self.file, row=first + 1) from None
            return self._parse(rows.data, wanted), rows

    def _parse(self, data: bytes, wanted: dict[str, pa.DataType] | None) -> pa.RecordBatch:
        if not data:
            types_ = wanted or dict.fromkeys(self.names, pa.null())
            return pa.RecordBatch.from_pylist([], schema=pa.schema(types_))
        table = pyarrow.csv.read_csv(
            reader(data),
            read_options=pyarrow.csv.ReadOptions(
                column_names=self.names, block_size=len(data) + 1, use_threads=False
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=self.dialect.delimiter, newlines_in_values=b'"' in data
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=wanted,
                include_columns=wanted and list(wanted),
                null_values=[*MISSING, *self.dialect.missing],
            ),
        )
        return one_batch(table)

    def stray_text(self, column: str) -> BadData | None:
        block, place = self._below_header(), self.names.index(column)
        for row, (line, record) in enumerate(self._records(block)):
            cell = self.dialect.cells(record.decode("latin-1"))[place]
            fault = self._fault(cell, pa.float64())
            if fault is not None:
                bad = BadData(fault, file=self.file, row=row + 1, line=line, column=column)
                return bad if row > 0 else None
        return None

    def _records(self, block: Block) -> Iterator[tuple[int, bytes]]:
        """Yield the records that are rows, each after the number of its first line."""
        line, start = block.line, 0
        for end in self.dialect.ends(block.data):
            record = block.data[start:end]
            if record.strip(b"\r\n"):
                yield line, record
            line += record.count(b"\n")
            start = end

    def _checked(
        self, block: Block, wanted: dict[str, pa.DataType], first: int
    ) -> Iterator[Checked]:
        """Read a block again in plain Python, and yield each row with its fault."""
        for row, (line, record) in enumerate(self._records(block), start=first + 1):
            try:
                self._check(record, wanted, row, line)
                yield record, None
            except BadData as fault:
                yield record, fault

    def _check(self, record: bytes, wanted: dict[str, pa.DataType], row: int, line: int) -> None:
        # Latin-1 gives every byte a character, so the record can be split into cells first.
        text = record.decode("latin-1")
        cells = self.dialect.cells(text)
        if len(cells) != len(self.names):
            hint = "; is a quote left open?" if "\n" in text.rstrip() else ""
            if len(self.names) == 1:  # a single column is hardly ever meant
                hint = f"; the header is {shown(self.names[0])}: do you need --delimiter, or are there "
                hint += "lines before the header?"
            elif row == 1 and not hint:
                hint = f"; the header is {names(self.names)}" if self.dialect.header else ""
            many = "cell" if len(self.names) == 1 else "cells"
            raise BadData(
                f"expected {len(self.names)} {many}, one per column, got {len(cells)}: "
                f"{shown(text.rstrip())}{hint}",
                file=self.file,
                row=row,
                line=line,
            )
        for name, cell in zip(self.names, cells, strict=True):
            fault = self._fault(cell, wanted[name]) if name in wanted else None
            if fault is not None:
                if wanted[name] == pa.float64() and fault.startswith("expected"):
                    fault += "; if it means a missing value, give --missing"
                raise BadData(fault, file=self.file, row=row, line=line, column=name)

    def _fault(self, cell: str, wanted: pa.DataType) -> str | None:
        try:
            text = cell.encode("latin-1").decode("utf-8")
        except UnicodeDecodeError as error:
            return (
                f"not UTF-8 ({error.reason} {error.object[error.start]:#04x}): {shown(cell)}; "
                f"{CONVERT}"
            )
        if wanted == pa.string() or text in MISSING or text in self.dialect.missing:
            return None
        if wanted == pa.float64() and PLAIN_NUMBER.fullmatch(text):
            return None
        try:
            pa.array([text.strip()]).cast(wanted)
        except pa.ArrowInvalid:
            return f"expected {WORDS[wanted]}, got {shown(text)}"
        return None


WORDS = {
    pa.float64(): "a number, as in earlier rows",
    pa.int64(): "a whole number, as in earlier rows",
    pa.bool_(): "true or false, as in earlier rows",
}


def no_header(columns: Iterable[str]) -> str:
    """Return a hint if the names of columns look like a row of data."""
    numbers = any(PLAIN_NUMBER.fullmatch(name) for name in columns)
    return "; if the file has no header, give --no-header" if numbers else ""


def one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
