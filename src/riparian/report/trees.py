"""The shape of all trees together: how deep their leaves lie, and how many points they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riparian.engine.trees import Tree

if TYPE_CHECKING:
    from riparian.forest import OnlineForestClassifier


@dataclass(frozen=True)
class Leaves:
    """How many leaves of all trees there are by depth and by size."""

    by_depth: NDArray[np.int64]  # at depths 0, 1, 2, ...
    by_size: NDArray[np.int64]  # with 0, 1, 2-3, 4-7, 8-15, ... estimation points


def count_leaves(forest: OnlineForestClassifier) -> Leaves:
    """
    >>> from riparian import OnlineForestClassifier
    >>> forest = OnlineForestClassifier(n_estimators=1, random_state=1)
    >>> forest = forest.fit([[1], [2], [3], [4]] * 10, ["ash", "ash", "oak", "oak"] * 10)
    >>> leaves = count_leaves(forest)  # two, below the root, with 20 points each
    >>> leaves.by_depth.tolist(), leaves.by_size.tolist()
    ([0, 2], [0, 0, 0, 0, 0, 2])
    """
    by_depth = by_size = np.zeros(0, dtype=np.int64)
    engine = forest.model_.engine
    for i in range(engine.parameters.n_trees):
        tree: Tree = engine.tree(i)
        by_depth = _sum(by_depth, np.bincount(tree.leaf_depth))
        by_size = _sum(by_size, np.bincount(_bit_lengths(tree.leaf_points)))
    return Leaves(by_depth, by_size)


def size_label(i: int) -> str:
    """
    >>> [size_label(i) for i in range(4)]
    ['0', '1', '2–3', '4–7']
    """
    return str(i) if i < 2 else f"{2 ** (i - 1):,}–{2**i - 1:,}"


def _bit_lengths(sizes: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.frexp(sizes.astype(np.float64))[1].astype(np.int64)


def _sum(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    total = np.zeros(max(len(a), len(b)), dtype=np.int64)
    total[: len(a)] += a
    total[: len(b)] += b
    return total
