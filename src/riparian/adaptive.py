"""`AdaptiveForestClassifier` and `AdaptiveForestRegressor`: forests for streams that change (R27).

Their trees are those of the other forests, eager at first, but each has its own points. A leaf answers
from cells of several sizes and from memories of its last points; the forest trusts those that have
recently predicted well. A tree whose error rises is replaced by an empty one.
"""

from __future__ import annotations

from typing import ClassVar

from sklearn.utils.validation import check_is_fitted

from riparian.forest import OnlineForestClassifier
from riparian.parameters.declare import constructed
from riparian.parameters.forests import (
    AdaptiveNumberParameters,
    AdaptiveNumberSettings,
    AdaptiveParameters,
    AdaptiveSettings,
    NumberParameters,
)
from riparian.regressor import OnlineForestRegressor
from riparian.sklearn.base import Forest


class _Replacing(Forest):
    """A forest that replaces trees."""

    @property
    def replacements_(self) -> list[tuple[int, int]]:
        check_is_fitted(self)
        replacements: list[tuple[int, int]] = self.model_.engine.replacements()
        return replacements


@constructed
class AdaptiveForestClassifier(AdaptiveSettings, OnlineForestClassifier, _Replacing):
    """A forest for streams whose classes change over time.

    Use it if what was true last month may not be true today. On a stream that does not change,
    `OnlineForestClassifier` provably converges to the best classifier. This forest does not: a part of
    its answers comes from the last points of a leaf, and it replaces trees.

    A tree is replaced when an ADWIN detects that its error has risen. While the mean error does not
    change, each test of the window raises a false alarm with probability at most `drift_confidence`.

    Parameters
    ----------
    As described in `riparian.parameters.forests.AdaptiveSettings`.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted. A new label adds a class, unless `classes` was given.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        The names of the features, if X had names.
    categories_ : dict
        The categories of each categorical feature, by name or number, in order of arrival.
    replacements_ : list of (int, int)
        Each replacement of a tree: the number of the point, from 0, and the number of the tree.
    trust_ : dict
        The weight of each head in an answer: of cells by their size, in points, and of memories by their
        factor, which is below 1.

    Examples
    --------
    >>> from riparian import AdaptiveForestClassifier
    >>> from riparian.streams import GaussianMixture
    >>> X, y = GaussianMixture.paper().sample(6000, random_state=0)
    >>> y[3000:] = 4 - y[3000:]  # every class becomes another
    >>> forest = AdaptiveForestClassifier(n_estimators=10, random_state=0).partial_fit(X, y)
    >>> forest.predict([[2.0, 2.0], [4.0, 0.0]])
    array([4, 2])
    >>> min(point for point, tree in forest.replacements_) > 3000
    True
    """

    _parameters_class = AdaptiveParameters


@constructed
class AdaptiveForestRegressor(AdaptiveNumberSettings, OnlineForestRegressor, _Replacing):
    """A forest that predicts numbers on streams that change over time.

    It is the forest of `OnlineForestRegressor` with what `AdaptiveForestClassifier` adds: leaves answer
    from memories of their last targets as well, the forest trusts the cells and memories that have
    recently predicted well, and a tree whose error rises is replaced by an empty one. Nothing is proved
    about how closely it follows a stream that changes.

    Its answers follow the last target, as far as that has helped along the stream (`lag=1`): they are
    for the point that comes next. Use `lag=0` for answers about other points, such as a table that is
    predicted long after the stream has ended.

    The detector of a tree sees each error relative to the last errors of the same tree, so the unit of
    the target does not matter.

    Parameters
    ----------
    As described in `riparian.parameters.forests.AdaptiveNumberSettings`.

    Attributes
    ----------
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        The names of the features, if X had names.
    categories_ : dict
        The categories of each categorical feature, by name or number, in order of arrival.
    replacements_ : list of (int, int)
        Each replacement of a tree: the number of the point, from 0, and the number of the tree.
    trust_ : dict
        The weight of each head in an answer: of cells by their size, in points, and of memories by their
        factor, which is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from riparian import AdaptiveForestRegressor
    >>> X = np.random.default_rng(0).random((4000, 2))
    >>> y = 10 * X[:, 0]
    >>> y[2000:] = 10 - y[2000:]  # the target turns round
    >>> forest = AdaptiveForestRegressor(n_estimators=10, random_state=0).partial_fit(X, y)
    >>> forest.predict([[0.2, 0.5], [0.8, 0.5]]).round()
    array([8., 2.])
    >>> min(point for point, tree in forest.replacements_) > 2000
    True
    """

    _parameters_class: ClassVar[type[NumberParameters]] = AdaptiveNumberParameters
