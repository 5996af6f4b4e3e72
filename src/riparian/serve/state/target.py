"""The protocol of a served target: which labels a service takes, and what its model answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from riparian.model.model import Model
from riparian.serve.items import Forecast, Label
from riparian.serve.state.scores import LogScores
from riparian.table.raw import Rows


class ServedTarget(Protocol):
    """Classes (`classes.py`) or numbers (`numbers.py`): adapters of the target of the model.

    It is a value: a label that joins makes a new one. A label in its canonical form has one type.
    """

    task: ClassVar[str]  # the value of --task
    log_scores: ClassVar[type[LogScores]]

    def canonical(self, label: Label) -> Label:
        """Return a label in the type of the labels: JSON, as some write it, has one kind of numbers."""

    def fault(self, label: Label) -> str | None:
        """Return why a label in its canonical form cannot be learned, or None if it can."""

    def check(self, label: Label) -> None:
        """Refuse a label in its canonical form that may not be accepted."""

    def with_label(self, label: Label) -> ServedTarget:
        """Return the target after a lesson with this label."""

    def given(self) -> list[Label] | None:
        """Return the only labels that there may be, or None if others may join."""

    def array(self, labels: Sequence[Label]) -> NDArray[Any]:
        """Return labels in their canonical form as the model takes them."""

    def start(self, forest: Any, no_rows: NDArray[np.float32]) -> None:
        """Start a forest that has learned nothing."""

    def forecasts(self, model: Model, rows: Rows, workers: int, points: int) -> list[Forecast]:
        """Return what the model predicts for rows; it has learned at least `points` points."""

    def predicted(self, forecast: Forecast) -> dict[str, Any]:
        """Return the fields of an answer other than the label."""

    def judged(self, guess: Label | None, label: Label) -> dict[str, Any]:
        """Return how the answer to a label compares it with what was predicted, if anything was."""
