"""Scores of intervals around predicted numbers."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riparian.evaluation.fixed_point import as_fraction, exact_sum, or_none
from riparian.parameters.values import coverage as checked_coverage
from riparian.tools.shapes import COUNT, NUMBER, Either, shaped

# What a state must look like.
STATE = {"intended": float, "rows": COUNT, "held": COUNT, "bounded": COUNT, "widths": str,
         "outside": str}  # fmt: skip
OF_A_STREAM = {"scores": [STATE], "recent": [[Either(NUMBER, None)]]}


class IntervalScores:
    """How often intervals held the target, and how wide they were; of one window, or of a stream.

    `intended` is the coverage that the intervals were made for. An interval without an end holds
    every target; it counts in `coverage` alone.

    >>> scores = IntervalScores(0.8)
    >>> scores.update([1.0, 2.0, 9.0], [[0.0, 2.0], [1.0, 3.0], [4.0, 8.0]])
    >>> scores.rows, round(scores.coverage, 3), round(scores.mean_width, 3)
    (3, 0.667, 2.667)
    >>> scores.interval_score  # its width, and 10 for each unit by which a target is outside
    6.0
    """

    def __init__(self, intended: float) -> None:
        self.intended = checked_coverage("intended", intended)
        self.rows = 0
        self._held = self._bounded = 0
        self._widths = self._outside = 0  # exact; see `exact_sum`

    def update(self, y: ArrayLike, intervals: ArrayLike) -> None:
        """Count rows: their targets, and both ends of their intervals in two columns."""
        targets, ends = np.asarray(y, np.float64), np.asarray(intervals, np.float64)
        if targets.ndim != 1 or ends.shape != (len(targets), 2):
            raise ValueError(
                f"expected n targets and n rows of two ends, got arrays of shapes {targets.shape} and "
                f"{ends.shape}"
            )
        low, high = ends.T
        if not (np.isfinite(targets).all() and (low <= high).all()):
            raise ValueError("targets must be finite, and the ends of intervals numbers in order")
        self.rows += len(targets)
        self._held += int(((low <= targets) & (targets <= high)).sum())
        bounded = np.isfinite(ends).all(axis=1)
        self._add(targets[bounded], low[bounded], high[bounded])

    def _add(
        self, targets: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> None:
        self._bounded += len(targets)
        self._widths += exact_sum(high - low)
        self._outside += exact_sum(np.maximum(low - targets, 0.0))
        self._outside += exact_sum(np.maximum(targets - high, 0.0))

    @property
    def coverage(self) -> float:
        """The share of the targets that lay inside."""
        return self._held / self.rows if self.rows else math.nan

    @property
    def mean_width(self) -> float:
        return float(as_fraction(self._widths) / self._bounded) if self._bounded else math.nan

    @property
    def interval_score(self) -> float:
        """The mean of width plus 2 / (1 - intended) times the distance of a target outside.

        The quantiles of the true distribution have the smallest (Gneiting and Raftery 2007).
        """
        if self._bounded == 0:
            return math.nan
        outside = float(as_fraction(self._outside) / self._bounded)
        return self.mean_width + 2.0 / (1.0 - self.intended) * outside

    def to_dict(self) -> dict[str, float | None]:
        """Return all results for JSON; None if undefined."""
        return {
            "intended": self.intended,
            "coverage": or_none(self.coverage),
            "mean_width": or_none(self.mean_width),
            "interval_score": or_none(self.interval_score),
        }

    def state(self) -> dict[str, Any]:
        """Return everything for JSON; `from_state` continues exactly."""
        return {
            "intended": self.intended,
            "rows": self.rows,
            "held": self._held,
            "bounded": self._bounded,
            "widths": hex(self._widths),
            "outside": hex(self._outside),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Continue from a state, or raise a ValueError if it is not one."""
        shaped("intervals", state, STATE)
        scores = cls(state["intended"])
        scores.rows, scores._held, scores._bounded = (
            state[name] for name in ("rows", "held", "bounded")
        )
        scores._widths, scores._outside = (int(state[name], 16) for name in ("widths", "outside"))
        try:
            scores.to_dict()
        except ArithmeticError as error:  # no intervals have such sums
            raise ValueError(f"intervals: {error}") from None
        return scores

    def __repr__(self) -> str:
        return (
            f"IntervalScores({self.intended}: coverage {self.coverage:.3f}, mean width "
            f"{self.mean_width:.4g}, interval score {self.interval_score:.4g}, {self.rows} rows)"
        )


class StreamIntervals:
    """The scores of the intervals of some coverages: along a stream, and of its recent rows.

    >>> stream = StreamIntervals([0.5], window=2)
    >>> stream.update([1.0, 2.0, 9.0], [[[0.0, 2.0]], [[1.0, 3.0]], [[4.0, 8.0]]])
    >>> round(stream.scores[0].coverage, 3), stream.recent[0].coverage
    (0.667, 0.5)
    """

    def __init__(self, coverages: Sequence[float], window: int) -> None:
        self.scores = [IntervalScores(coverage) for coverage in coverages]
        self._recent: deque[list[float]] = deque(maxlen=window)  # of a row: target and ends

    def update(self, y: ArrayLike, intervals: ArrayLike) -> None:
        """Count rows: their targets, and two ends for each row and coverage."""
        targets, ends = np.asarray(y, np.float64), np.asarray(intervals, np.float64)
        for i, scores in enumerate(self.scores):
            scores.update(targets, ends[:, i])
        rows = np.column_stack([targets, ends.reshape(len(ends), -1)])
        self._recent.extend(rows[-(self._recent.maxlen or 0) :].tolist())

    @property
    def recent(self) -> list[IntervalScores]:
        """The scores of the rows in the window."""
        every = [IntervalScores(scores.intended) for scores in self.scores]
        if self._recent:
            rows = np.array(self._recent)
            for i, scores in enumerate(every):
                scores.update(rows[:, 0], rows[:, 2 * i + 1 : 2 * i + 3])
        return every

    def to_dict(self) -> list[dict[str, float | None]]:
        """Return the scores of each coverage for JSON, with those of the recent rows."""
        return [
            {
                **scores.to_dict(),
                "window_coverage": or_none(recent.coverage),
                "window_mean_width": or_none(recent.mean_width),
            }
            for scores, recent in zip(self.scores, self.recent, strict=True)
        ]

    def on_curve(self) -> dict[str, dict[str, float]]:
        """Return the coverage and the mean width of the recent rows, by intended coverage."""
        recent = self.recent
        return {
            "coverage": {str(each.intended): each.coverage for each in recent},
            "width": {
                str(each.intended): each.mean_width
                for each in recent
                if math.isfinite(each.mean_width)
            },
        }

    def state(self) -> dict[str, Any]:
        return {
            "scores": [scores.state() for scores in self.scores],
            "recent": [[or_none(number) for number in row] for row in self._recent],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], window: int) -> Self:
        """Continue from a state, or raise a ValueError if it is not one."""
        shaped("intervals", state, OF_A_STREAM)
        stream = cls([], window)
        stream.scores = [IntervalScores.from_state(each) for each in state["scores"]]
        columns = 1 + 2 * len(stream.scores)
        if any(len(row) != columns for row in state["recent"]):
            raise ValueError(f"intervals.recent: expected rows of {columns} numbers")
        no_ends = [math.nan, *[-math.inf, math.inf] * len(stream.scores)]
        for row in state["recent"]:
            ends = zip(row, no_ends, strict=True)
            stream._recent.append([none if end is None else end for end, none in ends])
        stream.on_curve()  # raises an error if these are no intervals
        return stream
