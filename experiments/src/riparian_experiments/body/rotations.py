"""Rotations as matrices that turn column vectors, right-handed, with angles in degrees."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Matrix = NDArray[np.float64]  # (..., 3, 3)

X, Y, Z = 0, 1, 2  # the axes
# For each axis: the projections onto it and onto the plane across it, and the cross product with it.
_ALONG = np.array([np.outer(axis, axis) for axis in np.eye(3)])
_ACROSS = np.eye(3) - _ALONG
_CROSS = np.array([np.cross(axis, np.eye(3)).T for axis in np.eye(3)])


def turn(axis: int | NDArray[np.int64], degrees: ArrayLike) -> Matrix:
    """Return the rotation about an axis, or about each of an array of axes.

    >>> turn(Z, 90).round().tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    angle = np.radians(degrees)[..., None, None]
    return np.asarray(_ALONG[axis] + np.cos(angle) * _ACROSS[axis] + np.sin(angle) * _CROSS[axis])


def euler(axes: NDArray[np.int64], degrees: ArrayLike) -> Matrix:
    """Return the product of three turns, as in BVH: axes (Z, Y, X) give Rz Ry Rx.

    Both may be arrays of shape (..., 3), one row per joint.
    """
    turns = turn(axes, degrees)
    return np.asarray(turns[..., 0, :, :] @ turns[..., 1, :, :] @ turns[..., 2, :, :])
