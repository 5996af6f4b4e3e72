"""Permutation importance along a stream: what the forest loses when a column is shuffled.

Every row is tested as it is, and once more for each column, with a value there that another row had: one
of the points that the forest keeps, or where it keeps none, of the last rows tested. It is drawn by the
number of the row, so for the same forest the result does not depend on how the stream was cut into
batches. It is measured on rows that the forest has not learned, and so is honest where gains favour
noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riparian.engine.draws import words
from riparian.evaluation.classes import LEAST_PROBABILITY
from riparian.evaluation.fixed_point import SMALLEST, exact_sum, exact_sum_of_squares, root
from riparian.model.numbers import Numbers, checked_numbers
from riparian.model.rows import dense
from riparian.tools.checks import whole

if TYPE_CHECKING:
    from riparian.sklearn.row_forest import RowForest

Floats = NDArray[np.float64]

PERMUTE_DRAW = 20  # as in R13: what else is drawn from the seed has another number

NORMAL_95 = 1.959964  # standard deviations either side that hold 95% of a normal distribution

CHUNK = 1024  # rows that are predicted at a time

DEFAULT_WINDOW = 1000  # of a forest that keeps no points


@dataclass(frozen=True)
class Loss:
    """A mean over rows, and the interval that holds the true one in 95 of 100 cases."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Importance:
    """What a forest of classes loses without the values of one feature."""

    feature: int
    accuracy: Loss  # how much lower the accuracy is
    log_loss: Loss  # how much higher the log loss is, in nats

    @property
    def lost(self) -> Loss:
        """The loss by which features are compared: that of accuracy."""
        return self.accuracy


@dataclass(frozen=True)
class NumberImportance:
    """What a forest of numbers loses without the values of one feature (R26)."""

    feature: int
    squared_error: Loss  # how much higher the mean squared error is
    absolute_error: Loss  # how much higher the mean absolute error is

    @property
    def lost(self) -> Loss:
        """The loss by which features are compared: the absolute error, in the unit of the target."""
        return self.absolute_error


