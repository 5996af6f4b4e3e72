"""What one sees while a stream is learned: a live display on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from riparian.cli.errors import say
from riparian.cli.output import words

LIVE_SECONDS, PLAIN_SECONDS = 0.25, 10.0


@dataclass(frozen=True)
class Status:
    """How things stand."""

    rows: int  # learned, in all passes
    rows_per_second: float
    fraction: float | None  # of all there is to do
    accuracy: float | None  # None where nothing is tested
    window_accuracy: float | None
    leaves: int
    active: int
    memory: int

    def line(self) -> str:
        told = [f"{self.rows:,} rows", f"{self.rows_per_second:,.0f} rows/s"]
        if self.fraction is not None:
            told.insert(0, f"{self.fraction:.0%}")
        return ", ".join([*told, *self.details()])

    def details(self) -> list[str]:
        told = []
        if self.accuracy is not None and self.window_accuracy is not None:
            told.append(
                f"accuracy {words.share(self.accuracy)} (lately {words.share(self.window_accuracy)})"
            )
        told += [f"{self.leaves:,} leaves", f"{self.active:,} active", words.size(self.memory)]
        return told


class Display(ABC):
    """Shows how things stand, not more often than is of use."""

    seconds: float

    def __init__(self) -> None:
        self._last = time.monotonic()

    def due(self) -> bool:
        """Whether it is time: looking into a forest has a price."""
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
    """The one that fits where stderr goes."""
    if quiet:
        return Silent()
    return Live() if sys.stderr.isatty() else Plain()
