"""What one sees inside a forest of numbers: means along paths, in text, and as colours."""

from __future__ import annotations

import re

import numpy as np
import pytest

from riparian import OnlineForestRegressor
from riparian.inspection import (
    decision_path,
    export_graphviz,
    export_text,
    plot_partition,
    plot_tree,
    tree_view,
)
from riparian.inspection.colours import hexadecimal, shades_of_numbers

pytestmark = pytest.mark.engine

RNG = np.random.default_rng(0)
X = RNG.random((600, 2)).astype(np.float32)
Y = 100 + 10 * X[:, 0]
FOREST = OnlineForestRegressor(3, kept_points=0, random_state=0).fit(X, Y)


def test_a_path_ends_in_the_leaf_whose_mean_the_tree_answers():
    view, leaves = tree_view(FOREST, 0), FOREST.apply(X[:50])[:, 0]
    np.testing.assert_allclose(view.means[leaves], FOREST.predict_trees(X[:50])[:, 0], atol=1e-9)
    path = decision_path(FOREST, X[:50], tree=0).tocsr()
    assert [path[i].indices.max() for i in range(50)] == leaves.tolist()
    assert path[:, [0]].toarray().all()


def test_a_leaf_says_its_mean():
    view = tree_view(FOREST, 0)
    means = [
        float(mean) for mean in re.findall(r"mean: (\S+),", export_text(FOREST, max_depth=None))
    ]
    expected = [view.means[node] for node in view.preorder() if view.is_leaf[node]]
    assert means == pytest.approx(expected, rel=1e-5)


def test_the_larger_the_mean_of_a_box_the_fuller_its_colour():
    view = tree_view(FOREST, 0)
    drawn = dict(re.findall(r'^(\d+) \[label=.*fillcolor="(\S+)"', export_graphviz(FOREST), re.M))
    order = np.argsort(view.means)
    red = [int(drawn[str(node)][1:3], 16) for node in order.tolist()]
    assert red == sorted(red, reverse=True) and red[0] > red[-1] + 50


def test_equal_numbers_are_pale():
    colours = shades_of_numbers(np.array([7.0, 7.0]), 7.0, 7.0)
    assert hexadecimal(colours[0]) == hexadecimal(colours[1]) == "#e9eff5"


@pytest.mark.parametrize("tree", [None, 0])
def test_a_plane_shows_numbers_and_their_scale(tree):
    pytest.importorskip("matplotlib").use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = plot_partition(FOREST, tree=tree, X=X[:20], y=Y[:20], resolution=20)
    _, scale = axes.figure.axes
    low, high = scale.get_ylim()
    assert 99.5 < low < 102 and 108 < high < 110.5
    if tree is None:
        red = axes.images[0].get_array()[:, :, 0]
        assert (red[:, 0] > red[:, -1] + 0.2).all()  # pale on the left
    assert plot_partition(FOREST, tree=tree, legend=False, resolution=5).figure.axes[1:] == []
    assert "mean 1" in plot_tree(FOREST, max_depth=2)[0].get_text()
    pyplot.close("all")
