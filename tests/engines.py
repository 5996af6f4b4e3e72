"""Both engines behind one interface, so that a test about the paper can run on either."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from riparian import OnlineForestClassifier, reference
from riparian.parameters.forests import PaperParameters
from riparian.parameters.schedules import Geometric
from riparian.reference import STREAM_DRAW, Columns, key, uniform
from riparian.reference_eager import EagerTree
from riparian.reference_kept import KeepingForest, KeptPoints
from riparian.streams import GaussianMixture

import equivalence

NEVER = Geometric(1e300, 2)  # as β: no leaf is ever forced to split


def parameters(*, kept_points: int = 0, **changes: Any) -> PaperParameters:
    """One tree with the settings of the paper's first experiment, but for the changes."""
    settings = {
        "n_trees": 1,
        "seed": 0,
        "candidate_dims": 1.0,
        "split_points": 10,
        "min_gain": 0.001,
        "alpha": Geometric(1, 1.1),
        "beta": 1000,
        "structure_fraction": 0.5,
        "ignore_fraction": 0.0,
        "fringe_size": None,
        "voting": "average",
    }
    p = PaperParameters.checked(**(settings | changes))
    return keeping(p, kept_points) if kept_points else p


def keeping(p: PaperParameters, kept_points: int) -> PaperParameters:
    """The same parameters for a forest that keeps points."""
    return replace(p, kept_points=kept_points)


