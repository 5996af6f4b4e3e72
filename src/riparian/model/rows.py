"""Points as rows of float32, dense or sparse; a sparse matrix is never made dense as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from riparian import _core

Rows = Any  # an array of float32, or a CSR matrix of float32


def as_rows(X: Any) -> Rows:
    """Return features as float32 (R4), or raise an error. NaN is missing; anything else must fit."""
    is_ready = type(X) is np.ndarray and X.dtype == np.float32 and X.flags.c_contiguous
    if is_ready and not _core.any_infinite(X):
        return X
    rows = _as_float32(X)
    values = rows.data[np.newaxis] if issparse(rows) else rows
    if _core.any_infinite(values):
        raise ValueError(_too_large(X, np.isinf(values)))
    return rows


def _as_float32(X: Any) -> Rows:
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers, got values of type {X.dtype}")
    with np.errstate(over="ignore", invalid="ignore"):  # what does not fit becomes infinite
        return X.astype(np.float32) if issparse(X) else np.ascontiguousarray(X, dtype=np.float32)


def dense(X: Rows) -> NDArray[np.float32]:
    """Return a few rows as a dense array, for code that takes no sparse ones."""
    return np.ascontiguousarray(X.toarray() if issparse(X) else X, dtype=np.float32)


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
