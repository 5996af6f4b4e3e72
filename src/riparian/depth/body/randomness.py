"""Randomness by key, as everywhere here (R13): a draw depends on its purpose and on nothing else."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Draw(IntEnum):
    """What is drawn, and the numbers that go with it."""

    POSE = 0  # a random pose: its number
    PICTURE = 1  # build and view: the number of the picture
    SPLIT = 2  # which clips are for testing
    TURN = 3  # the order of the clips: whether to test, and which time
    FRAMES = 4  # the order of the frames: the number of the clip


def generator(seed: int, purpose: Draw, *numbers: int) -> np.random.Generator:
    """The generator of one draw."""
    # Two words each: otherwise a large seed could equal another seed and its number.
    words = [
        half for value in (seed, purpose, *numbers) for half in (value & 0xFFFFFFFF, value >> 32)
    ]
    return np.random.default_rng(words)
