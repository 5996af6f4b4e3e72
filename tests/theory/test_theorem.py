"""True to the theorem: partition and prediction are independent, as the proof of consistency needs.

Structure points alone decide where a tree splits, estimation points alone what it predicts. Each
property is told of both engines, and then of an engine broken on purpose, to show that it would
notice. So it is with kept points (R19 to R21), in every life of a leaf: young, settled, rebuilt.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from riparian import reference
from riparian.parameters.schedules import Geometric
from riparian.reference import Leaf, information_gain
from riparian.reference_kept import KeepingTree

from engines import (
    NEVER,
    Native,
    Reference,
    answers,
    both_engines,
    depth,
    histogram,
    histograms,
    is_active,
    leaf_of,
    learned,
    leaves,
    mixture,
    parameters,
    splits,
    stream_of,
    without_estimation_labels,
)

pytestmark = pytest.mark.engine

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=20, deadline=None)

POINTS = 300


# -- estimation labels and the partition ----------------------------------------------------------


def assert_estimation_labels_leave_the_shape_alone(Engine, seed, **changes):
    standard = {"n_trees": 2, "alpha": Geometric(2, 1.1), "min_gain": 0.02}
    p = parameters(seed=seed, **(standard | changes))
    X, y = mixture(POINTS, seed)
    before = learned(Engine, p, X, y)
    for tree in range(p.n_trees):
        estimation = stream_of(p, tree, POINTS) == "estimation"
        permuted = y.copy()
        permuted[estimation] = np.random.default_rng(seed).permutation(y[estimation])
        after = learned(Engine, p, X, permuted)
        assert len(splits(before.tree(tree))) > 3
        assert histograms(after.tree(tree)) != histograms(before.tree(tree))
        shapes = [without_estimation_labels(engine.tree(tree)) for engine in (before, after)]
        assert shapes[0] == shapes[1], "the shape has changed"
        if p.kept_points:
            assert before.memory(tree) == after.memory(tree), "the memory has changed"


@both_engines
@few
@given(seed=seeds)
def test_permuting_the_labels_of_estimation_points_leaves_the_shape_alone(Engine, seed):
    assert_estimation_labels_leave_the_shape_alone(Engine, seed)


# Windows in which no leaf settles and trees are rebuilt; some leaves settle; hardly any is young.
WINDOWS = [POINTS, POINTS // 2, 30]
LIVELY = {"beta": 20, "min_gain": 0.1}  # settings in which all of that comes about


@both_engines
@few
@given(seed=seeds, kept_points=st.sampled_from(WINDOWS))
def test_permuting_them_changes_neither_shape_nor_memory_where_points_are_kept(
    Engine, seed, kept_points
):
    assert_estimation_labels_leave_the_shape_alone(Engine, seed, kept_points=kept_points, **LIVELY)


@both_engines
def test_estimation_points_may_even_be_of_classes_no_structure_point_has(Engine):
    p = parameters()
    X, y = mixture(POINTS)
    strange = np.where(stream_of(p, 0, POINTS) == "estimation", 10 + y % 2, y)
    assert splits(learned(Engine, p, X, strange).tree()) == splits(learned(Engine, p, X, y).tree())


class PeekingAtTheGain(reference.Tree):
    """Broken: estimation labels decide whether to split."""

    def should_split(self, leaf):
        return any(
            split.is_valid(self.alpha(leaf))
            and information_gain(*split.estimation) > self.parameters.min_gain
            for split in leaf.candidates
        )


class PeekingAtTheChoice(reference.Tree):
    """Broken: estimation labels decide which split is best."""

    def best_split(self, leaf):
        valid = [split for split in leaf.candidates if split.is_valid(self.alpha(leaf))]
        return max(valid, key=lambda split: information_gain(*split.estimation))


class PeekingAtTheErrors(reference.Tree):
    """Broken: a leaf whose prediction is mostly right need not split."""

    def can_split(self, leaf):
        right = max(leaf.estimation.values(), default=0)
        return right < 0.8 * leaf.estimation.total() and super().can_split(leaf)


@pytest.mark.parametrize("tree", [PeekingAtTheGain, PeekingAtTheChoice, PeekingAtTheErrors])
def test_a_tree_that_peeks_at_estimation_labels_would_be_noticed(tree):
    with pytest.raises(AssertionError, match="the shape has changed"):
        for seed in range(10):
            assert_estimation_labels_leave_the_shape_alone(
                functools.partial(Reference, tree=tree), seed
            )


class PeekingWhileYoung(KeepingTree):
    """Broken: a young leaf takes the split that parts estimation labels best."""

    def best_split(self, leaf):
        return (
            PeekingAtTheChoice.best_split(self, leaf)
            if self.is_young(leaf)
            else super().best_split(leaf)
        )


class PeekingOnceSettled(KeepingTree):
    """Broken: so does a settled one."""

    def best_split(self, leaf):
        return (
            super().best_split(leaf)
            if self.is_young(leaf)
            else PeekingAtTheChoice.best_split(self, leaf)
        )


class PeekingAtTheDraw(KeepingTree):
    """Broken: a leaf that settles draws by what it predicts."""

    def settle(self, leaf):
        leaf.attempt += max(leaf.estimation, key=leaf.estimation.get, default=0)
        super().settle(leaf)


class PeekingAtRegrowth(KeepingTree):
    """Broken: a tree that is mostly right is not rebuilt."""

    def is_due(self):
        leaves = [node for node in self.nodes() if isinstance(node, Leaf)]
        right = sum(max(leaf.estimation.values(), default=0) for leaf in leaves)
        return right < 0.7 * sum(leaf.estimation.total() for leaf in leaves) and super().is_due()


class PeekingAtTheOrder(KeepingTree):
    """Broken: leaves look in the order in which they entered the fringe, and ŝ knows labels."""

    def let_all_look_that_entered(self):
        stack = []
        while stack or self.entered:
            stack += self.entered[::-1]
            self.entered = []
            self.look(stack.pop())


@pytest.mark.parametrize(
    ("tree", "kept_points"),
    [
        (PeekingWhileYoung, POINTS),
        (PeekingOnceSettled, 30),
        (PeekingAtTheDraw, 30),
        (PeekingAtRegrowth, POINTS),
        (PeekingAtTheOrder, POINTS),
    ],
)
def test_a_tree_that_peeks_at_the_labels_of_kept_points_would_be_noticed(tree, kept_points):
    with pytest.raises(AssertionError, match=r"the (shape|memory) has changed"):
        for seed in range(10):
            assert_estimation_labels_leave_the_shape_alone(
                functools.partial(Reference, tree=tree), seed, kept_points=kept_points, **LIVELY
            )


@both_engines
def test_a_full_fringe_depends_on_estimation_labels_by_design(Engine):
    # R12: ŝ decides which leaf enters, and ŝ depends on the errors of predictions.
    p = parameters(fringe_size=1, alpha=Geometric(2, 1.1))
    X, y = mixture(POINTS)
    permuted = y.copy()
    estimation = stream_of(p, 0, POINTS) == "estimation"
    permuted[estimation] = np.random.default_rng(0).permutation(y[estimation])
    before, after = (splits(learned(Engine, p, X, labels).tree()) for labels in (y, permuted))
    assert before != after
    assert before[0] == after[0]  # until the root has split, there is nothing to choose


# -- structure points and predictions -------------------------------------------------------------


def assert_same_predictions(before, after, X):
    assert splits(after.tree()) == splits(before.tree()), "the change was to leave the shape alone"
    assert histograms(after.tree()) == histograms(before.tree()), "a leaf tells something else"
    assert answers(after, X) == answers(before, X)


def assert_names_of_structure_labels_never_show(Engine, seed, **changes):
    # Another name for every class leaves each gain, and so the shape, what it is.
    p = parameters(seed=seed, **changes)
    X, y = mixture(POINTS, seed)
    structure = stream_of(p, 0, POINTS) == "structure"
    renamed = np.where(structure, (y + 1) % 5, y)
    before, after = (learned(Engine, p, X, labels) for labels in (y, renamed))
    assert splits(before.tree())
    assert_same_predictions(before, after, X)


@both_engines
@few
@given(seed=seeds, fringe_size=st.sampled_from([None, 1, 3]))
def test_renaming_the_classes_of_structure_points_changes_no_prediction(Engine, seed, fringe_size):
    assert_names_of_structure_labels_never_show(Engine, seed, fringe_size=fringe_size)


@both_engines
@few
@given(
    seed=seeds,
    fringe_size=st.sampled_from([None, 1, 3]),
    kept_points=st.sampled_from(WINDOWS),
)
def test_nor_does_it_where_points_are_kept(Engine, seed, fringe_size, kept_points):
    assert_names_of_structure_labels_never_show(
        Engine, seed, fringe_size=fringe_size, kept_points=kept_points, **LIVELY
    )


class Voting(reference.Tree):
    """Broken, like the authors' released code: every point affects the predictions."""

    def receive_structure(self, x, y, copies):
        self.leaf_of(x).estimation[y] += copies
        super().receive_structure(x, y, copies)


