"""Whether the arrays are safe: every link, index, length and sum that the core relies on.

The core trusts its arrays. Once these checks hold, nothing in a snapshot can lead it outside of an
array, make a signed integer or a conversion overflow, or keep it busy forever. They do not check
whether learning could have produced the numbers. If it could not, the forest gives wrong answers
but stays safe: docs/snapshot-format.md lists what is not checked, and the effects. The checks
run over all trees at once.
"""

from __future__ import annotations

import numpy as np

from riparian import _core
from riparian.engine.pieces import begins, numbers, sums
from riparian.engine.trees import Arrays, TreeArrays
from riparian.snapshot.arrays import Integers, Lengths, Trees
from riparian.snapshot.candidates import Candidates, check_features
from riparian.snapshot.errors import check_sum, every
from riparian.snapshot.header import Header

MOST_ROWS = 61  # a bucket of row r holds 2^r errors


def check(arrays: Arrays, lengths: Lengths, header: Header) -> Arrays:
    """Return the arrays with those derived from the links, or raise an error if they are not safe."""
    trees = TreeArrays.end_to_end(arrays)
    depth = check_nodes(trees, lengths, header)
    check_leaves(trees, header)
    if header.adaptive:
        check_detectors(trees, lengths)
        if header.numbers:
            check_memories_of_numbers(trees)
        else:
            check_memories(trees, header)
    if header.eager:
        check_votes(trees, depth[trees.is_leaf], header)
    Candidates(trees, header).check()
    leaf_node = numbers(lengths.nodes)[trees.is_leaf]
    return {
        **arrays,
        "leaf_node": leaf_node.astype(np.uint32),
        "leaf_depth": depth[trees.is_leaf].astype(np.uint32),
    }


# -- nodes and leaves --------------------------------------------------------------------------------


def check_nodes(trees: Trees, lengths: Lengths, header: Header) -> Integers:
    """Return the depth of every node, or raise an error if the nodes of a tree are not a tree."""
    nodes, child = lengths.nodes, trees.child.astype(np.int64)
    number = numbers(nodes)
    inner = child > 0
    of_tree = np.repeat(nodes, nodes)[inner]
    every(child[inner] % 2 == 1, "child must be odd: children are made in pairs")
    every(child[inner] > number[inner], "child must come after its parent")
    every(child[inner] + 1 < of_tree, "child must be a node of its tree")

    first = np.repeat(begins(nodes), nodes)  # of the tree, among all nodes
    parents = np.flatnonzero(inner)
    children = (first + child)[inner]
    every(np.bincount(children, minlength=1) <= 1, "child must not have two parents")
    # Children are odd, distinct and within the tree: if there are enough, there are no others.
    every(
        sums(inner, nodes) == (nodes - 1) // 2, "child must give every node but the root a parent"
    )
    check_features(trees.feature, header, "feature")
    every(np.isfinite(trees.threshold[inner]), "threshold must be finite")

    parent = first.copy()
    parent[children] = parents
    parent[children + 1] = parents
    return depths(parent)


def depths(parent: Integers) -> Integers:
    """Return the distance of each node from the root, which is its own parent, by doubling steps."""
    steps: Integers = (parent != np.arange(len(parent))).astype(np.int64)
    while (more := steps[parent]).any():
        steps = steps + more
        parent = parent[parent]
    return steps


def check_leaves(trees: Trees, header: Header) -> None:
    """Check classes, which are indices, and the points of a leaf, whose sum must not overflow."""
    if header.numbers:
        check_numbers(trees)
    else:
        every(trees.totals.classes <= header.arrived, "totals: more classes than have arrived")
    every(trees.leaf_classes <= header.arrived, "leaf_classes must have arrived")
    check_sum(trees.histogram, "histogram")
    # Twice as many must fit, or a tree would be rebuilt at every point (R21).
    arrivals = trees.growth.structure_arrivals
    every(arrivals <= header.points, "growth: more structure arrivals than were received")


