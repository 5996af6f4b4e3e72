"""Points as rows of float32, dense or sparse; a sparse matrix is never made dense as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

Rows = Any  # an array of float32, or a CSR matrix of float32

DENSE_BYTES = 2**24  # at most this much of a sparse matrix is dense at a time


def as_rows(X: Any) -> Rows:
    """R4: features are float32; NaN is a missing value, anything else must fit."""
    with np.errstate(over="ignore", invalid="ignore"):
        rows = X.astype(np.float32) if issparse(X) else np.ascontiguousarray(X, dtype=np.float32)
    bad = np.isinf(rows.data if issparse(rows) else rows)
    if bad.any():
        raise ValueError(_too_large(X, bad))
    return rows


def blocks(X: Rows) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Dense rows, piece by piece; all at once where they are dense already."""
    if not issparse(X):
        yield slice(0, len(X)), np.ascontiguousarray(X)
        return
    rows = max(1, DENSE_BYTES // (4 * X.shape[1]))
    for first in range(0, max(1, X.shape[0]), rows):
        some = slice(first, first + rows)
        yield some, X[some].toarray()


def _too_large(X: Any, bad: NDArray[np.bool_]) -> str:
    if issparse(X):
        place = int(np.argmax(bad))
        row = int(np.searchsorted(X.indptr, place, side="right")) - 1
        column, value = X.indices[place], X.data[place]
    else:
        row, column = np.argwhere(bad)[0]
        value = X[row, column]
    return (
        "Input X contains infinity or a value too large for float32: "
        f"X[{row}, {column}] is {value}, expected a finite value or NaN"
    )
