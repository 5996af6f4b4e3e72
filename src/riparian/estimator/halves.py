"""Halves of the categories of a column (R22): which codes a split sends left.

The threshold of a split in a categorical column is a code, or below zero it is one of the halves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.engine.draws import mixed
from riparian.reference import GOLDEN, HALVES_OF_KEY

LAST = -(2.0**24)  # of the halves, as a threshold; the first is -1


def halves_among(threshold: NDArray[np.float32], categorical: NDArray[Any]) -> NDArray[np.bool_]:
    """Of each split, whether it asks for a half. `categorical`: whether its column is."""
    return np.asarray(categorical & (threshold < 0), dtype=np.bool_)


def codes_left(threshold: float, n_codes: int) -> NDArray[np.int64]:
    """Of the codes below `n_codes`, those that a split sends left, in order.

    >>> codes_left(2.0, 5).tolist(), codes_left(-1.0, 12).tolist()
    ([2], [0, 1, 3, 7, 11])
    """
    codes = np.arange(n_codes)
    if not threshold < 0:
        return np.flatnonzero(codes == threshold)
    key, b = divmod(-1 - int(threshold), HALVES_OF_KEY)
    words = mixed(codes.astype(np.uint64) + np.uint64(2**24 * key) + np.uint64(GOLDEN))
    return np.flatnonzero(words >> np.uint64(b) & np.uint64(1))


def category_goes_left(code: float, threshold: float) -> bool:
    """Missing values go right."""
    if not threshold < 0:
        return code == threshold
    return code == code and int(code) in codes_left(threshold, int(code) + 1)
