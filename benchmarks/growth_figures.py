"""The figures of growth.py, from its record: costs on logarithmic scales, and the powers that fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from docs.make_figures import COLOURS, DARK, LIGHT, in_powers, plain
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

# What an axis counts, and the letter that stands for it.
LABELS = {
    "points": ("points seen", "n"),
    "dims": ("dimensions of a point", "D"),
    "classes": ("classes", "k"),
    "trees": ("trees", "T"),
    "fringe": ("active leaves allowed in a tree", "f"),
}
PANELS = {"learn": "learning", "predict": "predicting"}
GAP = 0.065  # between two labels, as a share of the height, a line of text each


def write(axes: dict[str, Any], folder: Path) -> None:
    """Draw each axis twice, for light and for dark pages."""
    folder.mkdir(parents=True, exist_ok=True)
    for axis, lines in axes.items():
        name = f"growth-{axis}"
        # Text stays text, and the same record gives the same bytes.
        with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
            for page, colours in (("light", LIGHT), ("dark", DARK)):
                path = folder / f"{name}-{page}.svg"
                draw(axis, lines, colours).savefig(path, transparent=True, metadata={"Date": None})
        print(f"drew {name}")


def draw(axis: str, lines: list[dict[str, Any]], colours: dict[str, str]) -> Figure:
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    label, letter = LABELS[axis]
    panels = figure.subplots(1, len(PANELS), sharey=True)
    for place, (what, title) in zip(panels, PANELS.items(), strict=True):
        for line, colour in zip(lines, COLOURS, strict=False):
            draw_line(place, line, what, colour)
        in_powers(place.set_xscale, place.xaxis)
        place.xaxis.set_major_formatter(lambda size, _: short(size))
        in_powers(place.set_yscale, place.yaxis)
        place.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        place.margins(y=0.1)
        place.set_title(title, loc="left", color=colours["text"], fontsize=10)
        place.set_xlabel(label, color=colours["text"], fontsize=9)
        plain(place, colours)
    panels[0].set_ylabel("µs per point and tree", color=colours["text"], fontsize=9)
    for place, what in zip(panels, PANELS, strict=True):  # when the limits are known
        write_exponents(place, lines, what, letter)
    if len(lines) > 1:
        figure.legend(
            *panels[0].get_legend_handles_labels(),
            loc="outside lower center", ncols=len(lines),
            frameon=False, fontsize=8, labelcolor=colours["text"],
        )  # fmt: skip
    return figure


def short(size: float) -> str:
    return f"{size / 1e6:g} million" if size >= 1e6 else f"{size:,g}"


def draw_line(place: Axes, line: dict[str, Any], what: str, colour: str) -> None:
    sized = [cost for cost in line["costs"] if cost["size"] is not None]
    x, y = [cost["size"] for cost in sized], [cost[what]["min"] for cost in sized]
    place.plot(x, y, color=colour, marker="o", markersize=3.5, label=line["name"])
    fit = line[what]
    for power in powers(fit):
        ends = np.array([power["first"], power["last"]])
        fitted = power["factor"] * ends ** power["exponent"]
        style = ":" if fit["bends"] and power is fit["whole"] else "--"
        place.plot(ends, fitted, color=colour, linestyle=style, linewidth=1.2)
    for cost in line["costs"]:
        if cost["size"] is None:  # beyond all sizes
            end = 4 * x[-1], cost[what]["min"]
            place.plot(*end, color=colour, marker="o", markersize=5, fillstyle="none")
            place.annotate(
                "all", end, (0, 6), textcoords="offset points",
                color=colour, fontsize=8, ha="center",
            )  # fmt: skip


def powers(fit: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the exponents to show; that of the upper half only if it differs."""
    return [fit["whole"], fit["end"]] if fit["bends"] else [fit["whole"]]


def write_exponents(place: Axes, lines: list[dict[str, Any]], what: str, letter: str) -> None:
    """Write labels to the right of the lines, without overlaps."""
    texts = [exponents(line[what], letter) for line in lines]
    ends = [line["costs"][-1][what]["min"] for line in lines]
    heights = [
        place.transAxes.inverted().transform(place.transData.transform((1, end)))[1] for end in ends
    ]
    gaps = [GAP * (text.count("\n") + 1) for text in texts]
    for text, height, colour in zip(texts, spread(heights, gaps), COLOURS, strict=False):
        place.text(
            1.02, height, text, transform=place.transAxes,
            color=colour, fontsize=8, va="center", linespacing=1.1,
        )  # fmt: skip


def exponents(fit: dict[str, Any], letter: str) -> str:
    labels = [f"{letter}^{p['exponent']:.2f} ± {p['standard_error']:.2f}" for p in powers(fit)]
    return "\nthen ".join(labels)


def spread(heights: list[float], sizes: list[float]) -> list[float]:
    """Return the heights, moved as little as possible so that labels do not overlap, within 0 and 1."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    placed, floor = list(heights), 0.0
    for i in order:
        placed[i] = max(heights[i], floor + sizes[i] / 2)
        floor = placed[i] + sizes[i] / 2
    ceiling = max(1.0, sum(sizes))
    for i in reversed(order):
        placed[i] = min(placed[i], ceiling - sizes[i] / 2)
        ceiling = placed[i] - sizes[i] / 2
    return placed
