"""How `riparian learn` reads and tests its stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from riparian.cli.learning.course import BIG_BLOCK, Course
from riparian.sources.errors import BadUsage


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
