"""Errors of forests on a cluster."""

from __future__ import annotations


class RayForestError(RuntimeError):
    """Something outside the forest went wrong. The subclasses say what."""


class ClusterError(RayForestError):
    """There is no cluster, or shards do not start on it."""


class VersionsDiffer(ClusterError):
    """A node has another version of riparian, or none."""


class MemoryShort(RayForestError):
    """A shard does not fit into the memory of its node."""


class ShardLost(RayForestError):
    """A shard has died and cannot be restored."""


class CheckpointError(RayForestError):
    """Checkpoints cannot be written, or some node cannot see them. Nothing is lost yet."""
