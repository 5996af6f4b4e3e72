"""What can be wrong with a snapshot, as one error."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

Case = Literal[
    "container", "foreign", "version", "checksum", "header", "arrays", "size", "prediction_only"
]


class SnapshotError(ValueError):
    """A snapshot cannot be written, read, or used as asked. `case` is one of these:

    ==================  ============================================================================
    "container"         It is no safetensors file, or one that was cut off or damaged.
    "foreign"           It is a safetensors file, but not a snapshot of riparian.
    "version"           It has a format that this version of riparian does not know.
    "checksum"          Something in it has changed since it was written.
    "header"            A parameter, label, name or number in its header is missing or impossible;
                        or, when saving, cannot be put into one.
    "arrays"            An array is missing, of another type or length, or holds what is not safe.
    "size"              It asks for more memory than `max_bytes` allows.
    "prediction_only"   It was saved for predicting alone, and is now asked to learn.
    ==================  ============================================================================
    """

    def __init__(self, case: Case, reason: str) -> None:
        super().__init__(case, reason)
        self.case = case
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


def require(ok: Any, case: Case, reason: str) -> None:
    if not ok:
        raise SnapshotError(case, reason)


def every(ok: Any, rule: str) -> None:
    """All of them, or an error that names the rule and the first entry that breaks it."""
    if not np.all(ok):
        raise SnapshotError("arrays", f"{rule} (entry {int(np.argmin(ok))})")


def check_sum(values: Any, name: str) -> None:
    """Any sum of these fits 63 bits, so what comes after need not think of overflow."""
    if values.astype(np.float64).sum() >= 2.0**62:
        raise SnapshotError("arrays", f"{name} must not sum up to 2^62")
