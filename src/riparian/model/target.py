"""The protocol of a target: what a model predicts, and what its labels are for the engine."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from riparian.engine.engine import Engine


class Target(Protocol):
    """Classes (`riparian.model.classes`) or numbers (`riparian.model.numbers`)."""

    def check(self, y: NDArray[Any]) -> None:
        """Raise an error if a label may not join; nothing changes."""

    def join(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the labels as the engine takes them. All are checked before any joins."""

    def join_values(self, labels: list[Any]) -> list[Any]:
        """Return what `join` does, for Python values."""

    def number(self, y: NDArray[Any]) -> Any:
        """Return a label that can be learned without joining, for the engine; otherwise None."""

    @property
    def outputs(self) -> int:
        """Return the number of columns of an answer of the engine; 0 if it cannot answer yet."""

    def standing(self) -> Any:
        """Return a value that changes as soon as labels have joined that change the target."""

    def tell(self, engine: Engine) -> None:
        """Pass on what the engine must know about the target."""

    def answers(self, engine: Engine, points: Any, workers: int) -> NDArray[np.float64]:
        """Return the answers of the engine."""

    def labels_of(self, joined: NDArray[Any]) -> NDArray[Any]:
        """Return labels as they were given, from what `join` returned."""

    def predicted(self, answers: NDArray[np.float64]) -> NDArray[Any]:
        """Return the label that each answer stands for."""

    def answers_in_turn(
        self,
        before: Any,
        answers: NDArray[np.float64],
        y: NDArray[Any],
        joins: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Return what the answers mean, each of which was given just before its row was learned.

        `before` is the target before the batch, y its labels; those that `joins` flags have joined.
        """

    def state(self) -> Any:
        """Return the target as plain state, for snapshots."""
