"""Saffari's forest (R18): native equals reference, and does what it should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riparian import SaffariForestClassifier
from riparian.parameters.forests import SaffariParameters
from riparian.reference_saffari import FixedColumns, SaffariForest

from engines import mixture
from equivalence import Native, assert_same
from strategies import cuts, streams

pytestmark = pytest.mark.engine

thorough = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def parameters(**changes):
    standard = dict(
        n_trees=1, seed=0, candidate_dims=2, split_points=10, thresholds="points", min_gain=0.1,
        min_samples=20, max_depth=None, replacement_rate=None, voting="average",
    )  # fmt: skip
    return SaffariParameters(**(standard | changes))


@st.composite
def any_parameters(draw):
    return parameters(
        n_trees=draw(st.integers(1, 4)),
        seed=draw(st.integers(0, 2**64 - 1)),
        candidate_dims=draw(st.sampled_from([1, 2, 30])),
        split_points=draw(st.sampled_from([1, 2, 3, 10, 17])),
        thresholds=draw(st.sampled_from(["points", "range"])),
        min_gain=draw(st.sampled_from([0.0, 0.01, 0.1, 0.5])),
        min_samples=draw(st.sampled_from([1, 5, 30])),
        max_depth=draw(st.sampled_from([None, 0, 1, 3])),
        replacement_rate=draw(st.sampled_from([None, None, 0.1, 0.013, 1.0])),
        voting=draw(st.sampled_from(["average", "majority"])),
    )


def learn_reference(p, X, y, weights=None):
    forest = SaffariForest(p, FixedColumns(X.shape[1], p.candidate_dims))
    forest.learn(X, y.tolist(), None if weights is None else weights.tolist())
    return forest


def assert_same_bags(forest, engine):
    for i, tree in enumerate(forest.trees):
        bag = list(engine.forest.tree(i).bag)
        assert bag == [tree.number, tree.planted, tree.left_out, tree.left_out_errors]


@thorough
@given(any_parameters(), streams(), st.data())
def test_engines_agree_whatever_the_batches_threads_and_rebirths(p, stream, data):
    X, y = stream
    engine = Native(p, X.shape[1])
    for first, last in data.draw(cuts(len(X))):
        engine.learn(X[first:last], y[first:last], workers=data.draw(st.integers(1, 4)))
        if data.draw(st.booleans()):
            before = engine.bytes()
            engine = engine.reborn()
            assert engine.bytes() == before
    forest = learn_reference(p, X, y)
    assert_same(forest, engine, X[:20])
    assert_same_bags(forest, engine)


@thorough
@given(any_parameters(), streams(), st.integers(0, 2**32))
def test_engines_agree_on_weights(p, stream, seed):
    X, y = stream
    rng = np.random.default_rng(seed)
    weights = rng.random(len(X)) * 3 * (rng.random(len(X)) > 0.1)
    engine = Native(p, X.shape[1])
    engine.learn(X, y, weights)
    assert_same(learn_reference(p, X, y, weights), engine, X[:20])


def fitted(n=2000, **changes):
    X, y = mixture(n)
    return SaffariForestClassifier(n_estimators=5, random_state=0, **changes).fit(X, y)


def test_a_tree_takes_a_point_once_on_average_and_leaves_out_one_in_e():
    stats = fitted(20_000).stats()["trees"]
    for tree in stats:
        assert tree["estimation_points"] / 20_000 == pytest.approx(1, abs=0.03)
        assert tree["ignored_points"] / 20_000 == pytest.approx(np.exp(-1), abs=0.015)


def test_no_leaf_is_deeper_than_max_depth_and_those_there_keep_no_candidates():
    stats = fitted(20_000, max_depth=3, min_gain=0.0).stats()
    assert stats["depth"] == 3
    assert all(tree["leaves"] == 8 and tree["active"] == 0 for tree in stats["trees"])
    assert stats["fringe_bytes"] == 0


def test_no_leaf_splits_before_it_has_min_samples():
    assert fitted(900, min_samples=2000).stats()["splits"] == 0
    assert fitted(900, min_samples=100, min_gain=0.01).stats()["splits"] > 0


def test_no_leaf_splits_without_a_gain_above_min_gain():
    assert fitted(min_gain=5.0).stats()["splits"] == 0


def test_thresholds_of_a_range_lie_in_it_and_need_not_be_values_of_points():
    X, y = mixture(50)
    p = parameters(thresholds="range", min_samples=10**9)
    engine = Native(p, 2)
    engine.learn(X, y)
    threshold = engine.forest.tree(0).split_threshold
    assert len(threshold) == 2 * 10
    assert not np.isin(threshold, X).any()
    assert threshold.min() >= X.min() and threshold.max() <= X.max()


def test_trees_with_errors_are_replaced_and_those_without_are_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2)).astype(np.float32)
    hard, easy = rng.integers(2, size=3000), np.zeros(3000, dtype=int)

    def replacements(y):
        p = parameters(n_trees=4, replacement_rate=0.01, min_samples=20, min_gain=0.05)
        engine = Native(p, 2)
        engine.learn(X, y)
        return sum(engine.forest.tree(i).bag.number // 4 for i in range(4))

    assert replacements(easy) == 0
    assert replacements(hard) > 20


def test_without_a_rate_no_tree_is_replaced():
    engine = Native(parameters(n_trees=3), 2)
    engine.learn(*mixture(2000))
    assert [list(engine.forest.tree(i).bag) for i in range(3)] == [[i, 0, 0, 0] for i in range(3)]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("candidate_dims", 0, "from 1 to 1000000"),
        ("candidate_dims", 2.5, "whole number"),
        ("thresholds", "quantiles", "'points' or 'range', got 'quantiles'"),
        ("min_gain", -1, ">= 0"),
        ("min_samples", 0, "from 1"),
        ("max_depth", -1, "from 0"),
        ("replacement_rate", 0, "from 1e-15 to 1"),
        ("replacement_rate", 1.5, "from 1e-15 to 1"),
        ("voting", "loud", "'average' or 'majority'"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_named_with_what_was_expected(name, value, expected):
    with pytest.raises((TypeError, ValueError), match=f"{name} must.*{expected}"):
        SaffariForestClassifier(**{name: value}).fit([[0.0], [1.0]], [0, 1])


def test_it_learns_the_mixture_nearly_as_well_as_can_be():
    X, y = mixture(20_000)
    X_test, y_test = mixture(20_000, seed=1)
    forest = SaffariForestClassifier(
        n_estimators=30, candidate_dims=2, min_gain=0.01, random_state=0
    ).fit(X, y)
    assert forest.score(X_test, y_test) > 0.64
