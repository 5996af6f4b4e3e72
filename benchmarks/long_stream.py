"""Millions of points through one forest with its defaults: does it stay fast, small and right?

    python -m benchmarks.long_stream mixture

Every block is predicted, then learned. After each million points a row is added to the record
(`long-stream-mixture.json`), and the forest is saved next to it: a run that was stopped continues from
there, and loses at most a million points. Drawing the points is not timed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import riparian
from benchmarks import record
from benchmarks.growth import bands
from benchmarks.number_sets import friedman, smooth
from benchmarks.steady import resident_bytes
from riparian import OnlineForestClassifier, OnlineForestRegressor
from riparian.streams import GaussianMixture

BLOCK = 10_000  # points drawn, predicted and learned at a time
STAGE = 1_000_000  # points between two rows
TREES = 10


Forest = OnlineForestClassifier | OnlineForestRegressor


class Classes:
    """A stream of classes."""

    forest: type[Forest] = OnlineForestClassifier
    right_is = "the class"

    def right(self, answers: Any, y: Any) -> int:
        return int((answers == y).sum())


class Mixture(Classes):
    """The paper's five classes in two dimensions."""

    def __init__(self) -> None:
        self.stream = GaussianMixture.paper()

    def draw(self, rng: np.random.Generator) -> tuple[Any, Any]:
        return self.stream.sample(BLOCK, rng)

    def best(self, X: Any, y: Any) -> int:
        return round(self.stream.bayes_accuracy(X, y) * len(y))


class Bands(Classes):
    """Three classes by the sum of two of ten columns, with a tenth of the labels drawn at random."""

    def __init__(self) -> None:
        self.stream = bands(10)

    def draw(self, rng: np.random.Generator) -> tuple[Any, Any]:
        return self.stream.draw(BLOCK, rng)

    def best(self, X: Any, y: Any) -> int:
        return int((np.digitize(X[:, 0] + X[:, 1], (-0.6, 0.6)) == y).sum())


class Friedman:
    """Friedman's function of five of ten columns, with noise of deviation 1."""

    forest: type[Forest] = OnlineForestRegressor
    right_is = "at most 1 from the target; the noise has deviation 1"

    def draw(self, rng: np.random.Generator) -> tuple[Any, Any]:
        X, y = friedman(BLOCK, rng)
        return X.astype(np.float32), y

    def right(self, answers: Any, y: Any) -> int:
        return int((np.abs(answers - y) <= 1).sum())

    def best(self, X: Any, y: Any) -> int:
        return self.right(smooth(X), y)


STREAMS = {"mixture": Mixture, "bands": Bands, "friedman": Friedman}


@dataclass(frozen=True)
class Stage:
    """The forest after n points, and the cost of the last million of them."""

    points: int
    cpu_seconds: float  # predicting and learning
    accuracy: float  # share of right answers; each block is predicted before it is learned
    best_accuracy: float  # of the best possible answers to the same points
    forest_bytes: int
    resident_bytes: int  # of the whole process
    leaves: int
    depth: int
    budget_binds: bool
    date: str
    commit: str
    load: float  # of the machine: the number of processes that were ready to run

    def __str__(self) -> str:
        return (
            f"{self.points:12,} {self.cpu_seconds:7.1f} s  {self.accuracy:.4f} of "
            f"{self.best_accuracy:.4f}  forest {self.forest_bytes / 1e6:6.1f} MB  process "
            f"{self.resident_bytes / 1e6:6.1f} MB  {self.leaves:,} leaves"
        )


def stages(forest: Forest, stream: Any, points: int) -> Iterator[Stage]:
    """Go on from the state of the forest. Block i depends on i alone, so a stop changes nothing."""
    done = forest.stats()["points"] if hasattr(forest, "model_") else 0
    while done < points:
        cpu, right, best = 0.0, 0, 0
        for block in range(done // BLOCK, (done + STAGE) // BLOCK):
            X, y = stream.draw(np.random.default_rng([7, block]))
            best += stream.best(X, y)
            start = time.process_time()
            if block:
                right += stream.right(forest.predict(X), y)
            forest.partial_fit(X, y)
            cpu += time.process_time() - start
        done += STAGE
        yield as_stage(forest, done, cpu, right / STAGE, best / STAGE)


def as_stage(forest: Forest, points: int, cpu: float, accuracy: float, best: float) -> Stage:
    stats = forest.stats()
    return Stage(
        points=points,
        cpu_seconds=round(cpu, 2),
        accuracy=accuracy,
        best_accuracy=best,
        forest_bytes=forest.memory()["total"],
        resident_bytes=resident_bytes(),
        leaves=stats["leaves"],
        depth=stats["depth"],
        budget_binds=stats["budget_binds"],
        date=record.now(),
        commit=record.commit(),
        load=round(os.getloadavg()[0], 1),
    )


def run(stream: str, points: int, out: Path) -> None:
    saved = out.with_suffix(".riparian")
    forest = STREAMS[stream].forest(TREES, random_state=0)
    if saved.exists():
        forest = riparian.load(saved)
    for stage in stages(forest, STREAMS[stream](), points):
        print(stage, flush=True)
        add(out, stream, stage)
        forest.save(saved)


def add(out: Path, stream: str, stage: Stage) -> None:
    """Add a row, or replace it: a row that was written just before a stop is made again."""
    known = record.read(out)["figures"]["stages"] if out.exists() else []
    rows = [row for row in known if row["points"] < stage.points]
    figures = {
        "stream": stream,
        "right": STREAMS[stream].right_is,
        "trees": TREES,
        "block": BLOCK,
        "stages": [*rows, asdict(stage)],
    }
    record.write(out, "long-stream", figures, quiet=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stream", choices=STREAMS)
    parser.add_argument("--points", type=int, default=100 * STAGE)
    parser.add_argument(
        "--out", type=Path, help="default: benchmarks/record/long-stream-STREAM.json"
    )
    given = parser.parse_args()
    if given.points < STAGE or given.points % STAGE:
        parser.error(f"--points must be a multiple of {STAGE:,}, got {given.points}")
    run(given.stream, given.points, given.out or record.path(f"long-stream-{given.stream}"))


if __name__ == "__main__":
    main()
