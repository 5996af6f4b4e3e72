"""Propositions n-to-infty and upper-bound-K, against all small trees and real forests."""

import itertools

import numpy as np
import pytest

from riparian import OnlineForestClassifier
from riparian.inspection import tree_view
from riparian.parameters.schedules import Geometric, Polynomial
from riparian.streams import GaussianMixture
from riparian.theory import least_points, max_path, max_splits

from engines import Reference, parameters

ALPHAS = [Geometric(1, 1.1), Geometric(2, 1.5), Polynomial(1, 2), Geometric(3, 1)]


def costs_of_all_trees(splits, alpha, depth=0):
    """Return the estimation points that each shape of a tree with this many splits takes."""
    if splits == 0:
        return {0}
    here = 2 * alpha.at(depth)
    return {
        here + left + right
        for on_the_left in range(splits)
        for left, right in itertools.product(
            costs_of_all_trees(on_the_left, alpha, depth + 1),
            costs_of_all_trees(splits - 1 - on_the_left, alpha, depth + 1),
        )
    }


@pytest.mark.parametrize("alpha", [Geometric(1, 1.5), Geometric(2, 2), Polynomial(1, 2)])
def test_no_shape_of_tree_has_more_splits_for_the_points(alpha):
    cheapest = [min(costs_of_all_trees(k, alpha)) for k in range(8)]
    for points in range(cheapest[-1]):
        most = max(k for k in range(8) if cheapest[k] <= points)
        assert max_splits(points, alpha) == most


def test_the_first_split_costs_alpha_of_the_root_twice():
    alpha = Geometric(5, 10)
    assert [max_splits(n, alpha) for n in (0, 9, 10, 109, 110)] == [0, 0, 1, 1, 2]
    assert [max_path(n, alpha) for n in (0, 9, 10, 109, 110)] == [0, 0, 1, 1, 2]


@pytest.mark.engine
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("fringe_size", [None, 3])
@pytest.mark.filterwarnings("ignore::riparian.parameters.schedules.ConsistencyWarning")
def test_no_real_tree_and_no_path_in_it_splits_more_often(alpha, fringe_size):
    forest = OnlineForestClassifier(
        20,
        alpha=alpha,
        beta=1,
        min_gain=0,
        fringe_size=fringe_size,
        kept_points=0,
        random_state=0,
    )
    for batch in range(5):
        forest.partial_fit(*GaussianMixture.paper().sample(400, batch))
        for i, stats in enumerate(forest.stats()["trees"]):
            tree, points = tree_view(forest, i), stats["estimation_points"]
            assert stats["splits"] <= max_splits(points, alpha)
            assert tree.depth.max() <= max_path(points, alpha) <= max_splits(points, alpha)
            fewest = [least_points(k, alpha) for k in tree.depth[tree.is_leaf]]
            assert (tree.points[tree.is_leaf] >= fewest).all()
    if fringe_size is None:  # not for nothing: some leaf begins with α points, and no more
        new = [tree_view(forest, i) for i in range(20)]
        spare = [
            t.points[n] - least_points(t.depth[n], alpha)
            for t in new
            for n in np.flatnonzero(t.is_leaf)
        ]
        assert min(spare) == 0


def test_a_tree_fed_with_care_makes_as_many_splits_as_it_can():
    # One structure point makes the candidate, α points on either side follow, another splits.
    p = parameters(split_points=1, alpha=Geometric(2, 2), beta=1, structure_fraction=0.5)
    tree = Reference(p, 1).forest.trees[0]

    def split(low, high):
        middle = (low + high) / 2
        tree.receive_structure([middle], 0, 1)
        for _ in range(tree.alpha(tree.leaf_of([middle]))):
            tree.receive_estimation([(low + middle) / 2], 0, 1)
            tree.receive_estimation([(middle + high) / 2], 1, 1)
        tree.receive_structure([middle], 0, 1)
        return (low, middle), (middle, high)

    level = [(0.0, 1.0)]
    for _ in range(3):
        level = [child for cell in level for child in split(*cell)]
        assert tree.must_splits + tree.should_splits == len(level) - 1
        assert max_splits(tree.estimation_points, p.alpha) == len(level) - 1
        assert max_splits(tree.estimation_points - 1, p.alpha) == len(level) - 2


def test_splits_become_rare_among_points_as_alpha_grows():
    alpha = Geometric(1, 1.2)
    shares = [max_splits(n, alpha) / n for n in (10**3, 10**6, 10**9, 10**12)]
    assert shares == sorted(shares, reverse=True) and shares[-1] < 0.01
    assert max_splits(10**6, Geometric(1, 1)) / 10**6 == 0.5  # a constant α leaves it at that


def test_an_alpha_that_overflows_ends_the_count():
    assert max_splits(2**62, Geometric(1, 1e200)) == 1
    assert max_path(2**62, Geometric(1, 1e200)) == 1
