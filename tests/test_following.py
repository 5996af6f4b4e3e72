"""Answers that follow the last known target (R29)."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import riparian
from riparian import AdaptiveForestRegressor, OnlineForestRegressor
from riparian.evaluation import IntervalScores, Prequential
from riparian.explain import Explainer
from riparian.reference_following import Following

pytestmark = pytest.mark.engine


def level(n=1500, seed=0, noise=0.1):
    """A level that drifts, which no feature knows, and a part that one feature explains."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3)).astype(np.float32)
    return X, 50 + np.cumsum(rng.normal(size=n)) + 3 * X[:, 0] + noise * rng.normal(size=n)


def small(**parameters):
    return AdaptiveForestRegressor(**{"n_estimators": 5, "random_state": 0} | parameters)


def error(forest, X, y, skip=300):
    return float(np.sqrt(np.mean((forest.predict_then_learn(X, y) - y)[skip:] ** 2)))


def trees_of(forest):
    return [forest.model_.engine.core.tree(i) for i in range(forest.n_estimators)]


# -- what it is good for ------------------------------------------------------------------------------


def test_errors_along_a_level_that_drifts_become_smaller():
    X, y = level()
    follows = small()
    assert error(follows, X, y) < 0.75 * error(small(lag=0), X, y)
    shares = follows.stats()["follows"]
    assert shares["last_target"] + shares["last_error"] > 0.3


def test_independent_points_lose_next_to_nothing():
    rng = np.random.default_rng(0)
    X = rng.random((3000, 3)).astype(np.float32)
    y = 10 * X[:, 0] + rng.normal(size=3000)
    follows = small()
    assert error(follows, X, y) < 1.005 * error(small(lag=0), X, y)
    assert max(follows.stats()["follows"].values()) < 0.1


def test_the_right_distance_is_better_than_another_one():
    """With a season of 10 points and targets that are 10 late, the last known one is the next."""
    rng = np.random.default_rng(1)
    X = rng.random((2000, 2)).astype(np.float32)
    y = 10 * np.sin(np.arange(2000) * 2 * np.pi / 10) + rng.normal(size=2000)
    errors = {}
    for lag in (1, 10):
        test = Prequential(delay=10, numbers=True)
        forest = small(lag=lag)
        for row in range(2000):
            test.test_then_train(forest, X[row : row + 1], y[row : row + 1])
        errors[lag] = test.scores.rmse
    assert errors[10] < 0.85 * errors[1]


def test_a_factor_that_is_a_power_of_two_changes_nothing():
    X, y = level()
    answers = small().predict_then_learn(X, y)
    assert (small().predict_then_learn(X, 1024 * y) == 1024 * answers).all()


# -- what it leaves as it is --------------------------------------------------------------------------


def test_trees_and_trust_are_those_of_a_forest_that_does_not_follow():
    X, y = level()
    follows, plain = small().partial_fit(X, y), small(lag=0).partial_fit(X, y)
    for mine, theirs in zip(trees_of(follows), trees_of(plain), strict=True):
        assert all(mine[name].tobytes() == theirs[name].tobytes() for name in theirs)
    assert follows.trust_ == plain.trust_
    assert (follows.predict_trees(X) == plain.predict_trees(X)).all()
    assert (follows.feature_importances_ == plain.feature_importances_).all()
    assert "follows" not in plain.stats()


def test_answers_are_those_of_the_trees_corrected_by_the_last_point():
    X, y = level()
    follows, plain = small().partial_fit(X, y), small(lag=0).partial_fit(X, y)
    origin, correction = y[0], follows.model_.engine.correction()
    assert correction.target == y[-1] - origin
    expected = correction.of(plain.predict(X[:50]) - origin) + origin
    assert follows.predict(X[:50]) == pytest.approx(expected, rel=1e-12)


def test_a_forest_for_a_stream_that_stays_the_same_does_not_follow_by_default():
    assert OnlineForestRegressor().lag == 0
    assert AdaptiveForestRegressor().lag == 1


def test_points_learned_again_do_not_count():
    X, y = level(400)
    once = small(shuffle=False).fit(X, y)
    twice = small(shuffle=False, passes=2).fit(X, y)
    assert twice.stats()["follows"] == once.stats()["follows"]


# -- the same bits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"lag": 40}, {"intervals": (0.5, 0.9)}])
def test_batches_threads_and_reloads_change_nothing(parameters):
    X, y = level(700)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], 700)
    whole = small(**parameters).partial_fit(X, y, sample_weight=weights)
    pieces = small(**parameters, n_jobs=2)
    for first, last in ((0, 1), (1, 30), (30, 31), (31, 500), (500, 700)):
        pieces.partial_fit(X[first:last], y[first:last], sample_weight=weights[first:last])
        pieces = pickle.loads(pickle.dumps(riparian.from_bytes(pieces.to_bytes())))
    assert pieces.set_params(n_jobs=None).to_bytes() == whole.to_bytes()


