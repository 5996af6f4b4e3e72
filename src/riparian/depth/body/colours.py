"""A colour for each part: pieces differ in hue, and the left one is lighter than the right one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riparian.depth.body.parts import Part
from riparian.inspection.colours import rgb

# After P. Tol's qualitative schemes, which most colour-blind readers can tell apart.
_HUES = {
    "CHEST": "#cc6677", "WAIST": "#ddcc77", "HIPS": "#aa4499",
    "THIGH": "#44aa99", "SHIN": "#999933", "FOOT": "#332288",
    "UPPER_ARM": "#4477aa", "FOREARM": "#ee7733", "HAND": "#117733",
}  # fmt: skip
_LIGHTER, _DARKER = 0.45, 0.25  # of the way to white, and to black


def _colour(part: Part) -> NDArray[np.float64]:
    if part in (Part.BACKGROUND, Part.HEAD):
        return np.full(3, 0.96 if part == Part.BACKGROUND else 0.35)
    piece, _, side = part.name.rpartition("_")
    hue = np.array(rgb(_HUES[piece]))
    return 1 - (1 - hue) * (1 - _LIGHTER) if side == "LEFT" else hue * (1 - _DARKER)


COLOURS: NDArray[np.float64] = np.array([_colour(part) for part in Part])  # (20, 3), from 0 to 1
COLOURS.setflags(write=False)
