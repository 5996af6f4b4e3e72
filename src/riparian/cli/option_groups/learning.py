"""How `riparian learn` reads its stream, where its trees live, and what it writes."""

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

BIG_BLOCK = 8192  # rows learned at a time where nothing is tested


@dataclass(frozen=True)
class Course:
    """What decides which rows are learned, and in which order and blocks."""

    passes: int
    shuffle_window: int  # in rows; 0: do not shuffle
    limit: int | None  # rows of each pass
    block: int  # rows that are predicted, then learned, at a time


def _stream(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Stream", **more)


@dataclass(frozen=True)
class StreamOptions:
    """Passes, order, and test-then-train."""

    passes: Annotated[
        int, _stream(help="How many times to read the stream.", min=1, metavar="N")
    ] = 1
    shuffle_window: Annotated[
        int,
        _stream(help="Shuffle the rows within windows of this many: for files sorted by class. "
                "0: do not shuffle.", min=0, metavar="ROWS"),
    ] = 0  # fmt: skip
    limit: Annotated[
        int | None,
        _stream(help="Stop each pass after this many rows.", min=1, metavar="ROWS"),
    ] = None
    no_eval: Annotated[
        bool,
        _stream("--no-eval", help="Skip test-then-train. This is faster and gives the same model."),
    ] = False
    block: Annotated[
        int,
        _stream(help="Rows per block: each block is predicted, then learned. The first block is "
                "not tested, because the forest does not know any class yet.",
                min=1, max=2**20, metavar="ROWS"),
    ] = 100  # fmt: skip
    window: Annotated[
        int,
        _stream(help="Window of the recent accuracy, in rows.", min=1, max=10**7, metavar="ROWS"),
    ] = 1000

    delay: Annotated[
        int,
        _stream(help="Labels come late: a row is learned before the row so many after it is "
                "predicted, as in MOA and CapyMOA. 0 or 1: before the next one.",
                min=0, max=10**7, metavar="ROWS"),
    ] = 0  # fmt: skip

    def check(self) -> None:
        """Options that say nothing together."""
        if self.delay and self.no_eval:
            raise BadUsage(
                f"--delay {self.delay} says when rows that were tested are learned, and --no-eval "
                "tests none: give one of them"
            )

    def course(self) -> Course:
        return Course(
            passes=self.passes,
            shuffle_window=self.shuffle_window,
            limit=self.limit,
            block=BIG_BLOCK if self.no_eval else self.block,
        )


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


def _spreading(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Beyond one machine", **more)


@dataclass(frozen=True)
class RayOptions:
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
