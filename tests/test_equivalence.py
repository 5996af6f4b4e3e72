"""The native engine equals the reference to the last bit, whatever the data and the parameters."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riparian import _core
from riparian.estimator.parameters import Parameters
from riparian.estimator.schedules import Geometric, Polynomial

from equivalence import Native, assert_same, learn_reference

pytestmark = pytest.mark.engine

thorough = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def schedules(draw):
    start = draw(st.sampled_from([1, 1.5, 2, 4]))
    forms = [Geometric(start, 1.1), Geometric(start, 2.0), Polynomial(start, 1.5)]
    alpha = draw(st.sampled_from(forms))
    return alpha, alpha.times(draw(st.sampled_from([1, 2, 8, 1000])))


@st.composite
def parameters(draw, max_trees=3):
    alpha, beta = draw(schedules())
    structure = draw(st.sampled_from([0.5, 0.3, 0.8]))
    return Parameters(
        n_trees=draw(st.integers(1, max_trees)),
        seed=draw(st.integers(0, 2**64 - 1)),
        candidate_dims=draw(st.sampled_from([0.0, 1.0, 2.7, 30.0, "sqrt"])),
        split_points=draw(st.sampled_from([1, 2, 3, 10, 17, 33])),
        min_gain=draw(st.sampled_from([0.0, 0.001, 0.1, 0.5, 2.0])),
        alpha=alpha,
        beta=beta,
        structure_fraction=structure,
        ignore_fraction=draw(st.sampled_from([0.0, 0.1])),
        fringe_size=draw(st.sampled_from([None, 1, 2, 3, 7])),
        voting=draw(st.sampled_from(["average", "majority"])),
    )


@st.composite
def streams(draw):
    """Rows of a few kinds (continuous, many ties, constant columns, missing values) and labels."""
    rows, dims = draw(st.integers(0, 400)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.normal(size=(rows, dims)).astype(np.float32)
    if draw(st.booleans()):
        X = np.round(X)  # duplicates
    if draw(st.booleans()):
        X[:, rng.integers(dims)] = 3.25  # a constant column
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.2] = np.nan
    n_classes = draw(st.sampled_from([1, 2, 5, 40]))
    y = rng.integers(n_classes, size=rows)
    if draw(st.booleans()):
        y = np.where(np.nan_to_num(X[:, 0]) > 0, y, 0)  # something to learn
    return X, y


@st.composite
def cuts(draw, rows):
    places = draw(st.lists(st.integers(0, rows), max_size=4))
    edges = [0, *sorted(places), rows]
    return list(pairwise(edges))


@thorough
@given(parameters(), streams(), st.data())
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
@given(parameters(max_trees=2), streams(), st.data())
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
