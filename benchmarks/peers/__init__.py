"""The alternatives and our forests: each has a name and a way to start an empty model.

To add one, write a class with the methods of `Model` in the file of its library, and a line in
`PEERS`. A library is imported when its model is started: each model runs in a process
of its own, and imports no other library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

OURS = "riparian"
OURS_ALONE = "riparian-river"  # for single points
PAPER_ALONE = "riparian-river-paper"
FEW, MANY = 10, 100  # trees: the usual number of the others, and of ours

Rows = NDArray[np.float32]
Labels = NDArray[np.int64]
Answers = NDArray[Any]  # labels, or numbers
NO_CLASSES: Labels = np.arange(0)  # of a task whose target is a number
Points = Any  # in the form that a library takes; only its own model reads them


@dataclass(frozen=True)
class Task:
    """What a model receives before the first point; everything else is its default."""

    n_features: int
    classes: Labels  # 0, 1, 2, ...
    trees: int
    threads: int = 1
    seed: int = 0
    coverage: float = 0.9  # of intervals, for models that give them


class Model(Protocol):
    def points(self, X: Rows, y: Labels) -> Points:
        """Convert the points to what the library takes. Not timed: a stream always has some form."""

    def learn(self, points: Points) -> None:
        """Learn these points, in order, in the fastest way that the library has."""

    def predict(self, points: Points) -> Labels: ...

    def snapshot(self) -> bytes | None:
        """Return the model as it would be stored on disk, or None if the library cannot."""


class Follower(Model, Protocol):
    """A model that takes single points, for streams that change."""

    def test_then_train(self, points: Points) -> Answers:
        """Predict and then learn each point; the prediction is -1 if there is no answer yet."""


class IntervalModel(Protocol):
    def points(self, X: Rows, y: Labels) -> Points: ...

    def give_intervals_then_learn(self, points: Points) -> Answers:
        """Give both ends of an interval, then learn, for each point."""


def as_answers(answers: list[Any]) -> Answers:
    """Return predictions as an array. Before the first point there is none, which is -1."""
    return np.array([-1 if answer is None else answer for answer in answers])


@dataclass(frozen=True)
class Peer:
    name: str
    title: str
    library: str  # the distribution that must be installed
    module: str  # next to this file
    start: str  # the name of the class in it, called with a `Task`
    ours: bool = False
    trees: bool = True  # whether it is a forest, with a number of trees to set
    threads: bool = False  # whether it can use more than one
    batches: bool = False  # whether many points at once is faster than one after the other
    offline: bool = False  # whether it must have all points at once
    fast: bool = False  # whether a hundred trees over a whole stream are a matter of seconds

    def model(self, task: Task) -> Model:
        module = import_module(f"benchmarks.peers.{self.module}")
        start: Callable[[Task], Model] = getattr(module, self.start)
        return start(task)


PEERS = {
    peer.name: peer
    for peer in (
        Peer(
            "riparian", "riparian", "riparian", "ours", "TwoStreams",
            ours=True, threads=True, batches=True, fast=True,
        ),
        Peer(
            "riparian-river", "riparian in River", "river", "ours_in_river", "TwoStreams",
            ours=True, fast=True,
        ),
        Peer(
            "riparian-river-paper", "riparian in River, kept_points=0", "river", "ours_in_river",
            "Paper", ours=True, fast=True,
        ),
        Peer(
            "riparian-honest", "riparian, eager=False", "riparian", "ours", "Honest",
            ours=True, threads=True, batches=True, fast=True,
        ),
        Peer(
            "riparian-paper", "riparian, kept_points=0", "riparian", "ours", "Paper",
            ours=True, threads=True, batches=True, fast=True,
        ),
        Peer(
            "riparian-adaptive-rows", "riparian, adaptive", "riparian", "ours", "Adaptive",
            ours=True, threads=True, batches=True, fast=True,
        ),
        Peer(
            "saffari", "riparian, Saffari's", "riparian", "ours", "Saffari",
            ours=True, threads=True, batches=True, fast=True,
        ),
        Peer("river-arf", "River ARF", "river", "river", "AdaptiveForest"),
        Peer("river-amf", "River AMF", "river", "river", "MondrianForest"),
        Peer("river-tree", "River Hoeffding tree", "river", "river", "HoeffdingTree", trees=False),
        Peer("capymoa-arf", "CapyMOA ARF", "capymoa", "capymoa", "AdaptiveForest", threads=True),
        # SRP has threads too, but for batches only: then it is another algorithm.
        Peer("capymoa-srp", "CapyMOA SRP", "capymoa", "capymoa", "RandomPatches"),
        Peer("capymoa-bagging", "CapyMOA leveraging bagging", "capymoa", "capymoa", "Bagging"),
        Peer("capymoa-boosting", "CapyMOA SGBT", "capymoa", "capymoa", "Boosting"),
        Peer(
            "capymoa-tree", "CapyMOA Hoeffding tree", "capymoa", "capymoa", "HoeffdingTree",
            trees=False,
        ),
        Peer(
            "sklearn-forest", "scikit-learn forest (offline)", "scikit-learn", "sklearn", "Forest",
            threads=True, batches=True, offline=True, fast=True,
        ),
        Peer(
            "sklearn-boosting", "scikit-learn boosting (offline)", "scikit-learn", "sklearn",
            "Boosting", batches=True, offline=True, fast=True,
        ),
        Peer(
            "sklearn-sgd", "scikit-learn SGD", "scikit-learn", "sklearn", "Linear",
            trees=False, batches=True, fast=True,
        ),
    )
}  # fmt: skip

# On streams that change: the peers that take single points.
FOLLOWERS = {
    peer.name: peer
    for peer in (
        PEERS["riparian-river"],
        Peer(
            "riparian-adaptive", "riparian, adaptive", "river", "ours_in_river", "Adaptive",
            ours=True, fast=True,
        ),
        PEERS["river-arf"],
        Peer("river-srp", "River SRP", "river", "river", "RandomPatches"),
        Peer("river-bagging", "River leveraging bagging", "river", "river", "LeveragingBagging"),
        PEERS["capymoa-arf"],
        PEERS["capymoa-srp"],
        PEERS["capymoa-bagging"],
        Peer("same-as-last", "same as last", "riparian", "baseline", "SameAsLast", trees=False),
    )
}  # fmt: skip

# For numbers: the peers that take single points, and the offline forest that they are judged by.
REGRESSORS = {
    peer.name: peer
    for peer in (
        Peer(
            "riparian-numbers", "riparian", "riparian", "ours", "Numbers",
            ours=True, fast=True,
        ),
        Peer(
            "riparian-adaptive-numbers", "riparian, adaptive", "riparian", "ours",
            "AdaptiveNumbers", ours=True, fast=True,
        ),
        Peer("river-arf-numbers", "River ARF", "river", "river", "AdaptiveForestOfNumbers"),
        Peer("river-amf-numbers", "River AMF", "river", "river", "MondrianForestOfNumbers"),
        Peer("river-srp-numbers", "River SRP", "river", "river", "RandomPatchesOfNumbers"),
        Peer("capymoa-arf-numbers", "CapyMOA ARF", "capymoa", "capymoa", "AdaptiveForestOfNumbers"),
        Peer("capymoa-soknl", "CapyMOA SOKNL", "capymoa", "capymoa", "SelfOptimising"),
        Peer("capymoa-knn", "CapyMOA kNN", "capymoa", "capymoa", "Neighbours", trees=False),
        Peer("capymoa-sgbr", "CapyMOA SGBR", "capymoa", "capymoa", "BoostingOfNumbers"),
        FOLLOWERS["same-as-last"],
        Peer(
            "sklearn-numbers", "scikit-learn forest (offline)", "scikit-learn", "sklearn",
            "ForestOfNumbers", offline=True, fast=True,
        ),
    )
}  # fmt: skip

# For intervals around numbers.
WITH_INTERVALS = {
    peer.name: peer
    for peer in (
        Peer("riparian-intervals", "riparian", "riparian", "ours", "Intervals", ours=True),
        Peer(
            "riparian-adaptive-intervals", "riparian, adaptive", "riparian", "ours",
            "AdaptiveIntervals", ours=True,
        ),
        Peer("capymoa-mve", "CapyMOA MVE", "capymoa", "capymoa", "MeanAndVariance"),
        Peer("capymoa-adapi", "CapyMOA AdaPI", "capymoa", "capymoa", "AdaptiveIntervals"),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Entrant:
    """What is measured one point at a time: a model with a number of trees."""

    peer: str  # of `FOLLOWERS`, `REGRESSORS` or `WITH_INTERVALS`
    trees: int

    @property
    def name(self) -> str:
        return f"{self.peer}-{self.trees}"

    @property
    def title(self) -> str:
        peer = (FOLLOWERS | REGRESSORS | WITH_INTERVALS)[self.peer]
        return f"{peer.title}, {self.trees}" if peer.trees else peer.title
