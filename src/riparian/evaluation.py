"""Scores of predictions, from counts that grow with the classes but not with the rows.

`Scores` takes any predictions. `Prequential` is test-then-train: every block of a stream is predicted
before it is learned, with or without a delay of the labels, and a curve shows how the scores develop.
Sums are in fixed point, so they do not depend on the batches of a stream, and they can be saved and
restored exactly.
"""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riparian.late_labels import LateLabels

if TYPE_CHECKING:
    from riparian.forest import OnlineForestClassifier

__all__ = ["Bin", "CurvePoint", "Prequential", "Scores"]

LEAST_PROBABILITY = 1e-15  # in the log loss: a class of probability 0 costs about 34.5 nats

BINS = 10  # of the calibration curve

UNIT = 2**32  # one, in the sums of losses and confidences

MOST_CURVE_POINTS = 1000


@dataclass(frozen=True)
class Bin:
    """Rows whose predicted class had a similar probability."""

    confidence: float  # mean probability of the predicted class
    accuracy: float  # share of correct predictions
    count: int


class Scores:
    """Counts of truth and prediction, and the scores computed from them.

    >>> scores = Scores()
    >>> scores.update(["oak", "elm", "oak"], [[0.2, 0.8], [0.9, 0.1], [0.6, 0.4]], ["elm", "oak"])
    >>> scores.classes, scores.confusion.tolist(), round(scores.accuracy, 3)
    (['elm', 'oak'], [[1, 0], [1, 1]], 0.667)
    """

    def __init__(self) -> None:
        self._labels: list[Any] = []  # in the order of their first appearance
        self._number: dict[Any, int] = {}  # of each in that order
        self._pairs: Counter[tuple[int, int]] = Counter()  # truth and prediction, by number
        self._loss = 0  # sum of -log p(truth), in units
        self._bins = [[0, 0, 0] for _ in range(BINS)]  # count, right, sum of confidence in units

    def update(self, y: ArrayLike, proba: ArrayLike, classes: ArrayLike) -> None:
        """Count rows: their labels, and the probability of each of `classes`.

        A label that is not among the classes has probability 0, and counts as a mistake.
        """
        self._score(y, proba, classes)

    def count(self, label: Any, guess: Any, share: float, confidence: float) -> None:
        """Count one row, given its label, the predicted class, and the probabilities of the two.

        >>> scores = Scores()
        >>> scores.count("oak", "elm", 0.25, 0.75)
        >>> scores.rows, scores.accuracy, round(scores.log_loss, 3)
        (1, 0.0, 1.386)
        """
        self._pairs[self._number_of(label), self._number_of(guess)] += 1
        self._loss += round(-math.log(max(share, LEAST_PROBABILITY)) * UNIT)
        bin_ = self._bins[min(int(confidence * BINS), BINS - 1)]
        bin_[0] += 1
        bin_[1] += label == guess
        bin_[2] += round(confidence * UNIT)

    def _score(self, y: ArrayLike, proba: ArrayLike, classes: ArrayLike) -> NDArray[np.bool_]:
        """Count rows, and return which of them were predicted correctly."""
        shares = np.asarray(proba, dtype=np.float64)
        columns = np.asarray(classes).tolist()
        best = shares.argmax(axis=1)
        labels, inverse = np.unique(np.asarray(y), return_inverse=True)
        place = {label: i for i, label in enumerate(columns)}
        column = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)
        truth = column[inverse]
        right: NDArray[np.bool_] = truth == best

        self._count(labels.tolist(), inverse, columns, best)
        rows = np.arange(len(shares))
        of_truth = np.where(truth >= 0, shares[rows, truth], 0.0)
        self._loss += _units(-np.log(np.maximum(of_truth, LEAST_PROBABILITY)))
        self._calibrate(shares[rows, best], right)
        return right

    def _count(
        self, labels: list[Any], inverse: NDArray[Any], columns: list[Any], best: NDArray[Any]
    ) -> None:
        codes, counts = np.unique(inverse * len(columns) + best, return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            truth, predicted = labels[code // len(columns)], columns[code % len(columns)]
            self._pairs[self._number_of(truth), self._number_of(predicted)] += count

    def _number_of(self, label: Any) -> int:
        if label not in self._number:
            self._number[label] = len(self._labels)
            self._labels.append(label)
        return self._number[label]

    def _calibrate(self, confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> None:
        which = np.minimum((confidence * BINS).astype(np.intp), BINS - 1)
        for i in np.unique(which).tolist():
            inside = which == i
            self._bins[i][0] += int(inside.sum())
            self._bins[i][1] += int(right[inside].sum())
            self._bins[i][2] += _units(confidence[inside])

    # -- results ----------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """The number of rows that were scored."""
        return sum(bin_[0] for bin_ in self._bins)

    @property
    def classes(self) -> list[Any]:
        """The labels seen as truth or as prediction, sorted."""
        return sorted(self._labels)

    @property
    def confusion(self) -> NDArray[np.int64]:
        """Rows by truth (down) and prediction (across), both in the order of `classes`."""
        place = {self._number[label]: i for i, label in enumerate(self.classes)}
        matrix = np.zeros((len(place), len(place)), dtype=np.int64)
        for (truth, predicted), count in self._pairs.items():
            matrix[place[truth], place[predicted]] = count
        return matrix

    @property
    def right(self) -> int:
        """The number of rows that were predicted correctly."""
        return sum(bin_[1] for bin_ in self._bins)

    @property
    def accuracy(self) -> float:
        return _ratio(self.right, self.rows)

    @property
    def kappa(self) -> float:
        """Cohen's kappa: 0 for guessing with the right frequencies, 1 for no mistake, or nan."""
        truth, predicted = self._margins()
        rows, right = truth.total(), sum(self._pairs[i, i] for i in truth)
        by_chance = sum(truth[i] * predicted[i] for i in truth)
        return _ratio(right * rows - by_chance, rows**2 - by_chance)

    @property
    def log_loss(self) -> float:
        """The mean of -log p(truth), in nats."""
        return _ratio(self._loss, self.rows * UNIT)

    @property
    def calibration(self) -> list[Bin]:
        """Ten bins of equal width by the probability of the predicted class; empty ones are omitted."""
        return [
            Bin(_ratio(sum_, count * UNIT), _ratio(right, count), count)
            for count, right, sum_ in self._bins
            if count
        ]

    def _margins(self) -> tuple[Counter[int], Counter[int]]:
        truth: Counter[int] = Counter()
        predicted: Counter[int] = Counter()
        for (i, j), count in self._pairs.items():
            truth[i] += count
            predicted[j] += count
        return truth, predicted

    def by_class(self) -> list[dict[str, Any]]:
        """Return precision, recall, F1 and support of each class; None if undefined."""
        truth, predicted = self._margins()
        table = []
        for label in self.classes:
            i = self._number[label]
            both = self._pairs[i, i]
            table.append(
                {
                    "label": label,
                    "precision": or_none(_ratio(both, predicted[i])),
                    "recall": or_none(_ratio(both, truth[i])),
                    "f1": or_none(_ratio(2 * both, truth[i] + predicted[i])),
                    "support": truth[i],
                }
            )
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return all results for JSON; None if undefined."""
        return {
            "rows": self.rows,
            "accuracy": or_none(self.accuracy),
            "kappa": or_none(self.kappa),
            "log_loss": or_none(self.log_loss),
            "classes": self.by_class(),
            "confusion": self.confusion.tolist(),
            "calibration": [
                {"confidence": b.confidence, "accuracy": b.accuracy, "count": b.count}
                for b in self.calibration
            ],
        }

    # -- saved and restored ----------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything for JSON; `from_state` continues exactly."""
        return {
            "labels": self._labels,
            "pairs": [[i, j, count] for (i, j), count in self._pairs.items()],
            "loss": self._loss,
            "bins": self._bins,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        scores = cls()
        scores._labels = list(state["labels"])
        scores._number = {label: i for i, label in enumerate(scores._labels)}
        scores._pairs = Counter({(i, j): count for i, j, count in state["pairs"]})
        scores._loss = state["loss"]
        scores._bins = [list(bin_) for bin_ in state["bins"]]
        return scores


class Window:
    """A window of the most recent predictions: whether each was right.

    >>> window = Window(3)
    >>> window.extend([True, False, False, True])
    >>> round(window.accuracy, 3), window.state()
    (0.333, '001')
    """

    def __init__(self, size: int, state: str = "") -> None:
        self._right = deque((bit == "1" for bit in state), maxlen=size)

    def extend(self, right: Iterable[bool]) -> None:
        self._right.extend(right)

    @property
    def accuracy(self) -> float:
        return _ratio(sum(self._right), len(self._right))

    def state(self) -> str:
        """Return the state for JSON, and for `Window(size, state)`."""
        return "".join("01"[right] for right in self._right)


@dataclass(frozen=True)
class CurvePoint:
    """The scores, and statistics of the forest, after some rows of a stream."""

    row: int  # learned so far
    accuracy: float  # of all rows up to here
    window_accuracy: float  # of the most recent rows
    kappa: float
    log_loss: float
    leaves: int
    active: int  # of the leaves
    memory: int  # bytes
    seconds: float  # since the stream began


Watch = Callable[[Any, ArrayLike, NDArray[np.float64], NDArray[Any]], None]


class Prequential:
    """Test-then-train: scores of a stream whose rows are predicted before they are learned.

    >>> from riparian import OnlineForestClassifier
    >>> from riparian.streams import GaussianMixture
    >>> forest, test = OnlineForestClassifier(5, random_state=0), Prequential()
    >>> for day in range(3):
    ...     X, y = GaussianMixture.paper().sample(100, random_state=day)
    ...     seconds = test.test_then_train(forest, X, y)
    >>> test.scores.rows  # the first block is not tested: no class is known yet
    200

    With predictions of another model:

    >>> test = Prequential(window=2)
    >>> test.update([1, 0, 0], [[0.4, 0.6], [0.4, 0.6], [0.7, 0.3]], [0, 1])
    >>> test.mark(row=3, leaves=10, active=10, memory=1000, seconds=0.1)
    >>> point = test.curve[-1]
    >>> round(point.accuracy, 3), point.window_accuracy
    (0.667, 0.5)

    With `delay`, labels arrive late, as in MOA and CapyMOA: when a block is predicted, the forest has
    learned exactly the rows that come at least `delay` rows before the first row of the block.

    >>> forest, test = OnlineForestClassifier(5, random_state=0), Prequential(delay=150)
    >>> for day in range(3):
    ...     X, y = GaussianMixture.paper().sample(100, random_state=day)
    ...     seconds = test.test_then_train(forest, X, y)
    >>> test.scores.rows, test.waiting  # no label had arrived before the third block
    (100, 149)
    >>> seconds = test.learn_waiting(forest)  # the stream is over
    >>> test.waiting, forest.stats()["points"]
    (0, 300)
    """

    def __init__(self, window: int = 1000, delay: int = 0) -> None:
        self.scores = Scores()
        self.window = window  # of the window accuracy, in rows
        self.curve: list[CurvePoint] = []  # at most MOST_CURVE_POINTS, and the last one
        self._recent = Window(window)
        self._batches = 0
        self._stride = 1  # batches from one point of the curve to the next
        self._late = LateLabels(delay)

    def test_then_train(
        self,
        forest: OnlineForestClassifier,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        watch: Watch | None = None,
    ) -> float:
        """Score the forest on a block, then let it learn the rows whose labels have arrived.

        Without a delay, it learns the block. A forest that does not know any class yet is not scored.
        `classes` is for `partial_fit`. `watch(X, y, proba, classes)` is called with everything that is
        scored. Return the seconds of learning, without the test.
        """
        known = forest.classes_ if len(getattr(forest, "classes_", ())) else None
        proba = None if known is None else forest.predict_proba(X)
        self._late.add(X, y, classes)
        if proba is not None and known is not None:
            self.update(y, proba, known)
            if watch is not None:
                watch(X, y, proba, known)
        start = time.perf_counter()
        self._late.learn_due(forest)
        return time.perf_counter() - start

    @property
    def delay(self) -> int:
        """The number of rows from a row to the first one that is predicted after its label."""
        return self._late.delay

    @property
    def waiting(self) -> int:
        """The number of rows that are predicted but not learned yet: the last rows of the stream."""
        return len(self._late)

    @property
    def absent(self) -> int:
        """The number of waiting rows that must be given to `wait_again` after `from_state`."""
        return self._late.absent

    def wait_again(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> None:
        """Give back all rows that waited when the state was saved: a state does not contain rows."""
        self._late.add_again(X, y, classes)

    def learn_waiting(self, forest: OnlineForestClassifier) -> float:
        """Learn the waiting rows at the end of the stream. Return the seconds of learning."""
        start = time.perf_counter()
        self._late.learn_rest(forest)
        return time.perf_counter() - start

    def update(self, y: ArrayLike, proba: ArrayLike, classes: ArrayLike) -> None:
        """Count a batch of predictions, as `Scores.update` does."""
        self._recent.extend(self.scores._score(y, proba, classes).tolist())
        self._batches += 1

    @property
    def window_accuracy(self) -> float:
        return self._recent.accuracy

    @property
    def due(self) -> bool:
        """Return whether to add a point to the curve now. Computing one takes time."""
        return self._batches % self._stride == 0

    def mark_forest(self, forest: OnlineForestClassifier, *, row: int, seconds: float) -> None:
        """Add a point to the curve with the statistics of the forest, once there are scores."""
        if self.scores.rows:
            sizes = forest.model_.engine.sizes()
            self.mark(
                row=row,
                leaves=sizes["leaves"],
                active=sizes["active"],
                memory=forest.model_.memory_of(sizes)["total"],
                seconds=seconds,
            )

    def mark(self, *, row: int, leaves: int, active: int, memory: int, seconds: float) -> None:
        """Add a point to the curve. When there are too many, every other one is dropped."""
        if self.curve and self.curve[-1].row == row:
            return
        self.curve.append(
            CurvePoint(
                row,
                self.scores.accuracy,
                self.window_accuracy,
                self.scores.kappa,
                self.scores.log_loss,
                leaves,
                active,
                memory,
                seconds,
            )
        )
        if len(self.curve) >= MOST_CURVE_POINTS:
            self.curve = self.curve[1::2]
            self._stride *= 2

    def to_dict(self) -> dict[str, Any]:
        """Return the scores for JSON, with the recent accuracy."""
        return {
            **self.scores.to_dict(),
            "window": self.window,
            "delay": self.delay,
            "window_accuracy": or_none(self.window_accuracy),
        }

    def state(self) -> dict[str, Any]:
        """Return everything but the waiting rows, for JSON; `from_state` continues exactly."""
        return {
            "scores": self.scores.state(),
            "window": self.window,
            "delay": self.delay,
            "waiting": self.waiting,
            "recent": self._recent.state(),
            "batches": self._batches,
            "stride": self._stride,
            "curve": [[or_none(value) for value in astuple(point)] for point in self.curve],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Continue from a state; if rows were waiting, call `wait_again` next."""
        test = cls(state["window"], state.get("delay", 0))
        test._late.absent = state.get("waiting", 0)
        test.scores = Scores.from_state(state["scores"])
        test._recent = Window(test.window, state["recent"])
        test._batches = state["batches"]
        test._stride = state["stride"]
        test.curve = [
            CurvePoint(*(math.nan if value is None else value for value in point))  # type: ignore[arg-type]
            for point in state["curve"]
        ]
        return test


def _units(values: NDArray[np.float64]) -> int:
    return int(np.rint(values * UNIT).astype(np.int64).sum())


def _ratio(over: int, under: int) -> float:
    return over / under if under else math.nan


def or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
