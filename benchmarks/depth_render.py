"""How fast pictures of bodies are rendered: pairs of depth and parts per second, on one core.

    python -m benchmarks.depth_render --out benchmarks/record/depth-render.json

Each pair is of another pose, build and view. Drawing the pose is part of the time, as it is in an
experiment that renders what it needs when it needs it; poses of motion capture are read before.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import record
from riparian_experiments.body import Pictures, Pose, train_test_poses

SIZES = ((320, 240), (640, 480))


@dataclass(frozen=True)
class Row:
    width: int
    height: int
    pairs: int
    pairs_per_second: float  # of the fastest repeat
    median_pairs_per_second: float
    pairs_per_cpu_second: float  # of the repeat that took the least: what an idle core would do
    body_share: float  # of all pixels
    peak_resident_mb: float  # of the process, after this row

    def __str__(self) -> str:
        return (
            f"{self.width:5} x {self.height:<5} {self.pairs:6} {self.pairs_per_second:9.1f} "
            f"{self.median_pairs_per_second:9.1f} {self.pairs_per_cpu_second:9.1f} "
            f"{self.body_share:8.3f} {self.peak_resident_mb:9.1f}"
        )


HEADER = (
    f"{'size':13} {'pairs':>6} {'pairs/s':>9} {'median':>9} {'CPU s':>9} {'body':>8} {'peak MB':>9}"
)


def measure(poses: Sequence[Pose], size: tuple[int, int], repeats: int) -> Row:
    pictures = Pictures(poses, size)
    body = sum(float((parts > 0).mean()) for _, parts in pictures) / len(pictures)
    seconds, cpu_seconds = zip(*(timed(pictures) for _ in range(repeats)), strict=True)
    return Row(
        *size,
        pairs=len(pictures),
        pairs_per_second=len(pictures) / min(seconds),
        median_pairs_per_second=len(pictures) / statistics.median(seconds),
        pairs_per_cpu_second=len(pictures) / min(cpu_seconds),
        body_share=body,
        peak_resident_mb=peak_resident_mb(),
    )


def timed(pictures: Pictures) -> tuple[float, float]:
    """Return wall seconds and processor seconds for all pictures."""
    start, cpu_start = time.perf_counter(), time.process_time()
    for _ in pictures:
        pass
    return time.perf_counter() - start, time.process_time() - cpu_start


def peak_resident_mb() -> float:
    """Return the peak memory as Linux counts it, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--poses", type=Path, help="motion capture; default: the built-in generator"
    )
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, help="where the record goes; default: none is kept")
    options = parser.parse_args()

    before = peak_resident_mb()
    start = time.perf_counter()
    poses, _ = train_test_poses(options.poses, options.pairs, 0)
    reading = time.perf_counter() - start
    print(HEADER)
    rows = []
    for size in SIZES:
        rows.append(measure(poses, size, options.repeats))
        print(rows[-1], flush=True)
    if options.out:
        figures = {
            "poses": options.poses.name if options.poses else "random",
            "read_seconds": reading,
            "peak_resident_mb_before": before,
            "rows": [asdict(row) for row in rows],
        }
        record.write(options.out, "depth_render", figures)


if __name__ == "__main__":
    main()
