"""Categorical columns (R22): the native engine equals the reference, whatever the rule of splitting."""

from __future__ import annotations

import functools
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riparian import _core, reference
from riparian.parameters.forests import AdaptiveParameters, PaperParameters
from riparian.parameters.schedules import Geometric
from riparian.reference_saffari import FixedColumns, SaffariForest

from equivalence import Native, assert_same, learn_reference, reference_forest
from strategies import cuts, mixed_streams, parameters
from test_saffari import any_parameters, assert_same_bags

pytestmark = pytest.mark.engine

quick = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])

WINDOWS = (0, 7, 30, 100, 1000)  # kept points


@quick
@given(parameters(kept_points=WINDOWS), mixed_streams(), st.data())
def test_engines_agree_on_categories_whatever_the_batches_threads_and_reloads(p, stream, data):
    X, y, categorical = stream
    engine = Native(p, X.shape[1], categorical=categorical)
    for first, last in data.draw(cuts(len(X))):
        engine.learn(X[first:last], y[first:last], workers=data.draw(st.integers(1, 3)))
        if data.draw(st.booleans()):
            before = engine.bytes()
            engine = engine.reborn()
            assert engine.bytes() == before
    unknown = np.where(np.arange(X.shape[1]) == categorical[0], 1e6, X[:5])
    points = np.concatenate([X[:20], unknown]).astype(np.float32)
    assert_same(learn_reference(p, X, y, categorical=categorical), engine, points)


@quick
@given(parameters(max_trees=2, kept_points=WINDOWS), mixed_streams(), st.data())
def test_engines_agree_on_weights_and_categories(p, stream, data):
    X, y, categorical = stream
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    weights = rng.random(len(X)) * data.draw(st.sampled_from([1.0, 3.0, 300.0]))
    weights[rng.random(len(X)) < 0.1] = 0.0
    engine = Native(p, X.shape[1], categorical=categorical)
    for first, last in data.draw(cuts(len(X))):
        engine.learn(X[first:last], y[first:last], weights[first:last])
        engine = engine.reborn()
    assert_same(learn_reference(p, X, y, weights, categorical), engine, X[:20])


@quick
@given(any_parameters(), mixed_streams(), st.data())
def test_engines_agree_on_categories_of_one_stream(p, stream, data):
    X, y, categorical = stream
    engine = Native(p, X.shape[1], categorical=categorical)
    for first, last in data.draw(cuts(len(X))):
        engine.learn(X[first:last], y[first:last], workers=data.draw(st.integers(1, 3)))
        engine = engine.reborn()
    forest = SaffariForest(p, FixedColumns(X.shape[1], p.candidate_dims, categorical))
    forest.learn(X, y.tolist())
    assert_same(forest, engine, X[:20])
    assert_same_bags(forest, engine)


@quick
@given(parameters(max_trees=2, kept_points=WINDOWS), mixed_streams(), st.data())
def test_columns_that_join_later_may_be_categorical_or_become_so(p, stream, data):
    """The last columns join in the middle; one may have had no value until it becomes categorical."""
    X, y, categorical = stream
    joined = data.draw(st.integers(1, X.shape[1]))
    middle = len(X) // 2
    undecided = [c for c in categorical if c < joined and data.draw(st.booleans())]
    X[:middle, undecided] = np.nan
    decided = [c for c in categorical if c < joined and c not in undecided]

    engine = Native(p, joined, categorical=decided)
    engine.learn(X[:middle, :joined], y[:middle])
    tables = engine.forest.categories
    if tables is None:
        tables = engine.forest.categories = Native(p, 1, categorical=[0]).forest.categories
        tables.tables.clear()
    if undecided:
        engine.forest.become_categorical(undecided)
    tables.add([c for c in categorical if c >= joined])
    engine.forest.set_dims(X.shape[1])
    engine.learn(X[middle:], y[middle:])

    space = reference.Columns(joined, p.rate(joined), decided)
    forest = reference_forest(p, space)
    forest.learn(X[:middle, :joined], y[:middle].tolist())
    space.n_dims, space.rate = X.shape[1], p.rate(X.shape[1])
    space.categorical = set(categorical)
    forest.learn(X[middle:], y[middle:].tolist())
    assert_same(forest, engine, X[:20])


PLAIN = PaperParameters(
    n_trees=2, seed=5, candidate_dims=6.0, split_points=20, min_gain=0.02,
    alpha=Geometric(2, 1.1), beta=Geometric(40, 1.1), structure_fraction=0.5,
    ignore_fraction=0.0, fringe_size=None, voting="average",
)  # fmt: skip


@functools.cache
def five_columns(kept_points):
    """Lists of more than 256 points too, and many classes: all the ways in which a leaf looks."""
    rng = np.random.default_rng(0)
    X = np.floor(rng.random((1200, 5)) * [2, 30, 9, 400, 3]).astype(np.float32)
    X[rng.random(X.shape) < 0.02] = np.nan
    y = (np.nan_to_num(X[:, 1]) * 7 % 30).astype(int)
    p = replace(PLAIN, kept_points=kept_points)
    return p, X, y, learn_reference(p, X, y, categorical=[0, 1, 3])


