"""Measure consistency: the excess error of trees and forests over Bayes, by points learned.

The theorem says that it goes to 0, for every tree and so for the forest, with and without a bound on the
fringe, and also if young leaves look among kept points. The problems are mixtures of Gaussians in 2, 5
and 10 dimensions, and one with noisy labels; α grows (`riparian.theory.check_schedule`). All conditions
hold but one: the density of a Gaussian is not bounded from below on the whole space, only on bounded
parts of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from riparian import Geometric, OnlineForestClassifier
from riparian.streams import GaussianMixture, NoisyLabels, Stream
from riparian_experiments.curves import Curve, Panel, curve_of
from riparian_experiments.excess import Yardstick, excess_along, fitted_rate
from riparian_experiments.study import Cell, Row, Study

TEST, STREAM = 0, 1  # purposes of random generators


def spiral(n_dims: int) -> GaussianMixture:
    """Return a mixture of three classes whose means differ less in each further dimension."""
    dims = np.arange(n_dims)
    means = [1.5 * np.cos(2 * np.pi * k / 3 + 2.4 * dims) * 0.85**dims for k in range(3)]
    return GaussianMixture(
        weights=np.array([0.4, 0.35, 0.25]),
        means=np.array(means),
        covariances=np.tile(np.eye(n_dims), (3, 1, 1)),
    )


PROBLEMS: Mapping[str, Stream] = {
    "2 dimensions": GaussianMixture.paper(),
    "5 dimensions": spiral(5),
    "10 dimensions": spiral(10),
    "2 dimensions, a fifth of the labels wrong": NoisyLabels(GaussianMixture.paper(), flip=0.2),
}
# The forests that learn each problem, by the parameters that differ from the settings.
FORESTS: Mapping[str, Mapping[str, Any]] = {
    "unbounded": {"fringe_size": None},
    "fringe 100": {"fringe_size": 100},
    "fringe 10": {"fringe_size": 10},
    "kept points": {"fringe_size": None, "kept_points": 20_000},
}


@dataclass(frozen=True)
class Settings:
    """The settings of a run."""

    sizes: tuple[int, ...] = tuple(round(10 ** (2 + i / 3)) for i in range(13))  # to 10^6
    fit_from: int = 1000  # the rate is fitted to the sizes from here on
    trees: int = 25
    split_points: int = 10  # m
    min_gain: float = 0.5  # τ
    alpha_start: float = 1.0  # α(d) = start · rate^d
    alpha_rate: float = 1.2
    beta: float = 20.0  # β(d) = 20 α(d)
    test_points: int = 20_000
    seed: int = 0

    def forest(self, random_state: int) -> OnlineForestClassifier:
        return OnlineForestClassifier(
            self.trees,
            split_points=self.split_points,
            min_gain=self.min_gain,
            alpha=Geometric(self.alpha_start, self.alpha_rate),
            beta=self.beta,
            kept_points=0,
            eager=False,
            max_memory=None,
            voting="majority",
            random_state=random_state,
        )


RUNS, QUICK_RUNS = 4, 2
QUICK = replace(
    Settings(), sizes=(100, 300, 1000, 3000, 10_000, 30_000), trees=10, test_points=5000
)


@dataclass(frozen=True)
class Task:
    """One stream, learned by one of the forests."""

    settings: Settings
    problem: str
    forest: str
    run: int


def study(settings: Settings, runs: int) -> Study:
    return Study(
        name="consistency",
        settings=asdict(settings),
        extent={"runs": runs},
        cells=[
            Cell(
                # The column "forest" already exists: the excess error of the forest.
                {"problem": problem, "variant": forest, "run": run},
                Task(settings, problem, forest, run),
            )
            for problem in PROBLEMS
            for forest in FORESTS
            for run in range(runs)
        ],
        compute=one_run,
        panels=partial(panels, fit_from=settings.fit_from),
        title="Excess error over Bayes: the forest, by vote, and its mean tree",
    )


def one_run(task: Task) -> list[Row]:
    """Learn a stream, and return the excess error of trees and forest at each size."""
    settings, stream = task.settings, PROBLEMS[task.problem]
    place = list(PROBLEMS).index(task.problem)
    yardstick = Yardstick.of(
        stream, settings.test_points, np.random.default_rng([settings.seed, TEST, place])
    )
    # All forests of a run have the same stream and the same draws: they differ only by FORESTS.
    rng = np.random.default_rng([settings.seed, STREAM, place, task.run])
    forest = settings.forest(int(rng.integers(2**32))).set_params(**FORESTS[task.forest])
    return [
        asdict(excess) for excess in excess_along(stream, forest, settings.sizes, yardstick, rng)
    ]


KINDS = {"forest": "forest", "mean_tree": "tree"}


def panels(rows: Sequence[Row], fit_from: int) -> list[Panel]:
    """Return one panel per problem; the label of a curve gives its fitted rate."""
    return [
        Panel(
            [_curve(rows, problem, forest, kind, fit_from) for kind in KINDS for forest in FORESTS],
            x="points learned",
            y="excess error",
            title=problem,
            log_y=True,
        )
        for problem in PROBLEMS
    ]


def _curve(rows: Sequence[Row], problem: str, forest: str, kind: str, fit_from: int) -> Curve:
    mine = [row for row in rows if (row["problem"], row["variant"]) == (problem, forest)]
    runs = sorted({row["run"] for row in mine})
    by_run = [[row for row in mine if row["run"] == run] for run in runs]
    rate = fitted_rate(
        [[float(row["points"]) for row in run_rows] for run_rows in by_run],
        [[float(row[kind]) for row in run_rows] for run_rows in by_run],
        least=fit_from,
    )
    label = f"{KINDS[kind]}, {forest}: n^{rate.value:.3f}"
    if len(runs) > 1:
        label += f" ± {rate.standard_error:.3f}"
    return curve_of(mine, label, x="points", y=kind)
