"""A study that takes no time, for tests of what all studies have in common."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from riparian_experiments.curves import Panel, curve_of
from riparian_experiments.study import Cell, Row, Study

SIZES = (10, 100)


@dataclass(frozen=True)
class Task:
    run: int
    offset: float
    seconds: float = 0.0  # that it takes
    log: str = ""  # a folder that gets a file for each computation
    fails: bool = False
    dies: bool = False


def compute(task: Task) -> list[Row]:
    if task.log:
        (Path(task.log) / f"{task.run}-{os.getpid()}-{time.monotonic_ns()}").touch()
    time.sleep(task.seconds)
    if task.dies:
        os.kill(os.getpid(), signal.SIGKILL)
    if task.fails:
        raise RuntimeError("this run fails")
    return [{"points": n, "accuracy": 1 - (task.offset + task.run) / n} for n in SIZES]


def panels(rows: Sequence[Row]) -> list[Panel]:
    return [Panel([curve_of(rows, "all", x="points", y="accuracy")], lines={"best": 1.0})]


def study(
    runs: int = 4,
    offset: float = 0.1,
    seconds: float = 0.0,
    log: str = "",
    failing: int | None = None,
    dying: int | None = None,
) -> Study:
    tasks = [
        Task(run, offset, seconds, log, fails=run == failing, dies=run == dying)
        for run in range(runs)
    ]
    return Study(
        name="small",
        settings={"offset": offset, "sizes": SIZES},
        extent={"runs": runs},
        cells=[Cell({"run": task.run}, task) for task in tasks],
        compute=compute,
        panels=panels,
        title="A small study",
    )
