"""Eleven streams that change, each with a name: what adaptive forests are compared on.

They are those of Gomes et al., *Adaptive random forests for evolving data stream classification* (2017),
drawn by River, shorter: LED, Agrawal and SEA pass through four concepts, abruptly or gradually, with
changes at a quarter, a half and three quarters; the clouds of RBF and the hyperplane move all the time;
a random tree is replaced by another; `elec` is real, and needs the data.

Every engine sees the same points: a stream is drawn once, into arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from river.datasets import synth
from river.datasets.base import SyntheticDataset

from benchmarks.workloads import available, data_directory
from benchmarks.workloads import load as load_workload

Points = tuple[NDArray[np.float32], NDArray[np.int64]]
Draw = Callable[[int, np.random.Generator], Points]
Concept = Callable[[int], SyntheticDataset]  # from a seed

POINTS = 20_000
ELEC = "elec"
CHANGES = (0.25, 0.5, 0.75)  # of the stream: where a concept is half replaced by the next
ABRUPT = 50  # points that a change takes
GRADUAL = 0.05  # of the stream


def led(drifting: int) -> Concept:
    """Seven segments among 17 random lights; some of the seven have changed places with others."""
    return lambda seed: synth.LEDDrift(
        seed=seed, noise_percentage=0.1, irrelevant_features=True, n_drift_features=drifting
    )


def agrawal(function: int) -> Concept:
    """Decide on a loan by one of Agrawal's functions; numbers are perturbed by up to 5 %, as in MOA."""
    return lambda seed: synth.Agrawal(
        classification_function=function, seed=seed, perturbation=0.05
    )


def sea(variant: int) -> Concept:
    """Compare the sum of two of three numbers with a threshold; one label in ten is inverted."""
    return lambda seed: synth.SEA(variant=variant, noise=0.1, seed=seed)


def random_tree(seed: int) -> SyntheticDataset:
    """Five numbers and five categories, labelled by a random tree."""
    return synth.RandomTree(seed_tree=seed, seed_sample=seed + 1)


def hyperplane(seed: int) -> SyntheticDataset:
    """Classify by the side of a hyperplane in ten dimensions, all of whose weights move."""
    return synth.Hyperplane(seed=seed, n_features=10, n_drift_features=10, mag_change=0.001)


def rbf(speed: float) -> Concept:
    """Fifty clouds of five classes in ten dimensions, all of which move."""
    return lambda seed: synth.RandomRBFDrift(
        seed_model=seed, seed_sample=seed + 1, n_classes=5, change_speed=speed
    )


LEDS = [led(drifting) for drifting in (1, 3, 5, 7)]
AGRAWALS = [agrawal(function) for function in range(4)]
SEAS = [sea(variant) for variant in range(4)]
TREES = [random_tree] * 4  # each with a seed of its own, so that all differ


def steady(concept: Concept) -> Draw:
    """One concept from the first point to the last."""
    return lambda points, rng: drawn(concept, points, rng)


def abrupt(concepts: Sequence[Concept]) -> Draw:
    return lambda points, rng: changing(concepts, points, ABRUPT, rng)


def gradual(concepts: Sequence[Concept]) -> Draw:
    return lambda points, rng: changing(concepts, points, GRADUAL * points, rng)


def drawn(concept: Concept, points: int, rng: np.random.Generator) -> Points:
    pairs = list(islice(concept(int(rng.integers(2**31))), points))
    X = np.array([list(x.values()) for x, _ in pairs], dtype=np.float32)
    return X, np.array([y for _, y in pairs], dtype=np.int64)


def changing(
    concepts: Sequence[Concept], points: int, width: float, rng: np.random.Generator
) -> Points:
    """Draw one concept after the other; MOA's sigmoid gives the probability of the next one.

    River's own stream does this for two concepts, but for a narrow change its exponential overflows.
    """
    which = concept_of(points, width, rng)
    parts = [drawn(concept, int((which == k).sum()), rng) for k, concept in enumerate(concepts)]
    X = np.empty((points, parts[0][0].shape[1]), dtype=np.float32)
    y = np.empty(points, dtype=np.int64)
    for k, (rows, labels) in enumerate(parts):
        X[which == k], y[which == k] = rows, labels
    return X, y


def concept_of(points: int, width: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the concept of each point, 0 to 3."""
    which = np.zeros(points, dtype=np.int64)
    for k, change in enumerate(CHANGES, start=1):
        beyond = 4.0 * (np.arange(points) - change * points) / width
        share_of_next = (1.0 + np.tanh(beyond / 2)) / 2  # the sigmoid, without an overflow
        which[rng.random(points) < share_of_next] = k
    return which


DRAWN: dict[str, Draw] = {
    "led-abrupt": abrupt(LEDS),
    "led-gradual": gradual(LEDS),
    "agrawal-abrupt": abrupt(AGRAWALS),
    "agrawal-gradual": gradual(AGRAWALS),
    "sea-abrupt": abrupt(SEAS),
    "sea-gradual": gradual(SEAS),
    "rbf-slow": steady(rbf(0.0001)),
    "rbf-fast": steady(rbf(0.001)),
    "hyperplane": steady(hyperplane),
    "tree-abrupt": abrupt(TREES),
}
NAMES = (*DRAWN, ELEC)
WITH_CHANGES = tuple(name for name in DRAWN if name.endswith(("abrupt", "gradual")))


@lru_cache(maxsize=64)
def load(name: str, points: int | None = None, seed: int = 1, data: Path | None = None) -> Points:
    """Return the first points of a stream: features, and labels 0, 1, 2, ...

    Without a number, 20,000 that are drawn, or all of `elec`. `elec` is the same for every seed.
    """
    if name == ELEC:
        workload = load_workload(ELEC, data_directory(data), points=points)
        return workload.X, workload.y
    if name not in DRAWN:
        raise ValueError(f"stream must be one of {', '.join(NAMES)}, got {name!r}")
    return DRAWN[name](points or POINTS, np.random.default_rng([seed, NAMES.index(name)]))


def there(data: Path | None = None) -> list[str]:
    """Return the names that can be loaded; `elec` needs the data."""
    return [name for name in NAMES if name != ELEC or ELEC in available(data_directory(data))]
