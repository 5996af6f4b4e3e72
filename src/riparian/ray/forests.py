"""The forests of `riparian` with their trees in shards."""

from __future__ import annotations

from riparian.adaptive import AdaptiveForestClassifier, AdaptiveForestRegressor
from riparian.forest import OnlineForestClassifier
from riparian.parameters.declare import constructed
from riparian.ray.spread import Spread, spreads
from riparian.regressor import OnlineForestRegressor


@constructed
@spreads(OnlineForestClassifier)
class RayForestClassifier(Spread, OnlineForestClassifier):
    """`riparian.OnlineForestClassifier` with its trees spread over a Ray cluster.

    A shard holds some of the trees, and every tree sees every point. So the number of shards does not
    change the forest. It has the same methods, and `save` writes the same file.

    Parameters
    ----------
    As described in `riparian.parameters.forests.PaperSettings`.

    Attributes
    ----------
    points_ : int
        The number of the next row of the stream.
    classes_ : ndarray
        The labels, sorted. A label that appears later joins them, unless `classes` was given.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, where X came with names.
    """


@constructed
@spreads(AdaptiveForestClassifier)
class RayAdaptiveForestClassifier(Spread, AdaptiveForestClassifier):
    """`riparian.AdaptiveForestClassifier` with its trees spread over a Ray cluster.

    Parameters
    ----------
    As described in `riparian.parameters.forests.AdaptiveSettings`.
    """


@constructed
@spreads(OnlineForestRegressor)
class RayForestRegressor(Spread, OnlineForestRegressor):
    """`riparian.OnlineForestRegressor` with its trees spread over a Ray cluster.

    It has the same methods, and `save` writes the same file.

    Parameters
    ----------
    As described in `riparian.parameters.forests.NumberSettings`.

    Attributes
    ----------
    points_ : int
        The number of the next row of the stream.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, where X came with names.
    """


@constructed
@spreads(AdaptiveForestRegressor)
class RayAdaptiveForestRegressor(Spread, AdaptiveForestRegressor):
    """`riparian.AdaptiveForestRegressor` with its trees spread over a Ray cluster.

    Parameters
    ----------
    As described in `riparian.parameters.forests.AdaptiveNumberSettings`.
    """
