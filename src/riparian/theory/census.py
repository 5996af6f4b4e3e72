"""What a certificate needs to know about each tree, read from its flat arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.engine.halves import halves_among
from riparian.engine.trees import Totals, Tree
from riparian.inspection.view import NONE, depths_and_parents
from riparian.theory.cells import Ranges, diameters, ranges_of_thresholds

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Turn:
    """What a tree has done since the turn (R24). A tree that was never eager turned as a root."""

    leaves: Integers  # of the tree at the turn, by their depth for α; none before the turn
    splits: Integers  # per leaf: those since the turn that its cell has gone through
    depth: Integers  # per leaf: for α and β
    eager_votes: Integers  # per leaf: an upper bound of their weight


@dataclass(frozen=True, eq=False)
class TreeCensus:
    """The leaves of one tree, in the order of their nodes, and its counters."""

    totals: Totals[int]
    node: Integers
    splits: Integers  # that the cell has gone through: the depth of the leaf
    points: Integers  # N^e
    errors: NDArray[Any]  # N^e minus the points of the largest class; of numbers, squared errors
    age: Integers  # E - E0: estimation points the tree has received in the leaf's lifetime
    inactive: NDArray[np.bool_]
    redrawn: int  # active leaves whose candidates were drawn again (R8, R20)
    diameter: NDArray[np.float32]  # a share, see `cells`
    turn: Turn

    @property
    def waiting(self) -> NDArray[np.bool_]:
        """Inactive, and with ŝ > 0."""
        return self.inactive & (self.errors > 0)

    def leaf_at(self, nodes: Integers) -> Integers:
        """Return the place among the leaves of each of these nodes, all of which are leaves."""
        return np.searchsorted(self.node, nodes)


def census_of(
    tree: Tree,
    n_features: int,
    ranges: Ranges | None,
    categorical: Iterable[int] = (),
    eager: bool = False,
) -> TreeCensus:
    """Return the census. Diameters are within `ranges`; None: within those of the tree's own thresholds.

    A split that sends half of the categories left (R22) cuts no interval: it counts as none. `eager`
    trees are those of R24, before the turn and after it.
    """
    halves = halves_among(tree.threshold, np.isin(tree.feature, [*categorical]))
    if halves.any():
        tree = replace(tree, threshold=np.where(halves, np.float32("nan"), tree.threshold))
    node = tree.leaf_node.astype(np.int64)
    within = ranges_of_thresholds(tree, n_features) if ranges is None else ranges
    structure_votes = int(tree.eager[0]) if eager else 0  # R24: they count in E, too
    received = tree.totals.estimation_points + structure_votes
    return TreeCensus(
        totals=tree.totals,
        node=node,
        splits=tree.leaf_depth.astype(np.int64),
        points=tree.leaf_points.astype(np.int64),
        errors=tree.leaf_errors,
        age=received - tree.leaf_born.astype(np.int64),
        inactive=tree.leaf_active == 0,
        redrawn=int((tree.attempt > 0).sum()),
        diameter=diameters(tree, within)[node].astype(np.float32),
        turn=_turn_of(tree) if eager else _never_eager(tree),
    )


def _never_eager(tree: Tree) -> Turn:
    depth = tree.leaf_depth.astype(np.int64)
    return Turn(np.ones(1, dtype=np.int64), depth, depth, np.zeros_like(depth))


def _turn_of(tree: Tree) -> Turn:
    """Return what happened since the turn: nodes made since then have larger numbers than older ones."""
    depth = tree.leaf_depth.astype(np.int64)
    if (existed := int(tree.eager[-1])) == 0:  # before the turn, every vote is eager
        nothing = np.zeros_like(depth)
        return Turn(nothing[:0], nothing, depth, tree.leaf_points.astype(np.int64))
    left = np.where(tree.is_leaf, NONE, tree.child.astype(np.int64))
    depth_of, parent = depths_and_parents(left, np.where(left == NONE, NONE, left + 1))
    ancestor = np.arange(len(left))  # the leaf at the turn that a node was in
    while (later := ancestor >= existed).any():
        ancestor[later] = parent[ancestor[later]]
    splits = (depth_of - depth_of[ancestor])[tree.leaf_node]
    counted = depth - tree.spared_levels.astype(np.int64)
    # All leaves that come from one leaf at the turn agree about its depth for α.
    began, first = np.unique(ancestor[tree.leaf_node], return_index=True)
    assert len(began) == (existed + 1) // 2
    leaves = np.bincount((counted - splits)[first])
    return Turn(leaves, splits, counted, tree.eager_votes.astype(np.int64))
