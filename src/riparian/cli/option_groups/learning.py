"""Options of `riparian learn`: how to go through the stream, and where the model goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from riparian.cli.learning.learner import BIG_BLOCK, Course


def _going(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Going through the stream", **more)


@dataclass(frozen=True)
class StreamOptions:
    """How to go through the stream."""

    passes: Annotated[int, _going(help="How often.", min=1, metavar="N")] = 1
    shuffle_window: Annotated[
        int,
        _going(help="Shuffle this many rows at a time: for files sorted by class. 0: not at all.",
               min=0, metavar="ROWS"),
    ] = 0  # fmt: skip
    limit: Annotated[
        int | None, _going(help="Stop after this many rows of each pass.", min=1, metavar="ROWS")
    ] = None
    no_eval: Annotated[
        bool,
        _going("--no-eval", help="Do not test on the way: faster. The model is the same."),
    ] = False
    block: Annotated[
        int,
        _going(help="Rows that are predicted, and then learned, at a time. The first block is not "
               "tested: nothing is known yet.", min=1, max=2**20, metavar="ROWS"),
    ] = 100  # fmt: skip
    window: Annotated[
        int,
        _going(
            help="Rows that the accuracy of late looks back on.", min=1, max=10**7, metavar="ROWS"
        ),
    ] = 1000

    def course(self, category_rows: int) -> Course:
        return Course(
            passes=self.passes,
            shuffle_window=self.shuffle_window,
            limit=self.limit,
            block=BIG_BLOCK if self.no_eval else self.block,
            category_rows=category_rows,
        )


def _saving(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Saving", **more)


@dataclass(frozen=True)
class SavingOptions:
    """Where to, and how often."""

    model: Annotated[Path, _saving("--model", "-m", help="The file for the model.", metavar="FILE")]
    checkpoint_every: Annotated[
        str | None,
        _saving(
            help="Write a checkpoint after so many rows (10000) or seconds (30s).", metavar="N"
        ),
    ] = None
    checkpoint: Annotated[
        Path | None, _saving(help="The file for it; MODEL.checkpoint if not given.", metavar="FILE")
    ] = None
    resume: Annotated[
        bool, _saving("--resume", help="Go on from the checkpoint of the same command.")
    ] = False

    def path(self) -> Path:
        return self.checkpoint or self.model.with_name(f"{self.model.name}.checkpoint")
