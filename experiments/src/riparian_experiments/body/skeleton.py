"""Joints, the bones between them, and their positions in a pose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from riparian_experiments.body.rotations import Matrix

Vectors = NDArray[np.float64]  # (..., 3)

SIDES = ("Left", "Right")
# The joints that the body needs. The names are those of the CMU motion capture in B. Hahne's BVH.
NEEDED_JOINTS = (
    "Hips", "Spine", "Spine1", "Neck1", "Head",
    *(
        side + joint
        for side in SIDES
        for joint in ("UpLeg", "Leg", "Foot", "ToeBase", "Arm", "ForeArm", "Hand")
    ),
)  # fmt: skip
_DIRECTED = tuple(side + joint for side in SIDES for joint in ("Foot", "Hand"))  # see `Figure.bone`
_SHORTEST, _TALLEST = 0.5, 3.0  # metres that a skeleton may measure


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A tree of joints. If no joint is turned, x points to the person's left, y up, and z ahead."""

    names: tuple[str, ...]
    parents: tuple[int, ...]  # of each joint; -1 of the root; a parent comes before its children
    offsets: Vectors  # (joints, 3): from the parent, in metres, while it is not turned

    def __post_init__(self) -> None:
        missing = [name for name in NEEDED_JOINTS if name not in self.names]
        if missing:
            raise ValueError(f"the skeleton lacks joints that the body needs: {', '.join(missing)}")
        for name in _DIRECTED:
            if not self.lengths[self.index[name]] > 0:
                raise ValueError(f"the bone that ends in {name} must have a length, got 0")
        if not _SHORTEST <= self.stature <= _TALLEST:
            raise ValueError(
                f"a body must measure {_SHORTEST} to {_TALLEST} metres from ankle to head, "
                f"got {self.stature:.3g}: are the units right?"
            )

    @cached_property
    def index(self) -> dict[str, int]:
        """The index of each joint in the arrays."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """The length of the bone that ends in each joint, in metres."""
        return np.asarray(np.linalg.norm(self.offsets, axis=1))

    @cached_property
    def stature(self) -> float:
        """The length from the left ankle along the bones to the joint of the head, in metres."""
        return sum(
            float(self.lengths[i]) for name in ("LeftFoot", "Head") for i in self._to_root(name)
        )

    def _to_root(self, name: str) -> list[int]:
        joint, path = self.index[name], []
        while self.parents[joint] >= 0:
            path.append(joint)
            joint = self.parents[joint]
        return path

    def place(self, rotations: Matrix, size: float = 1.0) -> Figure:
        """Turn every joint, from the root outwards, and return the figure.

        `rotations` (joints, 3, 3) are relative to the parents; `size` scales all bones. The root is at
        the origin.
        """
        positions = np.zeros((len(self.names), 3))
        turns = np.empty((len(self.names), 3, 3))
        for joint, parent in enumerate(self.parents):
            if parent < 0:
                turns[joint] = rotations[joint]
                continue
            turns[joint] = turns[parent] @ rotations[joint]
            positions[joint] = positions[parent] + turns[parent] @ (size * self.offsets[joint])
        return Figure(self, positions, turns)


@dataclass(frozen=True, eq=False)
class Figure:
    """A skeleton in a pose: the positions and rotations of its joints in the world."""

    skeleton: Skeleton
    positions: Vectors  # (joints, 3), metres
    turns: Matrix  # (joints, 3, 3)

    def at(self, name: str) -> Vectors:
        """Return the position of a joint."""
        return np.asarray(self.positions[self.skeleton.index[name]])

    def turned(self, name: str) -> Matrix:
        """Return the rotation of a joint: the columns are the directions of its x, y and z."""
        return np.asarray(self.turns[self.skeleton.index[name]])

    def bone(self, name: str) -> Vectors:
        """Return the direction that the bone before a joint would have if the joint were not bent.

        For a foot, this direction is down, however the ankle bends.
        """
        joint = self.skeleton.index[name]
        along = self.skeleton.offsets[joint] / self.skeleton.lengths[joint]
        return np.asarray(self.turns[joint] @ along)

    def moved(self, rotation: Matrix, shift: Vectors) -> Self:
        """Return the same figure, turned about the origin and then shifted."""
        return type(self)(self.skeleton, self.positions @ rotation.T + shift, rotation @ self.turns)


def _standard() -> Skeleton:
    middle = [
        ("Hips", "", (0, 0, 0)),
        ("LowerBack", "Hips", (0, 0, 0)),
        ("Spine", "LowerBack", (0, 0.12, -0.01)),
        ("Spine1", "Spine", (0, 0.13, -0.005)),
        ("Neck", "Spine1", (0, 0, 0)),
        ("Neck1", "Neck", (0, 0.13, 0.01)),
        ("Head", "Neck1", (0, 0.09, 0.005)),
    ]
    left = [
        ("LeftUpLeg", "Hips", (0.085, -0.09, 0.03)),
        ("LeftLeg", "LeftUpLeg", (0, -0.42, 0)),
        ("LeftFoot", "LeftLeg", (0, -0.42, 0)),
        ("LeftToeBase", "LeftFoot", (0.01, -0.045, 0.135)),
        ("LeftShoulder", "Spine1", (0, 0, 0)),
        ("LeftArm", "LeftShoulder", (0.175, 0.10, -0.01)),
        ("LeftForeArm", "LeftArm", (0.29, 0, 0)),
        ("LeftHand", "LeftForeArm", (0.25, 0, 0)),
    ]
    right = [
        (name.replace("Left", "Right"), parent.replace("Left", "Right"), (-x, y, z))
        for name, parent, (x, y, z) in left
    ]
    names, parents, offsets = zip(*middle, *left, *right, strict=True)
    return Skeleton(
        names=names,
        parents=tuple(names.index(parent) if parent else -1 for parent in parents),
        offsets=np.array(offsets, dtype=np.float64),
    )


# A person of 1.7 m, standing with arms stretched out to the sides.
STANDARD = _standard()


@dataclass(frozen=True, eq=False)
class Pose:
    """A posture, independent of build and view."""

    skeleton: Skeleton
    rotations: Matrix  # (joints, 3, 3), relative to the parents
    clip: str = ""  # the source
    frame: int = 0  # of the clip
