"""The report shows what matters to the answers, and what the forest would answer instead."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from riparian import OnlineForestClassifier
from riparian.evaluation import evaluate
from riparian.explain import FeatureHistory, PermutationImportance, SurestMistakes
from riparian.report import Report
from riparian.report.what_if_charts import Along

HOSTILE = ["<b>girth</b>", "</script>", "%{x}"]


def learned(classes, names=None, rows=1200):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, 3)).astype(np.float32)
    y = np.array(classes)[np.digitize(X[:, 0], np.linspace(-1, 1, len(classes) - 1))]
    frame = X if names is None else pd.DataFrame(X, columns=names)
    forest = OnlineForestClassifier(5, random_state=0).fit(frame, y)
    return forest, X, y


def report(forest, X, y, **more):
    named = vars(forest).pop("feature_names_in_", None)
    importance, mistakes = PermutationImportance(), SurestMistakes(5)
    importance.update(forest, X[:300], y[:300])
    mistakes.update(X, np.roll(y, 1), forest.predict_proba(X), forest.classes_)
    if named is not None:
        forest.feature_names_in_ = named
    return Report(
        "what if",
        forest,
        importance=importance.results(),
        mistakes=mistakes.mistakes,
        sample=X[:100],
        **more,
    ).html()


def figures(html):
    result = re.findall(r'<script type="application/json" id="data-([\w-]+)">(.*?)</script>', html)
    return {name: json.loads(data) for name, data in result}


def test_two_classes_have_lines_and_one_plane():
    html = report(*learned(["elm", "oak"]), pair=(0, 2))
    drawn = figures(html)
    assert {"permutation", "dependence-0", "dependence-1", "dependence-2", "plane-0"} <= {*drawn}
    assert "plane-1" not in drawn  # elms are the rarer ones
    line = drawn["dependence-0"]["data"][0]
    assert line["type"] == "scatter" and line["y"][0] > 0.8 and line["y"][-1] < 0.2
    for section in ("mistakes", "features", "what-if"):
        assert f'<section id="{section}"' in html


def test_the_rarer_of_two_classes_is_shown_on_a_scale_that_fits_it():
    forest, X, _ = learned(["elm", "oak"])
    rare = np.where(X[:, 0] < -1.5, "bog", "oak")
    forest = OnlineForestClassifier(5, random_state=0).fit(X, rare)
    drawn = figures(report(forest, X, rare, pair=(0, 2)))
    assert "plane-0" in drawn and "plane-1" not in drawn  # "bog"
    axes = [drawn[f"dependence-{i}"]["layout"]["yaxis"] for i in range(3)]
    lines = np.concatenate([drawn[f"dependence-{i}"]["data"][0]["y"] for i in range(3)])
    assert all(axis["title"]["text"] == "probability of bog" for axis in axes)
    (low, high), *others = [axis["range"] for axis in axes]
    assert others == [[low, high]] * 2  # one scale for all
    assert low <= lines.min() and lines.max() <= high
    assert np.ptp(lines) > (high - low) / 2


def test_more_classes_have_heat_maps():
    drawn = figures(report(*learned(["ash", "elm", "fir", "oak", "yew"]), pair=(0, 1)))
    heat = drawn["dependence-0"]["data"][0]
    assert heat["type"] == "heatmap" and len(heat["z"]) == 5
    assert sum(name.startswith("plane-") for name in drawn) == 4


def test_the_chart_of_permutation_has_intervals():
    bars = figures(report(*learned(["elm", "oak"])))["permutation"]["data"][0]
    assert bars["x"][0] == max(bars["x"]) > 0.2
    assert all(half > 0 for half in bars["error_x"]["array"][:1])


def test_a_mistake_names_what_speaks_for_it():
    html = report(*learned(["elm", "oak"], ["girth", "height", "age"]))
    table = re.search(r'<section id="mistakes".*?</section>', html, re.S)[0]
    assert table.count("<tr>") == 6
    assert re.search(r"girth = -?[\d.]+ \(\+0\.\d\d\)", table)


def test_the_data_along_the_stream_show_drift_missing_and_growing_features():
    forest, X, _ = learned(["elm", "oak"], ["girth", "height", "date"], rows=3000)
    X = X.copy()
    X[:, 2] = np.arange(3000)
    X[1500:, 0] += 4.0
    X[::5, 1] = np.nan
    history = FeatureHistory()
    history.update(X)
    html = Report("Data", forest, history=history).html()
    drawn = figures(html)
    (drift,) = drawn["drift"]["data"]
    assert drawn["drift"]["layout"]["yaxis"]["ticktext"] == ["girth", "height"]  # a date only grows
    assert min(drift["z"][0]) > 0.3 and drift["x"] == [*range(0, 3001, 500)]
    (missing,) = drawn["missing"]["data"]
    assert drawn["missing"]["layout"]["yaxis"]["ticktext"] == ["height"]
    assert missing["z"] == [[0.2] * 6]
    assert "keeps growing" in html and "20.0%" in html
    short = FeatureHistory()
    short.update(X[:700])
    for none in (None, short):
        assert '<section id="data"' not in Report("Data", forest, history=none).html()


def test_names_are_only_ever_text():
    html = report(*learned(["<i>elm</i>", "</script>", "%{z}"], HOSTILE), pair=(0, 1))
    assert "<b>girth</b>" not in html and "<i>elm</i>" not in html
    assert all(isinstance(figure, dict) for figure in figures(html).values())


def test_without_a_sample_there_is_no_what_if():
    forest, _, _ = learned(["elm", "oak"])
    html = Report("nothing", forest).html()
    for section in ("mistakes", "what-if"):
        assert f'<section id="{section}"' not in html


@pytest.mark.parametrize("column", [0, 2])
def test_a_constant_feature_has_no_plane_and_says_so(column):
    forest, X, y = learned(["elm", "oak"])
    X = X.copy()
    X[:, column] = 1.0
    html = report(forest, X, y, pair=(0, 2))
    assert "have no plane: one of them has fewer than two values" in html


@pytest.mark.parametrize("classes", [2, 3])
def test_categories_are_shown_by_their_names(classes):
    import pandas as pd

    rng = np.random.default_rng(3)
    kinds = np.array(["elm", "2024-01-01", "<b>oak</b>", "7"])
    frame = pd.DataFrame({"height": rng.normal(size=900), "kind": kinds[rng.integers(4, size=900)]})
    y = (frame["kind"] == "7").astype(int) + (classes - 2) * (frame["height"] > 0)
    forest = OnlineForestClassifier(5, random_state=0).partial_fit(frame, y)
    mistakes, codes = SurestMistakes(3), forest.checked_points(frame)
    mistakes.update(codes, np.roll(y, 1), forest.predict_proba(frame), forest.classes_)
    html = Report(
        "kinds", forest, sample=codes[:200], pair=(1, 0), mistakes=mistakes.mistakes
    ).html()
    drawn = figures(html)
    shown = {"'elm'", "'2024-01-01'", "'&lt;b&gt;oak&lt;/b&gt;'", "'7'"}
    dependence = drawn["dependence-1"]
    assert {*dependence["layout"]["xaxis"]["ticktext"]} == shown
    plane = next(figure for name, figure in drawn.items() if name.startswith("plane-"))
    assert {*plane["layout"]["xaxis"]["ticktext"]} == shown
    assert "<b>oak</b>" not in html
    if classes == 2:
        seven = forest.categories_["kind"].index("7")
        highest = dependence["data"][0]["y"]
        assert np.argmax(highest) == seven and min(highest) < 0.1
    table = re.search(r'<section id="mistakes".*?</section>', html, re.S)[0]
    assert re.search(r"kind = &#x27;|kind = &#39;|kind = '", table)


def test_dates_are_dates_on_axes_and_parts_of_dates_are_no_drift():
    rng = np.random.default_rng(0)
    when = pd.date_range("2024-01-01", periods=2000, freq="h")
    frame = pd.DataFrame({"when": when, "load": rng.random(2000)})
    labels = np.where((when.hour > 11) ^ (when.dayofyear > 40), "high", "low")
    html = evaluate(OnlineForestClassifier(5, random_state=0), frame, labels).report().html()
    drawn = figures(html)
    ticks = drawn["dependence-0"]["layout"]["xaxis"]["ticktext"]
    assert 4 <= len(ticks) <= 8 and all(re.fullmatch(r"2024-0[1-3]-\d\d", tick) for tick in ticks)
    assert drawn["drift"]["layout"]["yaxis"]["ticktext"] == ["load"]
    assert html.count("follows the calendar") == 4 and "keeps growing" in html


def test_an_axis_has_room_for_the_names_of_categories():
    names = [f"N{i:05}" for i in range(28)]
    axis = Along("tail", np.arange(28, dtype=np.float32), names).axis
    assert axis["tickvals"] == [*range(0, 28, 2)] and axis["ticktext"] == names[::2]
