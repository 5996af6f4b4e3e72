"""Intervals along a stream: those that were given before each row was learned are scored and shown."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from riparian import OnlineForestRegressor
from riparian.evaluation import IntervalScores, Prequential, evaluate

COVERAGES = (0.5, 0.9)


def stream(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2)).astype(np.float32)
    return X, 4 * X[:, 1] + (0.1 + X[:, 0]) * rng.normal(size=n)


def forest(**parameters):
    return OnlineForestRegressor(8, **{"random_state": 0, "intervals": COVERAGES} | parameters)


def one_by_one(made, X, y, weights):
    """Ask for each interval, then learn the row."""
    ends = np.tile([-np.inf, np.inf], (len(y), len(COVERAGES), 1))
    for i in range(len(y)):
        if i:
            ends[i] = [made.predict_interval(X[i : i + 1], c)[0] for c in COVERAGES]
        made.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weights[i : i + 1])
    return ends


@pytest.mark.parametrize("parameters", [{}, {"lag": 1}, {"kept_points": 100}, {"n_jobs": 3}])
def test_the_intervals_given_are_those_of_one_row_after_the_other(parameters):
    X, y = stream()
    weights = np.ones(len(y))
    weights[[5, 50]] = 2, 0
    alone, together = forest(**parameters), forest(**parameters)
    expected = one_by_one(alone, X, y, weights)
    given = [
        together.give_intervals_then_learn(X[some], y[some], weights[some])[1]
        for some in (slice(0, 7), slice(7, 300), slice(300, None))
    ]
    np.testing.assert_array_equal(np.concatenate(given), expected)
    assert together.to_bytes() == alone.to_bytes()


def test_a_category_that_joins_is_missing_in_the_interval_of_its_row():
    X, y = stream(60)
    X[:, 0] = np.arange(60) // 20
    weights = np.ones(60)
    alone, together = forest(categorical_features=[0]), forest(categorical_features=[0])
    expected = one_by_one(alone, X, y, weights)
    np.testing.assert_array_equal(together.give_intervals_then_learn(X, y)[1], expected)


@pytest.mark.parametrize("delay", [0, 30])
def test_scores_are_those_of_the_intervals_that_were_given(delay):
    X, y = stream()
    made, test = forest(), Prequential(numbers=True, window=100, delay=delay)
    given = []
    for first in range(0, 400, 50):
        some = slice(first, first + 50)
        test.test_then_train(
            made, X[some], y[some], watch=lambda X, y, p, c, ends: given.append((y, ends))
        )
    targets, ends = (np.concatenate(part) for part in zip(*given, strict=True))
    for i, scores in enumerate(test.intervals.scores):
        expected = IntervalScores(COVERAGES[i])
        expected.update(targets, ends[:, i])
        assert scores.state() == expected.state()
        recent = IntervalScores(COVERAGES[i])
        recent.update(targets[-100:], ends[-100:, i])
        assert test.intervals.recent[i].state() == recent.state()


def test_a_saved_test_goes_on_exactly():
    X, y = stream()
    straight, test = Prequential(numbers=True, window=50), Prequential(numbers=True, window=50)
    one, other = forest(), forest()
    for first in range(0, 400, 10):
        some = slice(first, first + 10)
        for each, its in ((straight, one), (test, other)):
            each.test_then_train(its, X[some], y[some])
            each.mark_forest(its, row=first + 10, seconds=0.0)
        test = Prequential.from_state(json.loads(json.dumps(test.state(), allow_nan=False)))
    assert test.state() == straight.state()
    assert test.curve[-1].coverage == straight.curve[-1].coverage
    assert set(test.curve[-1].width) == {"0.5", "0.9"}


def test_a_state_that_holds_no_intervals_is_refused():
    test = Prequential(numbers=True)
    test.test_then_train(forest(), *stream(50))
    for broken in (
        {"recent": [[1.0, 2.0]]},
        {"recent": [[1.0, 3.0, 2.0, 0.0, 1.0]]},
        {"scores": [{}]},
    ):
        state = test.state()
        state["intervals"] |= broken
        with pytest.raises(ValueError, match=r"interval|ends"):
            Prequential.from_state(state)


def test_the_report_shows_intervals_their_coverage_and_their_width():
    result = evaluate(forest(), *stream(), window=100, progress=False)
    html = result.report().html()
    figures = re.findall(r'<script type="application/json" id="data-([\w-]+)">(.*?)</script>', html)
    drawn = {name: json.loads(data)["data"] for name, data in figures}
    assert [each["name"] for each in drawn["width"]] == ["0.5", "0.9"]
    assert drawn["coverage"][2]["y"] == [point.coverage["0.9"] for point in result.curve]
    _, _, inside, outside = drawn["fan"]
    for dots, held in ((inside, True), (outside, False)):
        assert len(dots["y"]) > 0
        for truth, (low, high) in zip(dots["y"], dots["customdata"], strict=True):
            assert (low <= truth <= high) == held
