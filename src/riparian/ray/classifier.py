"""The forests of `riparian` with their trees in shards."""

from __future__ import annotations

from riparian.adaptive import AdaptiveForestClassifier
from riparian.forest import OnlineForestClassifier
from riparian.parameters.declare import constructed
from riparian.ray.spread import Spread, spreads


@constructed
@spreads(OnlineForestClassifier)
class RayForestClassifier(Spread, OnlineForestClassifier):
    """`riparian.OnlineForestClassifier` with its trees spread over a Ray cluster.

    A shard holds some of the trees, and every tree sees every point. So the number of shards does not
    change the forest. It has the same methods, and `save` writes the same file.

    Parameters
    ----------
    n_shards : int
        The number of parts that the trees are divided into, each in a process of its own. The
        default is the number of CPUs of the cluster. There are no more shards than trees.
    name : str
        With a name, the shards keep running when this program ends, until `shutdown`; another
        program can continue with them through `attach`.
    checkpoint_dir : path, URI, or (filesystem, path)
        A place that all nodes see. Shards write checkpoints there, in a folder with the name of
        the forest. A shard that dies is restored from its last checkpoint, and receives the later
        batches again. Without it, a lost shard is an error.
    checkpoint_every : int
        The number of rows between two checkpoints. The batches since the oldest checkpoint stay in
        Ray's object store.
    in_flight : int
        The number of batches that may be in flight before `partial_fit` waits.
    n_jobs : int
        The number of threads of each shard; -1 means one per processor of its node.
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
    n_shards : int
        The number of parts that the trees are divided into. This and the next parameters are those
        of `RayForestClassifier`.
    name : str
        With a name, the shards keep running when this program ends.
    checkpoint_dir : path, URI, or (filesystem, path)
        A place that all nodes see, for checkpoints.
    checkpoint_every : int
        The number of rows between two checkpoints.
    in_flight : int
        The number of batches that may be in flight.
    n_jobs : int
        The number of threads of each shard.
    As described in `riparian.parameters.forests.AdaptiveSettings`.
    """
