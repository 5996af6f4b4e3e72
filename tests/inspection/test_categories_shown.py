"""Whatever shows a tree shows categories by their names, not by their codes (R22)."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from riparian import OnlineForestClassifier
from riparian.explain import dependence
from riparian.inspection import (
    export_graphviz,
    export_text,
    plot_partition,
    plot_tree,
    tree_view,
)
from riparian.inspection.cut import Cut, cells
from riparian.inspection.view import category_tables

pytestmark = pytest.mark.engine

CITIES = ["Oslo", "Bergen", 'a "city"\nof two lines', "Vaasa"]


def frame(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    city = rng.integers(4, size=rows)
    return pd.DataFrame(
        {
            "width": rng.normal(size=rows),
            "city": pd.Series([CITIES[i] for i in city]).mask(rng.random(rows) < 0.1),
            "height": rng.normal(size=rows),
        }
    )


def answers(X):
    return np.where((X["city"] == "Oslo") | (X["width"] > 1), "yes", "no")


@pytest.fixture(scope="module")
def forest():
    X = frame()
    return OnlineForestClassifier(5, random_state=0).partial_fit(X, answers(X))


def go_down(view, codes, x):
    node = 0
    while not view.is_leaf[node]:
        value, threshold = x[view.feature[node]], view.threshold[node]
        left = value == threshold if view.categorical[node] else value <= threshold
        node = view.left[node] if left else view.right[node]
    return node


def test_a_view_says_where_values_are_compared_by_being_equal(forest):
    X = frame(seed=1)
    rows, leaves = forest._checked_points(X), forest.apply(X)
    for tree in range(5):
        view = tree_view(forest, tree)
        assert (view.categorical == (view.feature == 1)).all()
        assert [go_down(view, None, x) for x in rows] == leaves[:, tree].tolist()


def test_the_text_and_the_dot_of_a_tree_name_the_category(forest):
    for tree in range(5):
        text = export_text(forest, tree, max_depth=None)
        asked = re.findall(r"city (=|!=) (.*)", text)
        assert asked and {sign for sign, _ in asked} == {"=", "!="}
        assert {value for _, value in asked} <= {*map(repr, CITIES), "missing"}
        assert "city <=" not in text and "width =" not in text
        dot = export_graphviz(forest, tree)
        assert "city = 'Oslo'" in dot
        assert dot.count('"') % 2 == 0 and "\nof two lines" not in dot


def test_a_figure_of_a_tree_names_the_category(forest):
    plt = pytest.importorskip("matplotlib.pyplot")
    texts = [text.get_text() for text in plot_tree(forest, 0, max_depth=4)]
    plt.close("all")
    assert any(text.startswith("city = 'Oslo'\n") for text in texts)


def test_categories_that_found_no_room_are_shown_as_others():
    X = frame()
    small = OnlineForestClassifier(5, random_state=0, max_categories=1).partial_fit(X, answers(X))
    shown = "".join(export_text(small, tree, max_depth=None) for tree in range(5))
    assert "city = (other)" in shown


def test_a_plane_is_cut_at_a_category(forest):
    view = tree_view(forest, 0)
    table = category_tables(forest)[1]
    extent = (-3.0, 3.0, -3.0, 3.0)
    rng = np.random.default_rng(0)
    for city in CITIES:
        at = np.array([0, table.code(city), 0], dtype=np.float32)
        shown = cells(view, Cut(0, 2, at, extent))
        assert sum((r - l) * (t - b) for _, (l, r, b, t) in shown) == pytest.approx(36)  # noqa: E741
        for x, y in rng.uniform(-3, 3, size=(20, 2)):
            leaf = go_down(view, None, np.array([x, at[1], y], dtype=np.float32))
            assert any(
                cell.leaf == leaf and cell.extent[0] <= x <= cell.extent[1] for cell in shown
            )


def test_what_is_fixed_is_a_category_or_the_usual_one(forest):
    plt = pytest.importorskip("matplotlib.pyplot")
    X = frame()
    plot_partition(forest, ("width", "height"), X=X, resolution=3)
    plot_partition(forest, ("width", "height"), fixed={"city": "Vaasa"}, resolution=3)
    plot_partition(forest, ("width", "height"), tree=0, fixed={"city": None}, resolution=3)
    plt.close("all")
    with pytest.raises(ValueError, match="give 'city' a category that was learned, got 'Paris'"):
        plot_partition(forest, ("width", "height"), fixed={"city": "Paris"})
    with pytest.raises(ValueError, match="must be numeric to make a plane, got 'city'"):
        plot_partition(forest, ("width", "city"), X=X)


def test_what_if_tries_the_most_frequent_categories(forest):
    X = frame()
    found = dependence.partial_dependence(forest, X, 1, points=3)
    table = category_tables(forest)[1]
    usual = X["city"].value_counts().index[:3].tolist()
    assert {table.values[int(code)] for code in found.values} <= {*CITIES}
    assert table.values[int(found.values[0])] == usual[0] and len(found.values) == 3
    everything = dependence.partial_dependence(forest, X, 1)
    of_yes = dict(zip(everything.values.tolist(), everything.probabilities[:, 1], strict=True))
    assert max(of_yes, key=of_yes.get) == table.code("Oslo")


def test_importances_are_of_columns(forest):
    shares = forest.feature_importances_
    assert shares.shape == (3,) and shares.argmax() == 1
