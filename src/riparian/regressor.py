"""`OnlineForestRegressor`: the forest for numbers (R26)."""

from __future__ import annotations

from typing import ClassVar

from riparian.parameters.declare import constructed
from riparian.parameters.forests import NumberParameters, NumberSettings
from riparian.sklearn.row_forest import RowForestRegressor, TwoStreamForest


@constructed
class OnlineForestRegressor(TwoStreamForest, RowForestRegressor, NumberSettings):
    """A random forest that learns to predict numbers from a stream, point by point.

    It is the forest of `OnlineForestClassifier` with means in place of class shares, and with the
    squared error in place of the entropy. While all points are kept, every point chooses splits and
    votes; afterwards, each has one of these two roles in each tree.

    Targets are finite and at most 2^500 in size. Predictions are precise to 2^-28 of the largest
    difference between a target and the first target of the stream.

    Parameters
    ----------
    As described in `riparian.parameters.forests.NumberSettings`.

    Attributes
    ----------
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        The names of the features, if X had names.
    categories_ : dict
        The categories of each categorical feature, by name or number, in order of arrival.

    Examples
    --------
    >>> import numpy as np
    >>> from riparian import OnlineForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> forest = OnlineForestRegressor(n_estimators=10, random_state=0)
    >>> for batch in range(10):
    ...     X = rng.random((200, 2))
    ...     forest = forest.partial_fit(X, 100 + 10 * X[:, 0])
    >>> forest.predict([[0.2, 0.5], [0.8, 0.5]]).round()
    array([102., 108.])
    """

    _parameters_class: ClassVar[type[NumberParameters]] = NumberParameters
