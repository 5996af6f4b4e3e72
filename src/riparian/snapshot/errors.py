"""The error of snapshots, with its cases."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

Case = Literal[
    "container", "foreign", "version", "checksum", "header", "arrays", "size", "prediction_only"
]


class SnapshotError(ValueError):
    """A snapshot cannot be written, read, or used as requested. `case` is one of these:

    ==================  ============================================================================
    "container"         It is not a safetensors file, or one that is truncated or damaged.
    "foreign"           It is a safetensors file, but not a snapshot of riparian.
    "version"           It has a format that this version of riparian does not know.
    "checksum"          Something in it has changed since it was written.
    "header"            A parameter, label, name or number in its header is missing or invalid;
                        or, when saving, cannot be stored in one.
    "arrays"            An array is missing, has another type or length, or holds unsafe values.
    "size"              It needs more memory than `max_bytes` allows.
    "prediction_only"   It was saved for prediction only, and cannot learn.
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
    """Raise an error that names the rule and the first entry that breaks it, unless all hold."""
    if not np.all(ok):
        raise SnapshotError("arrays", f"{rule} (entry {int(np.argmin(ok))})")


def check_sum(values: Any, name: str) -> None:
    """Raise an error unless any sum of these values fits 63 bits, so that later sums cannot overflow."""
    if values.astype(np.float64).sum() >= 2.0**62:
        raise SnapshotError("arrays", f"the sum of {name} must be below 2^62")
