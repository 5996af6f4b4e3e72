"""What can go wrong between machines, in words."""

from __future__ import annotations


class RayForestError(RuntimeError):
    """Something outside the forest went wrong. Each of its kinds is a class of its own."""


class ClusterError(RayForestError):
    """There is no cluster, or the shards do not start on it."""


class VersionsDiffer(ClusterError):
    """A node has another version of riparian, or none."""


class MemoryShort(RayForestError):
    """A shard does not fit into the memory of its node."""


class ShardLost(RayForestError):
    """A shard has died and cannot be made again."""


class CheckpointError(RayForestError):
    """Checkpoints cannot be written, or not be seen by everybody. Nothing is lost yet."""