def check_numbers(trees: Trees) -> None:
    """Check sums, which must be numbers, so that answers are numbers, too (R26).

    Those of squares may have become infinite. Those of a right side are a difference, which is then NaN
    and may be a little below 0 by rounding. A squared error that is not above 0 counts as 0.
    """
    every(trees.totals.classes <= _core.most_scale, f"totals: a scale above {_core.most_scale}")
    check_sum(trees.leaf_weight, "leaf_weight")
    for name in ("leaf_sum", "inner_sum"):
        every(np.isfinite(getattr(trees, name)), f"{name} must be finite")
    for name in ("saved_error", "waiting_error"):
        every(getattr(trees, name) >= 0, f"{name} must be at least 0")
    every(~np.isinf(trees.leaf_same), "leaf_same must not be infinite")


# -- eager trees (R24, R25) ---------------------------------------------------------------------------


def check_votes(trees: Trees, leaf_depth: Integers, header: Header) -> None:
    """Check that heads divide by positive weights of votes, and that no leaf is above the root."""
    every(trees.inner_classes <= header.arrived, "inner_classes must have arrived")
    check_sum(trees.inner_histogram, "inner_histogram")
    check_sum(trees.inner_weight, "inner_weight")
    weight = np.zeros(len(trees.votes), dtype=np.uint64)
    weight[trees.is_leaf] = trees.leaf_points
    of_inner = sums(trees.inner_histogram, trees.inner_classes)
    weight[~trees.is_leaf] = trees.inner_weight if header.numbers else of_inner
    every((trees.votes == 0) | (weight > 0), "votes: a node with votes must have a histogram")
    every(trees.votes <= header.points, "votes: more than points were received")
    every(trees.spared_levels <= leaf_depth, "spared_levels must be at most the depth of the leaf")
    every(np.isfinite(trees.scores) & (trees.scores <= 0), "scores must be finite and at most 0")
    _, floor, *_ = trees.eager.reshape(-1, len(_core.tree_eager)).T
    most = _core.head_sizes[-1] // 16
    every((floor >= 1) & (floor <= most), f"eager: the floor must be from 1 to {most}")


# -- streams that change (R27) -----------------------------------------------------------------------


def check_detectors(trees: Trees, lengths: Lengths) -> None:
    """Check the rows of buckets, each of which can hold one more than its final number."""
    number = numbers(lengths.arrays["bucket_row"])
    row = trees.bucket_row.astype(np.int64)
    every(row <= MOST_ROWS, f"bucket_row must be at most {MOST_ROWS}")
    inside = number[1:] > 0
    every((row[1:] <= row[:-1]) | ~inside, "bucket_row must not rise: the oldest are the largest")
    most = _core.most_buckets
    far = number[most:] >= most
    every((row[most:] < row[:-most]) | ~far, f"bucket_row: there are at most {most} of a size")


def check_memories(trees: Trees, header: Header) -> None:
    """Check that shares are finite: those of a leaf that has memories, and none for a late class."""
    every(trees.memory_classes <= header.arrived, "memory_classes must have arrived")
    memory = trees.memory.reshape(-1, len(_core.memory_factors))
    good = ((memory >= 0) & np.isfinite(memory)).all(axis=1)
    every(good, "memory must be finite and at least 0")
    starts = begins(trees.memory_classes)[trees.memory_classes > 0]
    held = np.maximum.reduceat(memory, starts, axis=0) if len(starts) else memory
    every((held > 0).all(axis=1), "memory must not be all 0 in a leaf that has memories")


def check_memories_of_numbers(trees: Trees) -> None:
    """Check that a leaf has all memories or none, and that means and errors are numbers."""
    weight = trees.memory_weight.reshape(-1, len(_core.memory_factors))
    good = ((weight > 0) & np.isfinite(weight)).all(axis=1) | (weight == 0).all(axis=1)
    every(good, "memory_weight must be finite and above 0, or 0 in a leaf without memories")
    every(np.isfinite(trees.memory_sum), "memory_sum must be finite")
    every(np.isfinite(trees.errors) & (trees.errors >= 0), "errors must be finite and at least 0")
