"""What the adaptive forest costs where nothing changes: both forests on the streams of the comparison.

    python -m benchmarks.calm --out benchmarks/record/calm.json --data FOLDER --page docs/compare.md

Each learns in batches and is judged on held-out points, with as many trees. Nothing was chosen with
these seeds. `elec` is in order of time, so it may change; the others do not.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.compare import FULL
from benchmarks.eager import judged
from benchmarks.measure import BATCH
from benchmarks.peers import MANY
from benchmarks.standings import TITLES, geometric, markdown, share, write_into
from benchmarks.streams_of_change import ELEC
from benchmarks.workloads import Workload, available, data_directory, load
from riparian import AdaptiveForestClassifier, OnlineForestClassifier

Row = dict[str, Any]

SEEDS = 102, 103
FORESTS = {"steady": OnlineForestClassifier, "adaptive": AdaptiveForestClassifier}


def rows(
    data: Path | None, seeds: tuple[int, ...], trees: int = MANY, points: int | None = None
) -> Iterator[Row]:
    for seed in seeds:
        for name in available(data):
            length = points or FULL.length(name)
            workload = load(name, data, points=length, seed=seed).with_test().scaled()
            row: Row = {"stream": name, "seed": seed, "trees": trees}
            for which, start in FORESTS.items():
                forest = start(trees, random_state=seed, n_jobs=1)
                row[f"{which}_seconds"] = round(learn(forest, workload), 3)
                row[which] = judged(forest, workload)["accuracy"]
            yield row | {"replaced": len(forest.replacements_)}


def learn(forest: Any, workload: Workload) -> float:
    """Return the processor time."""
    start = time.process_time()
    for first in range(0, len(workload.y), BATCH):
        part = slice(first, first + BATCH)
        forest.partial_fit(workload.X[part], workload.y[part], classes=workload.classes)
    return time.process_time() - start


def table(measured: list[Row]) -> str:
    """Return a line per stream, the means of all, and those without `elec`."""
    names = list(dict.fromkeys(row["stream"] for row in measured))
    groups = {TITLES.get(name, name): [name] for name in names}
    groups["mean"] = names
    groups["mean without elec"] = [name for name in names if name != ELEC]
    body = []
    for title, streams in groups.items():
        mine = [row for row in measured if row["stream"] in streams]
        steady, adaptive = (statistics.mean(row[which] for row in mine) for which in FORESTS)
        body.append([
            title,
            share(steady),
            share(adaptive),
            f"{adaptive - steady:+.4f}".replace("0.", "."),
            f"{geometric([row['adaptive_seconds'] / row['steady_seconds'] for row in mine]):.2f}",
            f"{sum(row['replaced'] for row in mine):,}",
        ])  # fmt: skip
    head = [
        "", "OnlineForestClassifier", "AdaptiveForestClassifier", "difference",
        "time to learn, ratio", "trees replaced",
    ]  # fmt: skip
    return markdown(head, body)


def page_tables(measured: list[Row]) -> dict[str, str]:
    """Return the table by the name of its place in the page."""
    return {"calm": table(measured)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="directory of the real sets (or RIPARIAN_DATA)")
    parser.add_argument("--out", type=Path, required=True, help="the record")
    parser.add_argument("--page", type=Path, help="a page with a place for the table")
    options = parser.parse_args()
    measured = list(rows(data_directory(options.data), SEEDS))
    record.write(options.out, "calm", {"rows": measured})
    print(table(measured))
    if options.page:
        write_into(options.page, page_tables(measured))


if __name__ == "__main__":
    main()
