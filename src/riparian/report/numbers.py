"""Numbers and names as people write them."""

from __future__ import annotations

import math

UNKNOWN = "–"

UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def count(n: int) -> str:
    """
    >>> count(12345)
    '12,345'
    """
    return f"{n:,}"


def share(value: float) -> str:
    """
    >>> share(0.8731), share(1.0), share(float("nan"))
    ('87.3%', '100.0%', '–')
    """
    return UNKNOWN if math.isnan(value) else f"{value:.1%}"


def decimal(value: float) -> str:
    """
    >>> decimal(0.81267), decimal(float("nan"))
    ('0.813', '–')
    """
    return UNKNOWN if math.isnan(value) else f"{value:,.3f}"


def memory(n_bytes: int) -> str:
    """Bytes in the largest unit that leaves at least one of it; a kB is a thousand of them.

    >>> memory(512), memory(3_210_000), memory(999_960)
    ('512 B', '3.2 MB', '1.0 MB')
    """
    if n_bytes < 1000:
        return f"{n_bytes} B"
    size = float(n_bytes)
    for unit in UNITS[1:]:
        size /= 1000
        if round(size, 1) < 1000 or unit == UNITS[-1]:
            break
    return f"{size:,.1f} {unit}"


def shortened(name: str, longest: int) -> str:
    """
    >>> shortened("a very long name", 10)
    'a very lo…'
    """
    return name if len(name) <= longest else name[: longest - 1] + "…"


def ranks(n: int, of: int, things: str) -> str:
    """What to say of a list that may have been cut.

    >>> ranks(20, 784, "features"), ranks(4, 4, "features")
    ('20 of 784 features', 'all 4 features')
    """
    return f"all {count(of)} {things}" if n >= of else f"{count(n)} of {count(of)} {things}"
