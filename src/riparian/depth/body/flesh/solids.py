"""What a body is made of: ellipsoids and tapered capsules, each with the part that it shows."""

from __future__ import annotations

from typing import NamedTuple

from riparian.depth.body.flesh.parts import Part
from riparian.depth.body.poses.rotations import Matrix
from riparian.depth.body.poses.skeleton import Vectors


class Halves(NamedTuple):
    """Two parts on one solid, either side of a plane."""

    left: Part
    right: Part
    middle: Vectors  # a point of the plane
    to_left: Vectors  # at right angles to the plane


class Ellipsoid(NamedTuple):
    """The points centre + axes u with |u| <= 1."""

    centre: Vectors  # (3,)
    axes: Matrix  # the columns are its three half axes
    part: Part | Halves


class Capsule(NamedTuple):
    """The convex hull of two balls. With equal radii it is an ordinary capsule."""

    start: Vectors
    end: Vectors
    start_radius: float
    end_radius: float
    part: Part | Halves


Solid = Ellipsoid | Capsule
