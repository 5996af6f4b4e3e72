"""Streams without end: the paper's mixture, and the classic ones, which River draws.

Each takes a number of points and a generator, and gives independent points: nothing here drifts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from river.datasets import synth
from river.datasets.base import SyntheticDataset

from riparian.streams import GaussianMixture

Points = tuple[NDArray[np.float32], NDArray[np.int64]]
Generator = Callable[[int, np.random.Generator], Points]


def mixture(n: int, rng: np.random.Generator) -> Points:
    """The five Gaussian classes in two dimensions of the paper's first experiment."""
    return GaussianMixture.paper().sample(n, rng)


def waveform(seed: int) -> SyntheticDataset:
    """Breiman's waves: each class mixes two of three triangles, sampled at 21 places, with noise."""
    return synth.Waveform(seed=seed)


def rbf(seed: int) -> SyntheticDataset:
    """Fifty clouds in ten dimensions, of random place, width, weight and class (of two)."""
    # The clouds are part of the problem, the points are not.
    return synth.RandomRBF(seed_model=50, seed_sample=seed)


def led(seed: int) -> SyntheticDataset:
    """A digit shown by seven segments, each wrong one time in ten, among 17 random lights.

    Every feature is 0 or 1: nearly all candidate splits are ties.
    """
    return synth.LED(seed=seed, noise_percentage=0.1, irrelevant_features=True)


def sea(seed: int) -> SyntheticDataset:
    """Whether two of three numbers add up to 8 or less, with one label in ten inverted."""
    return synth.SEA(seed=seed, noise=0.1)


def agrawal(seed: int) -> SyntheticDataset:
    """Agrawal's first function: whether a loan goes to those under 40 or from 60 on; no noise.

    One of nine features decides the class, and two splits are enough.
    """
    return synth.Agrawal(seed=seed)


def drawn_by_river(dataset: Callable[[int], SyntheticDataset]) -> Generator:
    def draw(n: int, rng: np.random.Generator) -> Points:
        points = list(dataset(int(rng.integers(2**31))).take(n))
        X = np.array([list(x.values()) for x, _ in points], dtype=np.float32)
        return X, np.array([y for _, y in points], dtype=np.int64)

    return draw


GENERATORS: dict[str, Generator] = {
    "mixture": mixture,
    **{dataset.__name__: drawn_by_river(dataset) for dataset in (waveform, rbf, led, sea, agrawal)},
}
