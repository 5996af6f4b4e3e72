"""`SaffariForestClassifier`: the online forest of Saffari et al. (2009), for comparison.

It has one stream: the points that choose the splits also make the predictions, so there is no proof of
consistency. It differs from `riparian.forest` only in its rule; it shares tree, feature space and draws.
"""

from __future__ import annotations

from riparian.parameters.declare import constructed
from riparian.parameters.forests import SaffariParameters, SaffariSettings
from riparian.sklearn.row_forest import RowForestClassifier


@constructed
class SaffariForestClassifier(RowForestClassifier, SaffariSettings):
    """The online random forest of Saffari, Leistner, Santner, Godec and Bischof (2009).

    Each tree learns each point Poisson(1) times. A leaf with enough points splits where the gain is
    largest, and its children start with the counts of their side.

    Parameters
    ----------
    As described in `riparian.parameters.forests.SaffariSettings`.

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