class CountingBoth(reference.Tree):
    """Broken: the children of a split begin with the points of both streams."""

    def split(self, leaf):
        for structure, estimation in zip(
            self.best_split(leaf).structure, self.best_split(leaf).estimation, strict=True
        ):
            estimation.update(structure)
        super().split(leaf)


@pytest.mark.parametrize("tree", [Voting, CountingBoth])
def test_a_structure_point_that_affects_a_prediction_would_be_noticed(tree):
    with pytest.raises(AssertionError, match="a leaf tells something else"):
        assert_names_of_structure_labels_never_show(functools.partial(Reference, tree=tree), seed=0)


class VotingWhileYoung(KeepingTree):
    """Broken: the children of a young leaf begin with all the points that it lists."""

    def look(self, leaf):
        lists = self.lists[leaf.number]
        lists.estimation = sorted(lists.estimation + lists.structure)
        super().look(leaf)


class VotingOnArrival(KeepingTree):
    """Broken: every point affects the predictions of its leaf."""

    def receive_structure(self, x, y, copies):
        super().receive_structure(x, y, copies)
        self.leaf_of(x).estimation[y] += copies


class VotingAtSettling(KeepingTree):
    """Broken: a candidate of a leaf that settles counts every point for the predictions."""

    def settle(self, leaf):
        super().settle(leaf)
        for split in leaf.candidates:
            for structure, estimation in zip(split.structure, split.estimation, strict=True):
                estimation.update(structure)


