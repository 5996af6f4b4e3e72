"""`OnlineForestRegressor`: numbers as the target (R26)."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import riparian
from riparian import OnlineForestRegressor
from riparian.inspection import export_text, tree_view
from riparian.model.numbers import LARGEST

pytestmark = pytest.mark.engine


def waves(n=1200, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 4)).astype(np.float32)
    return X, 3 * np.sin(6 * X[:, 0]) + X[:, 1] + rng.normal(size=n) * noise


def small(**parameters):
    return OnlineForestRegressor(n_estimators=10, random_state=0, **parameters)


@pytest.mark.parametrize("parameters", [{}, {"eager": False}, {"kept_points": 200}])
def test_it_learns_a_smooth_function(parameters):
    X, y = waves()
    forest = small(**parameters).partial_fit(X[:900], y[:900])
    assert forest.score(X[900:], y[900:]) > 0.9


def test_without_kept_points_it_is_the_papers_forest_with_means():
    X, y = waves(3000)
    forest = small(kept_points=0).partial_fit(X[:2700], y[:2700])
    assert forest.score(X[2700:], y[2700:]) > 0.75


def test_an_answer_is_the_mean_of_the_trees():
    X, y = waves(300)
    forest = small(eager=False).partial_fit(X, y)
    trees = forest.predict_trees(X)
    assert forest.predict(X) == pytest.approx(trees.mean(axis=1), abs=1e-9)


# -- shift and scale ----------------------------------------------------------------------------------


def splits(forest):
    arrays = [forest.model_.engine.tree(i) for i in range(10)]
    return [(tree.feature.tolist(), tree.threshold.tolist()) for tree in arrays]


@pytest.mark.parametrize(
    "parameters", [{}, {"eager": False, "kept_points": 300}, {"kept_points": 0}]
)
def test_a_power_of_two_as_a_factor_changes_no_tree(parameters):
    X, y = waves(800)
    y = y - y[0]  # so that differences from the first target are exact
    one, other = (small(**parameters).partial_fit(X, factor * y) for factor in (1.0, 2.0**-20))
    assert splits(one) == splits(other)
    assert (one.predict(X) * 2.0**-20 == other.predict(X)).all()


@pytest.mark.parametrize(("factor", "constant"), [(1.0, 1e6), (1000.0, 0.0), (1e-3, -55.0)])
@pytest.mark.parametrize(
    "parameters", [{}, {"eager": False, "kept_points": 300}, {"kept_points": 0}]
)
def test_a_factor_and_a_constant_change_a_tree_by_roundings_only(parameters, factor, constant):
    X, y = waves(800)
    y = np.round(y * 4096) / 4096  # so that the shifted targets are exact
    one = small(**parameters).partial_fit(X, y)
    other = small(**parameters).partial_fit(X, factor * y + constant)
    assert (other.predict(X) - constant) / factor == pytest.approx(one.predict(X), abs=1e-6)


def test_targets_of_a_million_with_a_spread_of_one_are_learned_as_well():
    X, y = waves()
    forest = small().partial_fit(X[:900], y[:900] + 1e6)
    assert forest.score(X[900:], y[900:] + 1e6) > 0.9


def test_targets_that_differ_by_a_trillion_in_size_are_told_apart():
    X = np.repeat(np.arange(4.0), 50)[:, None]
    y = np.repeat([1e-6, 1.0, 1e3, 1e6], 50)
    forest = small(passes=1).fit(X, y)
    assert forest.predict([[0.0], [1.0], [2.0], [3.0]]) == pytest.approx(
        [1e-6, 1.0, 1e3, 1e6], abs=1e6 * 2.0**-27
    )


@pytest.mark.parametrize("constant", [0.0, 0.1, -1e300 / 1e200])
@pytest.mark.parametrize(
    "parameters", [{}, {"eager": False, "kept_points": 50}, {"kept_points": 0}]
)
def test_a_constant_target_is_answered_exactly(constant, parameters):
    X = waves(300)[0]
    forest = small(**parameters).partial_fit(X, np.full(300, constant))
    assert (forest.predict(X) == constant).all()
    if not parameters:
        assert forest.stats()["leaves"] == 10  # a pure leaf does not look


def test_a_constant_after_one_other_target_makes_no_negative_variance():
    X = waves(500)[0]
    y = np.full(500, 0.1)
    y[0] = 7.3
    for parameters in (
        {},
        {"eager": False, "kept_points": 90},
        {"kept_points": 0, "fringe_size": 2},
    ):
        forest = small(**parameters).partial_fit(X, y)
        assert np.isfinite(forest.predict(X)).all()
        assert forest.predict(X[1:]) == pytest.approx(y[1:], abs=2.5)


def test_the_largest_targets_do_not_overflow():
    X, y = waves(400)
    y = np.where(y > 0, LARGEST, -LARGEST)
    for parameters in ({}, {"eager": False, "kept_points": 90}, {"kept_points": 0}):
        predicted = small(**parameters).partial_fit(X, y).predict(X)
        assert (np.abs(predicted) <= LARGEST).all()
        assert np.mean(np.sign(predicted) == np.sign(y)) > 0.8


# -- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.nan, 2.0], r"y\[1\] must be a finite number of at most 2\^500, got nan"),
        ([1.0, 2.0, -np.inf], r"y\[2\] must be a finite number of at most 2\^500, got -inf"),
        ([2.0**501, 1.0, 2.0], r"y\[0\] must be a finite number"),
        (["3", "4", "5"], r"y\[0\] must be a finite number of at most 2\^500, got '3'"),
        ([1.0, None, 2.0], r"y\[1\] must be a finite number of at most 2\^500, got None"),
        ([1, 10**400, 2], r"y\[1\] must be a finite number"),
        (None, "requires y to be passed"),
    ],
)
def test_a_bad_target_is_an_error_that_names_the_row_and_nothing_is_learned(y, message):
    X = [[0.0], [1.0], [2.0]]
    forest = small()
    with pytest.raises(ValueError, match=message):
        forest.partial_fit(X, y)
    assert not hasattr(forest, "model_")
    forest.partial_fit(X, [1.0, 2.0, 3.0])
    before = forest.to_bytes()
    with pytest.raises(ValueError, match=message):
        forest.partial_fit(X, y)
    assert forest.to_bytes() == before


def test_integers_bools_and_series_are_numbers():
    X, y = waves(60)
    whole = np.round(y).astype(int)
    plain = small().partial_fit(X, whole.astype(float)).predict(X)
    for given in (whole, whole.tolist(), pd.Series(whole), whole.astype(np.int8)):
        assert (small().partial_fit(X, given).predict(X) == plain).all()
    assert set(small().partial_fit(X, y > 0).predict(X) > 0.5) == {True, False}


# -- the same forest ----------------------------------------------------------------------------------


def test_batches_threads_rows_alone_copies_and_reloads_give_the_same_forest():
    X, y = waves(400)
    whole = small(kept_points=250).partial_fit(X, y)
    pieces = small(kept_points=250, n_jobs=2)
    for first in (0, 1, 2, 3, 100, 260):
        last = {0: 1, 1: 2, 2: 3, 3: 100, 100: 260, 260: 400}[first]
        pieces.partial_fit(X[first:last], y[first:last])
        pieces = pickle.loads(pickle.dumps(riparian.from_bytes(copy.copy(pieces).to_bytes())))
    assert pieces.set_params(n_jobs=None).to_bytes() == whole.to_bytes()


def test_weights_are_copies_that_come_as_one_point():
    X, y = waves(400)
    weights = np.random.default_rng(1).integers(0, 3, size=400).astype(float)
    forest = small().partial_fit(X, y, sample_weight=weights)
    there = weights > 0
    same = small().partial_fit(X[there], y[there], sample_weight=weights[there])
    assert forest.stats()["points"] == there.sum()
    assert (forest.predict(X) == same.predict(X)).all()


@pytest.mark.parametrize("parameters", [{}, {"kept_points": 100}, {"kept_points": 0}])
def test_predict_then_learn_is_predict_and_partial_fit_row_by_row(parameters):
    X, y = waves(300)
    weights = np.ones(300)
    weights[[0, 5, 17]] = 0.0
    together, alone = small(**parameters), small(**parameters)
    answers = [together.predict_then_learn(X[:200], y[:200], sample_weight=weights[:200]),
               together.predict_then_learn(X[200:], y[200:])]  # fmt: skip
    expected = []
    for i in range(300):
        known = hasattr(alone, "model_") and alone.stats()["points"] > 0
        expected.append(alone.predict(X[i : i + 1])[0] if known else 0.0)
        alone.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weights[i : i + 1])
    assert np.concatenate(answers).tolist() == expected
    assert together.to_bytes() == alone.to_bytes()


def test_categories_and_frames():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": rng.choice(["ash", "oak", "elm"], 300), "size": rng.random(300)})
    y = frame["kind"].map({"ash": 1.0, "oak": 5.0, "elm": 9.0}) + frame["size"]
    forest = small().fit(frame[:200], y[:200])
    assert forest.score(frame[200:], y[200:]) > 0.95
    assert sorted(forest.categories_["kind"]) == ["ash", "elm", "oak"]
    assert forest.feature_importances_[0] > 0.8


def test_a_budget_of_memory_is_kept():
    X, y = waves(3000)
    forest = small(max_memory=300_000, kept_points=500).partial_fit(X, y)
    assert forest.memory()["total"] <= 300_000
    assert forest.stats()["budget_binds"]
    assert forest.score(X, y) > 0.8


def test_kept_points_have_their_targets():
    X, y = waves(50)
    kept = small(kept_points=30).partial_fit(X, y).kept_points_
    assert kept.y == pytest.approx(y[20:], abs=1e-12)
    assert (X[20:] == kept.X).all()


def test_the_certificate_assumes_that_targets_are_bounded():
    X, y = waves(500)
    forest = small(kept_points=100).partial_fit(X, y)
    certificate = forest.certificate(X)
    assert "bounded targets" in [assumption.name for assumption in certificate.assumptions]
    assert certificate.growth.splits <= certificate.growth.most_splits
    assert "class weights" not in str(certificate)


def test_a_tree_as_text_shows_means():
    X, y = waves(300)
    forest = small(eager=False).partial_fit(X, y)
    view = tree_view(forest, 0)
    text = export_text(forest, 0)
    leaf = int(np.flatnonzero(view.is_leaf)[0])
    assert f"mean: {view.means[leaf]:.6g}, " in text
    nodes = forest.apply(X)[:, 0]
    assert view.means[nodes] == pytest.approx(forest.predict_trees(X)[:, 0], abs=1e-6)
