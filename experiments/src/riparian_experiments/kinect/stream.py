"""The stream of the experiment: poses, the same in all runs, as pictures and pixels to learn."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riparian.depth import sample_pixels
from riparian_experiments.body import Pictures, Pose, train_test_poses
from riparian_experiments.kinect.settings import Settings
from riparian_experiments.readers import DataError

TEST, ORDER, TRAIN, PIXELS, FOREST = range(5)  # purposes of random numbers


@dataclass(frozen=True)
class PoseSource:
    """Motion capture, or the built-in generator."""

    path: Path | None = None  # None: random poses
    share_clips: bool = False  # whether a clip may give poses to train on and poses to test on

    def draw(self, settings: Settings) -> tuple[Sequence[Pose], Sequence[Pose]]:
        """Return poses to train on, and poses to test on; raise a `DataError` if there are none."""
        return _drawn(self, settings)

    def described(self) -> dict[str, Any]:
        """Return the description in the settings, which identifies the poses."""
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


class Sample(NamedTuple):
    """Some pixels of a picture, and the parts that they show."""

    depth: NDArray[np.float32]  # (1, height, width)
    pixels: NDArray[np.int32]  # one row per pixel: image (0), row and column
    parts: NDArray[np.uint8]


class TrainingStream:
    """The samples of a run, one per picture, in any order.

    All runs have the same poses, but each has its own order, builds, views and pixels.
    """

    def __init__(self, poses: PoseSource, settings: Settings, run: int) -> None:
        self._settings, self._run = settings, run
        train, _ = poses.draw(settings)
        self._pictures = _pictures(train, settings, (TRAIN, run))
        self._order = _generator(settings, ORDER, run).permutation(len(train))

    def __len__(self) -> int:
        return len(self._pictures)

    def __getitem__(self, place: int) -> Sample:
        depth, parts = self._pictures[int(self._order[place])]
        random_state = seed(self._settings, PIXELS, self._run, place) % 2**32
        per_class = self._settings.per_class
        return Sample(
            depth[None], *sample_pixels(parts[None], per_class, random_state=random_state)
        )


def pictures_to_test_on(poses: PoseSource, settings: Settings) -> Pictures:
    """Return the test pictures, which are the same in all runs."""
    _, test = poses.draw(settings)
    return _pictures(test, settings, (TEST,))


def body_pixels(depth: NDArray[np.float32], parts: NDArray[np.uint8]) -> Sample:
    """Return all pixels of a picture that show a part of the body."""
    row, column = np.nonzero(parts)
    pixels = np.stack([np.zeros_like(row), row, column], axis=1).astype(np.int32)
    return Sample(depth[None], pixels, parts[row, column])


def seed(settings: Settings, *purpose: int) -> int:
    """Return a seed that depends only on the purpose and the seed of the settings."""
    return int(_generator(settings, *purpose).integers(2**63))


def _generator(settings: Settings, *purpose: int) -> np.random.Generator:
    return np.random.default_rng([settings.seed, *purpose])


def _pictures(poses: Sequence[Pose], settings: Settings, purpose: tuple[int, ...]) -> Pictures:
    return Pictures(poses, settings.size, seed(settings, *purpose), far=settings.common.far)
