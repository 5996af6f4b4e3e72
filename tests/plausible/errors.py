"""The error of the checks of plausibility."""

from __future__ import annotations

from typing import Any

import numpy as np


class Implausible(AssertionError):
    """A state that learning cannot have produced."""


def every(ok: Any, rule: str) -> None:
    """Raise an error that names the rule and the first entry that breaks it, unless all hold."""
    if not np.all(ok):
        raise Implausible(f"{rule} (entry {int(np.argmin(ok))})")


def check_sum(values: Any, name: str) -> None:
    """Raise an error unless any sum of these values fits 63 bits."""
    if values.astype(np.float64).sum() >= 2.0**62:
        raise Implausible(f"{name} must not sum up to 2^62")
