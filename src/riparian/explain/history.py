"""How the values of features develop along a stream: drift, missing values, values never seen before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from riparian.model.rows import dense
from riparian.tools.packed import packed, unpacked
from riparian.tools.shapes import COUNT, shaped

BLOCK = 500  # rows that are counted together
MOST_PARTS = 40  # of the stream; then two and two are one
MOST_FEATURES = 50  # the first ones
BINS = (
    32  # of the values of a feature, at most; values beyond all before them get bins of their own
)
COMPARED = 10  # of these are compared: with more, chance would look like drift
MISSING, NEW = BINS, BINS + 1  # where these are counted, next to the bins
KINDS = BINS + 2

# What a state must look like.
STATE = {"rows": COUNT, "features": range(2**31), "stride": range(BLOCK, 2**62),
         "shape": (range(MOST_PARTS + 1), range(MOST_FEATURES + 1)), "width": range(MOST_FEATURES + 1),
         "counts": str, "edges": str, "range": str, "waiting": str}  # fmt: skip

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Parts:
    """Shares of the rows in each part of the stream (down) for each feature (across)."""

    last_row: NDArray[np.int64]  # of each part
    missing: Floats
    new: Floats  # values beyond all that came before: above, below, or an unknown category
    drift: Floats  # from 0, distributed as in the whole stream, to 1, nothing in common


class FeatureHistory:
    """Counts of the values of each feature, in parts of the stream of equal length.

    Rows are counted in blocks from the start of the stream, so batches do not matter, and memory is
    bounded: there are at most 40 parts, and only the first 50 features are counted. Rows are given as
    a forest has them (`coded_rows`): of a categorical feature, a code that is larger than all before
    is a category that was not seen before.

    The bins of a feature need not be known in advance. Values beyond all before them get new bins, in
    which no older part has any; where there are too many, the two neighbours with the fewest values
    become one. So a feature that rises slowly, such as the month, is seen to drift.

    >>> history = FeatureHistory()
    >>> for day in range(4):
    ...     history.update(np.linspace(day // 2, day // 2 + 1, 500)[:, None])
    >>> parts = history.parts()
    >>> parts.last_row.tolist(), parts.drift[:, 0].round(1).tolist(), parts.new[:, 0].tolist()
    ([500, 1000, 1500, 2000], [0.5, 0.5, 0.5, 0.5], [0.0, 0.0, 0.998, 0.0])
    """

    def __init__(self) -> None:
        self.rows = 0  # received
        self.features = 0  # of the widest row
        self._stride = BLOCK  # rows of a part
        self._counts: Counts = np.zeros((0, 0, KINDS), dtype=np.int64)  # part, feature, kind
        self._edges: Floats = np.zeros(
            (0, BINS - 1)
        )  # of the bins, each the last value of its bin; then inf
        self._low: Floats = np.zeros(0)  # of all values in blocks before
        self._high: Floats = np.zeros(0)
        self._waiting: list[NDArray[np.float32]] = []  # rows of the block that is not full

    def update(self, X: Any) -> None:
        """Add the next rows."""
        self.features = max(self.features, X.shape[1])
        kept = X[:, :MOST_FEATURES]
        rows = dense(kept) if issparse(kept) else np.array(kept, dtype=np.float32)
        start = 0
        while start < len(rows):
            some = rows[start : start + BLOCK - self.rows % BLOCK]
            self._waiting.append(some)
            self.rows += len(some)
            start += len(some)
            if self.rows % BLOCK == 0:
                self._count(self._block())
                self._waiting = []

    def _block(self) -> NDArray[np.float32]:
        width = max(rows.shape[1] for rows in self._waiting)
        return np.concatenate([_widened(rows, width, 1, np.nan) for rows in self._waiting])

    def _count(self, rows: NDArray[np.float32]) -> None:
        block = self.rows // BLOCK - 1  # its number
        self._widen(rows.shape[1])
        rows = _widened(rows, self._counts.shape[1], 1, np.nan)
        part = block * BLOCK // self._stride
        if part == MOST_PARTS:
            self._counts = self._counts[::2] + self._counts[1::2]
            self._stride *= 2
            part //= 2
        self._counts = _widened(self._counts, part + 1, 0, 0)
        for feature in range(rows.shape[1]):
            self._count_one(part, feature, rows[:, feature])

    def _count_one(self, part: int, feature: int, column: NDArray[np.float32]) -> None:
        counts = self._counts[part, feature]
        there = column[~np.isnan(column)].astype(np.float64)
        counts[MISSING] += len(column) - len(there)
        if len(there) == 0:
            return
        low, high = self._low[feature], self._high[feature]
        if low <= high:  # some value was known before
            counts[NEW] += int(((there < low) | (there > high)).sum())
        below, above = there[there < low], there[there > high]
        if len(above) or len(below):
            self._extend(feature, below if low <= high else below[:0], above)
        places = np.searchsorted(self._edges[feature], there, side="left")
        counts[:BINS] += np.bincount(places, minlength=BINS)
        self._low[feature] = min(low, there.min())
        self._high[feature] = max(high, there.max())

    def _extend(self, feature: int, below: Floats, above: Floats) -> None:
        """Give bins to values beyond all before them; all counts there are 0."""
        old = self._edges[feature]
        old = old[old < np.inf]
        first = [*_cuts(below), below.max()] if len(below) else []
        last = [self._high[feature]] if len(above) and self._high[feature] > -np.inf else []
        edges = np.array([*first, *old, *last, *_cuts(above)])
        counts = np.zeros((len(self._counts), len(edges) + 1), dtype=np.int64)
        counts[:, len(first) : len(first) + len(old) + 1] = self._counts[:, feature, : len(old) + 1]
        counts, edges = _joined(counts, edges, BINS)
        self._counts[:, feature, :BINS] = _widened(counts, BINS, 1, 0)
        self._edges[feature] = _widened(edges, BINS - 1, 0, np.inf)

    def _widen(self, features: int) -> None:
        """Make room for features that joined: they are missing in all rows before."""
        before = self._counts.shape[1]
        if features <= before:
            return
        rows = self._counts[:, 0, : MISSING + 1].sum(axis=1) if before else np.zeros(0)
        self._counts = _widened(self._counts, features, 1, 0)
        self._counts[:, before:, MISSING] = rows[:, None]
        self._edges = _widened(self._edges, features, 0, np.inf)
        self._low = _widened(self._low, features, 0, np.inf)
        self._high = _widened(self._high, features, 0, -np.inf)

    # -- results ----------------------------------------------------------------------------------

    def parts(self) -> Parts:
        """Return the shares along the stream, without the last rows that fill no block."""
        values = self._counts[:, :, : MISSING + 1].astype(np.float64)
        rows = values.sum(axis=2)
        totals = np.maximum(rows.sum(axis=0), 1)
        missing, new = (self._counts[:, :, kind] / np.maximum(rows, 1) for kind in (MISSING, NEW))
        drift = np.zeros(rows.shape)
        for feature in range(rows.shape[1]):
            counts, edges = values[:, feature, :BINS], self._edges[feature]
            bins = 1 + int((edges < np.inf).sum())
            compared, _ = _joined(counts[:, :bins], edges[: bins - 1], COMPARED)
            compared = np.column_stack([compared, values[:, feature, MISSING]])
            shares = compared / np.maximum(rows[:, feature, None], 1)
            drift[:, feature] = (
                np.abs(shares - compared.sum(axis=0) / totals[feature]).sum(axis=1) / 2
            )
        counted = self.rows // BLOCK * BLOCK
        ends = self._stride * np.arange(1, len(rows) + 1)
        return Parts(last_row=np.minimum(counted, ends), missing=missing, new=new, drift=drift)

    # -- saved and restored -----------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything as JSON values; `from_state` continues from them exactly."""
        parts, features, _ = self._counts.shape
        block = self._block() if self._waiting else np.zeros((0, 0), dtype=np.float32)
        return {
            "rows": self.rows,
            "features": self.features,
            "stride": self._stride,
            "shape": [parts, features],
            "counts": packed(self._counts),
            "edges": packed(self._edges),
            "range": packed(np.array([self._low, self._high])),
            "waiting": packed(block),
            "width": block.shape[1],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> FeatureHistory:
        shaped("history", state, STATE)
        history = cls()
        history.rows, history.features = state["rows"], state["features"]
        history._stride = state["stride"]
        (parts, features), width = state["shape"], state["width"]
        counted = history.rows // BLOCK * BLOCK
        if parts != -(-counted // history._stride):
            raise ValueError(
                f"history: {parts} parts of {history._stride} rows, but {counted} rows"
            )
        shape = parts, features, KINDS
        counts = unpacked(state["counts"], np.int64, parts * features * KINDS)
        history._counts = counts.reshape(shape)
        history._edges = unpacked(state["edges"], np.float64, features * (BINS - 1)).reshape(
            features, BINS - 1
        )
        low, high = unpacked(state["range"], np.float64, 2 * features).reshape(2, features)
        history._low, history._high = low.copy(), high.copy()
        rows = history.rows % BLOCK
        if rows:
            waiting = unpacked(state["waiting"], np.float32, rows * width).reshape(rows, width)
            history._waiting = [waiting]
        return history


def _widened(values: NDArray[Any], size: int, axis: int, fill: float) -> NDArray[Any]:
    """Return an array with at least this size along an axis, filled up at its end."""
    more = size - values.shape[axis]
    if more <= 0:
        return values
    room = [(0, more if i == axis else 0) for i in range(values.ndim)]
    return np.pad(values, room, constant_values=fill)


def _cuts(values: Floats) -> list[float]:
    """Return the edges between bins for these values: one each if they are few, else equally full.

    >>> _cuts(np.array([3.0, 1.0, 3.0, 2.0])), len(_cuts(np.arange(100.0)))
    ([1.0, 2.0], 9)
    """
    distinct = np.unique(values)
    if len(distinct) > COMPARED:
        distinct = np.unique(np.quantile(values, np.arange(1, COMPARED + 1) / COMPARED))
    return [float(value) for value in distinct[:-1]]


def _joined(counts: NDArray[Any], edges: Floats, most: int) -> tuple[NDArray[Any], Floats]:
    """Join neighbouring bins, those with the fewest values first, until there are at most this many.

    >>> counts, edges = _joined(np.array([[5, 1, 0, 7]]), np.array([1.0, 2.0, 3.0]), 3)
    >>> counts.tolist(), edges.tolist()
    ([[5, 1, 7]], [1.0, 3.0])
    """
    while counts.shape[1] > most:
        totals = counts.sum(axis=0)
        i = int((totals[:-1] + totals[1:]).argmin())
        both = counts[:, [i, i + 1]].sum(axis=1)
        counts = np.delete(counts, i, axis=1)
        counts[:, i] = both
        edges = np.delete(edges, i)
    return counts, edges
