"""Scores of predicted numbers, from sums that are exact: they depend on no order and on no batches."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riparian.evaluation.fixed_point import as_fraction, exact, exact_sum, or_none
from riparian.evaluation.words import scores_as_table, scores_in_words
from riparian.tools.shapes import COUNT, shaped

PARTS = 128  # bins of an absolute error per octave: a quantile is known to 1 part in 256

# Of a label or a prediction: more than a forest learns or answers (R26), and its square is finite.
LARGEST = 2.0**502

SUMS = ("under", "over", "squares", "labels", "label_squares")


# What a state must look like.
STATE = {"rows": COUNT, "sums": dict.fromkeys(SUMS, str),
         "errors": [(range(2200 * PARTS), COUNT)]}  # fmt: skip


class NumberScores:
    """Sums of errors, and the scores computed from them. An error is the label minus the prediction.

    >>> scores = NumberScores()
    >>> scores.update([1.0, 2.0, 4.0], [1.5, 2.0, 3.0])
    >>> scores.mae, round(scores.rmse, 3), round(scores.r2, 3), scores.median_absolute_error
    (0.5, 0.645, 0.732, 0.501953125)
    >>> scores.quantile_loss(0.9)
    0.31666666666666665
    """

    # Of the points of a curve, in words.
    DRAWN: ClassVar = {"window_rmse": "RMSE, last window", "rmse": "all rows so far"}

    def __init__(self) -> None:
        self.rows = 0
        self._sums = dict.fromkeys(SUMS, 0)  # exact; see `_add`
        self._errors: Counter[int] = Counter()  # absolute errors by bin

    def update(self, y: ArrayLike, predictions: ArrayLike) -> None:
        """Count rows: their labels and the predicted numbers."""
        self.score(y, predictions)

    def count(self, label: float, guess: float) -> None:
        """Count one row, as `score` does: for a single one, arrays would take most of the time."""
        if not (abs(label) <= LARGEST and abs(guess) <= LARGEST):
            self.score([label], [guess])  # raises an error that names it
        error, sums = label - guess, self._sums
        self.rows += 1
        sums["under" if error > 0.0 else "over"] += exact(abs(error))
        sums["squares"] += exact(error * error)
        sums["labels"] += exact(label)
        sums["label_squares"] += sum(map(exact, _exact_squares(label)))
        self._errors[_error_bin(abs(error))] += 1

    def score(self, y: ArrayLike, predictions: ArrayLike) -> list[tuple[float, float]]:
        """Count rows, and return the label and the prediction of each, for a window."""
        labels = _numbers(y, "label")
        guesses = _numbers(predictions, "prediction")
        if len(labels) != len(guesses):
            raise ValueError(f"{len(labels)} labels, but {len(guesses)} predictions")
        self._add(labels, guesses)
        return list(zip(labels.tolist(), guesses.tolist(), strict=True))

    def _add(self, labels: NDArray[np.float64], guesses: NDArray[np.float64]) -> None:
        errors = labels - guesses
        sums = self._sums
        self.rows += len(labels)
        sums["under"] += exact_sum(np.maximum(errors, 0.0))  # predicted too little
        sums["over"] += exact_sum(np.maximum(-errors, 0.0))
        sums["squares"] += exact_sum(errors * errors)
        sums["labels"] += exact_sum(labels)
        sums["label_squares"] += sum(map(exact_sum, _exact_squares(labels)))
        bins, counts = np.unique(_error_bins(np.abs(errors)), return_counts=True)
        self._errors.update(dict(zip(bins.tolist(), counts.tolist(), strict=True)))

    # -- results ----------------------------------------------------------------------------------

    def _mean(self, *names: str) -> Fraction:
        return as_fraction(sum(self._sums[name] for name in names)) / self.rows

    @property
    def mae(self) -> float:
        """The mean absolute error."""
        return float(self._mean("under", "over")) if self.rows else math.nan

    @property
    def rmse(self) -> float:
        """The root of the mean squared error."""
        return math.sqrt(self._mean("squares")) if self.rows else math.nan

    @property
    def bias(self) -> float:
        """The mean error: above 0 if predictions are too small."""
        if self.rows == 0:
            return math.nan
        return float(self._mean("under") - self._mean("over"))

    @property
    def r2(self) -> float:
        """The share of the labels' variance that the predictions explain, or nan without variance."""
        if self.rows == 0:
            return math.nan
        variance = self._mean("label_squares") - self._mean("labels") ** 2
        if not variance:
            return math.nan
        try:
            return float(1 - self._mean("squares") / variance)
        except OverflowError:  # labels that hardly differ, and predictions far from them
            return -math.inf

    def quantile_loss(self, quantile: float = 0.5) -> float:
        """The mean pinball loss of predictions of a quantile of the labels."""
        if not 0.0 <= quantile <= 1.0:
            raise ValueError(f"quantile must be from 0 to 1, got {quantile!r}")
        if self.rows == 0:
            return math.nan
        share = Fraction(quantile)
        return float(share * self._mean("under") + (1 - share) * self._mean("over"))

    @property
    def median_absolute_error(self) -> float:
        """The median of the absolute errors, to 1 part in 256: the lower one of an even number."""
        return self.absolute_error(0.5)

    def absolute_error(self, quantile: float) -> float:
        """The absolute error that this share of the rows does not exceed, to 1 part in 256."""
        if not 0.0 <= quantile <= 1.0:
            raise ValueError(f"quantile must be from 0 to 1, got {quantile!r}")
        left = max(1, math.ceil(Fraction(quantile) * self.rows))
        for bin_ in sorted(self._errors):
            left -= self._errors[bin_]
            if left <= 0:
                return _middle(bin_)
        return math.nan

    def headline(self) -> dict[str, float]:
        """Return the scores to show, the most telling first."""
        return {
            "RMSE": self.rmse,
            "MAE": self.mae,
            "R²": self.r2,
            "median error": self.median_absolute_error,
            "bias": self.bias,
        }

    def __repr__(self) -> str:
        return scores_in_words("NumberScores", self)

    def _repr_html_(self) -> str:
        return scores_as_table(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all results for JSON; None if undefined."""
        return {
            "rows": self.rows,
            "rmse": or_none(self.rmse),
            "mae": or_none(self.mae),
            "r2": or_none(self.r2),
            "bias": or_none(self.bias),
            "median_absolute_error": or_none(self.median_absolute_error),
            "quantile_loss": {
                str(quantile): or_none(self.quantile_loss(quantile)) for quantile in (0.1, 0.5, 0.9)
            },
        }

    # -- merged, saved and restored ----------------------------------------------------------------

    def merge(self, other: NumberScores) -> None:
        """Add the counts of other rows, as if they had been counted here."""
        self.rows += other.rows
        for name in SUMS:
            self._sums[name] += other._sums[name]
        self._errors.update(other._errors)

    def state(self) -> dict[str, Any]:
        """Return everything for JSON; `from_state` continues exactly."""
        return {
            "rows": self.rows,
            "sums": {name: hex(total) for name, total in self._sums.items()},
            "errors": [[bin_, self._errors[bin_]] for bin_ in sorted(self._errors)],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Continue from a state, or raise a ValueError if it is not one."""
        shaped("scores", state, STATE)
        scores = cls()
        scores.rows = state["rows"]
        scores._sums = {name: int(state["sums"][name], 16) for name in SUMS}
        scores._errors = Counter({bin_: count for bin_, count in state["errors"]})
        try:
            scores.to_dict()
        except (ArithmeticError, ValueError) as error:  # no numbers have such sums
            raise ValueError(f"scores.sums: {error}") from None
        return scores

    # -- along a stream ----------------------------------------------------------------------------

    def window(self, size: int, state: list[list[float]] | None = None) -> NumberWindow:
        """Return a window of recent rows, for what `score` returns."""
        return NumberWindow(size, state)

    def curve_point(self, window: NumberWindow, **forest: Any) -> NumberCurvePoint:
        """Return the scores as they are now, with statistics of the forest."""
        recent = window.scores
        return NumberCurvePoint(
            **forest,
            rmse=self.rmse,
            mae=self.mae,
            r2=self.r2,
            window_rmse=recent.rmse,
            window_mae=recent.mae,
            window_r2=recent.r2,
        )

    def of_curve(self, values: list[Any]) -> NumberCurvePoint:
        """Return a point of the curve from its saved values."""
        return NumberCurvePoint(*values)


class NumberWindow:
    """A window of the most recent predictions: their labels and the predicted numbers.

    >>> window = NumberWindow(2)
    >>> window.extend([(1.0, 9.0), (2.0, 3.0), (5.0, 4.0)])
    >>> window.scores.rmse
    1.0
    """

    def __init__(self, size: int, state: list[list[float]] | None = None) -> None:
        self._pairs = deque(map(tuple, state or []), maxlen=size)
        if state:
            self.to_dict()  # raises an error if these are not labels and predictions

    def extend(self, pairs: Iterable[tuple[float, float]]) -> None:
        self._pairs.extend(pairs)

    @property
    def scores(self) -> NumberScores:
        """The scores of the rows in the window."""
        scores = NumberScores()
        if self._pairs:
            scores.update(*zip(*self._pairs, strict=True))
        return scores

    def to_dict(self) -> dict[str, float | None]:
        """Return the scores of the window for JSON."""
        recent = self.scores
        return {
            "window_rmse": or_none(recent.rmse),
            "window_mae": or_none(recent.mae),
            "window_r2": or_none(recent.r2),
        }

    def state(self) -> list[list[float]]:
        """Return the state for JSON, and for `NumberWindow(size, state)`."""
        return [list(pair) for pair in self._pairs]


@dataclass(frozen=True)
class NumberCurvePoint:
    """The scores, and statistics of the forest, after some rows of a stream."""

    row: int  # learned so far
    leaves: int
    active: int  # of the leaves
    memory: int  # bytes
    seconds: float  # since the stream began
    rmse: float  # of all rows up to here
    mae: float
    r2: float
    window_rmse: float  # of the most recent rows
    window_mae: float
    window_r2: float
    trust: dict[str, float] | None = None  # by size of cell (R25); None without heads
    # Of the intervals around the most recent rows, by intended coverage (R28); None without any.
    coverage: dict[str, float] | None = None
    width: dict[str, float] | None = None  # their mean width, unless none has two ends


def _numbers(values: ArrayLike, what: str) -> NDArray[np.float64]:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"expected one {what} per row, got an array of shape {numbers.shape}")
    bad = ~(np.abs(numbers) <= LARGEST)
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"the {what} of row {row} must be a number of at most {LARGEST:g} in size, "
            f"got {float(numbers[row])!r}"
        )
    return numbers


def _exact_squares(values: Any) -> tuple[Any, ...]:
    """Return numbers whose sum is the squares, without rounding, by Dekker's product.

    Below 2^-480 in size, where the error of a square is no number any more, it is dropped.
    """
    squares = values * values
    large = values * 134217729.0  # 2^27 + 1
    high = large - (large - values)
    low = values - high
    return squares, ((high * high - squares) + 2 * high * low) + low * low


def _error_bins(errors: NDArray[np.float64]) -> NDArray[np.int64]:
    mantissa, exponent = np.frexp(errors)
    part = ((mantissa - 0.5) * (2 * PARTS)).astype(np.int64)
    bins: NDArray[np.int64] = (exponent.astype(np.int64) + 1100) * PARTS + part
    bins[errors == 0.0] = 0
    return bins


def _error_bin(error: float) -> int:
    """Return what `_error_bins` does, for one error."""
    mantissa, exponent = math.frexp(error)
    return (exponent + 1100) * PARTS + int((mantissa - 0.5) * (2 * PARTS)) if error else 0


def _middle(bin_: int) -> float:
    exponent, part = divmod(bin_, PARTS)
    return math.ldexp(0.5 + (part + 0.5) / (2 * PARTS), exponent - 1100) if bin_ else 0.0
