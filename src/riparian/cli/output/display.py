"""Show the progress of learning: a live display on a terminal, otherwise an occasional line."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from riparian.cli.errors import say
from riparian.cli.output.tables import number, score
from riparian.evaluation import NumberScores

LIVE_SECONDS, PLAIN_SECONDS = 0.25, 10.0


@dataclass(frozen=True)
class Status:
    """The progress of a command."""

    rows: int  # done, in all passes
    rows_per_second: float
    fraction: float | None  # of the work done; None if unknown
    details: Sequence[str] = ()  # scores, sizes

    def line(self) -> str:
        speed = [f"{self.rows:,} rows", f"{self.rows_per_second:,.0f} rows/s"]
        done = [] if self.fraction is None else [f"{self.fraction:.0%}"]
        return ", ".join([*done, *speed, *self.details])


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

    def __init__(self, verb: str) -> None:
        super().__init__()
        from rich.console import Console, Group
        from rich.live import Live as RichLive
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.text import Text

        self._details = Text("  waiting for data", style="dim")
        self._progress = Progress(
            TextColumn(verb),
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
        self._details.plain = "  " + "   ".join(status.details)

    def __enter__(self) -> Display:
        self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._live.__exit__(*error)


def display(quiet: bool, verb: str = "learning") -> Display:
    """Return the display that suits stderr."""
    if quiet:
        return Silent()
    return Live(verb) if sys.stderr.isatty() else Plain()


class RowCounter:
    """Rows that a command has done, shown as it goes on."""

    def __init__(self, shown: Display, fraction: Callable[[], float | None]) -> None:
        self.rows = 0
        self._shown = shown
        self._fraction = fraction
        self._began = time.monotonic()

    def add(self, rows: int, details: Callable[[], Sequence[str]] = tuple) -> None:
        """Count rows, and show them if it is time."""
        self.rows += rows
        if self._shown.due():
            rate = self.rows / max(time.monotonic() - self._began, 1e-9)
            self._shown.show(Status(self.rows, rate, self._fraction(), details()))


def scores_in_words(scores: Any, recent: float | None = None) -> list[str]:
    """Return the scores to show while a command runs."""
    if not scores.rows:
        return []
    is_numbers = isinstance(scores, NumberScores)
    accuracy = f"RMSE {number(scores.rmse)}" if is_numbers else f"accuracy {score(scores.accuracy)}"
    if recent is not None:
        accuracy += f" (recent {number(recent) if is_numbers else score(recent)})"
    if is_numbers:
        return [accuracy, f"MAE {number(scores.mae)}"]
    if scores.imbalanced and len(scores.classes) == 2:
        areas = f"AUC {score(scores.auc)}", f"average precision {score(scores.average_precision)}"
        return [*areas, accuracy]
    return [accuracy]
