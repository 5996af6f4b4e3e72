"""The excess error of a classifier over Bayes, and the rate at which it falls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riparian import OnlineForestClassifier
from riparian.streams import Estimate, Stream
from riparian_experiments.compared import majority

Answers = NDArray[np.int64]

BATCH = 50_000  # points per draw


@dataclass(frozen=True, eq=False)
class Yardstick:
    """Test points whose class probabilities are known.

    The excess error of a classifier g is E[max_k η^k(X) - η^g(X)(X)]. It does not need the labels of the
    test points, whose noise is far larger than the excess.
    """

    X: NDArray[np.float32]
    proba: NDArray[np.float64]  # η, one row per point

    @classmethod
    def of(cls, stream: Stream, points: int, rng: np.random.Generator) -> Yardstick:
        X, _ = stream.sample(points, rng)
        return cls(X, stream.bayes_proba(X))

    def excess(self, answers: Answers) -> NDArray[np.float64]:
        """Return the mean excess of each column of class numbers; -1 (no answer) is a random guess.

        >>> stick = Yardstick(np.zeros((2, 1), np.float32), np.array([[0.9, 0.1], [0.4, 0.6]]))
        >>> stick.excess(np.array([[0, 1], [1, 0]])).round(3).tolist()
        [0.0, 0.5]
        """
        chosen = np.take_along_axis(self.proba, np.maximum(answers, 0), axis=1)
        chosen = np.where(answers < 0, self.proba.mean(axis=1, keepdims=True), chosen)
        return np.asarray((self.proba.max(axis=1, keepdims=True) - chosen).mean(axis=0))


@dataclass(frozen=True)
class Excess:
    """The excess error of the trees and of their vote after this many points."""

    points: int
    mean_tree: float
    forest: float
    leaves: float  # per tree, on average


def excess_along(
    stream: Stream,
    forest: OnlineForestClassifier,
    sizes: Sequence[int],
    yardstick: Yardstick,
    rng: np.random.Generator,
) -> Iterator[Excess]:
    """Let the forest learn the stream, and measure it at each size."""
    classes = np.arange(stream.n_classes)
    learned = 0
    for size in sizes:
        for first in range(learned, size, BATCH):
            forest.partial_fit(*stream.sample(min(BATCH, size - first), rng), classes=classes)
        learned = size
        # The labels are 0, 1, 2, ..., so the index of a class is its label.
        answers = forest.predict_trees(yardstick.X)
        vote = majority(answers, stream.n_classes)
        yield Excess(
            size,
            mean_tree=float(yardstick.excess(answers).mean()),
            forest=float(yardstick.excess(vote[:, None])[0]),
            leaves=forest.stats()["leaves"] / answers.shape[1],
        )


def fitted_rate(
    points: Sequence[Sequence[float]], excess: Sequence[Sequence[float]], least: float
) -> Estimate:
    """Return the exponent r in excess ~ points^r, fitted to each run from `least` points on.

    The standard error is that of the mean over the runs, and NaN for one run. The residuals of a fitted
    line would say little, because the measurements within a run depend on each other.

    >>> fitted_rate([[10, 100, 1000]] * 2, [[0.5, 0.05, 0.005], [0.2, 0.02, 0.002]], least=10)
    Estimate(value=-1.0, standard_error=0.0)
    """
    slopes = [
        _slope(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64), least)
        for x, y in zip(points, excess, strict=True)
    ]
    error = float(np.std(slopes, ddof=1) / np.sqrt(len(slopes))) if len(slopes) > 1 else np.nan
    return Estimate(round(float(np.mean(slopes)), 12), round(error, 12))


def _slope(x: NDArray[np.float64], y: NDArray[np.float64], least: float) -> float:
    there = (x >= least) & (y > 0)  # an excess of 0 has no logarithm
    if there.sum() < 2:
        raise ValueError(f"a rate needs two sizes of at least {least:g} points, got {x.tolist()}")
    return float(np.polyfit(np.log(x[there]), np.log(y[there]), 1)[0])
