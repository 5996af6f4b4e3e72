"""The rules one by one, on trees small enough to follow by hand.

Points are put into a stream directly, so that a case reads like a sentence: `s(x, y)` for a
structure point, `e(x, y)` for an estimation point.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riparian.parameters.schedules import Geometric
from riparian.reference import (
    GOLDEN,
    LEAF_DRAW,
    STREAM_DRAW,
    WHOLE,
    WORD,
    Columns,
    Draws,
    EstimationCounts,
    Forest,
    Leaf,
    Split,
    StructureCounts,
    Tree,
    goes_right,
    information_gain,
    key,
    mix,
    shares,
    split_is_valid,
    uniform,
    vote,
)
from riparian.reference import F as entropy_term

from engines import NEVER, Reference, mixture, parameters

NAN = math.nan


def tree_of(n_dims=1, **changes):
    """A tree that looks at one dimension, splits on any gain, and needs one point a side."""
    p = parameters(**({"candidate_dims": 0.0, "beta": NEVER} | changes))
    return Tree(0, p, Columns(n_dims, p.rate(n_dims)))


def point(x):
    return np.atleast_1d(np.float32(x))


def s(x, y="a", copies=1):
    return lambda tree: tree.receive_structure(point(x), y, copies)


def e(x, y="a", copies=1):
    return lambda tree: tree.receive_estimation(point(x), y, copies)


def feed(tree, *points):
    for give in points:
        give(tree)
    return tree


def thresholds(leaf):
    return [split.threshold for split in leaf.candidates]


# -- R1 streams -----------------------------------------------------------------------------------


def test_r1_points_are_shared_among_the_streams_by_their_fractions():
    n = 20_000
    p = parameters(structure_fraction=0.3, ignore_fraction=0.2)
    tree = Tree(0, p, Columns(1, 1.0))
    drawn = {"structure": [], "estimation": []}
    tree.receive_structure = lambda x, u, copies: drawn["structure"].append(u)
    tree.receive_estimation = lambda x, u, copies: drawn["estimation"].append(u)
    for t in range(n):
        tree.receive(t, None, uniform(key(0, 0, STREAM_DRAW, t)), 1.0)  # the label is its uniform
    assert max(drawn["structure"]) < 0.3
    assert min(drawn["estimation"]) >= 0.5
    for count, share in [(len(drawn["structure"]), 0.3), (tree.ignored_points, 0.2)]:
        assert abs(count / n - share) < 4 * math.sqrt(share * (1 - share) / n)


def test_r1_every_tree_draws_for_itself():
    first, second = ([uniform(key(0, tree, 0, t)) < 0.5 for t in range(4000)] for tree in (0, 1))
    agree = sum(a == b for a, b in zip(first, second, strict=True))
    assert abs(agree / 4000 - 0.5) < 0.04


def test_r1_an_ignored_point_leaves_no_trace():
    p = parameters(structure_fraction=1e-300, ignore_fraction=0.999999)
    engine = Reference(p, 2)
    X, y = mixture(50)
    engine.learn(X, y)
    (tree,) = engine.forest.trees
    assert (tree.ignored_points, tree.structure_points, tree.estimation_points) == (50, 0, 0)
    assert tree.root.estimation == {}


# -- R2 a leaf enters the fringe ------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.0, 0.4, 1.0, 3.7, 2000.0])
def test_r2_the_number_of_dimensions_is_poisson_also_where_exp_underflows(rate):
    n = 100 if rate > 100 else 3000
    counts = [Draws(key(9, seed)).poisson(rate) for seed in range(n)]
    assert abs(np.mean(counts) - rate) <= 4 * math.sqrt(rate / n)
    # The variance of a Poisson count is its mean; the variance of that estimate is about 2/n of it.
    assert abs(np.var(counts) - rate) <= 4 * (rate * math.sqrt(2 / n) + math.sqrt(rate / n))


def test_r2_one_dimension_comes_on_top_of_the_poisson_draw():
    drawn = [len(Columns(1000, 1.0).draw(Draws(key(seed)))) for seed in range(3000)]
    assert abs(np.mean(drawn) - 2.0) < 4 / math.sqrt(3000)


def test_r2_dimensions_are_distinct_and_uniform():
    drawn = [Columns(6, 2.0).draw(Draws(key(seed))) for seed in range(3000)]
    assert all(len(set(dims)) == len(dims) for dims in drawn)
    for place in (0, 1):
        counts = Counter(dims[place] for dims in drawn if len(dims) > place)
        expected = counts.total() / 6
        assert all(abs(counts[dim] - expected) < 4 * math.sqrt(expected) for dim in range(6))


def test_r2_there_is_at_least_one_dimension_and_at_most_all():
    sizes = {len(Columns(3, 1.0).draw(Draws(seed))) for seed in range(100)}
    assert sizes == {1, 2, 3}
    assert sorted(Columns(7, 500.0).draw(Draws(0))) == list(range(7))
    assert len(Columns(7, 0.0).draw(Draws(0))) == 1


def test_r2_the_root_is_in_the_fringe_before_the_first_point():
    tree = tree_of()
    assert tree.root.active
    assert tree.fringe == [tree.root]
    assert tree.root.dims == [0]


# -- R3 candidate splits --------------------------------------------------------------------------


def test_r3_the_first_m_structure_points_give_the_thresholds():
    tree = feed(tree_of(split_points=3), e(0), s(5), s(7), e(8), s(6), s(1), s(2))
    assert thresholds(tree.root) == [5, 7, 6]


def test_r3_each_of_them_gives_one_in_every_candidate_dimension():
    tree = feed(tree_of(n_dims=3, candidate_dims=50.0), s([1, 2, 3]), s([4, 5, 6]))
    dims = tree.root.dims
    assert sorted(dims) == [0, 1, 2]
    assert [split.feature for split in tree.root.candidates] == dims * 2
    assert thresholds(tree.root) == [dim + 1 for dim in dims] + [dim + 4 for dim in dims]


def test_r3_equal_thresholds_are_kept():
    tree = feed(tree_of(split_points=3), s(5), s(5), s(5), s(6))
    assert thresholds(tree.root) == [5, 5, 5]


# -- R4 sides -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "threshold", "right"),
    [
        (1, 2, False),
        (2, 2, False),
        (3, 2, True),
        (-0.0, 0.0, False),
        (NAN, 2, True),
        (2, NAN, True),
        (NAN, NAN, True),
    ],
)
def test_r4_up_to_the_threshold_goes_left_and_all_else_right(value, threshold, right):
    assert goes_right(value, threshold) is right


def test_r4_a_missing_value_makes_a_threshold_that_is_never_valid():
    tree = feed(tree_of(), s(NAN, "a"), e(1), e(NAN), e(3), s(1, "b"))
    assert tree.root.candidates[0].estimation == ({}, {"a": 3})
    assert isinstance(tree.root, Leaf)


# -- R5 what a candidate counts -------------------------------------------------------------------


def test_r5_a_candidate_counts_its_creator_and_what_comes_after_and_nothing_before():
    tree = feed(
        tree_of(min_gain=9), s(5, "a"), e(4, "a"), e(6, "b"), s(7, "b"), e(7, "a"), s(8, "c")
    )
    first, second, third = tree.root.candidates
    assert first.structure == ({"a": 1}, {"b": 1, "c": 1})
    assert first.estimation == ({"a": 1}, {"b": 1, "a": 1})
    assert second.structure == ({"b": 1}, {"c": 1})
    assert second.estimation == ({"a": 1}, {})
    assert third.structure == ({"c": 1}, {})
    assert third.estimation == ({}, {})


def test_r5_a_candidate_is_born_with_the_estimation_points_of_the_tree():
    tree = feed(tree_of(), s(1), e(1), e(1), s(1))
    assert [split.born for split in tree.root.candidates] == [0, 2]


# -- R6 when a leaf may split ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "valid"), [(3, 3, True), (2, 9, False), (9, 2, False), (3, 9, True)]
)
def test_r6_a_split_is_valid_with_alpha_estimation_points_on_both_sides(left, right, valid):
    assert split_is_valid(left, right, alpha=3) is valid


READY = (s(1, "a"), s(2, "b"), e(1, "a"), e(2, "b"))  # one more structure point, and it splits


def test_r6_only_a_structure_point_splits():
    tree = feed(tree_of(), *READY, e(1, "a"), e(2, "b"))
    assert isinstance(tree.root, Leaf)
    feed(tree, s(2, "b"))
    assert isinstance(tree.root, Split)


def test_r6_the_point_that_splits_is_not_passed_on():
    tree = feed(tree_of(), *READY, s(2, "b"))
    assert all(child.candidates == [] for child in tree.root.children)


def test_r6_structure_labels_alone_make_no_split_valid():
    tree = feed(tree_of(), *[s(1, "a"), s(2, "b")] * 20, e(1), e(1))
    feed(tree, s(2, "b"))
    assert isinstance(tree.root, Leaf)


def test_r6_an_inactive_leaf_ignores_structure_points():
    tree = feed(tree_of(fringe_size=1), *READY, s(2, "b"))
    (inactive,) = tree.inactive
    x = {1: 1, 2: 2}[inactive.number]
    before = vars(inactive).copy()
    feed(tree, s(x, "a"), s(x, "b"))
    assert vars(inactive) == before


# -- R7 information gain --------------------------------------------------------------------------


def textbook_mutual_information(left, right):
    """Σ p(side, label) log2 p(side, label) / (p(side) p(label)), straight from the definition."""
    n = left.total() + right.total()
    both = left + right
    return sum(
        count / n * math.log2(count * n / (side.total() * both[label]))
        for side in (left, right)
        for label, count in side.items()
        if count
    )


labels_seen = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 500)).map(StructureCounts)


@given(labels_seen, labels_seen)
def test_r7_the_gain_is_the_mutual_information_of_side_and_label(left, right):
    if left.total() + right.total() == 0:
        return
    assert information_gain(left, right) == pytest.approx(
        textbook_mutual_information(left, right), abs=1e-5
    )


@pytest.mark.parametrize(
    ("left", "right", "gain"),
    [
        ({"a": 4}, {"b": 4}, 1.0),
        ({"a": 4}, {"a": 4}, 0.0),
        ({"a": 2, "b": 2}, {"a": 2, "b": 2}, 0.0),
        ({"a": 4}, {}, 0.0),
        ({"a": 1, "b": 1}, {"c": 1, "d": 1}, 1.0),
    ],
)
def test_r7_known_gains(left, right, gain):
    assert information_gain(StructureCounts(left), StructureCounts(right)) == gain


# -- R8 should and must ---------------------------------------------------------------------------


def test_r8_a_leaf_should_split_only_on_more_gain_than_tau():
    exactly_one_bit = (s(1, "a"), e(1), e(2), s(2, "b"))
    assert isinstance(feed(tree_of(min_gain=1.0), *exactly_one_bit).root, Leaf)
    assert isinstance(feed(tree_of(min_gain=0.999), *exactly_one_bit).root, Split)


@pytest.mark.parametrize(("estimation_points", "root"), [(4, Leaf), (5, Split)])
def test_r8_a_leaf_must_split_at_beta_estimation_points(estimation_points, root):
    tree = tree_of(min_gain=9, beta=Geometric(5, 1.1))
    feed(tree, s(1), e(2), *[e(1)] * (estimation_points - 1), s(1))
    assert type(tree.root) is root
    assert tree.must_splits == (root is Split)
    assert tree.should_splits == 0


def test_r8_points_from_before_its_activation_count_towards_beta():
    # At depth 1, α is 2 and β is 6: the left child is born with two points and receives four.
    tree = tree_of(min_gain=0.5, beta=Geometric(5, 1.1))
    feed(tree, *READY, e(1, "a"), s(2, "b"))
    left, _ = tree.root.children
    assert (left.estimation.total(), left.received) == (2, 0)
    feed(tree, s(0, "a"), e(0, "a"), e(0, "a"), e(1, "a"), e(1, "a"))
    assert (left.estimation.total(), left.received) == (6, 4)
    feed(tree, s(0, "a"))
    assert isinstance(tree.root.children[0], Split)
    assert (tree.should_splits, tree.must_splits) == (1, 1)


def test_r8_a_leaf_that_must_split_but_cannot_waits():
    tree = feed(tree_of(min_gain=9, beta=Geometric(2, 1.1)), s(1), e(1), e(1), e(1), s(1))
    assert isinstance(tree.root, Leaf)
    assert tree.root.attempt == 0


def constant_data(n):
    return s(7), *[e(7)] * n


def test_r8_after_two_beta_points_without_a_valid_candidate_they_are_drawn_afresh():
    tree = tree_of(n_dims=50, seed=3, beta=Geometric(4, 1.1))
    sevens = np.full(50, 7)
    feed(tree, s(sevens), *[e(sevens)] * 8)
    assert tree.root.attempt == 0  # an estimation point only counts
    feed(tree, s(sevens))
    root = tree.root
    assert (root.attempt, root.received, root.candidates, root.split_points) == (1, 0, [], 0)
    assert root.dims == tree.space.draw(Draws(key(3, 0, LEAF_DRAW, 0, 1)))
    assert root.estimation == {"a": 8}


def test_r8_one_point_less_and_they_stay():
    tree = feed(tree_of(beta=Geometric(4, 1.1)), *constant_data(7), s(7))
    assert (tree.root.attempt, tree.root.received) == (0, 7)


def test_r8_the_attempts_go_on():
    tree = tree_of(beta=Geometric(4, 1.1))
    for attempt in range(1, 5):
        feed(tree, *constant_data(8), s(7))
        assert tree.root.attempt == attempt


def test_r8_while_a_candidate_is_valid_none_is_drawn_afresh():
    tree = tree_of(min_gain=9, beta=Geometric(4, 1.1))
    feed(tree, s(1), e(1, copies=50), e(2))
    tree.must_split = lambda leaf: False
    feed(tree, s(1))
    assert tree.root.attempt == 0


# -- R9 which split -------------------------------------------------------------------------------


def test_r9_the_valid_candidate_with_the_largest_gain_is_taken():
    tree = tree_of(min_gain=9)
    feed(tree, s(1, "a"), s(3, "b"), s(2, "a"), s(3, "b"), e(1), e(2), e(3))
    assert [split.is_valid(1) for split in tree.root.candidates] == [True, False, True, False]
    assert tree.best_split(tree.root).threshold == 2


def test_r9_more_gain_does_not_help_an_invalid_candidate():
    tree = tree_of(min_gain=9)
    feed(tree, s(1, "a"), s(2, "b"), s(1, "b"), s(3, "b"), e(2), e(3))
    first, second, *_ = tree.root.candidates
    assert first.gain() > second.gain()
    assert tree.best_split(tree.root) is second


def test_r9_among_equals_the_last_created_is_taken():
    tree = tree_of(n_dims=3, candidate_dims=50.0, min_gain=9)
    feed(tree, s([1, 1, 1], "a"), s([1, 1, 1], "a"), e([1, 1, 1]), e([2, 2, 2]))
    feed(tree, s([2, 2, 2], "b"))
    best = tree.best_split(tree.root)
    valid = [split for split in tree.root.candidates if split.is_valid(1)]
    # Two split points in three dimensions: the last dimension of the second point.
    assert len(valid) == 6
    assert best is valid[-1]
    assert best.feature == tree.root.dims[-1]


# -- R10 children ---------------------------------------------------------------------------------


def test_r10_children_begin_with_the_estimation_points_of_their_candidate():
    tree = feed(tree_of(), e(1, "c"), *READY, e(2, "c"), s(2, "b"))
    left, right = tree.root.children
    assert (left.estimation, right.estimation) == ({"a": 1}, {"b": 1, "c": 1})
    assert (left.depth, right.depth) == (1, 1)
    assert (left.number, right.number) == (1, 2)
    assert left.born == right.born == 1


# -- R11 prediction -------------------------------------------------------------------------------


def forest_of(*trees_points, classes="ab", **changes):
    """A forest whose trees have received these points each."""
    p = parameters(n_trees=len(trees_points), candidate_dims=0.0, **changes)
    forest = Forest(p, Columns(1, 0.0), classes=classes)
    for tree, points in zip(forest.trees, trees_points, strict=True):
        feed(tree, *points)
    return forest


A, B = e(0, "a"), e(0, "b")


@pytest.mark.parametrize(
    ("voting", "trees", "proba", "answer"),
    [
        ("average", [[A], [A, B, B, B]], [0.625, 0.375], "a"),
        ("average", [[A, B], [A, B, B, B]], [0.375, 0.625], "b"),
        ("majority", [[A], [A, B, B, B]], [0.5, 0.5], "a"),  # a tie of the trees
        ("majority", [[A, B], [A, B, B, B]], [0.5, 0.5], "a"),  # and one within a tree
        ("majority", [[A], [B, B], [B, B]], [1 / 3, 2 / 3], "b"),
        ("average", [[A], []], [1.0, 0.0], "a"),  # the second tree abstains
        ("majority", [[B], []], [0.0, 1.0], "b"),
        ("average", [[], []], [0.5, 0.5], "a"),  # all abstain
        ("majority", [[], []], [0.5, 0.5], "a"),
    ],
)
def test_r11_trees_are_averaged_or_vote_and_one_without_points_abstains(
    voting, trees, proba, answer
):
    forest = forest_of(*trees, voting=voting)
    assert list(forest.predict_proba(point(0)).values()) == proba
    assert forest.predict(point(0)) == answer


def test_r11_a_tree_votes_for_the_first_of_its_likeliest_classes():
    assert vote([4, 4, 2]) == [WHOLE, 0, 0]
    assert vote([2, 4, 4]) == [0, WHOLE, 0]


def test_r11_a_share_is_rounded_half_to_even_to_a_multiple_of_two_to_the_minus_40():
    assert shares([0, 7]) == [0, WHOLE]
    assert shares([1, 2]) == [round(Fraction(n * 2**40, 3)) for n in (1, 2)]
    assert shares([1, 3, 5, 2**41 - 9])[:3] == [0, 2, 2]


def test_r11_a_vote_uses_counts_where_shares_are_equal():
    assert shares([2**50, 2**50 + 1]) == [WHOLE // 2, WHOLE // 2]
    assert vote([2**50, 2**50 + 1]) == [0, WHOLE]


def test_r11_sums_do_not_depend_on_the_order_of_the_trees():
    trees = [[A] * n + [B] * (10 - n) for n in (1, 1, 4)]
    expected = (2 * shares([1, 9])[0] + shares([4, 6])[0]) / (3 * WHOLE)
    for order in permutations(trees):
        assert forest_of(*order).predict_proba(point(0))["a"] == expected
    assert (0.1 + 0.1 + 0.4) / 3 != (0.4 + 0.1 + 0.1) / 3  # as sums of rounded numbers would


# -- R12 bounded fringe ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "born", "received", "s_hat"),
    [
        ({}, 0, 0, 0),
        ({"a": 3, "b": 1}, 0, 4, Fraction(1, 4)),
        ({"a": 3, "b": 3}, 0, 12, Fraction(1, 4)),
        ({"a": 3, "b": 1}, 10, 20, Fraction(1, 10)),
        ({"a": 3}, 0, 9, 0),
        ({"a": 1, "b": 1}, 20, 20, 0),
    ],
)
def test_r12_s_hat_is_the_errors_over_the_lifetime(counts, born, received, s_hat):
    leaf = Leaf(number=1, depth=1, estimation=EstimationCounts(counts), born=born)
    assert leaf.s_hat(received) == s_hat


def waiting(tree, *leaves_):
    """Put leaves with these counts into the queue for the fringe, and let the tree fill it."""
    tree.fringe = []
    tree.inactive = [Leaf(number, 1, EstimationCounts(c), born=0) for number, c in leaves_]
    tree.estimation_points = 100
    tree.fill_fringe()
    return [leaf.number for leaf in tree.fringe]


def test_r12_the_inactive_leaf_with_the_largest_s_hat_takes_the_place():
    queue = (1, {"a": 5}), (2, {"a": 5, "b": 4}), (3, {"a": 9, "b": 2})
    assert waiting(tree_of(fringe_size=1), *queue) == [2]
    assert waiting(tree_of(fringe_size=2), *queue) == [2, 3]


def test_r12_ties_go_to_the_leaf_created_first():
    queue = (4, {"a": 5, "b": 2}), (2, {"a": 9, "b": 2}), (3, {"b": 2, "a": 2})
    assert waiting(tree_of(fringe_size=2), *queue) == [2, 3]


def test_r12_ratios_are_compared_exactly():
    # As rounded numbers these two would be the same.
    tree = tree_of(fringe_size=1)
    old = Leaf(1, 1, EstimationCounts(a=2**60, b=2**59), born=0)
    new = Leaf(2, 1, EstimationCounts(a=2**60, b=2**59 + 1), born=0)
    tree.fringe, tree.inactive, tree.estimation_points = [], [old, new], 2**61
    assert float(old.s_hat(2**61)) == float(new.s_hat(2**61))
    tree.fill_fringe()
    assert tree.fringe == [new]


def test_r12_a_leaf_of_no_use_enters_while_there_is_room():
    assert waiting(tree_of(fringe_size=2), (1, {"a": 5}), (2, {})) == [1, 2]


def test_r12_a_fringe_of_one_has_one_child_wait():
    tree = feed(tree_of(fringe_size=1), *READY, s(2, "b"))
    left, right = tree.root.children
    assert (left.active, right.active) == (True, False)
    assert tree.inactive == [right]


def test_r12_an_inactive_leaf_counts_what_it_will_predict():
    tree = feed(tree_of(fringe_size=1), *READY, s(2, "b"), e(2, "a"), e(2, "c"))
    _, right = tree.root.children
    assert right.estimation == {"b": 1, "a": 1, "c": 1}


def test_r12_the_draws_of_a_leaf_do_not_depend_on_when_it_enters():
    X, y = mixture(300)
    bounded, free = (
        Reference(parameters(seed=8, fringe_size=size, candidate_dims=0.7), 2) for size in (5, None)
    )
    dims = []
    for engine in (bounded, free):
        engine.learn(X, y)
        dims.append({leaf.number: leaf.dims for leaf in engine.forest.trees[0].fringe})
    shared = dims[0].keys() & dims[1].keys()
    assert shared
    assert all(dims[0][number] == dims[1][number] for number in shared)


# -- R13 randomness is a value --------------------------------------------------------------------

SPLITMIX_1234567 = [  # the published outputs of SplitMix64 from this seed
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]


def test_r13_mix_is_the_finaliser_of_splitmix64():
    states = [1234567 + i * GOLDEN & WORD for i in range(1, 6)]
    assert [mix(state) for state in states] == SPLITMIX_1234567


def test_r13_draws_are_a_splitmix64_sequence():
    draws = Draws(1234567)
    assert [draws.uniform() for _ in range(5)] == [uniform(word) for word in SPLITMIX_1234567]


def test_r13_a_key_folds_its_words_through_mix_in_order():
    assert key(1234567) == SPLITMIX_1234567[0]
    assert key(1234567, 7) == key(SPLITMIX_1234567[0] ^ 7)
    assert key(1, 2) != key(2, 1)
    assert 0 <= key(2**64 - 1, 2**64 - 1) <= WORD


def test_r13_a_leaf_draws_from_the_key_of_its_node():
    p = parameters(seed=5)
    tree = feed(Tree(3, p, Columns(40, 9.0)), s([1] * 40, "a"), e([1] * 40), e([2] * 40))
    feed(tree, s([2] * 40, "b"))
    for leaf in tree.root.children:
        assert leaf.dims == tree.space.draw(Draws(key(5, 3, LEAF_DRAW, leaf.number, 0)))


def test_r13_a_uniform_is_the_top_53_bits():
    assert uniform(0) == uniform(2**11 - 1) == 0
    assert uniform(2**63) == 0.5
    assert uniform(WORD) == 1 - 2**-53


@given(st.integers(0, WORD), st.integers(1, 2**31))
def test_r13_a_whole_number_is_below_its_bound(start, n):
    assert 0 <= Draws(start).below(n) < n


def test_r13_batches_make_no_difference():
    X, y = mixture(200)
    p = parameters(n_trees=2, fringe_size=3)
    whole, pieces = Reference(p, 2), Reference(p, 2)
    whole.learn(X, y)
    for cut in (slice(0, 1), slice(1, 1), slice(1, 150), slice(150, 200)):
        pieces.learn(X[cut], y[cut])
    assert [pieces.tree(i) for i in (0, 1)] == [whole.tree(i) for i in (0, 1)]


def test_r13_a_point_of_no_weight_is_no_point_of_the_stream():
    X, y = mixture(200)
    some = np.arange(200) % 3 > 0
    without, zero = Reference(parameters(), 2), Reference(parameters(), 2)
    without.learn(X[some], y[some])
    zero.learn(X, y, some.astype(float))
    assert zero.tree() == without.tree()
    assert zero.forest.points == without.forest.points == some.sum()


# -- R14 exactness --------------------------------------------------------------------------------


def test_r14_f_in_whole_numbers():
    assert [entropy_term(n) for n in (0, 1, 2, 4, 1024)] == [
        0, 0, 2 * 2**20, 8 * 2**20, 10240 * 2**20,
    ]  # fmt: skip
    assert entropy_term(3) == round(3 * math.log2(3) * 2**20)


@given(st.integers(1, 2**36))
def test_r14_f_is_n_log2_n_in_units_of_two_to_the_minus_twenty(n):
    assert entropy_term(n) == round(n * math.log2(n) * 2**20)


@given(labels_seen, labels_seen)
def test_r14_rounding_moves_a_gain_by_less_than_its_bound(left, right):
    both = left + right
    if not both:
        return
    units = information_gain(left, right) * both.total() * 2**20
    exact = textbook_mutual_information(left, right) * both.total() * 2**20
    assert abs(units - exact) <= 1.5 * (len(both) + 1) + 1e-3


def test_r14_rounding_may_leave_units_either_side_of_zero_and_they_stay():
    gains = {
        information_gain(StructureCounts(a=n, b=3 * n), StructureCounts(a=m, b=3 * m))
        for n in range(1, 40)
        for m in range(1, 40)
    }
    assert min(gains) < 0 < max(gains)
    assert max(abs(gain) for gain in gains) < 1e-5


# -- R17 weights and classes ----------------------------------------------------------------------


def test_r17_weights_are_rounded_without_bias():
    tree = tree_of()
    copies = [tree.round_weight(t, 2.3) for t in range(20_000)]
    assert set(copies) == {2, 3}
    assert abs(np.mean(copies) - 2.3) < 4 * math.sqrt(0.3 * 0.7 / 20_000)


@pytest.mark.parametrize("weight", [1.0, 2.0, 1000.0, 2.0**32])
def test_r17_a_whole_weight_stays_what_it_is(weight):
    tree = tree_of()
    assert {tree.round_weight(t, weight) for t in range(100)} == {weight}


def test_r17_a_weight_is_rounded_per_tree():
    p = parameters()
    first, second = (Tree(i, p, Columns(1, 1.0)) for i in (0, 1))
    assert [first.round_weight(t, 0.5) for t in range(64)] != [
        second.round_weight(t, 0.5) for t in range(64)
    ]


def test_r17_a_point_rounded_to_nothing_keeps_its_place_in_the_stream():
    X, y = mixture(300)
    weights = np.where(np.arange(300) < 100, 1e-300, 1.0)
    engine = Reference(parameters(), 2)
    engine.learn(X, y, weights)
    (tree,) = engine.forest.trees
    assert engine.forest.points == 300
    streams = [uniform(key(0, 0, STREAM_DRAW, t)) < 0.5 for t in range(100, 300)]
    assert tree.structure_points == sum(streams)
    assert tree.estimation_points == 200 - sum(streams)


def test_r17_copies_are_counted_but_arrive_once():
    tree = feed(tree_of(min_gain=9), s(1, "a", copies=5), e(2, "b", copies=3))
    (split,) = tree.root.candidates
    assert split.structure == ({"a": 5}, {})
    assert split.estimation == ({}, {"b": 3})
    assert tree.root.estimation == {"b": 3}
    assert (tree.structure_points, tree.estimation_points) == (5, 3)
    assert tree.root.received == 3


def test_r17_a_late_class_was_never_there_before():
    forest = forest_of([A, A], [A, A])
    forest.classes = ["a"]
    assert forest.predict_proba(point(0)) == {"a": 1.0}
    forest.learn_one(point(0), "B")
    assert forest.classes == ["B", "a"]
    assert list(forest.predict_proba(point(0))) == ["B", "a"]
    assert sum(forest.predict_proba(point(0)).values()) == pytest.approx(1)
