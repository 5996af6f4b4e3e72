"""What experiment 3 costs: an active leaf, a training pixel, a picture predicted, the whole fringe.

    python -m benchmarks.depth_cost --out benchmarks/record/depth-cost.json

The paper's settings: 640x480, 25 trees, 2000 candidates, 10 split points, 20 classes, 1000 active leaves
in all. Learning is timed in CPU seconds of one thread, so that it can be measured on a busy machine too.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.depth_render import peak_resident_mb
from riparian import Geometric
from riparian.depth import DepthForestClassifier, sample_pixels
from riparian_experiments.body import PART_NAMES, Pictures, train_test_poses
from riparian_experiments.kinect import Settings

CLASSES = np.arange(len(PART_NAMES))
NEVER = Geometric(1e9, 1.01)  # an α that no leaf reaches
STAGES = (1, 10, 100, 500, 1000, 2000)  # pictures learned
LEAF_STAGES = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)  # pixels seen by one leaf


@dataclass(frozen=True)
class Stage:
    """The forest after n pictures, and the cost of learning them."""

    pictures: int
    pixels: int
    cpu_ms_per_pixel: float  # since the start, through all trees, on one thread
    last_cpu_ms_per_pixel: float  # since the stage before
    leaves: int
    active: int
    fringe_mb: float
    total_mb: float
    kb_per_active_leaf: float
    peak_resident_mb: float

    def __str__(self) -> str:
        return (
            f"{self.pictures:8} {self.pixels:10,} {self.cpu_ms_per_pixel:9.4f} "
            f"{self.last_cpu_ms_per_pixel:9.4f} {self.leaves:8} {self.active:7} "
            f"{self.fringe_mb:9.1f} {self.kb_per_active_leaf:9.1f} {self.peak_resident_mb:9.0f}"
        )


HEADER = (
    f"{'pictures':>8} {'pixels':>10} {'CPU ms/px':>9} {'last':>9} {'leaves':>8} {'active':>7} "
    f"{'fringe MB':>9} {'kB/leaf':>9} {'peak MB':>9}"
)


def stages(forest: DepthForestClassifier, pictures: Pictures) -> Iterator[Stage]:
    seconds = before = 0.0
    pixels = pixels_before = 0
    for i, (depth, parts) in enumerate(pictures):
        some, labels = sample_pixels(parts[None], Settings().per_class, random_state=i)
        start = time.process_time()
        forest.partial_fit(depth[None], some, labels, classes=CLASSES)
        seconds += time.process_time() - start
        pixels += len(labels)
        if i + 1 in (*STAGES, len(pictures)):
            stats, memory = forest.stats(), forest.memory()
            yield Stage(
                pictures=i + 1,
                pixels=pixels,
                cpu_ms_per_pixel=1e3 * seconds / pixels,
                last_cpu_ms_per_pixel=1e3 * (seconds - before) / (pixels - pixels_before),
                leaves=stats["leaves"],
                active=stats["active"],
                fringe_mb=memory["fringe"] / 1e6,
                total_mb=memory["total"] / 1e6,
                kb_per_active_leaf=memory["fringe"] / stats["active"] / 1e3,
                peak_resident_mb=peak_resident_mb(),
            )
            before, pixels_before = seconds, pixels


def leaf_bytes(pictures: Pictures) -> dict[int, int]:
    """Return what one active leaf holds after n pixels; it never splits."""
    settings = Settings()
    forest = DepthForestClassifier(
        1,
        candidate_dims=settings.common.candidates,
        alpha=NEVER,
        fringe_size=1,
        kept_points=0,  # a leaf that looks among kept points counts nothing yet
        random_state=0,
    )
    depths, pixels, labels = _samples(pictures, settings.per_class, LEAF_STAGES[-1])
    sizes, seen = {}, 0
    for stage in LEAF_STAGES:
        some = slice(seen, stage)
        forest.partial_fit(depths, pixels[some], labels[some], classes=CLASSES)
        seen = stage
        sizes[stage] = forest.memory()["fringe"]
    return sizes


def _samples(
    pictures: Pictures, per_class: int, count: int
) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.uint8]]:
    """Return the first pixels of as many pictures as are needed."""
    depths, parts = [], []
    for i in range(1 + count // (len(CLASSES) * per_class // 2)):
        depth, part = pictures[i]
        depths.append(depth)
        parts.append(part)
    pixels, labels = sample_pixels(np.stack(parts), per_class, random_state=0)
    return np.stack(depths), pixels[:count], labels[:count]


def predict_seconds(
    forest: DepthForestClassifier, pictures: Pictures, threads: int, repeats: int
) -> dict[str, float]:
    """Time predictions of whole pictures: fastest and median, wall time and processor time."""
    forest.n_jobs = threads
    wall, cpu = [], []
    for i in range(repeats):
        depth, _ = pictures[i]
        start, start_cpu = time.perf_counter(), time.process_time()
        forest.predict_image(depth)
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - start_cpu)
    return {
        "threads": threads,
        "min_seconds": min(wall),
        "median_seconds": float(np.median(wall)),
        "min_cpu_seconds": min(cpu),
        "median_cpu_seconds": float(np.median(cpu)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--poses", type=Path, help="motion capture; default: random poses")
    parser.add_argument("--pictures", type=int, default=2000, help="to learn")
    parser.add_argument("--repeats", type=int, default=20, help="pictures to predict")
    parser.add_argument("--out", type=Path, help="where the record goes; default: none is kept")
    options = parser.parse_args()

    settings = Settings()
    train, test = train_test_poses(options.poses, options.pictures, options.repeats)
    pictures = Pictures(train, settings.size)
    leaf = leaf_bytes(pictures)
    print("one active leaf, bytes by pixels seen:", leaf)
    forest = settings.ours.forest(settings.common, random_state=0, threads=1)
    print(HEADER)
    stages = []
    for stage in stages(forest, pictures):
        stages.append(stage)
        print(stage, flush=True)
    shown = Pictures(test, settings.size, seed=1)
    predicted = [predict_seconds(forest, shown, threads, options.repeats) for threads in (1, 2)]
    print("predict_image:", *predicted, sep="\n")
    if options.out:
        figures = {
            "poses": options.poses.name if options.poses else "random",
            "settings": asdict(settings.common) | asdict(settings.ours),
            "leaf_bytes_by_pixels": leaf,
            "stages": [asdict(stage) for stage in stages],
            "predict_image": predicted,
            "load_average": os.getloadavg(),  # above the number of cores, wall time is not reliable
        }
        record.write(options.out, "depth_cost", figures)


if __name__ == "__main__":
    main()
