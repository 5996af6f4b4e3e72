"""Permutation importance along a stream: what the forest loses when a column says nothing.

Every row is tested as it is, and once more for each column, with a value there that another row had: one
of the last rows of the stream, drawn by the number of the row. So the result does not depend on how the
stream was cut into batches. It is measured on rows that the forest has not learned, and so is honest
where gains favour noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from riparian.engine.draws import words
from riparian.evaluation import LEAST_PROBABILITY, UNIT
from riparian.tools.checks import whole

if TYPE_CHECKING:
    from riparian.estimator.row_forest import RowForestClassifier

Floats = NDArray[np.float64]

PERMUTE_DRAW = 20  # as in R13: what else is drawn from the seed has another number

NORMAL_95 = 1.959964  # standard deviations either side that hold 95% of a normal distribution

CHUNK = 1024  # rows that are predicted at a time


@dataclass(frozen=True)
class Loss:
    """A mean over rows, and the interval that holds the true one in 95 of 100 cases."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Importance:
    """What a forest loses without the values of one feature."""

    feature: int
    accuracy: Loss  # how much lower the accuracy is
    log_loss: Loss  # how much higher the log loss is, in nats


class PermutationImportance:
    """The importance of features along a stream, each row tested before it is learned.

    Parameters
    ----------
    features : sequence of int or None
        The columns to test; None: all. Each costs as much as predicting the stream once more.
    window : int
        Values come from this many rows before the row. Memory holds these.
    seed : int
        Of the draws.

    Examples
    --------
    >>> from riparian import OnlineForestClassifier
    >>> rng = np.random.default_rng(0)
    >>> forest, importance = OnlineForestClassifier(10, random_state=0), PermutationImportance()
    >>> for day in range(20):
    ...     X = rng.normal(size=(100, 2))  # the second column says nothing
    ...     y = X[:, 0] > 0
    ...     if day > 0:
    ...         importance.update(forest, X, y)
    ...     forest = forest.partial_fit(X, y)
    >>> first, second = importance.results()
    >>> first.accuracy.low > 0.2, second.accuracy.low < 0.05
    (True, True)
    """

    def __init__(
        self, features: Sequence[int] | None = None, *, window: int = 1000, seed: int = 0
    ) -> None:
        self.features = (
            None if features is None else [whole("feature", f, 0, 2**31) for f in features]
        )
        self.window = whole("window", window, at_least=1, at_most=2**31)
        self.seed = whole("seed", seed, at_least=0, at_most=2**64 - 1)
        self.rows = 0  # tested
        self._received = 0
        self._recent: NDArray[np.float32] | None = None  # the last rows, at most `window`
        self._sums: NDArray[np.object_] | None = None  # per feature, see `_add`: whole numbers

    def update(self, forest: RowForestClassifier, X: ArrayLike, y: ArrayLike) -> None:
        """Test rows that the forest has not learned yet."""
        rows = forest._checked_points(X)
        labels = np.asarray(y).ravel()
        if len(labels) != rows.shape[0]:
            raise ValueError(
                f"y must hold one label for each of {rows.shape[0]} rows, got {len(labels)}"
            )
        for first in range(0, len(labels), CHUNK):
            chunk = rows[first : first + CHUNK]
            self._test(
                forest,
                np.ascontiguousarray(chunk.toarray() if issparse(chunk) else chunk),
                labels[first : first + CHUNK],
            )

    def results(self) -> list[Importance]:
        """One per feature that was tested, in their order; empty before the second row."""
        if self._sums is None or self.rows == 0:
            return []
        return [
            Importance(feature, _loss(a, b, self.rows, 1), _loss(c, d, self.rows, UNIT))
            for feature, (a, b, c, d) in zip(self._tested(), self._sums.tolist(), strict=True)
        ]

    def _tested(self) -> Sequence[int]:
        assert self._recent is not None
        return range(self._recent.shape[1]) if self.features is None else self.features

    def _test(self, forest: RowForestClassifier, X: NDArray[np.float32], y: NDArray[Any]) -> None:
        if self._recent is None:
            self._start(X.shape[1])
        assert self._recent is not None and self._sums is not None
        pool = np.concatenate([self._recent, X])
        row = np.arange(self._received, self._received + len(X))
        before = np.minimum(row, self.window)  # how many rows there are to draw from
        tested = before > 0  # the very first row has none
        there, truth = len(self._recent) + np.arange(len(X)), _columns_of(y, forest.classes_)
        right, loss = _scores(forest, X, truth)
        for i, feature in enumerate(self._tested()):
            draws = words(self.seed, (PERMUTE_DRAW, feature), row)
            source = there - 1 - (draws % np.maximum(before, 1).astype(np.uint64)).astype(np.int64)
            changed = X.copy()
            changed[:, feature] = pool[np.where(tested, source, there), feature]
            right_without, loss_without = _scores(forest, changed, truth)
            self._add(i, (right - right_without)[tested], (loss_without - loss)[tested])
        self.rows += int(tested.sum())
        self._received += len(X)
        self._recent = pool[-self.window :].copy()

    def _start(self, n_features: int) -> None:
        for feature in self.features or ():
            if feature >= n_features:
                raise ValueError(f"features must be below {n_features}, got {feature}")
        self._recent = np.empty((0, n_features), dtype=np.float32)
        self._sums = np.zeros((len(self._tested()), 4), dtype=object)

    def _add(self, i: int, lost: NDArray[np.int64], risen: Floats) -> None:
        """Sums and sums of squares, as whole numbers, which do not depend on batches."""
        assert self._sums is not None
        units = np.rint(risen * UNIT).astype(np.int64)
        squares = np.rint((risen * risen) * UNIT).astype(np.int64)
        for j, values in enumerate((lost, lost * lost, units, squares)):
            self._sums[i, j] += int(values.sum())


def _scores(
    forest: RowForestClassifier, X: NDArray[np.float32], truth: NDArray[np.intp]
) -> tuple[NDArray[np.int64], Floats]:
    """Of each row: whether the forest is right, and its log loss."""
    proba = forest._native.predict_proba(X, forest._workers())
    of_truth = np.where(truth >= 0, proba[np.arange(len(X)), truth], 0.0)
    right = (proba.argmax(axis=1) == truth).astype(np.int64)
    return right, -np.log(np.maximum(of_truth, LEAST_PROBABILITY))


def _columns_of(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """The column of each label; -1 of one that is not known."""
    place = {label: i for i, label in enumerate(classes.tolist())}
    return np.array([place.get(label, -1) for label in y.tolist()], dtype=np.intp)


def _loss(sum_: int, squares: int, rows: int, unit: int) -> Loss:
    mean = sum_ / (rows * unit)
    spread = max(0.0, squares / (rows * unit) - mean * mean)
    half = NORMAL_95 * math.sqrt(spread / rows)
    return Loss(mean, mean - half, mean + half)
