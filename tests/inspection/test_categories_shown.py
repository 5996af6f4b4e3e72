"""Whatever shows a tree shows categories by their names, not by their codes (R22)."""

from __future__ import annotations

import copy
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
from riparian.reference import differs, goes_right

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
    return OnlineForestClassifier(5, eager=False, random_state=0).partial_fit(X, answers(X))


def go_down(view, codes, x):
    node = 0
    while not view.is_leaf[node]:
        value, threshold = x[view.feature[node]], view.threshold[node]
        right = differs if view.categorical[node] else goes_right
        node = view.right[node] if right(float(value), float(threshold)) else view.left[node]
    return node


def test_a_view_says_where_values_are_compared_by_being_equal(forest):
    X = frame(seed=1)
    rows, leaves = forest.checked_points(X), forest.apply(X)
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
    table = forest.model_.categories[1]
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


@pytest.fixture(scope="module")
def of_many():
    """A forest over 90 towns, half of which have the answer yes."""
    rng = np.random.default_rng(3)
    towns = rng.permutation(np.repeat(np.arange(90), 15))
    X = pd.DataFrame({"town": [f"town {i}" for i in towns], "width": rng.normal(size=1350)})
    return OnlineForestClassifier(4, random_state=0).partial_fit(X, towns * 7 % 10 < 5)


def test_a_half_is_shown_as_the_categories_that_are_in_it(of_many):
    n_halves = 0
    for tree in range(4):
        view, table = tree_view(of_many, tree), of_many.model_.categories[0]
        halves = np.flatnonzero(view.categorical & (view.threshold < 0)).tolist()
        text, dot = export_text(of_many, tree, max_depth=None), export_graphviz(of_many, tree)
        for node in halves:
            inside = [repr(town) for town in table.values
                      if not differs(table.code(town), float(view.threshold[node]))]  # fmt: skip
            named = f"{{{', '.join(inside[:3])} and {len(inside) - 3} more}}"
            assert f"town in {named}" in text and f"town not in {named}" in text
            assert f"town in {named}" in dot
        assert not re.search(r"town (=|!=|<=|>) *-?\d", text)
        n_halves += len(halves)
    assert n_halves > 20


def test_a_half_decides_for_categories_that_join_later(of_many):
    X = pd.DataFrame({"town": [f"late {i}" for i in range(30)], "width": np.zeros(30)})
    before = of_many.apply(X)
    assert (before == before[0]).all()  # not known: right at every split
    later = copy.deepcopy(of_many)
    later.partial_fit(X, [True] * 30)
    rows, leaves = later.checked_points(X), later.apply(X)
    for tree in range(4):
        view = tree_view(later, tree)
        assert [go_down(view, None, x) for x in rows] == leaves[:, tree].tolist()
    assert len({*leaves[:, 0].tolist()}) > 1


def test_a_plane_is_cut_where_a_half_says_so():
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"a": rng.normal(size=900), "town": [f"t{i % 80}" for i in range(900)],
                      "b": rng.normal(size=900)})  # fmt: skip
    y = (np.arange(900) % 80 * 7 % 10 < 5) ^ (X["a"] > 0)
    forest = OnlineForestClassifier(1, random_state=0).partial_fit(X, y)
    view, table = tree_view(forest, 0), forest.model_.categories[1]
    assert (view.threshold[view.categorical] < 0).any()
    for town in (*table.values[:40:5], None):
        code = np.nan if town is None else table.code(town)
        at = np.array([0, code, 0], dtype=np.float32)
        for leaf, (left, right, bottom, top) in cells(view, Cut(0, 2, at, (-3.0, 3.0, -3.0, 3.0))):
            middle = np.array([(left + right) / 2, at[1], (bottom + top) / 2], dtype=np.float32)
            assert go_down(view, None, middle) == leaf


def test_a_fixed_feature_has_a_category_or_the_most_frequent_one(forest):
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
    result = dependence.partial_dependence(forest, X, 1, points=3)
    table = forest.model_.categories[1]
    usual = X["city"].value_counts().index[:3].tolist()
    assert {table.values[int(code)] for code in result.values} <= {*CITIES}
    assert table.values[int(result.values[0])] == usual[0] and len(result.values) == 3
    everything = dependence.partial_dependence(forest, X, 1)
    of_yes = dict(zip(everything.values.tolist(), everything.probabilities[:, 1], strict=True))
    assert max(of_yes, key=of_yes.get) == table.code("Oslo")


def test_importances_are_of_columns(forest):
    shares = forest.feature_importances_
    assert shares.shape == (3,) and shares.argmax() == 1
