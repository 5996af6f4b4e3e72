"""The forest for streams that change in plain Python (R27): whose points a tree keeps and remembers."""

from __future__ import annotations

import numpy as np

from riparian.parameters.forests import MEMORIES, AdaptiveParameters
from riparian.parameters.schedules import Geometric
from riparian.reference import Columns, Leaf
from riparian.reference_adaptive import AdaptiveForest, ClassMemory
from riparian.reference_eager import SHARE, SIZES

PARAMETERS = AdaptiveParameters(
    n_trees=1, seed=3, candidate_dims=7.0, split_points=5, min_gain=0.3, alpha=Geometric(1, 1.1),
    beta=Geometric(10, 1.1), structure_fraction=0.5, ignore_fraction=0.1, fringe_size=None,
    voting="average", kept_points=300, drift_confidence=0.3,
)  # fmt: skip


def points(n=700, change=250):
    """Labels that are turned round at the change."""
    X = np.random.default_rng(1).normal(size=(n, 8)).astype(np.float32)
    return X, ((X[:, 0] + X[:, 1] > 0) ^ (np.arange(n) >= change)).astype(int).tolist()


def after_each_point():
    """The forest, before its first point and after each."""
    forest = AdaptiveForest(PARAMETERS, Columns(n_dims=8, rate=7.0))
    yield forest
    for x, y in zip(*points(), strict=True):
        forest.learn_one(x, y)
        yield forest


def test_a_tree_is_eager_for_as_many_points_of_its_own_as_are_kept():
    phases = {}  # by first point: which phase each later point found
    for forest in after_each_point():
        (tree,) = forest.trees
        phases.setdefault(tree.planted, []).append((tree.is_eager(), tree.first_honest))
    assert len(phases) == 2  # one of them has replaced another
    assert max(phases) < 390
    for planted, observed in phases.items():
        for n, (is_eager, first_honest) in enumerate(observed, start=planted != 0):
            assert is_eager == (n <= 300)
            assert first_honest == (0 if is_eager else planted + 300)


def test_a_tree_is_rebuilt_from_its_own_points_and_no_others():
    grown = set()
    for forest in after_each_point():
        (tree,) = forest.trees
        if tree.growth and (tree.planted, tree.growth) not in grown:
            grown.add((tree.planted, tree.growth))
            assert tree.voted() == tree.votes[0].counts.total()
            listed = [
                point
                for lists in tree.lists.values()
                for point in lists.structure + lists.estimation
            ]
            assert min(point.t for point in listed) >= tree.planted
            assert len(listed) == tree.growth
    assert len({planted for planted, _ in grown}) == 2


def test_a_leaf_remembers_its_voters_in_order():
    for n, forest in enumerate(after_each_point()):
        (tree,) = forest.trees
        if n % 70 or not tree.is_eager():
            continue
        for node in tree.nodes():
            if isinstance(node, Leaf):
                replayed = [ClassMemory(factor, forest.target.arrived) for factor in MEMORIES]
                for point in tree.listed_voters(node):
                    for memory in replayed:
                        memory.add(point.y, point.copies)
                remembered = [memory.values for memory in tree.memories[node.number]]
                assert remembered == [memory.values for memory in replayed]
        assert set(tree.memories) == {n.number for n in tree.nodes() if isinstance(n, Leaf)}


def test_a_memory_counts_the_last_points_most():
    memory = ClassMemory(0.5, ["a", "b"])
    for y in "aab":
        memory.add(y, 1)
    assert memory.values == {"a": np.float32(0.75), "b": np.float32(1)}
    assert memory.share("b") == round(1 / 1.75 * SHARE)
    assert memory.share("c") == 0
    for _ in range(100):
        memory.add("b", 3)
    assert memory.values["a"] == 0  # not a number too small to matter


def test_memories_of_an_empty_leaf_answer_as_the_smallest_cell_with_a_vote():
    *_, forest = after_each_point()
    (tree,) = forest.trees
    x = points()[0][0]
    leaf = tree.leaf_of(x)
    tree.memories[leaf.number] = tree.empty_memories()
    heads = tree.heads(x)
    assert len(heads) == len(SIZES) + len(MEMORIES)
    assert all(head is heads[0] for head in heads[len(SIZES) :])


def test_the_detector_is_given_the_error_of_the_leaf_and_not_in_a_second_pass():
    forest = AdaptiveForest(PARAMETERS, Columns(n_dims=8, rate=7.0))
    X, y = points(40)
    forest.learn(X[:39], y[:39])
    (tree,) = forest.trees
    before, in_leaf = tree.detector.total, tree.heads(X[39])[0].share(y[39])
    forest.learn([X[39]], [y[39]])
    assert tree.detector.total == before + (1.0 - in_leaf / SHARE)
    assert tree.detector.width == 39  # none for the first point: the tree had no vote
    forest.learn(X, y, again=True)
    assert tree.detector.width == 39
