"""Which defaults serve a single pass over unknown data best: a search over the workloads.

Every stream is learned once, in order, by `partial_fit`. The search sees the training points only: it
judges by the last fifth of each stream (elec: by predicting before learning, in its first half). The
test points are read once, for the final table, by the few settings named there.

    python -m benchmarks.defaults search   # writes record/defaults-search.json; ten minutes
    python -m benchmarks.defaults final    # writes record/defaults-final.json
    python -m benchmarks.evidence          # writes record/defaults.md from the two
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.workloads import Workload, available, data_directory, load
from riparian import Geometric, OnlineForestClassifier

MOST_POINTS = {"mnist": 20_000}  # the whole of it would be half of the time
PREQUENTIAL_BLOCK = 50  # points predicted, then learned, at a time
FLOOR = 1e-6  # of a probability, in the log loss


@dataclass(frozen=True)
class Setting:
    """What the search varies; λ is `dims_factor` times the square root of the number of features."""

    dims_factor: float = 1.0
    split_points: int = 10
    min_gain: float = 0.01
    alpha_start: float = 1.0
    alpha_rate: float = 1.05
    beta: float = 100.0
    structure_fraction: float = 0.5
    kept_points: int = 0

    def forest(self, n_features: int, trees: int, seed: int) -> OnlineForestClassifier:
        return OnlineForestClassifier(
            trees,
            candidate_dims=self.dims_factor * math.sqrt(n_features),
            split_points=self.split_points,
            min_gain=self.min_gain,
            alpha=Geometric(self.alpha_start, self.alpha_rate),
            beta=self.beta,
            structure_fraction=self.structure_fraction,
            kept_points=self.kept_points,
            eager=False,
            max_memory=None,
            random_state=seed,
        )


START = Setting()  # what the forest had before anything was measured

# A binary split gains at most one bit, so with a larger τ a leaf splits only when it must (β).
BALANCED = Setting(min_gain=0.5, beta=20)
PATIENT = Setting(min_gain=2.0, beta=20)

# When to split is decided by τ and β together: they are searched as a grid.
MIN_GAINS = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 2.0]
BETAS = [5, 10, 20, 40, 100]

# The rest one at a time, around either of the two ways to split.
OTHERS: dict[str, list[Any]] = {
    "split_points": [3, 5, 20, 40],
    "alpha_start": [2, 3, 5],
    "alpha_rate": [1.01, 1.02, 1.1, 1.2],
    "structure_fraction": [0.3, 0.4, 0.6],
    "dims_factor": [0.5, 2.0, 4.0],
}

FINAL: dict[str, Setting] = {
    "start": START,
    "balanced": BALANCED,
    "balanced, m=5": replace(BALANCED, split_points=5),
    "balanced, α from 2": replace(BALANCED, alpha_start=2, beta=10),
    "patient": PATIENT,
    "patient, more structure": replace(PATIENT, beta=15, structure_fraction=0.6),
    "balanced, 4 sqrt": replace(BALANCED, dims_factor=4),
    "patient, 4 sqrt": replace(PATIENT, dims_factor=4),
}


@dataclass(frozen=True)
class Outcome:
    """The results of one setting on one workload, as means over the seeds."""

    accuracy: float
    log_loss: float
    leaves: float  # of a tree
    bytes: float  # of a tree
    microseconds: float  # of learning, per point and tree


# -- one setting, one stream ----------------------------------------------------------------------


def judge(setting: Setting, workload: Workload, trees: int, seed: int) -> Outcome:
    forest = setting.forest(workload.X.shape[1], trees, seed)
    run = predict_then_learn if workload.prequential else learn_then_predict
    proba, labels, seconds = run(forest, workload)
    chosen = forest.classes_[proba.argmax(axis=1)]
    of_truth = proba[np.arange(len(labels)), np.searchsorted(forest.classes_, labels)]
    stats = forest.stats()
    return Outcome(
        accuracy=float(np.mean(chosen == labels)),
        log_loss=float(-np.log(np.maximum(of_truth, FLOOR)).mean()),
        leaves=stats["leaves"] / trees,
        bytes=stats["bytes"] / trees,
        microseconds=seconds / len(workload.y) / trees * 1e6,
    )


Judged = tuple[NDArray[np.float64], NDArray[np.int64], float]  # probabilities, labels, seconds


def learn_then_predict(forest: OnlineForestClassifier, workload: Workload) -> Judged:
    start = time.perf_counter()
    forest.partial_fit(workload.X, workload.y, classes=workload.classes)
    seconds = time.perf_counter() - start
    return forest.predict_proba(workload.X_test), workload.y_test, seconds


def predict_then_learn(forest: OnlineForestClassifier, workload: Workload) -> Judged:
    """Predict from the second block on, since nothing is learned before the first."""
    start, proba, seconds = PREQUENTIAL_BLOCK, [], 0.0
    forest.partial_fit(workload.X[:start], workload.y[:start], classes=workload.classes)
    for first in range(start, len(workload.y), PREQUENTIAL_BLOCK):
        block = slice(first, first + PREQUENTIAL_BLOCK)
        proba.append(forest.predict_proba(workload.X[block]))
        begin = time.perf_counter()
        forest.partial_fit(workload.X[block], workload.y[block])
        seconds += time.perf_counter() - begin
    return np.concatenate(proba), workload.y[start:], seconds


def mean(outcomes: Iterable[Outcome]) -> Outcome:
    rows = [list(asdict(outcome).values()) for outcome in outcomes]
    return Outcome(*np.mean(rows, axis=0).tolist())


# -- one setting, all streams ---------------------------------------------------------------------

Outcomes = dict[str, Outcome]


@dataclass(frozen=True)
class Bench:
    """The streams of the comparison, in one order per seed."""

    streams: list[list[Workload]]  # by seed, then by workload
    trees: int

    @classmethod
    def of(cls, names: list[str], data: Path | None, trees: int, seeds: int, search: bool) -> Bench:
        streams = []
        for seed in range(seeds):
            # Synthetic streams of the search and of the final table are different draws.
            loaded = [
                load(name, data, points=MOST_POINTS.get(name), seed=seed + (1000 if search else 0))
                for name in names
            ]
            streams.append([w.without_test() if search else w for w in loaded])
        return cls(streams, trees)

    def run(self, setting: Setting) -> Outcomes:
        return {
            same[0].name: mean(
                judge(setting, workload, self.trees, seed) for seed, workload in enumerate(same)
            )
            for same in zip(*self.streams, strict=True)
        }


# -- the commands ---------------------------------------------------------------------------------


def searched() -> list[Setting]:
    grid = [replace(START, min_gain=t, beta=b) for t in MIN_GAINS for b in BETAS]
    around = [
        replace(centre, **{name: value})
        for centre in (BALANCED, PATIENT)
        for name, values in OTHERS.items()
        for value in values
    ]
    return list(dict.fromkeys([START, *grid, *around]))


def tried(bench: Bench, settings: Iterable[Setting]) -> Iterator[dict[str, Any]]:
    print("accuracy  log loss   leaves  µs/point  setting")
    for setting in settings:
        outcomes = bench.run(setting)
        report(setting, mean(outcomes.values()))
        yield as_row(setting, outcomes)


def report(setting: Setting, total: Outcome) -> None:
    changed = {name: v for name, v in asdict(setting).items() if v != getattr(START, name)}
    print(
        f"{total.accuracy:8.4f}  {total.log_loss:8.4f} {total.leaves:8.0f}  "
        f"{total.microseconds:8.3f}  {changed}",
        flush=True,
    )


def as_row(setting: Setting, outcomes: Outcomes) -> dict[str, Any]:
    """Return the setting and, for each measure, one number per workload."""
    measures = {
        field.name: [round(getattr(outcome, field.name), 5) for outcome in outcomes.values()]
        for field in fields(Outcome)
    }
    return {"setting": asdict(setting), **measures}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["search", "final"])
    parser.add_argument("--workloads", nargs="+", metavar="NAME")
    parser.add_argument("--data", type=Path, help="directory of the real sets (or RIPARIAN_DATA)")
    parser.add_argument("--trees", type=int, help="default: 30 to search, 100 in the end")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path, help="where the record goes")
    options = parser.parse_args()
    data = data_directory(options.data)
    names = options.workloads or available(data)
    trees = options.trees or (30 if options.what == "search" else 100)
    search = options.what == "search"
    bench = Bench.of(names, data, trees, options.seeds, search)
    settings = searched() if search else FINAL.values()
    rows = list(tried(bench, settings))
    if not search:
        rows = [{"name": name, **row} for name, row in zip(FINAL, rows, strict=True)]
    figures = {"trees": trees, "seeds": options.seeds, "workloads": names, "settings": rows}
    record.write(options.out or record.path(f"defaults-{options.what}"), "defaults", figures)


if __name__ == "__main__":
    main()
