"""Depth and parts side by side, with matplotlib (`pip install "riparian[plot]"`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riparian.depth.body.flesh.parts import PART_NAMES
from riparian.depth.body.picture.colours import COLOURS
from riparian.tools.optional import matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend


def draw_pair(
    depth: NDArray[np.float32],
    parts: NDArray[np.uint8],
    axes: tuple[Axes, Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Depth on the left and parts on the right; on axes of a new figure if none are given."""
    if axes is None:
        figure = matplotlib("pyplot").figure(figsize=(8, 3), layout="constrained")
        left, right = figure.subplots(1, 2)
        axes = left, right
    draw_depth(axes[0], depth)
    draw_parts(axes[1], parts)
    return axes


def draw_depth(ax: Axes, depth: NDArray[np.float32]) -> None:
    """The nearer, the lighter. What is furthest of all is the background, in its own colour."""
    furthest = depth.max()
    body = depth[depth < furthest]
    nearest, last = (body.min(), body.max()) if body.size else (furthest, furthest)
    shades = matplotlib("pyplot").get_cmap("YlGnBu").with_extremes(over=tuple(COLOURS[0]))
    ax.imshow(depth, cmap=shades, vmin=float(nearest), vmax=float(last), interpolation="nearest")
    ax.set_axis_off()


def draw_parts(ax: Axes, parts: NDArray[np.integer]) -> None:
    """Each part in its colour, whether it is the truth or what a forest takes for it."""
    ax.imshow(COLOURS[parts], interpolation="nearest")
    ax.set_axis_off()


def draw_legend(figure: Figure) -> Legend:
    """The colours of the parts, by name, below the figure."""
    Patch = matplotlib("patches").Patch
    handles = [
        Patch(facecolor=tuple(colour), label=name)
        for colour, name in zip(COLOURS, PART_NAMES, strict=True)
    ]
    return figure.legend(
        handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize="small"
    )
