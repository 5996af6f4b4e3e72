"""Halves of the categories of a column (R22): which codes a split sends left.

The threshold of a split in a categorical column is a code, or, if it is below zero, a half.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian import _core
from riparian.engine.draws import GOLDEN, mixed

LAST = -(2.0**24)  # the threshold of the last half; that of the first is -1


def halves_among(threshold: NDArray[np.float32], categorical: NDArray[Any]) -> NDArray[np.bool_]:
    """Return, for each split, whether it is a half. `categorical`: whether its column is."""
    return np.asarray(categorical & (threshold < 0), dtype=np.bool_)


def codes_left(threshold: float, n_codes: int) -> NDArray[np.int64]:
    """Return the codes below `n_codes` that a split sends left, in order.

    >>> codes_left(2.0, 5).tolist(), codes_left(-1.0, 12).tolist()
    ([2], [0, 1, 3, 7, 11])
    """
    return np.flatnonzero(_go_left(np.arange(n_codes), threshold))


def category_goes_left(code: float, threshold: float) -> bool:
    """Return whether a code goes left. A missing value goes right."""
    return code == code and bool(_go_left(np.array([int(code)]), threshold)[0])


def _go_left(codes: NDArray[np.int64], threshold: float) -> NDArray[np.bool_]:
    if not threshold < 0:
        return np.equal(codes, threshold)
    key, b = divmod(-1 - int(threshold), _core.halves_of_key)
    start = codes.astype(np.uint64) + np.uint64(2**24 * key)
    bits = mixed(start + GOLDEN) >> np.uint64(b) & np.uint64(1)
    return bits.astype(np.bool_)
