"""The crash test of `riparian learn`: killed at random moments and resumed, it ends with the same model.

`fuzz/kills.py` runs it for long, `test_cli_checkpoint.py` briefly.
"""

from __future__ import annotations

import gzip
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

ROWS = 20_000
# So often that a good part of the kills meet one that is being written.
CHECKPOINTS = ("--checkpoint-every", "500")
AT_ONCE = 0.3  # of a run's learning, at the most, before it is killed

LEARN = [sys.executable, "-W", "error", "-m", "riparian.cli", "learn"]

WAYS = {
    "plain": ["t.csv"],
    "two passes, shuffled": ["t.csv", "--shuffle-window", "900", "--passes", "2"],
    "two packed files": ["a.csv.gz", "b.csv.gz", "--threads", "2"],
    "adaptive": ["t.csv", "--adaptive", "--drift-confidence", "0.5"],
    "late labels": ["t.csv", "--delay", "700", "--block", "300"],
    "few categories": ["t.csv", "--max-categories", "2"],
    "balanced, the paper's forest": ["t.csv", "--class-weight", "balanced", "--kept-points", "0"],
    "within a budget": ["t.csv", "--max-memory", "300KB", "--kept-points", "500"],
    "numbers": ["t.csv", "-t", "age"],
    "numbers, adaptive": ["t.csv", "-t", "age", "--adaptive", "--drift-confidence", "0.5"],
    "numbers, intervals": [
        "t.csv",
        "-t",
        "age",
        "--task",
        "numbers",
        "--adaptive",
        "--interval",
        "0.9",
        "--lag",
        "2",
    ],
    "numbers, late, two packed files": ["a.csv.gz", "b.csv.gz", "-t", "age", "--delay", "700"],
}


def write_stream(folder: Path, rows: int) -> None:
    """Numbers with gaps, text, a date and a label, as one file and as two packed ones."""
    rng = np.random.default_rng(1)
    kind = rng.integers(3, size=rows)
    width, age = rng.normal(kind, 1.0).round(3), rng.integers(50, size=rows) + 5 * kind
    city = np.array(["Oslo", "Rome", "Kyiv", 'the "old", one'])[
        (kind + rng.integers(2, size=rows)) % 4
    ]
    lines = [
        f'{"" if i % 9 == 0 else width[i]},{age[i]},"{city[i].replace(chr(34), chr(34) * 2)}",'
        f"2024-{1 + i % 12:02}-{1 + i % 28:02},{('ash', 'elm', 'oak')[kind[i]]}\n"
        for i in range(rows)
    ]
    header = "width,age,city,day,label\n"
    (folder / "t.csv").write_text(header + "".join(lines))
    for name, part in (("a", lines[: rows // 3]), ("b", lines[rows // 3 :])):
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress((header + "".join(part)).encode()))


def command(way: str, model: str, *more: str) -> list[str]:
    target = () if "-t" in WAYS[way] else ("-t", "label")
    return [*LEARN, *WAYS[way], *target, "-m", model, "--trees", "4", "--quiet", *more]


class Killer:
    """Runs one way of learning again and again, and kills it."""

    def __init__(self, folder: Path, way: str, rows: int = ROWS) -> None:
        self.folder, self.way = folder, way
        write_stream(folder, rows)
        self.run_whole("whole")
        self.expected = (folder / "whole").read_bytes()
        self.starting = self.run_whole("start", "--limit", "10")
        self.seconds = self.run_whole("timed", *CHECKPOINTS)

    def run_whole(self, model: str, *more: str) -> float:
        """Run without a kill; return the CPU seconds."""
        before = os.times()
        with (self.folder / "output").open("w") as output:
            subprocess.run(
                command(self.way, model, *more),
                cwd=self.folder,
                check=True,
                stdout=output,
                stderr=output,
            )
        after = os.times()
        return sum(after[2:4]) - sum(before[2:4])

    def run(self, draw: random.Random, most: int) -> tuple[int, bool]:
        """Kill the run up to `most` times; return the kills, and whether the model is the same."""
        kills = 0
        while True:
            go_on = ["--resume"] if (self.folder / "m.checkpoint").exists() else []
            longest = self.starting + AT_ONCE * (self.seconds - self.starting)
            after = draw.uniform(0.7 * self.starting, longest) if kills < most else float("inf")
            if not killed(command(self.way, "m", *CHECKPOINTS, *go_on), self.folder, after):
                break
            kills += 1
        model = self.folder / "m"
        same = model.exists() and model.read_bytes() == self.expected
        if same:
            model.unlink()
        return kills, same


def killed(command: Sequence[str], folder: Path, after: float) -> bool:
    """Start a command, and kill it after this many CPU seconds; return whether it was killed."""
    with (folder / "output").open("w") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
    while process.poll() is None:
        if cpu_seconds(process.pid) >= after:
            process.kill()
            break
        time.sleep(0.002)
    return process.wait() == -signal.SIGKILL


def cpu_seconds(pid: int) -> float:
    """Return the processor seconds of a process, which do not depend on the load of the machine."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid(3) makes it on Linux
    except OSError:  # it has just ended
        return 0.0