class VotingInRegrowth(KeepingTree):
    """Broken: in a tree that is rebuilt, every point is of both streams."""

    def list_all(self, root):
        super().list_all(root)
        lists = self.lists[root.number]
        lists.estimation = sorted(lists.estimation + lists.structure)


@pytest.mark.parametrize(
    ("tree", "kept_points"),
    [
        (VotingWhileYoung, POINTS),
        (VotingOnArrival, POINTS),
        (VotingOnArrival, 30),
        (VotingAtSettling, 30),
        (VotingInRegrowth, POINTS),
    ],
)
def test_a_kept_structure_point_that_affects_a_prediction_would_be_noticed(tree, kept_points):
    with pytest.raises(AssertionError, match="a leaf tells something else"):
        for seed in range(5):
            assert_names_of_structure_labels_never_show(
                functools.partial(Reference, tree=tree), seed, kept_points=kept_points, **LIVELY
            )


@both_engines
def test_structure_points_of_a_tree_that_may_not_split_change_nothing(Engine):
    p = parameters(min_gain=100, beta=NEVER)
    X, y = mixture(POINTS)
    structure = stream_of(p, 0, POINTS) == "structure"
    rng = np.random.default_rng(0)
    X_other, y_other = X.copy(), y.copy()
    X_other[structure] = rng.normal(scale=100, size=(structure.sum(), 2))
    y_other[structure] = rng.integers(5, size=structure.sum())
    assert_same_predictions(learned(Engine, p, X, y), learned(Engine, p, X_other, y_other), X)


@both_engines
@few
@given(seed=seeds, data=st.data())
def test_structure_points_after_the_last_split_change_no_prediction(Engine, seed, data):
    p = parameters(seed=seed, alpha=Geometric(3, 1.5), min_gain=0.05)
    X, y = mixture(POINTS, seed)
    structure = np.flatnonzero(stream_of(p, 0, POINTS) == "structure")
    tail = structure[-data.draw(st.integers(1, 10)) :]
    X_other, y_other = X.copy(), y.copy()
    rng = np.random.default_rng(seed)
    X_other[tail] = rng.normal(size=(len(tail), 2))
    y_other[tail] = rng.integers(5, size=len(tail))
    before, after = learned(Engine, p, X, y), learned(Engine, p, X_other, y_other)
    assume(splits(before.tree()) == splits(after.tree()))
    assert_same_predictions(before, after, X)


