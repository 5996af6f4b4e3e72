"""Experiment 2 (fig:usps): compare learning online with learning offline, on handwritten digits.

Our forest and Saffari's learn the points in several passes; scikit-learn's learns all of them at once.
Ours is also run with one pass, and with kept points. The points are a random part of the training set,
which is the same for all forests of a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from riparian import Geometric, OnlineForestClassifier, SaffariForestClassifier
from riparian_experiments.compared import Compared, majority, tree_accuracies
from riparian_experiments.curves import Panel, curve_of
from riparian_experiments.datasets import DataSet, load
from riparian_experiments.readers import DataError
from riparian_experiments.study import Cell, Row, Study

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier


SMALLEST, SIZES = 20, 10  # the smallest part, and how many there are up to the whole


@dataclass(frozen=True)
class Online:
    """Our forest, as in the paper."""

    candidate_dims: float | Literal["sqrt"] = 10.0  # λ
    split_points: int = 10  # m
    min_gain: float = 0.1  # τ
    alpha_start: float = 10.0  # α(d) = 10 · 1.00001^d
    alpha_rate: float = 1.00001
    beta: float = 10_000.0  # β(d) = 10^4 α(d)
    kept_points: int = 0
    passes: int = 15

    def forest(self, trees: int, random_state: int) -> OnlineForestClassifier:
        return OnlineForestClassifier(
            trees,
            candidate_dims=self.candidate_dims,
            split_points=self.split_points,
            min_gain=self.min_gain,
            alpha=Geometric(self.alpha_start, self.alpha_rate),
            beta=self.beta,
            kept_points=self.kept_points,
            eager=False,
            max_memory=None,
            passes=self.passes,
            random_state=random_state,
        )


@dataclass(frozen=True)
class Saffari:
    """Saffari's forest, as in the paper's comparison."""

    candidate_dims: int = 10
    split_points: int = 10
    thresholds: Literal["points", "range"] = "points"
    min_gain: float = 0.1
    min_samples: int = 50
    passes: int = 15

    def forest(self, trees: int, random_state: int) -> SaffariForestClassifier:
        return SaffariForestClassifier(
            trees,
            candidate_dims=self.candidate_dims,
            split_points=self.split_points,
            thresholds=self.thresholds,
            min_gain=self.min_gain,
            min_samples=self.min_samples,
            passes=self.passes,
            random_state=random_state,
        )


@dataclass(frozen=True)
class Offline:
    """Breiman's forest: each tree learns a bootstrap sample and grows until its leaves are pure."""

    features: int = 10  # tried in a node
    criterion: str = "entropy"  # the paper's gain

    def forest(self, trees: int, random_state: int) -> RandomForestClassifier:
        # A local import, so that other commands start fast.
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(
            trees,
            max_features=self.features,
            criterion=self.criterion,
            bootstrap=True,
            random_state=random_state,
        )


@dataclass(frozen=True)
class Defaults(Online):
    """Our forest with the library's defaults, which keep the same number of points."""

    candidate_dims: float | Literal["sqrt"] = "sqrt"
    min_gain: float = 0.3
    alpha_start: float = 0.5
    alpha_rate: float = 1.1
    beta: float = 20.0
    kept_points: int = 20_000


@dataclass(frozen=True)
class Settings:
    """The settings of all cells; the first three forests are the paper's (section 5.2)."""

    trees: int = 100
    online: Online = Online()
    saffari: Saffari = Saffari()
    offline: Offline = Offline()
    kept: Online = Online(kept_points=20_000)  # no tree is rebuilt: β is above 100 α
    online_once: Online = Online(passes=1)
    kept_once: Online = Online(kept_points=20_000, passes=1)
    defaults_once: Defaults = Defaults(passes=1)
    seed: int = 0


