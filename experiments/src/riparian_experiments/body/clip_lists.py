"""Read the poses of the paper's clip lists from one .npz file.

It has `channels` (int16, in hundredths of a unit or a degree: the root's position, then Z, Y and X of
each joint), the `clip` of each row, `clip_name`, `skeleton_offsets` of each clip, `joint_names` and
`joint_parent`; and the lists of the authors, `train_large` and `test`: rows in their order, and -1 for
rows of an absent clip.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian_experiments.body.bvh import UNIT
from riparian_experiments.body.clip import Clip, Clips
from riparian_experiments.body.rotations import X, Y, Z
from riparian_experiments.body.skeleton import Pose, Skeleton

Arrays = dict[str, NDArray[Any]]

LISTS = ("train_large", "test")
_DAMAGE = (zipfile.BadZipFile, zlib.error)
_ARRAYS = {  # dimensions and kinds of type
    "channels": (2, "iu"), "clip": (1, "iu"), "clip_name": (1, "U"), "skeleton_offsets": (3, "f"),
    "joint_names": (1, "U"), "joint_parent": (1, "iu"), **dict.fromkeys(LISTS, (1, "iu")),
}  # fmt: skip


class ListedClips(Clips):
    """The clips of the lists. All are in memory: they have a few thousand poses."""

    def __init__(self, path: Path) -> None:
        self.path = path
        arrays = _read(path)
        reason = _wrong(arrays)
        if reason:
            raise ValueError(f"{path}: {reason}")
        self._clips = {name: _clip(path, arrays, i) for i, name in enumerate(_names(arrays))}
        self.names = tuple(sorted(self._clips))
        self._lists = {name: arrays[name][arrays[name] >= 0] for name in LISTS}
        self._clip_of_row = arrays["clip"]
        self._frame_of_row = np.empty(len(arrays["clip"]), dtype=np.int64)
        for i in range(len(self.names)):
            rows = np.flatnonzero(arrays["clip"] == i)
            self._frame_of_row[rows] = np.arange(len(rows))

    def read(self, wanted: Collection[str]) -> Iterator[Clip]:
        yield from (self._clips[name] for name in wanted)

    def listed(self, name: str, count: int) -> list[Pose]:
        """Return the first poses of one of the authors' `LISTS`, in their order."""
        rows = self._lists[name]
        if count > len(rows):
            raise ValueError(
                f"the list {name} of {self.path} has {len(rows)} poses, but {count} are needed"
            )
        clips = list(self._clips.values())
        return [
            clips[self._clip_of_row[row]].pose(int(self._frame_of_row[row])) for row in rows[:count]
        ]


def _names(arrays: Arrays) -> list[str]:
    return [str(name) for name in arrays["clip_name"]]


def _clip(path: Path, arrays: Arrays, i: int) -> Clip:
    name = str(arrays["clip_name"][i])
    joints = len(arrays["joint_names"])
    try:
        skeleton = Skeleton(
            names=tuple(arrays["joint_names"].tolist()),
            parents=tuple(arrays["joint_parent"].tolist()),
            offsets=UNIT * arrays["skeleton_offsets"][i].astype(np.float64),
        )
    except ValueError as error:
        raise ValueError(f"{path}: clip {name}: {error}") from error
    rotations = arrays["channels"][arrays["clip"] == i, 3:].reshape(-1, joints, 3) / 100
    return Clip(name, skeleton, np.tile([Z, Y, X], (joints, 1)), rotations)


def _read(path: Path) -> Arrays:
    """Return the arrays by name, after a check of their types."""
    arrays = {}
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            for name, (dimensions, kinds) in _ARRAYS.items():
                array = file[name]
                if array.ndim != dimensions or array.dtype.kind not in kinds:
                    raise ValueError(f"{name} has {array.ndim} dimensions of type {array.dtype}")
                arrays[name] = array
    except (KeyError, ValueError, RuntimeError, OSError, EOFError, *_DAMAGE) as error:
        raise ValueError(f"{path} must be a list of poses as .npz: {error}") from error
    return arrays


def _wrong(arrays: Arrays) -> str | None:
    """Return the first inconsistency of the arrays, or None."""
    joints, clips, rows = (len(arrays[name]) for name in ("joint_names", "clip_name", "channels"))
    parents, clip = arrays["joint_parent"], arrays["clip"]
    if arrays["channels"].shape[1] != 3 + 3 * joints:
        return "channels must have 3 columns and 3 for each joint"
    if arrays["skeleton_offsets"].shape != (clips, joints, 3):
        return "skeleton_offsets must be (clips, joints, 3)"
    if parents.shape != (joints,) or not np.array_equal(parents < 0, np.arange(joints) == 0):
        return "joint_parent must be -1 for the first joint, and a joint for every other one"
    if (parents >= np.arange(joints)).any():
        return "joint_parent must name an earlier joint"
    if len(set(arrays["joint_names"].tolist())) < joints or len(set(_names(arrays))) < clips:
        return "names of joints and clips must differ"
    if len(clip) != rows or not np.array_equal(np.unique(clip), np.arange(clips)):
        return "clip must be one of clip_name for each row, and each must have a row"
    for name in LISTS:
        if ((arrays[name] < -1) | (arrays[name] >= rows)).any():
            return f"{name} must hold rows of channels, or -1"
    return None
