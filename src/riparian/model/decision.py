"""The decision: which class is predicted, given the probabilities of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from riparian.snapshot.errors import SnapshotError

DECISION = "decision"  # the key in the extra part of a snapshot


@dataclass(frozen=True)
class Decision:
    """Predict a class where its probability reaches a threshold, otherwise the likeliest other one.

    >>> late = Decision("late", 0.2)
    >>> late.labels(np.array([[0.9, 0.1], [0.7, 0.3]]), np.array(["in time", "late"])).tolist()
    ['in time', 'late']
    """

    label: Any
    threshold: float  # the least probability for which the class is predicted

    def __post_init__(self) -> None:
        if not 0.0 <= self.threshold <= 1.0:  # NaN, too
            raise ValueError(f"a threshold must be from 0 to 1, got {self.threshold!r}")

    @classmethod
    def checked(cls, label: Any, threshold: float, classes: Sequence[Any]) -> Self:
        """Return a decision for one of these classes, or raise an error that names them."""
        if label not in classes:
            known = ", ".join(map(repr, classes))
            raise ValueError(f"a decision must be for one of the classes {known}, got {label!r}")
        if type(threshold) not in (int, float):
            raise ValueError(f"a threshold must be a number, got {threshold!r}")
        return cls(label, float(threshold))

    def state(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"label": self.label, "threshold": self.threshold}

    def columns(self, proba: NDArray[np.float64], classes: NDArray[Any]) -> NDArray[np.intp]:
        """Return the column of the predicted class of each row."""
        place = np.flatnonzero(classes == self.label)
        if len(place) == 0 or proba.shape[1] == 1:  # the class has not come yet, or is the only one
            return best_columns(None, proba, classes)
        mine = int(place[0])
        others = proba.copy()
        others[:, mine] = -1.0
        best: NDArray[np.intp] = others.argmax(axis=1)
        best[proba[:, mine] >= self.threshold] = mine
        return best

    def labels(self, proba: NDArray[np.float64], classes: NDArray[Any]) -> NDArray[Any]:
        """Return the predicted class of each row."""
        labels: NDArray[Any] = classes[self.columns(proba, classes)]
        return labels


def best_columns(
    decision: Decision | None, proba: NDArray[np.float64], classes: NDArray[Any]
) -> NDArray[np.intp]:
    """Return the columns that a decision chooses; without one, the most probable, first of equals."""
    if decision is not None:
        return decision.columns(proba, classes)
    best: NDArray[np.intp] = proba.argmax(axis=1)
    return best


def decision_of(extra: dict[str, Any] | None, classes: Sequence[Any]) -> Decision | None:
    """Return the decision that a snapshot stores, if it does; `extra` may have what a user stored."""
    state = (extra or {}).get(DECISION)
    if not isinstance(state, dict) or state.keys() != {"label", "threshold"}:
        return None
    try:
        return Decision.checked(state["label"], state["threshold"], classes)
    except (TypeError, ValueError) as error:
        raise SnapshotError("header", f"decision: {error}") from None
