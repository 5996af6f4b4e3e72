"""Turn dates and times into numbers: which formats are recognised, and how they are read.

A moment is a date in ISO 8601, with or without a time of day: `2024-05-01`, `2024-05-01 10:30`,
`2024-05-01T10:30:00.5Z`, `2024-05-01 10:30:00+02:00`; `2024/05/01` works, too. The default zone is UTC.
A time of day is `10:30`, `10:30:00` or `10:30:00.5`. `05/06/2024` is not recognised: it is ambiguous.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.types as types
from numpy.typing import NDArray

from riparian.sources.csv import MISSING
from riparian.sources.errors import shown
from riparian.sources.source import Kind
from riparian.table.encoders import Encoder, Unreadable

Micros = NDArray[np.int64]

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

PARTS = ("hour", "weekday", "day", "month")


@dataclass(frozen=True, eq=False)
class Times:
    """The times of a column in microseconds, and which rows have one."""

    micros: Micros  # since 1970 or midnight, UTC; 0 if missing
    there: NDArray[np.bool_]


# -- reading -----------------------------------------------------------------------------------------


def moments(values: pa.Array) -> Times:
    """Read a column of dates, timestamps or texts as moments."""
    if types.is_timestamp(values.type) or types.is_date(values.type):
        return _of_arrow(values, pa.timestamp("us", getattr(values.type, "tz", None)))
    texts = _texts(values, "a date")
    fields, there = _fields(texts, MOMENT)
    months = (fields["year"] - 1970) * 12 + fields["month"] - 1
    first = months.astype("M8[M]").astype("M8[D]").astype(np.int64)  # of the month, in days
    length = (months + 1).astype("M8[M]").astype("M8[D]").astype(np.int64) - first
    good = (fields["year"] >= 1) & (fields["month"] >= 1) & (fields["month"] <= 12)
    good &= (fields["day"] >= 1) & (fields["day"] <= length)
    micros = (first + fields["day"] - 1) * DAY + _of_day(fields) - _offsets(fields["zone"])
    return _checked(texts, micros, there, good & _good_clock(fields), "a date such as 2024-05-31")


def clocks(values: pa.Array) -> Times:
    """Read a column as times of day or durations."""
    if types.is_time(values.type) or types.is_duration(values.type):
        clock = types.is_time(values.type)
        return _of_arrow(values, pa.time64("us") if clock else pa.duration("us"))
    texts = _texts(values, "a time of day")
    fields, there = _fields(texts, CLOCK)
    good = _good_clock(fields)
    return _checked(texts, _of_day(fields), there, good, "a time of day such as 10:30:00")


def _of_arrow(values: pa.Array, wanted: pa.DataType) -> Times:
    # Nanoseconds may be truncated; a moment that does not fit is an error.
    options = compute.CastOptions(wanted, allow_time_truncate=True)
    try:
        micros = compute.cast(values, options=options).cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise Unreadable(0, f"expected times that fit 64 bits of microseconds: {error}") from None
    there = values.is_valid().to_numpy(zero_copy_only=False)
    return Times(micros.fill_null(0).to_numpy(zero_copy_only=False), there)


def _texts(values: pa.Array, expected: str) -> pa.Array:
    if types.is_null(values.type):
        return values.cast(pa.string())
    if not types.is_string(values.type):
        row = values.is_valid().index(True).as_py()
        raise Unreadable(max(row, 0), f"expected {expected}, got values of type {values.type}")
    return values


def _fields(texts: pa.Array, pattern: str) -> tuple[dict[str, Any], NDArray[np.bool_]]:
    """Return the parts of each text as whole numbers, 0 if omitted; the zone stays a text."""
    match = compute.extract_regex(texts, pattern)
    fields: dict[str, Any] = {}
    for field, part in zip(match.type, match.flatten(), strict=True):
        part = part.fill_null("")
        if field.name == "zone":
            fields[field.name] = part
            continue
        if field.name == "fraction":
            part = compute.utf8_slice_codeunits(compute.utf8_rpad(part, 6, "0"), 0, 6)
        whole = compute.if_else(compute.equal(part, ""), "0", part).cast(pa.int64())
        fields[field.name] = whole.to_numpy(zero_copy_only=False)
    return fields, match.is_valid().to_numpy(zero_copy_only=False)


def _of_day(fields: dict[str, Any]) -> Micros:
    seconds = fields["hour"] * 3600 + fields["minute"] * 60 + fields["second"]
    micros: Micros = seconds * SECOND + fields["fraction"]
    return micros


def _good_clock(fields: dict[str, Any]) -> NDArray[np.bool_]:
    good: NDArray[np.bool_] = (
        (fields["hour"] < 24)
        & (fields["minute"] < 60)
        & (fields["second"] <= 60)  # a minute may have a leap second
    )
    return good


def _offsets(zones: pa.Array) -> Micros:
    """Return how far each zone is ahead of UTC."""
    coded = zones.dictionary_encode()
    offsets = np.array([_offset(zone) for zone in coded.dictionary.to_pylist()], dtype=np.int64)
    return offsets[coded.indices.to_numpy(zero_copy_only=False)] if len(offsets) else offsets


def _offset(zone: str) -> int:
    """
    >>> _offset("Z"), _offset("+02:00") // HOUR, _offset("-0130") / HOUR
    (0, 2, -1.5)
    """
    digits = zone[1:].replace(":", "")
    if not digits.isdigit():
        return 0
    minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
    return (-minutes if zone[0] == "-" else minutes) * 60 * SECOND


def _checked(
    texts: pa.Array,
    micros: Micros,
    matched: NDArray[np.bool_],
    good: NDArray[np.bool_],
    expected: str,
) -> Times:
    there = texts.is_valid().to_numpy(zero_copy_only=False)
    bad = there & ~(matched & good)
    if bad.any():
        row = int(np.argmax(bad))
        value = shown(texts[row].as_py())
        raise Unreadable(row, f"expected {expected}, as in earlier rows, got {value}")
    return Times(np.where(there, micros, 0), there)


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
    """A date: seconds since the first one, and the parts that vary in the first rows.

    float32 is too coarse for seconds since 1970.
    """

    name = "moment"
    kind = Kind.RAW
    nothing = MISSING

    def __init__(self, origin: int | None, parts: tuple[str, ...]) -> None:
        self.origin = origin  # the first value, in microseconds since 1970; None until there is one
        self.parts = parts

    @property
    def width(self) -> int:
        return 1 + len(self.parts)

    def features(self, column: str) -> list[str]:
        return [column, *(f"{column}.{part}" for part in self.parts)]

    def follow(self, values: pa.Array) -> None:
        """Set the origin to the first value, unless it is set."""
        if self.origin is None:
            times = moments(values)
            if times.there.any():
                self.origin = int(times.micros[np.argmax(times.there)])

    def fill(self, values: pa.Array, out: NDArray[np.float32]) -> None:
        times = moments(values)
        parts = parts_of(times.micros)
        out[:, 0] = np.nan if self.origin is None else (times.micros - self.origin) / SECOND
        for i, part in enumerate(self.parts, start=1):
            out[:, i] = parts[part]
        out[~times.there] = np.nan

    def state(self) -> dict[str, Any]:
        return {"origin": self.origin, "parts": [*self.parts]}

    @property
    def words(self) -> str:
        parts = "".join(f", {part}" for part in self.parts)
        if self.origin is None:
            return f"date: seconds since the first one{parts}"
        origin = np.datetime_as_string(np.datetime64(self.origin, "us"), unit="auto")
        return f"date: seconds since {str(origin).replace('T', ' ')} UTC{parts}"


class Clock(Encoder):
    """A time of day in seconds since midnight, or a duration in seconds."""

    name = "clock"
    kind = Kind.RAW
    nothing = MISSING
    width = 1
    words = "time of day: seconds since midnight"

    def features(self, column: str) -> list[str]:
        return [column]

    def fill(self, values: pa.Array, out: NDArray[np.float32]) -> None:
        times = clocks(values)
        out[:, 0] = np.where(times.there, times.micros / SECOND, np.nan)

    def state(self) -> dict[str, Any]:
        return {}


def moment_from(values: list[pa.Array]) -> Moment:
    """Return the encoder for the first rows of a column: the origin, and the parts that vary."""
    times = [moments(array) for array in values]
    micros = np.concatenate([t.micros[t.there] for t in times] or [np.empty(0, np.int64)])
    if len(micros) == 0:
        return Moment(None, ())
    varied = [name for name, part in parts_of(micros).items() if part.min() < part.max()]
    return Moment(int(micros[0]), tuple(varied))


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
