"""Calibrate probabilities along a stream: one temperature, learned as labels arrive.

The average over a forest is often less confident than it should be, because all trees vote and few of
them have points nearby. `OnlineTemperature` sharpens (or flattens) probabilities by one number, p^b / Σ
p^b. The log loss is convex in b, and b follows it by Newton's method, row by row: nothing is stored,
and no rows have to be held out, which `sklearn.calibration.CalibratedClassifierCV` needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

LEAST, MOST = 0.05, 20.0  # of b: beyond, all classes are equally probable or one is certain

PRIOR = 1.0  # curvature at b = 1 to start with, so that the first labels do not decide alone


class OnlineTemperature:
    """One number that makes probabilities fit the labels of a stream.

    Use it like the forest: predict first, then learn.

    Parameters
    ----------
    floor : float
        A probability below this counts as this: a class that no tree has seen is not impossible.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(5000) < 0.9
    >>> timid = np.tile([0.3, 0.7], (5000, 1))  # sure of .7, right in .9
    >>> temperature = OnlineTemperature()
    >>> temperature.update(timid, truth, [False, True])
    >>> temperature.transform(timid[:1]).round(1).tolist()
    [[0.1, 0.9]]
    """

    def __init__(self, floor: float = 1e-3) -> None:
        if not 0 < floor < 1:
            raise ValueError(f"floor must be above 0 and below 1, got {floor!r}")
        self.floor = float(floor)
        self.rows = 0  # learned from
        self._power = 1.0  # b
        self._curvature = PRIOR  # Σ of its second derivative

    @property
    def temperature(self) -> float:
        """1/b. Below 1, the forest should be more confident than it is."""
        return 1.0 / self._power

    def transform(self, proba: ArrayLike) -> Floats:
        """Return the probabilities at the temperature learned so far, in the same order of classes."""
        return _softmax(self._power * self._logs(proba))

    def update(self, proba: ArrayLike, y: ArrayLike, classes: ArrayLike) -> None:
        """Learn from probabilities that were given before these labels were known, row by row."""
        logs = self._logs(proba)
        truth = _columns(y, classes)
        if len(truth) != len(logs):
            raise ValueError(
                f"y must hold one label for each of {len(logs)} rows, got {len(truth)}"
            )
        for row, label in zip(logs, truth, strict=True):
            if label >= 0:  # a label that is not among the classes says nothing of the temperature
                self._learn(row, int(label))

    def _learn(self, logs: Floats, label: int) -> None:
        shares = _softmax(self._power * logs[None])[0]
        mean = float(shares @ logs)
        slope = mean - float(logs[label])
        self._curvature += float(shares @ (logs - mean) ** 2)
        self._power = float(np.clip(self._power - slope / self._curvature, LEAST, MOST))
        self.rows += 1

    def _logs(self, proba: ArrayLike) -> Floats:
        shares = np.asarray(proba, dtype=np.float64)
        if shares.ndim != 2 or not (np.isfinite(shares).all() and (shares >= 0).all()):
            raise ValueError("proba must be rows of probabilities, one per class")
        return np.log(np.maximum(shares, self.floor))

    def state(self) -> dict[str, float]:
        """Return everything as JSON values; `from_state` continues from them exactly."""
        return {
            "floor": self.floor,
            "rows": self.rows,
            "power": self._power,
            "curvature": self._curvature,
        }

    @classmethod
    def from_state(cls, state: dict[str, float]) -> OnlineTemperature:
        made = cls(state["floor"])
        made.rows = int(state["rows"])
        made._power, made._curvature = float(state["power"]), float(state["curvature"])
        return made


def _softmax(logs: Floats) -> Floats:
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _columns(y: ArrayLike, classes: ArrayLike) -> NDArray[np.intp]:
    place: dict[Any, int] = {label: i for i, label in enumerate(np.asarray(classes).tolist())}
    return np.array([place.get(label, -1) for label in np.asarray(y).tolist()], dtype=np.intp)
