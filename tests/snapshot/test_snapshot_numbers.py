"""Snapshots of forests of numbers (R26, R27): they come back to the bit, and lies are found."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plausible import Implausible, check_plausible

import riparian
from riparian import AdaptiveForestRegressor, OnlineForestRegressor

from snapshots import (
    NUMBER_KINDS,
    changed,
    forged,
    learned,
    mixture,
    opened,
    same_forest,
    sealed,
    survive,
)

pytestmark = pytest.mark.engine

FRINGE = "numbers, weights and a fringe"

many = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@cache
def snapshot(kind, prediction_only=False):
    return learned(**NUMBER_KINDS[kind]).to_bytes(prediction_only=prediction_only)


kinds = st.sampled_from([(kind, only) for kind in NUMBER_KINDS for only in (False, True)])


@pytest.mark.parametrize("kind", NUMBER_KINDS)
def test_a_forest_comes_back_to_the_bit_and_goes_on(kind):
    forest = learned(**NUMBER_KINDS[kind])
    other = riparian.from_bytes(forest.to_bytes())
    assert type(other) is type(forest)
    assert same_forest(other, forest)
    X, y = mixture(300, seed=1)
    targets = y * 3.5e3 - 0.25  # the scale grows
    for each in (forest, other):
        each.partial_fit(X, targets)
    assert same_forest(other, forest)
    assert (other.predict(X) == forest.predict(X)).all()


@pytest.mark.parametrize(
    ("cls", "changes"),
    [
        (OnlineForestRegressor, {"kept_points": 0, "alpha": 2**24, "beta": 2}),
        (OnlineForestRegressor, {"kept_points": 90, "eager": False}),
        (OnlineForestRegressor, {"kept_points": 500}),
        (AdaptiveForestRegressor, {"kept_points": 90}),
    ],
)
def test_a_forest_whose_sums_have_overflown_comes_back_and_goes_on(cls, changes):
    X = np.random.default_rng(1).normal(size=(800, 4)).astype(np.float32)
    targets = np.where(X[:, 0] > 0, 1.0, -0.5) * 2.0**500
    weights = np.full(len(X), 2.0**20)
    forest = cls(3, random_state=0, **changes).partial_fit(X, targets, sample_weight=weights)
    assert forest.stats()["leaves"] > 3
    assert np.isfinite(forest.predict(X)).all()
    assert np.isfinite(forest.feature_importances_).all()
    other = riparian.from_bytes(forest.to_bytes())
    for each in (forest, other):
        each.partial_fit(X, targets, sample_weight=weights)
    assert same_forest(other, forest)


@pytest.mark.parametrize("kind", NUMBER_KINDS)
def test_for_prediction_only_it_predicts_the_same_and_cannot_learn(kind):
    X, y = mixture(50)
    forest = learned(**NUMBER_KINDS[kind])
    other = riparian.from_bytes(snapshot(kind, prediction_only=True))
    assert (other.predict(X) == forest.predict(X)).all()
    with pytest.raises(riparian.SnapshotError, match="cannot learn"):
        other.partial_fit(X, y)


def refused(header, arrays):
    with pytest.raises(riparian.SnapshotError) as caught:
        riparian.from_bytes(sealed(header, arrays))
    return str(caught.value)


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ({"kind": "int"}, "labels must be numbers"),
        ({"origin": "1"}, "origin must be null or a number"),
        ({"origin": 1e200}, "origin must be null or a number"),
        ({"scale": -1}, "scale"),
        ({"scale": 5000}, "scale"),
        ({"origin": None}, "a scale needs an origin"),
        ({"more": 1}, "labels must have exactly"),
    ],
)
def test_a_lie_about_the_target_is_found(labels, reason):
    header, arrays = opened(snapshot("numbers, eager"))
    header["labels"] |= labels
    assert reason in refused(header, arrays)


def test_numbers_have_no_class_weights():
    header, arrays = opened(snapshot("numbers, eager"))
    header["class_weights"]["given"] = "balanced"
    assert "class_weights must be null" in refused(header, arrays)


@pytest.mark.parametrize(
    ("kind", "name", "value", "reason"),
    [
        ("numbers, eager", "leaf_sum", np.nan, "leaf_sum must be finite"),
        ("numbers, eager", "leaf_sum", np.inf, "leaf_sum must be finite"),
        ("numbers, eager", "leaf_same", np.inf, "leaf_same must not be infinite"),
        ("numbers, eager", "inner_sum", np.nan, "inner_sum must be finite"),
        ("numbers, eager", "saved_error", np.nan, "saved_error must be at least 0"),
        ("numbers, eager", "trust", np.nan, "trust must be finite"),
        ("numbers, eager", "kept_label", np.nan, "kept_label must be a number"),
        ("numbers, eager", "kept_label", 1e200, "kept_label must be a number"),
        ("numbers, eager", "scores", np.nan, "scores must be finite"),
        (FRINGE, "waiting_error", np.nan, "waiting_error must be at least 0"),
        (FRINGE, "structure_sum", np.inf, "structure_sum must be finite"),
        (FRINGE, "structure_squares", np.nan, "structure_squares must be at least"),
        (FRINGE, "estimation_sum", np.nan, "estimation_sum must be finite"),
        (FRINGE, "structure_weight", 2**40, "more points go left than arrive"),
        (FRINGE, "estimation_weight", 2**40, "more points go left than arrive"),
        ("numbers, adaptive", "memory_weight", np.nan, "memory_weight must be finite and above 0"),
        ("numbers, adaptive", "memory_weight", -1.0, "memory_weight must be finite and above 0"),
        ("numbers, adaptive", "memory_weight", 0.0, "memory_weight must be finite and above 0"),
        ("numbers, adaptive", "memory_sum", np.inf, "memory_sum must be finite"),
        ("numbers, adaptive", "errors", np.nan, "errors must be finite"),
        ("numbers, adaptive", "errors", -1.0, "errors must be finite and at least 0"),
        ("numbers, adaptive", "trust", np.nan, "trust must be finite"),
    ],
)
def test_a_number_that_the_core_could_not_bear_is_found(kind, name, value, reason):
    header, arrays = opened(snapshot(kind))
    array = arrays[name]
    array = array.astype(np.uint64) if array.dtype.kind == "u" else array
    array[0] = value
    arrays[name] = array
    assert reason in refused(header, arrays)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("memory_weight", 0.5, "memory_weight must hold the last point"),
        ("memory_weight", 1e9, "memory_weight must not hold more points"),
        ("memory_sum", 1e-305, r"memory_sum must be 0, or at least 2\^-1000"),
        ("memory_sum", 1e300, "memory_sum must be that of targets"),
        ("errors", 1e300, "errors must be those of targets"),
        ("leaf_squares", -1.0, "leaf_squares must not be less than those of the mean"),
    ],
)
def test_what_trees_cannot_remember_is_safe_and_implausible(name, value, reason):
    header, arrays = opened(snapshot("numbers, adaptive"))
    arrays[name][0] = value
    data = sealed(header, arrays)
    assert survive(data).startswith("valid")
    with pytest.raises(Implausible, match=reason):
        check_plausible(data)


def test_votes_without_a_weight_are_found():
    header, arrays = opened(snapshot("numbers, eager"))
    arrays["inner_weight"][0] = 0
    assert "a node with votes must have a histogram" in refused(header, arrays)


@many
@given(kinds, st.randoms())
def test_changed_arrays_and_headers_are_refused_or_a_forest(kind, random):
    survive(changed(random, *opened(snapshot(*kind))))


@many
@given(st.sampled_from(list(NUMBER_KINDS)), st.randoms())
def test_forged_numbers_are_refused_or_a_forest(kind, random):
    survive(forged(random, *opened(snapshot(kind))))
