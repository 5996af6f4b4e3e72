"""The values of a column in some rows, in whatever form they came: the one input of all encoders.

Three things hold values: a list (dicts, JSON), a column of a frame (frames.py) and an array of Arrow
(arrow.py). An encoder reads numbers, texts or times in the same way from all of them.
"""

from __future__ import annotations

import datetime as dt
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from riparian.engine.categories import Coded, is_missing

# What the values of a column are. "empty": all are missing; "mixed": of several forms.
Form = Literal["empty", "numbers", "texts", "moments", "clocks", "mixed", "other"]
Micros = NDArray[np.int64]

MICROSECOND = dt.timedelta(microseconds=1)
EPOCH = dt.datetime(1970, 1, 1)
MOST_WHOLE = 10**15  # floats from here on are written with an exponent


class Unreadable(ValueError):
    """A value that its column cannot have."""

    def __init__(self, row: int, fault: str, others: Mapping[int, str] | None = None) -> None:
        super().__init__(fault)
        self.row = row  # among those read
        self.faults = {row: fault} if others is None else others  # of all such rows

    @classmethod
    def of(cls, texts: Texts, bad: Sequence[int], expected: Callable[[str], str]) -> Unreadable:
        """Return the error about all rows that have one of the bad texts, given by number."""
        rows = np.flatnonzero(np.isin(texts.which, bad)).tolist()
        faults = {row: expected(texts.values[texts.which[row]]) for row in rows}
        return cls(rows[0], faults[rows[0]], faults)


@dataclass(frozen=True, eq=False)
class Times:
    """The times of a column in microseconds, and which rows have one."""

    micros: Micros  # since 1970 or midnight, UTC; 0 if missing
    there: NDArray[np.bool_]


class Cells(ABC):
    """The values of a column in some rows."""

    form: Form
    type_name: str  # as their library calls it, for errors
    days = False  # whether they are dates without a time of day, by their type

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def numbers(self) -> NDArray[np.float64]:
        """Return the values as numbers, NaN if missing; their form is "numbers" or "empty"."""

    @abstractmethod
    def times(self) -> Times:
        """Return the values as times; their form is "moments", "clocks" or "empty"."""

    @abstractmethod
    def texts(self) -> Texts:
        """Return the values as texts, whatever their form is."""

    @abstractmethod
    def coded(self, name: str) -> Coded:
        """Return the values as categories, with numbers as numbers."""

    @abstractmethod
    def stray(self, wanted: Form) -> tuple[int, Any]:
        """Return the row and the value of the first that has another form."""


class Texts(Cells):
    """Texts, as distinct values and the number of each row's value."""

    type_name = "text"

    def __init__(self, values: Sequence[str], which: NDArray[np.intp]) -> None:
        self.values = values
        self.which = which  # -1: missing
        self.form = "texts" if len(which) and which.max() >= 0 else "empty"

    @classmethod
    def of(cls, cells: Iterable[Any]) -> Texts:
        place: dict[str, int] = {}
        which = [
            -1 if is_missing(cell) else place.setdefault(text_of(cell), len(place))
            for cell in cells
        ]
        return cls([*place], np.array(which, dtype=np.intp))

    def without(self, nothing: Sequence[str]) -> Texts:
        """Return the texts, as missing where they are among those that mean a missing value."""
        missing = [i for i, value in enumerate(self.values) if value in nothing]
        if not missing:
            return self
        kept = [value for value in self.values if value not in nothing]
        place = np.full(len(self.values) + 1, -1, dtype=np.intp)
        place[np.delete(np.arange(len(self.values)), missing)] = np.arange(len(kept))
        return Texts(kept, place[self.which])

    def __len__(self) -> int:
        return len(self.which)

    def numbers(self) -> NDArray[np.float64]:
        return np.full(len(self), np.nan)

    def times(self) -> Times:
        return Times(np.zeros(len(self), np.int64), np.zeros(len(self), np.bool_))

    def texts(self) -> Texts:
        return self

    def coded(self, name: str) -> Coded:
        return Coded.numbered(name, self.values, self.which)

    def stray(self, wanted: Form) -> tuple[int, Any]:
        row = int(np.argmax(self.which >= 0))
        return row, self.values[self.which[row]]


class Listed(Cells):
    """The values of a list, of any type."""

    def __init__(self, cells: list[Any]) -> None:
        self.cells = cells
        forms = {form_of(cell) for cell in cells} - {"empty"}
        self.form: Form = "mixed" if len(forms) > 1 else next(iter(forms), "empty")
        self.days = all(type(cell) is dt.date for cell in cells if not is_missing(cell))

    @property
    def type_name(self) -> str:  # type: ignore[override]
        return type(next((cell for cell in self.cells if not is_missing(cell)), None)).__name__

    def __len__(self) -> int:
        return len(self.cells)

    def numbers(self) -> NDArray[np.float64]:
        out = np.full(len(self.cells), np.nan)
        for row, cell in enumerate(self.cells):
            if not is_missing(cell):
                try:
                    out[row] = cell
                except (OverflowError, TypeError, ValueError):
                    raise Unreadable(row, f"expected a number that fits, got {cell!r}") from None
        return out

    def times(self) -> Times:
        there = np.array([not is_missing(cell) for cell in self.cells], dtype=np.bool_)
        micros = np.zeros(len(self.cells), dtype=np.int64)
        micros[there] = [_micros(self.cells[row]) for row in np.flatnonzero(there)]
        return Times(micros, there)

    def texts(self) -> Texts:
        return Texts.of(self.cells)

    def coded(self, name: str) -> Coded:
        return Coded.of(name, self.cells)

    def stray(self, wanted: Form) -> tuple[int, Any]:
        forms = ("empty", wanted)
        return next((i, c) for i, c in enumerate(self.cells) if form_of(c) not in forms)


def form_of(value: Any) -> Form:
    """
    >>> form_of(1.5), form_of("a"), form_of(None), form_of(dt.date(2024, 5, 1)), form_of([])
    ('numbers', 'texts', 'empty', 'moments', 'other')
    """
    if isinstance(value, str):
        return "texts"
    if is_missing(value):
        return "empty"
    if isinstance(value, numbers.Real | np.bool_ | Decimal):
        return "numbers"
    if isinstance(value, dt.date | np.datetime64):
        return "moments"
    return "clocks" if isinstance(value, dt.time | dt.timedelta | np.timedelta64) else "other"


def text_of(value: Any) -> str:
    """Return a value as a category: a number as a file would have it.

    >>> text_of("7"), text_of(7), text_of(7.0), text_of(0.5), text_of(True), text_of(dt.date(2024, 5, 1))
    ('7', '7', '7', '0.5', 'true', '2024-05-01')
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        number = float(value)
        return (
            str(int(number)) if number.is_integer() and abs(number) < MOST_WHOLE else repr(number)
        )
    return str(value)


def _micros(value: Any) -> int:
    """Return microseconds since 1970, since midnight, or of a duration."""
    match value:
        case np.datetime64():
            return int(value.astype("M8[us]").astype(np.int64))
        case np.timedelta64():
            return int(value.astype("m8[us]").astype(np.int64))
        case dt.datetime():
            offset = value.utcoffset() or dt.timedelta()
            return (value.replace(tzinfo=None) - EPOCH - offset) // MICROSECOND
        case dt.date():
            return (value - EPOCH.date()) // MICROSECOND
        case dt.time():
            day = dt.timedelta(
                hours=value.hour, minutes=value.minute,
                seconds=value.second, microseconds=value.microsecond,
            )  # fmt: skip
            return day // MICROSECOND
    return int(value // MICROSECOND)
