"""What the labels said about the predictions: a function of the log, in its order.

It is saved with the model and goes on with the log, so a restart forgets nothing.
"""

from __future__ import annotations

import math
from typing import Any

from riparian.evaluation import UNIT, Scores, Window
from riparian.serve.items import Label, Lesson

WINDOW = 1000  # predictions in the recent accuracy
MOST_MARKS = 200  # of the curve; then every second one goes
DELAYS = (1.0, 10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0, 604_800.0)  # seconds
MOST_CLASSES = 20  # that are counted one by one


class LogScores:
    """The scores of the predictions in the log, how they developed, and how late labels came."""

    def __init__(self) -> None:
        self.lessons = 0
        self.scores = Scores()  # of the lessons with a stored prediction
        self.recent = Window(WINDOW)
        self.every = 10  # scored predictions from one mark of the curve to the next
        self.curve: list[list[float]] = []  # scored, recent accuracy, accuracy
        self.predicted: dict[str, int] = {}
        self.labelled: dict[str, int] = {}
        self.delays = [0] * (len(DELAYS) + 1)

    def add(self, lesson: Lesson) -> None:
        self.lessons += 1
        count(self.labelled, lesson.label)
        if lesson.guess is None:
            return
        self.scores.count(lesson.label, lesson.guess, lesson.share, lesson.confidence)
        self.recent.extend([lesson.guess == lesson.label])
        count(self.predicted, lesson.guess)
        self.delays[sum(lesson.delay > bound for bound in DELAYS)] += 1
        if self.scores.rows % self.every == 0:
            self._mark()

    def _mark(self) -> None:
        self.curve.append([self.scores.rows, self.recent.accuracy, self.scores.accuracy])
        if len(self.curve) > MOST_MARKS:
            self.every *= 2
            self.curve = [mark for mark in self.curve if mark[0] % self.every == 0]

    def state(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {**vars(self), "scores": self.scores.state(), "recent": self.recent.state()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> LogScores:
        log = cls()
        log.scores = Scores.from_state(state["scores"]) if "scores" in state else _of_0_2(state)
        log.recent = Window(WINDOW, state["recent"])
        for name in ("lessons", "every", "curve", "predicted", "labelled", "delays"):
            setattr(log, name, state[name])
        return log


def _of_0_2(state: dict[str, Any]) -> Scores:
    """The scores of a snapshot of riparian 0.2, which did not count pairs of truth and prediction."""
    bins = [[rows, right, round(sum_ * UNIT)] for rows, right, sum_ in state["bins"]]
    loss = round(state["loss"] * math.log(2) * UNIT)  # it was in bits
    return Scores.from_state({"labels": [], "pairs": [], "loss": loss, "bins": bins})


def count(counts: dict[str, int], label: Label) -> None:
    name = label_text(label)
    if name not in counts and len(counts) >= MOST_CLASSES:
        name = "(others)"
    counts[name] = counts.get(name, 0) + 1


def label_text(label: Label) -> str:
    """A label as a key of JSON.

    >>> label_text("a"), label_text(1), label_text(True)
    ('a', '1', 'true')
    """
    return label if isinstance(label, str) else str(label).lower()
