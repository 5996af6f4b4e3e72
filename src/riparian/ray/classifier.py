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

    Shards are by trees, never by data: every tree sees every point, so the forest is the same to the
    last bit, whatever the shards. It has the same methods, and `save` writes the same file.

    Parameters
    ----------
    n_shards : int
        Into how many parts the trees are divided, each in a process of its own; by default as many
        as the cluster has CPUs. There are no more shards than trees.
    name : str
        With a name, the shards live on when this program ends, until `shutdown`; another program
        goes on with them by `attach`.
    checkpoint_dir : path, URI, or (filesystem, path)
        A place that all nodes see, in which shards write checkpoints, in a folder of the forest's
        name. A shard that dies then goes on from its last one, and gets again what came after.
        Without it, a lost shard is an error.
    checkpoint_every : int
        Rows from one checkpoint to the next. The batches since the oldest one wait in Ray's object
        store.
    in_flight : int
        Batches that may be under way before `partial_fit` waits.
    n_jobs : int
        Threads of each shard; -1 means as many as its node has processors.
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
    """`riparian.AdaptiveForestClassifier`, the forest for streams that change, in the same way.

    Parameters
    ----------
    n_shards : int
        Into how many parts the trees are divided; this and the next as of `RayForestClassifier`.
    name : str
        With it, the shards outlive this program.
    checkpoint_dir : path, URI, or (filesystem, path)
        A place that all nodes see.
    checkpoint_every : int
        Rows from one checkpoint to the next.
    in_flight : int
        Batches that may be under way.
    n_jobs : int
        Threads of each shard.
    As described in `riparian.parameters.forests.AdaptiveSettings`.
    """
