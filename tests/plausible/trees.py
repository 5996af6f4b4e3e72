"""Whether learning could have produced the totals, leaves and fringe of each tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plausible.eager import received
from plausible.errors import check_sum, every
from riparian.engine.pieces import begins, sums
from riparian.engine.trees import Bag
from riparian.parameters.forests import PaperParameters, SaffariParameters
from riparian.parameters.values import MAX_WEIGHT
from riparian.snapshot.fields import MOST_POINTS

MOST_TAKEN = 64  # times that a tree of Saffari's takes a point: Poisson(1) is never that many


@dataclass(frozen=True)
class Leaves:
    """Numbers of trees and leaves: the first three fields by tree, the others by leaf."""

    n_classes: np.ndarray  # that have arrived at the tree
    structure_points: np.ndarray
    estimation_points: np.ndarray  # E
    tree: np.ndarray
    points: np.ndarray  # N^e(A)
    errors: np.ndarray  # those not of the commonest class
    starts: np.ndarray  # where its histogram begins

    @classmethod
    def of(cls, trees, lengths, header):
        return cls(
            n_classes=trees.totals.classes,
            structure_points=trees.totals.structure_points,
            estimation_points=received(trees, lengths, header),
            tree=np.repeat(np.arange(len(lengths.leaves)), lengths.leaves),
            points=trees.leaf_points,
            errors=trees.leaf_errors,
            starts=begins(trees.leaf_classes),
        )


def check_totals(trees, lengths, header):
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
    every(totals.stopped_at <= header.points, "totals: stopped_at must have been reached")
    if header.parameters.max_memory is None:
        every(totals.evictions == 0, "totals: evictions must be 0 without max_memory")
        every(totals.stopped_at == 0, "totals: stopped_at must be 0 without max_memory")
    check_sum(np.abs(trees.importance.astype(np.float64)), "importance")


def check_leaves(trees, lengths, depth, header):
    totals, histogram, n_classes = trees.totals, trees.histogram, trees.leaf_classes
    every(trees.feature[trees.is_leaf] == 0, "feature must be 0 in a leaf")
    every(trees.threshold[trees.is_leaf] == 0, "threshold must be 0 in a leaf")
    tree = np.repeat(np.arange(len(lengths.leaves)), lengths.leaves)
    now = received(trees, lengths, header)[tree]  # E
    every(n_classes <= totals.classes[tree], "leaf_classes must have arrived at the tree")
    every(trees.leaf_born <= now, "leaf_born must not be later than now")
    ends = np.cumsum(n_classes, dtype=np.int64)
    every(
        histogram[ends[n_classes > 0] - 1] > 0, "histogram must not end with a class of no points"
    )
    points = trees.leaf_points
    every((points > 0) | (depth == 0), "histogram must hold a point, but at the root")
    # R18: of one stream, a point that brings a split point counts for it.
    since_born = now if header.one_stream else now - trees.leaf_born
    every(points <= since_born, "histogram holds more points than came since leaf_born")
    # A young leaf hands down what it lists (R20), which need not be what its histogram holds.
    if not header.kept_points:
        of_tree = sums(points, lengths.leaves)
        every(of_tree <= totals.estimation_points, "histogram holds more points than its tree")
    if isinstance(header.parameters, PaperParameters) and not header.eager:
        alpha = header.parameters.alpha.integers(int(depth.max()))
        below = depth > 0
        every(points[below] >= alpha[depth[below] - 1], "histogram must hold α points (R6)")


def check_bags(bag, trees, header):
    """Check the errors by which a tree may be replaced (R18)."""
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


def check_activity(trees, lengths, depth, header):
    """Check that as many leaves are active as R12 and the memory budget allow."""
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


def check_keys(trees, leaves):
    """Check that a key is at least ŝ, and was ŝ at some time (R12)."""
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
