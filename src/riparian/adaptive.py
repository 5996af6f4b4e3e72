"""`AdaptiveForestClassifier`: a forest for streams that change (R23).

It has the two streams, the kept points and the looks of `riparian.forest`, but it forgets. A leaf splits
by its last points, and predicts by several memories that fade at different rates, of which the tree
trusts those that have predicted well of late. A tree whose error rises is replaced by an empty one.
"""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from riparian.forest import OnlineForestClassifier
from riparian.parameters.declare import constructed
from riparian.parameters.forests import AdaptiveParameters, AdaptiveSettings


@constructed
class AdaptiveForestClassifier(AdaptiveSettings, OnlineForestClassifier):
    """A forest that follows a stream whose classes change their ways.

    Use it where what was true last month need not be true today. Where nothing changes,
    `OnlineForestClassifier` is a little better, and provably converges to the best classifier. Here,
    too, the points that predict never choose a split, but a forest that forgets cannot converge.

    A tree is replaced when an ADWIN finds that its error has risen. Where the error has one mean, each
    test of its window raises a false alarm with probability `drift_confidence` at the most.

    Parameters
    ----------
    As described in `riparian.parameters.forests.AdaptiveSettings`.

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

    @property
    def replacements_(self) -> list[tuple[int, int]]:
        check_is_fitted(self)
        replacements: list[tuple[int, int]] = self.model_.engine.replacements()
        return replacements
