"""Propositions will-split and infinite-splits, against simulated waits and real trees."""

import numpy as np
import pytest

from riparian.parameters.schedules import Geometric
from riparian.theory import attempt_succeeds, infinite_splits, will_split
from riparian.theory.inputs import share_of

from engines import Reference, is_active, learned, parameters

RUNS = 20_000
DELTA = 0.1


def first_at(rng, probability):
    """The number of the point at which something of this probability happens first, per run."""
    return rng.geometric(probability, RUNS)


def both_children_hold(rng, beta, left, right):
    """The number of the point at which either child has its β-th estimation point."""
    reached = np.zeros(RUNS, dtype=int)
    counts = np.zeros((RUNS, 2), dtype=int)
    n = 0
    while (reached == 0).any():
        n += 1
        u = rng.random(RUNS)
        counts[:, 0] += u < left
        counts[:, 1] += (u >= left) & (u < left + right)
        reached[(reached == 0) & (counts >= beta).all(axis=1)] = n
    return reached


@pytest.mark.parametrize(("left", "right", "beta"), [(0.3, 0.4, 3), (0.1, 0.2, 5)])
def test_a_cell_has_split_when_its_three_waits_are_over(left, right, beta):
    rng = np.random.default_rng(0)
    # A tree sends half of the points to each stream.
    candidate = first_at(rng, (left + right) / 2)
    points = both_children_hold(rng, beta, left / 2, right / 2)
    split = first_at(rng, (left + right) / 2)
    for sharp in (False, True):
        waits = will_split(left, right, beta, DELTA, sharp=sharp)
        assert np.mean(candidate + points + split <= waits.total) >= 1 - DELTA
        each = share_of(DELTA, 3)
        error = 4 * np.sqrt(each / RUNS)
        for simulated, wait in zip(
            (candidate, points, split), (waits.candidate, waits.points, waits.split), strict=True
        ):
            assert np.mean(simulated > wait) <= each + error
    # Not for nothing: one point less, and the first wait would be over too seldom.
    assert np.mean(candidate > waits.candidate - 1) > each - error


def test_fractions_of_one_give_the_counts_of_the_paper():
    epsilon = share_of(DELTA, 3)
    waits = will_split(0.2, 0.3, 40, DELTA, structure_fraction=1, estimation_fraction=1)
    assert waits.candidate == waits.split == np.ceil(2 / 0.5 * np.log(1 / epsilon) / 0.5)
    assert waits.points == np.ceil(2 / 0.2 * max(40, np.log(2 / epsilon) / 0.2))


def test_a_real_tree_has_split_its_root_in_time():
    # One threshold at about a half of a uniform side: the two children have about half each.
    # Without gains (pure labels) only β splits, as in the proof.
    split, runs = 0, 300
    waits = will_split(0.25, 0.25, 8, DELTA, sharp=True)
    rng = np.random.default_rng(0)
    for seed in range(runs):
        p = parameters(seed=seed, split_points=1, alpha=Geometric(2, 1.5), beta=4)
        X = rng.random((waits.total, 1)).astype(np.float32)
        tree = Reference(p, 1)
        tree.learn(X, np.zeros(len(X), dtype=int))
        split += len(tree.tree()) > 1
    assert split / runs >= 1 - DELTA


def test_a_cell_splits_again_and_again():
    rng = np.random.default_rng(0)
    cells, beta = [(0.5, 0.5), (0.3, 0.2), (0.1, 0.2)], Geometric(3, 1.5)
    total = np.zeros(RUNS)
    for depth, (left, right) in enumerate(cells):
        total += first_at(rng, (left + right) / 2) + first_at(rng, (left + right) / 2)
        total += both_children_hold(rng, beta.at(depth), left / 2, right / 2)
    for sharp in (False, True):
        waits = infinite_splits(cells, beta, DELTA, sharp=sharp)
        assert len(waits) == 3
        assert np.mean(total <= sum(w.total for w in waits)) >= 1 - DELTA
    # The sum of waits, each at its quantile, is generous, but not by an order of magnitude.
    assert np.mean(total <= sum(w.total for w in waits) / 5) < 0.5
    assert infinite_splits([], beta, DELTA) == []


@pytest.mark.parametrize("density", [lambda u: u, lambda u: u**3])
def test_a_candidate_is_valid_as_often_in_any_density(density):
    rng = np.random.default_rng(0)
    for received, alpha in ((4, 2), (10, 3), (40, 2), (3, 2)):
        points = density(rng.random((RUNS, received + 1)))
        left = (points[:, 1:] <= points[:, :1]).sum(axis=1)
        valid = np.mean((left >= alpha) & (received - left >= alpha))
        expected = attempt_succeeds(received, alpha)
        assert abs(valid - expected) < 4 * np.sqrt(expected * (1 - expected) / RUNS) + 1e-9


def test_a_real_leaf_draws_again_as_rarely_as_that():
    # R8: the root of these trees draws again if 2β = 8 points leave its one candidate invalid.
    p = {"split_points": 1, "alpha": Geometric(2, 1.5), "beta": 2, "candidate_dims": 0.0}
    rng = np.random.default_rng(0)
    redrawn, runs = 0, 400
    for seed in range(runs):
        X = rng.random((60, 1)).astype(np.float32)
        tree = learned(Reference, parameters(seed=seed, **p), X, np.zeros(60, dtype=int)).forest
        root = tree.trees[0].root
        redrawn += root.number == 0 and getattr(root, "attempt", 0) > 0
    # The attempt ends when a structure point comes, by when a few more points may have come.
    assert redrawn / runs <= 1 - attempt_succeeds(8, 2) + 4 * np.sqrt(0.25 / runs)
    assert is_active(learned(Reference, parameters(**p), X[:1], np.zeros(1)).tree()[0])


def test_the_measures_of_two_children_are_not_more_than_all():
    with pytest.raises(ValueError, match=r"left \+ right must be > 0 and <= 1, got 1\.1"):
        will_split(0.6, 0.5, 10, 0.1)
