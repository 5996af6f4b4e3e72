"""Render solids by casting a ray through the middle of every pixel: exact, without a mesh."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from riparian_experiments.body.camera import Camera
from riparian_experiments.body.flesh import Halves, Solid
from riparian_experiments.body.parts import Part
from riparian_experiments.body.surfaces import Surfaces, surfaces_of

FAR = 6.0  # metres: the depth of the background

Picture = tuple[NDArray[np.float32], NDArray[np.uint8]]  # depth and parts


def render(solids: Sequence[Solid], camera: Camera, far: float = FAR) -> Picture:
    """Return the depth in metres along the optical axis, float32, and the part of each pixel, uint8.

    The solids are in camera coordinates: x right, y down, z away. A pixel without a solid nearer than
    `far` has the depth `far` and shows the background. Both arrays have shape (height, width).
    """
    depth = np.full((camera.height, camera.width), far, dtype=np.float32)
    parts = np.full(depth.shape, Part.BACKGROUND, dtype=np.uint8)
    if solids:
        surfaces = surfaces_of(solids)
        across, down = camera.slopes()
        columns = [slice(*ends) for ends in np.searchsorted(across, surfaces.box[:, :2]).tolist()]
        rows = [slice(*ends) for ends in np.searchsorted(down, surfaces.box[:, 2:]).tolist()]
        with np.errstate(all="ignore"):  # a depth that is not finite is not drawn
            for i, window in enumerate(zip(rows, columns, strict=True)):
                _cast(surfaces, i, across[window[1]], down[window[0]], depth[window], parts[window])
    return depth, parts


def _cast(
    surfaces: Surfaces,
    i: int,
    across: NDArray[np.float64],
    down: NDArray[np.float64],
    depth: NDArray[np.float32],
    parts: NDArray[np.uint8],
) -> None:
    """Draw surface i into a window of the picture, where it is nearer than other surfaces."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = surfaces.seen[i].tolist()
    seen = (2 * xy * down)[:, None] * across
    seen += across * (xx * across + 2 * xz)
    seen += (down * (yy * down + 2 * yz) + zz)[:, None]
    row, column = np.nonzero(seen > 0)
    x, y = across[column], down[row]
    bx, by, bz = surfaces.linear[i].tolist()
    z = surfaces.constant[i] / (bx * x + by * y + bz + np.sqrt(seen[row, column]))
    nearer = (z > 0) & (z.astype(np.float32) < depth[row, column])
    low, high = surfaces.ends[i].tolist()
    if high < np.inf:
        ax, ay, az = surfaces.axis[i].tolist()
        height = z * (ax * x + ay * y + az)
        nearer &= (low <= height) & (height <= high)
    row, column, x, y, z = row[nearer], column[nearer], x[nearer], y[nearer], z[nearer]
    depth[row, column] = z
    parts[row, column] = _part(surfaces.part[i], x, y, z)


def _part(
    part: Part | Halves, x: NDArray[np.float64], y: NDArray[np.float64], z: NDArray[np.float64]
) -> NDArray[np.uint8] | Part:
    if isinstance(part, Part):
        return part
    nx, ny, nz = part.to_left.tolist()
    on_the_left = z * (nx * x + ny * y + nz) > float(part.middle @ part.to_left)
    return np.where(on_the_left, np.uint8(part.left), np.uint8(part.right))
