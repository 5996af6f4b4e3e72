"""What a certificate needs to know of each tree, read from its flat arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from riparian.engine.halves import halves_among
from riparian.engine.trees import Totals, Tree
from riparian.theory.cells import Ranges, diameters, ranges_of_thresholds

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TreeCensus:
    """The leaves of one tree, in the order of their nodes, and its counters."""

    totals: Totals[int]
    node: Integers
    splits: Integers  # that the cell has gone through: the depth of the leaf
    points: Integers  # N^e
    errors: Integers  # N^e less the points of the largest class
    age: Integers  # E - E0: estimation points the tree has received in the leaf's lifetime
    inactive: NDArray[np.bool_]
    redrawn: int  # active leaves whose candidates were drawn again (R8, R20)
    diameter: NDArray[np.float32]  # a share, see `cells`

    @property
    def waiting(self) -> NDArray[np.bool_]:
        """Inactive, and with ŝ > 0."""
        return self.inactive & (self.errors > 0)

    def leaf_at(self, nodes: Integers) -> Integers:
        """The place among the leaves of each of these nodes, all of them leaves."""
        return np.searchsorted(self.node, nodes)


def census_of(
    tree: Tree, n_features: int, ranges: Ranges | None, categorical: Iterable[int] = ()
) -> TreeCensus:
    """Diameters are within `ranges`; None: within those of the tree's own thresholds.

    A split that sends half of the categories left (R22) cuts no interval: it counts as none.
    """
    halves = halves_among(tree.threshold, np.isin(tree.feature, [*categorical]))
    if halves.any():
        tree = replace(tree, threshold=np.where(halves, np.float32("nan"), tree.threshold))
    node = tree.leaf_node.astype(np.int64)
    within = ranges_of_thresholds(tree, n_features) if ranges is None else ranges
    return TreeCensus(
        totals=tree.totals,
        node=node,
        splits=tree.leaf_depth.astype(np.int64),
        points=tree.leaf_points.astype(np.int64),
        errors=tree.leaf_errors.astype(np.int64),
        age=tree.totals.estimation_points - tree.leaf_born.astype(np.int64),
        inactive=tree.leaf_active == 0,
        redrawn=int((tree.attempt > 0).sum()),
        diameter=diameters(tree, within)[node].astype(np.float32),
    )
