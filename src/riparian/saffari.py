"""`SaffariForestClassifier`: the online forest of Saffari and others (2009), to compare with.

It has one stream: the points that choose the splits also make the predictions, so nothing is proved
about it. It differs from `riparian.forest` only by its rule; tree, feature space and draws are shared.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from riparian.parameters.docstrings import documented
from riparian.parameters.forests import SaffariParameters
from riparian.sklearn.row_forest import RowForestClassifier


@documented
class SaffariForestClassifier(RowForestClassifier):
    """The online random forest of Saffari, Leistner, Santner, Godec and Bischof (2009).

    Each tree takes each point Poisson(1) times. A leaf that has enough points splits where the gain
    is largest, and its children start with the counts of their side.

    Parameters
    ----------
    As described in `riparian.parameters.forests.SaffariParameters`.

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

    Examples
    --------
    >>> from riparian import SaffariForestClassifier
    >>> from riparian.streams import GaussianMixture
    >>> X, y = GaussianMixture.paper().sample(5000, random_state=0)
    >>> forest = SaffariForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> forest.predict([[2.0, 2.0], [9.0, -1.0]])
    array([0, 3])
    """

    _parameters_class = SaffariParameters

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
        categorical_features: ArrayLike | Literal["from_dtype"] | None = "from_dtype",
        max_categories: int | None = 100_000,
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
        self.categorical_features = categorical_features
        self.max_categories = max_categories
        self.passes = passes
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
