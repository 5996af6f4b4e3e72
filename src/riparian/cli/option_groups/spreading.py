"""Where the trees of a run live: in this process, or in shards on a Ray cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer


def _spreading(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Beyond one machine", **more)


@dataclass(frozen=True)
class SpreadingOptions:
    """None of them changes the model."""

    ray: Annotated[
        str | None,
        _spreading(help="Spread the trees over a Ray cluster: the one that runs here (auto), one "
                   "that is started for this run (local), or the one at an address.",
                   metavar="auto|local|ADDRESS"),
    ] = None  # fmt: skip
    shards: Annotated[
        int | None,
        _spreading(help="Into how many parts. Default: the CPUs of the cluster.", min=1,
                   metavar="N"),
    ] = None  # fmt: skip
    shard_checkpoints: Annotated[
        str | None,
        _spreading(help="A directory or URI that all nodes see, for checkpoints of shards: one "
                   "that dies then comes back by itself.", metavar="DIR"),
    ] = None  # fmt: skip
