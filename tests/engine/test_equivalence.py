"""The native engine equals the reference to the last bit, whatever the data and the parameters."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riparian import _core
from riparian.parameters.forests import PaperParameters
from riparian.parameters.schedules import Geometric

from equivalence import (
    Native,
    assert_same,
    check_batches_threads_and_reloads,
    check_weights,
    learn_reference,
)
from strategies import parameters, streams, thorough

pytestmark = pytest.mark.engine


WINDOWS = (0, 1, 2, 7, 30, 100, 1000)  # kept points


@thorough
@given(parameters(kept_points=WINDOWS), streams(), st.data())
def test_engines_agree_whatever_the_batches_threads_and_reloads(parameters, stream, data):
    check_batches_threads_and_reloads(parameters, stream, data)


@thorough
@given(parameters(max_trees=2, kept_points=WINDOWS), streams(), st.data())
def test_engines_agree_on_weights(parameters, stream, data):
    check_weights(parameters, stream, data)


LONG = PaperParameters(
    n_trees=2, seed=5, candidate_dims="sqrt", split_points=10, min_gain=0.3,
    alpha=Geometric(3, 1.1), beta=Geometric(900, 1.1), structure_fraction=0.5,
    ignore_fraction=0.0, fringe_size=None, voting="average",
)  # fmt: skip


@pytest.fixture(params=_core.kernel_names())
def each_instruction_set(request):
    before = _core.kernel_names()[-1]
    _core.use_kernels(request.param)
    yield
    _core.use_kernels(before)


@pytest.mark.usefixtures("each_instruction_set")
@pytest.mark.parametrize("heaviest", [1, 300])
def test_every_instruction_set_gives_the_same_bits_also_when_counters_widen(heaviest):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=1500) > 0).astype(int)
    weights = rng.integers(1, heaviest, len(y), endpoint=True).astype(float)
    engine = Native(LONG, 5)
    engine.learn(X, y, weights)
    assert_same(learn_reference(LONG, X, y, weights), engine, X[:50])


ALIKE = replace(LONG, alpha=Geometric(1, 1.1), beta=Geometric(20, 1.1), kept_points=1000)


@pytest.mark.usefixtures("each_instruction_set")
@pytest.mark.parametrize("heaviest", [1, 5])
@pytest.mark.parametrize("classes", [3, 60])
def test_a_leaf_of_points_that_are_alike_counts_its_long_list_as_the_rules_say(heaviest, classes):
    rng = np.random.default_rng(1)
    X = np.full((1600, 3), 7, np.float32)
    X[:, 1] = rng.integers(0, 2, len(X))
    y = rng.integers(0, classes, len(X))
    weights = rng.integers(1, heaviest, len(y), endpoint=True).astype(float)
    engine = Native(ALIKE, 3, categorical=[1])
    engine.learn(X, y, weights)
    assert max(tree["stuck"] for tree in engine.stats()) > 0
    bytes_before = engine.bytes()
    assert engine.reborn().bytes() == bytes_before
    assert_same(learn_reference(ALIKE, X, y, weights, categorical=[1]), engine, X[:50])


WIDE = replace(LONG, n_trees=1, candidate_dims=6.0, min_gain=0.5)


def wide_stream():
    """Numbers, some of them missing, and two columns of categories."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 14)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3:5] = rng.integers(0, 4, (len(X), 2))
    y = np.where(X[:, 0] > 0, rng.integers(0, 3, len(X)), rng.integers(0, 50, len(X)))
    return X, y


@cache
def wide_reference(parameters, categorical):
    return learn_reference(parameters, *wide_stream(), categorical=categorical)


# Bits of a point fill words of 64: whole dimensions, parts of one, or exactly.
@pytest.mark.usefixtures("each_instruction_set")
@pytest.mark.parametrize("categorical", [(), (3, 4)])
@pytest.mark.parametrize("split_points", [1, 7, 10, 16, 17, 32])
def test_wherever_the_bits_of_a_word_end_they_are_the_same(split_points, categorical):
    X, y = wide_stream()
    settings = replace(
        WIDE, split_points=split_points, alpha=Geometric(1, 1.1), beta=Geometric(12, 1.1)
    )
    engine = Native(settings, X.shape[1], categorical=categorical)
    engine.learn(X, y)
    assert_same(wide_reference(settings, categorical), engine, X[:50])


# The more α, the more points a leaf has kept when it is first checked: up to 64, or more.
@pytest.mark.parametrize("alpha", [1, 4, 15, 30, 45])
def test_a_first_check_finds_the_same_gains_however_many_points_are_kept(alpha):
    X, y = wide_stream()
    settings = replace(WIDE, alpha=Geometric(alpha, 1.1), beta=Geometric(3 * alpha, 1.1))
    engine = Native(settings, X.shape[1])
    engine.learn(X, y)
    assert engine.stats()[0]["leaves"] > 1
    assert_same(wide_reference(settings, ()), engine, X[:50])


SETTLING = replace(
    LONG, alpha=Geometric(1, 1.05), beta=Geometric(60, 1.05), kept_points=150, split_points=6
)


@pytest.mark.parametrize("heaviest", [1, 4])
@pytest.mark.parametrize("batch", [1, 97, 700, 2000])
def test_a_settled_leaf_splits_at_the_very_point_that_the_rules_say(heaviest, batch):
    rng = np.random.default_rng(2)
    X = (rng.normal(size=(2000, 4)) * 2).round().astype(np.float32) / 2  # ties
    y = (X[:, 0] > 0) + 2 * (X[:, 1] * X[:, 2] > rng.normal(size=len(X)))
    y[(rng.random(len(X)) < 0.2) & (np.arange(len(X)) > 900)] = 7  # a class that comes late
    weights = rng.integers(1, heaviest, len(y), endpoint=True).astype(float)
    engine = Native(SETTLING, 4)
    for first in range(0, len(X), batch):
        last = min(first + batch, len(X))
        engine.learn(X[first:last], y[first:last], weights[first:last])
        if first // 500 != last // 500:
            bytes_before = engine.bytes()
            engine = engine.reborn()
            assert engine.bytes() == bytes_before
    assert all(tree["active"] - tree["young"] > 10 for tree in engine.stats())
    assert_same(learn_reference(SETTLING, X, y, weights), engine, X[:50])
