"""The weight of a point: its own weight times that of its class (R17)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.parameters.forests import OF_ESTIMATORS
from riparian.parameters.values import MAX_WEIGHT
from riparian.snapshot.labels import WeightsState

Weights = NDArray[np.float64]


class ClassWeights:
    """The weight of each class: given, or "balanced", which follows the stream.

    As in scikit-learn, balanced is n / (classes · n_k). Here n, the classes and n_k are those seen up
    to the row in question, itself included, so that batches do not matter. Rows whose own weight is 0
    are not counted. A weight is at most 2^20, even for the first row of a class after millions of
    others.
    """

    def __init__(self, given: Any) -> None:
        given = OF_ESTIMATORS["class_weight"].checked(given)
        self.balanced = isinstance(given, str)
        self.given = None if self.balanced else given
        self.seen: NDArray[np.int64] = np.zeros(0, dtype=np.int64)  # by label, in order of arrival

    @classmethod
    def of_state(cls, state: WeightsState) -> ClassWeights:
        weights = cls(state.given)
        weights.seen = np.array(state.seen, dtype=np.int64)
        return weights

    def state(self) -> WeightsState:
        return WeightsState("balanced" if self.balanced else self.given, self.seen.tolist())

    @property
    def all_one(self) -> bool:
        return self.given is None and not self.balanced

    def of(self, arrivals: NDArray[np.uint32], arrived: list[Any]) -> Weights | None:
        """Return the weights of a batch of labels, numbered by arrival; None if all are 1."""
        if self.balanced:
            return self._follow(arrivals)
        if self.given is None:
            return None
        by_label = np.array([self.given.get(label, 1.0) for label in arrived])
        return by_label[arrivals]

    def _follow(self, arrivals: NDArray[np.uint32]) -> Weights:
        before = np.zeros(max(len(self.seen), int(arrivals.max(initial=0)) + 1), dtype=np.int64)
        before[: len(self.seen)] = self.seen
        points = before.sum() + np.arange(1, len(arrivals) + 1)
        of_class = before[arrivals] + _occurrence(arrivals)
        classes = (before > 0).sum() + np.cumsum(of_class == 1)  # the first point adds its class
        self.seen = before + np.bincount(arrivals, minlength=len(before))
        weights: Weights = points / (classes * of_class)
        return np.minimum(weights, MAX_WEIGHT)


def _occurrence(labels: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return 1 for the first row of each label, 2 for the second, and so on."""
    order = np.argsort(labels, kind="stable")
    ranked = labels[order]
    first = np.concatenate([[True], ranked[1:] != ranked[:-1]]) if len(ranked) else ranked == 0
    starts = np.flatnonzero(first)
    within = np.arange(len(ranked)) - np.repeat(starts, np.diff([*starts, len(ranked)]))
    occurrence = np.empty(len(labels), dtype=np.int64)
    occurrence[order] = within + 1
    return occurrence


def checked_weights(given: Any, rows: int) -> Weights | None:
    return None if given is None else as_weights("sample_weight", given, rows)


def as_weights(name: str, given: Any, rows: int) -> Weights:
    """Return one weight per row, or raise an error; a single number counts for all rows."""
    numbers = np.asarray(given)
    if numbers.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers, got {numbers.ravel()[:1].tolist()}")
    weights: Weights = numbers.astype(np.float64)
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.shape != (rows,):
        raise ValueError(f"{name} must have shape ({rows},), {name}.shape == {weights.shape}")
    bad = ~((weights >= 0) & (weights <= MAX_WEIGHT))
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(f"{name} must be from 0 to 2^20, got {weights[i]} at row {i}")
    return np.ascontiguousarray(weights)


def product(a: Weights | None, b: Weights | None) -> Weights | None:
    if a is None or b is None:
        return a if b is None else b
    return np.minimum(a * b, MAX_WEIGHT)
