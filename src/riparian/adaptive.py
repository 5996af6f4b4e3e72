"""`AdaptiveForestClassifier`: a forest for streams that change (R23).

It has the two streams, the kept points and the looks of `riparian.forest`, but it forgets. A leaf splits
by its last points, and predicts from several memories that fade at different rates. The tree trusts the
memories that have recently predicted well. A tree whose error rises is replaced by an empty one.
"""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from riparian.forest import OnlineForestClassifier
from riparian.parameters.declare import constructed
from riparian.parameters.forests import AdaptiveParameters, AdaptiveSettings


@constructed
class AdaptiveForestClassifier(AdaptiveSettings, OnlineForestClassifier):
    """A forest for streams whose classes change over time.

    Use it if what was true last month may not be true today. On a stream that does not change,
    `OnlineForestClassifier` is a little better, and provably converges to the best classifier. In this
    forest, too, points that vote never choose a split, but a forest that forgets cannot converge.

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
