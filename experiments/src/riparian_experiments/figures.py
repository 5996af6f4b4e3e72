"""Draw curves: means, with one standard deviation shaded, on a logarithmic axis.

All figures of the experiments have the same style. The same curves give the same bytes of SVG (with the
same version of matplotlib).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from riparian.tools.files import write_whole
from riparian.tools.optional import matplotlib
from riparian.tools.text import number
from riparian_experiments.curves import Curve, Panel

# Okabe and Ito's colours, which colour-blind readers can distinguish, without the yellow, which is pale.
# The last two are not theirs: in a figure with eight curves, the markers also distinguish them.
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5e3c99", "#777777",
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # for readers and printers without colours
INK = "#333333"

STYLE: dict[str, Any] = {
    "svg.hashsalt": "riparian",  # otherwise the names inside an SVG are random
    "font.size": 10.0,
    "font.family": "DejaVu Sans",  # comes with matplotlib, so every machine has it
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "axes.axisbelow": True,
    "legend.frameon": False,
}
WIDTH, HEIGHT = 6.4, 4.4  # inches of a panel
DPI = 150


def draw(panels: Sequence[Panel], title: str = "") -> Any:
    """Return a matplotlib figure of the panels, side by side; more than three are in rows of two."""
    columns = len(panels) if len(panels) <= 3 else 2
    rows = -(-len(panels) // columns)
    with matplotlib("pyplot").rc_context(STYLE):
        figure = matplotlib("figure").Figure(
            figsize=(WIDTH * columns, HEIGHT * rows), layout="constrained"
        )
        figure.suptitle(title, fontsize=11)
        places = figure.subplots(rows, columns, squeeze=False).ravel()
        for ax, panel in zip(places, panels, strict=False):
            _draw_panel(ax, panel)
        for empty in places[len(panels) :]:
            empty.set_axis_off()
    return figure


def write_figure(
    figure: Any, folder: Path, name: str = "figure", kinds: Sequence[str] = ("png", "svg")
) -> None:
    """Write the figure as `name`.png and `name`.svg; an image of pixels only as PNG."""
    with matplotlib("pyplot").rc_context(STYLE):
        for kind in kinds:
            data = io.BytesIO()
            metadata = {"Date": None} if kind == "svg" else None
            figure.savefig(data, format=kind, dpi=DPI, metadata=metadata)
            write_whole(folder / f"{name}.{kind}", data.getvalue())


def _draw_panel(ax: Any, panel: Panel) -> None:
    if panel.log_x:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda x, _: number(x))
    if panel.log_y:
        ax.set_yscale("log")
        ticker = matplotlib("ticker")
        ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
        ax.yaxis.set_minor_formatter(ticker.NullFormatter())
    ax.set_xlabel(panel.x)
    ax.set_ylabel(panel.y)
    ax.set_title(panel.title, fontsize=10)
    for place, curve in enumerate(panel.curves):
        _draw_curve(ax, curve, COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)])
    for label, level in panel.lines.items():
        ax.axhline(level, color=INK, linewidth=1.1, linestyle=(0, (5, 3)), label=label)
    if len(panel.curves) <= 4:
        ax.legend()
    else:  # a legend inside would cover the curves
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14), "ncols": 2}
        ax.legend(fontsize=9, **below)


def _draw_curve(ax: Any, curve: Curve, colour: str, marker: str) -> None:
    ax.fill_between(
        curve.x, curve.mean - curve.sd, curve.mean + curve.sd, color=colour, alpha=0.2, linewidth=0
    )
    ax.plot(curve.x, curve.mean, color=colour, marker=marker, markersize=4.5, label=curve.label)
