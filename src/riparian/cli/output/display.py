"""Show the progress of learning: a live display on a terminal, otherwise an occasional line."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from riparian.cli.errors import say
from riparian.cli.output.tables import score
from riparian.tools import text

LIVE_SECONDS, PLAIN_SECONDS = 0.25, 10.0


@dataclass(frozen=True)
class Status:
    """The progress of a run, and its accuracy."""

    rows: int  # learned, in all passes
    rows_per_second: float
    fraction: float | None  # of the work done; None if unknown
    accuracy: float | None  # None if rows are not tested
    window_accuracy: float | None
    leaves: int
    active: int
    memory: int
    budget: str | None = None  # the effect of max_memory, once it has one
    shards: str | None = None  # rows of each shard; None without Ray

    def line(self) -> str:
        speed = [f"{self.rows:,} rows", f"{self.rows_per_second:,.0f} rows/s"]
        done = [] if self.fraction is None else [f"{self.fraction:.0%}"]
        return ", ".join([*done, *speed, *self.details()])

    def details(self) -> list[str]:
        forest = [f"{self.leaves:,} leaves", f"{self.active:,} active", text.size(self.memory)]
        if self.budget is not None:
            forest.append(self.budget)
        if self.shards is not None:
            forest.append(self.shards)
        if self.accuracy is None or self.window_accuracy is None:
            return forest
        accuracy = f"accuracy {score(self.accuracy)} (recent {score(self.window_accuracy)})"
        return [accuracy, *forest]


class Display(ABC):
    """Shows the status, at most once every `seconds`."""

    seconds: float

    def __init__(self) -> None:
        self._last = time.monotonic()

    def due(self) -> bool:
        """Return whether to show the status now. Computing it takes time."""
        return time.monotonic() - self._last >= self.seconds

    def show(self, status: Status) -> None:
        self._last = time.monotonic()
        self._show(status)

    @abstractmethod
    def _show(self, status: Status) -> None: ...

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class Silent(Display):
    seconds = float("inf")

    def _show(self, status: Status) -> None:
        return None


class Plain(Display):
    seconds = PLAIN_SECONDS

    def _show(self, status: Status) -> None:
        say(status.line())


class Live(Display):
    seconds = LIVE_SECONDS

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console, Group
        from rich.live import Live as RichLive
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.text import Text

        self._details = Text("  waiting for data", style="dim")
        self._progress = Progress(
            TextColumn("learning"),
            BarColumn(),
            TextColumn("{task.fields[percent]}"),
            TextColumn("{task.fields[rows]}"),
            TimeRemainingColumn(compact=True),
        )
        self._task = self._progress.add_task("", total=None, rows="", percent="")
        self._live: Any = RichLive(
            Group(self._progress, self._details),
            console=Console(stderr=True),
            refresh_per_second=4,
            transient=True,
        )

    def _show(self, status: Status) -> None:
        known = status.fraction is not None
        self._progress.update(
            self._task,
            total=1.0 if known else None,
            completed=status.fraction or 0.0,
            percent=f"{status.fraction:.0%}" if known else "",
            rows=f"{status.rows:,} rows, {status.rows_per_second:,.0f} rows/s",
        )
        self._details.plain = "  " + "   ".join(status.details())

    def __enter__(self) -> Display:
        self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._live.__exit__(*error)


def display(quiet: bool) -> Display:
    """Return the display that suits stderr."""
    if quiet:
        return Silent()
    return Live() if sys.stderr.isatty() else Plain()
