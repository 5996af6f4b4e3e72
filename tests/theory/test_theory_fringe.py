"""The extension to a fixed size fringe, and what of its proof had to be mended."""

import numpy as np
import pytest

from riparian.parameters.schedules import Geometric, Polynomial
from riparian.theory import fringe_wait, largest_descendant, rounds, shrinking_factor

from engines import Reference, learned, mixture, parameters, stream_of
from engines import splits as splits_of

RUNS = 100_000


def share_of_larger_child(places):
    """With the worst of the thresholds, whose places among the points are given."""
    return np.maximum(places, 1 - places).max(axis=1)


@pytest.mark.parametrize(("n_dims", "m"), [(1, 1), (2, 3), (4, 2)])
def test_a_child_has_the_papers_share_where_coordinates_are_independent(n_dims, m):
    share = share_of_larger_child(np.random.default_rng(0).random((RUNS, n_dims * m)))
    factor = shrinking_factor(n_dims, m)
    assert factor == pytest.approx((2 * n_dims * m + 1) / (2 * n_dims * m + 2))
    assert abs(share.mean() - factor) < 4 * share.std() / np.sqrt(RUNS)


def dependent_pair(rng, runs):
    """Two uniform coordinates with a density bounded both ways: one is far out when the other is
    not. A tenth of the points is uniform on the square.
    """
    far = rng.random(runs)  # how far the first is from the middle, in half sides
    near = (1 - far + rng.normal(0, 0.02, runs)) % 1
    sides = rng.choice([-1, 1], (runs, 2))
    pair = 0.5 + 0.5 * sides * np.column_stack([far, near])
    return np.where(rng.random((runs, 1)) < 0.1, rng.random((runs, 2)), pair)


def test_dependent_coordinates_exceed_the_papers_factor_and_keep_the_other():
    share = share_of_larger_child(dependent_pair(np.random.default_rng(0), RUNS))
    error = 4 * share.std() / np.sqrt(RUNS)
    assert share.mean() > shrinking_factor(2, 1) + error
    assert share.mean() <= shrinking_factor(2, 1, independent=False)


def descendants(rng, runs, splits, m):
    """Measure all cells after this many splits of every cell, in one dimension; each split
    is at the most lopsided of m places.
    """
    measures = np.ones((runs, 1))
    for _ in range(splits):
        places = rng.random((*measures.shape, m))
        worst = np.maximum(places, 1 - places).max(axis=-1)
        measures = np.concatenate([measures * worst, measures * (1 - worst)], axis=1)
    return measures


@pytest.mark.parametrize("m", [1, 3])
def test_the_squares_of_the_measures_shrink_as_said_and_so_does_the_largest(m):
    rng = np.random.default_rng(0)
    for splits in (1, 4, 8):
        measures = descendants(rng, 4000, splits, m)
        squares = (measures**2).sum(axis=1)
        expected = ((m + 1) / (m + 2)) ** splits
        assert abs(squares.mean() - expected) < 4 * squares.std() / np.sqrt(4000)
        for delta in (0.1, 0.5):
            bound = largest_descendant(splits, 1, m, delta)
            assert np.mean(measures.max(axis=1) > bound) <= delta
            assert largest_descendant(splits, 1, m, delta, independent=False) >= bound - 1e-12


def test_the_largest_descendant_often_exceeds_the_power_of_the_papers_factor():
    # The paper bounds all 2^K of them by μ(A)·factor^K plus what sampling adds, with probability 1-δ.
    measures = descendants(np.random.default_rng(0), 400, 12, 1)
    assert np.mean(measures.max(axis=1) > shrinking_factor(1, 1) ** 12) > 0.3


def test_the_slip_in_the_papers_count_of_points_would_fail():
    # P(N(A) <= N·μ - sqrt(log(1/γ)/(2N))) <= γ cannot be: that is a distance of less than one point.
    n, measure, gamma = 1000, 0.5, 0.01
    counts = np.random.default_rng(0).binomial(n, measure, RUNS)
    distance = np.sqrt(np.log(1 / gamma) / (2 * n))
    assert np.mean(counts <= n * measure - distance) > 0.4
    assert np.mean(counts <= n * (measure - distance)) <= gamma


