"""Where the poses of the experiment come from, the same in all runs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from riparian.depth.body import Pose, train_test_poses
from riparian.experiments.errors import DataError
from riparian.experiments.studies.kinect.settings import Settings


@dataclass(frozen=True)
class PoseSource:
    """Motion capture, or the built-in generator."""

    path: Path | None = None  # None: random poses
    share_clips: bool = False  # whether a clip may give poses to train on and poses to test on

    def draw(self, settings: Settings) -> tuple[Sequence[Pose], Sequence[Pose]]:
        """Poses to train on, and poses to test on; `DataError` if there are none."""
        return _drawn(self, settings)

    def described(self) -> dict[str, Any]:
        """What settings say of it: enough to tell whether two results are of the same poses."""
        if self.path is None:
            return {"name": "built-in random poses"}
        files = sorted(self.path.rglob("*.bvh")) if self.path.is_dir() else [self.path]
        digest = hashlib.sha256()
        for file in files:
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        shared = {"share_clips": True} if self.share_clips else {}
        return {"name": self.path.name, "sha256": digest.hexdigest(), **shared}


@lru_cache(maxsize=1)  # a process computes many cells of the same poses
def _drawn(source: PoseSource, settings: Settings) -> tuple[Sequence[Pose], Sequence[Pose]]:
    train, test, seed = settings.train, settings.test, settings.seed
    try:
        return train_test_poses(source.path, train, test, seed=seed, share_clips=source.share_clips)
    except ValueError as error:
        raise DataError(str(error).replace("share_clips=True", "--share-clips")) from error
