"""Decide what each column of a table is, by its type, its first rows and the options.

Numbers stay numbers, dates and times become numbers, and any other text becomes categories. A column
that holds mostly numbers or dates, and some other texts, is an error: only the user can decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as types

from riparian.sources.errors import BadData, shown
from riparian.sources.formats import MISSING
from riparian.sources.source import Batch, Kind, Source, kind_of
from riparian.table.arrow import ArrowCells
from riparian.table.cells import Cells, Texts, Unreadable
from riparian.table.encoders import Category, Encoder, Number, Numeral
from riparian.table.times import MOMENT, TWO_WAYS, matching, time_from

LEAST_ID_ROWS = 100  # fewer can be all different by chance
MOST_NAMED = 3  # categories shown as examples
# Thousands separators, or a decimal comma: 1,234 or 1.234.567,5 or 0,25.
GROUPED = r"^\s*[+-]?(\d{1,3}([,. '\xa0\u202f]\d{3})+([.,]\d+)?|\d+,\d+)\s*$"
NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"


@dataclass(frozen=True)
class Wishes:
    """What the options say about columns."""

    numeric: Sequence[str] = ()
    categorical: Sequence[str] = ()


@dataclass(frozen=True)
class ColumnDecision:
    """The decision on a column."""

    encoder: Encoder
    about: str = ""  # a summary of its values in the first rows
    warning: str | None = None


def first_kind(name: str, natural: pa.DataType, wishes: Wishes) -> Kind | None:
    """Return how to read a column before it is decided, or None if it cannot be learned."""
    kind = kind_of(natural)
    wished = kind is not None and name in wishes.categorical
    return Kind.RAW if wished or types.is_temporal(natural) or kind is Kind.TEXT else kind


def decide(
    name: str, source: Source, first: Sequence[Batch], wishes: Wishes, *, skip: bool = False
) -> ColumnDecision:
    """Decide what a column is, by the first rows of the stream.

    With `skip`, rows that cannot be used are left out later, so a few of them are no error here.
    """
    natural = source.fields[name]
    if name in wishes.numeric:
        known = kind_of(natural) is Kind.NUMBER
        return ColumnDecision(Number() if known else Numeral())
    if name in wishes.categorical:
        return _category(name, first, wished=True)
    if kind_of(natural) is Kind.NUMBER:
        return ColumnDecision(Number(), warning=_id_like(name, _whole_numbers(name, first)))
    columns = _columns(name, first, MISSING)
    encoder = time_from(columns)
    if encoder is None:
        return _text(name, source, first, [cells.texts() for cells in columns], skip=skip)
    if not skip:
        _check_all(name, first, columns, encoder)
    return ColumnDecision(encoder)


def _columns(name: str, first: Sequence[Batch], nothing: Sequence[str]) -> list[Cells]:
    """Return the values of a column, as missing where a text means that."""
    columns: list[Cells] = [ArrowCells(batch.table.column(name)) for batch in first]
    return [
        cells.texts().without([*nothing, *batch.missing]) if cells.form == "texts" else cells
        for cells, batch in zip(columns, first, strict=True)
    ]


def _whole_numbers(name: str, first: Sequence[Batch]) -> list[Any]:
    """Return the numbers that are not missing if all are whole, otherwise an empty list."""
    columns = [ArrowCells(batch.table.column(name)).numbers() for batch in first]
    out = np.concatenate(columns or [np.empty(0)])
    out = out[~np.isnan(out)]
    return out.tolist() if (out == np.floor(out)).all() else []


def _check_all(
    name: str, first: Sequence[Batch], columns: Sequence[Cells], encoder: Encoder
) -> None:
    """Raise an error if a value is no date or time although most are."""
    for batch, cells in zip(first, columns, strict=True):
        try:
            encoder.fill(cells, np.empty((len(cells), encoder.width), dtype=np.float32))
        except Unreadable as error:
            raise batch.bad(error.row, f"{error}; {what_to_do(name)}", name) from None


def what_to_do(name: str) -> str:
    return f"if it means a missing value, give --missing; {otherwise(name)}"


def otherwise(name: str) -> str:
    typed = quote(name)
    return f"--categorical {typed} learns the column as categories, --ignore {typed} leaves it out"


# -- texts -------------------------------------------------------------------------------------------


def _text(
    name: str, source: Source, first: Sequence[Batch], values: Sequence[Texts], *, skip: bool
) -> ColumnDecision:
    stray = source.stray_text(name)
    if stray is not None and _mostly(NUMBER, values):
        if skip:
            return ColumnDecision(Numeral())
        raise BadData(
            f"{stray.fault}; {what_to_do(name)}",
            file=stray.file, row=stray.row, line=stray.line, column=name,
        )  # fmt: skip
    return _category(name, first, wished=False)


def _rows(values: Sequence[Texts]) -> int:
    return sum(int((texts.which >= 0).sum()) for texts in values)


def _mostly(pattern: str, values: Sequence[Texts]) -> bool:
    return 2 * sum(matching(pattern, texts) for texts in values) > _rows(values)


def _category(name: str, first: Sequence[Batch], *, wished: bool) -> ColumnDecision:
    texts = [cells.texts() for cells in _columns(name, first, [""])]
    distinct = list(dict.fromkeys(value for each in texts for value in _used(each)))
    rows = _rows(texts)
    named = ", ".join(shown(value) for value in distinct[:MOST_NAMED])
    more = ", ..." if len(distinct) > MOST_NAMED else ""
    count = f"{len(distinct):,} {'value' if len(distinct) == 1 else 'values'}"
    about = f"{count} in {rows:,} rows: {named}{more}" if distinct else ""
    warning = (
        None if wished else _two_ways(texts) or _grouped(texts) or _all_differ(name, distinct, rows)
    )
    return ColumnDecision(Category(), about, warning)


def _used(texts: Texts) -> list[str]:
    """Return the distinct values in the order of their rows; the first batches may be cut short."""
    used, first = np.unique(texts.which[texts.which >= 0], return_index=True)
    return [texts.values[i] for i in used[np.argsort(first)].tolist()]


def _two_ways(texts: Sequence[Texts]) -> str | None:
    doubtful = sum(matching(TWO_WAYS, each) for each in texts)
    dates = sum(matching(MOMENT, each) for each in texts)
    if not doubtful or 2 * (doubtful + dates) <= _rows(texts):
        return None
    example = _example(texts, TWO_WAYS)
    return (
        f"has ambiguous dates such as {shown(example)}, which are learned as categories; "
        "write them as 2024-05-31 to learn them as dates"
    )


def _grouped(texts: Sequence[Texts]) -> str | None:
    if not _mostly(GROUPED, texts):
        return None
    return (
        f"has numbers with separators such as {shown(_example(texts, GROUPED))}, which are learned as "
        "categories; write them as 1234.5 to learn them as numbers"
    )


def _example(texts: Sequence[Texts], pattern: str) -> str:
    every = (value for each in texts for value in _used(each))
    return next(value for value in every if re.match(pattern, value, re.ASCII))


def _id_like(name: str, values: Sequence[Any]) -> str | None:
    return _all_differ(name, [*dict.fromkeys(values)], len(values))


def _all_differ(name: str, distinct: Sequence[Any], rows: int) -> str | None:
    """Return a warning if all values differ: such a column does not help to predict other rows."""
    if rows < LEAST_ID_ROWS or len(distinct) < rows:
        return None
    return (
        f"has a different value in each of the first {rows:,} rows; if it is an id, leave it "
        f"out with --ignore {quote(name)}"
    )
