"""`--pair`: two features by their names."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from riparian.sources.errors import BadUsage, shown


class Named(Protocol):
    """What knows the names of features: columns, or a model."""

    @property
    def n_features(self) -> int: ...
    @property
    def feature_names(self) -> list[str] | None: ...


def check_pair(pair: tuple[str, str] | None, html: Path | None) -> None:
    """What can be known before a row is read."""
    if pair is None:
        return
    if html is None:
        raise BadUsage("--pair is shown in the report: give --html, too")
    if pair[0] == pair[1]:
        raise BadUsage(f"--pair: two different features are needed, got {shown(pair[0])} twice")


def numbers_of(pair: tuple[str, str], named: Named) -> tuple[int, int]:
    """Their places, by name or, where features have none, by number."""
    names = named.feature_names or [str(i) for i in range(named.n_features)]
    for name in pair:
        if name not in names:
            raise BadUsage(f"--pair: the model has no feature {shown(name)}")
    return names.index(pair[0]), names.index(pair[1])
