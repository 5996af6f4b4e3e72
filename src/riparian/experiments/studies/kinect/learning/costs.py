"""What a run costs: seconds for each kind of work, and the memory of the process."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

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
