"""Two streams for `riparian demo`: one with a known best accuracy, and one of real images.

The mixture is that of the paper's first experiment: five Gaussian classes that overlap. Even the Bayes
classifier, which knows the densities, is right on only two points out of three. The digits are those of
scikit-learn. Every point of both streams is predicted before it is learned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from riparian import Geometric, OnlineForestClassifier
from riparian.evaluation import Prequential
from riparian.explain import SurestMistakes
from riparian.streams import GaussianMixture

SIZES = (100, 188, 355, 669, 1261, 2377, 4481, 8445, 15917, 30000)
DIGIT_SIZES = (100, 200, 400, 800, 1200, 1797)
BLOCK = 50  # points that are predicted, then learned, together


@dataclass
class Run:
    """A forest, with the test on the stream that it learns."""

    forest: OnlineForestClassifier
    classes: NDArray[np.int64]
    test: Prequential = field(default_factory=lambda: Prequential(window=500))
    mistakes: SurestMistakes = field(default_factory=SurestMistakes)
    learned: int = 0
    seconds: float = 0.0  # of learning, and of the tests, which are made row by row

    def learn(self, X: NDArray[Any], y: NDArray[np.int64]) -> None:
        """Learn the points in their order, and test each just before."""
        for first in range(0, len(y), BLOCK):
            X_block, y_block = X[first : first + BLOCK], y[first : first + BLOCK]
            self.seconds += self.test.test_then_train(
                self.forest, X_block, y_block, self.classes, watch=self.mistakes.update
            )
            self.learned += len(y_block)
            if self.test.due:
                self.mark()

    def mark(self) -> None:
        """Add a point to the curve."""
        self.test.mark_forest(self.forest, row=self.learned, seconds=self.seconds)

    @property
    def leaves(self) -> float:
        """Return the mean number of leaves per tree."""
        return float(self.forest.stats()["leaves"]) / self.forest.n_estimators


# -- the mixture ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MixtureRow:
    """The forest after some points of the mixture."""

    HEADER: ClassVar[str] = "  points   forest  mean tree    Bayes  leaves/tree    points/s"

    points: int  # learned so far
    forest: float  # accuracy of the forest on the test set
    mean_tree: float  # accuracy of its trees on the test set, averaged over the trees
    bayes: float  # accuracy of the Bayes classifier on the same test set
    leaves: float  # per tree, on average
    points_per_second: float  # learned since the previous row

    def __str__(self) -> str:
        return (
            f"{self.points:8,}  {self.forest:7.4f}  {self.mean_tree:9.4f}  {self.bayes:7.4f}  "
            f"{self.leaves:11.1f}  {self.points_per_second:10,.0f}"
        )


def mixture_run(n_estimators: int = 100) -> Run:
    """Return a run with the settings of the paper's first experiment."""
    forest = OnlineForestClassifier(
        n_estimators,
        candidate_dims=1.0,
        split_points=10,
        min_gain=0.001,
        alpha=Geometric(1, 1.1),
        beta=1000,
        kept_points=0,
        random_state=0,
        n_jobs=-1,
    )
    return Run(forest, classes=np.arange(5))


def learn_mixture(
    run: Run, sizes: Sequence[int] = SIZES, test_points: int = 20_000
) -> Iterator[MixtureRow]:
    """Learn the mixture, and measure on held-out points at each size."""
    mixture = GaussianMixture.paper()
    rng = np.random.default_rng(0)
    X_test, y_test = mixture.sample(test_points, rng)
    bayes = mixture.bayes_accuracy(X_test, y_test)
    for size in sizes:
        points, seconds = run.learned, run.seconds
        run.learn(*mixture.sample(size - points, rng))
        yield MixtureRow(
            points=size,
            forest=float(run.forest.score(X_test, y_test)),
            mean_tree=mean_tree_accuracy(run.forest, X_test, y_test),
            bayes=bayes,
            leaves=run.leaves,
            points_per_second=(size - points) / (run.seconds - seconds),
        )


def mean_tree_accuracy(
    forest: OnlineForestClassifier, X: NDArray[np.float32], y: NDArray[np.int64]
) -> float:
    """Return the mean accuracy of the trees. A tree that abstains (-1) counts as wrong."""
    # The labels are 0, 1, 2, ..., so the index of a class is its label.
    return float(np.mean(forest.predict_trees(X) == y[:, None]))


# -- the digits ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DigitsRow:
    """The forest after some of the digits."""

    HEADER: ClassVar[str] = "  digits  so far   lately  leaves/tree    digits/s"

    points: int  # learned so far
    accuracy: float  # of all digits so far, each predicted before it was learned
    lately: float  # of the most recent ones
    leaves: float  # per tree, on average
    points_per_second: float

    def __str__(self) -> str:
        return (
            f"{self.points:8,}  {self.accuracy:6.4f}  {self.lately:7.4f}  {self.leaves:11.1f}  "
            f"{self.points_per_second:10,.0f}"
        )


def digits_run(n_estimators: int = 100) -> Run:
    """Return a run with the default settings, for scikit-learn's digits."""
    forest = OnlineForestClassifier(n_estimators, random_state=0, n_jobs=-1)
    return Run(forest, classes=np.arange(10))


def learn_digits(run: Run, sizes: Sequence[int] = DIGIT_SIZES) -> Iterator[DigitsRow]:
    """Learn the digits once in a shuffled order, and yield the scores at each size."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    for size in sizes:
        points, seconds = run.learned, run.seconds
        rows = order[points:size]
        run.learn(X[rows], y[rows])
        yield DigitsRow(
            points=size,
            accuracy=run.test.scores.accuracy,
            lately=run.test.window_accuracy,
            leaves=run.leaves,
            points_per_second=(size - points) / (run.seconds - seconds),
        )
