"""Forests on streams that change: one point at a time, each predicted before it is learned.

    python -m benchmarks.drift --out benchmarks/record/drift.json

A cell is an entrant (a model with a number of trees) on a stream with a seed. Every cell is written to
the record as soon as it is measured, and not run again, so a run that was stopped continues.
With `--again`, cells are run again and replaced.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.peers import FEW, FOLLOWERS, MANY, Entrant, Labels, Peer, Task
from benchmarks.streams_of_change import ELEC, POINTS, load, there

BIN = 100  # points whose mistakes are counted together, for the curves
PACKAGES = ("river", "capymoa")


ENTRANTS = {
    entrant.name: entrant
    for entrant in (
        Entrant("riparian-adaptive", FEW),
        Entrant("riparian-adaptive", MANY),
        Entrant("riparian-river", FEW),
        Entrant("riparian-river", MANY),
        Entrant("capymoa-arf", FEW),
        Entrant("capymoa-srp", FEW),
        Entrant("capymoa-bagging", FEW),
        Entrant("river-arf", FEW),
        Entrant("capymoa-arf", MANY),
        Entrant("river-srp", FEW),
        Entrant("river-bagging", FEW),
        Entrant("same-as-last", 1),
    )
}


@dataclass(frozen=True)
class Cell:
    """One measurement."""

    entrant: str
    stream: str
    seed: int
    points: int
    accuracy: float
    kappa: float
    seconds: float  # of the processor: predicting and learning, all threads of the process
    right: str  # of each hundred points, in order
    commit: str
    load: float  # of the machine at the end: the number of processes that were ready to run

    @property
    def key(self) -> tuple[str, str, int, int]:
        return self.entrant, self.stream, self.seed, self.points


def measure(entrant: Entrant, stream: str, points: int | None, seed: int) -> Cell:
    X, y = load(stream, points, seed)
    task = Task(X.shape[1], np.arange(y.max() + 1), entrant.trees, seed=seed)
    model: Any = FOLLOWERS[entrant.peer].model(task)
    given = model.points(X, y)
    start = time.process_time()
    answers = model.test_then_train(given)
    seconds = time.process_time() - start
    return Cell(
        entrant=entrant.name,
        stream=stream,
        seed=seed,
        points=len(y),
        accuracy=round(float((answers == y).mean()), 6),
        kappa=round(kappa(y, answers), 6),
        seconds=round(seconds, 3),
        right=" ".join(map(str, in_bins(answers == y))),
        commit=record.commit(),
        load=round(os.getloadavg()[0], 1),
    )


def kappa(y: Labels, answers: Labels) -> float:
    """Return Cohen's kappa."""
    labels = np.unique(np.concatenate([y, answers]))
    by_chance = float(sum((y == label).mean() * (answers == label).mean() for label in labels))
    return (float((y == answers).mean()) - by_chance) / (1 - by_chance)


def in_bins(right: NDArray[np.bool_]) -> list[int]:
    """Return how many of each hundred points are right; the last group may be smaller."""
    return [int(part.sum()) for part in np.split(right, range(BIN, len(right), BIN))]


# -- the record ------------------------------------------------------------------------------------


def cells_of(path: Path) -> list[Cell]:
    if not path.exists():
        return []
    return [Cell(**cell) for cell in record.read(path)["figures"]["cells"]]


def add(path: Path, cell: Cell) -> None:
    """Add a cell, or replace it. Other processes may have added cells in the meantime."""
    others = [known for known in cells_of(path) if known.key != cell.key]
    cells = [asdict(known) for known in (*others, cell)]
    record.write(path, "drift", {"bin": BIN, "cells": cells}, PACKAGES, quiet=True)


def missing(
    path: Path,
    entrants: Iterable[str],
    streams: Iterable[str],
    points: int,
    seeds: Iterable[int],
    again: bool = False,
) -> Iterator[tuple[Entrant, str, int | None, int]]:
    """Yield the cells that the record lacks, seed by seed, so that a part of them can be compared.

    The entrants take turns on each stream, so that what the machine does besides affects all of them.

    `again`: what is in the record, too, because the code has changed.
    """
    entrants, streams = list(entrants), list(streams)
    for seed in seeds:
        for stream in streams:
            for name in entrants:
                asked = None if stream == ELEC else points  # elec has a fixed length
                known = set() if again else {cell.key for cell in cells_of(path)}
                if (name, stream, seed, len(load(stream, asked, seed)[1])) not in known:
                    yield ENTRANTS[name], stream, asked, seed


def can_run(peer: Peer) -> bool:
    return find_spec(peer.library.replace("-", "_")) is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entrants", nargs="+", choices=ENTRANTS, default=list(ENTRANTS))
    parser.add_argument("--streams", nargs="+", metavar="NAME", help="default: all there are")
    parser.add_argument("--points", type=int, default=POINTS, help="of a stream that is drawn")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--out", type=Path, required=True, help="the record, which is added to")
    parser.add_argument("--again", action="store_true", help="also what the record has")
    options = parser.parse_args()
    entrants = [name for name in options.entrants if can_run(FOLLOWERS[ENTRANTS[name].peer])]
    for name in options.entrants:
        if name not in entrants:
            print(f"{name} is left out: its library is not installed")
    streams = options.streams or there()
    if not options.streams and ELEC not in streams:
        print("elec is left out: its data are found by RIPARIAN_DATA")
    for entrant, stream, points, seed in missing(
        options.out, entrants, streams, options.points, options.seeds, options.again
    ):
        cell = measure(entrant, stream, points, seed)
        add(options.out, cell)
        print(
            f"{cell.entrant:22} {stream:16} seed {seed:<3} accuracy {cell.accuracy:.4f}  "
            f"kappa {cell.kappa:.4f}  {cell.seconds:8.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
