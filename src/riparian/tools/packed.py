"""Arrays as text, for JSON."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


def packed(array: NDArray[Any]) -> str:
    """Return the numbers of an array as compressed text.

    >>> unpacked(packed(np.array([1.5, np.nan], dtype=np.float32)), np.float32).tolist()
    [1.5, nan]
    """
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
    return base64.b64encode(zlib.compress(little.tobytes(), 1)).decode("ascii")


def unpacked(text: str, dtype: Any) -> NDArray[Any]:
    data = zlib.decompress(base64.b64decode(text, validate=True))
    return np.frombuffer(data, dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype)
