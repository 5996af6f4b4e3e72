"""Numbers as people read them."""

from __future__ import annotations

import math


def size(n: float) -> str:
    """
    >>> size(512), size(1500), size(3_500_000)
    ('512 B', '1.5 kB', '3.5 MB')
    """
    units = ["B", "kB", "MB", "GB", "TB"]
    power = 0
    while n >= 999.5 and power < len(units) - 1:
        n, power = n / 1000, power + 1
    return f"{n:.3g} {units[power]}"


def share(value: float) -> str:
    """
    >>> share(0.12345), share(float("nan"))
    ('0.1235', '-')
    """
    return "-" if math.isnan(value) else f"{value:.4f}"


def span(seconds: float) -> str:
    """
    >>> span(7.25), span(75), span(7325)
    ('7.2 s', '1 min 15 s', '2 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