def test_a_leaf_comes_first_after_its_wait():
    """Cells one can draw: split every cell K times, estimate all measures, compare with ŝ(A0)."""
    s, delta, classes, alpha = 0.3, 0.5, 2, Geometric(400, 1.5)
    sizes = {"n_dims": 1, "split_points": 1, "leaves": 1, "n_classes": classes}
    wait = fringe_wait(s, alpha, delta, **sizes)
    assert 5 < wait.splits < 17
    assert wait.activations == 2**wait.splits - 1
    rng = np.random.default_rng(0)
    first, runs = 0, 60
    for measures in descendants(rng, runs, wait.splits, 1):
        p_hat = rng.binomial(alpha.at(wait.splits - 1), measures) / alpha.at(wait.splits - 1)
        # A cell of measure 2s whose two classes are equally likely.
        n = wait.estimation_points
        inside = rng.binomial(n, 2 * s)
        of_first = rng.binomial(inside, 0.5)
        first += min(of_first, inside - of_first) / n > p_hat.max()
    assert first / runs >= 1 - delta


def test_a_smaller_s_waits_longer_and_a_slow_alpha_may_wait_forever():
    sizes = {"n_dims": 2, "split_points": 10, "leaves": 100, "n_classes": 5}
    waits = [fringe_wait(s, Geometric(1, 1.1), 0.1, **sizes) for s in (0.5, 0.1, 0.01)]
    assert [w.splits for w in waits] == sorted(w.splits for w in waits)
    assert [w.estimation_points for w in waits] == sorted(w.estimation_points for w in waits)
    with pytest.raises(ValueError, match="alpha must outgrow the depth"):
        fringe_wait(0.1, Polynomial(1, 1), 0.1, **sizes)


def test_rounds_of_a_fringe_are_enough_and_one_less_is_not():
    for splits, size in ((10, 5), (11, 5), (0, 3), (14, 5)):
        assert rounds(splits, size) * size > splits
        assert (rounds(splits, size) - 1) * size <= splits


def test_leaves_without_errors_wait_while_others_split():
    # The remark on s(A) = 0: ŝ is 0 there, and all others come first.
    p = parameters(fringe_size=1, alpha=Geometric(2, 1.1), beta=5)
    rng = np.random.default_rng(0)
    X = rng.random((4000, 1)).astype(np.float32)
    y = np.where(X[:, 0] < 0.5, 0, rng.integers(1, 3, 4000))
    engine = Reference(p, 1)
    engine.learn(X, y)
    tree = engine.forest.trees[0]
    s_hat = {leaf.number: leaf.s_hat(tree.estimation_points) for leaf in tree.inactive}
    assert 0 in s_hat.values() and max(s_hat.values()) > 0
    leaves = [{tree.leaf_of([x]).number for x in half} for half in (X[X < 0.5], X[X >= 0.5])]
    assert len(leaves[0]) * 5 < len(leaves[1])


def test_with_a_bounded_fringe_labels_of_estimation_points_act_on_the_partition():
    # The step that is open: ŝ reads them, and says which leaf may split next.
    X, y = mixture(600)
    shapes = {}
    for fringe_size in (None, 2):
        p = parameters(fringe_size=fringe_size, alpha=Geometric(2, 1.1), beta=5)
        estimation = stream_of(p, 0, len(y)) == "estimation"
        other = y.copy()
        other[estimation] = np.random.default_rng(0).permutation(y[estimation])
        shapes[fringe_size] = [
            splits_of(learned(Reference, p, X, labels).tree()) for labels in (y, other)
        ]
    assert shapes[None][0] == shapes[None][1]
    assert shapes[2][0] != shapes[2][1]