class Reference:
    """The reference; `tree` may be a broken one, to show that a test would notice."""

    def __init__(
        self, parameters: PaperParameters, n_dims: int, tree: type[reference.Tree] | None = None
    ) -> None:
        space = reference.Columns(n_dims, parameters.rate(n_dims))
        self.forest = equivalence.reference_forest(parameters, space)
        if tree is not None:
            kept = [self.forest.kept] if isinstance(self.forest, KeepingForest) else []
            self.forest.trees = [
                tree(i, parameters, space, *kept) for i in range(parameters.n_trees)
            ]

    def learn(
        self,
        X: NDArray[np.float32],
        y: NDArray[Any],
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self.forest.learn(X, y.tolist(), None if weights is None else weights.tolist())

    def tree(self, i: int = 0) -> dict[int, Any]:
        return equivalence.reference_tree(self.forest.trees[i])

    def memory(self, i: int = 0) -> dict[str, Any]:
        return equivalence.reference_memory(self.forest.trees[i])

    def heads(self) -> tuple[dict[int, float], dict[str, Any]] | None:
        """What the forest trusts, and the votes of the first tree (R25)."""
        tree = self.forest.trees[0]
        if not isinstance(tree, EagerTree):
            return None
        return self.forest.trust, equivalence.reference_eagerness(tree)

    def predict_proba(self, X: NDArray[np.float32]) -> list[list[float]]:
        return [list(self.forest.predict_proba(x).values()) for x in X]

    def classes(self) -> list[Any]:
        return self.forest.classes


class Native(equivalence.Native):
    def tree(self, i: int = 0) -> dict[int, Any]:
        return super().tree(i)

    def heads(self) -> tuple[dict[int, float], dict[str, Any]] | None:
        trust = self.forest.trust()
        return None if trust is None else (trust, self.eagerness(0))

    def predict_proba(self, X: NDArray[np.float32]) -> list[list[float]]:
        return self.forest.predict_proba(X, workers=1).tolist()

    def classes(self) -> list[Any]:
        return self.labels.classes.tolist()


def trees_of(estimator: OnlineForestClassifier) -> list[dict[int, Any]]:
    """What the engine behind an estimator holds, tree by tree, as values."""
    engine = Native.__new__(Native)
    engine.forest, engine.labels = estimator.model_.engine, estimator.model_.target
    return [engine.tree(i) for i in range(engine.forest.parameters.n_trees)]


both_engines = pytest.mark.parametrize("Engine", [Reference, Native])


def learned(Engine: Any, p: PaperParameters, X: NDArray[np.float32], y: NDArray[Any]) -> Any:
    engine = Engine(p, X.shape[1])
    engine.learn(X, y)
    return engine


def answers(engine: Any, X: NDArray[np.float32]) -> list[dict[Any, float]]:
    """The probabilities of each point by label, without those of zero."""
    return [
        {label: p for label, p in zip(engine.classes(), row, strict=True) if p}
        for row in engine.predict_proba(X)
    ]


def stream_of(p: PaperParameters, tree: int, n: int) -> NDArray[np.str_]:
    """R1 and R13: to which stream a tree sends each of the first n points."""
    draws = [uniform(key(p.seed, tree, STREAM_DRAW, t)) for t in range(n)]
    ignored = p.structure_fraction + p.ignore_fraction
    return np.array(
        [
            "structure" if u < p.structure_fraction else "ignored" if u < ignored else "estimation"
            for u in draws
        ]
    )


def mixture(n: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Points of the paper's first experiment."""
    return GaussianMixture.paper().sample(n, seed)


# What `tree(i)` returns for a node, by name: see `equivalence.reference_tree`.


def splits(tree: dict[int, Any]) -> dict[int, Any]:
    """The partition: number, dimension, threshold and left child of every inner node."""
    return {number: node[1:] for number, node in tree.items() if node[0] == "split"}


def leaves(tree: dict[int, Any]) -> dict[int, Any]:
    return {number: node for number, node in tree.items() if node[0] == "leaf"}


def depth(leaf: Any) -> int:
    return leaf[1]


def histogram(leaf: Any) -> dict[Any, int]:
    return leaf[3]


def is_active(leaf: Any) -> bool:
    return leaf[4]


def drawn_by(active_leaf: Any) -> list[int]:
    """Its candidate dimensions."""
    return active_leaf[7]


def leaf_of(tree: dict[int, Any], x: NDArray[np.float32]) -> int:
    """The number of the leaf that a point reaches (R4)."""
    number = 0
    while tree[number][0] == "split":
        _, dim, threshold, left = tree[number]
        number = left + (not x[dim] <= np.uint32(threshold).view(np.float32))
    return number


def histograms(tree: dict[int, Any]) -> dict[int, Any]:
    return {number: histogram(leaf) for number, leaf in leaves(tree).items()}


def without_estimation_labels(tree: dict[int, Any]) -> dict[int, Any]:
    """All that the tree holds, estimation points being counted but not by class."""
    return {number: _blind(node) for number, node in tree.items()}


def _blind(node: Any) -> Any:
    if node[0] == "split":
        return node
    kind, depth, born, counts, active, *fringe = node
    blind = (kind, depth, born, sum(counts.values()), active)
    if not active:
        return blind
    attempt, received, dims, candidates = fringe
    return (*blind, attempt, received, dims, [_blind_candidate(c) for c in candidates])


def _blind_candidate(candidate: Any) -> Any:
    feature, threshold, born, structure, estimation = candidate
    return feature, threshold, born, structure, [sum(side.values()) for side in estimation]


# -- trees whose streams the test chooses ------------------------------------------------------------


class TossedByTheTest:
    """A mixin of a reference tree with kept points: the test says which stream a point goes to."""

    def __init__(self, n_dims=1, kept_points=1000, **changes):
        p = parameters(
            kept_points=kept_points, **({"candidate_dims": 0.0, "beta": NEVER} | changes)
        )
        self.coins = []
        super().__init__(0, p, Columns(n_dims, p.rate(n_dims)), KeptPoints(kept_points))

    def stream(self, t):
        return self.coins[t]

    def round_weight(self, t, weight):
        return int(weight)

    def learn(self, stream, x, y, copies):
        x = np.atleast_1d(np.float32(x))
        t = self.kept.received
        self.coins.append(stream)
        for lost in self.kept.receive(x, y, copies):
            self.lose(lost)
        self.receive(t, x, y, copies)


def s(x, y="a", copies=1):
    return lambda tree: tree.learn("structure", x, y, copies)


def e(x, y="a", copies=1):
    return lambda tree: tree.learn("estimation", x, y, copies)


def i(x, y="a", copies=1):
    return lambda tree: tree.learn("ignored", x, y, copies)


def feed(tree, *points):
    for give in points:
        give(tree)
    return tree
