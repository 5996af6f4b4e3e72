"""ARFF, Weka's format: a header that declares the attributes, then rows, dense or sparse.

scipy can read it too, but only as a whole.
https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from riparian.sources.arff_dates import ISO, python_format, read_date
from riparian.sources.errors import BadData, names, shown
from riparian.sources.raw import Block, Raw, nothing_but_lines
from riparian.sources.source import Batch, Kind, Place, TextSource

NUMERIC = ("numeric", "real", "integer")
DATES = pa.timestamp("us", "UTC")

NAME = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{}]+)"""
ATTRIBUTE = re.compile(rf"@attribute\s+{NAME}\s+(\{{.*\}}|\w+)(?:\s+(\S.*))?", re.IGNORECASE)


@dataclass(frozen=True)
class Attribute:
    name: str
    values: tuple[str, ...] | None = None  # of a nominal one, as declared
    numeric: bool = False
    date: str | None = None  # the format of its dates, for `strptime`

    @property
    def type(self) -> pa.DataType:
        if self.date is not None:
            return DATES
        return pa.float64() if self.numeric else pa.string()

    def left_out(self) -> str:
        """Return the value that a sparse row omits: zero, or the first declared value."""
        return self.values[0] if self.values else "0"


@dataclass(frozen=True)
class Row:
    number: int  # in the file, from 0
    line: int
    cells: list[str]
    fault: BadData | None = None  # then there are no cells


