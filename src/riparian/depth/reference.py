"""Depth images as a feature space of the reference (R16): read it with `riparian.reference`.

A feature is a pair of offsets; its value at a pixel is the difference of the depths at two places. It
depends neither on the place of a pixel nor on its distance: offsets shrink with distance, as objects do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.reference import Draws

REFERENCE_DEPTH = np.float32(2.0)  # r, in metres: offsets are pixels there

BEYOND = np.float32(2**20)  # pixels; larger offsets are equivalent

Offsets = tuple[float, float, float, float]  # row and column of the first place, then of the second


@dataclass(frozen=True)
class Pixel:
    """A point of the stream: a place in an image whose depths are all positive."""

    image: NDArray[np.float32]
    row: int
    column: int


class DepthDifferences:
    """Infinitely many dimensions: a leaf draws `how_many` of them, each a pair of offsets."""

    def __init__(self, offset_std: float, far: float, rate: float) -> None:
        self.offset_std = offset_std
        self.far = np.float32(far)
        self.rate = rate  # λ

    def how_many(self, draws: Draws) -> int:
        return 1 + draws.poisson(self.rate)

    def draw(self, draws: Draws) -> list[Offsets]:
        return [self.draw_one(draws) for _ in range(self.how_many(draws))]

    def draw_one(self, draws: Draws) -> Offsets:
        a, b, c, d = (float(np.float32(self.offset_std * draws.gaussian())) for _ in range(4))
        return a, b, c, d

    def is_categorical(self, offsets: Offsets) -> bool:
        return False

    def value(self, offsets: Offsets, x: Pixel) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            scale = REFERENCE_DEPTH / x.image[x.row, x.column]
            first, second = (
                self.depth(
                    x, x.row + moved(offsets[i], scale), x.column + moved(offsets[i + 1], scale)
                )
                for i in (0, 2)
            )
            return float(first - second)

    def depth(self, x: Pixel, row: int, column: int) -> np.float32:
        """Return the depth at a place; outside the image, the far depth."""
        height, width = x.image.shape
        inside = 0 <= row < height and 0 <= column < width
        return np.float32(x.image[row, column]) if inside else self.far


class FixedDepthDifferences(DepthDifferences):
    """Differences of depth of which a leaf draws a fixed number (R18)."""

    def __init__(self, offset_std: float, far: float, candidates: int) -> None:
        super().__init__(offset_std, far, rate=float("nan"))
        self.candidates = candidates

    def how_many(self, draws: Draws) -> int:
        return self.candidates


def moved(offset: float, scale: Any) -> int:
    """Return trunc(offset · r / z) in float32; NaN gives a place outside the image."""
    by = np.float32(offset) * scale
    by = by if by < BEYOND else BEYOND
    return int(max(by, -BEYOND))
