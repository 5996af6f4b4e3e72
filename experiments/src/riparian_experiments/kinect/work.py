"""The folder, next to the results, for what cells write besides rows: costs, examples, progress.

A forest of the full size takes hours to learn and gigabytes of memory, so a run that is killed continues
from its last save. That file is a pickle that only this program writes and reads; it exists only during
its run.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import riparian
from riparian.tools.files import whole_file, write_whole
from riparian_experiments.kinect.settings import Method
from riparian_experiments.study import Row


@dataclass(frozen=True)
class Work:
    """The files of the folder, by cell."""

    folder: Path

    def progress(self, run: int, method: Method) -> Path:
        """Return the file of an unfinished forest; it is removed when the cell is done."""
        return self.folder / f"run{run}-{method}.pickle"

    def examples(self, method: Method) -> Path:
        """Return the file of predictions on the first test pictures, by the forest of the first run."""
        return self.folder / f"examples-{method}.npz"

    def keep_costs(self, run: int, method: Method, rows: Sequence[Row]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._costs(run, method), json.dumps(list(rows)).encode())

    def costs(self, run: int, method: str) -> list[Row]:
        """Return the costs of a cell; none if the folder was deleted."""
        file = self._costs(run, method)
        return list(json.loads(file.read_text())) if file.exists() else []

    def forget(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _costs(self, run: int, method: str) -> Path:
        return self.folder / f"run{run}-{method}-costs.json"


KINDS = ("render", "learn", "judge", "save")


@dataclass
class Costs:
    """Sums since the beginning of a run, over all its processes."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))
    cpu_seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))
    resident: int = 0  # bytes: the most seen so far, not counting saves

    @contextmanager
    def spent_on(self, kind: str) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.seconds[kind] += time.perf_counter() - wall
        self.cpu_seconds[kind] += time.process_time() - cpu

    def look(self) -> None:
        """Record the memory that the process uses now."""
        self.resident = max(self.resident, resident_bytes())

    def row(self) -> dict[str, float]:
        return {
            **{f"{kind}_seconds": round(self.seconds[kind], 2) for kind in KINDS},
            **{f"{kind}_cpu_seconds": round(self.cpu_seconds[kind], 2) for kind in KINDS},
            "resident_mb": round(self.resident / 1e6, 1),
        }


def resident_bytes() -> int:
    """Return the memory of the process now or, if the system does not report it, at its peak."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@dataclass
class Progress:
    """The state of a run."""

    forest: Any
    pictures: int = 0  # learned completely
    pixels: int = 0  # learned, including those of the next picture
    of_next: int = 0  # pixels learned of the next picture
    rows: list[Row] = field(default_factory=list)
    costs: Costs = field(default_factory=Costs)
    cost_rows: list[Row] = field(default_factory=list)  # one per row of `rows`


def save(file: Path, of: object, progress: Progress) -> None:
    """Replace the file as a whole. `of` identifies the run."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as target:
        pickle.dump((riparian.__version__, of), target)
        pickle.dump(progress, target, protocol=5)


def load(file: Path, of: object) -> Progress | None:
    """Return the saved progress of the same run by the same version, or None."""
    if not file.exists():
        return None
    with file.open("rb") as source:
        try:
            saved_by = pickle.load(source)
        except ImportError:  # a version that had these classes in other modules
            return None
        if saved_by != (riparian.__version__, of):
            return None
        progress: Progress = pickle.load(source)
    return progress
