"""The sets whose target is a number, each with a name: two that are drawn, and thirteen real ones.

The real ones are read from a directory given by an option or by RIPARIAN_DATA; without one they are left
out. Tables without an order in time are shuffled. Columns are scaled to 0 to 1, as Mondrian forests and
neighbours need, and the target to mean 0 and deviation 1, so that errors are in standard deviations. All
engines get the same columns: a date is its hour, weekday and month, and a text is a code.
"""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Columns = NDArray[np.float64]
Target = NDArray[np.float64]

DRAWN_ROWS = 10_000
SHARE_TO_LEARN = 0.7  # of a table, where an offline forest is compared


@dataclass(frozen=True, eq=False)
class NumberSet:
    X: NDArray[np.float32]
    y: Target
    deviation: float  # of the target, in its own unit

    @classmethod
    def of(cls, X: Columns, y: Target) -> Self:
        low, width = X.min(axis=0), np.ptp(X, axis=0)
        width[width == 0] = 1
        deviation = float(y.std())
        return cls(((X - low) / width).astype(np.float32), (y - y.mean()) / deviation, deviation)


# -- drawn ------------------------------------------------------------------------------------------


def friedman(rows: int, rng: np.random.Generator) -> tuple[Columns, Target]:
    """Draw Friedman's function: five of ten columns matter, and the noise has deviation 1."""
    X = rng.random((rows, 10))
    return X, smooth(X) + rng.normal(size=rows)


def friedman_turned(rows: int, rng: np.random.Generator) -> tuple[Columns, Target]:
    """Draw the same, but halfway the five columns that matter become the other five."""
    X = rng.random((rows, 10))
    half = rows // 2
    y = np.concatenate([smooth(X[:half]), smooth(X[half:, ::-1])])
    return X, y + rng.normal(size=rows)


def smooth(X: Columns) -> Target:
    a, b, c, d, e = X[:, :5].T
    y: Target = 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
    return y


DRAWN: dict[str, Callable[[int, np.random.Generator], tuple[Columns, Target]]] = {
    "friedman": friedman,
    "friedman-turned": friedman_turned,
}


# -- real -------------------------------------------------------------------------------------------

TABLES = ("abalone", "ailerons", "elevators", "cal_housing", "house8L", "pol", "2dplanes")
IN_ORDER = ("fried_stream", "bike", "etth1", "pm25")
METRO, BIKES = "metro_traffic", "toulouse_bikes"
REAL = (*TABLES, *IN_ORDER, METRO, BIKES)
NAMES = (*DRAWN, *REAL)
WITHOUT_ORDER = (*TABLES, "friedman")


def file_of(name: str, data: Path) -> Path:
    ends = {METRO: f"{METRO}.csv.gz", BIKES: f"{BIKES}.zip"}
    return data / ends.get(name, f"reg_{name}.npz")


def available(data: Path | None) -> list[str]:
    """Return the real sets of the directory, or what can be drawn if there is none."""
    there = [name for name in REAL if data is not None and file_of(name, data).exists()]
    return there or list(DRAWN)


def load(name: str, rows: int | None, seed: int, data: Path | None) -> NumberSet:
    """Return the first rows of a set, or all; `seed` decides draws, and the order of tables."""
    if name in DRAWN:
        X, y = DRAWN[name](rows or DRAWN_ROWS, np.random.default_rng(seed))
        return NumberSet.of(X, y)
    if name not in REAL:
        raise ValueError(f"set must be one of {', '.join(NAMES)}, got {name!r}")
    if data is None:
        raise ValueError(f"set {name} needs the directory of the data: --data or RIPARIAN_DATA")
    path = file_of(name, data)
    if name == METRO:
        with gzip.open(path, "rt") as text:
            return NumberSet.of(*from_rows(text, rows, "traffic_volume", "date_time"))
    if name == BIKES:
        with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as inside:
            return NumberSet.of(*from_rows(io.TextIOWrapper(inside), rows, "bikes", "moment"))
    with np.load(path) as arrays:
        X, y = arrays["X"].astype(np.float64), arrays["y"].astype(np.float64)
    if name in TABLES:
        order = np.random.default_rng(seed).permutation(len(y))
        X, y = X[order], y[order]
    return NumberSet.of(X[:rows], y[:rows])


def from_rows(
    lines: Iterable[str], rows: int | None, target: str, date: str
) -> tuple[Columns, Target]:
    """Return the columns and the target of the first rows of a CSV file."""
    read = list(islice(csv.DictReader(lines), rows))
    y = np.array([float(row[target]) for row in read])
    columns = [
        column
        for name in read[0]
        if name != target
        for column in as_numbers([row[name] for row in read], is_date=name == date)
    ]
    return np.column_stack(columns), y


def as_numbers(cells: list[str], *, is_date: bool) -> Iterator[NDArray[Any]]:
    """Yield a column as numbers: a date as hour, weekday and month, and texts as codes."""
    if is_date:
        moments = [datetime.fromisoformat(cell) for cell in cells]
        yield np.array([moment.hour for moment in moments])
        yield np.array([moment.weekday() for moment in moments])
        yield np.array([moment.month for moment in moments])
        return
    try:
        yield np.array([float(cell) for cell in cells])
    except ValueError:
        yield np.unique(cells, return_inverse=True)[1]
