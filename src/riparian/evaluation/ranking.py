"""How well probabilities rank the rows: ROC AUC and average precision from counts in fixed bins.

For each class, rows are counted by its probability and by whether it was true. Bins do not depend on
the data: a probability below one half is binned by its exponent and the first bits of its mantissa, one
above by those of 1 - p. So bins are narrow where probabilities of rare classes are, and counts of any
batches, streams or machines can be added. What the bins lose is known: rows of one bin are compared as
if they were tied, and `auc_error` and `average_precision_error` bound the difference to the exact value.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from riparian.evaluation.fixed_point import UNIT, units
from riparian.tools.shapes import COUNT, LABEL, shaped

OCTAVES = 20  # on each side of one half; smaller probabilities share a bin with 0
BITS = 6  # of the mantissa: 64 bins per octave, so that a bin is 1.6 % wide at most
BINS = 2 * OCTAVES << BITS
MOST_COUNTS = 2**16  # in all classes; with more than 12 classes, neighbouring bins are merged

TOGETHER = 16  # classes whose areas are computed together

# What a state must look like.
STATE = {"rows": COUNT, "truths": [(LABEL, COUNT)], "squares": range(2**104), "merged": range(BITS + 1),
         "classes": [(LABEL, [(COUNT, COUNT)], [(COUNT, COUNT)])]}  # fmt: skip

Counts = NDArray[np.int64]


def bins_of(proba: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the bin of each probability, ascending.

    >>> bins_of(np.array([0.0, 0.25, 0.4999, 0.5, 0.75, 1.0])).tolist()
    [0, 1216, 1279, 1280, 1343, 2559]
    """
    high = proba >= 0.5
    mantissa, exponent = np.frexp(np.where(high, 1.0 - proba, proba))  # 1 - p is exact here
    inside = ((mantissa - 0.5) * 2.0 ** (BITS + 1)).astype(np.intp)
    low = ((exponent.astype(np.intp) + OCTAVES) << BITS) + inside
    np.clip(low, 0, BINS // 2 - 1, out=low)
    low[mantissa == 0.0] = 0
    return np.where(high, BINS - 1 - low, low)


def bin_of(share: float) -> int:
    """Return the bin of one probability.

    >>> [bin_of(share) for share in (0.0, 0.25, 0.4999, 0.5, 0.75, 1.0)]
    [0, 1216, 1279, 1280, 1343, 2559]
    """
    small = 1.0 - share if share >= 0.5 else share
    mantissa, exponent = math.frexp(small)
    low = ((exponent + OCTAVES) << BITS) + int((mantissa - 0.5) * 2 ** (BITS + 1))
    low = min(max(low, 0), BINS // 2 - 1) if small else 0
    return BINS - 1 - low if share >= 0.5 else low


def least_of_bins(merged: int = 0) -> NDArray[np.float64]:
    """Return the least probability of each bin, if 2^merged neighbours are one."""
    inside = 0.5 + np.arange(2**BITS) / 2.0 ** (BITS + 1)
    low = np.concatenate([np.ldexp(inside, e) for e in range(-OCTAVES, 0)])
    low[0] = 0.0
    # Above one half, a bin has the p of which 1 - p is in its mirror image, without its upper end.
    high = np.nextafter(1.0 - low[:0:-1], 1.0)
    return np.concatenate([low, [0.5], high])[:: 2**merged]


class Areas(NamedTuple):
    """Areas under curves, and bounds of their errors: an entry per class, nan if undefined."""

    positives: Counts  # rows of the class
    auc: NDArray[np.float64]
    auc_error: NDArray[np.float64]
    average_precision: NDArray[np.float64]
    average_precision_error: NDArray[np.float64]


def areas_of(right: Counts, wrong: Counts) -> Areas:
    """Return the areas, given rows of a class and others by bin, the highest first, in the last axis."""
    here, others = right.cumsum(axis=-1), wrong.cumsum(axis=-1)
    positives, negatives = right.sum(axis=-1), wrong.sum(axis=-1)
    defined = (positives > 0) & (negatives > 0)
    rows = np.where(defined, positives, np.nan)
    pairs = rows * np.where(defined, negatives, np.nan)
    below = negatives[..., None] - others + wrong / 2
    auc = (right * below).sum(axis=-1) / pairs
    auc_error = (right * (wrong / 2)).sum(axis=-1) / pairs
    average = (right * (here / np.maximum(here + others, 1))).sum(axis=-1)
    # In the best order, the rows of the class come first in their bin; in the worst, last.
    best = (right * (here / np.maximum(here + others - wrong, 1))).sum(axis=-1)
    first = here - right + 1
    worst = (right * (first / (first + others))).sum(axis=-1)
    off = np.maximum(best - average, average - worst)
    return Areas(positives, auc, auc_error, average / rows, off / rows)


@dataclass(frozen=True)
class RankingCurve:
    """What happens at every threshold for the probability of a class, from the highest on.

    >>> ranking = Ranking()
    >>> proba = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])
    >>> ranking.add(np.array([1, 0, 1, 0]), proba, ["in time", "late"], ["in time", "late"])
    >>> curve = ranking.curve("late")
    >>> curve.recall.tolist(), curve.precision.round(2).tolist(), curve.auc
    ([0.5, 0.5, 0.5, 1.0], [1.0, 0.5, 0.33, 0.5], 0.5)
    """

    threshold: NDArray[np.float64]  # a row is predicted to be of the class from this probability on
    right: Counts  # rows of the class from there on
    wrong: Counts  # rows of other classes from there on

    @property
    def positives(self) -> int:
        """The number of rows of the class."""
        return int(self.right[-1]) if len(self.right) else 0

    @property
    def negatives(self) -> int:
        """The number of rows of other classes."""
        return int(self.wrong[-1]) if len(self.wrong) else 0

    @property
    def recall(self) -> NDArray[np.float64]:
        """The share of the class's rows that are predicted: the true positive rate."""
        return self.right / max(self.positives, 1)

    @property
    def false_positive_rate(self) -> NDArray[np.float64]:
        return self.wrong / max(self.negatives, 1)

    @property
    def precision(self) -> NDArray[np.float64]:
        """The share of rows of the class among those that are predicted."""
        precision: NDArray[np.float64] = self.right / np.maximum(self.right + self.wrong, 1)
        return precision

    @property
    def share(self) -> NDArray[np.float64]:
        """The share of all rows that are predicted: the other axis of a lift chart."""
        return (self.right + self.wrong) / max(self.positives + self.negatives, 1)

    @property
    def lift(self) -> NDArray[np.float64]:
        """How many times as often the class is among the predicted rows as among all."""
        base = max(self.positives, 1) / max(self.positives + self.negatives, 1)
        lift: NDArray[np.float64] = self.precision / base
        return lift

    @property
    def defined(self) -> bool:
        """Whether there were rows of the class and others."""
        return self.positives > 0 and self.negatives > 0

    @cached_property
    def areas(self) -> Areas:
        """The areas under the ROC and precision-recall curves, with bounds of their errors, or nan."""
        return areas_of(np.diff(self.right, prepend=0), np.diff(self.wrong, prepend=0))

    @property
    def auc(self) -> float:
        """The area under the ROC curve: how often a row of the class has more than another; or nan."""
        return float(self.areas.auc)

    @property
    def auc_error(self) -> float:
        """The most by which `auc` can differ from that of the probabilities themselves."""
        return float(self.areas.auc_error)

    @property
    def average_precision(self) -> float:
        """The mean precision at the rows of the class, or nan."""
        return float(self.areas.average_precision)

    @property
    def average_precision_error(self) -> float:
        """The most by which `average_precision` can differ from that of the probabilities."""
        return float(self.areas.average_precision_error)

    def thinned(self, most: int) -> RankingCurve:
        """Return at most this many points, evenly by their place; the last one is among them."""
        if len(self.right) <= most:
            return self
        some = np.unique(np.linspace(0, len(self.right) - 1, most).astype(np.intp))
        return RankingCurve(self.threshold[some], self.right[some], self.wrong[some])


class Ranking:
    """Counts of the probability of each class, of rows of the class and of others."""

    def __init__(self) -> None:
        self.rows = 0
        self.truths: Counter[Any] = Counter()  # rows by label
        # The sum of the squares of probability minus truth, over rows and classes, in units.
        self.squares = 0
        self._place: dict[Any, int] = {}  # of each class that had a probability
        self._merged = 0  # 2^merged neighbouring bins are one
        self._counts: Counts = np.zeros((0, 2, BINS), dtype=np.int64)  # class, truth, bin

    @property
    def labels(self) -> list[Any]:
        """The labels of the rows, and those that had a probability."""
        return [*self.truths, *self._place]

    def add(
        self,
        truth: NDArray[np.intp],
        proba: NDArray[np.float64],
        classes: Sequence[Any],
        labels: Sequence[Any],
    ) -> None:
        """Count rows: their labels by number, the probabilities of classes, and all labels."""
        rows = len(truth)
        self.rows += rows
        for i, count in enumerate(np.bincount(truth, minlength=len(labels)).tolist()):
            if count:
                self.truths[labels[i]] += count
        number = {label: i for i, label in enumerate(labels)}
        column = np.array([number.get(label, -1) for label in classes], dtype=np.intp)
        true = truth[:, None] == column
        missed = rows - int(true.sum())  # labels without a probability: (0 - 1)²
        self.squares += units(np.square(proba - true)) + missed * UNIT

        row, which = np.nonzero(proba)  # the first bin is what is left of all rows
        places = self._places_of(classes, np.unique(which))
        bins = bins_of(proba[row, which]) >> self._merged
        width = self._counts.shape[2]
        flat = (places[which] * 2 + true[row, which]) * width + bins
        np.add.at(self._counts.reshape(-1), flat[bins > 0], 1)

    def add_one(self, label: Any, shares: Mapping[Any, float]) -> None:
        """Count one row: as `add`, without arrays, which would take most of the time."""
        self.rows += 1
        self.truths[label] += 1
        for each, share in shares.items():
            off = share - (each == label)
            self.squares += round(off * off * UNIT)
            if share > 0.0 and each not in self._place:
                self._place[each] = len(self._place)
                self._make_room(len(self._place), self._merged)
        self.squares += UNIT * (label not in shares)
        for each, share in shares.items():
            bin_ = bin_of(share) >> self._merged
            if bin_:
                self._counts[self._place[each], int(each == label), bin_] += 1

    def _places_of(self, classes: Sequence[Any], some: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the place of those classes of a batch that have a probability in it."""
        places = np.zeros(len(classes), dtype=np.intp)
        for i in some.tolist():
            places[i] = self._place.setdefault(classes[i], len(self._place))
        self._make_room(len(self._place), self._merged)
        return places

    def _make_room(self, classes: int, merged: int) -> None:
        """Make room for classes; merge bins if there are too many classes for all of them."""
        while classes * 2 * (BINS >> merged) > MOST_COUNTS and merged < BITS:
            merged += 1
        while self._merged < merged:
            pairs = self._counts.reshape(len(self._counts), 2, BINS >> self._merged + 1, 2)
            self._counts = np.ascontiguousarray(pairs.sum(axis=3))
            self._counts[:, :, 0] = 0
            self._merged += 1
        if len(self._counts) < classes:
            room = np.zeros(
                (max(classes, 2 * len(self._counts)), *self._counts.shape[1:]), np.int64
            )
            room[: len(self._counts)] = self._counts
            self._counts = room

    def curve(self, label: Any) -> RankingCurve:
        """Return the curve of a class. Rows before its first probability count as 0."""
        right, wrong = self.counts(label)
        some = np.flatnonzero(right + wrong)[::-1]
        threshold = least_of_bins(self._merged)[some]
        return RankingCurve(threshold, right[some].cumsum(), wrong[some].cumsum())

    def calibration(self, label: Any, groups: int) -> list[tuple[float, float, int]]:
        """Return groups of about equal size by the probability of a class: its mean, to 1 part in 128,
        the share of the class's rows, and the number of rows.
        """
        right, wrong = self.counts(label)
        rows = right + wrong
        least = np.append(least_of_bins(self._merged), 1.0)
        middle = (least[:-1] + least[1:]) / 2
        middle[0], middle[-1] = 0.0, 1.0
        group = np.minimum((rows.cumsum() - rows / 2) * groups // max(self.rows, 1), groups - 1)
        return [
            (
                float((middle * rows)[group == i].sum() / count),
                float(right[group == i].sum() / count),
                int(count),
            )
            for i in range(groups)
            if (count := rows[group == i].sum())
        ]

    def areas(self, labels: Sequence[Any]) -> Areas:
        """Return the areas of these classes, each against the rest."""
        parts = []
        for start in range(0, len(labels), TOGETHER):
            some = [self.counts(label) for label in labels[start : start + TOGETHER]]
            right, wrong = (np.stack(each)[:, ::-1] for each in zip(*some, strict=True))
            parts.append(areas_of(right, wrong))
        return Areas(*map(np.concatenate, zip(*parts, strict=True)))

    def counts(self, label: Any) -> tuple[Counts, Counts]:
        """Return the rows of a class, and of the others, by the bin of its probability."""
        place = self._place.get(label)
        both = (
            np.zeros((2, BINS >> self._merged), np.int64) if place is None else self._counts[place]
        )
        wrong, right = both.copy()
        right[0] = self.truths[label] - right.sum()
        wrong[0] = self.rows - self.truths[label] - wrong.sum()
        return right, wrong

    # -- merged, saved and restored --------------------------------------------------------------

    def merge(self, other: Ranking) -> None:
        """Add the counts of other rows."""
        self.rows += other.rows
        self.truths.update(other.truths)
        self.squares += other.squares
        for label in other._place:
            self._place.setdefault(label, len(self._place))
        self._make_room(len(self._place), other._merged)
        width = 1 << self._merged - other._merged
        theirs = other._counts.reshape(len(other._counts), 2, BINS >> self._merged, width)
        merged = theirs.sum(axis=3)
        merged[:, :, 0] = 0
        for label, place in other._place.items():
            self._counts[self._place[label]] += merged[place]

    def state(self) -> dict[str, Any]:
        """Return everything for JSON; `from_state` continues exactly."""
        return {
            "rows": self.rows,
            "truths": [[label, self.truths[label]] for label in sorted(self.truths)],
            "squares": self.squares,
            "merged": self._merged,
            "classes": [
                [label, *(_sparse(counts) for counts in self._counts[self._place[label]])]
                for label in sorted(self._place)
            ],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Continue from a state, or raise a ValueError if it is not one."""
        shaped("ranking", state, STATE)
        labels = [label for label, *_ in (*state["truths"], *state["classes"])]
        if len({type(label) for label in labels}) > 1:
            raise ValueError("ranking: expected labels of one type")
        ranking = cls()
        ranking.rows, ranking.squares = state["rows"], state["squares"]
        ranking.truths = Counter({label: count for label, count in state["truths"]})
        ranking._place = {label: i for i, (label, *_) in enumerate(state["classes"])}
        if len(ranking._place) < len(state["classes"]) or ranking.truths.total() != ranking.rows:
            raise ValueError("ranking: expected different classes, and the rows of each")
        ranking._make_room(len(ranking._place), state["merged"])
        for place, (label, *both) in enumerate(state["classes"]):
            for truth, pairs in enumerate(both):
                for bin_, count in pairs:
                    if bin_ >= BINS >> ranking._merged:
                        raise ValueError(f"ranking: there is no bin {bin_}")
                    ranking._counts[place, truth, bin_] = count
                most = ranking.truths[label] if truth else ranking.rows - ranking.truths[label]
                if sum(count for _, count in pairs) > most:
                    raise ValueError(f"ranking: more than {most} rows in the bins of {label!r}")
        return ranking


def _sparse(counts: Counts) -> list[list[int]]:
    some = np.flatnonzero(counts)
    pairs: list[list[int]] = np.stack([some, counts[some]], axis=1).tolist()
    return pairs
