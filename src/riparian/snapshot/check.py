"""Whether arrays are those of a forest: every link, length, count and bit, before the core sees them.

The core trusts its arrays. So whatever comes from a file must be a state that learning could have
led to, as far as that can be seen; above all, nothing in it may lead outside of its array. The checks
run over all trees at once.
"""

from __future__ import annotations

import numpy as np

from riparian.engine.pieces import begins, numbers, sums
from riparian.engine.trees import Arrays, Bag, Longs, TreeArrays
from riparian.parameters.forests import PaperParameters, SaffariParameters
from riparian.parameters.values import MAX_WEIGHT
from riparian.snapshot.adaptation import check_adaptation, planted
from riparian.snapshot.arrays import Integers, Lengths, Trees
from riparian.snapshot.errors import check_sum, every
from riparian.snapshot.fields import MOST_POINTS
from riparian.snapshot.fringe import Leaves, check_features, fringe_of
from riparian.snapshot.growth import check_growth
from riparian.snapshot.header import Header
from riparian.snapshot.kept import KeptPoints

MOST_TAKEN = 64  # times that a tree of Saffari's takes a point: Poisson(1) is never that many


def check(arrays: Arrays, lengths: Lengths, kept: KeptPoints | None, header: Header) -> Arrays:
    """The arrays with what follows from them, if they are those of a forest with this header."""
    trees = TreeArrays.end_to_end(arrays)
    depth = check_nodes(trees, lengths, header)
    check_totals(trees, lengths, header)
    leaf_depth = depth[trees.is_leaf]
    leaves = check_leaves(trees, lengths, leaf_depth, header)
    if header.one_stream:
        check_bags(arrays["bag"], trees, header)
    if header.adaptive:
        check_adaptation(trees, lengths, header)
    if kept is not None:
        replaced = lengths.arrays["replaced"]
        check_growth(trees, lengths.nodes, planted(trees, lengths), replaced, kept, header)
    if not header.prediction_only:
        check_activity(trees, lengths, leaf_depth, header)
        if not header.one_stream:
            check_keys(trees, leaves)
        fringe_of(trees, leaves, header).check()
    leaf_node = numbers(lengths.nodes)[trees.is_leaf]
    return {
        **arrays,
        "leaf_node": leaf_node.astype(np.uint32),
        "leaf_depth": leaf_depth.astype(np.uint32),
    }


# -- the tree ----------------------------------------------------------------------------------------


def check_nodes(trees: Trees, lengths: Lengths, header: Header) -> Integers:
    """The depth of every node, if the nodes of each tree hang together as a tree."""
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
    every(np.bincount(children, minlength=1) <= 1, "child must not be that of two parents")
    # Children are odd, distinct and within the tree: if there are enough, they are all there are.
    every(
        sums(inner, nodes) == (nodes - 1) // 2, "child must give every node but the root a parent"
    )

    check_features(trees.feature, header, "feature")
    every(trees.feature[~inner] == 0, "feature must be 0 in a leaf")
    every(trees.threshold[~inner] == 0, "threshold must be 0 in a leaf")
    every(np.isfinite(trees.threshold[inner]), "threshold must be finite")

    parent = first.copy()
    parent[children] = parents
    parent[children + 1] = parents
    return depths(parent)


def depths(parent: Integers) -> Integers:
    """How far each node is from the root, which is its own parent: steps are doubled each round."""
    steps: Integers = (parent != np.arange(len(parent))).astype(np.int64)
    while (more := steps[parent]).any():
        steps = steps + more
        parent = parent[parent]
    return steps


