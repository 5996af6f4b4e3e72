"""What a run learns and what it is tested on: pictures of poses, rendered when they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riparian.depth import sample_pixels
from riparian.depth.body import Pictures, Pose
from riparian.experiments.studies.kinect.learning.poses import PoseSource
from riparian.experiments.studies.kinect.settings import Settings

TEST, ORDER, TRAIN, PIXELS, FOREST = range(5)  # purposes of random numbers


class Sample(NamedTuple):
    """Pixels of a picture, and the parts that they show."""

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
    """The same in all runs, so that runs differ only in what was learned."""
    _, test = poses.draw(settings)
    return _pictures(test, settings, (TEST,))


def body_pixels(depth: NDArray[np.float32], parts: NDArray[np.uint8]) -> Sample:
    """All pixels of a picture that show a part of the body."""
    row, column = np.nonzero(parts)
    pixels = np.stack([np.zeros_like(row), row, column], axis=1).astype(np.int32)
    return Sample(depth[None], pixels, parts[row, column])


def seed(settings: Settings, *purpose: int) -> int:
    """A number for each purpose, which depends only on the purpose and the seed."""
    return int(_generator(settings, *purpose).integers(2**63))


def _generator(settings: Settings, *purpose: int) -> np.random.Generator:
    return np.random.default_rng([settings.seed, *purpose])


def _pictures(poses: Sequence[Pose], settings: Settings, purpose: tuple[int, ...]) -> Pictures:
    return Pictures(poses, settings.size, seed(settings, *purpose), far=settings.common.far)
