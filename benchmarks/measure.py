"""One measurement in a process of its own: a peer learns a stream and is judged. See compare.py.

    python -m benchmarks.measure JOB.json

It reads a `Job` and prints a `Measured`, both as JSON. Of the libraries that a peer may need, only numpy
is imported here, so that each peer pays for its own.

A model with one thread is timed in processor time, over all threads of the process, which other work of
the machine affects less. A model with more threads is timed in wall-clock time.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import PEERS, Labels, Model, Peer, Points, Rows, Task

BATCH = 1000  # points per call, for models that take batches
TURN = 100  # points between two readings of the clock, for models that do not
WARM_UP = 1.0  # seconds, by a model that is thrown away: what compiles itself has begun to then
LONE_PREDICTIONS = 100
PASSES = 15  # at most, over a stream that is learned in an instant; the middle one counts
WORTH_TIMING = 1.0  # seconds

Marks = list[tuple[int, float]]  # points learned, seconds so far


@dataclass(frozen=True)
class Job:
    peer: str
    stream: str  # file with X, y, X_test, y_test, as compare.py leaves it
    trees: int
    threads: int
    seed: int
    points: int  # learned at most
    seconds: float  # after which learning is given up
    cores: tuple[int, ...]  # that the process may use
    alone: bool  # whether points are also taken one at a time, each predicted before it is learned


@dataclass
class Timed:
    points: int = 0
    seconds: float = 0.0

    def add(self, points: int, seconds: float) -> None:
        self.points += points
        self.seconds += seconds


@dataclass
class Measured:
    learn: Timed = field(default_factory=Timed)  # in batches, if the model takes them
    learn_one: Timed = field(default_factory=Timed)
    predict: Timed = field(default_factory=Timed)
    predict_one: Timed = field(default_factory=Timed)
    finished: bool = True  # whether it learned all points
    marks: Marks = field(default_factory=list)
    held_out: float | None = None  # accuracy
    prequential: float | None = None
    resident_before: int = 0  # bytes of the process, after the library and the data were loaded
    resident_peak: int = 0  # and at most, until it had learned
    snapshot: int | None = None  # bytes


def measure(job: Job) -> Measured:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, job.cores)
    peer = PEERS[job.peer]
    with np.load(job.stream) as arrays:
        X, y = arrays["X"][: job.points], arrays["y"][: job.points]
        X_test, y_test = arrays["X_test"], arrays["y_test"]
    classes = np.arange(1 + max(y.max(), y_test.max()))
    task = Task(X.shape[1], classes, job.trees, job.threads, job.seed)
    clock.use(time.process_time if job.threads == 1 else time.perf_counter)
    warm_up(peer, task, X, y)

    measured = Measured()
    model = peer.model(task)
    forget_peak()
    measured.resident_before = resident()
    if peer.batches:
        size = len(y) if peer.offline else BATCH
        measured.marks = learn(model, X, y, size, job.seconds)
    else:
        learn_alone(model, X, y, job, measured)
    measured.resident_peak = resident_peak()
    kept = model.snapshot()
    measured.snapshot = None if kept is None else len(kept)
    judge(model, peer, X_test, y_test, job, measured)

    if peer.batches:
        again = [
            learn(other, X, y, size, job.seconds) for other in others(peer, task, measured.marks)
        ]
        measured.marks = typical([measured.marks, *again])
        if job.alone and peer.offline:
            predict_alone(model, X_test, y_test, measured)
        elif job.alone:
            learn_alone(peer.model(task), X, y, job, measured)
    measured.learn = Timed(*measured.marks[-1])
    measured.finished = measured.learn.points == len(y)
    return measured


def pieces(model: Model, X: Rows, y: Labels, size: int) -> Iterator[Points]:
    """Yield the points, n at a time; each piece is made when it is needed."""
    for first in range(0, len(y), size):
        yield model.points(X[first : first + size], y[first : first + size])


def warm_up(peer: Peer, task: Task, X: Rows, y: Labels) -> None:
    model = peer.model(task)
    learn(model, X[:BATCH], y[:BATCH], BATCH if peer.batches else 1, WARM_UP)
    model.predict(model.points(X[:1], y[:1]))


def learn(model: Model, X: Rows, y: Labels, size: int, seconds: float) -> Marks:
    """Learn n points at a time, until the seconds are over."""
    points, total = 0, 0.0
    marks = []
    for piece in pieces(model, X, y, size):
        total += timed(model.learn, piece)[0]
        points = min(points + size, len(y))
        marks.append((points, total))
        if total > seconds:
            break
    return marks


def others(peer: Peer, task: Task, marks: Marks) -> Iterator[Model]:
    """Learn with more models if the first was too fast for a reliable time."""
    for _ in range(min(PASSES, math.ceil(WORTH_TIMING / marks[-1][1])) - 1):
        yield peer.model(task)


def typical(passes: list[Marks]) -> Marks:
    """Return the median, the lower one of two."""
    return sorted(passes, key=lambda marks: marks[-1][1])[(len(passes) - 1) // 2]


def learn_alone(model: Model, X: Rows, y: Labels, job: Job, measured: Measured) -> None:
    """Learn point by point; on request, predict each point but the first before it is learned."""
    right = 0
    marks = []
    for i, point in enumerate(pieces(model, X, y, 1)):
        if job.alone and i > 0:
            seconds, answer = timed(model.predict, point)
            measured.predict_one.add(1, seconds)
            right += int(answer[0] == y[i])
        seconds, _ = timed(model.learn, point)
        measured.learn_one.add(1, seconds)
        if (i + 1) % BATCH == 0:
            marks.append((i + 1, measured.learn_one.seconds))
        if measured.learn_one.seconds + measured.predict_one.seconds > job.seconds:
            break
    if measured.predict_one.points:
        measured.prequential = right / measured.predict_one.points
    if not measured.marks:  # the model has no other method to learn
        measured.marks = [*marks, (measured.learn_one.points, measured.learn_one.seconds)]


def judge(model: Model, peer: Peer, X: Rows, y: Labels, job: Job, measured: Measured) -> None:
    right = 0
    size = len(y) if peer.batches else TURN
    for first, points in zip(range(0, len(y), size), pieces(model, X, y, size), strict=True):
        seconds, answers = timed(model.predict, points)
        if peer.batches:  # the first may have to start threads or fetch memory
            seconds = sorted([seconds, *(timed(model.predict, points)[0] for _ in range(4))])[2]
        measured.predict.add(len(answers), seconds)
        right += int((answers == y[first : first + size]).sum())
        if measured.predict.seconds > job.seconds:
            break
    measured.held_out = right / measured.predict.points


def predict_alone(model: Model, X: Rows, y: Labels, measured: Measured) -> None:
    for point in pieces(model, X[:LONE_PREDICTIONS], y[:LONE_PREDICTIONS], 1):
        measured.predict_one.add(1, timed(model.predict, point)[0])


class Clock:
    """Return seconds, by the clock of the job."""

    now: Callable[[], float] = staticmethod(time.perf_counter)

    def use(self, now: Callable[[], float]) -> None:
        self.now = now  # type: ignore[method-assign]


clock = Clock()


def timed(work: Callable[[Points], Any], points: Points) -> tuple[float, Any]:
    now = clock.now
    start = now()
    result = work(points)
    return now() - start, result


# -- memory of this process ------------------------------------------------------------------------


def forget_peak() -> None:
    """Reset the peak memory, where the system can (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def resident() -> int:
    return status("VmRSS") or peak_ever()


def resident_peak() -> int:
    return status("VmHWM") or peak_ever()


def status(name: str) -> int | None:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    return None


def peak_ever() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    print(json.dumps(asdict(measure(Job(**json.loads(Path(sys.argv[1]).read_text()))))), flush=True)
    os._exit(0)  # threads that a library has left behind would keep the process
