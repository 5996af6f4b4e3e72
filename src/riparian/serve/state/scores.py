"""What labels show about the predictions: a function of the log, in its order.

Scores are saved with the model and continue with the log, so a restart loses none.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from riparian.evaluation import NumberScores, Scores
from riparian.evaluation.classes import Window
from riparian.evaluation.fixed_point import UNIT
from riparian.evaluation.numbers import NumberWindow
from riparian.serve.items import Label, Lesson
from riparian.tools.shapes import COUNT, NUMBER, shaped

WINDOW = 1000  # predictions in the recent scores
MOST_MARKS = 200  # of the curve; then every second one is dropped
DELAYS = (1.0, 10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0, 604_800.0)  # seconds
MOST_CLASSES = 20  # that are counted one by one


# What a state must look like; `Scores` and `NumberScores` check their own.
STATE = {"lessons": COUNT, "every": range(1, 2**62), "curve": [(COUNT, NUMBER, NUMBER)],
         "delays": (COUNT,) * (len(DELAYS) + 1)}  # fmt: skip
OF_CLASSES = {"recent": str, "predicted": {str: COUNT}, "labelled": {str: COUNT}}
OF_NUMBERS = {"recent": [(NUMBER, NUMBER)], "scores": dict}
OF_0_2 = {"bins": [(COUNT, COUNT, NUMBER)], "loss": NUMBER}


class LogScores(ABC):
    """The scores of the predictions in the log, their course, and how late labels came."""

    scores: Any  # of the lessons with a stored prediction
    recent: Any  # the last of them

    shape: ClassVar[dict[str, Any]]  # of the state, beyond `STATE`

    def __init__(self) -> None:
        self.lessons = 0
        self.every = 10  # scored predictions from one mark of the curve to the next
        self.curve: list[list[float]] = []  # scored, recent score, score of all
        self.delays = [0] * (len(DELAYS) + 1)

    def add(self, lesson: Lesson) -> None:
        self.lessons += 1
        self._count(lesson)
        if lesson.guess is None:
            return
        self.delays[sum(lesson.delay > bound for bound in DELAYS)] += 1
        if self.scores.rows % self.every == 0:
            self._mark()

    @abstractmethod
    def _count(self, lesson: Lesson) -> None:
        """Count a lesson, and score its prediction if it has one."""

    @abstractmethod
    def _levels(self) -> list[float]:
        """Return the recent score and the score of all predictions, for the curve."""

    def _mark(self) -> None:
        self.curve.append([self.scores.rows, *self._levels()])
        if len(self.curve) > MOST_MARKS:
            self.every *= 2
            self.curve = [mark for mark in self.curve if mark[0] % self.every == 0]

    def state(self) -> dict[str, Any]:
        """Return everything for JSON."""
        return {**vars(self), "scores": self.scores.state(), "recent": self.recent.state()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Continue from a state, or raise a ValueError if it is not one."""
        shaped("scores", state, {**STATE, **cls.shape})
        log = cls()
        for name in vars(log).keys() - {"scores", "recent"}:
            setattr(log, name, state[name])
        log._restore(state)
        return log

    @abstractmethod
    def _restore(self, state: dict[str, Any]) -> None:
        """Continue with the scores of a state."""


class ClassScores(LogScores):
    """The scores of predicted classes, and how often each class was predicted and was the label."""

    shape: ClassVar[dict[str, Any]] = OF_CLASSES

    def __init__(self) -> None:
        super().__init__()
        self.scores = Scores()
        self.recent = Window(WINDOW)
        self.predicted: dict[str, int] = {}
        self.labelled: dict[str, int] = {}

    def _count(self, lesson: Lesson) -> None:
        count(self.labelled, lesson.label)
        if lesson.guess is not None:
            self.scores.count(lesson.label, lesson.guess, lesson.answer())
            self.recent.extend([lesson.guess == lesson.label])
            count(self.predicted, lesson.guess)

    def _levels(self) -> list[float]:
        return [self.recent.accuracy, self.scores.accuracy]

    def _restore(self, state: dict[str, Any]) -> None:
        self.scores = Scores.from_state(state["scores"]) if "scores" in state else _of_0_2(state)
        self.recent = Window(WINDOW, state["recent"])


class NumberLogScores(LogScores):
    """The scores of predicted numbers."""

    shape: ClassVar[dict[str, Any]] = OF_NUMBERS

    def __init__(self) -> None:
        super().__init__()
        self.scores = NumberScores()
        self.recent = NumberWindow(WINDOW)

    def _count(self, lesson: Lesson) -> None:
        label, guess = lesson.label, lesson.guess
        if isinstance(label, float) and isinstance(guess, float):
            self.scores.count(label, guess)
            self.recent.extend([(label, guess)])

    def _levels(self) -> list[float]:
        return [self.recent.scores.rmse, self.scores.rmse]

    def _restore(self, state: dict[str, Any]) -> None:
        self.scores = NumberScores.from_state(state["scores"])
        self.recent = NumberWindow(WINDOW, state["recent"])
        self.recent.to_dict()  # raises an error for numbers that cannot be scored


def _of_0_2(state: dict[str, Any]) -> Scores:
    """Return the scores of a snapshot of riparian 0.2, which has no pairs of truth and prediction."""
    shaped("scores", state, OF_0_2)
    bins = [[rows, right, round(sum_ * UNIT)] for rows, right, sum_ in state["bins"]]
    loss = round(state["loss"] * math.log(2) * UNIT)  # it was in bits
    return Scores.from_state({"labels": [], "pairs": [], "loss": loss, "bins": bins})


def count(counts: dict[str, int], label: Label) -> None:
    name = label_text(label)
    if name not in counts and len(counts) >= MOST_CLASSES:
        name = "(others)"
    counts[name] = counts.get(name, 0) + 1


def label_text(label: Label) -> str:
    """Return a label as a key of JSON.

    >>> label_text("a"), label_text(1), label_text(True)
    ('a', '1', 'true')
    """
    return label if isinstance(label, str) else str(label).lower()
