"""Scikit-learn's forest and boosting, which see all points at once, and SGD."""

from __future__ import annotations

import pickle
from typing import Any

from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import SGDClassifier

from benchmarks.peers import Labels, Rows, Task

Arrays = tuple[Rows, Labels]


class Batched:
    def __init__(self, model: Any) -> None:
        self.model = model

    def points(self, X: Rows, y: Labels) -> Arrays:
        return X, y

    def predict(self, points: Arrays) -> Labels:
        return self.model.predict(points[0])

    def snapshot(self) -> bytes:
        return pickle.dumps(self.model)


class Offline(Batched):
    def learn(self, points: Arrays) -> None:
        self.model.fit(*points)


class Forest(Offline):
    def __init__(self, task: Task) -> None:
        super().__init__(
            RandomForestClassifier(task.trees, random_state=task.seed, n_jobs=task.threads)
        )


class ForestOfNumbers(Offline):
    def __init__(self, task: Task) -> None:
        super().__init__(
            RandomForestRegressor(task.trees, random_state=task.seed, n_jobs=task.threads)
        )


class Boosting(Offline):
    def __init__(self, task: Task) -> None:
        super().__init__(
            HistGradientBoostingClassifier(max_iter=task.trees, random_state=task.seed)
        )


class Linear(Batched):
    def __init__(self, task: Task) -> None:
        super().__init__(SGDClassifier(random_state=task.seed))
        self.classes = task.classes

    def learn(self, points: Arrays) -> None:
        self.model.partial_fit(*points, classes=self.classes)
