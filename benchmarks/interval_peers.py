"""Intervals of ours compared with those of CapyMOA: coverage, width and score on thirteen sets.

    python -m benchmarks.interval_peers --data FOLDER --page docs/how-to/intervals.md

Each row is tested by an interval and then learned, one by one. MVE and AdaPI get their predictions from
SOKNL. The sets, and how they are scaled, are those of `number_sets`. What the record has is not measured
again, so without `--data` only the tables are written.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import number_sets, record
from benchmarks.number_sets import NumberSet
from benchmarks.peers import FEW, MANY, NO_CLASSES, WITH_INTERVALS, Entrant, Task
from benchmarks.standings import geometric, in_bold, markdown, share, write_into
from benchmarks.workloads import data_directory
from riparian.evaluation import IntervalScores

COVERAGE = 0.9
ROWS = 10_000  # of a set, at most
UNJUDGED = 100  # rows at the beginning, so that every engine knows something
SEED = 1
ENTRANTS = {
    entrant.name: entrant
    for entrant in (
        Entrant("riparian-intervals", FEW),
        Entrant("riparian-intervals", MANY),
        Entrant("riparian-adaptive-intervals", FEW),
        Entrant("riparian-adaptive-intervals", MANY),
        Entrant("capymoa-mve", FEW),
        Entrant("capymoa-adapi", FEW),
    )
}
OURS = [name for name, entrant in ENTRANTS.items() if WITH_INTERVALS[entrant.peer].ours]
RIVALS = [name for name in ENTRANTS if name not in OURS]


@dataclass(frozen=True)
class Cell:
    """One measurement."""

    entrant: str
    set: str
    rows: int  # that were judged
    seconds: float  # of the processor
    coverage: float
    width: float
    score: float  # of intervals (Gneiting and Raftery)
    equal_width: float  # see `width_at_equal_coverage`


def measure(entrant: Entrant, name: str, given: NumberSet) -> Cell:
    task = Task(given.X.shape[1], NO_CLASSES, entrant.trees, seed=SEED, coverage=COVERAGE)
    model: Any = WITH_INTERVALS[entrant.peer].model(task)
    points = model.points(given.X, given.y)
    began = time.process_time()
    ends = model.give_intervals_then_learn(points)[UNJUDGED:]
    seconds = time.process_time() - began
    y = given.y[UNJUDGED:]
    scores = IntervalScores(COVERAGE)
    scores.update(y, ends)
    return Cell(
        entrant.name,
        name,
        len(y),
        round(seconds, 1),
        round(scores.coverage, 4),
        round(scores.mean_width, 4),
        round(scores.interval_score, 4),
        round(width_at_equal_coverage(y, ends), 4),
    )


def width_at_equal_coverage(y: NDArray[np.float64], ends: NDArray[np.float64]) -> float:
    """Return the mean width after all intervals are scaled by one factor, chosen in hindsight.

    It is the smallest with which they hold the share `COVERAGE` of the targets. Middles stay.
    """
    low, high = ends.T
    half = (high - low) / 2
    distance = np.abs(y - (low + high) / 2)
    factors = np.full(len(y), np.inf)  # that an interval needs to hold its target
    np.divide(distance, half, out=factors, where=half > 0)
    factors[distance == 0] = 0.0
    factor = np.quantile(factors, COVERAGE, method="inverted_cdf")
    return float(factor * (high - low).mean())


# -- the record ------------------------------------------------------------------------------------


def cells_of(path: Path) -> list[Cell]:
    if not path.exists():
        return []
    return [Cell(**cell) for cell in record.read(path)["figures"]["cells"]]


def add_missing(path: Path, entrants: Iterable[str], sets: Iterable[str], data: Path) -> None:
    for name in sets:
        given = number_sets.load(name, ROWS, SEED, data)
        for entrant in entrants:
            cells = cells_of(path)
            if (entrant, name) in {(cell.entrant, cell.set) for cell in cells}:
                continue
            cells.append(measure(ENTRANTS[entrant], name, given))
            print(cells[-1], flush=True)
            figures = {"coverage": COVERAGE, "cells": [asdict(cell) for cell in cells]}
            record.write(path, "interval-peers", figures, ("capymoa",), quiet=True)


# -- tables ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Standings:
    """The cells by entrant and set."""

    cells: dict[str, dict[str, Cell]]

    @classmethod
    def of(cls, cells: list[Cell]) -> Standings:
        grouped: dict[str, dict[str, Cell]] = {name: {} for name in ENTRANTS}
        for cell in cells:
            grouped[cell.entrant][cell.set] = cell
        return cls(grouped)

    @property
    def sets(self) -> list[str]:
        """Return the sets that all entrants have."""
        return [
            name
            for name in number_sets.NAMES
            if all(name in of_sets for of_sets in self.cells.values())
        ]

    def values(self, entrant: str, number: str) -> list[float]:
        return [getattr(self.cells[entrant][name], number) for name in self.sets]

    def below_rivals(self, ours: str, *numbers: str) -> list[str]:
        """Return the sets on which each of these numbers is below that of each rival."""
        return [
            name
            for name in self.sets
            if all(
                getattr(self.cells[ours][name], number) < getattr(self.cells[rival][name], number)
                for rival in RIVALS
                for number in numbers
            )
        ]

    def table(self, number: str) -> str:
        """Return a row per set, and one of geometric means in units of the first rival."""
        rows = []
        for name in self.sets:
            values = [getattr(of_sets[name], number) for of_sets in self.cells.values()]
            marked = [in_bold(share(value), value == min(values)) for value in values]
            rows.append([name.replace("_", " "), *marked])
        unit = self.values(RIVALS[0], number)
        times = [
            f"{geometric([a / b for a, b in zip(self.values(name, number), unit, strict=True)]):.2f}"
            for name in ENTRANTS
        ]
        titles = [entrant.title for entrant in ENTRANTS.values()]
        return markdown(["", *titles], [*rows, [f"times {ENTRANTS[RIVALS[0]].title}", *times]])

    def claims(self) -> str:
        lines = []
        for ours in OURS:
            both = self.below_rivals(ours, "score", "equal_width")
            not_both = [name for name in self.sets if name not in both]
            lines.append(
                f"{ENTRANTS[ours].title} trees: narrower at equal coverage, and with a lower interval "
                f"score, than both MVE and AdaPI on {len(both)} of {len(self.sets)} sets"
                + (f" (not on {', '.join(not_both)})" if not_both else "")
            )
        for name, entrant in ENTRANTS.items():
            held = self.values(name, "coverage")
            lines.append(f"{entrant.title}: held {min(held):.3f} to {max(held):.3f} of the targets")
        return "\n".join(f"- {line}" for line in lines)


def page_tables(cells: list[Cell]) -> dict[str, str]:
    """Return the tables by the name of their place in the page."""
    standings = Standings.of(cells)
    return {
        "interval-claims": standings.claims(),
        "interval-scores": standings.table("score"),
        "interval-widths": standings.table("equal_width"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entrants", nargs="+", choices=ENTRANTS, default=list(ENTRANTS))
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="default: all there are")
    parser.add_argument("--data", type=Path, help="directory of the real sets (or RIPARIAN_DATA)")
    parser.add_argument("--out", type=Path, default=record.path("interval-peers"))
    parser.add_argument("--page", type=Path, help="a page with places for the tables")
    asked = parser.parse_args()
    data = data_directory(asked.data)
    if data is not None:
        add_missing(asked.out, asked.entrants, asked.sets or number_sets.available(data), data)
    if asked.page:
        write_into(asked.page, page_tables(cells_of(asked.out)))


if __name__ == "__main__":
    main()
