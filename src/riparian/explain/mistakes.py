"""The wrong predictions of which a forest was most confident: the rows to look at first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from riparian.tools.checks import whole
from riparian.tools.packed import packed, unpacked


@dataclass(frozen=True, eq=False)
class Mistake:
    """A row with a wrong prediction."""

    row: int  # of the stream, counted from 1
    truth: Any
    predicted: Any
    probability: float  # of the predicted class
    of_truth: float  # the probability of the true one
    x: NDArray[np.float32]


class SurestMistakes:
    """The wrong predictions with the largest probability, the first among equals.

    >>> surest = SurestMistakes(most=1)
    >>> X, proba = [[1.0], [2.0], [3.0]], [[0.2, 0.8], [0.9, 0.1], [0.6, 0.4]]
    >>> surest.update(X, ["elm", "oak", "oak"], proba, ["elm", "oak"])
    >>> [(m.row, m.truth, m.predicted, m.probability) for m in surest.mistakes]
    [(2, 'oak', 'elm', 0.9)]
    """

    def __init__(self, most: int = 10) -> None:
        self.most = whole("most", most, at_least=1, at_most=10**6)
        self.mistakes: list[Mistake] = []  # the surest first
        self._rows = 0

    def update(self, X: Any, y: ArrayLike, proba: ArrayLike, classes: ArrayLike) -> None:
        """Add the next rows, with their labels and the predicted probability of each class."""
        shares, columns = np.asarray(proba, dtype=np.float64), np.asarray(classes).tolist()
        labels = np.asarray(y).tolist()
        best = shares.argmax(axis=1)
        wrong = np.array([columns[k] != label for k, label in zip(best, labels, strict=True)], bool)
        surest = np.flatnonzero(wrong)
        confidence = shares[surest, best[surest]]
        surest = surest[np.argsort(-confidence, kind="stable")[: self.most]]
        for i in surest.tolist():
            row = X[i].toarray()[0] if issparse(X) else X[i]
            of_truth = float(shares[i, columns.index(labels[i])]) if labels[i] in columns else 0.0
            self.mistakes.append(
                Mistake(
                    row=self._rows + i + 1,
                    truth=labels[i],
                    predicted=columns[best[i]],
                    probability=float(shares[i, best[i]]),
                    of_truth=of_truth,
                    x=np.array(row, dtype=np.float32),
                )
            )
        self._rows += len(labels)
        self.mistakes = sorted(self.mistakes, key=lambda m: -m.probability)[: self.most]

    def pass_over(self, rows: int) -> None:
        """Skip rows of the stream that were not predicted."""
        self._rows += rows

    def state(self) -> dict[str, Any]:
        """Return everything as JSON values; `from_state` continues from them exactly."""
        mistakes = [{**vars(mistake), "x": packed(mistake.x)} for mistake in self.mistakes]
        return {"most": self.most, "rows": self._rows, "mistakes": mistakes}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> SurestMistakes:
        surest = cls(state["most"])
        surest._rows = int(state["rows"])
        surest.mistakes = [
            Mistake(**{**fields, "x": unpacked(fields["x"], np.float32)})
            for fields in state["mistakes"]
        ]
        return surest
