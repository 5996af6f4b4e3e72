"""Whether the votes of eager trees (R24, R25) are such that learning could have led to them."""

from __future__ import annotations

import numpy as np

from plausible.errors import every
from riparian.engine.pieces import begins, sums


def node_weights(trees):
    """The weight of the votes in every node: eager trees have histograms of inner nodes."""
    weight = np.zeros(len(trees.child), dtype=np.uint64)
    weight[trees.is_leaf] = trees.leaf_points
    weight[~trees.is_leaf] = sums(trees.inner_histogram, trees.inner_classes)
    return weight


def received(trees, lengths, header):
    """E of each tree (R12): with eager trees, the weight of all votes, which the root holds."""
    if header.eager:
        return node_weights(trees)[begins(lengths.nodes)]
    return trees.totals.estimation_points


def check_votes(trees, lengths, header):
    if not header.prediction_only:
        structure_votes = trees.eager.reshape(len(lengths.nodes), -1)[:, 0]
        voted = trees.totals.estimation_points + structure_votes
        every(voted == received(trees, lengths, header), "eager: the root must hold every vote")
        every(structure_votes <= trees.totals.structure_points, "eager: more votes than points")
    every(trees.votes <= node_weights(trees), "votes: a vote weighs 1 at least")
    inner = np.flatnonzero(trees.child)
    first = np.repeat(begins(lengths.nodes), lengths.nodes)[inner]
    for side in (0, 1):
        child = first + trees.child[inner].astype(np.int64) + side
        every(trees.votes[child] <= trees.votes[inner], "votes must not rise down a path")
    every(trees.eager_votes <= trees.leaf_points, "eager_votes must be votes of the leaf")
    if header.points <= header.kept_points:
        every(trees.eager_votes == 0, "eager_votes must be 0 before the turn")
        every(trees.spared_levels == 0, "spared_levels must be 0 before the turn")
