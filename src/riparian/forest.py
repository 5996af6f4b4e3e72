"""`OnlineForestClassifier`: the forest of the paper, for rows of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from riparian.parameters.docstrings import documented
from riparian.parameters.forests import Parameters
from riparian.parameters.schedules import Geometric, Schedule
from riparian.sklearn.row_forest import RowForestClassifier

if TYPE_CHECKING:
    from riparian.theory.certificate import Certificate


@documented
class OnlineForestClassifier(RowForestClassifier):
    """A random forest that learns a stream point by point and converges to the best classifier.

    Each tree sends every point to one of two streams at random: structure points decide where the
    tree splits, estimation points what it predicts. The forest is that of Denil, Matheson and
    de Freitas, *Consistency of Online Random Forests* (ICML 2013); the symbols are theirs.

    Parameters
    ----------
    As described in `riparian.parameters.forests.Parameters`.

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
    >>> from riparian import OnlineForestClassifier
    >>> from riparian.streams import GaussianMixture
    >>> mixture = GaussianMixture.paper()
    >>> forest = OnlineForestClassifier(n_estimators=10, random_state=0)
    >>> for batch in range(10):
    ...     X, y = mixture.sample(500, random_state=batch)
    ...     forest = forest.partial_fit(X, y)
    >>> forest.predict([[2.0, 2.0], [4.0, 0.0]])
    array([0, 2])
    """

    _parameters_class = Parameters

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        candidate_dims: float | Literal["sqrt", "4sqrt"] = "sqrt",
        split_points: int = 10,
        min_gain: float = 0.3,
        alpha: Schedule = Geometric(0.5, 1.1),  # noqa: B008, frozen
        beta: float | Schedule = 20.0,
        structure_fraction: float = 0.5,
        ignore_fraction: float = 0.0,
        fringe_size: int | None = None,
        kept_points: int | Literal["auto"] = "auto",
        max_memory: int | str | None = "512MB",
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
        self.min_gain = min_gain
        self.alpha = alpha
        self.beta = beta
        self.structure_fraction = structure_fraction
        self.ignore_fraction = ignore_fraction
        self.fringe_size = fringe_size
        self.kept_points = kept_points
        self.max_memory = max_memory
        self.voting = voting
        self.categorical_features = categorical_features
        self.max_categories = max_categories
        self.passes = passes
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def certificate(self, X: ArrayLike | None = None) -> Certificate:
        """The theorem checked against this forest: its conditions, how far they can be seen to hold at
        the points X (or over the leaves), and what must be assumed; see `riparian.theory`.
        """
        from riparian.theory.certificate import certificate  # which needs this module

        return certificate(self, X)
