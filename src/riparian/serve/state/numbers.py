"""Numbers as the target of a service (R26)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from riparian.evaluation.fixed_point import or_none
from riparian.model.model import Model
from riparian.model.numbers import LARGEST
from riparian.serve.items import Forecast, Label
from riparian.serve.refused import Refused, shown
from riparian.serve.state.scores import LogScores, NumberLogScores
from riparian.table.raw import Rows


@dataclass(frozen=True)
class ServedNumbers:
    """Numbers: every finite one of at most 2^500 may be a label."""

    task: ClassVar[str] = "numbers"
    log_scores: ClassVar[type[LogScores]] = NumberLogScores

    def canonical(self, label: Label) -> Label:
        return float(label) if type(label) is int else label

    def check(self, label: Label) -> None:
        fault = self.fault(label)
        if fault is not None:
            raise Refused(422, fault, "label")

    def fault(self, label: Label) -> str | None:
        if type(label) is float and abs(label) <= LARGEST:
            return None
        return f"must be a finite number of at most 2^500, got {shown(label)}"

    def with_label(self, label: Label) -> ServedNumbers:
        return self

    def given(self) -> list[Label] | None:
        return None

    def array(self, labels: Sequence[Label]) -> NDArray[Any]:
        return np.array(labels, np.float64)

    def start(self, forest: Any, no_rows: NDArray[np.float32]) -> None:
        forest.partial_fit(no_rows, np.empty(0))

    def forecasts(self, model: Model, rows: Rows, workers: int, points: int) -> list[Forecast]:
        ends = {each: model.predict_interval(rows, each, workers) for each in model.coverages}
        numbers = model.predict(rows, workers).tolist()
        return [
            Forecast(
                number,
                (),
                (),
                points,
                tuple(
                    (coverage, or_none(float(of_rows[i, 0])), or_none(float(of_rows[i, 1])))
                    for coverage, of_rows in ends.items()
                ),
            )
            for i, number in enumerate(numbers)
        ]

    def predicted(self, forecast: Forecast) -> dict[str, Any]:
        """Return the intervals by coverage, if the model learns any."""
        if not forecast.intervals:
            return {}
        return {"interval": {str(coverage): ends for coverage, *ends in forecast.intervals}}

    def judged(self, guess: Label | None, label: Label) -> dict[str, Any]:
        """Return the residual: the label less what was predicted."""
        assert not isinstance(guess, str) and not isinstance(label, str)
        return {"residual": None if guess is None else label - guess}
