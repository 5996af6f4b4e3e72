"""Samples of rows: of a whole stream, or of the points that a forest keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from riparian.engine.draws import words
from riparian.model.rows import Rows, dense
from riparian.tools.checks import whole
from riparian.tools.packed import packed, unpacked
from riparian.tools.shapes import COUNT, shaped

if TYPE_CHECKING:
    from riparian.sklearn.row_forest import RowForest

SAMPLE_DRAW = 21  # as in R13

# What the state of a sample must look like.
STATE = {
    "size": COUNT,
    "seed": range(2**64),
    "received": COUNT,
    "words": str,
    "rows": str,
    "columns": COUNT,
}

SAMPLE_ROWS = 500  # enough for means that are drawn


def kept_sample(
    forest: RowForest, size: int = SAMPLE_ROWS
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return rows and weights of at most `size` kept points (R19), evenly spaced."""
    kept = forest.kept_points_
    n = len(kept.y)
    some = np.arange(min(n, size)) * n // max(1, min(n, size))
    return dense(kept.X[some]), kept.sample_weight[some]


def coded_rows(forest: RowForest, X: Any) -> Rows:
    """Rows as the forest has them, in float32: categories become codes, their places in `categories_`.

    A category that the forest does not know is missing (R22). This is what exported forests take.

    >>> import pandas as pd
    >>> from riparian import OnlineForestClassifier
    >>> frame = pd.DataFrame({"height": [1.0, 2.0], "kind": ["oak", "elm"]})
    >>> forest = OnlineForestClassifier(1, random_state=0).partial_fit(frame, [0, 1])
    >>> coded_rows(forest, pd.DataFrame({"height": [3.0, 4.0], "kind": ["elm", "yew"]})).tolist()
    [[3.0, 1.0], [4.0, nan]]
    """
    return forest.checked_points(X)


class RowSample:
    """At most `size` rows: those with the smallest words, which are drawn by the number of the row.

    So the sample does not depend on how the stream was cut into batches. A column that joins later
    is missing in older rows.

    >>> sample = RowSample(2)
    >>> for batch in np.arange(20.0).reshape(4, 5, 1):
    ...     sample.update(batch)
    >>> sample.rows.shape
    (2, 1)
    """

    def __init__(self, size: int = SAMPLE_ROWS, seed: int = 0) -> None:
        self.size = whole("size", size, at_least=1, at_most=10**7)
        self.seed = whole("seed", seed, at_least=0, at_most=2**64 - 1)
        self._received = 0
        self._words: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self._rows: NDArray[np.float32] | None = None

    @property
    def rows(self) -> NDArray[np.float32]:
        return np.empty((0, 0), dtype=np.float32) if self._rows is None else self._rows

    def update(self, X: Any) -> None:
        numbers = np.arange(self._received, self._received + X.shape[0])
        drawn = words(self.seed, (SAMPLE_DRAW,), numbers)
        self._received += len(numbers)
        X = X if issparse(X) else np.asarray(X)
        few = np.sort(np.argsort(drawn, kind="stable")[: self.size])
        rows = dense(X[few])
        all_words = np.concatenate([self._words, drawn[few]])
        all_rows = (
            rows if self._rows is None else np.concatenate([_widened(self._rows, rows), rows])
        )
        chosen = np.sort(np.argsort(all_words, kind="stable")[: self.size])
        self._words, self._rows = all_words[chosen], all_rows[chosen]

    def state(self) -> dict[str, Any]:
        """Return everything as JSON values; `from_state` continues from them exactly."""
        return {
            "size": self.size,
            "seed": self.seed,
            "received": self._received,
            "words": packed(self._words),
            "rows": packed(self.rows),
            "columns": self.rows.shape[1],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> RowSample:
        shaped("sample", state, STATE)
        sample = cls(state["size"], state["seed"])
        sample._received = int(state["received"])
        most = min(sample.size, sample._received)
        sample._words = unpacked(state["words"], np.uint64, most)
        if len(sample._words):
            shape = len(sample._words), int(state["columns"])
            sample._rows = unpacked(state["rows"], np.float32, shape[0] * shape[1]).reshape(shape)
        return sample


def _widened(old: NDArray[np.float32], new: NDArray[np.float32]) -> NDArray[np.float32]:
    if old.shape[1] >= new.shape[1]:
        return old
    wider = np.full((len(old), new.shape[1]), np.nan, dtype=np.float32)
    wider[:, : old.shape[1]] = old
    return wider
