"""`OnlineForestClassifier`: the forest of the paper, for rows of a matrix."""

from __future__ import annotations

from typing import ClassVar

from riparian.parameters.declare import constructed
from riparian.parameters.forests import PaperParameters, PaperSettings
from riparian.sklearn.row_forest import RowForestClassifier, TwoStreamForest


@constructed
class OnlineForestClassifier(TwoStreamForest, RowForestClassifier, PaperSettings):
    """A random forest that learns a stream point by point and converges to the best classifier.

    Each tree assigns every point at random to one of two streams: structure points decide where the
    tree splits, and estimation points decide what it predicts. The forest is that of Denil, Matheson
    and de Freitas, *Consistency of Online Random Forests* (ICML 2013); the symbols are theirs.

    Parameters
    ----------
    As described in `riparian.parameters.forests.PaperSettings`.

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

    _parameters_class: ClassVar[type[PaperParameters]] = PaperParameters
