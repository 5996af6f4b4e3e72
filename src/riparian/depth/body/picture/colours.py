"""A colour for each part: pieces differ in hue, and the left one is lighter than the right one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riparian.depth.body.flesh.parts import Part
from riparian.inspection.colours import rgb

# From P. Tol's qualitative schemes, assigned so that readers who see no red or no green can also tell
# parts that touch from each other.
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
