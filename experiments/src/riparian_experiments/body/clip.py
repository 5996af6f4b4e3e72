"""A clip of motion capture: one skeleton, many poses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from riparian_experiments.body.rotations import euler
from riparian_experiments.body.skeleton import Pose, Skeleton


class ClipError(ValueError):
    """A file of motion capture cannot be read; the error has `file`, `line` and the reason.

    >>> str(ClipError("clip.bvh", 12, "OFFSET must have 3 numbers, got 2"))
    'clip.bvh:12: OFFSET must have 3 numbers, got 2'
    """

    def __init__(self, file: str, line: int, reason: str) -> None:
        super().__init__(file, line, reason)
        self.file, self.line, self.reason = file, line, reason

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass(frozen=True, eq=False)
class Clip:
    """The motion of one performer, without the T-pose that files begin with."""

    name: str
    skeleton: Skeleton
    axes: NDArray[np.int64]  # (joints, 3): what a joint turns about; the first turn is applied last
    angles: NDArray[np.float64]  # (frames, joints, 3), in degrees

    def __len__(self) -> int:
        return len(self.angles)

    def pose(self, frame: int) -> Pose:
        return Pose(self.skeleton, euler(self.axes, self.angles[frame]), self.name, frame)


class Clips(ABC):
    """Clips by name. Only one clip at a time is in memory."""

    path: Path
    names: tuple[str, ...]  # sorted

    @abstractmethod
    def read(self, wanted: Collection[str]) -> Iterator[Clip]:
        """Yield the clips with these names, in any order."""
