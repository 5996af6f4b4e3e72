"""CapyMOA's models: Java, an instance at a time. The instances are made, and in Java, beforehand."""

from __future__ import annotations

import numpy as np
from capymoa.classifier import (
    AdaptiveRandomForestClassifier,
    LeveragingBagging,
    StreamingGradientBoostedTrees,
    StreamingRandomPatches,
)
from capymoa.classifier import HoeffdingTree as MoaHoeffdingTree
from capymoa.core import LabeledInstance
from capymoa.stream import Schema
from jpype import JClass

from benchmarks.peers import Labels, Rows, Task

Instances = list[LabeledInstance]


class OneByOne:
    def __init__(self, task: Task) -> None:
        names = [f"x{i}" for i in range(task.n_features)]
        labels = [str(label) for label in task.classes]
        self.schema = Schema.from_custom([*names, "y"], target="y", categories={"y": labels})
        self.model = self.start(task)

    def start(self, task: Task):
        raise NotImplementedError

    def points(self, X: Rows, y: Labels) -> Instances:
        instances = [
            LabeledInstance.from_array(self.schema, x, label)
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
        answers = [predict(instance) for instance in points]
        # Before the first point there is no answer.
        return np.array([-1 if answer is None else answer for answer in answers], dtype=np.int64)

    def test_then_train(self, points: Instances) -> Labels:
        predict, train = self.model.predict, self.model.train
        answers = []
        for instance in points:
            answers.append(predict(instance))
            train(instance)
        return np.array([-1 if answer is None else answer for answer in answers], dtype=np.int64)

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
