"""One measurement of `numbers.py` in a process of its own: an engine predicts the numbers of a set.

    python -m benchmarks.number_cell JOB.json

It reads a `Job` and prints a `Measured`, both as JSON. Time is the processor's, over all threads of the
process, so a busy machine disturbs it little.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.number_sets import SHARE_TO_LEARN, NumberSet, load
from benchmarks.peers import NO_CLASSES, REGRESSORS, Answers, Task

BLOCK = 500  # rows whose squared errors are added up, and between two looks at the clock

ALONG, OFFLINE = "along", "offline"  # test-then-train; or 70 % learned in one pass, 30 % judged


@dataclass(frozen=True)
class Job:
    study: str
    peer: str
    trees: int
    set: str
    seed: int
    rows: int | None  # of the set, from its beginning; None: all
    seconds: float  # of the processor, after which it is stopped
    data: str | None

    @property
    def folder(self) -> Path | None:
        return Path(self.data) if self.data else None


@dataclass(frozen=True)
class Measured:
    squares: list[float]  # sums of squared errors, of each block of the rows that are judged
    judged: int  # rows; the first row of a stream is not, since no engine can know anything
    seconds: float  # of the processor
    deviation: float  # of the target; squared errors are in units of its square
    finished: bool


def measure(job: Job) -> Measured:
    given = load(job.set, job.rows, job.seed, job.folder)
    peer = REGRESSORS[job.peer]
    task = Task(given.X.shape[1], NO_CLASSES, job.trees, seed=job.seed)
    model: Any = peer.model(task)
    study = {ALONG: along, OFFLINE: offline}[job.study]
    return study(model, given, job.seconds)


def along(model: Any, given: NumberSet, limit: float) -> Measured:
    """Predict and then learn each row, until the end or the limit of time."""
    squares: list[float] = []
    judged, total = 0, 0.0
    for first in range(0, len(given.y), BLOCK):
        y = given.y[first : first + BLOCK]
        seconds, answers = timed(
            model.test_then_train, model.points(given.X[first : first + BLOCK], y)
        )
        total += seconds
        errors = (y - answers)[1 if first == 0 else 0 :]
        squares.append(float(errors @ errors))
        judged += len(errors)
        if total > limit:
            break
    return Measured(squares, judged, total, given.deviation, judged == len(given.y) - 1)


def offline(model: Any, given: NumberSet, limit: float) -> Measured:
    """Learn the first part of the rows, and judge the rest. There is no limit of time."""
    cut = round(len(given.y) * SHARE_TO_LEARN)
    seconds, _ = timed(model.learn, model.points(given.X[:cut], given.y[:cut]))
    answers = model.predict(model.points(given.X[cut:], given.y[cut:]))
    errors = given.y[cut:] - answers
    return Measured([float(errors @ errors)], len(errors), seconds, given.deviation, True)


def timed(work: Callable[[Any], Answers], points: Any) -> tuple[float, Answers]:
    start = time.process_time()
    answers = work(points)
    return time.process_time() - start, answers


if __name__ == "__main__":
    measured = measure(Job(**json.loads(Path(sys.argv[1]).read_text())))
    if not np.isfinite(measured.squares).all():
        raise SystemExit(f"a prediction is not a finite number: {measured}")
    print(json.dumps(asdict(measured)), flush=True)
    os._exit(0)  # threads that a library has left behind would keep the process
