"""What is measured: an engine is a name and a way to start an empty forest.

To add one, write a class with the three methods of `Forest` and a line in `ENGINES`. An engine whose
packages are not installed must still be importable here: import them when a forest is started.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from riparian import OnlineForestClassifier, reference
from riparian.engine import native
from riparian.parameters.forests import PaperParameters

Rows = NDArray[np.float32]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """What an engine receives before the first point."""

    n_features: int
    classes: Labels  # 0, 1, 2, ...
    trees: int
    setting: dict[str, Any]  # of `OnlineForestClassifier`; all others have their defaults
    workers: int = 1
    seed: int = 0


class Forest(Protocol):
    def learn(self, X: Rows, y: Labels) -> None:
        """Learn the next points of the stream, in order."""

    def predict_proba(self, X: Rows) -> NDArray[np.float64]: ...

    def bytes_held(self) -> int | None:
        """Return the bytes that the engine reports, or None if it reports none."""


class Estimator:
    """`OnlineForestClassifier`: what a user calls, with its input validation."""

    def __init__(self, task: Task) -> None:
        self.forest = estimator(task)
        self.classes: Labels | None = task.classes

    def learn(self, X: Rows, y: Labels) -> None:
        self.forest.partial_fit(X, y, classes=self.classes)
        self.classes = None  # only in the first call

    def predict_proba(self, X: Rows) -> NDArray[np.float64]:
        return self.forest.predict_proba(X)

    def bytes_held(self) -> int:
        return int(self.forest.stats()["bytes"])


class Native:
    """The native engine alone: `Estimator` without its checks."""

    def __init__(self, task: Task) -> None:
        self.workers = task.workers
        self.forest = native.ColumnEngine(parameters(task), task.n_features)
        self.forest.set_classes(np.arange(len(task.classes)), len(task.classes))

    def learn(self, X: Rows, y: Labels) -> None:
        self.forest.learn(X, y.astype(np.uint32), None, self.workers)

    def predict_proba(self, X: Rows) -> NDArray[np.float64]:
        return self.forest.predict_proba(X, self.workers)

    def bytes_held(self) -> int:
        kinds = ("node_bytes", "leaf_bytes", "fringe_bytes")
        return sum(tree[kind] for tree in self.forest.core.stats() for kind in kinds)


class Reference:
    """The paper in plain Python: slow, and equal to the native engine to the last bit."""

    def __init__(self, task: Task) -> None:
        settings = parameters(task)
        space = reference.Columns(task.n_features, settings.rate(task.n_features))
        self.forest = reference.Forest(settings, space, task.classes.tolist())

    def learn(self, X: Rows, y: Labels) -> None:
        self.forest.learn(list(X), y.tolist())

    def predict_proba(self, X: Rows) -> NDArray[np.float64]:
        return np.array([list(self.forest.predict_proba(x).values()) for x in X])

    def bytes_held(self) -> None:
        return None


@dataclass(frozen=True)
class Engine:
    name: str
    start: Callable[[Task], Forest]
    threads: bool  # whether it uses `workers`
    most_trees: float = math.inf  # more would take too long
    most_points: float = math.inf


ENGINES = {
    engine.name: engine
    for engine in (
        Engine("reference", Reference, threads=False, most_trees=2, most_points=500),
        Engine("native", Native, threads=True),
        Engine("estimator", Estimator, threads=True),
    )
}


def estimator(task: Task) -> OnlineForestClassifier:
    return OnlineForestClassifier(
        task.trees, **task.setting, random_state=task.seed, n_jobs=task.workers
    )


def parameters(task: Task) -> PaperParameters:
    """Return what the estimator would pass to its engine."""
    parameters = estimator(task).get_params()
    names = (
        "candidate_dims", "split_points", "min_gain", "alpha", "beta", "structure_fraction",
        "ignore_fraction", "fringe_size", "voting",
    )  # fmt: skip
    return PaperParameters.checked(
        n_trees=task.trees, seed=task.seed, **{name: parameters[name] for name in names}
    )
