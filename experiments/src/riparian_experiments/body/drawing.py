"""Draw depth and parts with matplotlib, with a colour for each part.

Pieces differ in hue, and the left one is lighter than the right one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riparian.tools.optional import matplotlib
from riparian_experiments.body.parts import PART_NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend


from riparian.inspection.colours import rgb
from riparian_experiments.body.parts import Part

# From P. Tol's qualitative schemes, assigned so that colour-blind readers can also distinguish parts
# that touch each other.
_HUES = {
    "CHEST": "#aa4499", "WAIST": "#999933", "HIPS": "#88ccee",
    "THIGH": "#332288", "SHIN": "#ddcc77", "FOOT": "#882255",
    "UPPER_ARM": "#ee7733", "FOREARM": "#4477aa", "HAND": "#117733",
}  # fmt: skip
_LIGHTER, _DARKER = 0.42, 0.28  # of the way to white, and to black


def _colour(part: Part) -> NDArray[np.float64]:
    if part in (Part.BACKGROUND, Part.HEAD):
        return np.full(3, 0.96 if part == Part.BACKGROUND else 0.12)
    piece, _, side = part.name.rpartition("_")
    hue = np.array(rgb(_HUES[piece]))
    return 1 - (1 - hue) * (1 - _LIGHTER) if side == "LEFT" else hue * (1 - _DARKER)


COLOURS: NDArray[np.float64] = np.array([_colour(part) for part in Part])  # (20, 3), from 0 to 1
COLOURS.setflags(write=False)


def draw_pair(
    depth: NDArray[np.float32],
    parts: NDArray[np.uint8],
    axes: tuple[Axes, Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Draw depth on the left and parts on the right, on the given axes or in a new figure."""
    if axes is None:
        figure = matplotlib("pyplot").figure(figsize=(8, 3), layout="constrained")
        left, right = figure.subplots(1, 2)
        axes = left, right
    draw_depth(axes[0], depth)
    draw_parts(axes[1], parts)
    return axes


def draw_depth(ax: Axes, depth: NDArray[np.float32]) -> None:
    """Draw depth: nearer is lighter, and the largest depth is the background, in its own colour."""
    furthest = depth.max()
    body = depth[depth < furthest]
    nearest, last = (body.min(), body.max()) if body.size else (furthest, furthest)
    shades = matplotlib("pyplot").get_cmap("YlGnBu").with_extremes(over=tuple(COLOURS[0]))
    ax.imshow(depth, cmap=shades, vmin=float(nearest), vmax=float(last), interpolation="nearest")
    ax.set_axis_off()


def draw_parts(ax: Axes, parts: NDArray[np.integer]) -> None:
    """Draw each part in its colour; parts may be true or predicted."""
    ax.imshow(COLOURS[parts], interpolation="nearest")
    ax.set_axis_off()


def draw_legend(figure: Figure) -> Legend:
    """Draw a legend of the parts below the figure."""
    Patch = matplotlib("patches").Patch
    handles = [
        Patch(facecolor=tuple(colour), label=name)
        for colour, name in zip(COLOURS, PART_NAMES, strict=True)
    ]
    return figure.legend(
        handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize="small"
    )
