"""A forest is tested on a stream in memory, and a notebook shows how it did."""

from __future__ import annotations

import re
import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.utils.validation import check_is_fitted

from riparian import OnlineForestClassifier
from riparian.evaluation import NumberScores, Prequential, Scores, evaluate
from riparian.explain import SurestMistakes
from riparian.streams import GaussianMixture
from riparian.tools import notebook


def stream(n=1500):
    return GaussianMixture.paper().sample(n, random_state=0)


def test_it_is_test_then_train_with_the_mistakes():
    X, y = stream()
    result = evaluate(OnlineForestClassifier(5, random_state=0), X, y, window=300, block=50)
    forest, test, mistakes = OnlineForestClassifier(5, random_state=0), Prequential(300), []
    for first in range(0, len(y), 50):
        some = slice(first, first + 50)
        test.test_then_train(forest, X[some], y[some], watch=lambda *each: mistakes.append(each))
    surest = SurestMistakes(learning=True)
    surest.pass_over(len(y) - test.scores.rows)  # the first ones: no class was known
    for each in mistakes:
        surest.update(*each)
    assert result.scores.to_dict() == test.scores.to_dict()
    assert [m.row for m in result.mistakes.mistakes] == [m.row for m in surest.mistakes]
    assert result.forest.to_bytes() == forest.to_bytes()
    assert result.curve[-1].row == result.rows == len(y)


@pytest.mark.parametrize("delay", [0, 150])
def test_frames_and_late_labels_are_tested_too(delay):
    X, y = stream(600)
    frame = pd.DataFrame(X, columns=["a", "b"])
    result = evaluate(OnlineForestClassifier(3, random_state=0), frame, [*y], delay=delay)
    check_is_fitted(result.forest)
    assert result.forest.model_.engine.points == 600  # all were learned in the end
    assert result.report().html().count("<h1>OnlineForestClassifier on 600 rows</h1>") == 1


def test_a_forest_that_keeps_no_points_has_a_sample_for_what_if():
    X, y = stream(300)
    forest = OnlineForestClassifier(3, random_state=0, kept_points=0, eager=False)
    report = evaluate(forest, X, y).report("A title")
    assert report.title == "A title" and len(report.sample) == 300


def test_a_forest_reports_on_itself_and_on_rows_that_it_has_not_learned():
    X, y = stream(900)
    forest = OnlineForestClassifier(5, random_state=0).partial_fit(X[:600], y[:600])
    alone, tested = forest.report(), forest.report(X[600:], y[600:], title="Held out")
    assert alone.title == "OnlineForestClassifier after 600 points" and alone.scores is None
    assert tested.scores.accuracy == forest.score(X[600:], y[600:])
    assert {each.feature for each in tested.importance} == {0, 1} and tested.mistakes
    with pytest.raises(ValueError, match="needs both X and y"):
        forest.report(X)


# -- what a notebook shows ------------------------------------------------------------------------


def test_scores_say_their_first_scores():
    scores = Scores()
    assert repr(scores) == "Scores(no rows)"
    scores.update(["a", "b"], [[0.9, 0.1], [0.8, 0.2]], ["a", "b"])
    assert repr(scores) == "Scores(2 rows: accuracy 0.5, balanced accuracy 0.5, kappa 0)"
    assert "<th>accuracy</th>" in scores._repr_html_() and "<td>0.5</td>" in scores._repr_html_()
    numbers = NumberScores()
    numbers.update([1.0, 2.0], [1.5, 2.5])
    assert repr(numbers) == "NumberScores(2 rows: RMSE 0.5, MAE 0.5, R² 0)"


def test_notebooks_say_which_class_is_never_predicted():
    scores = Scores()
    scores.update(["<b>"] * 5 + ["ok"] * 95, [[0.1, 0.9]] * 100, ["<b>", "ok"])
    assert "<p>Never predicted: &lt;b&gt; (5.0% of the rows)." in scores._repr_html_()
    scores.update(["<b>"] * 5, [[0.9, 0.1]] * 5, ["<b>", "ok"])
    assert "predicted:" not in scores._repr_html_()


def test_a_test_shows_its_curve_without_any_library():
    X, y = stream(600)
    test = evaluate(OnlineForestClassifier(3, random_state=0), X, y).test
    assert re.match(r"Prequential\(5\d\d rows: accuracy .*; last 1,000 rows: accuracy ", repr(test))
    html = test._repr_html_()
    assert html.count("<polyline") == 2 and "<script" not in html
    points = re.findall(r'points="([^"]+)"', html)[1].split()
    assert len(points) == len(test.curve)
    ys = [float(point.split(",")[1]) for point in points]
    values = [point.accuracy for point in test.curve]
    assert np.argmin(ys) == np.argmax(values)  # the best is at the top


def test_a_report_is_a_frame_of_its_own_and_says_what_it_is_about():
    X, y = stream(600)
    report = evaluate(OnlineForestClassifier(3, random_state=0), X, y).report("<b>A</b>")
    assert len(repr(report)) < 300 and "600 rows" not in report.title
    html = report._repr_html_()
    assert html.startswith('<iframe srcdoc="') and "<b>A</b>" not in html
    assert html.count("<") == 2  # all of the page is quoted


def test_a_forest_shows_what_it_has_learned_below_its_parameters():
    X, y = stream(600)
    forest = OnlineForestClassifier(3, random_state=0)
    assert "What it has learned" not in forest._repr_html_()
    forest.partial_fit(X, np.array(["<i>", "b", "c", "d", "e"])[y])
    for html in (forest._repr_html_(), forest._repr_mimebundle_()["text/html"]):
        assert "What it has learned" in html and "<td>600</td>" in html
        assert "&lt;i&gt;" in html and "cells of about" in html
    assert repr(forest) == "OnlineForestClassifier(n_estimators=3, random_state=0)"
    with config_context(display="text"):
        assert "text/html" not in forest._repr_mimebundle_()


# -- progress -------------------------------------------------------------------------------------


class Bar:
    def __init__(self, total, **settings):
        self.total, self.steps = total, []
        Bar.last = self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def update(self, rows):
        self.steps.append(rows)


@pytest.fixture
def tqdm(monkeypatch):
    module = ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    Bar.last = None


def test_a_bar_counts_the_rows_in_a_notebook_or_where_it_is_wanted(tqdm, monkeypatch):
    X, y = stream(250)
    forest = OnlineForestClassifier(2, random_state=0)
    evaluate(forest, X, y)
    assert Bar.last is None
    evaluate(forest, X, y, progress=True)
    assert (Bar.last.total, Bar.last.steps) == (250, [100, 100, 50])
    monkeypatch.setattr(notebook, "in_notebook", lambda: True)
    evaluate(forest, X[:100], y[:100])
    assert Bar.last.total == 100
    evaluate(forest, X, y, progress=False)
    assert Bar.last.total == 100


def test_a_bar_of_rich_works_as_well(monkeypatch):
    steps = []
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    rich = pytest.importorskip("rich.progress")
    monkeypatch.setattr(rich.Progress, "advance", lambda self, task, rows: steps.append(rows))
    with notebook.progress(7, True, "words") as step:
        step(3)
        step(4)
    assert steps == [3, 4]


def test_without_a_library_a_notebook_shows_no_bar_and_a_wish_is_an_error(monkeypatch):
    for name in ("tqdm.auto", "rich.progress"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install tqdm"), notebook.progress(7, True, ""):
        pass
    monkeypatch.setattr(notebook, "in_notebook", lambda: True)
    with notebook.progress(7, None, "") as step:
        step(7)
