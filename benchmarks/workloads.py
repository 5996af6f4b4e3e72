"""The streams that everything here is measured on, each with a name.

Synthetic streams and scikit-learn's digits are always there. The real sets are read from a directory
of `.npz` files (X_train, y_train, X_test, y_test), given by an option or by RIPARIAN_DATA; without
one they are left out.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from benchmarks.generators import GENERATORS
from riparian import Geometric

FILES = ("letter", "satimage", "pendigits", "usps", "dna", "elec", "mnist")
NAMES = (*GENERATORS, "digits", *FILES)

# Fixed, so that speeds can be compared over time: experiment 1 of the paper, and similar for letter.
SETTINGS: dict[str, dict[str, Any]] = {
    "mixture": {
        "candidate_dims": 1.0,
        "split_points": 10,
        "min_gain": 0.001,
        "alpha": Geometric(1, 1.1),
        "beta": 1000.0,
    },
    "letter": {
        "candidate_dims": 4.0,
        "split_points": 10,
        "min_gain": 0.01,
        "alpha": Geometric(1, 1.05),
        "beta": 1000.0,
    },
}

SYNTHETIC_POINTS = 20_000
TEST_POINTS = 20_000
DIGITS_TEST = 500


@dataclass(frozen=True)
class Workload:
    """A stream to learn, and held-out test points; there are none if the order in time matters."""

    name: str
    X: NDArray[np.float32]
    y: NDArray[np.int64]
    X_test: NDArray[np.float32]
    y_test: NDArray[np.int64]

    @property
    def prequential(self) -> bool:
        """Whether each point is predicted and then learned, since none is held out."""
        return len(self.y_test) == 0

    @property
    def classes(self) -> NDArray[np.int64]:
        return np.unique(np.concatenate([self.y, self.y_test]))

    def first(self, points: int) -> Self:
        return replace(self, X=self.X[:points], y=self.y[:points])

    def shuffled(self, seed: int) -> Self:
        """Return the stream shuffled, unless its order matters; some files are sorted."""
        if self.prequential:
            return self
        order = np.random.default_rng(seed).permutation(len(self.y))
        return replace(self, X=self.X[order], y=self.y[order])

    def scaled(self) -> Self:
        """Scale every column to 0 to 1, which linear models and Mondrian trees need."""
        low, width = self.X.min(axis=0), np.ptp(self.X, axis=0)
        width[width == 0] = 1
        X, X_test = ((part - low) / width for part in (self.X, self.X_test))
        return replace(self, X=X.astype(np.float32), X_test=X_test.astype(np.float32))

    def with_test(self, share: float = 0.2) -> Self:
        """Hold out the last points of the stream, if no test points exist."""
        return self._cut(share) if self.prequential else self

    def without_test(self, share: float = 0.2) -> Self:
        """Use the last points of the stream as test points, so that choices do not see the real ones."""
        if self.prequential:
            return self.first(len(self.y) // 2)
        return self._cut(share)

    def _cut(self, share: float) -> Self:
        cut = round(len(self.y) * (1 - share))
        return replace(self.first(cut), X_test=self.X[cut:].copy(), y_test=self.y[cut:].copy())


def load(
    name: str, data: Path | None = None, *, points: int | None = None, seed: int = 0
) -> Workload:
    """Load a workload with at most `points` points; `seed` decides draws and order."""
    if name in GENERATORS:
        return _generated(name, points or SYNTHETIC_POINTS, seed)
    workload = _digits() if name == "digits" else _file(name, data)
    return workload.first(points or len(workload.y)).shuffled(seed)


def available(data: Path | None) -> list[str]:
    """Return the names that can be loaded."""
    return [name for name in NAMES if name not in FILES or (data and _path(name, data).exists())]


def data_directory(option: Path | None) -> Path | None:
    """Return the directory of the real sets: the option, else RIPARIAN_DATA, else None."""
    return option or (Path(os.environ["RIPARIAN_DATA"]) if "RIPARIAN_DATA" in os.environ else None)


def _generated(name: str, points: int, seed: int) -> Workload:
    draw = GENERATORS[name]
    X, y = draw(points, np.random.default_rng([seed, 0]))
    X_test, y_test = draw(TEST_POINTS, np.random.default_rng([seed, 1]))
    return Workload(name, X, y, X_test, y_test)


def _digits() -> Workload:
    X, y = load_digits(return_X_y=True)
    X, y = X.astype(np.float32), y.astype(np.int64)
    return Workload(
        "digits", X[:-DIGITS_TEST], y[:-DIGITS_TEST], X[-DIGITS_TEST:], y[-DIGITS_TEST:]
    )


def _path(name: str, data: Path) -> Path:
    return data / f"{name}.npz"


def _file(name: str, data: Path | None) -> Workload:
    if name not in FILES:
        raise ValueError(f"workload must be one of {', '.join(NAMES)}, got {name!r}")
    if data is None:
        raise ValueError(
            f"workload {name} needs the directory of the data: --data or RIPARIAN_DATA"
        )
    with np.load(_path(name, data)) as arrays:
        X, X_test = (arrays[part].astype(np.float32) for part in ("X_train", "X_test"))
        y, y_test = (arrays[part].astype(np.int64) for part in ("y_train", "y_test"))
    return Workload(name, X, y, X_test, y_test)