class ArffSource(TextSource):
    def __init__(self, raw: Raw, *, skip: bool = False) -> None:
        super().__init__(raw, skip=skip)
        self.blocks = nothing_but_lines(raw)
        self._blocks = iter(self.blocks)
        self.attributes: list[Attribute] = []
        self._first = self._header()
        self.fields = {attribute.name: attribute.type for attribute in self.attributes}
        named = Counter(attribute.name for attribute in self.attributes)
        twice = sorted(name for name, count in named.items() if count > 1)
        if twice:
            raise BadData(
                f"attribute names must be unique, but these appear more than once: {names(twice)}",
                file=raw.name,
            )

    def batches(self, kinds: Mapping[str, Kind], start: Place) -> Iterator[Batch]:
        first = start.row
        for block in self._blocks_from(start):
            rows, place = list(self._rows(block, first)), self._place(block, first)
            table, good, faults = self._read(rows, kinds)
            if faults:
                numbers = np.array([row.number for row in good], dtype=np.int64)
                yield Batch(self.file, first, table, place, (), numbers, faults)
            elif rows:
                yield Batch(self.file, first, table, place)
            first += len(rows)

    # -- the header -------------------------------------------------------------------------------

    def _header(self) -> Block:
        """Read up to @data; return the rest of that block."""
        for block in self._blocks:
            start = 0
            for number, line in block.lines():
                start += len(line) + 1 + block.data.startswith(b"\r", start + len(line))
                text = self._text(line, number).strip()
                if text.lower().startswith("@data"):
                    return Block(block.data[start:], number + 1, block.offset + start)
                if text.lower().startswith("@attribute"):
                    self.attributes.append(self._attribute(text, number))
                elif text and not text.startswith("%") and not text.lower().startswith("@relation"):
                    raise self._bad_line(f"expected @attribute or @data, got {shown(text)}", number)
        raise BadData("not an ARFF file: it has no @data", file=self.file)

    def _text(self, line: bytes, number: int) -> str:
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._bad_line(f"not UTF-8: {error}", number) from None

    def _bad_line(self, fault: str, number: int) -> BadData:
        return BadData(fault, file=self.file, line=number)

    def _attribute(self, text: str, number: int) -> Attribute:
        declaration = ATTRIBUTE.match(text)
        if declaration is None:
            raise self._bad_line(f"expected @attribute NAME TYPE, got {shown(text)}", number)
        name, kind = _unquoted(declaration[1]), declaration[2]
        if kind.startswith("{"):
            return Attribute(name, tuple(_cells(kind[1:-1])))
        if kind.lower() in NUMERIC:
            return Attribute(name, numeric=True)
        if kind.lower() == "string":
            return Attribute(name)
        fault = (
            f"attributes of type {kind} cannot be used; expected numbers, nominal values, strings or "
            "dates"
        )
        if kind.lower() == "date":
            try:
                declared = _unquoted((declaration[3] or ISO).strip())
                return Attribute(name, date=python_format(declared))
            except ValueError as error:
                fault = f"the date format {shown(declared)} cannot be used: {error}"
        raise BadData(fault, file=self.file, line=number, column=name)

    # -- the rows ---------------------------------------------------------------------------------

    def _data(self) -> Iterator[Block]:
        yield self._first
        yield from self._blocks

    def _last(self) -> Block:
        return self._first

    def _rows(self, block: Block, first: int) -> Iterator[Row]:
        """Yield each row. One that cannot be read is an error, or has one if such rows are skipped."""
        number = first
        for line, data in block.lines():
            if not data.strip() or data.lstrip().startswith(b"%"):
                continue
            try:
                yield Row(number, line, self._checked_cells(self._text(data, line).strip()))
            except (ValueError, csv.Error, BadData) as error:
                fault = error.fault if isinstance(error, BadData) else str(error)
                bad = BadData(fault, file=self.file, row=number + 1, line=line)
                if not self.skip:
                    raise bad from None
                yield Row(number, line, [], bad)
            number += 1

    def _checked_cells(self, text: str) -> list[str]:
        cells = self._sparse(text) if text.startswith("{") else _cells(text)
        if len(cells) != len(self.attributes):
            raise ValueError(
                f"expected {len(self.attributes)} values, one per attribute, "
                f"got {len(cells)}: {shown(text)}"
            )
        return cells

    def _sparse(self, text: str) -> list[str]:
        """Return the cells of `{index value, ...}`; indices start at 0."""
        if not text.endswith("}"):
            raise ValueError(f"a sparse row must end with }}, got {shown(text)}")
        cells = [attribute.left_out() for attribute in self.attributes]
        for pair in _cells(text[1:-1]) if text[1:-1].strip() else []:
            index, _, value = pair.partition(" ")
            if not index.isdigit() or int(index) >= len(cells) or not value.strip():
                raise ValueError(
                    f"expected an index below {len(cells)} and a value, got {shown(pair)}"
                )
            cells[int(index)] = _unquoted(value.strip())
        return cells

    def _columns(self, rows: list[Row], kinds: Mapping[str, Kind]) -> pa.RecordBatch:
        place = {attribute.name: i for i, attribute in enumerate(self.attributes)}
        arrays = []
        for name, kind in kinds.items():
            attribute = self.attributes[place[name]]
            cells = [row.cells[place[name]] for row in rows]
            values = [None if cell == "?" else cell for cell in cells]
            try:
                if attribute.date is not None and kind is Kind.RAW:
                    dates = [v if v is None else read_date(v, attribute.date) for v in values]
                    arrays.append(pa.array(dates, DATES))
                    continue
                if attribute.numeric or kind not in (Kind.TEXT, Kind.RAW):
                    arrays.append(pa.array(values, pa.string()).cast(self.types(kinds)[name]))
                    continue
                unknown = {*values} - {None, *(attribute.values or values)}
                if unknown:
                    raise pa.ArrowInvalid
                arrays.append(pa.array(values, pa.string()))
            except ValueError:  # errors of pyarrow are ValueErrors, too
                faults = (self._cell_fault(row, attribute, place[name]) for row in rows)
                raise next(filter(None, faults), None) or BadData(
                    "a value does not have the declared type", file=self.file, column=name
                ) from None
        return pa.RecordBatch.from_arrays(arrays, names=list(kinds))

    def _cell_fault(self, row: Row, attribute: Attribute, place: int) -> BadData | None:
        cell = row.cells[place]
        fault = None if cell == "?" else _fault(attribute, cell)
        if fault is None:
            return None
        name, number = attribute.name, row.number + 1
        return BadData(fault, file=self.file, row=number, line=row.line, column=name)

    def _read(
        self, rows: list[Row], kinds: Mapping[str, Kind]
    ) -> tuple[pa.RecordBatch, list[Row], list[BadData]]:
        """Return the columns, and the rows that they have; the others have the faults."""
        good = [row for row in rows if row.fault is None]
        faults = [row.fault for row in rows if row.fault is not None]
        try:
            return self._columns(good, kinds), good, faults
        except BadData:
            if not self.skip:
                raise
        wanted = [(i, each) for i, each in enumerate(self.attributes) if each.name in kinds]
        bad: dict[int, BadData] = {}
        for row in good:
            cells = (self._cell_fault(row, attribute, i) for i, attribute in wanted)
            fault = next(filter(None, cells), None)
            if fault is not None:
                bad[row.number] = fault
        good = [row for row in good if row.number not in bad]
        return self._columns(good, kinds), good, [*faults, *bad.values()]


def _fault(attribute: Attribute, cell: str) -> str | None:
    if attribute.date is not None:
        try:
            read_date(cell, attribute.date)
        except ValueError:
            return f"expected a date in the declared format, got {shown(cell)}"
        return None
    if not attribute.numeric:
        good = attribute.values is None or cell in attribute.values
        return None if good else f"{shown(cell)} is not one of the declared values"
    try:
        pa.array([cell]).cast(pa.float64())
    except pa.ArrowInvalid:
        return f"expected a number, got {shown(cell)}"
    return None


def _cells(text: str) -> list[str]:
    """Split a line at its commas. Cells may have quotes of either kind, with backslash escapes."""
    quote = '"' if '"' in text and "'" not in text else "'"
    reader = csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True)
    return [cell.strip() for cell in next(reader, [])]


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
