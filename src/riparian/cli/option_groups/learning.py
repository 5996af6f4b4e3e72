"""Options of `riparian learn`: how it reads its stream, where its trees live, what it writes."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from riparian.sources.errors import BadUsage
from riparian.sources.formats import PACKED, STDIN

BIG_BLOCK = 8192  # rows learned at a time where nothing is tested


@dataclass(frozen=True)
class Course:
    """The rows to learn, their order and their blocks."""

    passes: int
    shuffle_window: int  # in rows; 0: do not shuffle
    limit: int | None  # rows per pass
    block: int  # rows that are learned in one step


_stream: Any = partial(typer.Option, rich_help_panel="Stream")


@dataclass(frozen=True)
class StreamOptions:
    """Passes, order, and test-then-train."""

    passes: Annotated[int, _stream(help="Read the stream this many times.", min=1, metavar="N")] = 1
    shuffle_window: Annotated[
        int,
        _stream(help="Shuffle the rows within windows of this many rows, for files sorted by "
                "class. 0: do not shuffle.", min=0, metavar="ROWS"),
    ] = 0  # fmt: skip
    limit: Annotated[
        int | None,
        _stream(help="Stop each pass after this many rows.", min=1, metavar="ROWS"),
    ] = None
    no_eval: Annotated[
        bool,
        _stream("--no-eval", help="Skip test-then-train: faster, and the model is the same."),
    ] = False
    block: Annotated[
        int,
        _stream(help="Learn this many rows per step. Each row is predicted just before it is learned, "
                "whatever the number. With --delay or --ray, all rows of a step are predicted before "
                "the first is learned: long steps are faster, and lower the accuracy that is shown.",
                min=1, max=2**20, metavar="ROWS"),
    ] = 100  # fmt: skip
    window: Annotated[
        int,
        _stream(
            help="Compute the recent accuracy over this many rows.",
            min=1,
            max=10**7,
            metavar="ROWS",
        ),
    ] = 1000

    delay: Annotated[
        int,
        _stream(help="Learn each row this many rows late, as in MOA and CapyMOA. 0 or 1: learn it "
                "before the next row is predicted. With --adaptive, numbers follow the last target that "
                "is known then (--lag).",
                min=0, max=10**7, metavar="ROWS"),
    ] = 0  # fmt: skip

    def check(self) -> None:
        """Reject conflicting options."""
        if self.delay and self.no_eval:
            raise BadUsage(
                f"--delay {self.delay} conflicts with --no-eval: a delay has no effect without the "
                "test; give one of them"
            )

    def course(self) -> Course:
        return Course(
            passes=self.passes,
            shuffle_window=self.shuffle_window,
            limit=self.limit,
            block=BIG_BLOCK if self.no_eval else self.block,
        )


_saving: Any = partial(typer.Option, rich_help_panel="Saving")


@dataclass(frozen=True)
class SavingOptions:
    """Files to write, and how often."""

    model: Annotated[
        Path | None,
        _saving("--model", "-m", help="Write the model to this file. Default: the name of the first "
                "source, in the current folder: loans.csv gives loans.riparian.", metavar="FILE"),
    ] = None  # fmt: skip
    checkpoint_every: Annotated[
        str | None,
        _saving(help="Write a checkpoint every N rows (10000) or seconds (30s).", metavar="N"),
    ] = None
    checkpoint: Annotated[
        Path | None,
        _saving(help="Write checkpoints to this file. Default: MODEL.checkpoint.", metavar="FILE"),
    ] = None
    resume: Annotated[
        bool, _saving("--resume", help="Continue from the checkpoint of the same command.")
    ] = False

    def model_path(self, sources: Sequence[str]) -> Path:
        """Return the file of the model. A file with a default name must not exist yet."""
        if self.model is not None:
            return self.model
        first = sources[0]
        if first == STDIN:
            raise BadUsage("--model is required for standard input: it gives no file name")
        matched = glob.has_magic(first)
        if matched and not os.path.exists(first):
            files = sorted(glob.glob(first, recursive=True))
            if not files:
                raise BadUsage(f"{first}: no file matches")
            first = glob.escape(os.path.basename(files[0]))
        name = os.path.basename(first)
        for packed in PACKED:
            name = name.removesuffix(packed)
        path = Path(os.path.splitext(name)[0] + ".riparian")
        if matched:
            raise BadUsage(f"--model is required with a glob: give a name, such as --model {path}")
        if path.exists():
            raise BadUsage(
                f"{path} already exists: give --model {path} to replace it, or another name"
            )
        return path

    def checkpoint_path(self, model: Path) -> Path:
        return self.checkpoint or model.with_name(f"{model.name}.checkpoint")


_spreading: Any = partial(typer.Option, rich_help_panel="Beyond one machine")


@dataclass(frozen=True)
class RayOptions:
    """Where the trees live. No option here changes the model."""

    ray: Annotated[
        str | None,
        _spreading(help="Spread the trees over a Ray cluster: a running one (auto), one started for "
                   "this run (local), or the one at an address.",
                   metavar="auto|local|ADDRESS"),
    ] = None  # fmt: skip
    shards: Annotated[
        int | None,
        _spreading(help="Use this many shards. Default: one per CPU of the cluster.", min=1,
                   metavar="N"),
    ] = None  # fmt: skip
    shard_checkpoints: Annotated[
        str | None,
        _spreading(help="Write checkpoints of shards to this directory or URI, which all nodes must "
                   "see. A shard that dies is then restored from it.", metavar="DIR"),
    ] = None  # fmt: skip
