"""What the labels said about the predictions: a function of the log, in its order.

It is saved with the model and goes on with the log, so a restart forgets nothing.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from riparian.serve.items import Label, Lesson

WINDOW = 1000  # predictions in the recent accuracy
MOST_MARKS = 200  # of the curve; then every second one goes
BINS = 10  # of calibration
DELAYS = (1.0, 10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0, 604_800.0)  # seconds
MOST_CLASSES = 20  # that are counted one by one


@dataclass
class Scores:
    lessons: int = 0
    scored: int = 0  # lessons with a stored prediction
    correct: int = 0
    loss: float = 0.0  # the sum of -log2 of the probability of the label
    recent: deque[int] = field(default_factory=lambda: deque(maxlen=WINDOW))  # 1 is correct
    every: int = 10  # scored predictions from one mark of the curve to the next
    curve: list[list[float]] = field(default_factory=list)  # scored, recent accuracy, accuracy
    predicted: dict[str, int] = field(default_factory=dict)
    labelled: dict[str, int] = field(default_factory=dict)
    bins: list[list[float]] = field(default_factory=lambda: [[0, 0, 0.0] for _ in range(BINS)])
    delays: list[int] = field(default_factory=lambda: [0] * (len(DELAYS) + 1))

    def add(self, lesson: Lesson) -> None:
        self.lessons += 1
        count(self.labelled, lesson.label)
        if lesson.guess is None:
            return
        correct = int(lesson.guess == lesson.label)
        self.scored += 1
        self.correct += correct
        self.loss -= math.log2(max(lesson.share, 2.0**-40))
        self.recent.append(correct)
        count(self.predicted, lesson.guess)
        self._calibrate(lesson.confidence, correct)
        self.delays[sum(lesson.delay > bound for bound in DELAYS)] += 1
        if self.scored % self.every == 0:
            self._mark()

    def _calibrate(self, confidence: float, correct: int) -> None:
        cell = self.bins[min(BINS - 1, int(confidence * BINS))]
        cell[0] += 1
        cell[1] += correct
        cell[2] += confidence

    def _mark(self) -> None:
        recent = sum(self.recent) / len(self.recent)
        self.curve.append([self.scored, recent, self.correct / self.scored])
        if len(self.curve) > MOST_MARKS:
            self.every *= 2
            self.curve = [mark for mark in self.curve if mark[0] % self.every == 0]

    def recent_accuracy(self) -> float | None:
        return sum(self.recent) / len(self.recent) if self.recent else None

    def accuracy(self) -> float | None:
        return self.correct / self.scored if self.scored else None

    def state(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {**self.__dict__, "recent": "".join(map(str, self.recent))}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Scores:
        recent = deque(map(int, state["recent"]), maxlen=WINDOW)
        return cls(**{**state, "recent": recent})


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