def check_totals(trees: Trees, lengths: Lengths, header: Header) -> None:
    totals = trees.totals
    for name, total in totals._asdict().items():
        every(total <= MOST_POINTS, f"totals: {name} must be below 2^61")
    points = totals.structure_points + totals.estimation_points + totals.ignored_points
    times = MOST_TAKEN if header.one_stream else 1
    most = min(header.points * int(MAX_WEIGHT) * times, 2**63)
    every(points <= np.uint64(most), "totals: there are more points than were received")
    check_sum(points, "totals: points")
    splits = totals.should_splits + totals.must_splits
    every(splits == (lengths.nodes - 1) // 2, "totals: there must be a split for every inner node")
    every(totals.classes <= header.arrived, "totals: more classes than have arrived")
    every(totals.stopped_at <= header.points, "totals: stopped_at must have been reached")
    if header.max_memory is None:
        every(totals.evictions == 0, "totals: evictions must be 0 without max_memory")
        every(totals.stopped_at == 0, "totals: stopped_at must be 0 without max_memory")
    check_sum(np.abs(trees.importance.astype(np.float64)), "importance")


# -- leaves ------------------------------------------------------------------------------------------


def check_leaves(trees: Trees, lengths: Lengths, depth: Integers, header: Header) -> Leaves:
    totals, histogram, n_classes = trees.totals, trees.histogram, trees.leaf_classes
    tree = np.repeat(np.arange(len(lengths.leaves)), lengths.leaves)
    received = totals.estimation_points[tree]  # E
    every(n_classes <= totals.classes[tree], "leaf_classes must have arrived")
    every(trees.leaf_born <= received, "leaf_born must not be later than now")

    check_sum(histogram, "histogram")
    ends = np.cumsum(n_classes, dtype=np.int64)
    every(
        histogram[ends[n_classes > 0] - 1] > 0, "histogram must not end with a class of no points"
    )
    points = trees.leaf_points
    every((points > 0) | (depth == 0), "histogram must hold a point, but at the root")
    # R18: of one stream, a point that brings a split point counts for it.
    since_born = received if header.one_stream else received - trees.leaf_born
    every(points <= since_born, "histogram holds more points than came since leaf_born")
    # A young leaf hands down what it lists (R20), which need not be what its histogram holds.
    if not header.kept_points:
        of_tree = sums(points, lengths.leaves)
        every(of_tree <= totals.estimation_points, "histogram holds more points than its tree")
    if isinstance(header.parameters, PaperParameters):
        alpha = header.parameters.alpha.integers(int(depth.max()))
        below = depth > 0
        every(points[below] >= alpha[depth[below] - 1], "histogram must hold α points (R6)")

    return Leaves(
        tree=tree,
        n_classes=totals.classes,
        structure_points=totals.structure_points,
        estimation_points=totals.estimation_points,
        points=points,
        errors=trees.leaf_errors,
        starts=begins(n_classes),
    )


def check_bags(bag: Longs, trees: Trees, header: Header) -> None:
    """R18: what a tree is judged by, if it may be replaced."""
    p, n_trees = header.parameters, header.parameters.n_trees
    number, planted, left_out, errors = Bag(*bag.reshape(-1, len(Bag._fields)).T)
    place = np.arange(n_trees, dtype=np.uint64)
    every(number < MOST_POINTS, "bag: number must be below 2^61")
    every(number % np.uint64(n_trees) == place, "bag: number must be that of the tree's place")
    every(planted <= header.points, "bag: planted must have been reached")
    every(left_out <= trees.totals.ignored_points, "bag: more points than the tree did not take")
    every(errors <= left_out, "bag: more errors than points")
    if isinstance(p, SaffariParameters) and p.replacement_rate is None:
        every(number == place, "bag: number must be that of the tree if none is replaced")
        every(planted + left_out == 0, "bag must be empty if no tree is replaced")


def check_activity(trees: Trees, lengths: Lengths, depth: Integers, header: Header) -> None:
    """R12: as many leaves as may be are active, but for a budget of memory."""
    p = header.parameters
    active, leaves = lengths.active, lengths.leaves
    if isinstance(p, SaffariParameters):
        may_split = depth < (2**62 if p.max_depth is None else p.max_depth)
        every(trees.leaf_active == may_split, "leaf_active must be set above max_depth only (R18)")
        return
    most = leaves if p.fringe_size is None else np.minimum(leaves, p.fringe_size)
    if p.max_memory is None:
        every(active == most, "leaf_active must be set where there is room in the fringe (R12)")
    else:
        every(active <= most, "leaf_active must not be set in more leaves than fringe_size (R12)")
        stopped = trees.totals.stopped_at > 0
        every(active[stopped] == 0, "leaf_active must not be set in a tree that has stopped")


def check_keys(trees: Trees, leaves: Leaves) -> None:
    """R12: a key is at least ŝ, and was ŝ at some time."""
    waits = trees.leaf_active == 0
    over, under, errors = trees.key_over, trees.key_under, leaves.errors[waits]
    age = leaves.estimation_points[leaves.tree[waits]] - trees.leaf_born[waits]
    age = np.maximum(age, np.uint64(1))
    every((under >= 1) & (under <= age), "key_under must be from 1 to the age of the leaf")
    every(over <= under, "key_over must not be above key_under: it is a share")
    if int(age.max(initial=0)) < 2**32:
        stale = over * age >= errors * under
    else:
        stale = over.astype(object) * age >= errors.astype(object) * under
    every(stale.astype(bool), "key_over / key_under must be at least ŝ of its leaf")
