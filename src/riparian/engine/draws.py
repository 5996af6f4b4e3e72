"""The order in which rows are learned, where it is shuffled (R13)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riparian.reference import GOLDEN, SHUFFLE_DRAW, key


def shuffled(seed: int, n: int, rows: int) -> NDArray[np.intp]:
    """R13: the order of the n-th pass, rows sorted by a word each from a sequence of its own."""
    start = np.uint64(key(seed, SHUFFLE_DRAW, n))
    z = start + np.arange(1, rows + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.argsort(z ^ (z >> np.uint64(31)), kind="stable")
