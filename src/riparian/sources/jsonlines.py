"""JSON lines, one object per line, read by pyarrow in blocks, so that an error can name the line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.json

from riparian.sources.csv import one_batch
from riparian.sources.errors import BadData, shown
from riparian.sources.raw import Block, Raw, nothing_but_lines, reader
from riparian.sources.source import Batch, Checked, Kind, Place, Sifted, TextSource, kind_of

# The JSON types that each column type accepts, and their name in messages.
EXPECTED: dict[pa.DataType, tuple[tuple[type, ...], str]] = {
    pa.float64(): ((int, float), "a number"),
    pa.int64(): ((int,), "a whole number"),
    pa.bool_(): ((bool,), "true or false"),
    pa.string(): ((str,), "text"),
}

MOST_DEPTH = 64
TOO_DEEP = f"values are nested more than {MOST_DEPTH} times"
BLANKS = b"\xef\xbb\xbf \t\r"  # with a byte order mark
TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')
BRACKET = re.compile(rb"[][{}]")


class JsonLinesSource(TextSource):
    """Rows from JSON lines. A field that a line omits is a missing value."""

    def __init__(self, raw: Raw, *, strict: bool, skip: bool = False) -> None:
        super().__init__(raw, skip=skip)
        self.strict = strict  # whether a field that the first block lacks is an error
        self.blocks = nothing_but_lines(raw)
        schema = self._read(self.blocks.head, None, 0)[0].schema
        self.fields = {field.name: field.type for field in schema}

    def batches(self, kinds: Mapping[str, Kind], start: Place) -> Iterator[Batch]:
        wanted, first = self.types(kinds), start.row
        for block in self._blocks_from(start):
            table, rows = self._read(block, wanted, first)
            table, place = table.select(list(wanted)), self._place(block, first)
            if rows is None:
                yield Batch(self.file, first, table, place)
            else:
                yield Batch(self.file, first, table, place, (), rows.numbers, rows.faults)
                first += len(rows.faults)
            first += table.num_rows

    def types(self, kinds: Mapping[str, Kind]) -> dict[str, pa.DataType]:
        wanted = super().types(kinds)
        for name, kind in kinds.items():
            # JSON has no dates, but pyarrow reads some texts as dates.
            if kind is Kind.RAW and kind_of(self.fields[name]) is not Kind.NUMBER:
                wanted[name] = pa.string()
        return wanted

    def _read(
        self, block: Block, wanted: dict[str, pa.DataType] | None, first: int
    ) -> tuple[pa.RecordBatch, Sifted | None]:
        try:
            block.data.decode("utf-8")  # pyarrow does not check this
            if not _is_safe(block.data):
                raise pa.ArrowInvalid("expected objects")
            return self._parse(block.data, wanted), None
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            rows = self._sifted(self._checked(block, wanted, first), first)
            if not rows.faults:
                raise BadData(str(error), file=self.file, row=first + 1) from None
            return self._parse(rows.data, wanted), rows

    def _parse(self, data: bytes, wanted: dict[str, pa.DataType] | None) -> pa.RecordBatch:
        schema = unknown = None
        if wanted is not None:
            # Fields that are not wanted stay in the schema, so that unknown fields can be recognised.
            schema = pa.schema({**self.fields, **wanted} if self.strict else wanted)
            unknown = "error" if self.strict else "ignore"
        if not data:
            return pa.RecordBatch.from_pylist([], schema=schema or pa.schema([]))
        table = pyarrow.json.read_json(
            reader(data),
            read_options=pyarrow.json.ReadOptions(block_size=len(data) + 1, use_threads=False),
            parse_options=pyarrow.json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior=unknown
            ),
        )
        return one_batch(table)

    def _checked(
        self, block: Block, wanted: dict[str, pa.DataType] | None, first: int
    ) -> Iterator[Checked]:
        """Read a block again in plain Python, and yield each row with its fault."""
        row = first
        seen: dict[str, type] = {}
        for number, line in block.lines():
            if line.strip():
                row += 1
                fault = self._fault(line, wanted, seen)
                bad = None
                if fault is not None:
                    column, message = fault
                    bad = BadData(message, file=self.file, row=row, line=number, column=column)
                yield line + b"\n", bad

    def _fault(
        self, line: bytes, wanted: dict[str, pa.DataType] | None, seen: dict[str, type]
    ) -> tuple[str | None, str] | None:
        try:
            row = json.loads(line.decode("utf-8"), object_pairs_hook=_unique)
        except UnicodeDecodeError as error:
            return None, f"not UTF-8: {error}"
        except _Twice as error:
            return error.name, "expected each field once per line, got it twice"
        except RecursionError:
            return None, TOO_DEEP
        except ValueError as error:
            return None, f"not JSON: {error}"
        if not isinstance(row, dict):
            return None, f"expected an object, got {shown(row)}"
        if _is_deep(line):
            return None, TOO_DEEP
        for name, value in row.items():
            fault = (
                _changed(value, seen.setdefault(name, _sort(value)))
                if wanted is None
                else self._unfit(name, value, wanted)
            )
            if value is not None and fault is not None:
                return name, fault
        return None

    def _unfit(self, name: str, value: Any, wanted: dict[str, pa.DataType]) -> str | None:
        if name not in wanted:
            unknown = self.strict and name not in self.fields
            return "earlier rows do not have this field" if unknown else None
        classes, words = EXPECTED[wanted[name]]
        good = isinstance(value, classes) and (bool in classes or not isinstance(value, bool))
        return (
            None
            if good
            else f"expected {words}, as in earlier rows, got {shown(json.dumps(value))}"
        )


def _is_safe(data: bytes) -> bool:
    """Return whether pyarrow can read lines: it crashes if the first row is null, and does not come back
    where values are nested thousands of times.
    """
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    objects = data.startswith(b"{") and data.count(b"\n{") == lines - 1
    if objects and data.count(b"{") + data.count(b"[") <= lines + MOST_DEPTH:
        return True  # as nearly always
    rows = data.split(b"\n")
    return {row.lstrip(BLANKS)[:1] for row in rows} <= {b"{", b""} and not any(map(_is_deep, rows))


def _is_deep(line: bytes) -> bool:
    """Return whether values are nested more than MOST_DEPTH times."""
    if line.count(b"{") + line.count(b"[") <= MOST_DEPTH:
        return False
    depth = deepest = 0
    for bracket in BRACKET.findall(TEXT.sub(b"", line)):
        depth += 1 if bracket in b"{[" else -1
        deepest = max(deepest, depth)
    return deepest > MOST_DEPTH


class _Twice(Exception):
    """A field appears twice in an object."""

    def __init__(self, name: str) -> None:
        self.name = name


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(next(name for i, name in enumerate(names) if name in names[:i]))
    return unique


def _sort(value: Any) -> type:
    return float if type(value) is int else type(value)


def _changed(value: Any, before: type) -> str | None:
    """Return the fault if a value has another type than the field had in the first line."""
    if before is type(None) or _sort(value) is before:
        return None
    return f"expected {WORDS[before]}, as in earlier rows, got {shown(json.dumps(value))}"


WORDS = {float: "a number", str: "text", bool: "true or false", list: "a list", dict: "an object"}
