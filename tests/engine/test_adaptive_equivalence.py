"""Streams that change (R27): the native engine equals the reference to the last bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riparian.parameters.forests import AdaptiveParameters
from riparian.parameters.schedules import Geometric

from equivalence import (
    Native,
    assert_same,
    check_batches_threads_and_reloads,
    check_categories,
    check_weights,
    learn_reference,
)
from strategies import adaptive_parameters, changing_streams, mixed_streams

pytestmark = pytest.mark.engine

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(adaptive_parameters(), changing_streams(), st.data())
def test_engines_agree_whatever_the_batches_threads_and_reloads(parameters, stream, data):
    check_batches_threads_and_reloads(parameters, stream, data)


@quick
@given(adaptive_parameters(max_trees=2), changing_streams(), st.data())
def test_engines_agree_on_weights(parameters, stream, data):
    check_weights(parameters, stream, data)


@quick
@given(adaptive_parameters(max_trees=2), mixed_streams(), st.data())
def test_engines_agree_on_categories(parameters, stream, data):
    check_categories(parameters, stream, data)


CHANGING = AdaptiveParameters(
    n_trees=4, seed=5, candidate_dims="2sqrt", split_points=10, min_gain=0.3,
    alpha=Geometric(0.5, 1.1), beta=Geometric(10, 1.1), structure_fraction=0.5,
    ignore_fraction=0.1, fringe_size=None, voting="average", kept_points=700,
    drift_confidence=0.1,
)  # fmt: skip


def flipping(n=1600, every=400):
    """Labels that are swapped at regular intervals, and a late class."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] > 0).astype(int) ^ (np.arange(n) // every % 2)
    y[n // 2 :][X[n // 2 :, 2] > 1] = 7
    return X, y


def test_trees_are_replaced_when_labels_are_swapped_and_at_no_other_time():
    X, y = flipping()
    forest = learn_reference(CHANGING, X, y)
    engine = Native(CHANGING, 4)
    engine.learn(X, y, workers=2)
    assert_same(forest, engine, X[:50])
    for change in (400, 800, 1200):
        assert any(change <= t < change + 160 for t, _ in forest.replacements)
    assert {tree for _, tree in forest.replacements} == set(range(4))
    assert all(t > 400 and t % 400 < 250 for t, _ in forest.replacements)


def test_a_shard_numbers_its_new_trees_as_the_whole_forest_does():
    X, y = flipping(1000)
    whole, shard = Native(CHANGING, 4), Native(CHANGING, 4, trees=range(1, 3))
    whole.learn(X, y)
    shard.learn(X[:900], y[:900])
    shard = shard.reborn()
    shard.learn(X[900:], y[900:])
    assert [shard.tree(i) for i in (0, 1)] == [whole.tree(i) for i in (1, 2)]
    mine = [pair for pair in whole.forest.replacements() if pair[1] in (1, 2)]
    assert shard.forest.replacements() == mine != []


@pytest.mark.parametrize("fringe_size", [None, 3])
def test_a_tree_is_rebuilt_from_its_own_points_while_all_are_kept(fringe_size):
    """Also one that has replaced another; and whatever a fringe makes wait."""
    X, y = flipping(1400, every=500)
    parameters = replace(CHANGING, fringe_size=fringe_size)
    forest, engine = learn_reference(parameters, X[:0], y[:0]), Native(parameters, 4)
    grown = set()  # by number and growth
    for first in range(0, 1400, 100):
        batch = slice(first, first + 100)
        forest.learn(X[batch], y[batch].tolist())
        engine.learn(X[batch], y[batch], workers=2)
        engine = engine.reborn()
        assert_same(forest, engine, X[:10])
        for tree in forest.trees:
            assert tree.growth == 0 or tree.bound == 2 * tree.growth or tree.planted + 700 < first
            if tree.growth:
                grown.add((tree.number, tree.growth))
    assert len({number for number, _ in grown}) > 4  # new trees, too
    assert len(grown) > 8
