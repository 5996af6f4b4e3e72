"""Surfaces of solids, for rays that are cast at them: all are quadrics.

A ray from the camera is the points z d with d = (x, y, 1), so z is the depth along the optical axis. On
a quadric, z solves A z² - 2 B z + C = 0, where A and B depend on d and C does not. The ray enters at

    z = (B - √(B² - A C)) / A = C / (B + √(B² - A C))

The last form needs no A, and is exact even if A is almost 0. B is linear in d, so B² - A C is a
quadratic form: it takes only a few operations per pixel to know whether the ray meets a surface.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riparian_experiments.body.flesh import Capsule, Ellipsoid, Halves, Solid
from riparian_experiments.body.parts import Part

Numbers = NDArray[np.float64]


class Surfaces(NamedTuple):
    """The surfaces of some solids: one row each, in all of the arrays."""

    seen: Numbers  # (n, 3, 3): B² - A C as a form of d
    linear: Numbers  # (n, 3): B as a form of d
    constant: Numbers  # (n,): C
    box: Numbers  # (n, 4): from and to x / z, from and to y / z, of all that can be seen
    axis: Numbers  # (n, 3): where the surface ends: only points p with
    ends: Numbers  # (n, 2):   ends[0] <= axis · p <= ends[1] belong to it
    part: list[Part | Halves]


def surfaces_of(solids: Sequence[Solid]) -> Surfaces:
    """Return the surfaces: one per ellipsoid; per capsule, two balls and the cone that touches both."""
    ellipsoids = [solid for solid in solids if isinstance(solid, Ellipsoid)]
    capsules = [solid for solid in solids if isinstance(solid, Capsule)]
    balls = [ball for capsule in capsules for ball in _balls(capsule)]
    round_ = _ellipsoids([*balls, *ellipsoids])
    if not capsules:
        return round_
    of_balls = round_.box[: len(balls)].reshape(-1, 2, 4)
    # The hull of two balls is seen within the smallest box that holds both of them.
    boxes = np.stack(
        [of_balls[..., side].min(axis=1) if side in (0, 2) else of_balls[..., side].max(axis=1)
         for side in range(4)], axis=1,
    )  # fmt: skip
    cones = _cones(capsules, boxes)
    arrays = {
        name: np.concatenate([getattr(round_, name), getattr(cones, name)])
        for name in Surfaces._fields
        if name != "part"
    }
    return Surfaces(**arrays, part=round_.part + cones.part)


def _balls(capsule: Capsule) -> list[Ellipsoid]:
    start, end, start_radius, end_radius, part = capsule
    return [
        Ellipsoid(start, start_radius * np.eye(3), part),
        Ellipsoid(end, end_radius * np.eye(3), part),
    ]


def _ellipsoids(solids: Sequence[Ellipsoid]) -> Surfaces:
    centre = np.array([solid.centre for solid in solids]).reshape(-1, 3)
    axes = np.array([solid.axes for solid in solids]).reshape(-1, 3, 3)
    inverse = np.linalg.inv(axes)
    # |axes⁻¹ (z d - centre)|² = 1: A = d · shape d, B = d · shape centre, C = centre · shape centre - 1
    shape = np.swapaxes(inverse, 1, 2) @ inverse
    linear = (shape @ centre[..., None])[..., 0]
    constant = (centre * linear).sum(axis=1) - 1
    return Surfaces(
        seen=_outer(linear) - constant[:, None, None] * shape,
        linear=linear,
        constant=constant,
        box=_boxes(centre, axes),
        axis=np.zeros_like(centre),
        ends=np.tile([-np.inf, np.inf], (len(centre), 1)),
        part=[solid.part for solid in solids],
    )


def _cones(solids: Sequence[Capsule], boxes: Numbers) -> Surfaces:
    start = np.array([solid.start for solid in solids])
    along = np.array([solid.end for solid in solids]) - start
    radius = np.array([[solid.start_radius, solid.end_radius] for solid in solids])
    length = np.linalg.norm(along, axis=1)
    # One ball within the other: no cone touches both.
    hidden = length <= np.abs(radius[:, 0] - radius[:, 1])
    length = np.where(hidden, 1.0, length)
    axis = along / length[:, None]
    slope = np.where(hidden, 0.0, (radius[:, 0] - radius[:, 1]) / length)
    # With h the height of p above the start, the cone is (1 - slope²) |p - start|² - h² + 2 r slope h
    # - r² = 0. It touches the balls at the heights r slope and length + r' slope.
    flat = 1 - slope**2
    height = (axis * start).sum(axis=1)  # of the start over the camera, along the axis
    lean = radius[:, 0] * slope
    linear = flat[:, None] * start - (height + lean)[:, None] * axis
    constant = flat * (start**2).sum(axis=1) - height**2 - 2 * lean * height - radius[:, 0] ** 2
    shape = flat[:, None, None] * np.eye(3) - _outer(axis)
    ends = height[:, None] + np.stack([lean, length + radius[:, 1] * slope], axis=1)
    ends[hidden] = np.inf, -np.inf
    return Surfaces(
        seen=_outer(linear) - constant[:, None, None] * shape,
        linear=linear,
        constant=constant,
        box=boxes,
        axis=axis,
        ends=ends,
        part=[solid.part for solid in solids],
    )


def _outer(vectors: Numbers) -> Numbers:
    return np.asarray(vectors[:, :, None] * vectors[:, None, :])


def _boxes(centre: Numbers, axes: Numbers) -> Numbers:
    """Return the exact box, in x / z and y / z, of each ellipsoid.

    A plane through the camera with normal l touches it where |axesᵀ l| = |l · centre|, that is
    l · dual l = 0. For the planes x = s z, l = (1, 0, -s), which gives a quadratic equation in s.
    """
    dual = axes @ np.swapaxes(axes, 1, 2) - _outer(centre)
    away = dual[:, 2, 2]
    in_front = (away < 0) & (centre[:, 2] > 0)  # otherwise it reaches behind the camera: no bound
    away = np.where(in_front, away, -1.0)
    box = np.empty((len(centre), 4))
    for i in (0, 1):
        root = np.sqrt(np.maximum(dual[:, i, 2] ** 2 - dual[:, i, i] * away, 0))
        box[:, 2 * i] = (dual[:, i, 2] + root) / away
        box[:, 2 * i + 1] = (dual[:, i, 2] - root) / away
    box[~in_front] = -np.inf, np.inf, -np.inf, np.inf
    return box
