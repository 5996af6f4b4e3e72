"""Dates as ARFF declares them, in the letters of Java's SimpleDateFormat."""

from __future__ import annotations

import re
from datetime import UTC, datetime

ISO = "yyyy-MM-dd'T'HH:mm:ss"  # Weka's default

LETTERS = {
    "yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "M": "%m", "dd": "%d", "d": "%d",
    "HH": "%H", "H": "%H", "hh": "%I", "h": "%I", "mm": "%M", "m": "%M", "ss": "%S", "s": "%S",
    "SSS": "%f", "a": "%p", "EEEE": "%A", "EEE": "%a", "Z": "%z", "X": "%z", "XX": "%z", "XXX": "%z",
}  # fmt: skip

_PIECE = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")


def python_format(declared: str) -> str:
    """Return the same format for `strptime`, or raise a ValueError if there is none.

    >>> python_format("yyyy-MM-dd'T'HH:mm:ss.SSS"), python_format("dd/MM/yy")
    ('%Y-%m-%dT%H:%M:%S.%f', '%d/%m/%y')
    """
    pieces = []
    place = 0
    while place < len(declared):
        piece = _PIECE.match(declared, place)
        text = "" if piece is None else piece[0]
        if piece is None or (text[0].isalpha() and text not in LETTERS):
            raise ValueError(f"{text or declared[place:]!r} is not supported")
        place = piece.end()
        quoted = text if piece[1] is None else piece[1].replace("''", "'") or "'"
        pieces.append(LETTERS[text] if text[0].isalpha() else quoted.replace("%", "%%"))
    return "".join(pieces)


def read_date(text: str, format_: str) -> datetime:
    """Return a moment in UTC, the default zone, or raise a ValueError if the text is no such date."""
    moment = datetime.strptime(text, format_)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