class Method(Compared):
    """The forests that are compared: fields of the settings, and labels."""

    ONLINE = "online", "online (ours)"
    SAFFARI = "saffari", "online (Saffari)"
    OFFLINE = "offline", "offline"
    KEPT = "kept", "online (ours), kept points"
    ONLINE_ONCE = "online_once", "ours, one pass"
    KEPT_ONCE = "kept_once", "ours, one pass, kept points"
    DEFAULTS_ONCE = "defaults_once", "the library's defaults, one pass"


RUNS, QUICK_RUNS = 10, 2
QUICK, QUICK_SIZES = replace(Settings(), trees=25), 5


@dataclass(frozen=True)
class Task:
    """One forest on one part of the data."""

    settings: Settings
    data: Path | None
    run: int
    size: int
    method: Method


def study(
    settings: Settings,
    data: Path | None,
    runs: int,
    sizes: Sequence[int],
    methods: Sequence[Method],
) -> Study:
    data_set = load(data)
    tasks = [
        Task(settings, data, run, size, method)
        for run in range(runs)
        for size in sizes
        for method in methods
    ]
    return Study(
        name="usps",
        settings={"data": data_set.described(), **asdict(settings)},
        extent={"runs": runs, "sizes": list(sizes), "methods": [str(method) for method in methods]},
        cells=[Cell({"run": t.run, "size": t.size, "method": str(t.method)}, t) for t in tasks],
        compute=one_forest,
        panels=lambda rows: panels(rows, methods),
        title=f"Online and offline forests on {data_set.title}",
    )


def spaced_sizes(whole: int, number: int = SIZES) -> list[int]:
    """Return sizes from the smallest to the whole, evenly spaced on a logarithmic axis.

    >>> spaced_sizes(7291)
    [20, 39, 74, 143, 275, 530, 1021, 1966, 3786, 7291]
    """
    if whole < SMALLEST:
        raise DataError(f"the training set must have at least {SMALLEST} points, got {whole}")
    return sorted({round(size) for size in np.geomspace(SMALLEST, whole, number).tolist()})


def one_forest(task: Task) -> list[Row]:
    """Learn a forest from its part of the training set; return its accuracy on the test set."""
    data = load(task.data)
    rng = np.random.default_rng([task.settings.seed, task.run])
    part = rng.permutation(len(data.train.y))[: task.size]
    random_state = int(rng.integers(2**31))
    forest = task.method.of(task.settings).forest(task.settings.trees, random_state)
    forest.fit(data.train.X[part], data.train.y[part])
    answers = _tree_labels(forest, data)
    trees = tree_accuracies(answers, data.test.y)
    vote = majority(answers, int(data.train.y.max()) + 1)
    return [
        {
            "accuracy": float(forest.score(data.test.X, data.test.y)),
            "majority": float(np.mean(vote == data.test.y)),
            "mean_tree": float(trees.mean()),
        }
    ]


def _tree_labels(forest: Any, data: DataSet) -> NDArray[np.int64]:
    """Return the answer of each tree for each test point: a label, or -1."""
    if hasattr(forest, "predict_trees"):
        indices = forest.predict_trees(data.test.X)
    else:
        columns = [tree.predict(data.test.X) for tree in forest.estimators_]
        indices = np.column_stack(columns).astype(np.int64)
    return np.where(indices < 0, -1, forest.classes_[indices])


# The panels of the figure, by title. The offline forest is in both, for comparison.
SHOWN: Mapping[str, Sequence[Method]] = {
    "15 passes": (Method.ONLINE, Method.SAFFARI, Method.OFFLINE, Method.KEPT),
    "one pass": (Method.ONLINE_ONCE, Method.KEPT_ONCE, Method.OFFLINE, Method.DEFAULTS_ONCE),
}


def panels(rows: Sequence[Row], methods: Sequence[Method]) -> list[Panel]:
    """Return the panels, each with the methods that were run; a panel without any is omitted."""
    return [
        Panel(
            [
                curve_of(rows, method.label, x="size", y="accuracy", where={"method": method})
                for method in shown
                if method in methods
            ],
            x="training points",
            y="accuracy on the test points",
            title=title,
        )
        for title, shown in SHOWN.items()
        if set(shown) & set(methods)
    ]
