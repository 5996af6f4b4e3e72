"""The wrong predictions of which a forest was most confident: the rows to look at first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from riparian.tools.checks import whole
from riparian.tools.packed import MOST_BYTES, packed, unpacked
from riparian.tools.shapes import COUNT, LABEL, NUMBER, shaped


@dataclass(frozen=True, eq=False)
class Mistake:
    """A row with a wrong prediction."""

    row: int  # of the stream, counted from 1
    truth: Any
    predicted: Any
    probability: float  # of the predicted class
    of_truth: float  # the probability of the true one
    x: NDArray[np.float32]


# What a state must look like.
FIELDS = {
    "row": COUNT,
    "truth": LABEL,
    "predicted": LABEL,
    "probability": NUMBER,
    "of_truth": NUMBER,
}
STATE = {"most": COUNT, "rows": COUNT, "mistakes": [{**FIELDS, "x": str}]}


def _surest_first(mistake: Mistake) -> tuple[float, int]:
    return -mistake.probability, mistake.row


def _first_of_each(labels: list[Any], most: int) -> list[int]:
    """Return the places of the first labels of each class."""
    times: Counter[Any] = Counter()
    places = []
    for place, label in enumerate(labels):
        if times[label] < most:
            places.append(place)
        times[label] += 1
    return places


class SurestMistakes:
    """The wrong predictions with the largest probability, the first among equals, of all classes.

    Each class has its surest mistake before any class has its second, so that those of a frequent
    class leave room for those of a rare one.

    >>> surest = SurestMistakes(most=1)
    >>> X, proba = [[1.0], [2.0], [3.0]], [[0.2, 0.8], [0.9, 0.1], [0.6, 0.4]]
    >>> surest.update(X, ["elm", "oak", "oak"], proba, ["elm", "oak"])
    >>> [(m.row, m.truth, m.predicted, m.probability) for m in surest.mistakes]
    [(2, 'oak', 'elm', 0.9)]
    """

    def __init__(self, most: int = 10) -> None:
        self.most = whole("most", most, at_least=1, at_most=10**6)
        self.mistakes: list[Mistake] = []  # the surest first
        self.rows = 0  # so far, with those that were passed over

    def update(self, X: Any, y: ArrayLike, proba: ArrayLike, classes: ArrayLike) -> None:
        """Add the next rows, with their labels and the predicted probability of each class."""
        shares, columns = np.asarray(proba, dtype=np.float64), np.asarray(classes).tolist()
        labels = np.asarray(y).tolist()
        best = shares.argmax(axis=1)
        wrong = np.array([columns[k] != label for k, label in zip(best, labels, strict=True)], bool)
        surest = np.flatnonzero(wrong)
        confidence = shares[surest, best[surest]]
        surest = surest[np.argsort(-confidence, kind="stable")]
        few = _first_of_each([labels[i] for i in surest.tolist()], self.most)
        surest = surest[few]
        for i in surest.tolist():
            row = X[i].toarray()[0] if issparse(X) else X[i]
            of_truth = float(shares[i, columns.index(labels[i])]) if labels[i] in columns else 0.0
            self.mistakes.append(
                Mistake(
                    row=self.rows + i + 1,
                    truth=labels[i],
                    predicted=columns[best[i]],
                    probability=float(shares[i, best[i]]),
                    of_truth=of_truth,
                    x=np.array(row, dtype=np.float32),
                )
            )
        self.rows += len(labels)
        self._choose()

    def _choose(self) -> None:
        """Keep those of the best ranks within their class. A rank can only fall later on, so the cut of
        the stream into batches does not matter.
        """
        self.mistakes.sort(key=_surest_first)
        rank: Counter[Any] = Counter()
        ranked = []
        for mistake in self.mistakes:
            ranked.append((rank[mistake.truth], mistake))
            rank[mistake.truth] += 1
        ranked.sort(key=lambda pair: pair[0])
        chosen = [mistake for _, mistake in ranked[: self.most]]
        self.mistakes = sorted(chosen, key=_surest_first)

    def pass_over(self, rows: int) -> None:
        """Skip rows of the stream that were not predicted."""
        self.rows += rows

    def state(self) -> dict[str, Any]:
        """Return everything as JSON values; `from_state` continues from them exactly."""
        mistakes = [{**vars(mistake), "x": packed(mistake.x)} for mistake in self.mistakes]
        return {"most": self.most, "rows": self.rows, "mistakes": mistakes}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> SurestMistakes:
        shaped("mistakes", state, STATE)
        surest = cls(state["most"])
        surest.rows = int(state["rows"])
        left = MOST_BYTES // 4  # numbers in all rows together
        for fields in state["mistakes"][: surest.most]:
            x = unpacked(fields["x"], np.float32, left)
            left -= len(x)
            surest.mistakes.append(Mistake(**{name: fields[name] for name in FIELDS}, x=x))
        return surest
