"""Measure what a point costs far along a stream, for our forest and River's adaptive one.

    python -m benchmarks.along --out benchmarks/record/along.json

The streams of the comparison are short: while all of their points are kept, trees are rebuilt. Here
both learn a synthetic stream from its beginning, with ten trees each, and only the points from 30,000
to 60,000 are timed, when older points are no longer kept. Times are processor times. Ours are a
fraction of a second, so our forest learns the stream several times, before and after the other, and the
median counts.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.generators import GENERATORS
from benchmarks.measure import BATCH, pieces
from benchmarks.peers import FEW, OURS, PEERS, Model, Task
from benchmarks.standings import geometric
from benchmarks.workloads import Workload, load

THEIRS = "river-arf"
FIRST, LAST = 30_000, 60_000
PASSES = 3  # before the other, and after it


def seconds_along(peer: str, stream: Workload, first: int) -> float:
    """Return the seconds that a new model takes to learn the points of the stream from `first` on."""
    task = Task(stream.X.shape[1], stream.classes, FEW)
    return seconds_to_learn(PEERS[peer].model(task), stream, first)


def seconds_to_learn(model: Model, stream: Workload, first: int) -> float:
    """The points before `first` are learned, too, but are not timed."""
    learned, seconds = 0, 0.0
    for piece in pieces(model, stream.X, stream.y, BATCH):
        start = time.process_time()
        model.learn(piece)
        if learned >= first:
            seconds += time.process_time() - start
        learned += BATCH
    return seconds


def compare(name: str, first: int, last: int, known: float | None = None) -> dict[str, Any]:
    """`known` has microseconds per point of the other model, where it need not be measured again."""
    stream = load(name, points=last)
    points = (last - first) / 1e6
    passes = [seconds_along(OURS, stream, first) / points for _ in range(PASSES)]
    theirs = known or seconds_along(THEIRS, stream, first) / points
    passes += [seconds_along(OURS, stream, first) / points for _ in range(PASSES)]
    ours = statistics.median(passes)
    measured = {"stream": name, "ours_us": ours, "theirs_us": theirs, "times": theirs / ours}
    print(
        f"{name:10} {measured['ours_us']:8.2f} µs per point, {measured['times']:6.0f} times",
        flush=True,
    )
    return measured


def their_times(path: Path | None, first: int, last: int) -> tuple[dict[str, float], str | None]:
    """Return the times of the other model on each stream from an earlier record, and their date."""
    if path is None:
        return {}, None
    earlier = record.read(path)
    figures = earlier["figures"]
    if (figures["first"], figures["last"]) != (first, last):
        raise SystemExit(
            f"{path.name} is of points {figures['first']} to {figures['last']}, not {first} to {last}"
        )
    times = {row["stream"]: row["theirs_us"] for row in figures["rows"]}
    return times, figures.get("theirs_measured", earlier["date"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", nargs="+", choices=GENERATORS, default=list(GENERATORS))
    parser.add_argument("--first", type=int, default=FIRST, help="points that do not count")
    parser.add_argument("--last", type=int, default=LAST, help="points in all")
    parser.add_argument("--out", type=Path, help="where the record goes; default: none is kept")
    parser.add_argument(
        "--theirs",
        type=Path,
        metavar="RECORD",
        help="measure ours alone; theirs are in this record",
    )
    options = parser.parse_args()

    known, measured = their_times(options.theirs, options.first, options.last)
    rows = [compare(name, options.first, options.last, known.get(name)) for name in options.streams]
    mean = geometric([row["times"] for row in rows])
    print(f"{PEERS[THEIRS].title} takes {mean:.0f} times as long as ours")
    if options.out:
        figures = {"first": options.first, "last": options.last, "times": mean, "rows": rows}
        if measured:
            figures["theirs_measured"] = measured
        record.write(options.out, "along", figures, ("river",))


if __name__ == "__main__":
    main()
