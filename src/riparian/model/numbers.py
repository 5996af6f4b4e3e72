"""The target of a regressor: it checks numbers, and takes the first one as the origin (R26)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from riparian import _core
from riparian.engine.engine import Engine
from riparian.snapshot.labels import NumbersState

LARGEST = 2.0**500  # squares of differences, and sums of many of them, are finite


class Numbers:
    """The targets of a stream: their origin, and their scale, which is a power of two (R26)."""

    def __init__(self, origin: float | None = None, scale: int = 0) -> None:
        self.origin = origin  # y₀; None before the first point
        self.scale = scale  # B, as `_core.scale_of` gives it

    @classmethod
    def of_state(cls, state: NumbersState) -> Numbers:
        return cls(state.origin, state.scale)

    def state(self) -> NumbersState:
        return NumbersState(self.origin, self.scale)

    def check(self, y: NDArray[Any]) -> None:
        checked_numbers(y)

    def join(self, y: NDArray[Any]) -> NDArray[np.float64]:
        """Return the targets minus the first of the stream."""
        numbers = checked_numbers(y)
        if len(numbers) == 0:
            return numbers
        if self.origin is None:
            self.origin = float(numbers[0])
        relative = numbers - self.origin + 0.0  # -0 becomes 0
        self.scale = max(self.scale, _core.scale_of(float(np.abs(relative).max())))
        return relative

    def join_values(self, labels: list[Any]) -> list[float]:
        relative: list[float] = self.join(np.array([as_number(label) for label in labels])).tolist()
        return relative

    def number(self, y: NDArray[Any]) -> float | None:
        """Return a target of the stream for the engine if it does not change the scale."""
        return self.known(float(y.item())) if y.dtype.kind in "fiu" else None

    def known(self, y: float) -> float | None:
        """Return a target for the engine if it does not change the origin or the scale."""
        if self.origin is None or not abs(y) <= LARGEST:
            return None
        relative = y - self.origin + 0.0
        return relative if self._covers(relative) else None

    def _covers(self, relative: float) -> bool:
        return _core.scale_of(relative) <= self.scale

    @property
    def outputs(self) -> int:
        return 1

    def standing(self) -> tuple[float | None, int]:
        return self.origin, self.scale

    def tell(self, engine: Engine) -> None:
        """Do nothing: the engine knows the scale from the targets."""

    def answers(self, engine: Any, points: Any, workers: int) -> NDArray[np.float64]:
        """Return a column of means, each minus the origin."""
        means: NDArray[np.float64] = engine.predict_means(points, workers)
        return means

    def labels_of(self, joined: NDArray[Any]) -> NDArray[Any]:
        return self.with_origin(joined.astype(np.float64))

    def predicted(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the means; 0 before the first point."""
        return self.with_origin(answers[:, 0])

    def answers_in_turn(
        self,
        before: Numbers,
        answers: NDArray[np.float64],
        y: NDArray[Any],
        joins: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Return numbers: 0 up to the first point of the stream."""
        numbers = self.predicted(answers)
        if before.origin is None:
            numbers[: int(np.argmax(joins)) + 1 if joins.any() else len(joins)] = 0.0
        return numbers

    def with_origin(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        return means + (0.0 if self.origin is None else self.origin)

    def intervals(self, ends: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows of two ends as numbers of the stream, rounded outwards where they must be (R28).

        Several targets may have the same difference from the origin. None of them shall fall out of an
        interval by rounding.
        """
        origin = 0.0 if self.origin is None else self.origin
        sign = np.array([-1.0, 1.0])
        outwards = sign * np.inf
        plain = ends + origin
        differences = np.nextafter(plain, outwards) - origin
        others = np.isfinite(ends) & (sign * differences <= sign * ends)
        beyond = np.nextafter(
            plain + sign * np.spacing(np.where(others, np.abs(ends), 0)), outwards
        )
        return np.where(others, beyond, plain)


def checked_numbers(y: Any, name: str = "y") -> NDArray[np.float64]:
    """Return targets as float64, or raise an error that names the row."""
    if y is None:
        raise ValueError(f"{name} must hold a number for each row, got None")
    if type(y) is not np.ndarray or y.ndim != 1:
        y = column_or_1d(y, dtype=None, warn=True)
    if y.dtype.kind not in "fiub":
        return np.array([as_number(value, name, row) for row, value in enumerate(y.tolist())])
    numbers: NDArray[np.float64] = y.astype(np.float64, copy=False)
    good = np.abs(numbers) <= LARGEST  # not so if it is NaN
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(_not_a_number(name, row, y[row].item()))
    return numbers


def as_number(value: Any, name: str = "y", row: int | None = None) -> float:
    """Return one target, or raise an error."""
    is_text = isinstance(value, str | bytes)
    try:
        number = math.nan if is_text or isinstance(value, complex) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= LARGEST:
        raise ValueError(_not_a_number(name, row, value))
    return number


def _not_a_number(name: str, row: int | None, value: Any) -> str:
    # scikit-learn's checks look for the words NaN and infinity.
    place = "" if row is None else f"[{row}]"
    what = " (Input y contains NaN)" if value != value else ""
    if isinstance(value, float) and math.isinf(value):
        what = " (Input y contains infinity)"
    return f"{name}{place} must be a finite number of at most 2^500, got {value!r}{what}"
