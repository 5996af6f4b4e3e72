"""Where `riparian learn` writes its model and its checkpoints."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from riparian.sources.errors import BadUsage
from riparian.sources.formats import PACKED, STDIN


def _saving(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Saving", **more)


@dataclass(frozen=True)
class SavingOptions:
    """Files to write, and how often."""

    model: Annotated[
        Path | None,
        _saving("--model", "-m", help="Where to write the model. Default: beside you, named like the "
                "first source: loans.csv gives loans.riparian.", metavar="FILE"),
    ] = None  # fmt: skip
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

    def model_path(self, sources: Sequence[str]) -> Path:
        """The file of the model. One that nobody named does not replace another."""
        if self.model is not None:
            return self.model
        name = os.path.basename(sources[0])
        for packed in PACKED:
            name = name.removesuffix(packed)
        path = Path(os.path.splitext(name)[0] + ".riparian")
        if sources[0] == STDIN or glob.has_magic(name):
            raise BadUsage("--model must name the file to write: the source has no name to go by")
        if path.exists():
            raise BadUsage(f"{path} is there already: name the file to write with --model")
        return path

    def checkpoint_path(self, model: Path) -> Path:
        return self.checkpoint or model.with_name(f"{model.name}.checkpoint")
