"""The forest for streams of numbers that change (R26, R27), in plain Python.

Read `riparian.reference_numbers` and `riparian.reference_adaptive` first: this module joins them. A
memory is a weight and a sum, and how large an error is depends on the last errors of the tree. All
numbers below are float64, and each operation is rounded once. The native engine must equal this file
to the last bit.

>>> from riparian.parameters.forests import AdaptiveNumberParameters
>>> from riparian.parameters.schedules import Geometric
>>> from riparian.reference import Columns
>>> one_tree = AdaptiveNumberParameters(
...     n_trees=1, seed=0, candidate_dims=1.0, split_points=10, min_gain=0.1,
...     alpha=Geometric(1, 1.1), beta=Geometric(20, 1.1), structure_fraction=0.5,
...     ignore_fraction=0.0, fringe_size=None, max_memory=None, kept_points=100,
...     drift_confidence=0.01)
>>> forest = AdaptiveNumberForest(one_tree, Columns(n_dims=1, rate=1.0))
>>> x = [[v] for v in (1.0, 2.0, 3.0, 4.0) * 64]
>>> forest.learn(x, [10.0, 10.0, 30.0, 30.0] * 64)
>>> forest.learn(x, [30.0, 30.0, 10.0, 10.0] * 64)
>>> forest.predict([1.0])
30.0
"""

from __future__ import annotations

import math

from riparian.parameters.forests import AdaptiveNumberParameters
from riparian.reference import Label
from riparian.reference_adaptive import FADING, HEADS, ChangeForest
from riparian.reference_eager import FADING as FADING_OF_SCORES
from riparian.reference_numbers import NumberForest, NumberTarget, NumberTrust, Scale

NOTHING = 2.0**-1000  # smaller sums become 0: the smallest numbers would never fade


class NumberMemory:
    """A weight and a sum of the votes in a leaf, which fade with each of them."""

    def __init__(self, factor: float, scale: Scale) -> None:
        self.factor = factor
        self.scale = scale
        self.weight = self.sum = 0.0

    def add(self, z: Label, copies: int) -> None:
        faded = self.sum * self.factor
        self.weight = self.weight * self.factor + float(copies)
        self.sum = (0.0 if abs(faded) < NOTHING else faded) + float(copies) * z

    def empty(self) -> bool:
        return self.weight == 0.0

    def share(self, y: Label) -> int:
        """Return the mean, in units of 2^-28·B."""
        return self.scale.units(self.sum / self.weight, 28)


class NumberErrors:
    """The discounted sum of the squared errors of a tree, and of ones."""

    def __init__(self) -> None:
        self.squared = self.number = 0.0

    def scaled(self, error: float) -> float:
        """Return how large an error is: a quarter if it is as large as the last ones, 1 at most."""
        self.squared = FADING_OF_SCORES * self.squared + error * error
        self.number = FADING_OF_SCORES * self.number + 1.0
        most = 4.0 * math.sqrt(self.squared / self.number)
        return min(abs(error) / most, 1.0) if most > 0.0 else 0.0


class AdaptiveNumberTarget(NumberTarget):
    """Numbers, and the trust in cells and memories."""

    def new_trust(self) -> NumberTrust:
        return NumberTrust(self.scale, len(HEADS), FADING)

    def memory(self, factor: float) -> NumberMemory:
        return NumberMemory(factor, self.scale)

    def errors(self) -> NumberErrors:
        return NumberErrors()


class AdaptiveNumberForest(ChangeForest, NumberForest):
    """The forest of numbers for streams that change."""

    parameters: AdaptiveNumberParameters
    target: AdaptiveNumberTarget

    def new_target(self) -> AdaptiveNumberTarget:
        return AdaptiveNumberTarget()
