"""River's models: one dict per point, one point at a time, since its forests have no `learn_many`."""

from __future__ import annotations

import pickle

from river import ensemble, forest, tree
from river.base import Estimator

from benchmarks.peers import Labels, Rows, Task, as_answers

Dicts = list[tuple[dict[int, float], float]]


class OneByOne:
    def __init__(self, model: Estimator) -> None:
        self.model = model

    def points(self, X: Rows, y: Labels) -> Dicts:
        return [
            (dict(enumerate(row)), label) for row, label in zip(X.tolist(), y.tolist(), strict=True)
        ]

    def learn(self, points: Dicts) -> None:
        learn_one = self.model.learn_one
        for x, y in points:
            learn_one(x, y)

    def predict(self, points: Dicts) -> Labels:
        predict_one = self.model.predict_one
        return as_answers([predict_one(x) for x, _ in points])

    def test_then_train(self, points: Dicts) -> Labels:
        predict_one, learn_one = self.model.predict_one, self.model.learn_one
        answers = []
        for x, y in points:
            answers.append(predict_one(x))
            learn_one(x, y)
        return as_answers(answers)

    def snapshot(self) -> bytes:
        return pickle.dumps(self.model)


class AdaptiveForest(OneByOne):
    def __init__(self, task: Task) -> None:
        super().__init__(forest.ARFClassifier(n_models=task.trees, seed=task.seed))


class MondrianForest(OneByOne):
    def __init__(self, task: Task) -> None:
        super().__init__(forest.AMFClassifier(n_estimators=task.trees, seed=task.seed))


class RandomPatches(OneByOne):
    def __init__(self, task: Task) -> None:
        super().__init__(ensemble.SRPClassifier(n_models=task.trees, seed=task.seed))


class LeveragingBagging(OneByOne):
    def __init__(self, task: Task) -> None:
        base = tree.HoeffdingTreeClassifier()
        super().__init__(
            ensemble.LeveragingBaggingClassifier(base, n_models=task.trees, seed=task.seed)
        )


class HoeffdingTree(OneByOne):
    def __init__(self, task: Task) -> None:
        super().__init__(tree.HoeffdingTreeClassifier())


# -- numbers ---------------------------------------------------------------------------------------


class AdaptiveForestOfNumbers(OneByOne):
    def __init__(self, task: Task) -> None:
        super().__init__(forest.ARFRegressor(n_models=task.trees, seed=task.seed))


class MondrianForestOfNumbers(OneByOne):
    def __init__(self, task: Task) -> None:
        super().__init__(forest.AMFRegressor(n_estimators=task.trees, seed=task.seed))


class RandomPatchesOfNumbers(OneByOne):
    def __init__(self, task: Task) -> None:
        super().__init__(ensemble.SRPRegressor(n_models=task.trees, seed=task.seed))
