"""Online random forests that provably learn.

A riparian forest grows along a stream of water; these forests grow on a stream of data. They keep only
the last points, their memory is bounded, and their predictions converge to the best ones (Denil,
Matheson and de Freitas, *Consistency of Online Random Forests*, ICML 2013).
"""

from typing import TYPE_CHECKING, Any

# A name is imported when it is first used: importing scikit-learn takes a second, and not
# everything here needs it (`riparian --help`, `riparian.Geometric`).
_HOMES = {
    "OnlineForestClassifier": "riparian.forest",
    "OnlineForestRegressor": "riparian.regressor",
    "AdaptiveForestClassifier": "riparian.adaptive",
    "AdaptiveForestRegressor": "riparian.adaptive",
    "SaffariForestClassifier": "riparian.saffari",
    "Geometric": "riparian.schedule",
    "Polynomial": "riparian.schedule",
    "ConsistencyWarning": "riparian.schedule",
    "load": "riparian.loading",
    "from_bytes": "riparian.loading",
    "SnapshotError": "riparian.snapshot.errors",
}

if TYPE_CHECKING:
    from riparian.adaptive import AdaptiveForestClassifier, AdaptiveForestRegressor
    from riparian.forest import OnlineForestClassifier
    from riparian.loading import from_bytes, load
    from riparian.regressor import OnlineForestRegressor
    from riparian.saffari import SaffariForestClassifier
    from riparian.schedule import ConsistencyWarning, Geometric, Polynomial
    from riparian.snapshot.errors import SnapshotError

    __version__: str
else:

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version

            value = version("riparian")
        elif name in _HOMES:
            from importlib import import_module

            value = getattr(import_module(_HOMES[name]), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, "__version__"})


__all__ = [
    "OnlineForestClassifier",
    "OnlineForestRegressor",
    "AdaptiveForestClassifier",
    "AdaptiveForestRegressor",
    "SaffariForestClassifier",
    "Geometric",
    "Polynomial",
    "ConsistencyWarning",
    "load",
    "from_bytes",
    "SnapshotError",
]