@pytest.mark.parametrize("kept_points", [0, 300, 5000])
@pytest.mark.parametrize("kernels", _core.kernel_names())
def test_every_instruction_set_gives_the_same_bits_of_categories(kernels, kept_points):
    p, X, y, forest = five_columns(kept_points)
    before = _core.kernel_names()[-1]
    _core.use_kernels(kernels)
    try:
        engine = Native(p, 5, categorical=[0, 1, 3])
        engine.learn(X, y)
        assert_same(forest, engine, X[:50])
        assert (sum(n_halves(engine)) > 0) == (kept_points > 0)
    finally:
        _core.use_kernels(before)


def n_halves(engine):
    """Of each tree, the splits that send half of the categories left."""
    trees = [engine.forest.tree(i) for i in range(len(engine.forest.trees))]
    return [int((tree.threshold <= -1).sum()) for tree in trees]


def many(rows=400, seed=1, codes=(200, 40, 3)):
    """Codes, of which some come late and some are missing, and labels that no order separates."""
    rng = np.random.default_rng(seed)
    X = np.floor(rng.random((rows, 3)) * codes * np.linspace(0.5, 1, rows)[:, None])
    X = X.astype(np.float32)
    y = (X[:, 0] * 7 % 11 > 5).astype(int) + (X[:, 1] * 5 % 7 > 3)
    X[rng.random(X.shape) < 0.03] = np.nan
    return X, y


ADAPTIVE = AdaptiveParameters(
    **{field.name: getattr(PLAIN, field.name) for field in fields(PLAIN)}
    | {"kept_points": 400, "eager": True, "drift_confidence": 0.3},
)  # fmt: skip
HALVED = {
    "all points kept, trees rebuilt": replace(PLAIN, kept_points=5000),
    "some points kept": replace(PLAIN, kept_points=150),
    "a fringe": replace(PLAIN, kept_points=5000, fringe_size=3),
    "changing": ADAPTIVE,
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", HALVED)
def test_engines_agree_on_halves_of_many_categories(kind, weighted):
    p, (X, y) = HALVED[kind], many()
    weights = np.random.default_rng(0).random(len(X)) * 2 if weighted else None
    engine = Native(p, 3, categorical=[0, 1, 2])
    for first in range(0, len(X), 130):
        some = slice(first, first + 130)
        engine.learn(X[some], y[some], None if weights is None else weights[some], workers=2)
        engine = engine.reborn()
    assert min(n_halves(engine)) > 0
    assert_same(learn_reference(p, X, y, weights, [0, 1, 2]), engine, X[:50])


def test_engines_agree_on_halves_where_there_are_many_classes():
    X, _ = many(rows=700)
    y = (np.nan_to_num(X[:, 0]) * 7 % 100).astype(int)
    p = replace(PLAIN, n_trees=1, kept_points=5000, beta=Geometric(10, 1.1))
    engine = Native(p, 3, categorical=[0, 1, 2])
    engine.learn(X, y)
    assert n_halves(engine)[0] > 0
    assert_same(learn_reference(p, X, y, categorical=[0, 1, 2]), engine, X[:50])


@pytest.mark.parametrize(
    ("p", "codes"),
    [
        (replace(PLAIN, kept_points=0), (200, 40, 3)),
        (replace(PLAIN, kept_points=5000), (32, 31, 3)),
    ],
)
def test_there_are_no_halves_without_kept_points_or_with_few_categories(p, codes):
    X, y = many(codes=codes)
    engine = Native(p, 3, categorical=[0, 1, 2])
    engine.learn(X, y)
    assert n_halves(engine) == [0, 0]
    assert all((engine.forest.tree(i).threshold > 0).any() for i in (0, 1))


def test_halves_of_equal_gain_the_last_one_wins():
    """Two codes, 32 and 33: every half that separates them gains as much as their categories do."""
    codes = np.tile(np.float32([32, 33]), 100)[:, None]
    p = replace(PLAIN, n_trees=1, split_points=3, kept_points=1000)
    engine = Native(p, 1, categorical=[0])
    engine.learn(codes, (codes[:, 0] == 33).astype(int))
    assert_same(learn_reference(p, codes, codes[:, 0] == 33, categorical=[0]), engine, codes[:4])
    tree = engine.forest.tree(0)
    half = int(-1 - tree.threshold[0])
    sides = [[not reference.differs(c, -1 - (half // 64 * 64 + b)) for c in (32, 33)]
             for b in range(12)]  # fmt: skip
    assert half % 64 == max(b for b in range(12) if sides[b][0] != sides[b][1])


def test_a_category_is_distinguished_from_its_neighbours():
    """One split in code 2 of five; a threshold would need two."""
    codes = np.tile(np.float32([0, 1, 2, 3, 4]), 200)[:, None]
    p = replace(PLAIN, n_trees=1, min_gain=0.3, beta=Geometric(1e6, 1.1))
    engine = Native(p, 1, categorical=[0])
    engine.learn(codes, (codes[:, 0] == 2).astype(int))
    tree = engine.forest.tree(0)
    assert tree.threshold[0] == 2
    assert tree.child.tolist() == [1, 0, 0]
    answer = engine.forest.predict_proba(np.float32([[2], [1], [3], [99], [np.nan]]), 1)
    assert answer.argmax(axis=1).tolist() == [1, 0, 0, 0, 0]
