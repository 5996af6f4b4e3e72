"""Along the stream: the bars below the curves count the trees that were replaced."""

from __future__ import annotations

import numpy as np
import pytest

from riparian import AdaptiveForestClassifier
from riparian.evaluation import Prequential
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
    assert html.count(f"{len(forest.replacements_)} trees were replaced: ") == 2  # shown and said
    assert "No tree was replaced." in stream.along(test.curve, None, [])
    assert "replaced" not in stream.along(test.curve, None, None)
