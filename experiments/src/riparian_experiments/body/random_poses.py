"""Plausible random poses: a person stands, walks, sits, ... and does something with each arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from riparian.tools.checks import whole
from riparian_experiments.body.anatomy import Arm, Leg, Trunk, posed
from riparian_experiments.body.lazy import Draw, Lazy, generator
from riparian_experiments.body.skeleton import Pose
from riparian_experiments.body.tangle import tangled

Range = tuple[float, float]  # degrees, from and to


class Stance(NamedTuple):
    """Ranges for trunk and legs. The legs may differ; which one is the left one is random."""

    share: float  # of all poses
    pitch: Range  # of the pelvis
    bend: Range  # of the spine
    thigh: tuple[Range, Range]  # of each leg, ahead of the vertical
    knee: tuple[Range, Range]
    abduction: Range = (0, 12)
    arms: tuple[str, ...] = ("hang", "hang", "swing", "bent", "ahead", "side", "up")


class Reach(NamedTuple):
    """Ranges for an `Arm`."""

    elevation: Range
    plane: Range
    twist: Range
    elbow: Range


STANCES = {
    "stand": Stance(0.3, (-4, 8), (-6, 12), ((-6, 10), (-6, 10)), ((0, 14), (0, 14)), (1, 14)),
    "walk": Stance(
        0.25, (-2, 10), (-4, 12), ((10, 38), (-24, 0)), ((0, 28), (5, 55)), (0, 6),
        ("hang", "swing", "swing", "swing", "bent", "ahead"),
    ),
    "step": Stance(0.1, (-8, 20), (-6, 20), ((25, 85), (-15, 5)), ((5, 100), (0, 25)), (2, 18)),
    "sit": Stance(0.15, (-12, 18), (0, 25), ((72, 100), (72, 100)), ((60, 110), (60, 110)), (3, 22)),
    "crouch": Stance(
        0.12, (8, 38), (5, 35), ((55, 108), (55, 108)), ((85, 138), (85, 138)), (6, 30),
    ),
    "kneel": Stance(0.04, (-5, 20), (0, 25), ((70, 100), (-12, 12)), ((75, 105), (80, 105)), (3, 14)),
    "bow": Stance(0.04, (25, 60), (10, 45), ((-8, 10), (-8, 12)), ((0, 30), (0, 30)), (3, 16)),
}  # fmt: skip

REACHES = {
    "hang": Reach((5, 22), (-20, 60), (-15, 40), (2, 35)),
    "swing": Reach((12, 42), (-90, 90), (-10, 30), (5, 55)),
    "bent": Reach((10, 50), (-30, 90), (-30, 60), (60, 140)),
    "ahead": Reach((50, 115), (50, 105), (-30, 40), (0, 75)),
    "side": Reach((45, 115), (-20, 50), (-50, 50), (0, 100)),
    "up": Reach((115, 172), (0, 80), (-30, 45), (0, 95)),
}  # fmt: skip

_TRIES = 60  # three draws in four are free of tangles


class RandomPoses(Lazy[Pose]):
    """Poses of the built-in generator, drawn on demand; pose i is always the same.

    >>> poses = RandomPoses(1000, seed=0)
    >>> len(poses), poses[3].rotations.shape
    (1000, (23, 3, 3))
    """

    def __init__(self, count: int, seed: int = 0, first: int = 0) -> None:
        self._count = whole("count", count, 0, 2**62)
        self.seed = whole("seed", seed, 0, 2**64 - 1)
        self.first = whole("first", first, 0, 2**62)  # of the seed's endless sequence of poses

    def __len__(self) -> int:
        return self._count

    def _make(self, i: int) -> Pose:
        return random_pose(generator(self.seed, Draw.POSE, self.first + i))


def random_pose(rng: np.random.Generator) -> Pose:
    """Draw a pose in which no part intersects another."""
    for _ in range(_TRIES):
        pose = _drawn(rng)
        if not tangled(pose.skeleton.place(pose.rotations)):
            break
    return pose


def _drawn(rng: np.random.Generator) -> Pose:
    names = list(STANCES)
    stance = STANCES[names[rng.choice(len(names), p=[STANCES[name].share for name in names])]]
    pitch = rng.uniform(*stance.pitch)
    legs = [
        _leg(rng, thigh, knee, stance.abduction, pitch)
        for thigh, knee in zip(stance.thigh, stance.knee, strict=True)
    ]
    arms = _arms(rng, stance.arms)
    if rng.random() < 0.5:
        legs.reverse()
    return posed(_trunk(rng, pitch, stance.bend), (legs[0], arms[0]), (legs[1], arms[1]))


def _trunk(rng: np.random.Generator, pitch: float, bend: Range) -> Trunk:
    return Trunk(
        pitch=pitch,
        bend=rng.uniform(*bend),
        lean=rng.normal(0, 6),
        twist=rng.normal(0, 10),
        nod=rng.normal(0, 10) - pitch / 3,  # eyes to the front
        tilt=rng.normal(0, 6),
        look=rng.normal(0, 22),
    )


def _leg(
    rng: np.random.Generator, thigh: Range, knee: Range, abduction: Range, pitch: float
) -> Leg:
    ahead, bent = rng.uniform(*thigh), rng.uniform(*knee)
    return Leg(
        flexion=ahead + pitch,
        abduction=rng.uniform(*abduction),
        rotation=rng.uniform(-5, 18),
        knee=bent,
        ankle=bent
        - ahead
        + rng.normal(0, 5),  # the sole flat on the floor, as far as the ankle allows
    )


def _arms(rng: np.random.Generator, kinds: Sequence[str]) -> list[Arm]:
    """Draw two arms; in every third pose, both do the same."""
    left, other = (kinds[int(rng.integers(len(kinds)))] for _ in range(2))
    right = left if rng.random() < 1 / 3 else other
    return [_arm(rng, REACHES[kind]) for kind in (left, right)]


def _arm(rng: np.random.Generator, reach: Reach) -> Arm:
    return Arm(
        elevation=rng.uniform(*reach.elevation),
        plane=rng.uniform(*reach.plane),
        twist=rng.uniform(*reach.twist),
        elbow=rng.uniform(*reach.elbow),
        wrist=rng.normal(5, 15),
        roll=rng.normal(0, 30),
    )