@pytest.mark.parametrize("parameters", [{}, {"lag": 7}, {"intervals": (0.9,)}])
def test_predict_then_learn_is_predict_and_partial_fit_row_by_row(parameters):
    X, y = level(300)
    together, alone = small(**parameters), small(**parameters)
    answers = together.predict_then_learn(X, y)
    for i in range(300):
        if i:
            assert alone.predict(X[i : i + 1])[0] == answers[i]
        alone.partial_fit(X[i : i + 1], y[i : i + 1])
    assert together.to_bytes() == alone.to_bytes()


def test_intervals_that_need_many_small_blocks_have_the_same_levels():
    """Columns without information: a leaf lists all points, so that blocks are cut to few points."""
    _, y = level(2500)
    X = np.zeros((2500, 2), dtype=np.float32)
    parameters = {"n_estimators": 60, "intervals": (0.9,)}
    whole = small(**parameters).partial_fit(X, y)
    pieces = small(**parameters)
    for first in range(0, 2500, 333):
        pieces.partial_fit(X[first : first + 333], y[first : first + 333])
    assert pieces.to_bytes() == whole.to_bytes()


# -- what is made of answers --------------------------------------------------------------------------


def test_intervals_move_with_the_answer_and_hold_their_share():
    X, y = level(2000)
    widths = []
    for lag in (1, 0):
        forest = small(lag=lag, intervals=(0.9,)).partial_fit(X[:500], y[:500])
        scores = IntervalScores(0.9)
        for i in range(500, 2000):
            scores.update(y[i : i + 1], forest.predict_interval(X[i : i + 1], 0.9))
            forest.partial_fit(X[i : i + 1], y[i : i + 1])
        assert scores.coverage == pytest.approx(0.9, abs=0.01)
        widths.append(scores.mean_width)
    assert widths[0] < 0.8 * widths[1]


def test_contributions_add_up_to_the_answer():
    X, y = level()
    forest = small().partial_fit(X, y)
    for background in (None, X[:20]):
        explained = Explainer(forest, background).contributions(X[:30])
        assert explained.predictions == pytest.approx(forest.predict(X[:30]), rel=1e-9)


def test_the_certificate_says_that_the_theorem_does_not_cover_it():
    X, y = level(300)
    follows = OnlineForestRegressor(3, random_state=0, lag=1).partial_fit(X, y)
    assert "answers that follow the last target" in str(follows.certificate())
    plain = OnlineForestRegressor(3, random_state=0).partial_fit(X, y)
    assert "answers that follow the last target" not in str(plain.certificate())


def test_what_is_known_of_the_last_points_is_part_of_the_memory():
    X, y = level(100)
    forest = small(lag=1000).partial_fit(X, y)
    assert forest.memory()["following"] == 16_000
    assert "following" not in small(lag=0).partial_fit(X, y).memory()


def test_a_budget_is_kept_with_many_pairs():
    X, y = level(1500)
    forest = small(lag=5000, max_memory=300_000, kept_points=500).partial_fit(X, y)
    assert forest.memory()["total"] <= 300_000


# -- parameters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lag": -1}, "lag must be"),
        ({"lag": 100_001}, "lag must be"),
        ({"lag": 1.5}, "lag must be"),
        ({"lag": 1, "kept_points": 0}, "lag must be 0 if kept_points is 0"),
        ({"lag": 1, "eager": False}, "lag must be 0 if kept_points is 0"),
    ],
)
def test_a_lag_that_cannot_be_is_an_error(parameters, message):
    X, y = level(10)
    with pytest.raises((ValueError, TypeError), match=message):
        OnlineForestRegressor(2, **parameters).partial_fit(X, y)


# -- the rule, by hand --------------------------------------------------------------------------------


def test_without_two_points_nothing_is_known():
    following = Following(lag=1)
    assert following.answer(3.0) == 3.0
    following.judge(target=5.0, answer=3.0)
    assert (following.shares(), following.answer(3.0)) == ((0.0, 0.0), 3.0)


def test_after_two_points_an_answer_is_corrected_with_caution():
    following = Following(lag=1)
    following.judge(target=2.0, answer=0.0)
    following.judge(target=2.0, answer=0.0)
    # x1 = x2 = e = 2, and k = 11: A = 44, q = 4/44, d = 44 - 4/11.
    d = 44 - 4 * (4 / 44)
    psi = (4 - 4 * (4 / 44)) / d
    phi = (4 - 4 * psi) / 44
    assert following.shares() == pytest.approx((phi, psi))
    assert following.answer(1.0) == pytest.approx(1 + phi * 2 + psi * 1)


def test_a_pair_is_used_when_it_is_as_old_as_the_lag():
    following = Following(lag=3)
    for target in (1.0, 2.0, 3.0):
        following.judge(target, answer=0.0)
        assert following.sums[-1] == 0.0
    following.judge(4.0, answer=0.0)
    assert following.sums == [1.0, 1.0, 1.0, 4.0, 4.0, 16.0, 1.0]
    assert [pair.target for pair in following.pairs] == [2.0, 3.0, 4.0]


def test_trees_that_are_always_right_are_left_alone():
    following = Following(lag=1)
    for target in (1.0, 5.0, -2.0, 8.0):
        following.judge(target, answer=target)
    assert following.answer(0.5) == 0.5
    assert following.spread() == 1.0
