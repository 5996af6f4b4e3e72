"""Arrays as text, for JSON."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_BYTES = 2**28  # of an array; a file of a few kilobytes could otherwise claim gigabytes


def packed(array: NDArray[Any]) -> str:
    """Return the numbers of an array as compressed text.

    >>> unpacked(packed(np.array([1.5, np.nan], dtype=np.float32)), np.float32, 2).tolist()
    [1.5, nan]
    """
    if array.nbytes > MOST_BYTES:
        raise ValueError(f"at most {MOST_BYTES} bytes can be saved as text, got {array.nbytes}")
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
    return base64.b64encode(zlib.compress(little.tobytes(), 1)).decode("ascii")


def unpacked(text: str, dtype: Any, most: int) -> NDArray[Any]:
    """Return the array, or raise an error before it holds more than `most` numbers."""
    stored = np.dtype(dtype).newbyteorder("<")
    room = min(most * stored.itemsize, MOST_BYTES)
    try:
        compressed = base64.b64decode(text, validate=True)
        data = zlib.decompressobj().decompress(compressed, room + 1)  # 0 would mean no bound
    except zlib.error as error:
        raise ValueError(f"expected compressed numbers: {error}") from None
    if len(data) > room:
        raise ValueError(f"expected at most {room} bytes of compressed numbers, got more")
    return np.frombuffer(data, dtype=stored).astype(dtype)
