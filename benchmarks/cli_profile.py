"""Measure where `riparian learn --no-eval` spends its time, and how much memory it holds.

    python -m benchmarks.cli_profile --out benchmarks/record/cli-profile.json

Each run is the real command in a separate process, including imports; functions are timed from within.
Numbers in the files have four decimals. Reading and encoding run in a thread next to the core. "rest"
is the remaining time: starting Python, cutting and stacking blocks, waiting for the reader. Seconds are
wall-clock seconds; on a shared machine, the core's share of the main thread's processor time is more
reliable, if the core has no other thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks import record

COLUMNS = 20
CLASSES = 5
WRITTEN_AT_A_TIME = 100_000

# Run in the process of the command: every function that is listed counts the seconds spent in it.
PROGRAM = """
import functools, importlib, json, os, resource, sys, time

spent = dict.fromkeys(["import", "core", "core_cpu", "read", "encode", "save"], 0.0)
peak = {}

def peak_so_far(label):
    bytes_ = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    peak.setdefault(label, bytes_)

def timed(label, module, owner, name):
    owner = getattr(importlib.import_module(module), owner) if owner else importlib.import_module(module)
    function = getattr(owner, name)

    @functools.wraps(function)
    def run(*args, **kwargs):
        if label == "save":
            peak_so_far("peak_learning")
        start, cpu = time.perf_counter(), time.thread_time()
        try:
            return function(*args, **kwargs)
        finally:
            spent[label] += time.perf_counter() - start
            if label == "core":
                spent["core_cpu"] += time.thread_time() - cpu

    setattr(owner, name, run)

def timed_batches(module, owner):
    owner = getattr(importlib.import_module(module), owner)
    batches = owner.batches

    def run(self, *args):
        found = batches(self, *args)
        while True:
            start = time.perf_counter()
            batch = next(found, None)
            spent["read"] += time.perf_counter() - start
            if batch is None:
                return
            yield batch

    owner.batches = run

start = time.perf_counter()
import riparian.cli.app, riparian.cli.commands.learn, riparian.cli.learning.run
spent["import"] = time.perf_counter() - start
timed("core", "riparian.engine.native", "NativeEngine", "learn")
timed("encode", "riparian.table.table", "TableColumns", "points")
timed("encode", "riparian.table.target", "Target", "labels")
timed("save", "riparian.cli.model_file", None, "model_bytes")
timed("save", "riparian.cli.learning.checkpoint", None, "write_file")
timed_batches("riparian.sources.csv", "CsvSource")
timed_batches("riparian.sources.parquet", "ParquetSource")
out = sys.argv.pop(1)
try:
    riparian.cli.app.app(prog_name="riparian")
finally:
    peak_so_far("peak")
    with open(out, "w") as file:
        json.dump({**spent, **peak, "cpu": time.thread_time()}, file)
    sys.stdout.flush()
    os._exit(0)  # as the command itself ends
