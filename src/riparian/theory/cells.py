"""The cells of a tree as boxes, and how wide they are.

A cell is bounded by the thresholds on its path, so at the border of the tree it is not bounded at all.
So its diameter is measured within a range per feature, scaled to width 1, and as a share of the
diameter of the whole: 1 is the cell of the whole space, and features count alike whatever their units.
A missing value lies in no box; its point is in the cell all the same (R4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riparian.engine.trees import Tree
from riparian.inspection.view import NONE, depths_and_parents

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ranges:
    """The least and the largest value of each feature."""

    low: Floats
    high: Floats
    counts: NDArray[np.bool_]  # features of the whole: in the others, all values are the same

    @property
    def width(self) -> Floats:
        return self.high - self.low


def ranges_of_points(low: Floats, high: Floats) -> Ranges:
    """Return the ranges of known points: a feature that does not vary is no dimension."""
    varies = high > low  # not so where a NaN says that no value is known
    return Ranges(np.where(varies, low, 0.0), np.where(varies, high, 0.0), varies)


def ranges_of_thresholds(tree: Tree, n_features: int) -> Ranges:
    """Return the ranges of the thresholds of a tree and its candidates: values of structure points.

    A feature with fewer than two known values is counted, and taken as never cut.
    """
    inner = ~tree.is_leaf
    low, high = np.full(n_features, np.inf), np.full(n_features, -np.inf)
    candidates = np.repeat(tree.candidate_dims, np.repeat(tree.split_points, tree.dims))
    for feature, value in (
        (tree.feature[inner], tree.threshold[inner]),
        (candidates, tree.split_threshold),
    ):
        there = ~np.isnan(value)
        places, values = feature[there].astype(np.intp), value[there].astype(np.float64)
        np.minimum.at(low, places, values)  # of these very types: others take ten times as long
        np.maximum.at(high, places, values)
    varies = high > low
    everywhere = np.ones(n_features, dtype=np.bool_)
    return Ranges(np.where(varies, low, 0.0), np.where(varies, high, 0.0), everywhere)


def diameters(tree: Tree, ranges: Ranges) -> Floats:
    """Return the diameter of the cell of each node, as a share of that of the whole."""
    child = tree.child.astype(np.int64)
    left = np.where(child > 0, child, NONE)
    depth, parent = depths_and_parents(left, np.where(child > 0, child + 1, NONE))
    feature = tree.feature.astype(np.int64)
    cut = _position(tree.threshold, feature, ranges)
    feature = np.where(np.isnan(tree.threshold), NONE, feature)  # these cut nothing
    before, on_the_right = _cut_before(parent, child, feature)
    low, high = np.zeros(len(child)), np.ones(len(child))  # of the cell, where its node cuts
    squares = np.full(len(child), float(ranges.counts.sum()))
    inner = np.flatnonzero(child > 0)
    inner = inner[np.argsort(depth[inner], kind="stable")]
    for nodes in np.split(inner, np.flatnonzero(np.diff(depth[inner])) + 1):
        again = nodes[before[nodes] != NONE]
        last, right = before[again], on_the_right[again]
        low[again] = np.where(right, cut[last], low[last])
        high[again] = np.where(right, high[last], cut[last])
        others = squares[nodes] - (high[nodes] - low[nodes]) ** 2
        whole = np.isnan(cut[nodes])  # the range is unknown: treated as not cut
        for below, side in (
            (child[nodes], cut[nodes] - low[nodes]),
            (child[nodes] + 1, high[nodes] - cut[nodes]),
        ):
            squares[below] = np.where(whole, squares[nodes], others + side**2)
    shares: Floats = np.sqrt(np.maximum(squares, 0.0) / max(1, ranges.counts.sum()))
    return shares


def _position(threshold: NDArray[np.float32], feature: Integers, ranges: Ranges) -> Floats:
    """Return the position of a threshold in the range of its feature, from 0 to 1, or NaN."""
    width = ranges.width[feature]
    with np.errstate(divide="ignore", invalid="ignore"):
        position = (threshold.astype(np.float64) - ranges.low[feature]) / width
    return np.where(width > 0, np.clip(position, 0.0, 1.0), np.nan)


def _cut_before(
    parent: Integers, child: Integers, feature: Integers
) -> tuple[Integers, NDArray[np.bool_]]:
    """For each inner node, return the next one above it that splits the same feature, and whether the
    node is on the right of it. All nodes go up one step at a time, until none is left.
    """
    before = np.full(len(parent), NONE)
    on_the_right = np.zeros(len(parent), dtype=np.bool_)
    searching = np.flatnonzero(child > 0)
    at = searching
    while True:
        climbing = parent[at] != NONE
        searching, at = searching[climbing], at[climbing]
        if len(searching) == 0:
            return before, on_the_right
        above = parent[at]
        same = feature[above] == feature[searching]
        before[searching[same]] = above[same]
        on_the_right[searching[same]] = at[same] != child[above[same]]
        searching, at = searching[~same], above[~same]
