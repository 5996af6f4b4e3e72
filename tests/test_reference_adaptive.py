"""The forest for streams that change in plain Python (R23): how its trees are rebuilt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riparian.parameters.forests import AdaptiveParameters
from riparian.parameters.schedules import Geometric
from riparian.reference import Columns, Draws
from riparian.reference_adaptive import AdaptiveForest

PARAMETERS = AdaptiveParameters(
    n_trees=1, seed=3, candidate_dims=7.0, split_points=5, min_gain=0.3, alpha=Geometric(1, 1.1),
    beta=Geometric(10, 1.1), structure_fraction=0.5, ignore_fraction=0.1, fringe_size=None,
    voting="average", kept_points=300, drift_confidence=0.3, leaf_points=4, memories=(0.5, 1.0),
    fading=0.98,
)  # fmt: skip


def points(n=700, change=250):
    """Labels that are turned round at the change."""
    X = np.random.default_rng(1).normal(size=(n, 8)).astype(np.float32)
    return X, ((X[:, 0] + X[:, 1] > 0) ^ (np.arange(n) >= change)).astype(int).tolist()


def grown(parameters=PARAMETERS):
    """The tree, each time it has just been rebuilt."""
    forest = AdaptiveForest(parameters, Columns(n_dims=8, rate=7.0))
    for x, y in zip(*points(), strict=True):
        before = forest.trees[0].growth
        forest.learn_one(x, y)
        (tree,) = forest.trees
        if tree.growth not in (0, before):
            yield tree


def test_a_tree_is_rebuilt_from_all_points_since_it_was_planted_and_no_others():
    planted = set()
    for tree in grown():
        leaves = [tree.leaf_of(point.x) for point in tree.kept.points if point.t >= tree.planted]
        assert tree.growth == tree.structure_arrivals == sum(tree.arrivals.values())
        held = {leaf.number: leaf.estimation.total() for leaf in leaves}
        assert sum(held.values()) == tree.estimation_points
        assert tree.kept.received - tree.planted <= 300
        planted.add(tree.planted)
    assert len(planted) == 2  # one of them has replaced another


def test_leaves_of_a_rebuilt_tree_remember_all_their_points_and_list_the_last():
    long = 0
    for tree in grown():
        for number, lists in tree.lists.items():
            assert len(lists.structure) <= 4
            assert len(lists.estimation) <= 4
            long += tree.arrivals[number] > 4
        for node in tree.nodes():
            if node.number in tree.memories:
                remembered = tree.memories[node.number][1].values  # of the factor 1
                assert {y: n for y, n in remembered.items() if n} == +node.estimation
    assert long > 0


@pytest.mark.parametrize(("drawn", "looked_at"), [(1, 1), (2, 2), (3, 2), (4, 2), (5, 3), (8, 3)])
def test_while_it_is_grown_a_tree_looks_in_a_quarter_of_the_dimensions_and_one_more(
    drawn, looked_at
):
    tree = AdaptiveForest(PARAMETERS, Columns(n_dims=drawn, rate=1000.0)).trees[0]
    usual = tree.draw_dims(Draws(5))
    tree.growing = True
    assert tree.draw_dims(Draws(5)) == usual[:looked_at]
    assert len(usual) == drawn


def test_while_it_is_grown_a_gain_has_to_be_above_tau_only():
    tree = AdaptiveForest(PARAMETERS, Columns(n_dims=2, rate=1.0)).trees[0]
    X, y = points(20)
    for x, label in zip(X, y, strict=True):
        tree.kept.receive(x, label, 1.0)
    tree.list_all(tree.root)
    assert tree.min_gain(tree.root) > 0.6
    tree.growing = True
    assert tree.min_gain(tree.root) == 0.3


def test_there_is_no_regrowth_where_trees_split_by_gain_alone():
    assert not list(grown(replace(PARAMETERS, beta=Geometric(101, 1.1))))
