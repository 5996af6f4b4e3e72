"""Measure what `riparian learn` takes in addition to predicting and learning, per row.

    python -m benchmarks.cli_evaluate

Microseconds of processor time per row, from row 20,000 to 60,000 of the table of cli_profile.py: of the
command, and of `predict_proba` and `partial_fit` alone, in its blocks and in batches of 1,000. One
thread. The smallest of some runs, taken in turn, since the machine may be shared.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet

from benchmarks.cli_profile import write_files
from riparian import OnlineForestClassifier

FIRST, LAST = 20_000, 60_000
BLOCK, BATCH = 100, 1000  # of the command, and of a user

# Run in the process of the command: it prints the time after the rows in between are learned.
PROGRAM = f"""
import sys, time
import riparian.cli.app
from riparian.cli.learning.run import Run

count, spent = Run._count, {{}}

def counted(self, rows):
    count(self, rows)
    spent[self.progress.learned] = time.process_time()

Run._count = counted
try:
    riparian.cli.app.app(prog_name="riparian")
finally:
    print(spent[{LAST}] - spent[{FIRST}], file=sys.stderr, flush=True)
"""


def of_command(path: Path, trees: int) -> float:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "learn", path, "-t", "label", "--limit", str(LAST),
         "-m", path.with_suffix(".riparian"), "--trees", str(trees), "--threads", "1"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return float(done.stderr.splitlines()[-1])


def alone(path: Path, trees: int, batch: int) -> float:
    table = pyarrow.parquet.read_table(path).to_pandas()
    y = table.pop("label").to_numpy()
    X = np.ascontiguousarray(table.to_numpy(dtype=np.float32))
    forest = OnlineForestClassifier(trees, random_state=0, n_jobs=1)
    start = 0.0
    for first in range(0, LAST, batch):
        rows = slice(first, first + batch)
        if first == FIRST:
            start = time.process_time()
        if first > 0:
            forest.predict_proba(X[rows])
        forest.partial_fit(X[rows], y[rows])
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    trees = options.trees

    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder), LAST)
        ways = {
            "command, csv": lambda: of_command(paths["csv"], trees),
            "command, parquet": lambda: of_command(paths["parquet"], trees),
            f"alone, {BLOCK} at a time": lambda: alone(paths["parquet"], trees, BLOCK),
            f"alone, {BATCH} at a time": lambda: alone(paths["parquet"], trees, BATCH),
        }
        seconds_by_way: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(options.runs):
            for way, seconds in ways.items():
                seconds_by_way[way].append(seconds() / (LAST - FIRST) * 1e6)
    least = min(seconds_by_way[f"alone, {BATCH} at a time"])
    for way, times in seconds_by_way.items():
        print(f"{way:22} {min(times):6.1f} µs per row, {least / min(times):.2f} as fast")


if __name__ == "__main__":
    main()
