"""Test-then-train: each row of a stream is predicted just before it is learned."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riparian.evaluation.classes import Scores
from riparian.evaluation.fixed_point import or_none
from riparian.evaluation.intervals import StreamIntervals
from riparian.evaluation.numbers import NumberScores
from riparian.evaluation.threshold import Threshold
from riparian.evaluation.words import stream_as_html, stream_in_words
from riparian.late_labels import LateLabels, rows_of
from riparian.tools.shapes import COUNT, NUMBER, Either, shaped

if TYPE_CHECKING:
    from riparian.forest import OnlineForestClassifier

MOST_CURVE_POINTS = 1000

# What a state must look like; the scores check their own.
STATE = {"window": range(1, 2**62), "delay": COUNT, "waiting": COUNT, "numbers": bool, "batches": COUNT,
         "recent": Either(str, [(NUMBER, NUMBER)]), "stride": range(1, 2**62), "scores": dict,
         "intervals": Either(dict, None),
         "curve": [[Either(NUMBER, None, {str: NUMBER})]]}  # fmt: skip

# Some rows, their labels, what was predicted, and the classes; of intervals, also these.
Watch = Callable[..., None]


class Prequential:
    """Test-then-train: scores of a stream whose rows are predicted before they are learned.

    >>> from riparian import OnlineForestClassifier
    >>> from riparian.streams import GaussianMixture
    >>> forest, test = OnlineForestClassifier(5, random_state=0), Prequential()
    >>> for day in range(3):
    ...     X, y = GaussianMixture.paper().sample(100, random_state=day)
    ...     seconds = test.test_then_train(forest, X, y)
    >>> test.scores.rows  # the first row is not tested: no class is known yet
    299

    With predictions of another model:

    >>> test = Prequential(window=2)
    >>> test.update([1, 0, 0], [[0.4, 0.6], [0.4, 0.6], [0.7, 0.3]], [0, 1])
    >>> test.mark(row=3, leaves=10, active=10, memory=1000, seconds=0.1)
    >>> point = test.curve[-1]
    >>> round(point.accuracy, 3), point.window_accuracy
    (0.667, 0.5)

    With `delay`, labels arrive late, as in MOA and CapyMOA: when a block is predicted, the forest has
    learned exactly the rows that come at least `delay` rows before the first row of the block. So
    with a delay, and for a forest in shards, scores depend on the blocks, and are lower if these are
    long. Otherwise they are those of one row after the other.

    >>> forest, test = OnlineForestClassifier(5, random_state=0), Prequential(delay=150)
    >>> for day in range(3):
    ...     X, y = GaussianMixture.paper().sample(100, random_state=day)
    ...     seconds = test.test_then_train(forest, X, y)
    >>> test.scores.rows, test.waiting  # no label had arrived before the third block
    (100, 149)
    >>> seconds = test.learn_waiting(forest)  # the stream is over
    >>> test.waiting, forest.stats()["points"]
    (0, 300)

    `positive` and `threshold` are those of `Scores`. With `numbers`, numbers are predicted: scores are
    `NumberScores`, and `update` takes labels and predictions.

    >>> from riparian import OnlineForestRegressor
    >>> forest, test = OnlineForestRegressor(5, random_state=0), Prequential(numbers=True)
    >>> for day in range(3):
    ...     X, _ = GaussianMixture.paper().sample(100, random_state=day)
    ...     seconds = test.test_then_train(forest, X, X[:, 0])
    >>> test.scores.rows, test.scores.r2 > 0.9
    (299, True)

    If the forest has learned `intervals`, `test.intervals` has the scores of those that were given
    before the row was learned; with a delay, when it was predicted.

    >>> forest = OnlineForestRegressor(5, intervals=(0.8,), random_state=0)
    >>> test = Prequential(numbers=True)
    >>> for day in range(3):
    ...     X, _ = GaussianMixture.paper().sample(100, random_state=day)
    ...     seconds = test.test_then_train(forest, X, X[:, 0])
    >>> scores = test.intervals.scores[0]
    >>> scores.rows, abs(scores.coverage - 0.8) < 0.1
    (299, True)
    """

    def __init__(
        self,
        window: int = 1000,
        delay: int = 0,
        *,
        positive: Any = None,
        threshold: Threshold | str | float | None = None,
        numbers: bool = False,
    ) -> None:
        self.scores: Any = NumberScores() if numbers else Scores(positive, threshold)
        self.window = window  # of the window accuracy, in rows
        self.intervals: StreamIntervals | None = None  # of a forest that has learned some (R28)
        self.curve: list[Any] = []  # at most MOST_CURVE_POINTS, and the last one
        self._recent: Any = self.scores.window(window)
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
        """Score the forest on a block, and let it learn the rows whose labels have arrived.

        Without a delay, each row is scored just before it is learned (`predict_then_learn`). A forest
        that has learned nothing yet is not scored. `classes` is for `partial_fit`.
        `watch(X, y, proba, classes)` is called with everything that is scored; for numbers, with
        `watch(X, y, predictions, None)`, and if there are intervals, with
        `watch(X, y, predictions, None, intervals)`: two ends for each row and coverage. Return the
        seconds of learning, of which the test is a part if it is made row by row.
        """
        if isinstance(self.scores, NumberScores):
            return self._test_numbers(forest, X, y, watch)
        if self.delay <= 1 and forest.answers_in_turn:
            return self._test_in_turn(forest, X, y, classes, watch)
        known = forest.classes_ if len(getattr(forest, "classes_", ())) else None
        proba = None if known is None else forest.predict_proba(X)
        self._late.add(X, y, classes)
        if proba is not None and known is not None:
            self.update(y, proba, known)
            if watch is not None:
                watch(X, y, proba, known)
        return self._learn_due(forest)

    def _learn_due(self, forest: Any) -> float:
        start = time.perf_counter()
        self._late.learn_due(forest)
        return time.perf_counter() - start

    def _test_numbers(self, forest: Any, X: Any, y: ArrayLike, watch: Watch | None) -> float:
        begun = hasattr(forest, "model_") and forest.model_.engine.points > 0
        if self.delay <= 1 and forest.answers_in_turn:
            start = time.perf_counter()
            predictions, intervals = forest.give_intervals_then_learn(X, y)
            seconds = time.perf_counter() - start
            first = 0 if begun else 1  # nothing was known before the first row of the stream
            if len(predictions) > first:
                X, y = (rows_of(some, first, len(predictions)) for some in (X, y))
                tested = predictions[first:], intervals[first:]
                self._count_numbers(forest.model_.coverages, X, y, *tested, watch)
            return seconds
        made: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        if begun:
            predictions, coverages = forest.predict(X), forest.model_.coverages
            ends = [forest.predict_interval(X, coverage) for coverage in coverages]
            made = predictions, np.array(ends).reshape(-1, len(predictions), 2).swapaxes(0, 1)
        self._late.add(X, y)
        if made is not None:
            self._count_numbers(forest.model_.coverages, X, y, *made, watch)
        return self._learn_due(forest)

    def _count_numbers(
        self,
        coverages: Sequence[float],
        X: Any,
        y: ArrayLike,
        predictions: NDArray[np.float64],
        intervals: NDArray[np.float64],
        watch: Watch | None,
    ) -> None:
        """Count predictions and, if there are some, the intervals around them."""
        self.update(y, predictions)
        if len(coverages):
            if self.intervals is None:
                self.intervals = StreamIntervals(coverages, self.window)
            self.intervals.update(y, intervals)
        if watch is not None:
            watch(X, y, predictions, None, *([intervals] if len(coverages) else []))

    def _test_in_turn(
        self,
        forest: OnlineForestClassifier,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None,
        watch: Watch | None,
    ) -> float:
        start = time.perf_counter()
        proba = forest.predict_then_learn(X, y, classes)
        seconds = time.perf_counter() - start
        untested = int(np.argmax(proba.any(axis=1))) if proba.any() else len(proba)
        if untested:  # the first rows of the stream
            X, y = rows_of(X, untested, len(proba)), rows_of(y, untested, len(proba))
            proba = proba[untested:]
        if len(proba):
            self.update(y, proba, forest.classes_)
            if watch is not None:
                watch(X, y, proba, forest.classes_)
        return seconds

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

    def update(self, y: ArrayLike, *answers: ArrayLike) -> None:
        """Count a batch of predictions, as `Scores.update` or `NumberScores.update` does."""
        self._recent.extend(self.scores.score(y, *answers))
        self._batches += 1

    @property
    def window_accuracy(self) -> float:
        """The share of recent rows whose class was predicted correctly."""
        accuracy: float = self._recent.accuracy
        return accuracy

    @property
    def recent(self) -> float:
        """The accuracy of recent rows or, if numbers are predicted, their RMSE."""
        if isinstance(self.scores, NumberScores):
            return float(self._recent.scores.rmse)
        return self.window_accuracy

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
                trust=forest.model_.engine.trust(),
            )

    def mark(
        self,
        *,
        row: int,
        leaves: int,
        active: int,
        memory: int,
        seconds: float,
        trust: Mapping[float, float] | None = None,
    ) -> None:
        """Add a point to the curve. When there are too many, every other one is dropped.

        `trust` is `forest.trust_`, if it has one; the curve shows its course.
        """
        if self.curve and self.curve[-1].row == row:
            return
        forest: dict[str, Any] = dict(row=row, leaves=leaves, active=active, memory=memory)
        sizes = None if trust is None else {str(size): weight for size, weight in trust.items()}
        forest |= {"seconds": seconds, "trust": sizes}
        if self.intervals is not None:
            forest |= self.intervals.on_curve()
        self.curve.append(self.scores.curve_point(self._recent, **forest))
        if len(self.curve) >= MOST_CURVE_POINTS:
            self.curve = self.curve[1::2]
            self._stride *= 2

    def __repr__(self) -> str:
        return stream_in_words(self)

    def _repr_html_(self) -> str:
        return stream_as_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the scores for JSON, with those of the recent rows."""
        return {
            **self.scores.to_dict(),
            "window": self.window,
            "delay": self.delay,
            **self._recent.to_dict(),
            **({} if self.intervals is None else {"intervals": self.intervals.to_dict()}),
        }

    def state(self) -> dict[str, Any]:
        """Return everything but the waiting rows, for JSON; `from_state` continues exactly."""
        return {
            "numbers": isinstance(self.scores, NumberScores),
            "scores": self.scores.state(),
            "window": self.window,
            "delay": self.delay,
            "waiting": self.waiting,
            "recent": self._recent.state(),
            "intervals": None if self.intervals is None else self.intervals.state(),
            "batches": self._batches,
            "stride": self._stride,
            "curve": [_saved(point) for point in self.curve],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Continue from a state; if rows were waiting, call `wait_again` next.

        If it is not a state, that is a ValueError.
        """
        shaped(
            "test", {"delay": 0, "waiting": 0, "numbers": False, "intervals": None, **state}, STATE
        )
        numbers = state.get("numbers", False)
        test = cls(state["window"], state.get("delay", 0), numbers=numbers)
        test._late.absent = state.get("waiting", 0)
        test.scores = type(test.scores).from_state(state["scores"])
        test._recent = test.scores.window(test.window, state["recent"])
        if state.get("intervals") is not None:
            test.intervals = StreamIntervals.from_state(state["intervals"], test.window)
        test._batches = state["batches"]
        test._stride = state["stride"]
        try:
            test.curve = [_restored(test.scores, point) for point in state["curve"]]
        except TypeError as error:  # too few values of a point, or too many
            raise ValueError(f"test.curve: {error}") from None
        return test


# The last values of a point of the curve, in this order; each is by size or coverage, or absent.
OF_A_POINT = ("trust", "coverage", "width")


def _saved(point: Any) -> list[Any]:
    """Return the values of a point of the curve for JSON; those of `OF_A_POINT` if it has any."""
    values = [value for value in astuple(point) if value is not None]
    return [value if isinstance(value, dict) else or_none(value) for value in values]


def _restored(scores: Any, values: list[Any]) -> Any:
    """Return a point of the curve from its saved values."""
    numbers = [value for value in values if not isinstance(value, dict)]
    rest = values[len(numbers) :]
    if not all(isinstance(value, dict) for value in rest) or len(rest) > len(OF_A_POINT):
        raise TypeError("only the last values of a point may be objects, and three at most")
    point = scores.of_curve([math.nan if value is None else value for value in numbers])
    return replace(point, **dict(zip(OF_A_POINT, rest, strict=False)))
