"""Draws for many rows at once (R13): words that are a pure function of where they are drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the increment of SplitMix64
SHUFFLE_DRAW = 3


def shuffled(seed: int, n: int, rows: int) -> NDArray[np.intp]:
    """Return the order of the n-th pass: rows sorted by one word each of its own sequence (R13)."""
    return np.argsort(words(seed, (SHUFFLE_DRAW, n), np.arange(rows)), kind="stable")


def words(seed: int, place: tuple[int, ...], numbers: NDArray[np.int64]) -> Words:
    """Return the words with these numbers in the sequence that starts at a place."""
    return mixed(key(seed, *place) + (numbers.astype(np.uint64) + np.uint64(1)) * GOLDEN)


def key(*places: int) -> Words:
    """Fold the numbers, in order, into an array of one word.

    >>> hex(int(key(7, 3)[0]))
    '0x6baa78681a99f995'
    """
    folded = np.zeros(1, dtype=np.uint64)
    for place in places:
        folded = mixed((folded ^ np.uint64(place)) + GOLDEN)
    return folded


def mixed(z: Words) -> Words:
    """Apply the finaliser of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    last: Words = z ^ (z >> np.uint64(31))
    return last
