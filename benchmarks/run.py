"""What the engines cost on the workloads: a table, and a record of it.

    python -m benchmarks.run --workloads mixture letter --trees 10 100

Times are per point and tree. Those of learning start from an empty forest and cover the whole stream;
those of single points are taken on the last points of it, when the trees have grown. Those of one
worker are processor times, those of several are wall-clock times. Each is the smallest of the
repeats, which is the one least disturbed by other work of the machine; the record also has the
median.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import record
from benchmarks.engines import ENGINES, Engine, Forest, Task
from benchmarks.times import Times
from benchmarks.workloads import SETTINGS, Workload, available, data_directory, load

POINTS = {"mixture": 10_000, "mnist": 20_000}  # of a stream that could be longer
SINGLE_POINTS = 500  # learned, or predicted, in a call each


@dataclass(frozen=True)
class Row:
    engine: str
    workload: str
    setting: str  # "named" in workloads.SETTINGS, or the "default"s
    trees: int
    workers: int
    points: int  # learned
    learn: Times  # in one batch
    learn_one: Times  # one point per call
    predict: Times
    predict_one: Times
    accuracy: float | None  # on the held-out points, where there are some
    bytes: int | None  # held by the forest at the end

    @property
    def predicted_per_second(self) -> float:
        """Return the points per second of the whole forest, in batches."""
        return 1e6 / (self.predict.min * self.trees)

    def __str__(self) -> str:
        size = "" if self.bytes is None else f"{self.bytes / self.trees / 1e3:.0f}"
        accuracy = "" if self.accuracy is None else f"{self.accuracy:.4f}"
        return (
            f"{self.workload:10} {self.engine:10} {self.trees:5} {self.workers:7} {self.points:7,} "
            f"{self.learn.min:9.4f} {self.learn_one.min:9.3f} {self.predict.min:9.4f} "
            f"{self.predict_one.min:9.3f} {self.predicted_per_second:12,.0f} {size:>8} {accuracy:>8}"
        )


HEADER = (
    f"{'':36} {'':7} {'µs per point and tree':^39}\n"
    f"{'workload':10} {'engine':10} {'trees':>5} {'workers':>7} {'points':>7} "
    f"{'learn':>9} {'one':>9} {'predict':>9} {'one':>9} "
    f"{'predicted/s':>12} {'kB/tree':>8} {'accuracy':>8}"
)


def measure(
    engine: Engine, workload: Workload, trees: int, workers: int, repeats: int, defaults: bool
) -> Row:
    named = workload.name in SETTINGS and not defaults
    trees = int(min(trees, engine.most_trees))
    workload = workload.first(int(min(len(workload.y), engine.most_points)))
    task = Task(
        n_features=workload.X.shape[1],
        classes=workload.classes,
        trees=trees,
        setting=SETTINGS[workload.name] if named else {},
        workers=workers,
    )
    X, y = workload.X, workload.y
    X_test = (X if workload.prequential else workload.X_test)[
        : int(min(20_000, engine.most_points))
    ]
    ones = min(SINGLE_POINTS, len(y) // 2, len(X_test))

    def learn_ones(forest: Forest) -> None:
        for i in range(len(y) - ones, len(y)):
            forest.learn(X[i : i + 1], y[i : i + 1])

    def predict_ones(forest: Forest) -> None:
        for i in range(ones):
            forest.predict_proba(X_test[i : i + 1])

    def empty() -> Forest:
        return engine.start(task)

    def nearly_done() -> Forest:
        forest = engine.start(task)
        forest.learn(X[:-ones], y[:-ones])
        return forest

    def timed(before: Callable[[], Forest], work: Callable[[Forest], object], points: int) -> Times:
        clock = time.process_time if workers == 1 else time.perf_counter
        return Times.of([seconds(before(), work, clock) for _ in range(repeats)], points, trees)

    learned = empty()
    learned.learn(X, y)
    return Row(
        engine=engine.name,
        workload=workload.name,
        setting="named" if named else "default",
        trees=trees,
        workers=workers,
        points=len(y),
        learn=timed(empty, lambda forest: forest.learn(X, y), len(y)),
        learn_one=timed(nearly_done, learn_ones, ones),
        predict=timed(lambda: learned, lambda f: f.predict_proba(X_test), len(X_test)),
        predict_one=timed(lambda: learned, predict_ones, ones),
        accuracy=None if workload.prequential else held_out(learned, workload, len(X_test)),
        bytes=learned.bytes_held(),
    )


def seconds(forest: Forest, work: Callable[[Forest], object], clock: Callable[[], float]) -> float:
    start = clock()
    work(forest)
    return clock() - start


def held_out(forest: Forest, workload: Workload, points: int) -> float:
    chosen = forest.predict_proba(workload.X_test[:points]).argmax(axis=1)
    return float((workload.classes[chosen] == workload.y_test[:points]).mean())


def rows(options: argparse.Namespace, names: list[str], data: Path | None) -> Iterator[Row]:
    for name in names:
        workload = load(name, data, points=options.points or POINTS.get(name))
        for engine in (ENGINES[name] for name in options.engines):
            for trees in sorted({int(min(t, engine.most_trees)) for t in options.trees}):
                for workers in options.workers if engine.threads else [1]:
                    yield measure(
                        engine, workload, trees, workers, options.repeats, options.defaults
                    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workloads", nargs="+", metavar="NAME", help="default: all there are")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--trees", nargs="+", type=int, default=[10, 100])
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--points", type=int, help="learn at most this many points")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--defaults", action="store_true", help="the default setting everywhere")
    parser.add_argument("--data", type=Path, help="directory of the real sets (or RIPARIAN_DATA)")
    parser.add_argument("--out", type=Path, help="where the record goes; default: none is kept")
    options = parser.parse_args()
    data = data_directory(options.data)
    names = options.workloads or available(data)

    print(HEADER)
    measured = []
    for row in rows(options, names, data):
        print(row, flush=True)
        measured.append({**asdict(row), "predicted_per_second": row.predicted_per_second})
    if options.out:
        record.write(options.out, "engines", {"repeats": options.repeats, "rows": measured})


if __name__ == "__main__":
    main()
