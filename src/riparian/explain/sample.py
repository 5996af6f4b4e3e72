"""Some rows of a stream, each row with the same chance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from riparian.engine.draws import words
from riparian.tools.checks import whole

SAMPLE_DRAW = 21  # as in R13


class RowSample:
    """At most `size` rows: those with the smallest words, which are drawn by the number of the row.

    So the sample does not depend on how the stream was cut into batches.

    >>> sample = RowSample(2)
    >>> for batch in np.arange(20.0).reshape(4, 5, 1):
    ...     sample.update(batch)
    >>> sample.rows.shape
    (2, 1)
    """

    def __init__(self, size: int = 500, seed: int = 0) -> None:
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
        few = np.sort(np.argsort(drawn, kind="stable")[: self.size])
        rows = X[few].toarray() if issparse(X) else np.asarray(X)[few]
        all_words = np.concatenate([self._words, drawn[few]])
        all_rows = rows if self._rows is None else np.concatenate([self._rows, rows])
        chosen = np.sort(np.argsort(all_words, kind="stable")[: self.size])
        self._words, self._rows = all_words[chosen], all_rows[chosen].astype(np.float32)
