"""Whether the votes of eager trees (R24, R25) are such that learning could have led to them."""

from __future__ import annotations

import numpy as np

from plausible.errors import every
from riparian.engine.pieces import begins, sums


def node_weights(trees):
    """The weight of the votes in every node: eager trees have those of inner nodes."""
    weight = np.zeros(len(trees.child), dtype=np.uint64)
    weight[trees.is_leaf] = trees.leaf_points
    of_inner = sums(trees.inner_histogram, trees.inner_classes)
    weight[~trees.is_leaf] = trees.inner_weight if trees.of_numbers else of_inner
    return weight


def received(trees, lengths, header):
    """E of each tree (R12): with eager trees, the weight of all votes, which the root holds."""
    if header.eager:
        return node_weights(trees)[begins(lengths.nodes)]
    return trees.totals.estimation_points


def check_votes(trees, lengths, header, first_points):
    """`first_points` are those that the trees began with."""
    if not header.prediction_only:
        structure_votes = trees.eager.reshape(len(lengths.nodes), -1)[:, 0]
        voted = trees.totals.estimation_points + structure_votes
        every(voted == received(trees, lengths, header), "eager: the root must hold every vote")
        every(structure_votes <= trees.totals.structure_points, "eager: more votes than points")
    is_eager = header.points - first_points <= header.kept_points
    existed = trees.eager.reshape(len(lengths.nodes), -1)[:, 3].astype(np.int64)
    every(trees.votes <= node_weights(trees), "votes: a vote weighs 1 at least")
    inner = np.flatnonzero(trees.child)
    first = np.repeat(begins(lengths.nodes), lengths.nodes)[inner]
    for side in (0, 1):
        number = trees.child[inner].astype(np.int64) + side
        # A leaf of which a late candidate was taken may list more points than it holds.
        eager = is_eager.repeat(lengths.nodes)[inner] | (
            number < existed.repeat(lengths.nodes)[inner]
        )
        rises = trees.votes[first + number] > trees.votes[inner]
        every(~(eager & rises), "votes must not rise down a path")
    every(trees.eager_votes <= trees.leaf_points, "eager_votes must be votes of the leaf")
    eager = np.repeat(is_eager, lengths.leaves)
    every(trees.eager_votes[eager] == 0, "eager_votes must be 0 before the turn")
    every(trees.spared_levels[eager] == 0, "spared_levels must be 0 before the turn")
