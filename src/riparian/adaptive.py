"""`AdaptiveForestClassifier`: a forest for streams that change (R23).

It has the two streams, the kept points and the looks of `riparian.forest`, but it forgets. A leaf splits
by its last points, and predicts by several memories that fade at different rates, of which the tree
trusts those that have predicted well of late. A tree whose error rises is replaced by an empty one.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from riparian.forest import OnlineForestClassifier
from riparian.parameters.docstrings import documented
from riparian.parameters.forests import AdaptiveParameters
from riparian.parameters.schedules import Geometric, Schedule


@documented
class AdaptiveForestClassifier(OnlineForestClassifier):
    """A forest that follows a stream whose classes change their ways.

    Use it where what was true last month need not be true today. Where nothing changes,
    `OnlineForestClassifier` is a little better, and provably converges to the best classifier. Here,
    too, the points that predict never choose a split, but a forest that forgets cannot converge.

    A tree is replaced when an ADWIN finds that its error has risen. Where the error has one mean, each
    test of its window raises a false alarm with probability `drift_confidence` at the most.

    Parameters
    ----------
    As described in `riparian.parameters.forests.AdaptiveParameters`.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted. A label that appears later joins them, unless `classes` was given.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, where X came with names.
    categories_ : dict
        The categories of each categorical feature, by its name or number, in the order of arrival.
    replacements_ : list of (int, int)
        The points, counted from 0, at which a tree was replaced, and the place of the tree.

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

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        candidate_dims: float | Literal["sqrt", "4sqrt"] = "4sqrt",
        split_points: int = 10,
        min_gain: float = 0.3,
        alpha: Schedule = Geometric(1, 1.05),  # noqa: B008, frozen
        beta: float | Schedule = 20.0,
        structure_fraction: float = 0.5,
        ignore_fraction: float = 0.0,
        fringe_size: int | None = None,
        kept_points: int | Literal["auto"] = "auto",
        max_memory: int | str | None = "512MB",
        drift_confidence: float = 0.01,
        leaf_points: int = 24,
        memories: tuple[float, ...] = (1 / 3, 0.8, 0.95, 1.0),
        fading: float = 0.98,
        voting: Literal["average", "majority"] = "average",
        categorical_features: ArrayLike | Literal["from_dtype"] | None = "from_dtype",
        max_categories: int | None = 100_000,
        passes: int = 1,
        shuffle: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            candidate_dims=candidate_dims,
            split_points=split_points,
            min_gain=min_gain,
            alpha=alpha,
            beta=beta,
            structure_fraction=structure_fraction,
            ignore_fraction=ignore_fraction,
            fringe_size=fringe_size,
            kept_points=kept_points,
            max_memory=max_memory,
            voting=voting,
            categorical_features=categorical_features,
            max_categories=max_categories,
            passes=passes,
            shuffle=shuffle,
            class_weight=class_weight,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.drift_confidence = drift_confidence
        self.leaf_points = leaf_points
        self.memories = memories
        self.fading = fading

    @property
    def replacements_(self) -> list[tuple[int, int]]:
        check_is_fitted(self)
        replacements: list[tuple[int, int]] = self.model_.engine.replacements()
        return replacements
