"""Streams without end: the classic synthetic ones, drawn with numpy.

Each takes a number of points and a generator, and gives independent points: nothing here drifts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from riparian.streams import GaussianMixture

Points = tuple[NDArray[np.float32], NDArray[np.int64]]
Generator = Callable[[int, np.random.Generator], Points]


def mixture(n: int, rng: np.random.Generator) -> Points:
    """The five Gaussian classes in two dimensions of the paper's first experiment."""
    return GaussianMixture.paper().sample(n, rng)


def waveform(n: int, rng: np.random.Generator) -> Points:
    """Breiman's waves: each class mixes two of three triangles, sampled at 21 places, with noise."""
    place = np.arange(21)
    triangles = np.stack([np.maximum(6 - np.abs(place - top), 0) for top in (6, 14, 10)])
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    y = rng.integers(3, size=n)
    share = rng.random((n, 1))
    first, second = triangles[pairs[y, 0]], triangles[pairs[y, 1]]
    X = share * first + (1 - share) * second + rng.standard_normal((n, 21))
    return X.astype(np.float32), y


def rbf(n: int, rng: np.random.Generator) -> Points:
    """Fifty clouds in ten dimensions, of random place, width, weight and class (of two)."""
    fixed = np.random.default_rng(50)  # the clouds are part of the problem, the points are not
    centres = fixed.random((50, 10))
    widths, weights = fixed.random(50), fixed.random(50)
    classes = fixed.integers(2, size=50)
    cloud = rng.choice(50, size=n, p=weights / weights.sum())
    direction = rng.uniform(-1, 1, (n, 10))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    X = centres[cloud] + direction * (rng.standard_normal(n) * widths[cloud])[:, None]
    return X.astype(np.float32), classes[cloud]


SEGMENTS = np.array(
    [
        (1, 1, 1, 0, 1, 1, 1), (0, 0, 1, 0, 0, 1, 0), (1, 0, 1, 1, 1, 0, 1), (1, 0, 1, 1, 0, 1, 1),
        (0, 1, 1, 1, 0, 1, 0), (1, 1, 0, 1, 0, 1, 1), (1, 1, 0, 1, 1, 1, 1), (1, 0, 1, 0, 0, 1, 0),
        (1, 1, 1, 1, 1, 1, 1), (1, 1, 1, 1, 0, 1, 1),
    ]
)  # fmt: skip


def led(n: int, rng: np.random.Generator) -> Points:
    """A digit shown by seven segments, each wrong one time in ten, among 17 random lights.

    Every feature is 0 or 1: nearly all candidate splits are ties.
    """
    y = rng.integers(10, size=n)
    shown = SEGMENTS[y] ^ (rng.random((n, 7)) < 0.1)
    X = np.hstack([shown, rng.integers(2, size=(n, 17))])
    return X.astype(np.float32), y


def sea(n: int, rng: np.random.Generator) -> Points:
    """Whether two of three numbers add up to 8 or less, one label in ten turned round."""
    X = rng.uniform(0, 10, (n, 3))
    y = (X[:, 0] + X[:, 1] <= 8) ^ (rng.random(n) < 0.1)
    return X.astype(np.float32), y.astype(np.int64)


def agrawal(n: int, rng: np.random.Generator) -> Points:
    """Agrawal's first function: whether a loan goes to those under 40 or from 60 on; no noise.

    One feature of nine tells everything, and takes two splits.
    """
    salary = rng.uniform(20_000, 150_000, n)
    commission = np.where(salary >= 75_000, 0, rng.uniform(10_000, 75_000, n))
    age = rng.integers(20, 81, n)
    education, car, zipcode = (
        rng.integers(5, size=n),
        rng.integers(1, 21, n),
        rng.integers(9, size=n),
    )
    house = rng.uniform(50_000, 150_000, n) * (9 - zipcode)
    years, loan = rng.integers(1, 31, n), rng.uniform(0, 500_000, n)
    X = np.column_stack([salary, commission, age, education, car, zipcode, house, years, loan])
    y = (age >= 40) & (age < 60)
    return X.astype(np.float32), y.astype(np.int64)


GENERATORS: dict[str, Generator] = {
    "mixture": mixture,
    "waveform": waveform,
    "rbf": rbf,
    "led": led,
    "sea": sea,
    "agrawal": agrawal,
}
