"""Where `riparian learn` writes its model and its checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer


def _saving(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Saving", **more)


@dataclass(frozen=True)
class SavingOptions:
    """Files to write, and how often."""

    model: Annotated[
        Path, _saving("--model", "-m", help="Where to write the model.", metavar="FILE")
    ]
    checkpoint_every: Annotated[
        str | None,
        _saving(help="Write a checkpoint every N rows (10000) or seconds (30s).", metavar="N"),
    ] = None
    checkpoint: Annotated[
        Path | None,
        _saving(help="Where to write checkpoints. Default: MODEL.checkpoint.", metavar="FILE"),
    ] = None
    resume: Annotated[
        bool, _saving("--resume", help="Continue from the checkpoint of the same command.")
    ] = False

    def checkpoint_path(self) -> Path:
        return self.checkpoint or self.model.with_name(f"{self.model.name}.checkpoint")