class PermutationImportance:
    """The importance of features along a stream, each row tested before it is learned.

    Parameters
    ----------
    features : sequence of int or None
        The columns to test; None: all. Each costs as much as predicting the stream once more.
    window : int or None
        Values come from this many tested rows before the row; memory holds these. None: from the
        points that the forest keeps, and where it keeps none, from 1000 rows before the row.
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
        self, features: Sequence[int] | None = None, *, window: int | None = None, seed: int = 0
    ) -> None:
        self.features = (
            None if features is None else [whole("feature", f, 0, 2**31) for f in features]
        )
        self.window = None if window is None else whole("window", window, 1, 2**31)
        self.seed = whole("seed", seed, at_least=0, at_most=2**64 - 1)
        self.rows = 0  # tested
        self._received = 0
        self._recent: NDArray[np.float32] | None = None  # the last rows, if values come from them
        self._sums: NDArray[np.object_] | None = None  # per feature, see `_add`: exact
        self._of: type[Importance | NumberImportance] = Importance

    def update(self, forest: RowForest, X: ArrayLike, y: ArrayLike) -> None:
        """Test rows that the forest has not learned yet."""
        rows = forest.checked_points(X)
        of_numbers = isinstance(forest.model_.target, Numbers)
        self._of = NumberImportance if of_numbers else Importance
        labels = checked_numbers(y) if of_numbers else np.asarray(y).ravel()
        if len(labels) != rows.shape[0]:
            raise ValueError(
                f"y must hold one label for each of {rows.shape[0]} rows, got {len(labels)}"
            )
        for first in range(0, len(labels), CHUNK):
            chunk = rows[first : first + CHUNK]
            self._test(forest, dense(chunk), labels[first : first + CHUNK])

    def results(self) -> list[Any]:
        """One per feature that was tested, in their order; empty before the second row.

        They are of type `Importance` for a forest of classes, and `NumberImportance` for numbers.
        """
        if self._sums is None or self.rows < 2:  # one row has no spread
            return []
        return [
            self._of(feature, _loss(a, b, self.rows), _loss(c, d, self.rows))
            for feature, (a, b, c, d) in zip(self._tested(), self._sums.tolist(), strict=True)
        ]

    def _tested(self) -> Sequence[int]:
        assert self._sums is not None
        return range(len(self._sums)) if self.features is None else self.features

    def _test(self, forest: RowForest, X: NDArray[np.float32], y: NDArray[Any]) -> None:
        if self._sums is None:
            self._start(X.shape[1])
        assert self._sums is not None
        if self.features is None and len(self._sums) != X.shape[1]:
            raise ValueError(
                f"the forest has {X.shape[1]} columns now and had {len(self._sums)} at first: "
                "name the features to test"
            )
        pool = self._pool(forest, X)
        row = np.arange(self._received, self._received + len(X))
        tested = pool.tested
        of_numbers = self._of is NumberImportance
        truth: NDArray[Any] = y
        if not of_numbers:
            truth = _columns_of(y, forest.model_.class_target.classes)
        losses = _errors if of_numbers else _mistakes
        before = losses(forest, X, truth)
        for i, feature in enumerate(self._tested()):
            draws = words(self.seed, (PERMUTE_DRAW, feature), row)
            changed = X.copy()
            changed[tested, feature] = pool.values(feature, draws)[tested]
            risen = losses(forest, changed, truth) - before
            self._add(i, risen[:, tested])
        self.rows += int(tested.sum())
        self._received += len(X)

    def _start(self, n_features: int) -> None:
        for feature in self.features or ():
            if feature >= n_features:
                raise ValueError(f"features must be below {n_features}, got {feature}")
        tested = range(n_features) if self.features is None else self.features
        self._sums = np.zeros((len(tested), 4), dtype=object)

    def _pool(self, forest: RowForest, X: NDArray[np.float32]) -> _Kept | _Window:
        """Return the source of values for these rows. This moves a window on."""
        if self.window is None and _keeps(forest):
            return _Kept(forest, len(X))
        window = DEFAULT_WINDOW if self.window is None else self.window
        before = np.empty((0, X.shape[1]), np.float32) if self._recent is None else self._recent
        if before.shape[1] < X.shape[1]:  # columns have joined, and are missing in older rows
            wider = np.full((len(before), X.shape[1]), np.nan, dtype=np.float32)
            wider[:, : before.shape[1]] = before
            before = wider
        rows = np.concatenate([before, X])
        self._recent = rows[-window:].copy()
        return _Window(rows, np.arange(len(before), len(rows)), window)

    def _add(self, i: int, risen: Floats) -> None:
        """Add exact sums and sums of squares of both losses, which do not depend on batches."""
        assert self._sums is not None
        for j, values in enumerate(risen):
            self._sums[i, 2 * j] += exact_sum(values)
            self._sums[i, 2 * j + 1] += exact_sum_of_squares(values)


class _Kept:
    """The points that the forest keeps (R19)."""

    def __init__(self, forest: RowForest, rows: int) -> None:
        self._forest = forest
        self.tested = np.ones(rows, dtype=bool)

    def values(self, feature: int, draws: NDArray[np.uint64]) -> NDArray[np.float32]:
        values: NDArray[np.float32] = self._forest.model_.engine.kept_values(feature, draws)
        return values


class _Window:
    """The rows before each row."""

    def __init__(self, rows: NDArray[np.float32], there: NDArray[np.int64], window: int) -> None:
        self._rows = rows
        self._there = there  # per row that is tested: its place
        self._before = np.minimum(there, window)  # how many rows there are to draw from
        self.tested: NDArray[np.bool_] = there > 0  # the very first row has none

    def values(self, feature: int, draws: NDArray[np.uint64]) -> NDArray[np.float32]:
        back = (draws % np.maximum(self._before, 1).astype(np.uint64)).astype(np.int64)
        source = np.where(self.tested, self._there - 1 - back, self._there)
        values: NDArray[np.float32] = self._rows[source, feature]
        return values


def _keeps(forest: RowForest) -> bool:
    """Return whether the forest has kept points."""
    return len(forest.model_.engine.kept_values(0, np.zeros(1, dtype=np.uint64))) > 0


def _mistakes(forest: RowForest, X: NDArray[np.float32], truth: NDArray[np.intp]) -> Floats:
    """Return, for each row, whether the prediction is wrong, and its log loss."""
    proba = forest.model_.engine.predict_proba(X, forest.threads())
    of_truth = np.where(truth >= 0, proba[np.arange(len(X)), truth], 0.0)
    wrong = proba.argmax(axis=1) != truth
    return np.stack([wrong, -np.log(np.maximum(of_truth, LEAST_PROBABILITY))])


def _errors(forest: RowForest, X: NDArray[np.float32], truth: Floats) -> Floats:
    """Return the squared and the absolute error of each row."""
    errors = truth - forest.model_.predict(X, forest.threads())
    return np.stack([errors * errors, np.abs(errors)])


def _columns_of(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the column of each label, or -1 if it is unknown."""
    place = {label: i for i, label in enumerate(classes.tolist())}
    return np.array([place.get(label, -1) for label in y.tolist()], dtype=np.intp)


def _loss(total: int, squares: int, rows: int) -> Loss:
    exact = Fraction(total, rows << SMALLEST)
    spread = max(Fraction(0), Fraction(squares, rows << (2 * SMALLEST)) - exact * exact)
    mean, half = float(exact), NORMAL_95 * root(spread / (rows - 1))
    return Loss(mean, mean - half, mean + half)
