"""Experiment 3 as a study: its cells, and the panels of its figure and table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean

from riparian_experiments.curves import Panel, curve_of
from riparian_experiments.kinect.learn import Task, one_forest
from riparian_experiments.kinect.settings import Method, Settings
from riparian_experiments.kinect.stream import PoseSource
from riparian_experiments.kinect.work import Work
from riparian_experiments.study import Cell, Row, Study


def study(
    settings: Settings,
    poses: PoseSource,
    work: Work,
    *,
    runs: int,
    methods: Sequence[Method] = tuple(Method),
    threads: int = 1,
    save_seconds: float = 300.0,
) -> Study:
    """Return the study; raise an error here, before any work, if the poses cannot be read."""
    poses.draw(settings)
    tasks = [
        Task(settings, poses, run, method, work, threads, save_seconds)
        for run in range(runs)
        for method in methods
    ]
    return Study(
        name="kinect",
        settings={"poses": poses.described(), **asdict(settings)},
        extent={"runs": runs, "forests": [str(method) for method in methods]},
        cells=[Cell({"run": task.run, "forest": str(task.method)}, task) for task in tasks],
        compute=one_forest,
        panels=panels,
        title="Body parts from depth images",
    )


def panels(rows: Sequence[Row]) -> list[Panel]:
    """Return panels of accuracy, memory, and memory as the paper counts it, by pixels learned."""
    rows = [{**row, **_memory(row)} for row in _aligned(rows)]
    shown = {
        "accuracy": ("accuracy on pixels of bodies", "Accuracy"),
        "memory": ("MB", "Memory of the forest"),
        "counted": ("leaves", "Leaves that have statistics, as the paper counts"),
    }
    return [
        Panel(
            [
                curve_of(rows, method.label, x="pixels", y=column, where={"forest": method})
                for method in methods_of(rows)
            ],
            x="training pixels",
            y=y,
            title=title,
            log_y=column != "accuracy",
        )
        for column, (y, title) in shown.items()
    ]


def methods_of(rows: Sequence[Row]) -> list[Method]:
    """Return the forests that have rows."""
    names = {row["forest"] for row in rows}
    return [method for method in Method if method in names]


def _aligned(rows: Sequence[Row]) -> list[Row]:
    """Move the ends of all runs to their mean: runs differ slightly in their number of pixels."""
    ends: dict[object, list[float]] = {}
    for row in rows:
        ends.setdefault(row["checkpoint"], []).append(float(row["pixels"]))
    return [{**row, "pixels": round(fmean(ends[row["checkpoint"]]))} for row in rows]


def _memory(row: Row) -> dict[str, float]:
    """Return the memory of the forest, and the leaves with statistics, by which the paper bounds it.
    The paper counts all of Saffari's leaves. Here, a leaf that is too deep to split has no statistics.
    """
    counted = row["leaves"] if row["forest"] == Method.SAFFARI else row["active"]
    return {"memory": float(row["total_bytes"]) / 1e6, "counted": float(counted)}
