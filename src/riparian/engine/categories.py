"""Categories: the values of a categorical column become codes 0, 1, 2, ... by arrival (R22).

A batch has its own numbering of its values (`Coded`), so that it can be checked, sliced and
weighted before any value joins the tables of the forest (`CategoryTables`).
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.parameters.forests import MOST_CATEGORIES

Value = str | bool | int | float  # 1, 1.0 and True are one category; "1" is another
Codes = NDArray[np.float32]

BUDGET_SHARE = 8  # all tables together may take this part of `max_memory`

# The budget counts this for a category besides its text: two objects, entries in a dict and a list.
CATEGORY_BYTES = 160

OTHER = "(other)"  # shown for the categories that arrived when a table was full


# -- a batch -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Coded:
    """A categorical column of a batch: its values, and which of them each row has."""

    name: Any  # of the column, or its number; for the errors
    values: list[Value]  # all are text, or none is
    which: NDArray[np.intp]  # per row: an index into `values`; -1: missing

    def __len__(self) -> int:
        return len(self.which)

    def __getitem__(self, rows: Any) -> Coded:
        """Return some rows. Few rows of a column with many values carry only those that they have."""
        which = self.which[rows]
        if len(which) >= len(self.values):
            return Coded(self.name, self.values, which)
        used = np.unique(which[which >= 0])
        place = np.where(which < 0, -1, np.searchsorted(used, which))
        return Coded(self.name, [self.values[i] for i in used.tolist()], place)

    @classmethod
    def of(cls, name: Any, cells: Iterable[Any]) -> Coded:
        """Make a column from its cells: text, bools or numbers; None, NaN and NA are missing."""
        place: dict[Any, int] = {}
        try:
            which = np.array([place.setdefault(cell, len(place)) for cell in cells], dtype=np.intp)
        except TypeError:
            raise ValueError(f"feature {name!r} must hold categories, {_EXPECTED}") from None
        return cls.numbered(name, list(place), which)

    @classmethod
    def numbered(cls, name: Any, values: Sequence[Any], which: NDArray[Any]) -> Coded:
        """Make a column from values that a library has numbered (`which`; -1: missing)."""
        there = [i for i, value in enumerate(values) if not is_missing(value)]
        plain = [checked_value(name, values[i]) for i in there]
        if len(there) < len(values):
            place = np.full(len(values) + 1, -1, dtype=np.intp)
            place[there] = np.arange(len(there))
            which = place[which]
        _check_one_kind(name, plain)
        return cls(name, plain, which.astype(np.intp, copy=False))

    @property
    def kind(self) -> str | None:
        """Return "text" or "numbers", or None if all values are missing."""
        return kind_of(self.values[0]) if self.values else None

    def arrivals(self) -> list[tuple[int, int]]:
        """Return the first row of each value that occurs, with the index of the value, by row."""
        first = np.full(len(self.values) + 1, -1, dtype=np.intp)
        backwards = np.arange(len(self.which) - 1, -1, -1)
        first[self.which[::-1]] = backwards  # the last one written stays
        return sorted((row, i) for i, row in enumerate(first[:-1].tolist()) if row >= 0)


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Rows of a table with categorical columns, checked, before their values have codes."""

    numbers: NDArray[np.float32]  # (rows, columns); NaN in the categorical columns
    coded: dict[int, Coded]  # the categorical columns, by number

    @property
    def shape(self) -> tuple[int, int]:
        return self.numbers.shape

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Any) -> MixedRows:
        coded = {column: cells[rows] for column, cells in self.coded.items()}
        return MixedRows(self.numbers[rows], coded)


# -- values ------------------------------------------------------------------------------------------

_EXPECTED = "text, bools or finite numbers that fit 64 bits"


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or NA of pandas."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA is neither equal nor unequal to itself
        return type(value).__name__ == "NAType"


def kind_of(value: Value) -> str:
    return "text" if isinstance(value, str) else "numbers"


