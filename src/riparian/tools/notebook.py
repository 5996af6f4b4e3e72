"""Output for notebooks: small tables and curves as HTML, which need no library, and a progress bar."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any

WIDTH, HEIGHT = 560, 150  # pixels of a curve

COLOURS = ("#2b87ad", "#d2691e")  # legible on white and on black

Step = Callable[[int], Any]  # receives the rows of each step


def table(caption: str, entries: Mapping[str, str]) -> str:
    """Return names and values, side by side.

    >>> "<td>&lt;b&gt;</td>" in table("Scores", {"best": "<b>"})
    True
    """
    names = "".join(f"<th>{escape(name)}</th>" for name in entries)
    values = "".join(f"<td>{escape(value)}</td>" for value in entries.values())
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{names}</tr></thead>"
        f"<tbody><tr>{values}</tr></tbody></table>"
    )


def framed(page: str) -> str:
    """Return a whole page in a frame of its own."""
    return (
        f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" '
        'style="width: 100%; height: 80vh; border: 0"></iframe>'
    )


def curves(x: Sequence[float], named: Mapping[str, Sequence[float]], form: str = ".3g") -> str:
    """Return lines over the same values, as SVG, or nothing for fewer than two points.

    >>> svg = curves([100, 200, 300], {"accuracy": [0.5, 0.75, 0.8]}, ".0%")
    >>> svg.count("<polyline"), "80%" in svg, curves([1], {"accuracy": [0.5]})
    (1, True, '')
    """
    finite = [value for values in named.values() for value in values if math.isfinite(value)]
    if len(x) < 2 or not finite:
        return ""
    low, high = min(finite), max(finite)
    across = (WIDTH - 80) / max(x[-1] - x[0], 1e-300)
    up = (HEIGHT - 50) / (high - low or 1.0)

    def place(at: float, value: float) -> str:
        return f"{60 + (at - x[0]) * across:.1f},{HEIGHT - 20 - (value - low) * up:.1f}"

    lines = []
    for i, (name, values) in enumerate(named.items()):
        colour = COLOURS[i % len(COLOURS)]
        points = " ".join(
            place(at, value) for at, value in zip(x, values, strict=True) if math.isfinite(value)
        )
        lines.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
            f'<text x="{60 + 200 * i}" y="12" fill="{colour}">{escape(name)}</text>'
        )
    texts = (
        (55, HEIGHT - 20, "end", format(low, form)),
        (55, 34, "end", format(high, form)),
        (60, HEIGHT - 4, "start", f"{x[0]:,.0f}"),
        (WIDTH - 20, HEIGHT - 4, "end", f"{x[-1]:,.0f} rows"),
    )
    labels = "".join(
        f'<text x="{left}" y="{down}" text-anchor="{anchor}" fill="currentColor">{words}</text>'
        for left, down, anchor, words in texts
    )
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="12">{"".join(lines)}{labels}</svg>'
    )


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    return "ipykernel" in sys.modules


@contextmanager
def progress(rows: int, shown: bool | None, words: str) -> Iterator[Step]:
    """A bar of tqdm or rich, whichever is installed; None shows one in a notebook only."""
    if not (in_notebook() if shown is None else shown):
        yield lambda step: None
        return
    for bar in (_tqdm, _rich):
        try:
            made = bar(rows, words)
        except ImportError:
            continue
        with made as step:
            yield step
        return
    if shown:
        raise ImportError("a progress bar needs tqdm or rich: pip install tqdm")
    yield lambda step: None


def _tqdm(rows: int, words: str) -> Any:
    tqdm = import_module("tqdm.auto").tqdm

    @contextmanager
    def bar() -> Iterator[Step]:
        with tqdm(total=rows, desc=words, unit=" rows", unit_scale=True) as shown:
            yield shown.update

    return bar()


def _rich(rows: int, words: str) -> Any:
    made = import_module("rich.progress").Progress

    @contextmanager
    def bar() -> Iterator[Step]:
        with made() as shown:
            task = shown.add_task(words, total=rows)
            yield lambda step: shown.advance(task, step)

    return bar()
