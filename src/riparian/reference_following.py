"""Answers of a forest for numbers that follow the last known target (R29), in plain Python.

Read `riparian.reference_numbers` first. In most real streams, a target resembles those just before it,
and so do the errors of the trees, which see each point by itself. The forest learns how far, by least
squares. All numbers below are float64, and each operation is rounded once. The native
engine must equal this file to the last bit.

>>> following = Following(lag=1)
>>> for _ in range(100):
...     following.judge(target=5.0, answer=3.0)  # what the trees answer is too small, always
>>> following.answer(3.0) > 4.7
True
"""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

FADING = 0.999
CAUTION = 10.0  # this many points say that errors do not last


class Pair(NamedTuple):
    """The target of a point, and what the trees answered before they learned it."""

    target: float
    answer: float


class Following:
    """The correction of answers by the last targets and errors."""

    def __init__(self, lag: int) -> None:
        self.lag = lag  # answers are for the point that comes this many points after the last one
        self.pairs: deque[Pair] = deque(maxlen=lag)  # of the last points
        self.sums = [0.0] * 7  # of products of x1, x2 and the error; of squared errors, and of ones

    def judge(self, target: float, answer: float) -> None:
        """Follow a point that is about to be learned, given what the trees answer."""
        if len(self.pairs) == self.lag:
            known = self.pairs[0]  # the last pair that was known when this answer was due
            error = target - answer
            x1, x2 = known.target - known.answer, known.target - answer
            products = (x1 * x1, x1 * x2, x2 * x2, x1 * error, x2 * error, error * error, 1.0)
            self.sums = [
                FADING * mine + product for mine, product in zip(self.sums, products, strict=True)
            ]
        self.pairs.append(Pair(target, answer))

    def shares(self) -> tuple[float, float]:
        """Return φ and ψ: how much of the last error, and of the last target, an answer takes."""
        x1x1, x1x2, x2x2, x1e, x2e, _, n = self.sums
        if not n > 0.0:
            return 0.0, 0.0
        more = 1.0 + CAUTION / n
        a = x1x1 * more
        q = x1x2 / a if a > 0.0 else 0.0
        d = x2x2 * more - x1x2 * q
        psi = from_0_to_1((x2e - x1e * q) / d) if d > 0.0 else 0.0
        phi = from_0_to_1((x1e - x1x2 * psi) / a) if a > 0.0 else 0.0
        return phi, psi

    def answer(self, plain: float) -> float:
        """Return the answer of the forest, given what the trees answer."""
        phi, psi = self.shares()
        last = self.pairs[-1] if self.pairs else Pair(0.0, 0.0)
        return plain + phi * (last.target - last.answer) + psi * (last.target - plain)

    def spread(self) -> float:
        """Return how large errors are, compared with those of the trees: 1 at most."""
        x1x1, x1x2, x2x2, x1e, x2e, ee, _ = self.sums
        phi, psi = self.shares()
        gained = 2.0 * (phi * x1e + psi * x2e)
        spent = phi * phi * x1x1 + 2.0 * (phi * psi * x1x2) + psi * psi * x2x2
        left = ee - gained + spent
        return min(1.0, math.sqrt(left / ee)) if left > 0.0 and ee > 0.0 else 1.0


def from_0_to_1(share: float) -> float:
    return min(max(share, 0.0), 1.0)
