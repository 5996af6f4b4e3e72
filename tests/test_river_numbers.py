"""The forests for numbers in River: its own checks, and the same forests as in scikit-learn's form."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import checks, datasets, evaluate, metrics

import riparian
from riparian.river import AdaptiveForestRegressor, OnlineForestRegressor

pytestmark = pytest.mark.engine

RNG = np.random.default_rng(0)
X = RNG.random((600, 3)).astype(np.float32)
Y = 1000.0 + 10 * X[:, 0] + RNG.normal(size=600)
POINTS = [dict(zip("abc", row, strict=True)) for row in X.tolist()]


FORESTS = pytest.mark.parametrize("Forest", [OnlineForestRegressor, AdaptiveForestRegressor])


@FORESTS
@pytest.mark.parametrize(
    "check", [*checks.yield_checks(OnlineForestRegressor(n_estimators=5))], ids=lambda c: c.__name__
)
def test_river_checks(check, Forest):
    check(Forest(n_estimators=5, seed=1))


@FORESTS
def test_no_check_of_river_is_skipped(Forest):
    assert Forest()._unit_test_skips() == set()


def learned(model: OnlineForestRegressor, points=POINTS, targets=Y):
    for x, y in zip(points, targets.tolist(), strict=True):
        model.learn_one(x, y)
    return model


@pytest.mark.parametrize(
    "changes", [{}, {"kept_points": 200}, {"kept_points": 0}, {"eager": False}]
)
def test_it_equals_the_scikit_learn_estimator_to_the_last_bit(changes):
    model = learned(OnlineForestRegressor(n_estimators=5, seed=3, **changes))
    twin = riparian.OnlineForestRegressor(5, random_state=3, **changes).partial_fit(X, Y)
    assert [model.predict_one(x) for x in POINTS] == twin.predict(X).tolist()


def test_an_adaptive_forest_equals_the_scikit_learn_estimator_to_the_last_bit():
    turned = np.where(np.arange(600) < 300, Y, 2015 - Y)
    model = AdaptiveForestRegressor(n_estimators=5, seed=3, kept_points=200)
    assert model.replacements_ == []
    learned(model, targets=turned)
    twin = riparian.AdaptiveForestRegressor(5, random_state=3, kept_points=200)
    twin.partial_fit(X, turned)
    assert [model.predict_one(x) for x in POINTS] == twin.predict(X).tolist()
    assert model.replacements_ == twin.replacements_ != []


@pytest.mark.parametrize("library", [pd, pl])
def test_mini_batches_give_the_same_forest_and_the_same_answers(library):
    frame = library.DataFrame({name: X[:, i] for i, name in enumerate("abc")})
    model = OnlineForestRegressor(n_estimators=5, seed=3)
    for first in range(0, 600, 250):
        model.learn_many(frame[first : first + 250], library.Series(Y[first : first + 250]))
    one = learned(OnlineForestRegressor(n_estimators=5, seed=3))
    assert model.predict_many(frame).to_list() == [one.predict_one(x) for x in POINTS]


def test_an_answer_is_0_before_the_first_point():
    model = OnlineForestRegressor(n_estimators=5)
    assert model.predict_one({"a": 1.0}) == 0.0
    assert model.predict_many(pd.DataFrame({"a": [1.0, 2.0]})).tolist() == [0.0, 0.0]


def test_features_may_join_and_be_text():
    model = OnlineForestRegressor(n_estimators=10, seed=1)
    for day in range(900):
        city = ("Oslo", "Rome", "Kyiv")[day % 3]
        x = {"heat": day % 7} if day < 30 else {"heat": day % 7, "city": city}
        model.learn_one(x, 100.0 * (city == "Rome"))
    assert model.predict_one({"heat": 3, "city": "Rome"}) > 90
    assert model.predict_one({"heat": 3, "city": "Oslo"}) < 10


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, "five", None, 2.0**501])
def test_a_target_that_is_no_finite_number_is_refused_and_changes_nothing(bad):
    model = learned(OnlineForestRegressor(n_estimators=3, seed=1))
    before = model.predict_one(POINTS[0])
    with pytest.raises(ValueError, match="must be a finite number"):
        model.learn_one({"a": 0.5, "new": 1.0}, bad)
    with pytest.raises(ValueError, match=r"must be a finite number"):
        model.learn_many(pd.DataFrame({"a": [0.1, 0.2]}), pd.Series([1.0, bad], dtype=object))
    learned_by_twin = learned(OnlineForestRegressor(n_estimators=3, seed=1))
    assert model.predict_one(POINTS[0]) == before
    for each in (model, learned_by_twin):
        each.learn_one(POINTS[0], 5.0)
    assert [model.predict_one(x) for x in POINTS] == [
        learned_by_twin.predict_one(x) for x in POINTS
    ]


def test_a_pickled_model_goes_on_as_the_original():
    model = learned(OnlineForestRegressor(n_estimators=3, seed=1), POINTS[:300], Y[:300])
    other = pickle.loads(pickle.dumps(model))
    for each in (model, other):
        learned(each, POINTS[300:], Y[300:])
    assert [other.predict_one(x) for x in POINTS] == [model.predict_one(x) for x in POINTS]


def test_it_beats_the_mean_of_a_stream_of_river():
    model = OnlineForestRegressor(n_estimators=10, seed=1)
    score = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.R2())
    assert score.get() > 0.2  # R²: 0 is the mean


def test_an_interval_is_that_of_the_scikit_learn_estimator_as_river_has_it():
    model = OnlineForestRegressor(n_estimators=5, seed=3, intervals=(0.8, 0.5))
    before = model.predict_one(POINTS[0], with_interval=True)
    assert (before.lower, before.upper) == (-np.inf, np.inf)
    learned(model)
    twin = riparian.OnlineForestRegressor(5, random_state=3, intervals=(0.8, 0.5)).partial_fit(X, Y)
    for coverage, asked in ((0.8, model.predict_one(POINTS[0], with_interval=True)),
                            (0.5, model.predict_interval_one(POINTS[0], 0.5))):  # fmt: skip
        (expected,) = twin.predict_interval(X[:1], coverage).tolist()
        assert [asked.lower, asked.upper] == expected


def test_an_interval_needs_a_coverage_that_is_learned():
    with pytest.raises(ValueError, match="learned along the stream"):
        OnlineForestRegressor().predict_one(POINTS[0], with_interval=True)
