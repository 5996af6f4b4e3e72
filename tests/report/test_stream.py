"""Along the stream: the bars below the curves count the trees that were replaced."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from riparian import AdaptiveForestClassifier, OnlineForestClassifier
from riparian.evaluation import Prequential
from riparian.model.trust import head_name
from riparian.report import Report, charts, stream


@pytest.fixture(scope="module")
def changed():
    """A forest whose classes have changed places, and how its stream went."""
    rng = np.random.default_rng(0)
    X = rng.random((1200, 2))
    y = (X[:, 0] > 0.5) ^ (np.arange(1200) >= 600)
    forest, test = AdaptiveForestClassifier(4, random_state=0), Prequential(window=100)
    for first in range(0, 1200, 50):
        some = slice(first, first + 50)
        test.test_then_train(forest, X[some], y[some])
        test.mark_forest(forest, row=first + 50, seconds=1.0)
    return forest, test


def test_every_replacement_is_in_a_bar_at_its_place(changed):
    forest, test = changed
    assert forest.replacements_
    figure = charts.accuracy(test.curve, 0.5, forest.replacements_)
    bars = figure.data[-1]
    assert bars.name == "trees replaced" and bars.yaxis == "y2"
    assert sum(bars.y) == len(forest.replacements_)
    for x, count in zip(bars.x, bars.y, strict=True):
        inside = [p for p, _ in forest.replacements_ if abs(p + 0.5 - x) <= bars.width / 2]
        assert len(inside) == count


def test_replacements_beyond_the_curve_have_no_place_in_it(changed):
    _, test = changed
    assert len(charts.accuracy(test.curve, 0.5, [(5000, 1)]).data) == 3
    assert len(charts.accuracy(test.curve, 0.5).data) == 3


def test_words_say_how_many_and_when(changed):
    forest, test = changed
    html = Report("Changed", forest, curve=test.curve, scores=test.scores).html()
    # Below the accuracy and in a chart of its own, as a figure and in words.
    assert html.count(f"{len(forest.replacements_)} trees were replaced") == 3
    assert "No tree was replaced." in stream.along(test.curve, None, [])
    assert "replaced" not in stream.along(test.curve, None, None)


def test_every_replacement_is_a_mark_and_not_a_row(changed):
    forest, _ = changed
    html = Report("Changed", forest).html()
    (figure,) = re.findall(r'id="data-replacements">(.*?)</script>', html)
    (marks,) = json.loads(figure)["data"]
    assert [*zip(marks["x"], marks["y"], strict=True)] == [*map(tuple, forest.replacements_)]
    rows = [row for row in forest.certificate().rows() if row[0] == "replacements"]
    assert [row[2] for row in rows] == [str(len(forest.replacements_))]


def test_the_course_of_trust_is_that_of_the_curve():
    rng = np.random.default_rng(0)
    X = rng.random((600, 2))
    y = (X[:, 0] > 0.5).astype(int)
    forest, test = OnlineForestClassifier(3, random_state=0), Prequential(window=100)
    for first in range(0, 600, 100):
        some = slice(first, first + 100)
        test.test_then_train(forest, X[some], y[some])
        test.mark_forest(forest, row=first + 100, seconds=1.0)
    html = Report("Trust", forest, curve=test.curve, scores=test.scores).html()
    (figure,) = re.findall(r'id="data-trust-along">(.*?)</script>', html)
    bands = json.loads(figure)["data"]
    assert [band["name"] for band in bands] == [*map(head_name, forest.trust_)]
    for band, size in zip(bands, forest.trust_, strict=True):
        assert band["x"] == [point.row for point in test.curve]
        assert band["y"] == [point.trust[str(size)] for point in test.curve]
    np.testing.assert_allclose(np.sum([band["y"] for band in bands], axis=0), 1.0)
    honest = OnlineForestClassifier(3, random_state=0, eager=False).partial_fit(X, y)
    plain = Report("Honest", honest, curve=[replace(p, trust=None) for p in test.curve])
    assert "data-trust-along" not in plain.html()
