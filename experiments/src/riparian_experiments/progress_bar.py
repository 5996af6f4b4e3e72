"""A progress bar on stderr, if rich is installed and stderr is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(
    title: str, total: int | None, *, done: int = 0, in_bytes: bool = False
) -> Iterator[Callable[[int], None]]:
    """Return a function that advances the bar. If `total` is None, the end is unknown."""
    try:
        from rich import progress
        from rich.console import Console
    except ImportError:
        yield lambda step: None
        return
    console = Console(stderr=True)
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn() if in_bytes else progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console, disable=not console.is_terminal) as shown:
        task = shown.add_task(title, total=total, completed=done)
        yield lambda step: shown.advance(task, step)
