"""Numbers and names as people write them, on the command line and in reports."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

UNKNOWN = "–"

UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def count(n: int) -> str:
    """
    >>> count(12345)
    '12,345'
    """
    return f"{n:,}"


def listed(n: int, of: int, things: str) -> str:
    """Say how much of a list is shown.

    >>> listed(20, 784, "features"), listed(4, 4, "features")
    ('20 of 784 features', 'all 4 features')
    """
    return f"all {count(of)} {things}" if n >= of else f"{count(n)} of {count(of)} {things}"


def number(value: float) -> str:
    """
    >>> number(30000.0), number(0.25)
    ('30,000', '0.25')
    """
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


def decimal(value: float, places: int = 3) -> str:
    """
    >>> decimal(0.81267), decimal(0.81267, places=4), decimal(-1e-9), decimal(float("nan"))
    ('0.813', '0.8127', '0.000', '–')
    """
    return UNKNOWN if math.isnan(value) else f"{value:z,.{places}f}"


def percent(share: float) -> str:
    """
    >>> percent(0.8731), percent(1.0), percent(float("nan"))
    ('87.3%', '100.0%', '–')
    """
    return UNKNOWN if math.isnan(share) else f"{share:.1%}"


def size(n_bytes: float) -> str:
    """Bytes in the largest unit that leaves at least one of it; a kB is a thousand bytes.

    >>> size(512), size(1500), size(3_000_000), size(999_960), size(1.5e18)
    ('512 B', '1.5 kB', '3.0 MB', '1.0 MB', '1,500.0 PB')
    """
    if n_bytes < 1000:
        return f"{n_bytes:.0f} B"
    amount = float(n_bytes)
    for unit in UNITS[1:]:
        amount /= 1000
        if round(amount, 1) < 1000 or unit == UNITS[-1]:
            break
    return f"{amount:,.1f} {unit}"


def duration(seconds: float) -> str:
    """
    >>> duration(7.25), duration(75), duration(7325)
    ('7.2 s', '1 min 15 s', '2 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


# What a terminal takes as commands, what changes the direction of a text, and half characters, which
# UTF-8 cannot express.
CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(message: str) -> str:
    """Escape control characters, which a terminal would obey. Tabs and ends of lines stay.

    >>> printable("a column\\x1b[2J")
    'a column\\\\x1b[2J'
    """
    return CONTROLS.sub(lambda control: ascii(control[0])[1:-1], message)


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return a question for a word that may be misspelt, or nothing.

    >>> suggestion("specie", ["height", "species"]), suggestion("x", ["height"])
    ("; did you mean 'species'?", '')
    """
    import difflib

    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def shortened(name: str, longest: int) -> str:
    """
    >>> shortened("a very long name", 10)
    'a very lo…'
    """
    return name if len(name) <= longest else name[: longest - 1] + "…"
