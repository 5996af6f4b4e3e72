"""Classes as the target of a service: the labels that are known, and which may join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from riparian.model.classes import Classes
from riparian.model.decision import best_columns
from riparian.model.model import Model
from riparian.serve.items import Forecast, Label
from riparian.serve.options import Limits
from riparian.serve.refused import Refused, shown, some
from riparian.serve.state.scores import ClassScores, LogScores, label_text
from riparian.table.raw import Rows

WHOLE = range(-(2**63), 2**63)  # labels that are whole numbers


@dataclass(frozen=True)
class ServedClasses:
    """The classes of a service. All labels have the type of the first one."""

    labels: frozenset[Label] = frozenset()
    open: bool = True  # a label never seen before joins
    most: int = Limits.classes  # that may ever join

    task: ClassVar[str] = "classes"
    log_scores: ClassVar[type[LogScores]] = ClassScores

    @classmethod
    def of(cls, target: Classes, most: int) -> ServedClasses:
        """Return the classes of a model, or raise a ValueError if JSON cannot have such labels."""
        labels = frozenset(target.classes.tolist())
        if not all(isinstance(label, bool | int | float | str) for label in labels):
            raise ValueError("labels must be strings, numbers or bools, got bytes: JSON has none")
        return cls(labels, not target.closed, most)

    def canonical(self, label: Label) -> Label:
        known = type(next(iter(self.labels), label))
        if known is float and type(label) is int:
            return float(label)
        if known is int and type(label) is float and label.is_integer():
            return int(label)
        return label

    def check(self, label: Label) -> None:
        fault = self.fault(label)
        if fault is None and label not in self.labels and len(self.labels) >= self.most:
            fault = f"there may be at most {self.most} classes"
            if not isinstance(label, str):
                fault += "; a service that is started with --task numbers predicts numbers"
        if fault is not None:
            raise Refused(422, fault, "label")

    def fault(self, label: Label) -> str | None:
        known = next(iter(self.labels), label)  # all are of one type; True is 1 to a set
        if type(label) is not type(known):
            wanted, got = type(known).__name__, type(label).__name__
            return f"labels are of type {wanted}, got {shown(label)} of type {got}"
        if label in self.labels:
            return None
        if type(label) is int and label not in WHOLE:
            return f"must fit 64 bits, got {shown(label)}"
        if not self.open:
            return f"must be one of the classes {some(sorted(self.labels))}, got {shown(label)}"
        if type(label) is int and label < 0 and max(self.labels, default=0) not in WHOLE:
            return f"must not be negative where a class is 2^63 or more, got {label}"
        return None

    def with_label(self, label: Label) -> ServedClasses:
        return self if label in self.labels else replace(self, labels=self.labels | {label})

    def given(self) -> list[Label] | None:
        return None if self.open else sorted(self.labels)

    def array(self, labels: Sequence[Label]) -> NDArray[Any]:
        return np.array(labels, label_type(labels[0]))

    def start(self, forest: Any, no_rows: NDArray[np.float32]) -> None:
        label = next(iter(self.labels))
        forest.partial_fit(no_rows, np.empty(0, label_type(label)), classes=self.given())

    def forecasts(self, model: Model, rows: Rows, workers: int, points: int) -> list[Forecast]:
        proba, classes = model.predict_proba(rows, workers)
        labels = tuple(classes.tolist())
        best = best_columns(model.decision, proba, classes).tolist()
        return [
            Forecast(labels[b], labels, tuple(shares), points)
            for b, shares in zip(best, proba.tolist(), strict=True)
        ]

    def predicted(self, forecast: Forecast) -> dict[str, Any]:
        if forecast.label is None:
            return {"probabilities": None}
        names = map(label_text, forecast.classes)
        return {"probabilities": dict(zip(names, forecast.probabilities, strict=True))}

    def judged(self, guess: Label | None, label: Label) -> dict[str, Any]:
        return {"correct": None if guess is None else guess == label}


def label_type(label: Label) -> Any:
    """Return numpy's type for labels like this one, whatever the other labels of a batch are."""
    return {bool: np.bool_, int: np.int64, float: np.float64, str: np.str_}[type(label)]
