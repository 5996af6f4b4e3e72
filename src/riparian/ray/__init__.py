"""A forest whose trees live on many machines of a Ray cluster: exactly the same forest.

>>> from riparian.ray import RayForestClassifier
>>> RayForestClassifier(n_estimators=1000, n_shards=16).get_params()["n_shards"]
16
"""

from typing import TYPE_CHECKING, Any

from riparian.tools.optional import optional_module

optional_module("ray", needed_by="riparian.ray", extra="ray")

# A shard needs no scikit-learn, and starts in half the time without it.
_HOMES = dict.fromkeys(
    (
        "RayForestClassifier",
        "RayAdaptiveForestClassifier",
        "RayForestRegressor",
        "RayAdaptiveForestRegressor",
    ),
    "riparian.ray.forests",
) | dict.fromkeys(
    (
        "RayForestError",
        "ClusterError",
        "VersionsDiffer",
        "MemoryShort",
        "ShardLost",
        "CheckpointError",
    ),
    "riparian.ray.errors",
)

if TYPE_CHECKING:
    from riparian.ray.errors import (
        CheckpointError,
        ClusterError,
        MemoryShort,
        RayForestError,
        ShardLost,
        VersionsDiffer,
    )
    from riparian.ray.forests import (
        RayAdaptiveForestClassifier,
        RayAdaptiveForestRegressor,
        RayForestClassifier,
        RayForestRegressor,
    )
else:

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


__all__ = [
    "RayForestClassifier",
    "RayAdaptiveForestClassifier",
    "RayForestRegressor",
    "RayAdaptiveForestRegressor",
    "RayForestError",
    "ClusterError",
    "VersionsDiffer",
    "MemoryShort",
    "ShardLost",
    "CheckpointError",
]
