"""`python -m riparian.demo`: a stream learned, against the best that any classifier can do.

The stream is the paper's first experiment: five Gaussian classes that overlap, so that even the
Bayes classifier, which knows the densities, is right on two points out of three only.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riparian import Geometric, OnlineForestClassifier
from riparian.streams import GaussianMixture

SIZES = (100, 188, 355, 669, 1261, 2377, 4481, 8445, 15917, 30000)

HEADER = "  points   forest  mean tree    Bayes  leaves/tree    points/s"


@dataclass(frozen=True)
class Row:
    """What is known of the forest after some points of the stream."""

    points: int  # learned so far
    forest: float  # accuracy of the forest on the test set
    mean_tree: float  # accuracy of its trees on the test set, averaged over the trees
    bayes: float  # accuracy of the Bayes classifier on the same test set
    leaves: float  # leaves of a tree, on average
    points_per_second: float  # while learning the points since the row before

    def __str__(self) -> str:
        return (
            f"{self.points:8,}  {self.forest:7.4f}  {self.mean_tree:9.4f}  {self.bayes:7.4f}  "
            f"{self.leaves:11.1f}  {self.points_per_second:10,.0f}"
        )


def experiment_forest(n_estimators: int = 100) -> OnlineForestClassifier:
    """A forest with the settings of the paper's first experiment."""
    return OnlineForestClassifier(
        n_estimators,
        candidate_dims=1.0,
        split_points=10,
        min_gain=0.001,
        alpha=Geometric(1, 1.1),
        beta=1000,
        random_state=0,
        n_jobs=-1,
    )


def grow(
    forest: OnlineForestClassifier,
    mixture: GaussianMixture,
    sizes: Sequence[int],
    test_points: int,
) -> Iterator[Row]:
    """Learn one stream, and stop at each size to measure."""
    rng = np.random.default_rng(0)
    X_test, y_test = mixture.sample(test_points, rng)
    bayes = mixture.bayes_accuracy(X_test, y_test)
    learned = 0
    for size in sizes:
        X, y = mixture.sample(size - learned, rng)
        seconds = learn(forest, X, y, classes=np.arange(len(mixture.weights)))
        yield Row(
            points=size,
            forest=float(forest.score(X_test, y_test)),
            mean_tree=mean_tree_accuracy(forest, X_test, y_test),
            bayes=bayes,
            leaves=forest.stats()["leaves"] / forest.n_estimators,
            points_per_second=len(X) / seconds,
        )
        learned = size


def learn(
    forest: OnlineForestClassifier,
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    classes: NDArray[np.int64],
) -> float:
    """Learn the points in their order; how many seconds that took."""
    start = time.perf_counter()
    forest.partial_fit(X, y, classes=classes)
    return time.perf_counter() - start


def mean_tree_accuracy(
    forest: OnlineForestClassifier, X: NDArray[np.float32], y: NDArray[np.int64]
) -> float:
    """How often a tree is right, on average. One that abstains (-1) is not."""
    # The labels are 0, 1, 2, ..., so the index of a class is its label.
    return float(np.mean(forest.predict_trees(X) == y[:, None]))


def main(
    sizes: Sequence[int] = SIZES, *, test_points: int = 20_000, n_estimators: int = 100
) -> int:
    print(
        f"Learning a stream of five Gaussian classes with {n_estimators} trees;"
        f" accuracy on {test_points:,} held-out points.\n"
    )
    print(HEADER)
    for row in grow(experiment_forest(n_estimators), GaussianMixture.paper(), sizes, test_points):
        print(row, flush=True)
    print(
        f"\nEach point was seen once: after {row.points:,} of them the forest is"
        f" {row.bayes - row.forest:.4f} below the best any classifier can do,"
        f" a single tree {row.bayes - row.mean_tree:.4f}."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
