"""Quantiles and intervals (R28): intervals hold the share of the targets that was asked for."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import riparian
from riparian import OnlineForestClassifier, OnlineForestRegressor
from riparian.model.numbers import Numbers
from riparian.snapshot.errors import SnapshotError

pytestmark = pytest.mark.engine

COVERAGE = 0.9


def fan(n, seed=0):
    """Noise that grows with x from 0.1 to 1.1."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2)).astype(np.float32)
    return X, 4 * X[:, 1] + (0.1 + X[:, 0]) * rng.normal(size=n)


def small(**parameters):
    return OnlineForestRegressor(
        n_estimators=10, random_state=0, **{"intervals": (COVERAGE,)} | parameters
    )


def held_along(forest, X, y, coverage=COVERAGE):
    """Test each point, then learn it; return whether the intervals held the targets, and widths."""
    held, widths = [], []
    for x, label in zip(X[:, None], y, strict=True):
        low, high = forest.predict_interval(x, coverage)[0] if held else (-np.inf, np.inf)
        held.append(low <= label <= high)
        widths.append(high - low)
        forest.partial_fit(x, np.array([label]))
    return np.array(held), np.array(widths)


# -- coverage -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"kept_points": 500}])
def test_intervals_hold_the_share_of_targets_that_was_asked_for(parameters):
    X, y = fan(3000)
    held, _ = held_along(small(**parameters), X, y)
    assert held[:1500].mean() == pytest.approx(COVERAGE, abs=0.015)
    assert held[1500:].mean() == pytest.approx(COVERAGE, abs=0.015)


def test_intervals_hold_that_share_when_the_stream_changes_at_every_point():
    X, y = fan(3000)
    held, _ = held_along(small(), X, y + np.arange(3000) / 30)
    assert held.mean() == pytest.approx(COVERAGE, abs=0.015)


@pytest.mark.parametrize("unit", [1.0, 0.1, 1 / 3, 1e-9])
def test_rounding_drops_no_target_out_of_an_interval(unit):
    rng = np.random.default_rng(0)
    X = rng.random((800, 1)).astype(np.float32)
    y = 1 / 7 + unit * rng.integers(0, 3, size=800)  # three targets, and differences between them
    held, _ = held_along(small(intervals=(0.5,)), X, y, 0.5)
    forest = small(intervals=(0.5,)).partial_fit(X, y)
    assert held.mean() >= 0.485
    assert (forest.predict_interval(X, 0.5)[:, 0] <= y.max()).all()


def test_ends_are_rounded_outwards_only_where_several_targets_have_one_difference():
    numbers = Numbers(origin=1e6)
    targets = np.array([[0.1, 0.1], [2e6, 2e6], [1e6, 1e6 + 1]])
    low, high = numbers.intervals(targets - 1e6).T
    assert (low <= targets[:, 0]).all()
    assert (targets[:, 1] <= high).all()
    assert (high - low).tolist() == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)
    assert Numbers(origin=0.0).intervals(np.array([[0.1, 0.3]])).tolist() == [[0.1, 0.3]]


def test_several_coverages_are_learned_independently():
    X, y = fan(1000)
    both = small(intervals=(0.5, 0.9)).partial_fit(X, y)
    for coverage in (0.5, 0.9):
        alone = small(intervals=(coverage,)).partial_fit(X, y)
        assert (both.predict_interval(X, coverage) == alone.predict_interval(X, coverage)).all()


def test_widths_follow_the_noise():
    X, y = fan(4000)
    forest = small().partial_fit(X, y)
    low, high = forest.predict_interval(X).T
    calm, noisy = (high - low)[X[:, 0] < 0.2].mean(), (high - low)[X[:, 0] > 0.8].mean()
    assert noisy > 2.5 * calm  # the noise itself is five times as large


def test_a_constant_target_has_an_interval_without_width_from_its_first_point_on():
    X, _ = fan(300)
    forest = small()
    for some in (slice(0, 1), slice(1, 300)):
        forest.partial_fit(X[some], np.full(len(X[some]), 2.5))
        assert (forest.predict_interval(X[:20]) == 2.5).all()


def test_an_interval_is_all_numbers_as_long_as_nothing_is_known():
    forest = small().partial_fit(np.empty((0, 2)), np.empty(0))
    assert forest.predict_interval([[0.0, 0.0]]).tolist() == [[-np.inf, np.inf]]
    assert np.isnan(forest.predict_quantiles([[0.0, 0.0]], [0.5])).all()


def test_points_that_were_learned_before_do_not_move_the_levels():
    X, y = fan(300)
    once, twice = (small(passes=passes, shuffle=False).fit(X, y) for passes in (1, 2))
    assert level_of(once) == level_of(twice)


