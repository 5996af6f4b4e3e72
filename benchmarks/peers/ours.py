"""Riparian's forests, as a user calls them: numpy arrays, with all input validation."""

from __future__ import annotations

import pickle

from benchmarks.peers import Answers, Labels, Rows, Task
from riparian import (
    AdaptiveForestClassifier,
    AdaptiveForestRegressor,
    OnlineForestClassifier,
    OnlineForestRegressor,
    SaffariForestClassifier,
)

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


class Honest(TwoStreams):
    """The forest in which each point has one role in each tree, from the first point on: that of 0.2."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.forest.set_params(eager=False)


class Adaptive(TwoStreams):
    def __init__(self, task: Task) -> None:
        self.forest = AdaptiveForestClassifier(
            task.trees, random_state=task.seed, n_jobs=task.threads
        )
        self.classes = task.classes


class Saffari(TwoStreams):
    def __init__(self, task: Task) -> None:
        self.forest = SaffariForestClassifier(
            task.trees, random_state=task.seed, n_jobs=task.threads
        )
        self.classes = task.classes

    def snapshot(self) -> bytes:
        return pickle.dumps(self.forest)


class Numbers:
    """The forest for numbers. Its `predict_then_learn` has the bits of one row after the other."""

    def __init__(self, task: Task) -> None:
        self.forest = OnlineForestRegressor(task.trees, random_state=task.seed, n_jobs=task.threads)

    def points(self, X: Rows, y: Labels) -> Arrays:
        return X, y

    def learn(self, points: Arrays) -> None:
        self.forest.partial_fit(*points)

    def predict(self, points: Arrays) -> Answers:
        return self.forest.predict(points[0])

    def test_then_train(self, points: Arrays) -> Answers:
        return self.forest.predict_then_learn(*points)

    def snapshot(self) -> bytes:
        return self.forest.to_bytes()


class AdaptiveNumbers(Numbers):
    def __init__(self, task: Task) -> None:
        self.forest = AdaptiveForestRegressor(
            task.trees, random_state=task.seed, n_jobs=task.threads
        )


class Intervals(Numbers):
    def __init__(self, task: Task) -> None:
        self.forest = OnlineForestRegressor(
            task.trees,
            random_state=task.seed,
            n_jobs=task.threads,
            intervals=(task.coverage,),
        )

    def give_intervals_then_learn(self, points: Arrays) -> Answers:
        _, ends = self.forest.give_intervals_then_learn(*points)
        return ends[:, 0]


class AdaptiveIntervals(Intervals):
    def __init__(self, task: Task) -> None:
        self.forest = AdaptiveForestRegressor(
            task.trees,
            random_state=task.seed,
            n_jobs=task.threads,
            intervals=(task.coverage,),
        )
