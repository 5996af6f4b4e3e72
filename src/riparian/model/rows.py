"""Points as rows of float32, dense or sparse; a sparse matrix is never made dense as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import __version__ as sklearn_version
from sklearn.utils.fixes import parse_version

from riparian import _core

Rows = Any  # an array of float32, or a CSR matrix of float32

SKLEARN_BEFORE_NARWHALS = parse_version(sklearn_version) < parse_version("1.9")

DENSE_BYTES = 2**24  # of a sparse matrix that are made dense at a time, at the most


def as_rows(X: Any) -> Rows:
    """R4: features are float32; NaN is a missing value, anything else must fit."""
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


class NamedRows:
    """A polars frame for scikit-learn before 1.9, which asks for names in a protocol polars dropped."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.shape = frame.shape

    def __len__(self) -> int:
        return int(self.shape[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.frame.to_numpy(), dtype=dtype)

    def __dataframe__(self) -> NamedRows:
        return self

    def column_names(self) -> list[str]:
        return list(self.frame.columns)


def with_names(X: Any) -> Any:
    """X as scikit-learn can read its feature names."""
    polars = type(X).__module__.startswith("polars") and hasattr(X, "columns")
    if polars and not hasattr(X, "__dataframe__") and SKLEARN_BEFORE_NARWHALS:
        return NamedRows(X)
    return X


def dense(X: Rows) -> NDArray[np.float32]:
    """Few rows, for what knows dense ones only."""
    return np.ascontiguousarray(X.toarray() if issparse(X) else X, dtype=np.float32)


def blocks(X: Rows) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Dense rows, block by block; all at once if they are dense already."""
    if not issparse(X):
        yield slice(0, len(X)), np.ascontiguousarray(X)
        return
    rows = max(1, DENSE_BYTES // (4 * X.shape[1]))
    for first in range(0, max(1, X.shape[0]), rows):
        block = slice(first, first + rows)
        yield block, X[block].toarray()


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
