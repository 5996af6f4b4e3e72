"""Decide what each column of a table is, by its type, its first rows and the options.

Numbers stay numbers, dates and times become numbers, and any other text becomes categories. A column
that holds mostly numbers or dates, and some other texts, is an error: only the user can decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.types as types

from riparian.sources.csv import MISSING
from riparian.sources.errors import BadData, shown
from riparian.sources.source import Batch, Kind, Source, kind_of
from riparian.table.encoders import (
    Category,
    Encoder,
    Number,
    Numeral,
    Unreadable,
    without,
)
from riparian.table.times import CLOCK, MOMENT, TWO_WAYS, Clock, moment_from

LEAST_ID_ROWS = 100  # fewer can be all different by chance
MOST_NAMED = 3  # categories shown as examples
# Thousands separators, or a decimal comma: 1,234 or 1.234.567,5 or 0,25.
GROUPED = r"^\s*[+-]?(\d{1,3}([,. '\x{a0}\x{202f}]\d{3})+([.,]\d+)?|\d+,\d+)\s*$"


@dataclass(frozen=True)
class Wishes:
    """What the options say about columns."""

    numeric: Sequence[str] = ()
    categorical: Sequence[str] = ()


@dataclass(frozen=True)
class Decision:
    """The decision on a column."""

    encoder: Encoder
    about: str = ""  # a summary of its values in the first rows
    warning: str | None = None


def first_kind(name: str, natural: pa.DataType, wishes: Wishes) -> Kind | None:
    """Return how to read a column before it is decided, or None if it cannot be learned."""
    kind = kind_of(natural)
    wished = kind is not None and name in wishes.categorical
    return Kind.RAW if wished or types.is_temporal(natural) or kind is Kind.TEXT else kind


def decide(name: str, source: Source, first: Sequence[Batch], wishes: Wishes) -> Decision:
    """Decide what a column is, by the first rows of the stream."""
    natural = source.fields[name]
    if name in wishes.numeric:
        known = kind_of(natural) is Kind.NUMBER
        return Decision(Number() if known else Numeral())
    if name in wishes.categorical:
        return _category(name, first, wished=True)
    if kind_of(natural) is Kind.NUMBER:
        return Decision(Number(), warning=_id_like(name, _numbers(name, first)))
    values = _there(name, first, MISSING)
    return _time(name, natural, first, values) or _text(name, source, first, values)


def _there(name: str, first: Sequence[Batch], nothing: Sequence[str]) -> list[pa.Array]:
    """Return the values that are not missing."""
    return [
        without(batch.table.column(name), [*nothing, *batch.missing]).drop_null() for batch in first
    ]


def _numbers(name: str, first: Sequence[Batch]) -> pa.Array:
    """Return the numbers that are not missing if all are whole, otherwise an empty array."""
    out = np.concatenate([_filled(batch.table.column(name)) for batch in first] or [np.empty(0)])
    out = out[~np.isnan(out)]
    return pa.array(out if (out == np.floor(out)).all() else out[:0])


def _filled(values: pa.Array) -> Any:
    out = np.empty((len(values), 1))
    Number().fill(values, out)  # type: ignore[arg-type]
    return out[:, 0]


# -- dates and times ---------------------------------------------------------------------------------


def _time(
    name: str, natural: pa.DataType, first: Sequence[Batch], values: list[pa.Array]
) -> Decision | None:
    texts = [array for array in values if types.is_string(array.type)]
    rows = sum(len(array) for array in texts)
    clock = types.is_time(natural) or types.is_duration(natural)
    if rows:
        moments, clocks = _matching(texts, MOMENT), _matching(texts, CLOCK)
        if 2 * max(moments, clocks) <= rows:
            return None
        clock = clocks > moments
    elif not types.is_temporal(natural):
        return None
    if clock:
        _check_all(name, first, lambda array: Clock().fill(array, np.empty((len(array), 1))))  # type: ignore[arg-type]
        return Decision(Clock())
    _check_all(name, first, lambda array: moment_from([array]))
    return Decision(moment_from(values))


def _matching(texts: Sequence[pa.Array], pattern: str) -> int:
    return sum(
        compute.sum(compute.match_substring_regex(array, pattern)).as_py() or 0 for array in texts
    )


def _check_all(name: str, first: Sequence[Batch], read: Callable[[pa.Array], object]) -> None:
    """Raise an error if a value is no date or time although most are."""
    for batch in first:
        try:
            read(without(batch.table.column(name), [*MISSING, *batch.missing]))
        except Unreadable as error:
            raise batch.bad(error.row, f"{error}; {what_to_do(name)}", name) from None


def what_to_do(name: str) -> str:
    return f"if it means a missing value, give --missing; {otherwise(name)}"


def otherwise(name: str) -> str:
    typed = quote(name)
    return f"--categorical {typed} learns the column as categories, --ignore {typed} leaves it out"


# -- texts -------------------------------------------------------------------------------------------


def _text(name: str, source: Source, first: Sequence[Batch], values: list[pa.Array]) -> Decision:
    stray = source.stray_text(name)
    if stray is not None and _mostly_numbers(values):
        raise BadData(
            f"{stray.fault}; {what_to_do(name)}",
            file=stray.file, row=stray.row, line=stray.line, column=name,
        )  # fmt: skip
    return _category(name, first, wished=False)


def _mostly_numbers(values: Sequence[pa.Array]) -> bool:
    number = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
    return 2 * _matching(values, number) > sum(len(array) for array in values)


def _category(name: str, first: Sequence[Batch], *, wished: bool) -> Decision:
    texts = [array.cast(pa.string()) for array in _there(name, first, [""])]
    together = pa.chunked_array(texts, pa.string())
    distinct = compute.unique(together).to_pylist()
    named = ", ".join(shown(value) for value in distinct[:MOST_NAMED])
    more = ", ..." if len(distinct) > MOST_NAMED else ""
    count = f"{len(distinct):,} {'value' if len(distinct) == 1 else 'values'}"
    about = f"{count} in {len(together):,} rows: {named}{more}" if distinct else ""
    warning = None if wished else _two_ways(texts) or _grouped(texts) or _id_like(name, together)
    return Decision(Category(), about, warning)


def _two_ways(texts: Sequence[pa.Array]) -> str | None:
    rows = sum(len(array) for array in texts)
    doubtful = _matching(texts, TWO_WAYS)
    if not doubtful or 2 * (doubtful + _matching(texts, MOMENT)) <= rows:
        return None
    example = _example(texts, TWO_WAYS)
    return (
        f"has ambiguous dates such as {shown(example)}, which are learned as categories; "
        "write them as 2024-05-31 to learn them as dates"
    )


def _grouped(texts: Sequence[pa.Array]) -> str | None:
    if 2 * _matching(texts, GROUPED) <= sum(len(array) for array in texts):
        return None
    return (
        f"has numbers with separators such as {shown(_example(texts, GROUPED))}, which are learned as "
        "categories; write them as 1234.5 to learn them as numbers"
    )


def _example(texts: Sequence[pa.Array], pattern: str) -> str:
    matching = (array.filter(compute.match_substring_regex(array, pattern)) for array in texts)
    return str(next(array[0].as_py() for array in matching if len(array)))


def _id_like(name: str, values: pa.Array | pa.ChunkedArray) -> str | None:
    """Return a warning if all values differ: such a column does not help to predict other rows."""
    if len(values) < LEAST_ID_ROWS or len(compute.unique(values)) < len(values):
        return None
    return (
        f"has a different value in each of the first {len(values):,} rows; if it is an id, leave it "
        f"out with --ignore {quote(name)}"
    )