def bytes_of(value: Value) -> int:
    """Return the bytes that the budget counts for a category."""
    text = len(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else 0
    return CATEGORY_BYTES + text


def bytes_of_tables(max_memory: int | None) -> int | None:
    """Return the part of a budget that all tables together may take."""
    return None if max_memory is None else max_memory // BUDGET_SHARE


def shown(value: Value) -> str:
    """Return a category as texts and figures show it.

    >>> shown("Oslo"), shown(True), shown(7)
    ("'Oslo'", 'True', '7')
    """
    return _SHORT.repr(value) if isinstance(value, str) else str(value)


_SHORT = reprlib.Repr()
_SHORT.maxstring = 40


def checked_value(name: Any, value: Any) -> Value:
    """Return a value as a table holds it, of a plain type, or raise an error. Integers become ints."""
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":  # times would become numbers
        value = value.item()
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() and abs(value) < 2**63 else float(value)
    if isinstance(value, int) and -(2**63) <= value < 2**64:
        return int(value)
    advice = ": turn dates and times into numbers first" if _is_time(value) else ""
    raise ValueError(
        f"feature {name!r} must hold categories, {_EXPECTED}, "
        f"got {reprlib.repr(value)} of type {type(value).__name__}{advice}"
    )


def _is_time(value: Any) -> bool:
    of_numpy = isinstance(value, np.datetime64 | np.timedelta64)
    return of_numpy or any(hasattr(value, part) for part in ("year", "hour", "total_seconds"))


def _check_one_kind(name: Any, values: list[Value]) -> None:
    kinds = {kind_of(value): value for value in values}
    if len(kinds) > 1:
        raise ValueError(
            f"feature {name!r} must hold text or numbers, not both, "
            f"got {kinds['text']!r} and {kinds['numbers']!r}: convert the column to text"
        )


# -- the tables of a forest --------------------------------------------------------------------------


class Table:
    """The categories of one column. Once it is full, all others together are one more category."""

    def __init__(self, values: Iterable[Value] = (), *, full: bool = False) -> None:
        self.values = list(values)  # by code
        self.full = full  # a category arrived that had no place
        self._code: dict[Value, int] = {value: code for code, value in enumerate(self.values)}
        if len(self._code) != len(self.values):
            raise ValueError("a category appears twice")

    def __len__(self) -> int:
        return len(self.values)

    def __contains__(self, value: Value) -> bool:
        return value in self._code

    def __copy__(self) -> Table:
        return Table(self.values, full=self.full)

    @property
    def kind(self) -> str | None:
        return kind_of(self.values[0]) if self.values else None

    @property
    def n_codes(self) -> int:
        return len(self.values) + self.full

    def name(self, code: int) -> str:
        """Return the category of a code, as texts and figures show it."""
        return shown(self.values[code]) if code < len(self.values) else OTHER

    def add(self, value: Value) -> None:
        self.values.append(value)
        self._code[value] = len(self.values) - 1

    def code(self, value: Value) -> float:
        """Return the code of a value; NaN, which goes right, if it was never learned."""
        return self._code.get(value, len(self.values) if self.full else math.nan)

    def codes(self, coded: Coded) -> Codes:
        own = [self.code(value) for value in coded.values]
        return np.array([*own, math.nan], dtype=np.float32)[coded.which]

    def check(self, coded: Coded) -> None:
        """Raise an error if the column changes its type: '1' and 1 are different categories."""
        if None not in (self.kind, coded.kind) and self.kind != coded.kind:
            raise ValueError(
                f"feature {coded.name!r} must not change its type: it has held {self.kind} so far, "
                f"got {coded.values[0]!r}; convert the column"
            )


class CategoryTables:
    """The categories of every categorical column of a forest.

    A table is full at `most` categories, or when all tables together would hold more than `max_bytes`.
    Without `most`, more categories than float32 can represent are an error.
    """

    def __init__(
        self, tables: dict[int, Table], most: int | None, max_bytes: int | None = None
    ) -> None:
        self.tables = tables  # by column
        self.most = most
        self.max_bytes = max_bytes
        self.bytes = sum(bytes_of(v) for table in tables.values() for v in table.values)

    @classmethod
    def empty(
        cls, columns: Iterable[int], most: int | None, max_bytes: int | None = None
    ) -> CategoryTables:
        return cls({int(column): Table() for column in columns}, most, max_bytes)

    def add(self, columns: Iterable[int]) -> None:
        """Add categorical columns."""
        self.tables |= {int(column): Table() for column in columns}

    def __copy__(self) -> CategoryTables:
        tables = {column: table.__copy__() for column, table in self.tables.items()}
        return CategoryTables(tables, self.most, self.max_bytes)

    def __reduce__(self) -> tuple[Any, ...]:
        tables = {column: [*table.values] for column, table in self.tables.items()}
        full = [column for column, table in self.tables.items() if table.full]
        return _restored, (tables, full, self.most, self.max_bytes)

    def check(self, rows: MixedRows) -> None:
        """Raise an error if a value may not join; nothing changes."""
        for column, coded in rows.coded.items():
            self.tables[column].check(coded)

    def check_room(self, rows: MixedRows) -> None:
        """Raise an error if there are more categories than codes and `most` does not bound them."""
        if self.most is not None:
            return
        for column, coded in rows.coded.items():
            self._check_number(self.tables[column], coded)

    def join(self, rows: MixedRows) -> NDArray[np.float32]:
        """Return the rows with codes; new categories join, in the order of rows, then of columns.

        So the result does not depend on how a stream is cut into batches.
        """
        self.check(rows)
        self.check_room(rows)
        for _, column, value in sorted(self._arrivals(rows), key=lambda new: new[:2]):
            self._admit(self.tables[column], value)
        return self.codes(rows)

    def join_row(self, row: NDArray[np.float32], values: Mapping[int, Value]) -> None:
        """Write the codes of checked values into a single row; new categories join."""
        for column in sorted(values):
            table = self.tables[column]
            self._admit(table, values[column])
            row[column] = table.code(values[column])

    def codes(self, rows: MixedRows) -> NDArray[np.float32]:
        """Return the rows with codes; NaN for a category that was never learned."""
        out = rows.numbers.copy()
        for column, coded in rows.coded.items():
            out[:, column] = self.tables[column].codes(coded)
        return out

    def _arrivals(self, rows: MixedRows) -> Iterable[tuple[int, int, Value]]:
        for column, coded in rows.coded.items():
            table = self.tables[column]
            if table.full or all(value in table for value in coded.values):
                continue
            for row, i in coded.arrivals():
                if coded.values[i] not in table:
                    yield row, column, coded.values[i]

    def _check_number(self, table: Table, coded: Coded) -> None:
        if len(table) + len(coded.values) <= MOST_CATEGORIES or table.full:
            return
        new = sum(coded.values[i] not in table for _, i in coded.arrivals())
        if len(table) + new > MOST_CATEGORIES:
            raise ValueError(
                f"feature {coded.name!r} must have at most {MOST_CATEGORIES} categories, "
                f"got {len(table) + new}; set max_categories, so that later ones share a code"
            )

    def _admit(self, table: Table, value: Value) -> None:
        if table.full or value in table:
            return
        size = bytes_of(value)
        fits = self.max_bytes is None or self.bytes + size <= self.max_bytes
        if fits and len(table) < (MOST_CATEGORIES if self.most is None else self.most):
            table.add(value)
            self.bytes += size
        else:
            table.full = True


def _restored(
    values: dict[int, list[Value]], full: list[int], most: int | None, max_bytes: int | None
) -> CategoryTables:
    tables = {column: Table(own, full=column in full) for column, own in values.items()}
    return CategoryTables(tables, most, max_bytes)
