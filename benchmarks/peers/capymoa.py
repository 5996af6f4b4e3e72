"""CapyMOA's models: Java, one instance at a time. The instances are made in Java beforehand."""

from __future__ import annotations

import numpy as np
from capymoa.classifier import (
    AdaptiveRandomForestClassifier,
    LeveragingBagging,
    StreamingGradientBoostedTrees,
    StreamingRandomPatches,
)
from capymoa.classifier import HoeffdingTree as MoaHoeffdingTree
from capymoa.core import LabeledInstance, RegressionInstance
from capymoa.regressor import (
    SOKNL,
    AdaptiveRandomForestRegressor,
    KNNRegressor,
    StreamingGradientBoostedRegression,
)
from capymoa.stream import Schema
from capymoa.uncertainty import MVE, AdaPI
from jpype import JClass

from benchmarks.peers import Answers, Labels, Rows, Task, as_answers

Instances = list[LabeledInstance] | list[RegressionInstance]


class OneByOne:
    instance = LabeledInstance

    def __init__(self, task: Task) -> None:
        names = [f"x{i}" for i in range(task.n_features)]
        labels = [str(label) for label in task.classes]
        categories = {"y": labels} if labels else None  # a number has none
        self.schema = Schema.from_custom([*names, "y"], target="y", categories=categories)
        self.model = self.start(task)

    def start(self, task: Task):
        raise NotImplementedError

    def points(self, X: Rows, y: Labels) -> Instances:
        instances = [
            self.instance.from_array(self.schema, x, label)
            for x, label in zip(X.astype(np.float64), y.tolist(), strict=True)
        ]
        for instance in instances:
            instance.java_instance  # noqa: B018  (made when it is first asked for)
        return instances

    def learn(self, points: Instances) -> None:
        train = self.model.train
        for instance in points:
            train(instance)

    def predict(self, points: Instances) -> Labels:
        predict = self.model.predict
        return as_answers([predict(instance) for instance in points])

    def test_then_train(self, points: Instances) -> Labels:
        predict, train = self.model.predict, self.model.train
        answers = []
        for instance in points:
            answers.append(predict(instance))
            train(instance)
        return as_answers(answers)

    def snapshot(self) -> bytes | None:
        """Use Java's serialization, as MOA does; some models cannot be serialized."""
        kept = JClass("java.io.ByteArrayOutputStream")()
        stream = JClass("java.io.ObjectOutputStream")(kept)
        try:
            stream.writeObject(self.model.moa_learner)
        except JClass("java.io.NotSerializableException"):
            return None
        stream.close()
        return bytes(kept.toByteArray())


class AdaptiveForest(OneByOne):
    def start(self, task: Task) -> AdaptiveRandomForestClassifier:
        return AdaptiveRandomForestClassifier(
            self.schema,
            random_seed=task.seed,
            ensemble_size=task.trees,
            number_of_jobs=task.threads,
        )


class RandomPatches(OneByOne):
    def start(self, task: Task) -> StreamingRandomPatches:
        return StreamingRandomPatches(self.schema, random_seed=task.seed, ensemble_size=task.trees)


class Bagging(OneByOne):
    def start(self, task: Task) -> LeveragingBagging:
        return LeveragingBagging(self.schema, random_seed=task.seed, ensemble_size=task.trees)


class Boosting(OneByOne):
    """Boosting has trees in sequence, one per class."""

    def start(self, task: Task) -> StreamingGradientBoostedTrees:
        return StreamingGradientBoostedTrees(
            self.schema, random_seed=task.seed, boosting_iterations=task.trees
        )


class HoeffdingTree(OneByOne):
    def start(self, task: Task) -> MoaHoeffdingTree:
        return MoaHoeffdingTree(self.schema, random_seed=task.seed)


# -- numbers ---------------------------------------------------------------------------------------


class NumbersOneByOne(OneByOne):
    instance = RegressionInstance


class AdaptiveForestOfNumbers(NumbersOneByOne):
    def start(self, task: Task) -> AdaptiveRandomForestRegressor:
        return AdaptiveRandomForestRegressor(
            self.schema, random_seed=task.seed, ensemble_size=task.trees
        )


class SelfOptimising(NumbersOneByOne):
    def start(self, task: Task) -> SOKNL:
        return SOKNL(self.schema, random_seed=task.seed, ensemble_size=task.trees)


class Neighbours(NumbersOneByOne):
    def start(self, task: Task) -> KNNRegressor:
        return KNNRegressor(self.schema, random_seed=task.seed)


class BoostingOfNumbers(NumbersOneByOne):
    def start(self, task: Task) -> StreamingGradientBoostedRegression:
        return StreamingGradientBoostedRegression(
            self.schema, random_seed=task.seed, boosting_iterations=task.trees
        )


# -- intervals -------------------------------------------------------------------------------------


class Intervals(SelfOptimising):
    """Intervals around the predictions of SOKNL."""

    kind: type[MVE | AdaPI]

    def start(self, task: Task) -> MVE | AdaPI:
        return self.kind(
            self.schema,
            random_seed=task.seed,
            base_learner=super().start(task),
            confidence_level=task.coverage,
        )

    def give_intervals_then_learn(self, points: Instances) -> Answers:
        predict, train = self.model.predict, self.model.train
        ends = np.zeros((len(points), 2))  # as CapyMOA's evaluator takes it where there is none
        for i, instance in enumerate(points):
            given = predict(instance)
            if given is not None:
                ends[i] = given[0], given[2]
            train(instance)
        return ends


class MeanAndVariance(Intervals):
    kind = MVE


class AdaptiveIntervals(Intervals):
    kind = AdaPI
