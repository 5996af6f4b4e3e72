"""The report on predicted numbers."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from riparian import AdaptiveForestRegressor, OnlineForestRegressor
from riparian.evaluation import evaluate


def stream(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).astype(np.float32)
    return X, 100 + 10 * X[:, 0] + np.sin(3 * X[:, 1])


def figures(html):
    result = re.findall(r'<script type="application/json" id="data-([\w-]+)">(.*?)</script>', html)
    return {name: json.loads(data) for name, data in result}


@pytest.fixture(scope="module")
def tested():
    X, y = stream()
    return evaluate(OnlineForestRegressor(5, random_state=0), X, y, window=300), y


def test_each_row_is_predicted_before_it_is_learned(tested):
    result, y = tested
    X, _ = stream()
    forest = OnlineForestRegressor(5, random_state=0)
    predicted = forest.predict_then_learn(X, y)
    np.testing.assert_allclose(result.scores.rmse, np.sqrt(np.mean((y - predicted)[1:] ** 2)))
    assert result.forest.to_bytes() == forest.to_bytes()
    row, truth, answer = result.answers.rows[:50].T
    np.testing.assert_allclose(truth, y[row.astype(int) - 1], rtol=1e-6)
    np.testing.assert_allclose(answer, predicted[row.astype(int) - 1], rtol=1e-6)


def test_the_page_shows_the_error_and_how_predictions_meet_the_truth(tested):
    result, _ = tested
    html = result.report("Numbers").html()
    drawn = figures(html)
    window, whole = drawn["error"]["data"]
    assert whole["y"] == [point.rmse for point in result.curve]
    assert window["y"] == [point.window_rmse for point in result.curve]
    answered = result.answers.rows.astype(float)
    assert drawn["truth"]["data"][1]["x"] == answered[:, 1].tolist()
    assert drawn["truth"]["data"][1]["y"] == answered[:, 2].tolist()
    np.testing.assert_allclose(drawn["residuals"]["data"][0]["y"], answered[:, 1] - answered[:, 2])
    bars = drawn["ranges"]["data"][0]
    rows = [int(each[1].replace(",", "")) for each in bars["customdata"]]
    assert sum(rows) == len(answered)
    mean = np.average(bars["y"], weights=rows)
    np.testing.assert_allclose(mean, np.abs(answered[:, 1] - answered[:, 2]).mean())
    slope = drawn["dependence-0"]["data"][0]["y"]
    assert slope[-1] - slope[0] > 20
    low, high = drawn["dependence-0"]["layout"]["yaxis"]["range"]
    assert low < min(slope) and max(slope) < high
    assert "RMSE" in html and "classes" not in drawn and 'id="confusion"' not in html


def test_a_forest_for_numbers_reports_on_itself_and_on_held_out_rows(tested):
    forest = tested[0].forest
    X, y = stream(400, seed=1)
    held = forest.report(X, y)
    np.testing.assert_allclose(held.scores.rmse, np.sqrt(np.mean((y - forest.predict(X)) ** 2)))
    drawn = figures(held.html())
    assert {"truth", "residuals", "ranges", "permutation"} <= {*drawn}
    added = drawn["permutation"]["data"][0]["x"]
    assert added[0] == max(added) > 2
    assert drawn["permutation"]["layout"]["xaxis"]["tickformat"] == ""  # no percentages
    alone = figures(forest.report().html())
    assert "truth" not in alone and "dependence-0" in alone


def test_late_targets_are_predicted_before_they_are_known():
    X, y = stream(60)
    result = evaluate(OnlineForestRegressor(2, random_state=0), X, y, delay=10, block=20)
    rows, truth, _ = result.answers.rows.T
    assert result.scores.rows == len(rows) == 40  # of the first block, nothing was known
    assert rows.tolist() == list(range(21, 61)) and truth.tolist() == np.float32(y[20:]).tolist()
    assert result.forest.model_.engine.points == 60


def test_bars_below_the_error_count_the_trees_that_were_replaced():
    X, y = stream()
    y[750:] = 200 - y[750:]
    result = evaluate(AdaptiveForestRegressor(5, random_state=0), X, y, window=300)
    html = result.report("Numbers").html()
    *lines, bars = figures(html)["error"]["data"]
    assert [line["name"] for line in lines] == ["last window", "all rows so far"]
    replacements = result.forest.replacements_
    assert bars["name"] == "trees replaced"
    assert sum(bars["y"]) == len(replacements) > 0
    assert f"{len(replacements)} trees were replaced" in html
    assert "from the last target, and add" in html
