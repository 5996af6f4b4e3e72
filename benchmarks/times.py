"""Times as text."""

from __future__ import annotations

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Times:
    """Return microseconds per point and tree, over the repeats."""

    min: float
    median: float

    @classmethod
    def of(cls, seconds: list[float], points: int, trees: int) -> Times:
        each = [s / points / trees * 1e6 for s in seconds]
        return cls(min(each), statistics.median(each))