"""


@dataclass(frozen=True)
class Row:
    """The seconds of one run of the command, by function."""

    format: str
    rows: int
    threads: int
    file_bytes: int
    seconds: float  # from the start of the process to its end
    core: float  # learning, in the native engine
    read: float
    encode: float
    save: float
    imports: float
    cpu_seconds: float  # of the main thread
    core_cpu_seconds: float  # of these
    peak_learning_bytes: int  # of the process, before it saved the model
    peak_bytes: int  # of the process
    forest_bytes: int  # of the forest, at the end

    @property
    def share(self) -> float:
        return self.core / self.seconds

    @property
    def cpu_share(self) -> float:
        return self.core_cpu_seconds / self.cpu_seconds

    @property
    def cells(self) -> list[str]:
        rest = self.seconds - self.core - self.save - self.imports
        seconds = (self.seconds, self.core, self.read, self.encode, self.save, self.imports, rest)
        return [
            self.format, f"{self.rows:,}", f"{self.threads}", f"{self.file_bytes / 1e6:.0f}",
            *(f"{s:.2f}" for s in seconds), f"{self.share:.0%}",
            f"{self.cpu_share:.0%}" if self.threads == 1 else "", f"{self.forest_bytes / 1e6:.0f}",
            f"{(self.peak_learning_bytes - self.forest_bytes) / 1e6:.0f}",
            f"{self.peak_bytes / 1e6:.0f}",
        ]  # fmt: skip


HEADER = ["file", "rows", "threads", "MB", "seconds", "core", "(read)", "(encode)", "save", "imports",
          "rest", "core share", "of CPU", "forest MB", "other MB", "peak MB"]  # fmt: skip


def write_files(folder: Path, rows: int) -> dict[str, Path]:
    """Write the same table as CSV and as Parquet, piece by piece."""
    paths = {name: folder / f"{rows}.{name}" for name in ("csv", "parquet")}
    schema = pa.schema([*((f"x{i}", pa.float64()) for i in range(COLUMNS)), ("label", pa.int64())])
    rng = np.random.default_rng(0)
    means = rng.normal(size=(CLASSES, COLUMNS))
    with (
        pyarrow.csv.CSVWriter(str(paths["csv"]), schema) as csv,
        pyarrow.parquet.ParquetWriter(str(paths["parquet"]), schema) as parquet,
    ):
        for first in range(0, rows, WRITTEN_AT_A_TIME):
            n = min(WRITTEN_AT_A_TIME, rows - first)
            y = rng.integers(CLASSES, size=n)
            X = np.round(rng.normal(means[y], 1.5), 4)
            table = pa.table([*X.T, y], schema=schema)
            csv.write_table(table)
            parquet.write_table(table)
    return paths


def measure(path: Path, rows: int, threads: int, trees: int) -> Row:
    model, out = path.with_suffix(".riparian"), path.with_suffix(".json")
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, out, "learn", path, "-t", "label", "-m", model, "--no-eval",
         "--trees", str(trees), "--threads", str(threads), "--json"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    seconds = time.perf_counter() - start
    spent: dict[str, Any] = json.loads(out.read_text())
    return Row(
        format=path.suffix[1:],
        rows=rows,
        threads=threads,
        file_bytes=path.stat().st_size,
        seconds=seconds,
        core=spent["core"],
        read=spent["read"],
        encode=spent["encode"],
        save=spent["save"],
        imports=spent["import"],
        cpu_seconds=spent["cpu"],
        core_cpu_seconds=spent["core_cpu"],
        peak_learning_bytes=spent["peak_learning"],
        peak_bytes=spent["peak"],
        forest_bytes=json.loads(done.stdout)["forest"]["memory"]["total"],
    )


def as_markdown(rows: list[Row], trees: int) -> str:
    lines = [
        "# Where `riparian learn --no-eval` spends its time",
        "",
        f"{COLUMNS} columns with four decimals, {trees} trees with the defaults; seconds of the whole",
        "process. Made by `python -m benchmarks.cli_profile`; machine, versions and commit are in",
        "`cli-profile.json`.",
        "",
        f"| {' | '.join(HEADER)} |",
        f"|{'---|' * len(HEADER)}",
        *(f"| {' | '.join(row.cells)} |" for row in rows),
        "",
        "other MB: the peak of the process while it learned, less the forest; it does not grow",
        "with the file. The peak at the end is when the model is made into bytes and written. Others",
        "used the machine too: the record says how busy it was.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 2_000_000])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument(
        "--out", type=Path, help="where the record goes, with a table in .md next to it"
    )
    options = parser.parse_args()

    runs = []
    print(*HEADER, sep="\t")
    with tempfile.TemporaryDirectory() as folder:
        for rows in options.rows:
            for path in write_files(Path(folder), rows).values():
                for threads in options.threads:
                    row = measure(path, rows, threads, options.trees)
                    runs.append(row)
                    print(*row.cells, sep="\t", flush=True)
                path.unlink()
    if options.out:
        figures = [
            {**asdict(row), "core_share": row.share, "core_cpu_share": row.cpu_share}
            for row in runs
        ]
        settings = {
            "trees": options.trees,
            "pyarrow": pa.__version__,
            "load_average": os.getloadavg(),  # above the number of cores, wall time is not reliable
        }
        record.write(options.out, "cli profile", {**settings, "runs": figures})
        options.out.with_suffix(".md").write_text(as_markdown(runs, options.trees))


if __name__ == "__main__":
    main()
