"""What a certificate needs to know of each tree, read from its flat arrays (core/state.hpp)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riparian.engine.native import Arrays
from riparian.snapshot.arrays import TOTALS
from riparian.snapshot.pieces import begins, unsigned_sums
from riparian.theory.cells import Ranges, diameters, ranges_of_thresholds

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TreeCensus:
    """The leaves of one tree, in the order of their nodes, and its counters."""

    totals: dict[str, int]
    node: Integers
    splits: Integers  # that the cell has gone through: the depth of the leaf
    points: Integers  # N^e
    errors: Integers  # N^e less the points of the largest class
    age: Integers  # E - E0: estimation points the tree has received in the leaf's lifetime
    inactive: NDArray[np.bool_]
    redrawn: int  # active leaves whose candidates were drawn again (R8)
    diameter: NDArray[np.float32]  # a share, see `cells`

    @property
    def waiting(self) -> NDArray[np.bool_]:
        """Inactive, and with ŝ > 0."""
        return self.inactive & (self.errors > 0)

    def leaf_at(self, nodes: Integers) -> Integers:
        """The place among the leaves of each of these nodes, all of them leaves."""
        return np.searchsorted(self.node, nodes)


def census_of(tree: Arrays, n_features: int, ranges: Ranges | None) -> TreeCensus:
    """Diameters are within `ranges`; None: within those of the tree's own thresholds."""
    totals = dict(zip(TOTALS, tree["totals"].tolist(), strict=True))
    lengths = tree["leaf_classes"].astype(np.int64)
    points = unsigned_sums(tree["histogram"], lengths).astype(np.int64)
    node = tree["leaf_node"].astype(np.int64)
    within = ranges_of_thresholds(tree, n_features) if ranges is None else ranges
    return TreeCensus(
        totals=totals,
        node=node,
        splits=tree["leaf_depth"].astype(np.int64),
        points=points,
        errors=points - _largest(tree["histogram"], lengths),
        age=totals["estimation_points"] - tree["leaf_born"].astype(np.int64),
        inactive=tree["leaf_active"] == 0,
        redrawn=int((tree["attempt"] > 0).sum()),
        diameter=diameters(tree, within)[node].astype(np.float32),
    )


def _largest(counts: NDArray[np.uint64], lengths: Integers) -> Integers:
    """The largest of each piece; 0 of one that is empty."""
    largest = np.zeros(len(lengths), dtype=np.int64)
    there = lengths > 0
    if there.any():
        largest[there] = np.maximum.reduceat(counts, begins(lengths)[there]).astype(np.int64)
    return largest
