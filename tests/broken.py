"""Forests broken on purpose: structure points vote, instead of estimation points or together with them.

The partition is that of the paper in all three, so they differ only in the points that predict. All
labels are noise: a point is of class 1 with probability 0.8 wherever it is, so whatever a leaf says
beyond that, it has made up. Run as a program, this writes the figure of docs/experiments/consistency:

    python tests/broken.py docs/experiments/consistency/structure-votes
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from riparian import reference
from riparian.parameters.forests import PaperParameters
from riparian.parameters.schedules import Geometric
from riparian.reference_kept import KeepingForest, KeepingTree
from riparian_experiments.curves import Panel, curve_of
from riparian_experiments.results import write_all
from riparian_experiments.study import Cell, Row, Study

from engines import parameters
from equivalence import reference_forest

VOTERS = {
    "estimation": "estimation points (the paper)",
    "structure": "structure points instead",
    "both": "both",
}
ETA = 0.8  # P(Y = 1 | X = x), everywhere


class WatchedTree(reference.Tree):
    """The paper's tree, which keeps the structure points that each leaf has received."""

    def plant(self, root: reference.Leaf) -> None:
        self.structure_votes: dict[int, Counter[int]] = {0: Counter()}  # by the leaf's number
        self.births: list[tuple[reference.CandidateSplit, dict[str, list[float]]]] = []
        super().plant(root)

    def receive_structure(self, x: Any, y: int, copies: int) -> None:
        self.structure_votes[self.leaf_of(x).number][y] += copies
        super().receive_structure(x, y, copies)

    def split(self, leaf: reference.Leaf) -> None:
        best = self.best_split(leaf)
        super().split(leaf)
        for side in (0, 1):
            self.structure_votes[self.n_nodes - 2 + side] = Counter(best.structure[side])
        if all(best.structure):  # one side may have no structure point at all
            shares = {voters: [_share(best, side, voters) for side in (0, 1)] for voters in VOTERS}
            self.births.append((best, shares))

    def votes(self, x: Any, voters: str) -> Counter[int]:
        leaf = self.leaf_of(x)
        return _counts(leaf.estimation, self.structure_votes[leaf.number], voters)


class WatchedKeepingTree(WatchedTree, KeepingTree):
    """The tree that keeps points: young leaves, settled ones, rebuilt trees."""


def _counts(estimation: Counter[int], structure: Counter[int], voters: str) -> Counter[int]:
    return {"estimation": estimation, "structure": structure, "both": estimation + structure}[
        voters
    ]


def _share(split: reference.CandidateSplit, side: int, voters: str) -> float:
    """Return the share of class 1 in a new leaf."""
    counts = _counts(split.estimation[side], split.structure[side], voters)
    return float(counts[1] / counts.total())


@dataclass(frozen=True)
class Task:
    """One stream of noise: many candidates, small leaves that split as soon as they can."""

    run: int
    sizes: tuple[int, ...] = (100, 300, 1000, 3000, 10_000)
    trees: int = 5
    n_dims: int = 10
    test_points: int = 300


def one_run(task: Task, kept_points: int = 0) -> list[Row]:
    p = parameters(
        kept_points=kept_points,
        beta=20 if kept_points else 1000,  # at most 100, or trees are not rebuilt
        n_trees=task.trees,
        seed=task.run,
        candidate_dims=float(task.n_dims),
        alpha=Geometric(2, 1.1),
        min_gain=0.0,
    )
    space = reference.Columns(task.n_dims, p.rate(task.n_dims))
    forest, trees = watched(p, space)
    rng = np.random.default_rng(task.run)
    test = rng.random((task.test_points, task.n_dims)).astype(np.float32)
    rows: list[Row] = []
    for size in task.sizes:
        X = rng.random((size - forest.points, task.n_dims)).astype(np.float32)
        forest.learn(X, (rng.random(len(X)) < ETA).astype(int).tolist())
        rows += [{"points": size, "voters": v, **asdict(measured(trees, test, v))} for v in VOTERS]
    return rows


def watched(
    p: PaperParameters, space: reference.FeatureSpace
) -> tuple[reference.Forest, list[WatchedTree]]:
    forest = reference_forest(p, space)
    kept = [forest.kept] if isinstance(forest, KeepingForest) else []
    Tree = WatchedKeepingTree if kept else WatchedTree
    trees = [Tree(i, p, space, *kept) for i in range(p.n_trees)]
    forest.trees = list(trees)
    return forest, trees


@dataclass(frozen=True)
class Measured:
    """Measure the error of trees on noise."""

    squared_error: float  # E[(η_t(X) - η)²] of a tree
    excess_error: float  # of a tree, against always answering 1
    votes: float  # in the leaf of a point
    made_up: float  # see below
    made_up_error: float  # its standard error


def measured(trees: Sequence[WatchedTree], test: Any, voters: str) -> Measured:
    """`made_up`: by how much the two new leaves of a split differ in what they say of class 1, in the
    direction in which the structure points differ that chose the split. In truth they do not.
    """
    counts = [tree.votes(x, voters) for tree in trees for x in test]
    eta = np.array([c[1] / c.total() if c.total() else 0.5 for c in counts])
    apart = [
        (shares[voters][1] - shares[voters][0])
        * np.sign(shares["structure"][1] - shares["structure"][0])
        for tree in trees
        for _, shares in tree.births
    ]
    return Measured(
        squared_error=float(np.mean((eta - ETA) ** 2)),
        excess_error=float((2 * ETA - 1) * np.mean(eta <= 0.5)),
        votes=float(np.mean([c.total() for c in counts])),
        made_up=float(np.mean(apart)),
        made_up_error=float(np.std(apart) / np.sqrt(len(apart))),
    )


def study(runs: int) -> Study:
    return Study(
        name="structure-votes",
        settings=asdict(Task(run=0)),
        extent={"runs": runs},
        cells=[Cell({"run": run}, Task(run)) for run in range(runs)],
        compute=one_run,
        panels=panels,
        title="Trees that learn noise, by the points that vote in their leaves",
    )


def panels(rows: Sequence[Row]) -> list[Panel]:
    shown = {
        "made_up": "difference made up by a split",
        "squared_error": "squared error of η, mean tree",
        "excess_error": "excess error, mean tree",
    }
    return [
        Panel(
            [
                curve_of(rows, label, x="points", y=column, where={"voters": voters})
                for voters, label in VOTERS.items()
            ],
            x="points learned",
            y=title,
        )
        for column, title in shown.items()
    ]


if __name__ == "__main__":
    write_all(study(runs=4), Path(sys.argv[1]), jobs=1)
