"""W falls when columns join a forest of bounded memory (R19), at the same point in both engines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riparian import OnlineForestClassifier as RowForest
from riparian import from_bytes
from riparian.parameters.forests import PaperParameters
from riparian.parameters.schedules import Geometric
from riparian.reference import Columns
from riparian.river import AdaptiveForestClassifier, OnlineForestClassifier

from equivalence import Native, assert_same, reference_forest
from strategies import adaptive_parameters, cuts, streams
from strategies import parameters as any_parameters

pytestmark = pytest.mark.engine

quick = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
WINDOWS = (2, 7, 30, 100, 1000)
RULES = {
    "kept": any_parameters(kept_points=WINDOWS),
    "eager": any_parameters(kept_points=WINDOWS).map(lambda p: replace(p, eager=True)),
    "adaptive": adaptive_parameters(kept_points=WINDOWS),
}


@pytest.mark.parametrize("rule", RULES)
@quick
@given(data=st.data())
def test_engines_agree_wherever_w_falls(rule, data):
    parameters = data.draw(RULES[rule])
    X, y = data.draw(streams())
    weights = np.random.default_rng(0).choice([0.3, 1.0, 2.5], len(y))
    forest = reference_forest(parameters, Columns(X.shape[1], parameters.rate(X.shape[1])))
    engine = Native(parameters, X.shape[1])
    kept = parameters.kept_points
    for first, last in data.draw(cuts(len(y))):
        some = slice(first, last)
        forest.learn(X[some], y[some].tolist(), weights[some].tolist())
        engine.learn(X[some], y[some], weights[some], data.draw(st.integers(1, 2)))
        kept = data.draw(st.integers(1, kept))
        forest.keep_last(kept)
        engine.forest.keep_last(kept)
        if data.draw(st.booleans()):
            engine = engine.reborn()
        assert_same(forest, engine, X[:5])


LONG = PaperParameters(
    n_trees=3, seed=5, candidate_dims="sqrt", split_points=10, min_gain=0.1,
    alpha=Geometric(1, 1.1), beta=Geometric(20, 1.1), structure_fraction=0.5,
    ignore_fraction=0.1, fringe_size=None, voting="average", kept_points=400,
)  # fmt: skip


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("falls", [{300: 100}, {300: 350}, {700: 100}, {200: 150, 300: 60, 900: 7}])
def test_engines_agree_from_before_a_fall_to_long_after_it(eager, falls):
    """Before or after the turn of eager trees, which a fall can cause."""
    parameters = replace(LONG, eager=eager)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=len(X)) * 0.7 > 0).astype(int)
    forest = reference_forest(parameters, Columns(4, parameters.rate(4)))
    engine = Native(parameters, 4)
    for first in range(0, len(X), 100):
        if first in falls:
            forest.keep_last(falls[first])
            engine.forest.keep_last(falls[first])
            assert_same(forest, engine, X[:3])
        forest.learn(X[first : first + 100], y[first : first + 100].tolist())
        engine.learn(X[first : first + 100], y[first : first + 100], workers=2)
        assert_same(forest, engine, X[:3])


def wide(n, columns, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)).astype(np.float32)
    return X, (X[:, 0] + X[:, -1] > 0).astype(int)


KINDS = {
    "kept": lambda **p: OnlineForestClassifier(eager=False, **p),
    "eager": lambda **p: OnlineForestClassifier(eager=True, **p),
    "adaptive": lambda **p: AdaptiveForestClassifier(**p),
}


def learn(model, X, y, batch):
    pandas = pytest.importorskip("pandas")
    for first in range(0, len(y), batch):
        some = slice(first, first + batch)
        names = [f"{i:03}" for i in range(X.shape[1])]
        model.learn_many(pandas.DataFrame(X[some], columns=names), pandas.Series(y[some]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_forest_of_one_column_that_gets_600_stays_within_its_memory_and_grows(kind):
    model = KINDS[kind](n_estimators=20, seed=1, max_memory="8MB")
    learn(model, *wide(6000, 1, 0), 1000)
    held = model._forest.engine
    before, first = held.parameters.kept_points, held.sizes()["leaves"]
    X, y = wide(3000, 600, 1)
    learn(model, X[:1], y[:1], 1)
    assert held.parameters.kept_points < before / 2
    assert held.rule.budget() > 8e6 / 20 / 2  # most of the memory is the trees' own again
    learn(model, X[1:], y[1:], 500)
    assert model._forest.bytes_held() <= 8e6
    assert not any(tree["stopped_at"] for tree in held.stats())
    assert kind == "adaptive" or held.sizes()["leaves"] > first  # its trees are replaced
    other = KINDS[kind](n_estimators=20, seed=1, max_memory="8MB")
    learn(other, *wide(6000, 1, 0), 6000)
    learn(other, X, y, 3000)
    assert _state(other) == _state(model)


def _state(model):
    points, trees, kept = model._forest.engine.save()
    return (
        points,
        [{name: array.tobytes() for name, array in tree.items()} for tree in trees],
        {name: array.tobytes() for name, array in kept.items()},
    )


@pytest.mark.parametrize("eager", [False, True])
def test_a_snapshot_knows_that_fewer_points_are_kept(eager):
    forest = RowForest(n_estimators=5, random_state=1, max_memory="2MB", eager=eager)
    forest.partial_fit(*wide(6000, 1, 0))
    with forest.model_.engine.learning:
        forest.model_.widen(600, (), None)
    forest.n_features_in_ = 600
    kept = forest.model_.engine.parameters.kept_points
    assert kept < 200
    loaded = from_bytes(forest.to_bytes())
    assert loaded.model_.engine.parameters.kept_points == kept
    X, y = wide(1000, 600, 1)
    assert loaded.partial_fit(X, y).to_bytes() == forest.partial_fit(X, y).to_bytes()
