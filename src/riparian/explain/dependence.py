"""Partial dependence: how predictions change with the values of one feature, or two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riparian.model.numbers import Numbers
from riparian.model.rows import dense
from riparian.tools.checks import whole

if TYPE_CHECKING:
    from riparian.sklearn.row_forest import RowForest

Floats = NDArray[np.float64]

SHOWN = (0.02, 0.98)  # quantiles: outside there are too few rows to say much


@dataclass(frozen=True, eq=False)
class Dependence:
    """The mean prediction for some rows, for each value of one feature."""

    feature: int
    values: NDArray[np.float32]
    predictions: Floats  # the probabilities: (values, classes); or the numbers: (values,)

    @property
    def probabilities(self) -> Floats:
        """The predictions of a forest of classes, under their name in riparian 0.2."""
        return self.predictions


@dataclass(frozen=True, eq=False)
class Plane:
    """The predictions where two features vary, and all others are the medians of some rows."""

    across: int
    up: int
    values_across: NDArray[np.float32]
    values_up: NDArray[np.float32]
    predictions: Floats  # the probabilities: (up, across, classes); or the numbers: (up, across)

    @property
    def probabilities(self) -> Floats:
        """The predictions of a forest of classes, under their name in riparian 0.2."""
        return self.predictions


def partial_dependence(
    forest: RowForest, X: Any, feature: int, *, points: int = 30
) -> Dependence | None:
    """Return the mean prediction over rows X, with the feature set to one value after the other.

    The values are those that occur, or evenly spaced ones where there are more than `points`; of a
    categorical feature the codes of the commonest categories (R22). None where the feature is
    missing in all rows.

    >>> from riparian import OnlineForestClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> forest = OnlineForestClassifier(10, random_state=0).fit(X, X[:, 0] > 0)
    >>> found = partial_dependence(forest, X[:100], 0, points=5)
    >>> found.predictions[0, 1] < 0.2, found.predictions[-1, 1] > 0.8
    (np.True_, np.True_)
    """
    rows = _dense(forest, X)
    feature = whole("feature", feature, at_least=0, at_most=rows.shape[1] - 1)
    points = whole("points", points, at_least=2, at_most=10**4)
    values = tried(forest, rows, feature, points)
    if len(values) == 0:
        return None
    means = []
    for value in values:
        rows[:, feature] = value
        means.append(answers(forest, rows).mean(axis=0))
    return Dependence(feature, values, np.array(means))


def plane(forest: RowForest, X: Any, across: int, up: int, *, points: int = 40) -> Plane | None:
    """Return predictions over the plane of two features, with the others at the medians of X.

    Of a categorical feature that is its commonest category. None where one of the two is missing in
    all rows.
    """
    rows = _dense(forest, X)
    across = whole("across", across, at_least=0, at_most=rows.shape[1] - 1)
    up = whole("up", up, at_least=0, at_most=rows.shape[1] - 1)
    if across == up:
        raise ValueError(f"across and up must be different features, got {across} twice")
    points = whole("points", points, at_least=2, at_most=10**4)
    values_across, values_up = (tried(forest, rows, feature, points) for feature in (across, up))
    if len(values_across) == 0 or len(values_up) == 0:
        return None
    middle = [_middle(forest, rows, feature) for feature in range(rows.shape[1])]
    asked = np.tile(np.array(middle, dtype=np.float32), (len(values_up) * len(values_across), 1))
    asked[:, across] = np.tile(values_across, len(values_up))
    asked[:, up] = np.repeat(values_up, len(values_across))
    predicted = answers(forest, asked)
    shape = len(values_up), len(values_across), *predicted.shape[1:]
    return Plane(across, up, values_across, values_up, predicted.reshape(shape))


def answers(forest: RowForest, rows: NDArray[np.float32]) -> Floats:
    """Return the probabilities of each row, or its number, for rows as the engine takes them."""
    model = forest.model_
    means = model.target.answers(model.engine, rows, forest.threads())
    return model.target.predicted(means) if isinstance(model.target, Numbers) else means


def grid(column: NDArray[np.float32], points: int) -> NDArray[np.float32]:
    """Return the values to try: those that occur, or evenly spaced ones in the middle of them."""
    there = column[~np.isnan(column)]
    distinct = np.unique(there)
    if len(distinct) <= points:
        return distinct
    low, high = np.quantile(there.astype(np.float64), SHOWN)
    return np.unique(np.linspace(low, high, points).astype(np.float32))


def commonest(column: NDArray[np.float32], most: int) -> NDArray[np.float32]:
    """The codes that occur most often, the smallest among equals; in their own order."""
    codes, times = np.unique(column[~np.isnan(column)], return_counts=True)
    return np.sort(codes[np.argsort(-times, kind="stable")[:most]])


def is_categorical(forest: RowForest, feature: int) -> bool:
    return feature in forest.model_.categories


def tried(
    forest: RowForest, rows: NDArray[np.float32], feature: int, points: int
) -> NDArray[np.float32]:
    values = commonest if is_categorical(forest, feature) else grid
    return values(rows[:, feature], points)


def _middle(forest: RowForest, rows: NDArray[np.float32], feature: int) -> float:
    column = rows[:, feature]
    there = column[~np.isnan(column)]
    if len(there) == 0:
        return float("nan")
    if is_categorical(forest, feature):
        return float(commonest(there, 1)[0])
    return float(np.median(there))


def _dense(forest: RowForest, X: Any) -> NDArray[np.float32]:
    return dense(forest.checked_points(X)).copy()
