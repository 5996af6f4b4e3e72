"""A pose: a skeleton, and how each of its joints is turned."""

from __future__ import annotations

from dataclasses import dataclass

from riparian.depth.body.poses.rotations import Matrix
from riparian.depth.body.poses.skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class Pose:
    """A posture, independent of build and view."""

    skeleton: Skeleton
    rotations: Matrix  # (joints, 3, 3), each against the parent of the joint
    clip: str = ""  # where it comes from
    frame: int = 0  # of the clip
