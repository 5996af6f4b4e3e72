"""A progress bar on stderr, where rich is installed and somebody can see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(
    title: str, total: int | None, *, done: int = 0, in_bytes: bool = False
) -> Iterator[Callable[[int], None]]:
    """A bar that moves on by what it is called with; `total` None: nobody knows how far it is."""
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
