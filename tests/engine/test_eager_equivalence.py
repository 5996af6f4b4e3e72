"""Eager, then honest (R24), heads and trust (R25): the native engine equals the reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riparian import AdaptiveForestClassifier, OnlineForestClassifier, _core, from_bytes
from riparian.parameters.forests import PaperParameters
from riparian.parameters.schedules import Geometric
from riparian.reference import Columns

from equivalence import (
    Native,
    assert_same,
    check_batches_threads_and_reloads,
    check_categories,
    check_weights,
    learn_reference,
    reference_forest,
)
from strategies import mixed_streams, streams
from strategies import parameters as any_parameters

pytestmark = pytest.mark.engine

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

WINDOWS = (1, 2, 7, 30, 100, 1000)  # kept points


def eager_parameters(**changes):
    return any_parameters(kept_points=WINDOWS, **changes).map(lambda p: replace(p, eager=True))


@quick
@given(eager_parameters(), streams(), st.data())
def test_engines_agree_whatever_the_batches_threads_and_reloads(parameters, stream, data):
    check_batches_threads_and_reloads(parameters, stream, data)


@quick
@given(eager_parameters(max_trees=2), streams(), st.data())
def test_engines_agree_on_weights(parameters, stream, data):
    check_weights(parameters, stream, data)


@quick
@given(eager_parameters(max_trees=2), mixed_streams(), st.data())
def test_engines_agree_on_categories(parameters, stream, data):
    check_categories(parameters, stream, data)


TURNING = PaperParameters(
    n_trees=3, seed=5, candidate_dims="sqrt", split_points=10, min_gain=0.1,
    alpha=Geometric(1, 1.1), beta=Geometric(20, 1.1), structure_fraction=0.5,
    ignore_fraction=0.1, fringe_size=None, voting="average", kept_points=400, eager=True,
)  # fmt: skip


def noisy(n=1500):
    """Missing values, noise, and a class that arrives late."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n) * 0.7 > 0).astype(int)
    y[n // 3 :][X[n // 3 :, 2] > 1] = 7
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"fringe_size": 5},
        {"voting": "majority"},
        {"kept_points": 2000},
        {"kept_points": 37},
        {"kept_points": 1, "n_trees": 2},
        {"beta": Geometric(1e300, 2)},
        {"min_gain": 0.0, "alpha": Geometric(3, 1.5)},
        # Leaves that had settled list more points than they counted, so votes grow on the way down.
        {
            "kept_points": 250,
            "min_gain": 0.3,
            "alpha": Geometric(0.5, 1.1),
            "beta": Geometric(10, 1.1),
        },
    ],
)
def test_engines_agree_from_the_first_point_to_long_after_the_turn(changes):
    parameters = replace(TURNING, **changes)
    X, y = noisy()
    forest = reference_forest_of(parameters, X.shape[1])
    engine = Native(parameters, X.shape[1])
    for first in range(0, len(X), 100):
        some = slice(first, first + 100)
        forest.learn(X[some], y[some].tolist())
        engine.learn(X[some], y[some], workers=2)
        engine = engine.reborn()
        assert_same(forest, engine, X[:3])
    assert_same(forest, engine, X[:100])


def reference_forest_of(parameters, n_dims):
    return reference_forest(parameters, Columns(n_dims, parameters.rate(n_dims)))


@pytest.fixture(params=_core.kernel_names())
def each_instruction_set(request):
    before = _core.kernel_names()[-1]
    _core.use_kernels(request.param)
    yield
    _core.use_kernels(before)


@pytest.mark.usefixtures("each_instruction_set")
def test_every_instruction_set_gives_the_same_bits():
    X, y = noisy(700)
    engine = Native(TURNING, X.shape[1])
    engine.learn(X, y)
    assert_same(learn_reference(TURNING, X, y), engine, X[:50])


def test_passes_after_the_first_do_not_judge():
    X, y = noisy(300)
    forest = reference_forest_of(TURNING, X.shape[1])
    engine = Native(TURNING, X.shape[1])
    for again in (False, True, False):
        forest.learn(X, y.tolist(), again=again)
        engine.forest.set_judging(not again)
        engine.learn(X, y)
    assert_same(forest, engine, X[:20])


def test_fit_judges_in_its_first_pass_only():
    X, y = noisy(200)
    once, twice = (
        OnlineForestClassifier(
            n_estimators=3, random_state=0, eager=True, passes=passes, shuffle=False
        ).fit(X, y)
        for passes in (1, 2)
    )
    assert once.trust_ == twice.trust_
    assert sum(once.trust_.values()) == 1
    assert twice.stats()["trust"] == twice.trust_


@pytest.mark.parametrize("prefix", [150, 400, 401, 900])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_saved_forest_continues_as_if_it_had_not_been_saved(prefix, weighted):
    X, y = noisy(1000)
    weights = np.random.default_rng(1).random(len(X)) * 2 if weighted else None
    forest = OnlineForestClassifier(
        n_estimators=3, random_state=0, eager=True, kept_points=400, ignore_fraction=0.1
    )
    forest.partial_fit(X[:prefix], y[:prefix], sample_weight=first(weights, prefix))
    data = forest.to_bytes()
    other = from_bytes(data)
    assert other.to_bytes() == data
    assert other.trust_ == forest.trust_
    predicts = from_bytes(forest.to_bytes(prediction_only=True))
    assert predicts.predict_proba(X).tolist() == forest.predict_proba(X).tolist()
    for each in (forest, other):
        rest = None if weights is None else weights[prefix:]
        each.partial_fit(X[prefix:], y[prefix:], sample_weight=rest)
    assert other.to_bytes() == forest.to_bytes()
    assert other.predict_proba(X).tolist() == forest.predict_proba(X).tolist()


def first(weights, n):
    return None if weights is None else weights[:n]


@pytest.mark.parametrize("max_memory", ["60kB", "150kB", "400kB"])
def test_a_budget_holds_and_batches_change_nothing_within_it(max_memory):
    X, y = noisy(1500)
    whole, pieces = (
        OnlineForestClassifier(
            n_estimators=3, random_state=0, eager=True, kept_points=300, max_memory=max_memory
        )
        for _ in range(2)
    )
    whole.partial_fit(X, y, classes=[0, 1, 7])
    for start in range(0, len(X), 37):
        pieces.partial_fit(X[start : start + 37], y[start : start + 37], classes=[0, 1, 7])
        assert pieces.memory()["total"] <= int(max_memory[:-2]) * 1000
    assert whole.to_bytes() == pieces.to_bytes()


def test_without_kept_points_eager_has_no_effect():
    X, y = noisy(300)
    paper, eager = (
        OnlineForestClassifier(
            n_estimators=2, random_state=0, kept_points=0, eager=is_eager
        ).partial_fit(X, y)
        for is_eager in (False, True)
    )
    assert paper.predict_proba(X).tolist() == eager.predict_proba(X).tolist()
    with pytest.raises(AttributeError, match="eager=True"):
        _ = eager.trust_


def test_a_forest_for_streams_that_change_is_always_eager():
    X, y = noisy(100)
    with pytest.raises(ValueError, match="eager must be True in a forest for streams that change"):
        AdaptiveForestClassifier(n_estimators=2, eager=False).partial_fit(X, y)
