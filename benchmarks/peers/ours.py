"""Riparian's forests, as a user calls them: numpy arrays, with all input validation."""

from __future__ import annotations

import pickle

from benchmarks.peers import Labels, Rows, Task
from riparian import OnlineForestClassifier, SaffariForestClassifier

Arrays = tuple[Rows, Labels]


class TwoStreams:
    def __init__(self, task: Task) -> None:
        self.forest = OnlineForestClassifier(
            task.trees, random_state=task.seed, n_jobs=task.threads
        )
        self.classes: Labels | None = task.classes

    def points(self, X: Rows, y: Labels) -> Arrays:
        return X, y

    def learn(self, points: Arrays) -> None:
        self.forest.partial_fit(*points, classes=self.classes)
        self.classes = None  # only in the first call

    def predict(self, points: Arrays) -> Labels:
        return self.forest.predict(points[0])

    def snapshot(self) -> bytes:
        return self.forest.to_bytes()


class Paper(TwoStreams):
    """The paper's forest, which forgets every point at once."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.forest.set_params(kept_points=0)


class Saffari(TwoStreams):
    def __init__(self, task: Task) -> None:
        self.forest = SaffariForestClassifier(
            task.trees, random_state=task.seed, n_jobs=task.threads
        )
        self.classes = task.classes

    def snapshot(self) -> bytes:
        return pickle.dumps(self.forest)
