"""Axes that show only the body, and a little around it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MARGIN = 0.15  # of the height of the body


def frame_body(ax: Any, parts: NDArray[np.uint8]) -> None:
    """Show a square around the body; what lies outside the picture stays empty."""
    rows, columns = np.nonzero(parts)
    middle = (rows.min() + rows.max()) / 2, (columns.min() + columns.max()) / 2
    half = (0.5 + MARGIN) * max(int(np.ptp(rows)), int(np.ptp(columns)), 1)
    ax.set_ylim(middle[0] + half, middle[0] - half)
    ax.set_xlim(middle[1] - half, middle[1] + half)
