"""The native engine equals the reference to the last bit, whatever the data and the parameters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riparian import _core
from riparian.estimator.parameters import Parameters
from riparian.estimator.schedules import Geometric

from equivalence import Native, assert_same, learn_reference
from strategies import cuts, parameters, streams, thorough

pytestmark = pytest.mark.engine


WINDOWS = (0, 1, 2, 7, 30, 100, 1000)  # kept points


@thorough
@given(parameters(kept_points=WINDOWS), streams(), st.data())
def test_engines_agree_whatever_the_batches_threads_and_rebirths(parameters, stream, data):
    X, y = stream
    forest = learn_reference(parameters, X, y)
    engine = Native(parameters, X.shape[1])
    for first, last in data.draw(cuts(len(X))):
        engine.learn(X[first:last], y[first:last], workers=data.draw(st.integers(1, 4)))
        if data.draw(st.booleans()):
            bytes_before = engine.bytes()
            engine = engine.reborn()
            assert engine.bytes() == bytes_before
    assert_same(forest, engine, X[:20])


@thorough
@given(parameters(max_trees=2, kept_points=WINDOWS), streams(), st.data())
def test_engines_agree_on_weights(parameters, stream, data):
    X, y = stream
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    largest = data.draw(st.sampled_from([1.0, 3.0, 300.0]))
    weights = rng.random(len(X)) * largest
    weights[rng.random(len(X)) < 0.1] = 0.0
    forest = learn_reference(parameters, X, y, weights)
    engine = Native(parameters, X.shape[1])
    for first, last in data.draw(cuts(len(X))):
        engine.learn(X[first:last], y[first:last], weights[first:last])
        bytes_before = engine.bytes()
        engine = engine.reborn()
        assert engine.bytes() == bytes_before
    assert_same(forest, engine, X[:20])


LONG = Parameters(
    n_trees=2, seed=5, candidate_dims="sqrt", split_points=10, min_gain=0.3,
    alpha=Geometric(3, 1.1), beta=Geometric(900, 1.1), structure_fraction=0.5,
    ignore_fraction=0.0, fringe_size=None, voting="average",
)  # fmt: skip


@pytest.mark.parametrize("kernels", _core.kernel_names())
def test_every_instruction_set_gives_the_same_bits_also_when_counters_widen(kernels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=1500) > 0).astype(int)
    before = _core.kernel_names()[-1]
    _core.use_kernels(kernels)
    try:
        engine = Native(LONG, 5)
        engine.learn(X, y)
        assert_same(learn_reference(LONG, X, y), engine, X[:50])
    finally:
        _core.use_kernels(before)
