"""`OnlineForestClassifier`: the forest of the paper, for rows of a matrix."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from riparian.estimator.rowwise import RowForestClassifier
from riparian.estimator.rules import TwoStreamRule
from riparian.estimator.schedules import Geometric, Schedule
from riparian.snapshot.save import to_bytes
from riparian.tools.files import write_whole

if TYPE_CHECKING:
    from riparian.theory.certificate import Certificate


class OnlineForestClassifier(TwoStreamRule, RowForestClassifier):
    """A random forest that learns a stream point by point and converges to the best classifier.

    Each tree sends every point to one of two streams at random: structure points decide where the
    tree splits, estimation points what it predicts. The forest is that of Denil, Matheson and
    de Freitas, *Consistency of Online Random Forests* (ICML 2013); the symbols are theirs.

    Parameters
    ----------
    n_estimators : int
        The number of trees.
    candidate_dims : float or "sqrt"
        λ: a leaf looks for its split in `1 + Poisson(λ)` dimensions; "sqrt" is the square root of
        the number of features.
    split_points : int
        m: a leaf chooses among thresholds taken from its first m structure points.
    min_gain : float
        τ: a leaf splits when a valid candidate has gained more than this, in bits.
    alpha : Geometric or Polynomial
        α(d): estimation points that each child of a leaf at depth d must hold.
    beta : float, Geometric or Polynomial
        β(d): a leaf that holds this many estimation points splits as soon as it can, whatever the
        gain. A number is a multiple of α.
    structure_fraction, ignore_fraction : float
        The share of points that a tree uses as structure points, and that it leaves out.
    fringe_size : int or None
        How many leaves of a tree may collect split statistics at the same time; this bounds the
        memory. None: all of them.
    max_memory : int, str or None
        A bound on the bytes that the forest holds, such as "500MB". Each tree has its equal part.
        It limits the fringe first; when even the leaves' histograms fill it, trees stop to grow and
        go on learning in the leaves they have (`stats()` says since when).
    voting : "average" or "majority"
        How trees are combined: by the mean of their class shares, or by one vote each, as in the
        paper.
    passes : int
        How often `fit` goes through the data. `partial_fit` learns what it is given, once.
    shuffle : bool
        Whether `fit` shuffles each pass: data sorted by class would ruin it. `partial_fit` keeps
        the order.
    class_weight : dict, "balanced" or None
        Weights by label; a label that is not named has weight 1. "balanced" gives every class the
        same weight in all, by the frequencies seen so far.
    random_state : int, RandomState or None
        The same seed and the same stream give the same forest, to the last bit, whatever the
        batches and the number of threads.
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
    >>> from riparian import OnlineForestClassifier
    >>> from riparian.streams import GaussianMixture
    >>> mixture = GaussianMixture.paper()
    >>> forest = OnlineForestClassifier(n_estimators=10, random_state=0)
    >>> for batch in range(10):
    ...     X, y = mixture.sample(500, random_state=batch)
    ...     forest = forest.partial_fit(X, y)
    >>> forest.predict([[2.0, 2.0], [8.0, 0.0]])
    array([0, 3])
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        candidate_dims: float | Literal["sqrt"] = "sqrt",
        split_points: int = 10,
        min_gain: float = 0.5,
        alpha: Schedule = Geometric(1, 1.05),  # noqa: B008, frozen
        beta: float | Schedule = 20.0,
        structure_fraction: float = 0.5,
        ignore_fraction: float = 0.0,
        fringe_size: int | None = None,
        max_memory: int | str | None = None,
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
        self.min_gain = min_gain
        self.alpha = alpha
        self.beta = beta
        self.structure_fraction = structure_fraction
        self.ignore_fraction = ignore_fraction
        self.fringe_size = fringe_size
        self.max_memory = max_memory
        self.voting = voting
        self.passes = passes
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def certificate(self, X: ArrayLike | None = None) -> Certificate:
        """The theorem held against this forest: its conditions, what can be seen of them at the
        points X (or over the leaves), and what must be believed; see `riparian.theory`.
        """
        from riparian.theory.certificate import certificate  # which needs this module

        return certificate(self, X)

    # -- snapshots --------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, prediction_only: bool = False) -> None:
        """Save the forest to a file, from which `riparian.load` brings it back.

        A crash at any moment leaves the file that was there or the new one, whole. With
        `prediction_only` the file is much smaller, and what comes back predicts the same but
        cannot learn.
        """
        write_whole(path, self.to_bytes(prediction_only=prediction_only))

    def to_bytes(self, *, prediction_only: bool = False) -> bytes:
        """What `save` writes; `riparian.from_bytes` reads it."""
        return to_bytes(self, prediction_only=prediction_only)
