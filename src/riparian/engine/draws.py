"""Draws for many rows at once (R13): words that are a pure function of where they are drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riparian.reference import GOLDEN, SHUFFLE_DRAW, key


def shuffled(seed: int, n: int, rows: int) -> NDArray[np.intp]:
    """R13: the order of the n-th pass, rows sorted by a word each from a sequence of its own."""
    return np.argsort(words(seed, (SHUFFLE_DRAW, n), np.arange(rows)), kind="stable")


def words(seed: int, place: tuple[int, ...], numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Of the sequence that starts at a place, the words with these numbers."""
    start = np.uint64(key(seed, *place))
    return mixed(start + (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(GOLDEN))


def mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    last: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return last
