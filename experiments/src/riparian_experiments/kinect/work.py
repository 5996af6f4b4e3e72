"""The folder next to the results for what cells write besides their rows: costs, examples, progress.

A forest of the full size takes hours to learn and gigabytes to hold, so a run that is killed continues
from its last save. That file is a pickle that only this program writes and reads; it exists only while
its run is under way.
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
    """Its files, by cell."""

    folder: Path

    def progress(self, run: int, method: Method) -> Path:
        """A forest that is being learned; removed when its cell is done."""
        return self.folder / f"run{run}-{method}.pickle"

    def examples(self, method: Method) -> Path:
        """The first test pictures, as the forest of the first run sees them."""
        return self.folder / f"examples-{method}.npz"

    def keep_costs(self, run: int, method: Method, rows: Sequence[Row]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._costs(run, method), json.dumps(list(rows)).encode())

    def costs(self, run: int, method: str) -> list[Row]:
        """The costs of a cell; none if the folder was not kept."""
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
        """Note the memory that the process holds now."""
        self.resident = max(self.resident, resident_bytes())

    def row(self) -> dict[str, float]:
        return {
            **{f"{kind}_seconds": round(self.seconds[kind], 2) for kind in KINDS},
            **{f"{kind}_cpu_seconds": round(self.cpu_seconds[kind], 2) for kind in KINDS},
            "resident_mb": round(self.resident / 1e6, 1),
        }


def resident_bytes() -> int:
    """What the process holds now; on systems that do not say, the most it has held so far."""
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
    of_next: int = 0  # pixels of the next picture that are learned already
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
    """The progress of the same run, saved by the same version; else None."""
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
