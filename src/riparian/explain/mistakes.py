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
STATE = {"most": COUNT, "rows": COUNT, "learning": bool, "mistakes": [{**FIELDS, "x": str}]}

STRETCHES = (
    4  # of a stream that is learned: rows 1, 2 to 3, 4 to 7, ..., each as long as all before it
)


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

    `learning=True` is for a forest that learns each row after its prediction. Its first answers can be
    sure because it knows next to nothing, so the first sixteenth of the stream, or up to an eighth, is
    left out.

    >>> surest = SurestMistakes(most=1)
    >>> X, proba = [[1.0], [2.0], [3.0]], [[0.2, 0.8], [0.9, 0.1], [0.6, 0.4]]
    >>> surest.update(X, ["elm", "oak", "oak"], proba, ["elm", "oak"])
    >>> [(m.row, m.truth, m.predicted, m.probability) for m in surest.mistakes]
    [(2, 'oak', 'elm', 0.9)]
    """

    def __init__(self, most: int = 10, *, learning: bool = False) -> None:
        self.most = whole("most", most, at_least=1, at_most=10**6)
        self.learning = learning
        self.rows = 0  # so far, with those that were passed over
        self.kept: list[Mistake] = []  # the surest ones of each stretch

    @property
    def mistakes(self) -> list[Mistake]:
        """The surest first."""
        return self._surest(self.kept)

    def update(self, X: Any, y: ArrayLike, proba: ArrayLike, classes: ArrayLike) -> None:
        """Add the next rows, with their labels and the predicted probability of each class."""
        shares, columns = np.asarray(proba, dtype=np.float64), np.asarray(classes).tolist()
        labels = np.asarray(y).tolist()
        first = 0
        while first < len(labels):  # up to the end of a stretch, however the stream is cut
            last = first + self._last_of_stretch(self.rows + 1) - self.rows
            self._add(X[first:last], labels[first:last], shares[first:last], columns)
            first = last

    def _add(
        self, X: Any, labels: list[Any], shares: NDArray[np.float64], columns: list[Any]
    ) -> None:
        best = shares.argmax(axis=1)
        wrong = np.array([columns[k] != label for k, label in zip(best, labels, strict=True)], bool)
        surest = np.flatnonzero(wrong)
        confidence = shares[surest, best[surest]]
        surest = surest[np.argsort(-confidence, kind="stable")]
        few = _first_of_each([labels[i] for i in surest.tolist()], self.most)
        wrong_rows = []
        for i in surest[few].tolist():
            row = X[i].toarray()[0] if issparse(X) else X[i]
            of_truth = float(shares[i, columns.index(labels[i])]) if labels[i] in columns else 0.0
            wrong_rows.append(
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
        kept = [mistake for mistake in self.kept if mistake.row >= self._first_kept()]
        before = [mistake for mistake in kept if self._last_of_stretch(mistake.row) < self.rows]
        of_this = [mistake for mistake in kept if self._last_of_stretch(mistake.row) >= self.rows]
        self.kept = [*before, *self._surest([*of_this, *wrong_rows])]

    def _last_of_stretch(self, row: int) -> int:
        return 2 ** row.bit_length() - 1 if self.learning else 2**63

    def _first_kept(self) -> int:
        """The row where the oldest stretch begins that still counts."""
        return 2 ** max(self.rows.bit_length() - STRETCHES, 0) if self.learning else 1

    def _surest(self, mistakes: list[Mistake]) -> list[Mistake]:
        """Choose those of the best ranks within their class. A rank can only fall later on, so the cut
        of the stream into batches does not matter.
        """
        rank: Counter[Any] = Counter()
        ranked = []
        for mistake in sorted(mistakes, key=_surest_first):
            ranked.append((rank[mistake.truth], mistake))
            rank[mistake.truth] += 1
        ranked.sort(key=lambda pair: pair[0])
        chosen = [mistake for _, mistake in ranked[: self.most]]
        return sorted(chosen, key=_surest_first)

    def pass_over(self, rows: int) -> None:
        """Skip rows of the stream that were not predicted."""
        self.rows += rows

    def state(self) -> dict[str, Any]:
        """Return everything as JSON values; `from_state` continues from them exactly."""
        mistakes = [{**vars(mistake), "x": packed(mistake.x)} for mistake in self.kept]
        return {
            "most": self.most,
            "rows": self.rows,
            "learning": self.learning,
            "mistakes": mistakes,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> SurestMistakes:
        state = {"learning": True, **state}  # riparian 0.2 had only these
        shaped("mistakes", state, STATE)
        surest = cls(state["most"], learning=state["learning"])
        surest.rows = int(state["rows"])
        left = MOST_BYTES // 4  # numbers in all rows together
        for fields in state["mistakes"][: surest.most * STRETCHES]:
            x = unpacked(fields["x"], np.float32, left)
            left -= len(x)
            surest.kept.append(Mistake(**{name: fields[name] for name in FIELDS}, x=x))
        return surest
