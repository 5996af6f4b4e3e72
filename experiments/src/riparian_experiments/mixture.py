"""Experiment 1 (fig:forest-and-trees): a forest is better than its trees, on a mixture of Gaussians.

A run learns one stream of the paper's mixture and measures at each size. The test points are the same
for all runs, so the deviation between runs comes from learning alone. The Bayes classifier is measured
on the same points, so that chance in the test set cancels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from riparian import Geometric, OnlineForestClassifier
from riparian.streams import GaussianMixture
from riparian_experiments.compared import majority, tree_accuracies
from riparian_experiments.curves import Panel, curve_of
from riparian_experiments.study import Cell, Row, Study

TEST, STREAM = 0, 1  # purposes of random generators


@dataclass(frozen=True)
class Settings:
    """The paper's settings (section 5.1). The number of test points and the seed are ours."""

    sizes: tuple[int, ...] = (100, 188, 355, 669, 1261, 2377, 4481, 8445, 15917, 30000)
    trees: int = 100
    candidate_dims: float = 1.0  # λ
    split_points: int = 10  # m
    min_gain: float = 0.001  # τ
    alpha_start: float = 1.0  # α(d) = start · rate^d
    alpha_rate: float = 1.1
    beta: float = 1000.0  # β(d) = 1000 α(d)
    test_points: int = 100_000
    seed: int = 0

    def forest(self, random_state: int, n_jobs: int | None = None) -> OnlineForestClassifier:
        return OnlineForestClassifier(
            self.trees,
            candidate_dims=self.candidate_dims,
            split_points=self.split_points,
            min_gain=self.min_gain,
            alpha=Geometric(self.alpha_start, self.alpha_rate),
            beta=self.beta,
            kept_points=0,
            eager=False,
            max_memory=None,
            random_state=random_state,
            n_jobs=n_jobs,
        )


RUNS, QUICK_RUNS = 10, 3
QUICK = replace(Settings(), test_points=5_000)

# The forests that learn the stream of a run, by the parameters that differ from the settings.
FORESTS: Mapping[str, Mapping[str, Any]] = {
    "paper": {},
    "kept": {"kept_points": 20_000},  # no tree is rebuilt: β is above 100 α (R21)
    "defaults": {  # of the library, with `eager=False`
        "candidate_dims": "sqrt",
        "min_gain": 0.3,
        "alpha": Geometric(0.5, 1.1),
        "beta": 20.0,
        "kept_points": "auto",
        "max_memory": "512MB",
    },
}


class Shown(NamedTuple):
    """A curve of the figure."""

    label: str
    forest: str
    column: str


CURVES = (
    Shown("forest, averaged", "paper", "average"),
    Shown("forest, by vote", "paper", "majority"),
    Shown("mean tree", "paper", "mean_tree"),
    Shown("forest with kept points, averaged", "kept", "average"),
    Shown("the library's defaults, averaged", "defaults", "average"),
)


@dataclass(frozen=True)
class Task:
    """One forest, on the stream of one run."""

    settings: Settings
    run: int
    forest: str = "paper"

    def new_forest(self, random_state: int) -> OnlineForestClassifier:
        forest = self.settings.forest(random_state)
        forest.set_params(**FORESTS[self.forest])
        return forest


def study(settings: Settings, runs: int) -> Study:
    tasks = [Task(settings, run, forest) for run in range(runs) for forest in FORESTS]
    return Study(
        name="mixture",
        settings=asdict(settings),
        extent={"runs": runs, "forests": list(FORESTS)},
        cells=[Cell({"run": task.run, "forest": task.forest}, task) for task in tasks],
        compute=one_run,
        panels=panels,
        title="Forest and trees on a mixture of five Gaussians",
    )


def one_run(task: Task) -> list[Row]:
    """Learn a stream, and return the accuracy of the forest at each size.

    All forests of a run have the same stream and the same random state.
    """
    settings, mixture = task.settings, GaussianMixture.paper()
    X, y = mixture.sample(settings.test_points, np.random.default_rng([settings.seed, TEST]))
    bayes = mixture.bayes_accuracy(X, y)
    rng = np.random.default_rng([settings.seed, STREAM, task.run])
    forest = task.new_forest(random_state=int(rng.integers(2**32)))
    classes = np.arange(len(mixture.weights))
    learned = 0
    rows: list[Row] = []
    for size in settings.sizes:
        forest.partial_fit(*mixture.sample(size - learned, rng), classes=classes)
        learned = size
        # The labels are 0, 1, 2, ..., so the index of a class is its label.
        answers = forest.predict_trees(X)
        trees = tree_accuracies(answers, y)
        rows.append(
            {
                "points": size,
                "average": float(forest.score(X, y)),
                "majority": float(np.mean(majority(answers, len(classes)) == y)),
                "mean_tree": float(trees.mean()),
                "best_tree": float(trees.max()),
                "bayes": bayes,
                "leaves": forest.stats()["leaves"] / settings.trees,
            }
        )
    return rows


def panels(rows: Sequence[Row]) -> list[Panel]:
    return [
        Panel(
            [
                curve_of(
                    rows, curve.label, x="points", y=curve.column, where={"forest": curve.forest}
                )
                for curve in CURVES
            ],
            x="points learned",
            y="accuracy on the test points",
            lines={"Bayes classifier": float(np.mean([row["bayes"] for row in rows]))},
        )
    ]
