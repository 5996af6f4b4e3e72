"""One forest of one run: it learns one picture after the other, and is tested at the checkpoints."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from riparian_experiments.body import PART_NAMES
from riparian_experiments.kinect.examples import save_examples
from riparian_experiments.kinect.judging import accuracies, confusion
from riparian_experiments.kinect.settings import Method, Settings
from riparian_experiments.kinect.stream import (
    FOREST,
    PoseSource,
    Sample,
    TrainingStream,
    pictures_to_test_on,
    seed,
)
from riparian_experiments.kinect.work import Progress, Work, load, save
from riparian_experiments.study import Row


@dataclass(frozen=True)
class Task:
    """One forest, on the stream of one run."""

    settings: Settings
    poses: PoseSource
    run: int
    method: Method
    work: Work
    threads: int = 1
    save_seconds: float = 300.0  # between two saves of the forest

    def new_forest(self) -> Any:
        random_state = seed(self.settings, FOREST, self.run)
        return self.method.of(self.settings).forest(
            self.settings.common, random_state, self.threads
        )

    def identity(self) -> tuple[Any, ...]:
        """Return everything that the progress depends on."""
        return self.settings, self.poses.described(), self.run, self.method


def one_forest(task: Task) -> list[Row]:
    """Return the scores of the forest at each checkpoint; the last one uses all test pictures."""
    file = task.work.progress(task.run, task.method)
    progress = load(file, task.identity()) or Progress(task.new_forest())
    progress.forest.n_jobs = task.threads
    stream = TrainingStream(task.poses, task.settings, task.run)
    saved = time.monotonic()
    while progress.pictures < len(stream) and _checkpoint(task, progress):
        with progress.costs.spent_on("render"):
            sample = stream[progress.pictures]
        _learn_sample(task, progress, sample)
        if time.monotonic() - saved >= task.save_seconds:
            with progress.costs.spent_on("save"):
                save(file, task.identity(), progress)
            saved = time.monotonic()
    if _checkpoint(task, progress):  # the stream ended before the last one
        _judge_at_the_end(task, progress)
    task.work.keep_costs(task.run, task.method, progress.cost_rows)
    if task.run == 0:
        pictures = pictures_to_test_on(task.poses, task.settings)
        save_examples(task.work.examples(task.method), progress.forest, pictures)
    file.unlink(missing_ok=True)
    return progress.rows


def _checkpoint(task: Task, progress: Progress) -> int | None:
    """Return the next checkpoint, or None after the last."""
    rest = task.settings.checkpoints[len(progress.rows) :]
    return rest[0] if rest else None


def _learn_sample(task: Task, progress: Progress, sample: Sample) -> None:
    """Learn the rest of a picture, in pieces that end at checkpoints."""
    while progress.of_next < len(sample.parts):
        checkpoint = _checkpoint(task, progress)
        if checkpoint is None:
            return
        piece = slice(progress.of_next, progress.of_next + checkpoint - progress.pixels)
        pixels, parts = sample.pixels[piece], sample.parts[piece]
        with progress.costs.spent_on("learn"):
            progress.forest.partial_fit(
                sample.depth, pixels, parts, classes=np.arange(len(PART_NAMES))
            )
        progress.costs.look()
        progress.of_next += len(parts)
        progress.pixels += len(parts)
        if progress.pixels == checkpoint:
            _judge(task, progress, last=checkpoint == task.settings.checkpoints[-1])
    progress.pictures += 1
    progress.of_next = 0


def _judge_at_the_end(task: Task, progress: Progress) -> None:
    if progress.rows and progress.rows[-1]["pixels"] == progress.pixels:
        del progress.rows[-1], progress.cost_rows[-1]  # these used only a few of the pictures
    _judge(task, progress, last=True)


def _judge(task: Task, progress: Progress, *, last: bool) -> None:
    """Add a row with the accuracy and the size of the forest, and one with its costs so far."""
    pictures = pictures_to_test_on(task.poses, task.settings)
    few = min(len(pictures), task.settings.test_on_the_way)
    count = len(pictures) if last else few
    with progress.costs.spent_on("judge"):
        on_few = confusion(progress.forest, (pictures[i] for i in range(few)))
        confused = on_few + confusion(progress.forest, (pictures[i] for i in range(few, count)))
    progress.costs.look()
    stats, memory = progress.forest.stats(), progress.forest.memory()
    row: Row = {
        "checkpoint": _checkpoint(task, progress) or 0,
        "pixels": progress.pixels,
        "test_pictures": count,
        "test_pixels": int(confused.sum()),
        "accuracy_on_some": accuracies(on_few)["accuracy"],  # the same pictures in all rows
        **accuracies(confused),
        **{name: stats[name] for name in ("leaves", "active", "depth")},
        **{f"{kind}_bytes": size for kind, size in memory.items()},
    }
    progress.rows.append(row)
    progress.cost_rows.append({"pixels": progress.pixels, **progress.costs.row()})
    _report(task, row, progress)


def _report(task: Task, row: Row, progress: Progress) -> None:
    """Print a line of progress."""
    seconds = sum(progress.costs.seconds.values())
    print(
        f"run {task.run}, {task.method.label}: {row['pixels']:,} pixels, "
        f"accuracy {row['accuracy']:.4f}, {int(row['total_bytes']) / 1e6:,.0f} MB, {seconds:,.0f} s",
        file=sys.stderr,
        flush=True,
    )
