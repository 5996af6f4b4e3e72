"""What the processor's vector instructions are worth: every set of kernels on the same streams.

    python -m benchmarks.kernels --out benchmarks/record/kernels.json

The core uses the best set that the processor supports. Here the sets take turns, in one process, with
ten trees, 1,000 points at a time, on one thread. "short" are the first points of all streams, with the
defaults and with kept_points=0; "far along" are points 30,000 to 60,000 of the synthetic ones. Times are
of the processor, the middle of a few turns. The forests are the same, and that is checked.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.along import FIRST, LAST, seconds_to_learn
from benchmarks.generators import GENERATORS
from benchmarks.peers import FEW, OURS, PEERS, Model, Task
from benchmarks.standings import geometric
from benchmarks.workloads import Workload, available, data_directory, load
from riparian import _core

PAPER = "riparian-paper"
SHORT = 5000
TURNS = 5


@dataclass(frozen=True)
class Case:
    """A forest on a stream, of which the points from `first` on count."""

    kind: str
    peer: str
    stream: str
    first: int
    last: int


def cases(streams: list[str], short: int, first: int, last: int) -> Iterator[Case]:
    for stream in streams:
        yield Case("short", OURS, stream, 0, short)
        yield Case("short, kept_points=0", PAPER, stream, 0, short)
        if stream in GENERATORS:
            yield Case("far along", OURS, stream, first, last)


@dataclass
class Turns:
    """Return microseconds per point with one set of kernels."""

    learning: list[float] = field(default_factory=list)
    predicting: list[float] = field(default_factory=list)


def measure(case: Case, data: Path | None, turns: int) -> list[dict[str, Any]]:
    """Return a row for each set of kernels."""
    stream = load(case.stream, data, points=case.last).with_test()
    task = Task(stream.X.shape[1], stream.classes, FEW)
    by_set = {name: Turns() for name in _core.kernel_names()}
    forests = set()
    try:
        for _ in range(turns):
            for name, of_set in by_set.items():
                _core.use_kernels(name)
                model = PEERS[case.peer].model(task)
                seconds = seconds_to_learn(model, stream, case.first)
                of_set.learning.append(seconds * 1e6 / (len(stream.y) - case.first))
                of_set.predicting.append(
                    seconds_to_predict(model, stream) * 1e6 / len(stream.y_test)
                )
                forests.add(model.snapshot())
    finally:
        _core.use_kernels(list(by_set)[-1])
    if len(forests) != 1:
        raise SystemExit(f"{case}: the sets of kernels have made {len(forests)} different forests")
    return [
        {
            "kind": case.kind,
            "stream": case.stream,
            "kernels": name,
            "learn_us": statistics.median(of_set.learning),
            "predict_us": statistics.median(of_set.predicting),
        }
        for name, of_set in by_set.items()
    ]


def seconds_to_predict(model: Model, stream: Workload) -> float:
    points = model.points(stream.X_test, stream.y_test)
    start = time.process_time()
    model.predict(points)
    return time.process_time() - start


def compared_with_the_best(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return, for each kind and set, the time relative to the best set (geometric mean over streams)."""
    best = rows[-1]["kernels"]
    cells = {(row["kind"], row["stream"], row["kernels"]): row for row in rows}

    def times(kind: str, name: str, what: str) -> float:
        return geometric(
            [
                row[what] / cells[kind, row["stream"], best][what]
                for row in rows
                if (row["kind"], row["kernels"]) == (kind, name)
            ]
        )

    return [
        {
            "kind": kind,
            "kernels": name,
            "learn_times": times(kind, name, "learn_us"),
            "predict_times": times(kind, name, "predict_us"),
        }
        for kind, name in dict.fromkeys((row["kind"], row["kernels"]) for row in rows)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="directory of data sets; or RIPARIAN_DATA")
    parser.add_argument("--streams", nargs="+", metavar="NAME", help="default: all there are")
    parser.add_argument("--short", type=int, default=SHORT, help="points of a short stream")
    parser.add_argument("--first", type=int, default=FIRST, help="points that do not count")
    parser.add_argument("--last", type=int, default=LAST, help="points of a long stream")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--out", type=Path, help="where the record goes; default: none is kept")
    options = parser.parse_args()

    data = data_directory(options.data)
    streams = options.streams or available(data)
    rows: list[dict[str, Any]] = []
    for case in cases(streams, options.short, options.first, options.last):
        measured = measure(case, data, options.turns)
        rows += measured
        shown = ", ".join(f"{row['kernels']} {row['learn_us']:.2f}" for row in measured)
        print(f"{case.kind:22} {case.stream:10} µs per point to learn: {shown}", flush=True)
    means = compared_with_the_best(rows)
    for mean in means:
        print(
            f"{mean['kind']:22} {mean['kernels']:10} {mean['learn_times']:.2f} times as long to learn, "
            f"{mean['predict_times']:.2f} to predict"
        )
    if options.out:
        record.write(options.out, "kernels", {"means": means, "rows": rows})


if __name__ == "__main__":
    main()
