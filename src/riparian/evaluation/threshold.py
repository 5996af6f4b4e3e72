"""Thresholds along a stream: chosen from the rows scored so far, and applied to those that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from riparian.evaluation.ranking import Ranking
from riparian.model.decision import Decision

REFRESH = 100  # rows from one choice to the next: fixed places, so that batches change nothing

RULES = ("value", "recall", "cost")


@dataclass(frozen=True)
class Threshold:
    """How to choose the least probability for which a class is predicted.

    - `"value"`: the number itself.
    - `"recall"`: the largest threshold that finds at least this share of the rows of the class.
    - `"cost"`: the one with the least cost, where a missed row of the class costs this many times as
      much as a false alarm.

    >>> Threshold.parse("recall=.8")
    Threshold(rule='recall', number=0.8, label=None)
    >>> Threshold.parse("0.3")
    Threshold(rule='value', number=0.3, label=None)
    """

    rule: str
    number: float
    label: Any = None  # of the class; None: the rarest so far

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"a threshold must be one of {', '.join(RULES)}, got {self.rule!r}")
        if self.rule == "value" and not 0.0 <= self.number <= 1.0:
            raise ValueError(f"a threshold must be from 0 to 1, got {self.number!r}")
        if self.rule == "recall" and not 0.0 < self.number <= 1.0:
            raise ValueError(f"recall must be above 0 and at most 1, got {self.number!r}")
        if self.rule == "cost" and not 0.0 < self.number < np.inf:
            raise ValueError(f"cost must be a positive number, got {self.number!r}")

    @classmethod
    def parse(cls, text: str, label: Any = None) -> Self:
        """Read `0.3`, `recall=0.8` or `cost=5`."""
        rule, _, number = text.rpartition("=")
        rule = rule.strip() or "value"
        try:
            value = float(number)
        except ValueError:
            value = np.nan
        if rule not in RULES or (rule == "value" and "=" in text) or np.isnan(value):
            raise ValueError(
                "a threshold must be a probability such as 0.3, or recall=0.8, or cost=5 (what a missed "
                f"row costs, in false alarms); got {text!r}"
            )
        return cls(rule, value, label)

    def choose(self, ranking: Ranking) -> Decision | None:
        """Return the decision after the rows that were counted, or None if they do not suffice."""
        label = rarest(ranking) if self.label is None else self.label
        if label is None:
            return None
        if self.rule == "value":
            return Decision(label, self.number)
        curve = ranking.curve(label)
        if not curve.defined:
            return None
        if self.rule == "recall":
            place = int(np.argmax(curve.right >= self.number * curve.positives))
        else:
            cost = (curve.positives - curve.right) * self.number + curve.wrong
            if min(cost) > self.number * curve.positives:  # never predicting it costs less
                return Decision(label, 1.0)
            place = int(np.argmin(cost))
        return Decision(label, float(curve.threshold[place]))


def rarest(ranking: Ranking) -> Any:
    """Return the class with the fewest rows, the last of equals; None before there are two."""
    if len(ranking.truths) < 2:
        return None
    return min(sorted(ranking.truths, reverse=True), key=ranking.truths.__getitem__)
