"""The paper's remark on a third stream (section 3): leaving points out hurts.

Each tree ignores a share of the points, different points in each tree. The trees then differ more, but
each of them learns less. The other two streams share the rest equally.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from riparian.streams import GaussianMixture
from riparian_experiments import consistency
from riparian_experiments.consistency import KINDS, STREAM, TEST
from riparian_experiments.curves import Panel, curve_of
from riparian_experiments.excess import Yardstick, excess_along
from riparian_experiments.study import Cell, Row, Study

LEARNING = replace(consistency.Settings(), sizes=(100, 300, 1000, 3000, 10_000, 30_000, 100_000))


@dataclass(frozen=True)
class Settings:
    """The settings: the forest of the study of consistency, with an unbounded fringe."""

    ignored: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    learning: consistency.Settings = LEARNING


RUNS, QUICK_RUNS = 10, 2
QUICK = Settings(ignored=(0.0, 0.5), learning=consistency.QUICK)


@dataclass(frozen=True)
class Task:
    """One stream, of which each tree ignores a share."""

    settings: consistency.Settings
    ignored: float
    run: int


def study(settings: Settings, runs: int) -> Study:
    return Study(
        name="third-stream",
        settings=asdict(settings),
        extent={"runs": runs},
        cells=[
            Cell({"ignored": ignored, "run": run}, Task(settings.learning, ignored, run))
            for ignored in settings.ignored
            for run in range(runs)
        ],
        compute=one_run,
        panels=panels,
        title="Excess error over Bayes when each tree ignores a share of the points",
    )


def one_run(task: Task) -> list[Row]:
    """Learn the paper's mixture; the stream is the same for every share."""
    settings, mixture = task.settings, GaussianMixture.paper()
    yardstick = Yardstick.of(
        mixture, settings.test_points, np.random.default_rng([settings.seed, TEST])
    )
    rng = np.random.default_rng([settings.seed, STREAM, task.run])
    forest = settings.forest(int(rng.integers(2**32))).set_params(
        structure_fraction=(1 - task.ignored) / 2, ignore_fraction=task.ignored
    )
    return [
        asdict(excess) for excess in excess_along(mixture, forest, settings.sizes, yardstick, rng)
    ]


def panels(rows: Sequence[Row]) -> list[Panel]:
    """Return panels of the forest and of its mean tree, with one curve per share."""
    shares = sorted({float(row["ignored"]) for row in rows})
    return [
        Panel(
            [
                curve_of(rows, f"{share:.0%} ignored", x="points", y=kind, where={"ignored": share})
                for share in shares
            ],
            x="points learned",
            y="excess error",
            title=title,
            log_y=True,
        )
        for kind, title in KINDS.items()
    ]
