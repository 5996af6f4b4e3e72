"""The rules beyond the paper (R19 to R21) one by one, and what holds whatever the stream.

As in `test_reference`, a case reads like a sentence: `s(x, y)` is a structure point, `e(x, y)` an
estimation point, `i(x, y)` an ignored one.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riparian.depth.reference import DepthDifferences, Pixel
from riparian.parameters.schedules import Geometric
from riparian.reference import LEAF_DRAW, Columns, Draws, Forest, Leaf, Split, key, uniform
from riparian.reference_kept import (
    BOUND_DRAW,
    Arrival,
    KeepingForest,
    KeepingTree,
    KeptPoints,
    Lists,
)

from engines import Reference, TossedByTheTest, e, feed, i, keeping, mixture, parameters, s
from equivalence import counts, reference_lists, reference_memory, reference_tree
from strategies import parameters as any_parameters
from strategies import streams

pytestmark = pytest.mark.engine

few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

W = st.sampled_from([1, 2, 7, 30, 100, 1000])


class CoinTree(TossedByTheTest, KeepingTree):
    """A tree whose coins the test tosses."""


def state(forest):
    """All that a forest holds."""
    return [
        (
            reference_tree(tree),
            reference_memory(tree),
            counts(tree.importance),
            tree.should_splits,
            tree.must_splits,
            tree.structure_points,
            tree.estimation_points,
            tree.ignored_points,
            tree.lost_estimation_points,
        )
        for tree in forest.trees
    ]


def forest_of(p, n_dims):
    return KeepingForest(p, Columns(n_dims, p.rate(n_dims)))


def leaves(tree):
    return [node for node in tree.nodes() if isinstance(node, Leaf)]


def listed(tree, number=0):
    """The numbers that a leaf lists, those of lost points included."""
    lists = tree.lists[number]
    return [point.t for point in lists.structure], [point.t for point in lists.estimation]


def thresholds(leaf):
    return [split.threshold for split in leaf.candidates]


# -- R19 kept points ------------------------------------------------------------------------------


def test_r19_the_last_w_points_are_kept_the_arriving_one_included():
    kept = KeptPoints(3)
    lost = [[point.t for point in kept.receive(None, "a", 1.0)] for _ in range(5)]
    assert lost == [[], [], [], [0], [1]]
    assert [point.t for point in kept.points] == [2, 3, 4]
    assert [kept.holds(t) for t in range(5)] == [False, False, True, True, True]


def test_r19_with_w_0_not_even_the_arriving_point_is_kept():
    kept = KeptPoints(0)
    assert [point.t for point in kept.receive(None, "a", 1.0)] == [0]
    assert not kept.points and not kept.holds(0)


def test_r19_a_leaf_lists_the_points_in_its_cell_by_stream_in_order_of_time():
    assert listed(feed(CoinTree(), s(1), e(7), s(3), e(2), e(9))) == ([0, 2], [1, 3, 4])


def test_r19_ignored_points_and_those_rounded_to_nothing_take_a_place_but_are_not_listed():
    tree = feed(CoinTree(kept_points=4), s(1), e(1), i(1), s(1, copies=0), e(1))
    assert reference_lists(tree, 0) == {"structure": [], "estimation": [1, 4]}


READY = s(1, "a"), s(2, "b"), e(1, "a"), e(2, "b")  # one more structure point, and it splits


def test_r19_a_waiting_leaf_lists_points_of_both_streams():
    tree = feed(CoinTree(fringe_size=1), *READY, s(2, "b"), s(2, "a"), e(2, "c"))
    (waiting,) = tree.inactive
    assert waiting.number == 2
    assert listed(tree, 2) == ([1, 4, 5], [3, 6])


def test_r19_a_column_that_came_later_is_missing_in_older_points():
    space = Columns(n_dims=3, rate=0.0)
    assert math.isnan(space.value(2, np.float32([1, 2])))
    assert space.value(1, np.float32([1, 2])) == 2


def by_routing(tree):
    """What every leaf lists, from the kept points and the tree alone."""
    lists = {leaf.number: {"structure": [], "estimation": []} for leaf in leaves(tree)}
    for t, x, _, weight in tree.kept.points:
        if tree.stream(t) != "ignored" and tree.round_weight(t, weight):
            lists[tree.leaf_of(x).number][tree.stream(t)].append(t)
    return lists


@few
@given(any_parameters(max_trees=1), W, streams(), st.integers(0, 2**32))
def test_r19_lists_are_what_routing_the_kept_points_gives(p, kept_points, stream, seed):
    X, y = stream
    forest = forest_of(keeping(p, kept_points), X.shape[1])
    weights = np.random.default_rng(seed).choice([0.3, 1, 2], size=len(X))
    (tree,) = forest.trees
    for n, (x, label, weight) in enumerate(zip(X, y.tolist(), weights, strict=True)):
        forest.learn_one(x, label, weight)
        if n % 20 == 0:
            assert reference_memory(tree)["lists"] == by_routing(tree)
    assert reference_memory(tree)["lists"] == by_routing(tree)
    weights = [
        tree.round_weight(point.t, point.weight)
        for point in forest.kept.points
        if tree.stream(point.t) == "estimation"
    ]
    assert tree.lost_estimation_points == tree.estimation_points - sum(weights)


def test_r19_of_a_depth_image_a_pixel_is_kept_with_a_hold_on_its_image():
    images = np.random.default_rng(0).uniform(1, 4, size=(3, 9, 9)).astype(np.float32)
    pixels = [Pixel(image, row, column) for image in images for row, column in np.ndindex(9, 9)]
    p = parameters(kept_points=100, beta=20, min_gain=0.1, candidate_dims=3.0)
    forest = KeepingForest(p, DepthDifferences(offset_std=3.0, far=6.0, rate=3.0))
    forest.learn(pixels, [int(pixel.image[pixel.row, pixel.column] > 2) for pixel in pixels])
    (tree,) = forest.trees
    assert len(leaves(tree)) > 3
    assert [point.x for point in forest.kept.points] == pixels[-100:]
    assert reference_memory(tree)["lists"] == by_routing(tree)


# -- R20 young leaves look ------------------------------------------------------------------------


@few
@given(any_parameters(max_trees=2), streams(), st.integers(0, 2**32))
def test_r20_with_no_kept_points_it_is_the_forest_of_the_paper_node_for_node(p, stream, seed):
    X, y = stream
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 1, 3], size=len(X)).tolist()
    space = Columns(X.shape[1], p.rate(X.shape[1]))
    keeps_none, paper = KeepingForest(keeping(p, 0), space), Forest(p, space)
    for forest in (keeps_none, paper):
        forest.learn(X, y.tolist(), weights)
    for mine, its in zip(keeps_none.trees, paper.trees, strict=True):
        assert reference_tree(mine) == reference_tree(its)
        assert mine.importance == its.importance
        assert (mine.should_splits, mine.must_splits) == (its.should_splits, its.must_splits)


def test_r20_a_leaf_that_enters_the_fringe_is_young_and_has_no_candidates():
    tree = feed(CoinTree(), e(1), s(1))
    assert tree.is_young(tree.root)
    assert (tree.root.attempt, list(tree.root.dims), tree.root.candidates) == (0, [], [])


def test_r20_it_looks_each_time_its_structure_points_have_grown_by_three_tenths():
    tree = CoinTree(kept_points=100)
    looks = []
    tree.look = lambda leaf: (
        looks.append(len(tree.lists[0].structure)) or KeepingTree.look(tree, leaf)
    )
    feed(tree, *[s(1)] * 40)
    assert looks == [1, 2, 3, 4, 6, 8, 11, 15, 20, 26, 34]


def test_r20_a_look_counts_all_that_is_listed_and_its_children_begin_with_it():
    # The paper's leaf would count nothing before its first structure point.
    tree = feed(CoinTree(), e(1, "c"), e(2, "d"), s(1, "a"), s(2, "b"))
    left, right = tree.root.children
    assert (tree.root.threshold, left.estimation, right.estimation) == (1, {"c": 1}, {"d": 1})
    assert (left.number, right.number) == (1, 2)
    assert tree.importance == {0: 2 * 2**20}


def test_r20_the_point_that_splits_a_leaf_goes_to_the_list_of_a_child():
    tree = feed(CoinTree(), *READY, s(2, "b"))
    assert listed(tree, 1) == ([0], [2])
    assert listed(tree, 2) == ([1, 4], [3])


def test_r20_candidates_are_from_dimensions_and_then_points_drawn_from_one_sequence():
    tree = CoinTree(n_dims=9, seed=5, candidate_dims=3.0, split_points=4, min_gain=9)
    rows = np.random.default_rng(0).permutation(7 * 9).reshape(7, 9)
    feed(tree, *(s(row) for row in rows))
    tree.select_candidates(tree.root)
    draws = Draws(key(5, 0, LEAF_DRAW, 0, tree.root.attempt))
    dims = tree.space.draw(draws)
    chosen = list(range(7))
    for k in range(4):
        j = k + draws.below(7 - k)
        chosen[k], chosen[j] = chosen[j], chosen[k]
    assert [split.feature for split in tree.root.candidates] == list(dims) * 4
    assert thresholds(tree.root) == [rows[k][dim] for k in chosen[:4] for dim in dims]
    assert {
        split.structure[0].total() + split.structure[1].total() for split in tree.root.candidates
    } == {7}


def test_r20_with_fewer_than_two_alpha_estimation_points_nothing_is_drawn():
    tree = feed(CoinTree(alpha=Geometric(2, 1.1)), e(1), e(1), e(1), *[s(1)] * 4)
    assert (tree.root.attempt, tree.next_look[0]) == (0, 6)


def test_r20_where_points_sufficed_and_none_was_valid_the_next_look_draws_again():
    tree = feed(CoinTree(), e(1), e(1), s(1, "a"))
    assert tree.root.attempt == 0  # one structure point does not suffice
    feed(tree, s(1, "b"))
    assert tree.root.attempt == 1
    feed(tree, s(1, "a"))
    assert tree.root.attempt == 2


def test_r20_a_look_is_passed_over_where_the_labels_have_no_gain_to_give():
    tree = feed(CoinTree(), e(1), e(1), s(1, "a"), s(1, "a"))
    assert tree.root.attempt == 0  # nothing was drawn
    assert tree.next_look[0] == 3
    must = feed(CoinTree(beta=Geometric(2, 2)), e(1), e(1), s(1, "a"), s(1, "a"))
    assert must.root.attempt == 1  # it looks, since it must split if it can


def test_r20_where_one_was_valid_the_next_look_draws_the_same_dimensions():
    tree = feed(CoinTree(min_gain=9), *READY, *[s(2)] * 10)
    assert isinstance(tree.root, Leaf)
    assert tree.root.attempt == 0


def test_r20_should_by_the_gain_of_what_is_listed_else_must_by_the_histogram():
    should = feed(CoinTree(min_gain=0.999), e(1), e(2), s(1, "a"), s(2, "b"))
    assert (should.should_splits, should.must_splits) == (1, 0)
    neither = feed(CoinTree(min_gain=1), e(1), e(2), s(1, "a"), s(2, "b"))
    assert isinstance(neither.root, Leaf)
    must = feed(CoinTree(min_gain=1, beta=Geometric(2, 2)), e(1), e(2), s(1, "a"), s(2, "b"))
    assert (must.should_splits, must.must_splits) == (0, 1)


def test_r20_all_leaves_that_enter_look_in_order_of_number_each_as_deep_as_it_goes():
    tree = CoinTree(beta=Geometric(20, 1.1))
    tree.is_due = lambda: False
    X = np.random.default_rng(0).random(60)
    feed(tree, *(e(x) for x in X), *(s(x, "ab"[int(8 * x) % 2]) for x in X))
    looks = []
    tree.look = lambda leaf: looks.append(leaf.number) or KeepingTree.look(tree, leaf)
    assert tree.rebuild()
    splits_ = [node for node in tree.nodes() if isinstance(node, Split)]
    assert len(splits_) > 5
    assert looks == in_preorder(tree.root)
    children = {split.number: split.children[0].number for split in splits_}
    in_order = [children[number] for number in looks if number in children]
    assert in_order == sorted(in_order)


def in_preorder(node):
    below = node.children if isinstance(node, Split) else []
    return [node.number, *(number for child in below for number in in_preorder(child))]


def test_r20_a_leaf_that_waited_looks_at_what_it_listed_meanwhile():
    # In a fringe of one the right child waits, and enters when the left one splits.
    tree = feed(CoinTree(fringe_size=1), *READY, s(2, "b"))
    feed(tree, e(2, "b"), e(3, "c"), e(3, "c"), s(3, "c"))
    assert [leaf.number for leaf in tree.inactive] == [2]
    feed(tree, e(1, "a"), e(0, "d"), e(0, "d"), s(0, "d"))
    left, right = tree.root.children
    assert (left.threshold, right.threshold) == (0, 2)
    assert [leaf.number for leaf in tree.fringe] == [3]  # of four that no error calls for


# -- R20 settled leaves count ---------------------------------------------------------------------


def test_r20_a_young_leaf_settles_at_a_structure_point_once_a_listed_point_is_lost():
    tree = feed(CoinTree(kept_points=4), s(1), e(1), e(2), e(3), e(4))
    assert tree.lists[0].has_lost(tree.kept)
    assert tree.is_young(tree.root)  # an estimation point only counts
    feed(tree, s(5))
    assert tree.is_settled(tree.root)
    assert listed(tree) == ([5], [2, 3, 4])


def test_r20_a_leaf_that_settles_begins_with_candidates_from_the_kept_points():
    tree = feed(CoinTree(kept_points=4, min_gain=9), e(0, copies=9), s(1, "a"), e(1, "c", copies=2))
    feed(tree, e(2, "d"), s(1, "b"))
    (first, second) = tree.root.candidates  # the last structure points, in an order that is drawn
    assert thresholds(tree.root) == [1, 1]
    assert first.structure == second.structure == ({"a": 1, "b": 1}, {})
    assert first.estimation == second.estimation == ({"c": 2}, {"d": 1})
    assert first.born == second.born == 9  # the estimation weight that is lost
    assert tree.root.received == 3
    assert tree.root.estimation == {"a": 9, "c": 2, "d": 1}


def test_r20_the_check_follows_at_once():
    tree = feed(CoinTree(kept_points=4), e(0), s(1, "a"), e(1), e(2), s(2, "b"))
    assert isinstance(tree.root, Split)
    left, right = tree.root.children
    assert left.born == right.born == 1
    assert (listed(tree, 1), listed(tree, 2)) == (([1], [2]), ([4], [3]))


def test_r20_then_it_counts_as_the_paper_has_it_and_the_next_points_add_their_thresholds():
    tree = feed(CoinTree(kept_points=2, split_points=3, min_gain=9), e(0), e(0), e(0), s(1, "a"))
    assert (thresholds(tree.root), tree.root.received) == ([1], 1)
    feed(tree, e(2, "b"), s(3, "b"), e(4), s(5), s(6))
    first, second, third = tree.root.candidates
    assert thresholds(tree.root) == [1, 3, 5]
    assert [first.born, second.born, third.born] == [2, 4, 5]
    assert first.estimation == ({"a": 1}, {"b": 1, "a": 1})
    assert second.structure == ({"b": 1}, {"a": 2})
    assert second.estimation == ({}, {"a": 1})
    assert tree.root.received == 3


def test_r20_a_redraw_settles_again_and_its_count_is_0():
    tree = feed(CoinTree(kept_points=3, beta=Geometric(2, 1.1)), *[e(7)] * 3, s(7), e(7))
    assert (tree.root.attempt, tree.root.received) == (0, 3)
    feed(tree, e(7), s(7))
    assert (tree.root.attempt, tree.root.received) == (1, 0)
    (split,) = tree.root.candidates
    assert (split.structure, split.estimation) == (({"a": 1}, {}), ({"a": 2}, {}))
    assert split.born == tree.lost_estimation_points == 3


def test_r20_children_of_a_young_leaf_live_since_the_oldest_kept_point():
    tree = feed(CoinTree(kept_points=9), e(0, copies=5), *READY, s(2, "b"))
    feed(tree, e(2), e(3), e(3), s(3, "a"))
    assert not tree.kept.holds(0)
    _, right = tree.root.children
    assert isinstance(right, Split)  # young: it has lost nothing of its own
    assert {child.born for child in right.children} == {5}


# -- R21 regrowth ---------------------------------------------------------------------------------

SOON = Geometric(100, 1.1)  # the largest β at which trees are rebuilt


def alternating(n):
    return [point for _ in range(n) for point in (e(1, "a"), e(2, "b"), s(1, "a"), s(2, "b"))]


def first_split(**changes):
    tree = CoinTree(**({"beta": SOON} | changes))
    points = iter(alternating(100))
    while isinstance(tree.root, Leaf):
        next(points)(tree)
    return tree


@pytest.mark.parametrize("seed", range(5))
def test_r21_the_first_bound_is_between_two_and_four_times_the_arrivals_at_the_first_split(seed):
    tree = first_split(seed=seed)
    n = tree.structure_arrivals
    assert n == 2
    assert tree.bound == 2 * n + int(2 * n * uniform(key(seed, 0, BOUND_DRAW, 0)))


def to_the_bound(tree):
    feed(tree, *[s(1, "a")] * (tree.bound - tree.structure_arrivals))


def test_r21_at_the_bound_all_kept_points_are_the_list_of_a_new_root():
    tree = first_split()
    feed(tree, *[e(3, "c")] * 5, *[s(3, "c")] * (tree.bound - tree.structure_arrivals - 1))
    old = tree.root
    bound = tree.bound
    feed(tree, s(3, "c"))
    assert tree.root is not old
    assert tree.structure_arrivals == tree.growth == bound
    assert tree.bound == 2 * bound
    assert (
        Counter(t for leaf in leaves(tree) for t in listed(tree, leaf.number)[0]).total() == bound
    )
    assert sum((leaf.estimation for leaf in leaves(tree)), Counter()) == {"a": 1, "b": 1, "c": 5}
    assert tree.should_splits + tree.must_splits == len(leaves(tree)) - 1
    assert (tree.structure_points, tree.estimation_points) == (bound, 7)


def test_r21_a_tree_that_was_rebuilt_draws_from_other_keys():
    tree = CoinTree(n_dims=50, candidate_dims=9.0, seed=4)
    leaf = Leaf(number=3, depth=0, estimation=Counter(), born=0)
    leaf.attempt = 2
    assert tree.draws(leaf).state == key(4, 0, LEAF_DRAW, 3, 2)
    tree.growth = 17
    assert tree.draws(leaf).state == key(4, 0, LEAF_DRAW, 3, 2, 17)


def test_r21_if_the_new_root_does_not_split_the_old_tree_stays_and_takes_the_point():
    tree = first_split()
    tree.can_split = lambda leaf: tree.growth == 0 and KeepingTree.can_split(tree, leaf)
    old, lists, bound = tree.root, copy.deepcopy(tree.lists), tree.bound
    to_the_bound(tree)
    assert tree.root is old
    assert (tree.growth, tree.bound) == (0, 2 * bound)
    assert len(tree.lists[1].structure) == len(lists[1].structure) + bound - 2


def test_r21_a_tree_of_which_a_point_is_lost_is_not_rebuilt():
    for kept_points, grown in [(50, True), (5, False)]:
        tree = first_split(kept_points=kept_points)
        to_the_bound(tree)
        assert (tree.growth > 0) is grown


def test_r21_nor_is_one_whose_leaves_split_by_gain_alone():
    for start, grown in [(100, True), (101, False)]:
        tree = first_split(beta=Geometric(start, 1.1))
        to_the_bound(tree)
        assert (tree.growth > 0) is grown


def test_r21_nor_is_one_whose_root_has_not_split():
    tree = feed(CoinTree(beta=SOON), *[s(1)] * 30)
    assert (tree.growth, tree.bound) == (0, 0)


# -- whatever the stream --------------------------------------------------------------------------


class CheckingTree(KeepingTree):
    """A tree that checks each of its splits."""

    def split(self, leaf):
        alpha, best = self.alpha(leaf), self.best_split(leaf)
        assert all(side.total() >= alpha for side in best.estimation)
        if self.is_young(leaf):
            assert sum(best.estimation, Counter()) == self.counts(leaf)
        super().split(leaf)

    def counts(self, leaf):
        counts = Counter()
        for point in self.lists[leaf.number].estimation:
            counts[point.y] += point.copies
        return counts


@few
@given(any_parameters(max_trees=2), W, streams())
def test_both_children_of_every_split_begin_with_alpha_estimation_points(p, kept_points, stream):
    X, y = stream
    engine = Reference(keeping(p, kept_points), X.shape[1], CheckingTree)
    engine.learn(X, y)
    for tree in engine.forest.trees:
        for leaf in leaves(tree):
            assert leaf.depth == 0 or leaf.estimation.total() >= p.alpha.at(leaf.depth - 1)
        assert len(tree.fringe) <= (p.fringe_size or math.inf)


def resumed(forest):
    """The same forest from what a snapshot holds: lists and what is lost are derived."""
    other = KeepingForest(forest.parameters, forest.space, forest.classes)
    other.kept.received = other.points = forest.kept.received
    other.kept.points.extend(forest.kept.points)
    for tree, new in zip(forest.trees, other.trees, strict=True):
        resume_tree(tree, new, reference_memory(tree)["young"])
    return other


def resume_tree(tree, new, young):
    for name in (
        "structure_points", "estimation_points", "ignored_points", "structure_arrivals", "growth",
        "bound", "n_nodes", "should_splits", "must_splits",
    ):  # fmt: skip
        setattr(new, name, getattr(tree, name))
    new.importance = Counter(tree.importance)
    new.root = copy.deepcopy(tree.root)  # with histograms, candidates, attempts and R8's counts
    new.fringe = [leaf for leaf in leaves(new) if leaf.active]
    new.inactive = [leaf for leaf in leaves(new) if not leaf.active]
    new.next_look = {number: leaf["next"] for number, leaf in young.items()}
    new.lists = {leaf.number: Lists() for leaf in leaves(new)}
    new.lost_estimation_points = new.estimation_points
    for number, leaf in young.items():
        if leaf["has_lost"]:  # which one it was does not matter any more
            new.lists[number].structure.append(Arrival(-1, None, None, 1))
    for t, x, y, weight in new.kept.points:
        point = Arrival(t, x, y, new.round_weight(t, weight))
        lists = new.lists[new.leaf_of(x).number]
        if point.copies and new.stream(t) == "structure":
            lists.structure.append(point)
        elif point.copies and new.stream(t) == "estimation":
            lists.estimation.append(point)
            new.lost_estimation_points -= point.copies


@few
@given(any_parameters(max_trees=2), W, streams(), st.data())
def test_a_forest_made_from_its_snapshot_continues_as_if_nothing_had_happened(
    p, kept_points, stream, data
):
    X, y = stream
    p = keeping(p, kept_points)
    weights = np.random.default_rng(0).choice([0.3, 1, 2], size=len(X)).tolist()
    whole, pieces = forest_of(p, X.shape[1]), forest_of(p, X.shape[1])
    whole.learn(X, y.tolist(), weights)
    cuts = data.draw(st.lists(st.integers(0, len(X)), max_size=4))
    for first, last in pairwise([0, *sorted(cuts), len(X)]):
        pieces.learn(X[first:last], y[first:last].tolist(), weights[first:last])
        pieces = resumed(pieces)
    assert state(pieces) == state(whole)


def test_the_streams_of_these_tests_cover_every_case_of_the_rules():
    X, y = mixture(600)
    seen = Counter()
    for kept_points in (50, 1000):
        p = parameters(n_trees=3, beta=20, min_gain=0.1, kept_points=kept_points)
        forest = forest_of(p, 2)
        forest.learn(X, y.tolist())
        for tree in forest.trees:
            seen["young"] += len(tree.next_look)
            seen["settled"] += len(tree.fringe) - len(tree.next_look)
            seen["rebuilt"] += tree.growth > 0
    assert min(seen[life] for life in ("young", "settled", "rebuilt")) > 2
