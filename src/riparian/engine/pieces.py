"""Pieces of varying length, one after the other in one array: where each begins, and its sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def begins(lengths: NDArray[Any]) -> Integers:
    """Return where each piece begins.

    >>> begins(np.array([2, 0, 3])).tolist()
    [0, 2, 2]
    """
    lengths = lengths.astype(np.int64)
    starts: Integers = np.cumsum(lengths) - lengths
    return starts


def places(starts: Integers, lengths: Integers) -> Integers:
    """Return the indices of some pieces, one after the other.

    >>> places(np.array([10, 20]), np.array([2, 3])).tolist()
    [10, 11, 20, 21, 22]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    indices: Integers = np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
    return indices


def numbers(lengths: Integers) -> Integers:
    """Return 0, 1, 2, ... for each piece.

    >>> numbers(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return places(np.zeros_like(lengths), lengths)


def sums(values: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the sum of each piece; all together must fit 64 bits.

    >>> sums(np.array([1, 2, 3, 4, 5]), np.array([2, 0, 3])).tolist()
    [3, 0, 12]
    """
    so_far = np.concatenate([[0], np.cumsum(values, dtype=np.uint64)]).astype(np.uint64)
    ends = np.cumsum(lengths, dtype=np.int64)
    totals: NDArray[np.uint64] = so_far[ends] - so_far[begins(lengths)]
    return totals


def largest(values: NDArray[np.uint64], lengths: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the largest value of each piece, or 0 for an empty one.

    >>> largest(np.array([1, 2, 5, 4, 3], dtype=np.uint64), np.array([2, 0, 3])).tolist()
    [2, 0, 5]
    """
    most = np.zeros(len(lengths), dtype=np.uint64)
    there = lengths > 0
    if there.any():
        most[there] = np.maximum.reduceat(values, begins(lengths)[there])
    return most
