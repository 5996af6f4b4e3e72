"""Two runs on one page: their scores side by side, and both curves in one chart."""

from __future__ import annotations

import numpy as np
import pytest

from riparian import AdaptiveForestClassifier, OnlineForestClassifier, OnlineForestRegressor
from riparian.evaluation import Prequential, evaluate
from riparian.report import Comparison
from riparian.report.comparison import both


@pytest.fixture(scope="module")
def runs():
    """A stream whose classes change places halfway."""
    rng = np.random.default_rng(0)
    X = rng.random((800, 2))
    y = (X[:, 0] > 0.5) ^ (np.arange(800) >= 400)
    forests = (OnlineForestClassifier, AdaptiveForestClassifier)
    names = ("steady <b>", "adaptive")
    return {
        name: evaluate(forest(4, random_state=0), X, y, window=100)
        for name, forest in zip(names, forests, strict=True)
    }


def test_the_page_shows_each_score_of_both_runs_and_the_difference(runs, tmp_path):
    path = tmp_path / "two.html"
    Comparison(runs, "Which forest?").write(path)
    html = path.read_text()
    first, second = (run.scores.accuracy for run in runs.values())
    assert f"{first:.4f}</td>" in html and f"{second:.4f}</td>" in html
    assert f"{second - first:+.4f}</td>" in html
    assert "<h1>Which forest?</h1>" in html
    assert "steady &lt;b&gt;" in html and "steady <b>" not in html


def test_the_chart_has_a_line_for_each_run(runs):
    figure = both("accuracy", "window_accuracy", {name: run.curve for name, run in runs.items()})
    for run, trace in zip(runs.values(), figure.data, strict=True):
        assert list(trace.x) == [point.row for point in run.curve]
        assert list(trace.y) == [point.window_accuracy for point in run.curve]


def test_numbers_are_compared_by_their_error():
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    run = evaluate(OnlineForestRegressor(4, random_state=0), X, X[:, 0])
    assert "RMSE of the last window" in Comparison({"a": run, "b": run}).html()


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"]])
def test_other_than_two_runs_are_refused(runs, names):
    run = runs["adaptive"]
    with pytest.raises(ValueError, match=f"runs must be two runs by name, got {len(names)}"):
        Comparison(dict.fromkeys(names, run))


def test_a_run_without_scores_is_refused(runs):
    with pytest.raises(ValueError, match="run 'b' has no scores along a stream"):
        Comparison({"a": runs["adaptive"], "b": Prequential()})


def test_numbers_are_not_compared_with_classes(runs):
    X = np.random.default_rng(0).random((100, 1))
    numbers = evaluate(OnlineForestRegressor(2, random_state=0), X, X[:, 0])
    with pytest.raises(ValueError, match="one run predicts numbers"):
        Comparison({"a": runs["adaptive"], "b": numbers})
