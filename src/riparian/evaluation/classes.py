"""Scores of predicted classes, from counts that grow with the classes but not with the rows."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riparian.evaluation.fixed_point import UNIT, or_none, ratio, units
from riparian.evaluation.ranking import Ranking, RankingCurve
from riparian.evaluation.threshold import REFRESH, Threshold, rarest
from riparian.evaluation.words import classes_as_html, scores_in_words
from riparian.model.decision import Decision, best_columns
from riparian.tools.shapes import COUNT, LABEL, NUMBER, Either, shaped

TO_DICT = (
    "accuracy", "balanced_accuracy", "kappa", "f1", "log_loss", "brier", "calibration_error",
    "auc", "auc_error", "auc_weighted",
    "average_precision", "average_precision_error", "average_precision_weighted",
)  # fmt: skip

# What a state must look like; `Ranking` checks its own.
STATE = {"labels": [LABEL], "pairs": [(COUNT, COUNT, COUNT)], "loss": range(-(2**104), 2**104),
         "bins": [(COUNT, COUNT, range(2**96))], "positive": Either(LABEL, None),
         "threshold": Either(None, (str, NUMBER, Either(LABEL, None))),
         "decision": Either(None, (LABEL, NUMBER))}  # fmt: skip

LEAST_PROBABILITY = 1e-15  # in the log loss: a class of probability 0 costs about 34.5 nats

BINS = 10  # of the calibration curve

ONE_SIDED = 0.8  # the share of the most frequent class from which on accuracy says little


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
    >>> scores.positive, scores.auc, round(scores.average_precision, 3), round(scores.brier, 3)
    ('elm', 1.0, 1.0, 0.137)

    `auc` and `average_precision` come from counts in fixed bins, with a bound of the error next to them
    (`auc_error`, `average_precision_error`), so memory is bounded and scores of parts can be merged.
    `curve` has the ROC and precision-recall curves.

    `positive` is the class that average precision and a threshold are for; by default, it is the rarest
    class so far. With `threshold`, this class is predicted where its probability is large enough:
    a number, `"recall=0.8"` or `"cost=5"` (`Threshold`). It is chosen again every 100 rows, from the
    rows before, so no row takes part in the choice of its own threshold. `decision` is that choice.
    """

    # Of the points of a curve, in words.
    DRAWN: ClassVar = {"window_accuracy": "accuracy, last window", "accuracy": "all rows so far"}

    def __init__(
        self, positive: Any = None, threshold: Threshold | str | float | None = None
    ) -> None:
        if isinstance(threshold, str | float | int):
            threshold = Threshold.parse(str(threshold))
        if threshold is not None and threshold.label is None:
            threshold = replace(threshold, label=positive)
        self.threshold = threshold
        self.decision: Decision | None = None  # for the next row; None: the most probable class
        self._positive = positive
        self.ranking = Ranking()
        self._labels: list[Any] = []  # in the order of their first appearance
        self._number: dict[Any, int] = {}  # of each in that order
        self._pairs: Counter[tuple[int, int]] = Counter()  # truth and prediction, by number
        self._loss = 0  # sum of -log p(truth), in units
        self._bins = [[0, 0, 0] for _ in range(BINS)]  # count, right, sum of confidence in units

    def update(self, y: ArrayLike, proba: ArrayLike, classes: ArrayLike) -> None:
        """Count rows: their labels, and the probability of each of `classes`.

        A label that is not among the classes has probability 0, and counts as a mistake.
        """
        self.score(y, proba, classes)

    def count(self, label: Any, guess: Any, shares: Mapping[Any, float]) -> None:
        """Count one row, given its label, the predicted class, and the probability of each class.

        >>> scores = Scores()
        >>> scores.count("oak", "elm", {"elm": 0.75, "oak": 0.25})
        >>> scores.rows, scores.accuracy, round(scores.log_loss, 3)
        (1, 0.0, 1.386)
        """
        self._pairs[self._number_of(label), self._number_of(guess)] += 1
        share = max(shares.get(label, 0.0), LEAST_PROBABILITY)
        self._loss += round(-math.log(share) * UNIT)
        confidence = shares[guess]
        bin_ = self._bins[min(int(confidence * BINS), BINS - 1)]
        bin_[0] += 1
        bin_[1] += label == guess
        bin_[2] += round(confidence * UNIT)
        self.ranking.add_one(label, shares)

    def score(self, y: ArrayLike, proba: ArrayLike, classes: ArrayLike) -> NDArray[np.bool_]:
        """Count rows, and return which of them were predicted correctly."""
        shares = np.asarray(proba, dtype=np.float64)
        labels, names = np.asarray(y), np.asarray(classes)
        if self.threshold is None:
            return self._add(labels, shares, names.tolist(), shares.argmax(axis=1))
        right = [np.zeros(0, dtype=np.bool_)]
        start = 0
        while start < len(labels):
            self._choose()
            stop = start + REFRESH - self.rows % REFRESH
            some = slice(start, stop)
            best = best_columns(self.decision, shares[some], names)
            right.append(self._add(labels[some], shares[some], names.tolist(), best))
            start = stop
        return np.concatenate(right)

    def _choose(self) -> None:
        """Choose the threshold at a multiple of `REFRESH` rows: how rows are cut must not matter."""
        if self.threshold is not None and self.rows % REFRESH == 0:
            self.decision = self.threshold.choose(self.ranking)

    def final_decision(self) -> Decision | None:
        """Return the decision that the threshold gives after all rows; None without a threshold."""
        return None if self.threshold is None else self.threshold.choose(self.ranking)

    def _add(
        self,
        y: NDArray[Any],
        shares: NDArray[np.float64],
        columns: Sequence[Any],
        best: NDArray[np.intp],
    ) -> NDArray[np.bool_]:
        labels, inverse = np.unique(y, return_inverse=True)
        place = {label: i for i, label in enumerate(columns)}
        column = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)
        truth = column[inverse]
        right: NDArray[np.bool_] = truth == best

        self._count(labels.tolist(), inverse, columns, best)
        rows = np.arange(len(shares))
        of_truth = np.where(truth >= 0, shares[rows, truth], 0.0)
        self._loss += units(-np.log(np.maximum(of_truth, LEAST_PROBABILITY)))
        self._calibrate(shares[rows, best], right)
        self.ranking.add(inverse, shares, columns, labels.tolist())
        return right

    def _count(
        self, labels: list[Any], inverse: NDArray[Any], columns: Sequence[Any], best: NDArray[Any]
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
            self._bins[i][2] += units(confidence[inside])

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
        return ratio(self.right, self.rows)

    @property
    def kappa(self) -> float:
        """Cohen's kappa: 0 for guessing with the right frequencies, 1 for no mistake, or nan."""
        truth, predicted = self._margins()
        rows, right = truth.total(), sum(self._pairs[i, i] for i in truth)
        by_chance = sum(truth[i] * predicted[i] for i in truth)
        return ratio(right * rows - by_chance, rows**2 - by_chance)

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that have rows, or nan."""
        truth, _ = self._margins()
        recalls = [ratio(self._pairs[i, i], count) for i, count in sorted(truth.items()) if count]
        return math.fsum(recalls) / len(recalls) if recalls else math.nan

    @property
    def f1(self) -> float:
        """The mean F1 of the classes (macro), or nan."""
        truth, predicted = self._margins()
        both = [(self._pairs[i, i], truth[i] + predicted[i]) for i in sorted({*truth, *predicted})]
        scores = [ratio(2 * right, rows) for right, rows in both]
        return math.fsum(scores) / len(scores) if scores else math.nan

    @property
    def log_loss(self) -> float:
        """The mean of -log p(truth), in nats."""
        return ratio(self._loss, self.rows * UNIT)

    @property
    def brier(self) -> float:
        """The mean of (p - truth)², summed over the classes if there are more than two, or nan."""
        halves = 2 if len(self.classes) <= 2 else 1
        return ratio(self.ranking.squares, self.ranking.rows * UNIT * halves)

    # -- ranking ----------------------------------------------------------------------------------

    @property
    def positive(self) -> Any:
        """The class that average precision and a threshold are for: as given, or the rarest so far."""
        return rarest(self.ranking) if self._positive is None else self._positive

    @property
    def imbalanced(self) -> bool:
        """Whether one class has four fifths of the rows, so that its share alone is a high accuracy."""
        truths = self.ranking.truths
        return len(truths) > 1 and max(truths.values()) > ONE_SIDED * truths.total()

    def curve(self, label: Any = None) -> RankingCurve:
        """Return the ROC, precision-recall and lift curves of a class, by default of `positive`."""
        return self.ranking.curve(self.positive if label is None else label)

    @property
    def auc(self) -> float:
        """The area under the ROC curve or, with more than two classes, its mean over all, each against
        the rest (macro); nan if undefined.
        """
        return self._ranked("auc")[0]

    @property
    def auc_error(self) -> float:
        """The most by which `auc` can differ from that of the probabilities without bins."""
        return self._ranked("auc_error")[0]

    @property
    def auc_weighted(self) -> float:
        """The mean over the classes, by their rows."""
        return self._ranked("auc", weighted=True)[0]

    @property
    def average_precision(self) -> float:
        """The average precision of `positive`; with more classes and none given, the mean over all."""
        return self._ranked("average_precision")[0]

    @property
    def average_precision_error(self) -> float:
        """The most by which `average_precision` can differ from that of the probabilities."""
        return self._ranked("average_precision_error")[0]

    @property
    def average_precision_weighted(self) -> float:
        """The mean over the classes, by their rows."""
        return self._ranked("average_precision", weighted=True)[0]

    def _ranked(self, *names: str, weighted: bool = False) -> list[float]:
        """Return scores of the curve of the positive class, or their means over the classes."""
        truths = self.ranking.truths
        if (not weighted and len(truths) == 2) or self._positive is not None:
            curve = self.curve()
            return [getattr(curve, name) for name in names]
        if not truths:
            return [math.nan] * len(names)
        areas = self.ranking.areas(sorted(truths))
        weights = areas.positives if weighted else np.ones(len(truths))
        known = ~np.isnan(areas.auc)
        total = float(weights[known].sum())
        sums = [float((weights * getattr(areas, name))[known].sum()) for name in names]
        return [each / total if total else math.nan for each in sums]

    def never_predicted(self) -> dict[Any, float]:
        """Return the share of the rows of each class that was never predicted."""
        truth, predicted = self._margins()
        total = truth.total()
        return {
            label: truth[self._number[label]] / total
            for label in self.classes
            if truth[self._number[label]] and not predicted[self._number[label]]
        }

    def rarely_predicted(self) -> dict[Any, float]:
        """Return the share of the rows of each class that is predicted for less than 2 % as many."""
        truth, predicted = self._margins()
        total = truth.total()
        number = self._number
        return {
            label: truth[number[label]] / total
            for label in self.classes
            if 50 * predicted[number[label]] < truth[number[label]]
        }

    def headline(self) -> dict[str, float]:
        """Return the scores to show, the most telling first: for imbalanced classes, how well rows are
        ranked, since the most frequent class alone makes the accuracy large.
        """
        auc, average_precision = self._ranked("auc", "average_precision")
        ranked = {"AUC": auc, "average precision": average_precision}
        right = {"accuracy": self.accuracy, "balanced accuracy": self.balanced_accuracy}
        rest = {"kappa": self.kappa, "F1": self.f1, "log loss": self.log_loss, "Brier": self.brier}
        return ranked | right | rest if self.imbalanced else right | rest | ranked

    def __repr__(self) -> str:
        return scores_in_words("Scores", self)

    def _repr_html_(self) -> str:
        return classes_as_html(self)

    # -- calibration ------------------------------------------------------------------------------

    @property
    def calibration(self) -> list[Bin]:
        """Ten bins of equal width by the probability of the predicted class; empty ones are omitted."""
        return [
            Bin(ratio(sum_, count * UNIT), ratio(right, count), count)
            for count, right, sum_ in self._bins
            if count
        ]

    @property
    def calibration_error(self) -> float:
        """The mean difference of probability and accuracy in the bins of `calibration` (ECE), or nan."""
        off = sum(abs(sum_ - right * UNIT) for _, right, sum_ in self._bins)
        return ratio(off, self.rows * UNIT)

    def calibration_of(self, label: Any = None, groups: int = 10) -> list[Bin]:
        """Return groups of about equal size by the probability of one class, by default `positive`.

        `confidence` is the mean probability of the class, to 1 part in 128, and `accuracy` the share of
        its rows. Rare classes have small probabilities, so `calibration` shows little of them.
        """
        label = self.positive if label is None else label
        return [Bin(*each) for each in self.ranking.calibration(label, groups)]

    def _margins(self) -> tuple[Counter[int], Counter[int]]:
        truth: Counter[int] = Counter()
        predicted: Counter[int] = Counter()
        for (i, j), count in list(self._pairs.items()):  # another thread may count rows
            truth[i] += count
            predicted[j] += count
        return truth, predicted

    def by_class(self) -> list[dict[str, Any]]:
        """Return precision, recall, F1, support, AUC and average precision of each class, or None."""
        truth, predicted = self._margins()
        table: list[dict[str, Any]] = []
        classes = self.classes
        if not classes:
            return table
        areas = self.ranking.areas(classes)
        for place, label in enumerate(classes):
            i = self._number[label]
            both = self._pairs[i, i]
            table.append(
                {
                    "label": label,
                    "precision": or_none(ratio(both, predicted[i])),
                    "recall": or_none(ratio(both, truth[i])),
                    "f1": or_none(ratio(2 * both, truth[i] + predicted[i])),
                    "support": truth[i],
                    "auc": or_none(float(areas.auc[place])),
                    "average_precision": or_none(float(areas.average_precision[place])),
                }
            )
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return all results for JSON; None if undefined."""
        return {
            "rows": self.rows,
            "positive": self.positive,
            "imbalanced": self.imbalanced,
            **{name: or_none(getattr(self, name)) for name in TO_DICT},
            "never_predicted": [
                {"label": label, "share": share} for label, share in self.never_predicted().items()
            ],
            "decision": None if self.decision is None else vars(self.decision),
            "classes": self.by_class(),
            "confusion": self.confusion.tolist(),
            "calibration": [
                {"confidence": b.confidence, "accuracy": b.accuracy, "count": b.count}
                for b in self.calibration
            ],
        }

    # -- merged, saved and restored ----------------------------------------------------------------

    def merge(self, other: Scores) -> None:
        """Add the counts of other rows, as if they had been counted here."""
        for (i, j), count in other._pairs.items():
            pair = self._number_of(other._labels[i]), self._number_of(other._labels[j])
            self._pairs[pair] += count
        self._loss += other._loss
        for mine, theirs in zip(self._bins, other._bins, strict=True):
            mine[:] = [a + b for a, b in zip(mine, theirs, strict=True)]
        self.ranking.merge(other.ranking)

    def state(self) -> dict[str, Any]:
        """Return everything for JSON; `from_state` continues exactly."""
        order = sorted(range(len(self._labels)), key=self._labels.__getitem__)
        place = {number: i for i, number in enumerate(order)}
        return {
            "labels": [self._labels[number] for number in order],
            "pairs": sorted([place[i], place[j], n] for (i, j), n in self._pairs.items()),
            "loss": self._loss,
            "bins": self._bins,
            "ranking": self.ranking.state(),
            "positive": self._positive,
            "threshold": None if self.threshold is None else list(vars(self.threshold).values()),
            "decision": None if self.decision is None else list(vars(self.decision).values()),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Continue from a state, or raise a ValueError if it is not one."""
        shaped("scores", {"positive": None, "threshold": None, "decision": None, **state}, STATE)
        labels, pairs = state["labels"], state["pairs"]
        if len({*labels}) < len(labels) or len({type(label) for label in labels}) > 1:
            raise ValueError("scores.labels: expected different labels of one type")
        if any(max(i, j) >= len(labels) for i, j, _ in pairs) or len(state["bins"]) != BINS:
            raise ValueError(f"scores: expected pairs of its {len(labels)} labels, and {BINS} bins")
        threshold, decision = state.get("threshold"), state.get("decision")
        scores = cls(state.get("positive"), threshold and Threshold(*threshold))
        scores.decision = decision and Decision(*decision)
        scores._labels = list(state["labels"])
        scores._number = {label: i for i, label in enumerate(scores._labels)}
        scores._pairs = Counter({(i, j): count for i, j, count in state["pairs"]})
        scores._loss = state["loss"]
        scores._bins = [list(bin_) for bin_ in state["bins"]]
        if "ranking" in state:  # riparian 0.2 did not rank: its rows are left out of it
            scores.ranking = Ranking.from_state(state["ranking"])
            if len({type(label) for label in [*labels, *scores.ranking.labels]}) > 1:
                raise ValueError("scores.ranking: expected labels like those of the scores")
        return scores

    # -- along a stream ----------------------------------------------------------------------------

    def window(self, size: int, state: str = "") -> Window:
        """Return a window of recent rows, for what `score` returns."""
        return Window(size, state)

    def curve_point(self, window: Window, **forest: Any) -> CurvePoint:
        """Return the scores as they are now, with statistics of the forest."""
        auc, average_precision = self._ranked("auc", "average_precision")
        return CurvePoint(
            **forest,
            accuracy=self.accuracy,
            window_accuracy=window.accuracy,
            kappa=self.kappa,
            log_loss=self.log_loss,
            balanced_accuracy=self.balanced_accuracy,
            auc=auc,
            average_precision=average_precision,
            brier=self.brier,
        )

    def of_curve(self, values: list[Any]) -> CurvePoint:
        """Return a point of the curve from its saved values."""
        return CurvePoint(*values)


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
        self._right.extend(map(bool, right))

    @property
    def accuracy(self) -> float:
        return sum(self._right) / len(self._right) if self._right else math.nan

    def to_dict(self) -> dict[str, float | None]:
        """Return the scores of the window for JSON."""
        return {"window_accuracy": or_none(self.accuracy)}

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
    balanced_accuracy: float = math.nan
    auc: float = math.nan
    average_precision: float = math.nan
    brier: float = math.nan
    trust: dict[str, float] | None = None  # by size of cell (R25); None without heads
