"""Copies of the points that a forest of rows keeps (R19)."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from riparian.engine.trees import Arrays
from riparian.model.rows import Rows

if TYPE_CHECKING:
    from riparian.model.model import Model


class KeptPoints(NamedTuple):
    """The last points of a stream, in their order."""

    X: Rows  # float32; a sparse matrix if the first batch was one; later columns are NaN in older rows
    y: NDArray[Any]  # labels
    sample_weight: NDArray[np.float64]  # times the weight of the class


def kept_points(model: Model) -> KeptPoints:
    """Return the kept points of a model; none if it keeps none or only predicts."""
    with model.engine.learning:  # so that no class joins in between
        arrays, columns = model.engine.kept(), model.engine.n_dims
        target = copy.copy(model.target)
    if arrays is None:
        empty = np.empty((0, columns), dtype=np.float32)
        return KeptPoints(empty, target.labels_of(np.empty(0, dtype=np.uint32)), np.empty(0))
    weight = arrays["kept_weight"]
    n = len(arrays["kept_label"])
    return KeptPoints(
        _rows(arrays, columns),
        target.labels_of(arrays["kept_label"]),
        weight if len(weight) else np.ones(n),
    )


def _rows(arrays: Arrays, columns: int) -> Rows:
    if "kept_rows" in arrays:
        rows: Rows = arrays["kept_rows"]
        return rows
    starts, widths = arrays["kept_starts"].astype(np.int64), arrays["kept_widths"]
    shape = (len(widths), columns)
    there = csr_matrix((arrays["kept_entries"], arrays["kept_columns"], starts), shape=shape)
    short = np.flatnonzero(widths < columns)
    if len(short) == 0:
        return there
    # A column that joined later is missing in these rows, which is not zero.
    missing = columns - widths[short].astype(np.int64)
    row = np.repeat(short, missing)
    column = np.concatenate([np.arange(widths[i], columns) for i in short.tolist()])
    nan = np.full(len(row), np.nan, dtype=np.float32)
    return (there + csr_matrix((nan, (row, column)), shape=shape)).tocsr()
