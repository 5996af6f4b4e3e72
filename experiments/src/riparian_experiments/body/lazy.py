"""Sequences that make items on demand, and randomness by key (R13).

A draw depends only on its purpose and its numbers, so an item is the same every time.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from enum import IntEnum
from typing import TypeVar, overload

import numpy as np

Item = TypeVar("Item", covariant=True)


class Lazy(Sequence[Item]):
    """The base of lazy sequences: a subclass defines the length and makes item i."""

    @abstractmethod
    def _make(self, i: int) -> Item:
        """Make item i, which must be the same every time."""

    @overload
    def __getitem__(self, i: int) -> Item: ...
    @overload
    def __getitem__(self, i: slice) -> list[Item]: ...
    def __getitem__(self, i: int | slice) -> Item | list[Item]:
        if isinstance(i, slice):
            return [self._make(k) for k in range(len(self))[i]]
        return self._make(range(len(self))[i])


class Draw(IntEnum):
    """The purpose of a draw, and the numbers that identify it."""

    POSE = 0  # a random pose: its number
    PICTURE = 1  # build and view: the number of the picture
    SPLIT = 2  # which clips are for testing
    TURN = 3  # the order of the clips: whether to test, and which time
    FRAMES = 4  # the order of the frames: the number of the clip


def generator(seed: int, purpose: Draw, *numbers: int) -> np.random.Generator:
    """Return the generator of one draw."""
    # Two words each: otherwise a large seed could equal another seed and its number.
    words = [
        half for value in (seed, purpose, *numbers) for half in (value & 0xFFFFFFFF, value >> 32)
    ]
    return np.random.default_rng(words)
