"""`SaffariForestClassifier`: the online forest of Saffari and others (2009), to compare with.

It has one stream: the points that choose the splits also make the predictions, so nothing is proved
of it. All but its rule is the forest of `riparian.forest`: the tree, the feature space, the draws.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from riparian.estimator.rowwise import RowForestClassifier
from riparian.estimator.rules import OneStreamRule


class SaffariForestClassifier(OneStreamRule, RowForestClassifier):
    """The online random forest of Saffari, Leistner, Santner, Godec and Bischof (2009).

    Each tree takes each point Poisson(1) times. A leaf that has enough points splits where the gain
    is largest, and its children start with the counts of their side.

    Parameters
    ----------
    n_estimators : int
        The number of trees.
    candidate_dims : int
        The number of dimensions in which a leaf looks for its split; all, where there are fewer.
    split_points : int
        The number of thresholds in each.
    thresholds : "points" or "range"
        What they are: the values of the first points that a leaf sees, or numbers drawn uniformly
        from the range of these.
    min_gain : float
        A leaf splits when a candidate has gained more than this, in bits.
    min_samples : int
        And when it holds at least this many points, each as often as it was taken, with those that
        it has from its parent.
    max_depth : int or None
        Leaves at this depth do not split; they keep no candidates, which bounds the memory.
    replacement_rate : float or None
        γ: at each point, one tree of more than 1/γ points, drawn at random, is replaced by a new one
        with the probability of its error on the points that it was not given. None: never. With it,
        trees learn one after the other.
    voting : "average" or "majority"
        How trees are combined: by the mean of their class shares, or by one vote each.
    passes : int
        How often `fit` goes through the data. `partial_fit` learns what it is given, once.
    shuffle : bool
        Whether `fit` shuffles each pass. `partial_fit` keeps the order.
    class_weight : dict, "balanced" or None
        Weights by label; a label that is not named has weight 1. "balanced" gives every class the
        same weight in all, by the frequencies seen so far.
    random_state : int, RandomState or None
        The same seed and the same stream give the same forest, to the last bit.
    n_jobs : int or None
        Threads: None is 1, -1 is all processors.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted. A label that appears later joins them, unless `classes` was given.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, where X came with names.

    Examples
    --------
    >>> from riparian import SaffariForestClassifier
    >>> from riparian.streams import GaussianMixture
    >>> X, y = GaussianMixture.paper().sample(5000, random_state=0)
    >>> forest = SaffariForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> forest.predict([[2.0, 2.0], [9.0, -1.0]])
    array([0, 3])
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        candidate_dims: int = 10,
        split_points: int = 10,
        thresholds: Literal["points", "range"] = "points",
        min_gain: float = 0.1,
        min_samples: int = 50,
        max_depth: int | None = None,
        replacement_rate: float | None = None,
        voting: Literal["average", "majority"] = "average",
        passes: int = 1,
        shuffle: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.candidate_dims = candidate_dims
        self.split_points = split_points
        self.thresholds = thresholds
        self.min_gain = min_gain
        self.min_samples = min_samples
        self.max_depth = max_depth
        self.replacement_rate = replacement_rate
        self.voting = voting
        self.passes = passes
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
