"""Sums and places of what lies end to end, and the sentence for what is wrong with it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.snapshot.errors import SnapshotError

Integers = NDArray[np.int64]


def every(ok: Any, rule: str) -> None:
    """All of them, or an error that names the rule and the first place where it is broken."""
    if not np.all(ok):
        raise SnapshotError("arrays", f"{rule}; not so at place {int(np.argmin(ok))}")


def check_sum(values: Any, name: str) -> None:
    """Any sum of these fits 63 bits, so what comes after need not think of overflow."""
    if values.astype(np.float64).sum() >= 2.0**62:
        raise SnapshotError("arrays", f"{name} must not sum up to 2^62")


def unsigned_sums(values: NDArray[Any], lengths: Integers) -> NDArray[np.uint64]:
    """The sum of each piece, the pieces being so long; all of them are checked to fit."""
    ends = np.concatenate([[0], np.cumsum(values, dtype=np.uint64)]).astype(np.uint64)
    last = np.cumsum(lengths)
    pieces: NDArray[np.uint64] = ends[last] - ends[last - lengths]
    return pieces


def places(starts: Integers, lengths: Integers) -> Integers:
    """The places of some pieces, end to end."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    found: Integers = np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
    return found


def begins(lengths: NDArray[Any]) -> Integers:
    """Where each piece begins."""
    lengths = lengths.astype(np.int64)
    starts: Integers = np.cumsum(lengths) - lengths
    return starts
