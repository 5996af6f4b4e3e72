"""Measure whether a forest with a bounded fringe stays as fast and as small along a long stream.

    python -m benchmarks.steady --points 10_000_000

The mixture of the paper's first experiment, with its settings, 100 trees and 100 active leaves a tree.
Drawing the points is not timed.
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

from benchmarks import record
from benchmarks.workloads import SETTINGS
from riparian import OnlineForestClassifier
from riparian.streams import GaussianMixture

BLOCK = 100_000  # points drawn and learned at a time
TEST_POINTS = 20_000


@dataclass(frozen=True)
class Stage:
    """The forest after n points, and the cost of the last of them."""

    points: int
    seconds: float  # since the stage before
    resident_bytes: int  # of the whole process
    leaves: float  # of a tree
    active_leaves: float  # of a tree
    depth: int  # of the deepest tree
    node_bytes: float  # of a tree, and so on
    leaf_bytes: float
    fringe_bytes: float
    refreshes_per_activation: float  # since the start (R12)
    accuracy: float

    def __str__(self) -> str:
        return (
            f"{self.points:12,} {self.seconds:8.2f} {self.resident_bytes / 1e6:8.0f} "
            f"{self.leaves:9.0f} {self.active_leaves:7.1f} {self.depth:5} {self.node_bytes / 1e3:9.0f} "
            f"{self.leaf_bytes / 1e3:9.0f} {self.fringe_bytes / 1e3:9.0f} "
            f"{self.refreshes_per_activation:10.2f} {self.accuracy:9.4f}"
        )


HEADER = (
    f"{'points':>12} {'seconds':>8} {'MB held':>8} {'leaves':>9} {'active':>7} {'depth':>5} "
    f"{'kB nodes':>9} {'leaves':>9} {'fringe':>9} {'refreshes':>10} {'accuracy':>9}"
)


def stages(forest: OnlineForestClassifier, points: int, stage: int) -> Iterator[Stage]:
    mixture, rng = GaussianMixture.paper(), np.random.default_rng(0)
    X_test, y_test = mixture.sample(TEST_POINTS, rng)
    seconds = 0.0
    for done in range(BLOCK, points + 1, BLOCK):
        X, y = mixture.sample(BLOCK, rng)
        start = time.perf_counter()
        forest.partial_fit(X, y)
        seconds += time.perf_counter() - start
        if done % stage == 0:
            accuracy = float(forest.score(X_test, y_test))
            yield as_stage(forest, done, seconds, accuracy)
            seconds = 0.0


def as_stage(forest: OnlineForestClassifier, points: int, seconds: float, accuracy: float) -> Stage:
    stats = forest.stats()
    trees = len(stats["trees"])
    return Stage(
        points=points,
        seconds=seconds,
        resident_bytes=resident_bytes(),
        leaves=stats["leaves"] / trees,
        active_leaves=stats["active"] / trees,
        depth=stats["depth"],
        node_bytes=stats["node_bytes"] / trees,
        leaf_bytes=stats["leaf_bytes"] / trees,
        fringe_bytes=stats["fringe_bytes"] / trees,
        refreshes_per_activation=stats["refreshes"] / max(stats["activations"], 1),
        accuracy=accuracy,
    )


def resident_bytes() -> int:
    """Return the resident memory of the process, as Linux counts it."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def summary(stages: list[Stage]) -> dict[str, Any]:
    first, last = stages[0], stages[-1]
    return {
        "last_stage_over_first": last.seconds / first.seconds,
        "fringe_bytes_last_over_first": last.fringe_bytes / first.fringe_bytes,
        "bytes_per_leaf": (last.leaf_bytes - first.leaf_bytes) / (last.leaves - first.leaves or 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=10_000_000)
    parser.add_argument("--stage", type=int, default=1_000_000, help="points between two rows")
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--fringe-size", type=int, default=100)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, help="where the record goes; default: none is kept")
    options = parser.parse_args()
    if options.stage % BLOCK or options.points < options.stage:
        parser.error(f"--stage must be a multiple of {BLOCK} and at most --points")

    forest = OnlineForestClassifier(
        options.trees,
        **SETTINGS["mixture"],
        fringe_size=options.fringe_size,
        random_state=0,
        n_jobs=options.workers,
    )
    print(HEADER)
    stages = []
    for stage in stages(forest, options.points, options.stage):
        print(stage, flush=True)
        stages.append(stage)
    figures = summary(stages)
    print(f"last stage over first: {figures['last_stage_over_first']:.2f}")
    if options.out:
        settings = {name: getattr(options, name) for name in ("trees", "fringe_size", "workers")}
        rows = [asdict(stage) for stage in stages]
        record.write(options.out, "steady", {**settings, **figures, "stages": rows})


if __name__ == "__main__":
    main()
