"""The native engine, driven from Python: the fast twin of `riparian.reference`.

Everything here is checked already (see `riparian.forest`): this module feeds the core in blocks, and
tells it what it cannot know by itself: the classes, the schedules, λ.
"""

from __future__ import annotations

import math
import os
import threading
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian import _core
from riparian.parameters import Parameters

Arrays = dict[str, NDArray[Any]]

CACHE_BYTES = 2**18  # rows of a block, read once for every tree, should stay in the second cache

TREE_BYTES = 512  # of a tree: what the system adds to its few blocks

# For each level that a branch gains there must come a structure point (a candidate), an estimation
# point for either child, and another structure point.
POINTS_PER_LEVEL = 4


# Every engine of this process: a fork waits until none is in the middle of a block.
_engines: weakref.WeakSet[Forest] = weakref.WeakSet()
_held: list[Forest] = []


def _before_fork() -> None:
    _held.extend(_engines)
    for engine in _held:
        engine.core.hold()


def _after_fork_in_parent() -> None:
    while _held:
        _held.pop().core.let_go()


def _after_fork_in_child() -> None:
    while _held:
        engine = _held.pop()
        engine.learning = threading.Lock()  # whoever held it is not here
        engine.core.let_go_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )


def cut(fraction: float) -> int:
    """The first of the 2^53 uniforms that is not below a fraction: u < fraction, in integers."""
    return math.ceil(fraction * 2**53)


def core_rate(rate: float) -> _core.Rate:
    whole = math.floor(rate)
    return _core.Rate(whole, math.exp(-1.0), math.exp(-(rate - whole)))


class Forest:
    """A forest over the columns of a matrix, labels being numbered in the order of their arrival."""

    def __init__(self, parameters: Parameters, n_dims: int) -> None:
        p = self.parameters = parameters
        self.n_dims = n_dims
        self.core = _core.ColumnForest(
            n_trees=p.n_trees,
            seed=p.seed,
            split_points=p.split_points,
            min_gain=p.min_gain,
            structure_cut=cut(p.structure_fraction),
            ignore_cut=cut(p.structure_fraction + p.ignore_fraction),
            fringe_size=p.fringe_size,
            budget=self.budget(),
            n_dims=n_dims,
            rate=core_rate(p.rate(n_dims)),
        )
        self.depths = 0  # that the core has schedules for
        self.learning = threading.Lock()  # for who feeds it: one batch after the other
        _engines.add(self)
        self._check_budget()
        self.classes: tuple[list[int], int] = ([], 0)  # what the core was told of them
        self._label = np.zeros(1, dtype=np.uint32)  # of the one point of `learn_one`

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is made from the arrays of the trees; what the core derives, it derives again."""
        return _restored, (self.parameters, self.n_dims, self.classes, *self.save())

    def budget(self) -> int | None:
        """The equal part of each tree, less what the tree is before it holds anything."""
        p = self.parameters
        if p.max_memory is None:
            return None
        return max(0, p.max_memory // p.n_trees - _core.tree_bytes - TREE_BYTES)

    def _check_budget(self) -> None:
        budget = self.budget()
        if budget is None:
            return
        p = self.parameters
        kinds = ("node_bytes", "leaf_bytes", "fringe_bytes")
        needed = max(sum(tree[kind] for kind in kinds) for tree in self.core.stats())
        if needed > budget:
            # Twice what the root needs: it has to keep something, too.
            least = p.n_trees * (2 * needed + _core.tree_bytes + TREE_BYTES)
            raise ValueError(
                f"max_memory must be at least {least} bytes for {p.n_trees} trees "
                f"of {self.n_dims} dimensions, got {p.max_memory}"
            )

    def set_classes(self, rank: NDArray[np.intp], n_classes: int) -> None:
        """`rank`: the place of each class that has arrived among the `n_classes` public ones."""
        self.classes = (rank.tolist(), n_classes)
        self.core.set_classes(*self.classes)

    def set_dims(self, n_dims: int) -> None:
        """Columns have joined: leaves that enter the fringe from now on may look at them (R2)."""
        self.n_dims = n_dims
        self.core.set_columns(n_dims, core_rate(self.parameters.rate(n_dims)))

    def learn(
        self,
        X: NDArray[np.float32],
        y: NDArray[np.uint32],
        weights: NDArray[np.float64] | None,
        workers: int,
    ) -> None:
        rows = self._block_rows()
        for first in range(0, len(X), rows):
            block = slice(first, first + rows)
            self._reach(self.core.depth + rows // POINTS_PER_LEVEL + 2)
            self.core.learn(
                X[block], y[block], None if weights is None else weights[block], workers
            )

    def learn_one(self, row: NDArray[np.float32], y: int, weight: float = 1.0) -> None:
        """`learn` for a single row, without what only a block needs; the same to the last bit.

        One thread at a time.
        """
        self._reach(self.core.depth + 2)
        self._label[0] = y
        weights = None if weight == 1.0 else np.array([weight])
        self.core.learn(row, self._label, weights, 1)

    def predict_proba(self, X: NDArray[np.float32], workers: int) -> NDArray[np.float64]:
        return self.core.predict_proba(X, self.parameters.voting == "majority", workers)

    def tree(self, i: int) -> Arrays:
        """One tree as flat arrays (named in core/state.hpp)."""
        return self.core.tree(i)

    def save(self) -> tuple[int, list[Arrays]]:
        """The points received, and every tree as flat arrays."""
        return self.core.save()

    def restore(self, points: int, trees: list[Arrays]) -> None:
        self.core.restore(points, trees)

    def _block_rows(self) -> int:
        return max(64, min(_core.block, CACHE_BYTES // (4 * max(1, self.n_dims))))

    def _reach(self, depths: int) -> None:
        """Keep the schedules ahead of the trees."""
        if depths <= self.depths:
            return
        self.depths = depths + depths // 2
        alpha, beta = (
            schedule.integers(self.depths)
            for schedule in (self.parameters.alpha, self.parameters.beta)
        )
        self.core.set_schedules(alpha.tolist(), beta.tolist())


def _restored(
    parameters: Parameters,
    n_dims: int,
    classes: tuple[list[int], int],
    points: int,
    trees: list[Arrays],
) -> Forest:
    forest = Forest(parameters, n_dims)
    forest.restore(points, trees)
    forest.set_classes(np.array(classes[0], dtype=np.intp), classes[1])
    return forest
