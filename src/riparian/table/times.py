"""Turn dates and times into numbers: which formats are recognised, and how they are read.

A moment is a date in ISO 8601, with or without a time of day: `2024-05-01`, `2024-05-01 10:30`,
`2024-05-01T10:30:00.5Z`, `2024-05-01 10:30:00+02:00`; `2024/05/01` works, too. The default zone is UTC.
A time of day is `10:30`, `10:30:00` or `10:30:00.5`. `05/06/2024` is not recognised: it is ambiguous.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.sources.errors import shown
from riparian.sources.formats import MISSING
from riparian.table.cells import Cells, Listed, Micros, Texts, Times, Unreadable, form_of
from riparian.table.encoders import Encoder

SECOND = 10**6  # microseconds
HOUR, DAY = 3600 * SECOND, 86400 * SECOND

_CLOCK = r"(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
CLOCK = rf"^\s*{_CLOCK}\s*$"
_ZONE = r"(?P<zone>[Zz]|UTC|[+-]\d\d(?::?\d\d)?)"
MOMENT = (
    r"^\s*(?P<year>\d{4})[-/](?P<month>\d\d?)[-/](?P<day>\d\d?)"
    rf"(?:[Tt ]\s*{_CLOCK}\s*{_ZONE}?)?\s*$"
)
TWO_WAYS = r"^\s*\d\d?[-/.]\d\d?[-/.](\d{4}|\d\d)(\s.*)?$"  # day first or month first: ambiguous

A_DATE, A_CLOCK = "a date such as 2024-05-31", "a time of day such as 10:30:00"
_MOMENT, _OF_DAY = re.compile(MOMENT, re.ASCII), re.compile(CLOCK, re.ASCII)
_UNIX = dt.date(1970, 1, 1).toordinal()

MOST_SECONDS = 10.0**12  # of a duration that comes as a number
PARTS = ("hour", "weekday", "day", "month")


# -- reading -----------------------------------------------------------------------------------------


def moments(cells: Cells) -> Times:
    """Read a column of dates, timestamps or texts as moments."""
    return _read(cells, "moments", _moment, "a date", A_DATE)


def clocks(cells: Cells) -> Times:
    """Read a column as times of day or durations; numbers are seconds."""
    if isinstance(cells, Listed) and cells.form == "mixed":
        numbers = [form_of(cell) == "numbers" for cell in cells.cells]
        if any(numbers):
            each = [*zip(cells.cells, numbers, strict=True)]
            spans = clocks(Listed([cell if number else None for cell, number in each]))
            rest = clocks(Listed([None if number else cell for cell, number in each]))
            return Times(spans.micros + rest.micros, spans.there | rest.there)
    if cells.form == "numbers":
        seconds = cells.numbers()
        there = ~np.isnan(seconds)
        large = np.flatnonzero(np.abs(np.where(there, seconds, 0)) >= MOST_SECONDS).tolist()
        if large:
            faults = {row: f"expected a number of seconds, got {seconds[row]}" for row in large}
            raise Unreadable(large[0], faults[large[0]], faults)
        return Times(np.where(there, np.rint(seconds * SECOND), 0).astype(np.int64), there)
    return _read(cells, "clocks", _clock, "a time of day", A_CLOCK)


def _read(cells: Cells, form: str, parse: Any, what: str, expected: str) -> Times:
    if cells.form in (form, "empty"):
        return cells.times()
    if cells.form == "numbers" and np.isnan(cells.numbers()).all():  # how pandas reads no value
        return Texts([], np.full(len(cells), -1, dtype=np.intp)).times()
    if cells.form not in ("texts", "mixed"):
        row, _ = cells.stray("empty")
        raise Unreadable(row, f"expected {what}, got values of type {cells.type_name}")
    texts = cells.texts()
    read = [parse(text) for text in texts.values]
    bad = [i for i, micros in enumerate(read) if micros is None]
    if bad:
        fault = f"expected {expected}, as in earlier rows, got "
        raise Unreadable.of(texts, bad, lambda text: fault + shown(text))
    return Times(np.array([*read, 0], dtype=np.int64)[texts.which], texts.which >= 0)


def _moment(text: str) -> int | None:
    """Return microseconds since 1970, or None.

    >>> _moment("1970-01-02 00:00:01.5Z") == DAY + 3 * SECOND // 2, _moment("2023-02-29")
    (True, None)
    """
    match = _MOMENT.match(text)
    if match is None:
        return None
    year, month, day, *clock, zone = match.groups()
    try:
        days = dt.date(int(year), int(month), int(day)).toordinal() - _UNIX
    except ValueError:
        return None
    of_day = 0 if clock[0] is None else _of_day(*clock)
    return None if of_day is None else days * DAY + of_day - _offset(zone or "")


def _clock(text: str) -> int | None:
    match = _OF_DAY.match(text)
    return None if match is None else _of_day(*match.groups())


def _of_day(hour: str, minute: str, second: str | None, fraction: str | None) -> int | None:
    hours, minutes, seconds = int(hour), int(minute), int(second or 0)
    if hours >= 24 or minutes >= 60 or seconds > 60:  # a minute may have a leap second
        return None
    micros = int((fraction or "0").ljust(6, "0")[:6])
    return (hours * 3600 + minutes * 60 + seconds) * SECOND + micros


def _offset(zone: str) -> int:
    """Return how far a zone is ahead of UTC.

    >>> _offset("Z"), _offset("+02:00") // HOUR, _offset("-0130") / HOUR
    (0, 2, -1.5)
    """
    digits = zone[1:].replace(":", "")
    if not digits.isdigit():
        return 0
    minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
    return (-minutes if zone[0] == "-" else minutes) * 60 * SECOND


# -- features ----------------------------------------------------------------------------------------


def parts_of(micros: Micros) -> dict[str, Micros]:
    """Return the hour, weekday (0 is Monday), day of the month and month of each moment.

    >>> {name: int(part[0]) for name, part in parts_of(np.array([31 * DAY + 5 * HOUR])).items()}
    {'hour': 5, 'weekday': 6, 'day': 1, 'month': 2}
    """
    days = micros // DAY
    dates = days.astype("M8[D]")
    months = dates.astype("M8[M]")
    return {
        "hour": micros % DAY // HOUR,
        "weekday": (days + 3) % 7,  # 1970 began on a Thursday
        "day": (dates - months.astype("M8[D]")).astype(np.int64) + 1,
        "month": months.astype(np.int64) % 12 + 1,
    }


class Moment(Encoder):
    """A date: seconds since the first one, and the parts that its resolution has.

    float32 is too coarse for seconds since 1970.
    """

    name = "moment"
    nothing = MISSING
    takes = "a date"

    def __init__(self, origin: int | None, parts: tuple[str, ...] = PARTS) -> None:
        self.origin = origin  # the first value, in microseconds since 1970; None until there is one
        self.parts = parts

    @property
    def width(self) -> int:
        return 1 + len(self.parts)

    def features(self, column: str) -> list[str]:
        return [column, *(f"{column}.{part}" for part in self.parts)]

    def followed(self, cells: Cells) -> Moment:
        """Return the encoder with the first value as its origin, unless it has one."""
        if self.origin is not None:
            return self
        times = moments(cells)
        if not times.there.any():
            return self
        return Moment(int(times.micros[np.argmax(times.there)]), self.parts)

    def fill(self, cells: Cells, out: NDArray[np.float32]) -> None:
        times = moments(cells)
        parts = parts_of(times.micros)
        out[:, 0] = np.nan if self.origin is None else (times.micros - self.origin) / SECOND
        for i, part in enumerate(self.parts, start=1):
            out[:, i] = parts[part]
        out[~times.there] = np.nan

    def shown(self, seconds: float) -> str:
        """Return a value of the first feature as a date, to the second.

        >>> Moment(0).shown(86_400.0), Moment(0).shown(90_061.4), Moment(0).shown(float("nan"))
        ('1970-01-02', '1970-01-02 01:01:01', 'nan')
        """
        if self.origin is None or not np.isfinite(seconds):
            return str(seconds)
        micros = round(seconds + self.origin / SECOND) * SECOND
        return iso(micros) if -(2**63) < micros < 2**63 else str(seconds)

    def state(self) -> dict[str, Any]:
        return {"origin": self.origin, "parts": [*self.parts]}

    @property
    def words(self) -> str:
        parts = "".join(f", {part}" for part in self.parts)
        since = "the first one" if self.origin is None else f"{iso(self.origin)} UTC"
        return f"date: seconds since {since}{parts}"


def iso(micros: int) -> str:
    """Return a moment as a text, without a time of day at midnight."""
    text = str(np.datetime_as_string(np.datetime64(micros, "us"), unit="auto"))
    return text.replace("T", " ")


class Clock(Encoder):
    """A time of day in seconds since midnight, or a duration in seconds."""

    name = "clock"
    nothing = MISSING
    words = "time of day: seconds since midnight"
    takes = "a time of day"

    def shown(self, seconds: float) -> str:
        """Return a value as a time of day, to the second; a longer duration stays a number.

        >>> Clock().shown(37_800.0), Clock().shown(100_000.0)
        ('10:30:00', '100000.0')
        """
        if not 0 <= seconds < DAY // SECOND - 0.5:
            return str(seconds)
        return str(dt.timedelta(seconds=round(seconds))).rjust(8, "0")

    def fill(self, cells: Cells, out: NDArray[np.float32]) -> None:
        times = clocks(cells)
        out[:, 0] = np.where(times.there, times.micros / SECOND, np.nan)


# -- deciding ----------------------------------------------------------------------------------------


def matching(pattern: str, texts: Texts) -> int:
    """Return the number of rows whose text matches a pattern."""
    fits = [re.match(pattern, text, re.ASCII) is not None for text in texts.values]
    return int(np.array([*fits, False])[texts.which].sum())


def time_from(columns: Sequence[Cells]) -> Encoder | None:
    """Return the encoder of a column of dates or times, or None if most values are none.

    The type of the column decides; if it holds texts, what most of them look like, and then all must
    be dates, or all times.
    """
    texts = [cells.texts() for cells in columns if cells.form in ("texts", "mixed")]
    rows = sum(int((each.which >= 0).sum()) for each in texts)
    if rows:
        dates = sum(matching(MOMENT, each) for each in texts)
        times = sum(matching(CLOCK, each) for each in texts)
        if 2 * max(dates, times) <= rows:
            return None
        return Clock() if times > dates else moment_from(columns)
    forms = {cells.form for cells in columns}
    if "moments" in forms:
        return moment_from(columns)
    return Clock() if "clocks" in forms else None


def moment_from(columns: Sequence[Cells]) -> Moment:
    """Return the encoder for the first rows of a column.

    The origin is the first value. A column of dates without any time of day has no hour; whether
    other parts vary does not matter, because a later row may be the first of another month.
    """
    origin: int | None = None
    days = True
    for cells in columns:
        times = readable_moments(cells)
        if not times.there.any():
            continue
        if origin is None:
            origin = int(times.micros[np.argmax(times.there)])
        texts = cells.texts().values if cells.form in ("texts", "mixed") else None
        days &= cells.days if texts is None else not any(":" in text for text in texts)
    return Moment(origin, PARTS[1:] if days and origin is not None else PARTS)


def readable_moments(cells: Cells) -> Times:
    """Read the moments of a column, as missing where they cannot be read."""
    try:
        return moments(cells)
    except Unreadable:
        texts = cells.texts()
        return moments(texts.without([text for text in texts.values if _moment(text) is None]))


def time_from_state(name: str, state: dict[str, Any]) -> Encoder | None:
    """Return the encoder that a model file describes, or None if it is not a valid one of these."""
    match name, state:
        case "clock", {**rest} if not rest:
            return Clock()
        case "moment", {"origin": None | int() as origin, "parts": list(parts)}:
            named = [part for part in PARTS if part in parts]
            fits = origin is None or (not isinstance(origin, bool) and -(2**63) <= origin < 2**63)
            if named == parts and fits:
                return Moment(origin, tuple(parts))
    return None