def test_intervals_change_neither_trees_nor_predictions():
    X, y = fan(1500)
    plain, sure = small(intervals=()).partial_fit(X, y), small().partial_fit(X, y)
    assert (plain.predict(X) == sure.predict(X)).all()
    assert plain.stats() == sure.stats()


def level_of(forest):
    return forest.model_.engine.kept()["levels"].tolist()


# -- quantiles ----------------------------------------------------------------------------------------


def test_quantiles_do_not_fall_and_come_in_the_order_asked_for():
    X, y = fan(1000)
    forest = small(intervals=()).partial_fit(X, y)
    rising = forest.predict_quantiles(X[:50], [0.0, 0.1, 0.5, 0.9, 1.0])
    assert (np.diff(rising, axis=1) >= 0).all()
    assert (forest.predict_quantiles(X[:50], [0.9, 0.1]) == rising[:, [3, 1]]).all()


def test_quantiles_are_targets_of_kept_points():
    X, y = fan(1000)
    forest = small(intervals=(), kept_points=100).partial_fit(X, y)
    assert np.isin(forest.predict_quantiles(X[:50], [0.1, 0.5]), forest.kept_points_.y).all()


def test_quantiles_have_about_the_share_of_the_targets_below_them():
    X, y = fan(3000)
    forest = small(intervals=()).partial_fit(X[:2000], y[:2000])
    below = y[2000:, None] <= forest.predict_quantiles(X[2000:], [0.2, 0.5, 0.8])
    assert below.mean(axis=0) == pytest.approx([0.2, 0.5, 0.8], abs=0.08)


# -- saved --------------------------------------------------------------------------------------------


def test_a_loaded_forest_gives_the_same_intervals_and_goes_on_learning_them():
    X, y = fan(1200)
    forest = small(kept_points=300).partial_fit(X[:900], y[:900])
    loaded, copied = riparian.from_bytes(forest.to_bytes()), copy.copy(forest)
    for each in (forest, loaded, copied):
        each.partial_fit(X[900:], y[900:])
    assert (loaded.predict_interval(X) == forest.predict_interval(X)).all()
    assert (copied.predict_interval(X) == forest.predict_interval(X)).all()
    assert loaded.intervals == (COVERAGE,)


def test_a_snapshot_without_intervals_is_as_before():
    X, y = fan(50)
    saved = small(intervals=()).partial_fit(X, y).to_bytes()
    assert b"intervals" not in saved
    assert b'levels"' not in saved.replace(b"spared_levels", b"")
    assert riparian.from_bytes(saved).intervals == ()


def test_a_forest_that_only_predicts_says_why_it_has_no_intervals():
    X, y = fan(50)
    forest = riparian.from_bytes(small().partial_fit(X, y).to_bytes(prediction_only=True))
    with pytest.raises(ValueError, match="prediction_only=True, without its kept points"):
        forest.predict_interval(X)
    with pytest.raises(SnapshotError):
        forest.partial_fit(X, y)


# -- input validation ---------------------------------------------------------------------------------


def test_a_coverage_that_was_not_learned_is_an_error_that_says_what_to_do():
    X, y = fan(50)
    forest = small().partial_fit(X, y)
    with pytest.raises(ValueError, match=r"learned along the stream \(0\.9\), got 0\.8; make the"):
        forest.predict_interval(X, 0.8)


@pytest.mark.parametrize("parameters", [{"kept_points": 0}, {"eager": False}])
def test_a_forest_without_kept_targets_says_why_it_has_no_intervals(parameters):
    X, y = fan(50)
    with pytest.raises(ValueError, match=r"intervals must be \(\) if kept_points is 0 or eager"):
        small(**parameters).partial_fit(X, y)
    forest = small(intervals=(), **parameters).partial_fit(X, y)
    with pytest.raises(ValueError, match="come from the targets of kept points"):
        forest.predict_quantiles(X, [0.5])


@pytest.mark.parametrize(
    "wrong", [0.9, "0.9", (0.0,), (1.0,), (90,), (0.9, 0.9), (None,), {0.9: 1}, (float("nan"),)]
)
def test_coverages_are_checked(wrong):
    X, y = fan(5)
    with pytest.raises((TypeError, ValueError), match="intervals"):
        small(intervals=wrong).partial_fit(X, y)


@pytest.mark.parametrize("wrong", [[1.1], [-0.1], ["a"], [[0.5]], [float("nan")], None])
def test_quantiles_are_checked(wrong):
    X, y = fan(5)
    forest = small().partial_fit(X, y)
    with pytest.raises(ValueError, match="q must hold numbers from 0 to 1"):
        forest.predict_quantiles(X, wrong)


def test_a_forest_of_classes_has_no_intervals():
    forest = OnlineForestClassifier(2, random_state=0).partial_fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(TypeError, match="need a forest of numbers, got a forest of classes"):
        forest.model_.predict_interval(np.zeros((1, 1), np.float32), 0.9, 1)