@both_engines
def test_a_structure_point_in_an_inactive_leaf_leaves_no_trace(Engine):
    # R6. A fringe of one is full: all leaves but one are inactive.
    p = parameters(fringe_size=1)
    X, y = mixture(100)
    grown = learned(Engine, p, X, y)
    inactive = next(n for n, leaf in leaves(grown.tree()).items() if not is_active(leaf))
    inside = X[[leaf_of(grown.tree(), x) == inactive for x in X]]
    to_structure = stream_of(p, 0, 300)[100:] == "structure"

    def goes_on(seed):
        rng = np.random.default_rng(seed)
        X_more = np.where(to_structure[:, None], rng.choice(inside, 200), X[0])
        y_more = np.where(to_structure, rng.integers(5, size=200), y[0])
        return learned(Engine, p, np.vstack([X, X_more]), np.hstack([y, y_more])).tree()

    assert len(inside) > 1
    assert goes_on(0) == goes_on(1)
    assert splits(goes_on(0)) == splits(grown.tree())


# -- what a split takes ---------------------------------------------------------------------------


@both_engines
def test_a_tree_splits_only_when_a_structure_point_arrives(Engine):
    p = parameters()
    X, y = mixture(POINTS)
    engine, nodes, split_at = Engine(p, 2), 1, []
    for t in range(POINTS):
        engine.learn(X[t : t + 1], y[t : t + 1])
        if len(engine.tree()) > nodes:
            split_at.append(t)
            nodes = len(engine.tree())
    assert len(split_at) > 3
    assert set(stream_of(p, 0, POINTS)[split_at]) == {"structure"}


@both_engines
def test_estimation_points_alone_never_split(Engine):
    p = parameters(structure_fraction=1e-300, beta=1)
    X, y = mixture(POINTS)
    assert len(learned(Engine, p, X, y).tree()) == 1


@both_engines
@pytest.mark.parametrize("fringe_size", [None, 2])
def test_children_begin_with_at_least_alpha_of_their_parent(Engine, fringe_size):
    # R10: α at the depth of the parent, one less than that of the child.
    p = parameters(alpha=Geometric(2, 1.5), fringe_size=fringe_size)
    X, y = mixture(POINTS)
    engine, known = Engine(p, 2), {0}
    for t in range(POINTS):
        engine.learn(X[t : t + 1], y[t : t + 1])
        tree = engine.tree()
        for number in tree.keys() - known:
            points = sum(histogram(tree[number]).values())
            assert points >= p.alpha.at(depth(tree[number]) - 1)
        known |= tree.keys()
    assert max(depth(leaf) for leaf in leaves(engine.tree()).values()) >= 3


@both_engines
@few
@given(seed=seeds, fringe_size=st.sampled_from([None, 1, 4]))
def test_the_books_of_a_tree_balance(Engine, seed, fringe_size):
    p = parameters(seed=seed, alpha=Geometric(2, 1.3), fringe_size=fringe_size)
    X, y = mixture(POINTS, seed)
    tree = learned(Engine, p, X, y).tree()
    assert len(leaves(tree)) == len(splits(tree)) + 1
    assert sorted(tree) == list(range(len(tree)))
    for number, leaf in leaves(tree).items():
        assert number == 0 or sum(histogram(leaf).values()) >= p.alpha.at(depth(leaf) - 1)
    held = sum(sum(histogram(leaf).values()) for leaf in leaves(tree).values())
    assert held <= np.sum(stream_of(p, 0, POINTS) == "estimation")
    if fringe_size is not None:
        assert sum(is_active(leaf) for leaf in leaves(tree).values()) <= fringe_size


def test_both_engines_send_a_point_to_the_stream_that_its_key_says():
    p = parameters(n_trees=3, structure_fraction=0.3, ignore_fraction=0.2)
    X, y = mixture(POINTS)
    reference_trees = learned(Reference, p, X, y).forest.trees
    for tree, stats in zip(reference_trees, learned(Native, p, X, y).stats(), strict=True):
        expected = stream_of(p, tree.number, POINTS)
        for name in ("structure", "ignored", "estimation"):
            assert stats[f"{name}_points"] == np.sum(expected == name)
            assert getattr(tree, f"{name}_points") == np.sum(expected == name)
