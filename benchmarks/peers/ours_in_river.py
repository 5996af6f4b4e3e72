"""Riparian as River's users call it: one dict per point, the fastest way to learn single points."""

from __future__ import annotations

from benchmarks.peers import Task
from benchmarks.peers.river import OneByOne
from riparian.river import AdaptiveForestClassifier, OnlineForestClassifier


class TwoStreams(OneByOne):
    def __init__(self, task: Task) -> None:
        super().__init__(OnlineForestClassifier(n_estimators=task.trees, seed=task.seed))


class Paper(OneByOne):
    """The paper's forest, which forgets every point at once."""

    def __init__(self, task: Task) -> None:
        super().__init__(
            OnlineForestClassifier(n_estimators=task.trees, kept_points=0, seed=task.seed)
        )


class Adaptive(OneByOne):
    def __init__(self, task: Task) -> None:
        super().__init__(AdaptiveForestClassifier(n_estimators=task.trees, seed=task.seed))
