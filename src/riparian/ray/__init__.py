"""A forest whose trees live on many machines, by Ray: the same forest to the last bit.

>>> from riparian.ray import RayForestClassifier
>>> RayForestClassifier(n_estimators=1000, n_shards=16).get_params()["n_shards"]
16
"""

from riparian.tools.optional import optional_module

optional_module("ray", needed_by="riparian.ray", extra="ray")

from riparian.ray.classifier import RayForestClassifier  # noqa: E402, Ray is there
from riparian.ray.errors import (  # noqa: E402
    CheckpointError,
    ClusterError,
    MemoryShort,
    RayForestError,
    ShardLost,
    VersionsDiffer,
)

__all__ = [
    "RayForestClassifier",
    "RayForestError",
    "ClusterError",
    "VersionsDiffer",
    "MemoryShort",
    "ShardLost",
    "CheckpointError",
]
