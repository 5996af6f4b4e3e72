"""What the checkers of plausibility raise."""

from __future__ import annotations

from typing import Any

import numpy as np


class Implausible(AssertionError):
    """Learning cannot have led to this."""


def every(ok: Any, rule: str) -> None:
    """All of them, or an error that names the rule and the first entry that breaks it."""
    if not np.all(ok):
        raise Implausible(f"{rule} (entry {int(np.argmin(ok))})")


def check_sum(values: Any, name: str) -> None:
    """Any sum of these fits 63 bits."""
    if values.astype(np.float64).sum() >= 2.0**62:
        raise Implausible(f"{name} must not sum up to 2^62")
