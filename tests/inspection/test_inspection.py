"""What one sees inside a forest is what is there: in arrays, in text, in figures, along paths."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

from riparian import Geometric, OnlineForestClassifier
from riparian.inspection import (
    decision_path,
    export_graphviz,
    export_text,
    plot_partition,
    plot_tree,
    tree_view,
)
from riparian.inspection.colours import class_colours, shades
from riparian.inspection.cut import Cut, cells, fixed_values
from riparian.streams import GaussianMixture

NAMES = np.array(["oak", "ash", "elm", "fir", "yew"])  # not sorted: arrival and public order differ


def learned(n=600, n_noise=1, n_estimators=3, seed=0, **settings):
    """A forest on the paper's mixture with additional features of noise, and values missing."""
    X, y = stream(n, n_noise, seed)
    settings = {
        "min_gain": 0.01, "alpha": Geometric(1, 1.05), "beta": 100.0, "kept_points": 0, **settings
    }  # fmt: skip
    forest = OnlineForestClassifier(n_estimators, random_state=seed, **settings)
    return forest.partial_fit(X, NAMES[y])


def stream(n, n_noise=1, seed=0):
    X, y = GaussianMixture.paper().sample(n, random_state=seed)
    noise = np.random.default_rng(seed).normal(size=(n, n_noise)).astype(np.float32)
    X = np.column_stack([X, noise])
    X[::11, -1] = np.nan
    return X, y


def bounded(**settings):
    """Few leaves, some of them inactive."""
    return learned(fringe_size=4, alpha=Geometric(5, 1.5), **settings)


def empty():
    """A forest that knows no class and no point."""
    forest = OnlineForestClassifier(2, kept_points=0, random_state=0)
    return forest.partial_fit([[0, 0]], ["oak"], sample_weight=[0])


FORESTS = {
    "unbounded": learned,
    "bounded": bounded,
    "of two features": lambda: learned(n_noise=0),
    "without a split": lambda: learned(n=4),
    "empty": empty,
}
every_forest = pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)


def leaves_below(view, node):
    if view.is_leaf[node]:
        return [node]
    return leaves_below(view, view.left[node]) + leaves_below(view, view.right[node])


def walk(view, x):
    """The nodes that a point passes, one by one."""
    path = [0]
    while not view.is_leaf[path[-1]]:
        node = path[-1]
        left = x[view.feature[node]] <= view.threshold[node]  # R4: false for NaN
        path.append(int(view.left[node] if left else view.right[node]))
    return path


# -- the arrays -----------------------------------------------------------------------------------


@pytest.mark.engine
@every_forest
def test_a_view_is_a_tree(make):
    forest = make()
    view = tree_view(forest, 1)
    inner = np.flatnonzero(~view.is_leaf)
    children = np.concatenate([view.left[inner], view.right[inner]])
    assert sorted(children) == list(range(1, view.node_count))
    assert (view.parent[children] == np.tile(inner, 2)).all()
    assert (view.depth[children] == view.depth[view.parent[children]] + 1).all()
    assert (view.parent[0], view.depth[0]) == (-1, 0)
    assert (view.feature[view.is_leaf] == -1).all() and np.isnan(view.threshold[view.is_leaf]).all()
    assert (view.feature[inner] >= 0).all() and np.isfinite(view.threshold[inner]).all()
    stats = forest.stats()["trees"][1]
    assert (view.is_leaf.sum(), view.active.sum()) == (stats["leaves"], stats["active"])
    assert view.depth.max() == stats["depth"]
    assert not (view.active & ~view.is_leaf).any()


@pytest.mark.engine
@every_forest
def test_a_node_counts_what_the_leaves_below_it_count(make):
    view = tree_view(make(), 0)
    for node in range(view.node_count):
        leaves = leaves_below(view, node)
        assert view.counts[node].tolist() == view.counts[leaves].sum(axis=0).tolist()
        assert view.leaves[node] == len(leaves)


@pytest.mark.engine
def test_the_counts_of_a_leaf_are_what_its_tree_predicts():
    X, _ = stream(200, seed=1)
    forest = bounded(n_estimators=1)
    view = tree_view(forest, 0)
    counts = view.counts[forest.apply(X)[:, 0]]
    assert forest.predict_proba(X) == pytest.approx(counts / counts.sum(axis=1, keepdims=True))
    assert view.classes.tolist() == sorted(NAMES)


@pytest.mark.engine
def test_a_class_that_comes_late_takes_its_place_in_the_public_order():
    forest = OnlineForestClassifier(1, structure_fraction=1e-9, random_state=0)
    forest.partial_fit(np.zeros((3, 1)), ["oak"] * 3)
    assert tree_view(forest, 0).counts.tolist() == [[3]]
    forest.partial_fit(np.zeros((2, 1)), ["ash"] * 2)
    assert tree_view(forest, 0).counts.tolist() == [[2, 3]]


def test_classes_that_were_announced_but_never_came_have_no_counts():
    forest = OnlineForestClassifier(1, structure_fraction=1e-9, random_state=0)
    forest.partial_fit(np.zeros((3, 1)), ["elm"] * 3, classes=["ash", "elm", "oak"])
    view = tree_view(forest, 0)
    assert view.counts.tolist() == [[0, 3, 0]]
    assert view.best.tolist() == [1]


@pytest.mark.parametrize(
    ("labels", "best"), [([], -1), (["oak"], 1), (["oak", "ash"], 0), (["oak", "oak", "ash"], 1)]
)
def test_the_best_class_is_the_first_among_equals(labels, best):
    forest = OnlineForestClassifier(1, structure_fraction=1e-9, random_state=0)
    weights = [0.0] + [1.0] * len(labels)
    forest.partial_fit(np.zeros((len(weights), 1)), ["ash", *labels], ["ash", "oak"], weights)
    assert tree_view(forest, 0).best.tolist() == [best]


def test_a_view_cannot_be_written_to_and_stays_as_it_was():
    forest = learned(n=100)
    view = tree_view(forest, 0)
    before = view.counts.copy()
    forest.partial_fit(*stream(100, seed=1)[:1], NAMES[stream(100, seed=1)[1]])
    assert (view.counts == before).all()
    with pytest.raises(ValueError, match="read-only"):
        view.counts[0, 0] = 1
    assert tree_view(forest, 0).points[0] > view.points[0]


def test_preorder_goes_down_before_it_goes_right_and_no_deeper_than_requested():
    view = tree_view(bounded(), 0)
    nodes = list(view.preorder())
    assert sorted(nodes) == list(range(view.node_count))
    for before, node in pairwise(nodes):
        assert node == view.left[before] if not view.is_leaf[before] else node in view.right
    assert sorted(view.preorder(2)) == np.flatnonzero(view.depth <= 2).tolist()
    assert list(view.preorder(0)) == [0]


# -- text -----------------------------------------------------------------------------------------


def answer_of_text(text, x):
    """Follow the text of a tree by hand, to the class that it names."""
    depth = 0
    for line in text.splitlines():
        indent, reported = line.split("|--- ")
        if len(indent) // 4 != depth:
            continue
        if reported.startswith("class: "):
            return re.match(r"class: (\w+),", reported)[1]
        feature, sign, threshold = re.match(r"x\[(\d+)\] (<=|>) +(\S+)", reported).groups()
        if (x[int(feature)] <= np.float32(threshold)) == (sign == "<="):
            depth += 1
    return None


@pytest.mark.parametrize("make", [learned, bounded])
def test_the_text_of_a_tree_answers_as_the_tree_does(make):
    forest = make()
    X, _ = stream(100, seed=2)
    text = export_text(forest, 2, max_depth=None, decimals=20)
    expected = forest.classes_[forest.predict_trees(X)[:, 2]].tolist()
    assert [answer_of_text(text, x) for x in X] == expected


def test_the_text_distinguishes_active_and_inactive_leaves_and_shows_their_points():
    forest = bounded()
    view = tree_view(forest, 0)
    reported = re.findall(r"(\d+) estimation points?, (active|inactive)", export_text(forest, 0))
    leaves = [node for node in view.preorder() if view.is_leaf[node]]
    state = {True: "active", False: "inactive"}
    assert reported == [(str(view.points[n]), state[bool(view.active[n])]) for n in leaves]
    assert {"active", "inactive"} == {state for _, state in reported}


def test_a_young_leaf_is_shown_as_such():
    forest = bounded(kept_points=200)
    view = tree_view(forest, 0)
    leaves = [n for n in view.preorder() if view.is_leaf[n]]
    assert not (view.young & ~view.active).any()
    assert view.young.sum() == forest.stats()["trees"][0]["young"]
    reported = re.findall(r"votes?, (\w+)", export_text(forest, 0, max_depth=None))
    assert reported == [
        "young" if view.young[n] else "active" if view.active[n] else "inactive" for n in leaves
    ]
    everyone = learned(n=150, kept_points=200)
    assert (tree_view(everyone, 0).young == tree_view(everyone, 0).is_leaf).all()
    assert "young" in export_graphviz(everyone) and "active" not in export_text(everyone)


def test_counts_are_shown_on_request():
    forest = bounded()
    view = tree_view(forest, 0)
    reported = re.findall(r"counts: (\[.*?\]) class: ", export_text(forest, 0, show_counts=True))
    leaves = [node for node in view.preorder() if view.is_leaf[node]]
    assert reported == [str(view.counts[node].tolist()) for node in leaves]


def test_a_text_cut_short_says_what_it_leaves_out():
    forest = learned()
    view = tree_view(forest, 0)
    text = export_text(forest, 0, max_depth=2)
    left_out = [int(n) for n in re.findall(r"truncated: (\d+) leaves", text)]
    at_the_end = [n for n in view.preorder(2) if view.depth[n] == 2 and not view.is_leaf[n]]
    assert left_out == view.leaves[at_the_end].tolist()
    assert export_text(forest, 0, max_depth=0).startswith(
        f"|--- truncated: {view.leaves[0]} leaves"
    )
    assert "truncated" not in export_text(forest, 0, max_depth=None)


def test_a_forest_that_knows_nothing_says_so():
    assert export_text(empty()) == "|--- no class yet, 0 estimation points, active\n"


def test_names_come_with_the_data_unless_given():
    pandas = pytest.importorskip("pandas")
    X, y = stream(300, n_noise=0)
    frame = pandas.DataFrame(X, columns=["east", "north"])
    forest = OnlineForestClassifier(1, random_state=0).fit(frame, y)
    assert "east <= " in export_text(forest)
    assert "x[0]" not in export_text(forest)
    given = export_text(forest, feature_names=np.array(["a", "b"]), class_names=NAMES)
    assert "a <= " in given and "class: elm" in given


# -- Graphviz -------------------------------------------------------------------------------------

QUOTED = r'"((?:[^"\\]|\\.)*)"'


def parsed_dot(dot):
    """Labels by node, and edges, of what `export_graphviz` writes."""
    head, *lines, end = dot.splitlines()
    assert (head, end) == ("digraph tree {", "}")
    labels, edges = {}, []
    for line in lines[2:]:
        if edge := re.fullmatch(r"(\d+) -> (\d+)( \[.*\])?;", line):
            edges.append((int(edge[1]), int(edge[2])))
        else:
            node = re.fullmatch(
                rf'(\d+) \[label={QUOTED}, fillcolor="#[0-9a-f]{{6}}"(, style="[\w,]+")?\];', line
            )
            labels[int(node[1])] = node[2]
    return labels, edges


@every_forest
@pytest.mark.parametrize("max_depth", [None, 0, 2])
def test_the_dot_has_every_node_and_edge_that_is_shown(make, max_depth):
    forest = make()
    view = tree_view(forest, 0)
    labels, edges = parsed_dot(export_graphviz(forest, 0, max_depth=max_depth))
    shown = list(view.preorder(max_depth))
    assert list(labels) == shown
    assert edges == [(view.parent[node], node) for node in shown[1:]]


def test_the_dot_says_what_is_in_a_node():
    forest = bounded()
    view = tree_view(forest, 0)
    dot = export_graphviz(forest, 0, show_counts=True, class_names=["A", "B", "C", "D", "E"])
    labels, _ = parsed_dot(dot)
    for node, label in labels.items():
        first, points, counts, best = label.split("\\n")
        if view.is_leaf[node]:
            assert first == ("active" if view.active[node] else "inactive")
        else:
            assert first == f"x[{view.feature[node]}] <= {view.threshold[node]:.2f}"
        assert points.split() == [str(view.points[node]), "points"]
        assert counts == str(view.counts[node].tolist())
        assert best == f"class {'ABCDE'[view.best[node]]}"
    assert dot.count("dashed") == (view.is_leaf & ~view.active).sum() > 0
    assert re.findall(r'headlabel="(\w+)"', dot) == ["True", "False"]


@pytest.mark.parametrize(
    "name", ['say "x"', "back\\slash", 'both \\" of them', "a\nb", "a]; }", "ŝ"]
)
def test_no_name_breaks_out_of_its_label(name):
    forest = learned(n_noise=0)
    labels, _ = parsed_dot(
        export_graphviz(forest, feature_names=[name] * 2, class_names=[name] * 5)
    )
    unescaped = re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), labels[0])
    assert unescaped.startswith(f"{name} <= ")
    assert unescaped.endswith(f"class {name}")


# -- the figure of a tree -------------------------------------------------------------------------


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    yield pyplot
    pyplot.close("all")


def boxes_of(texts):
    """The box that each text belongs to, by node."""
    boxes = {patch.get_gid(): patch for patch in texts[0].axes.patches}
    return [boxes[text.get_gid().removeprefix("text of ")] for text in texts]


def inside(inner, outer):
    return (
        outer.x0 <= inner.x0 and inner.x1 <= outer.x1
        and outer.y0 <= inner.y0 and inner.y1 <= outer.y1
    )  # fmt: skip


def overlap(a, b):
    return a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1


@every_forest
@pytest.mark.parametrize("max_depth", [None, 0, 3])
def test_there_is_a_box_for_each_node_and_an_edge_to_each_but_the_root(pyplot, make, max_depth):
    forest = make()
    view = tree_view(forest, 0)
    texts = plot_tree(forest, 0, max_depth=max_depth)
    shown = list(view.preorder(max_depth))
    axes = texts[0].axes
    assert [text.get_gid() for text in texts] == [f"text of node {node}" for node in shown]
    assert len(axes.patches) == len(shown)
    (edges,) = axes.collections
    assert len(edges.get_segments()) == len(shown) - 1


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"show_counts": True},
        {"feature_names": ["a name that is long", "b", "c"]},
        {"font_size": 14},
        {"decimals": 0, "class_names": ["$x", "y$", "$", "^_", "\\"]},
    ],
    ids=str,
)
def test_boxes_hold_their_text_and_keep_clear_of_each_other(pyplot, options):
    texts = plot_tree(learned(), 0, max_depth=4, **options)
    figure = texts[0].figure
    figure.canvas.draw()
    boxes = [box.get_window_extent() for box in boxes_of(texts)]
    assert all(
        inside(text.get_window_extent(), box) for text, box in zip(texts, boxes, strict=True)
    )
    assert not any(overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(inside(box, figure.bbox) for box in boxes)
    answers = [text for text in texts[0].axes.texts if text.get_text() in ("True", "False")]
    assert len(answers) == 2
    assert not any(overlap(text.get_window_extent(), box) for text in answers for box in boxes)


@pytest.mark.parametrize("size", [(12, 6), (4, 3)])
def test_a_tree_fits_the_axes_it_is_given(pyplot, size):
    figure, axes = pyplot.subplots(figsize=size)
    texts = plot_tree(learned(), 0, ax=axes, max_depth=3)
    figure.canvas.draw()
    assert texts[0].axes is axes
    assert tuple(figure.get_size_inches()) == size
    for text, box in zip(texts, boxes_of(texts), strict=True):
        assert inside(text.get_window_extent(), box.get_window_extent())


def test_a_parent_stands_in_the_middle_above_its_children(pyplot):
    forest = learned()
    view = tree_view(forest, 0)
    texts = plot_tree(forest, 0, max_depth=5)
    place = {int(text.get_gid().split()[-1]): text.get_position() for text in texts}
    for node, (x, y) in place.items():
        assert y == -view.depth[node]
        if view.left[node] in place:
            left, right = place[view.left[node]][0], place[view.right[node]][0]
            assert left < x < right
            assert (left + right) / 2 == pytest.approx(x)


def levels_below(view, place, node):
    """Where the nodes at or below a node stand, level by level."""
    levels = {}
    waiting = [node]
    while waiting:
        node = waiting.pop()
        x, y = place[node]
        levels.setdefault(y, []).append(x)
        if not view.is_leaf[node]:
            waiting += (view.left[node], view.right[node])
    return levels


@pytest.mark.parametrize("seed", range(3))
def test_two_branches_stand_as_close_as_their_boxes_allow(pyplot, seed):
    forest = learned(n=300, seed=seed)
    view = tree_view(forest, 0)
    texts = plot_tree(forest, 0)
    place = {node: text.get_position() for node, text in zip(view.preorder(), texts, strict=True)}
    for node in np.flatnonzero(~view.is_leaf):
        left = levels_below(view, place, view.left[node])
        right = levels_below(view, place, view.right[node])
        gaps = [min(right[y]) - max(left[y]) for y in left.keys() & right.keys()]
        assert min(gaps) == pytest.approx(1)


def test_a_box_says_and_shows_what_is_in_its_node(pyplot):
    forest = bounded()
    view = tree_view(forest, 0)
    texts = plot_tree(forest, 0)
    for node, text, box in zip(view.preorder(), texts, boxes_of(texts), strict=True):
        first, points, best = text.get_text().split("\n")
        if view.is_leaf[node]:
            assert first == ("active" if view.active[node] else "inactive")
        else:
            assert first == f"x[{view.feature[node]}] ≤ {view.threshold[node]:.2f}"
        assert points == f"{view.points[node]} points"
        assert best == f"class {forest.classes_[view.best[node]]}"
        colour = shades(view.counts[node] / view.points[node])
        assert box.get_facecolor()[:3] == pytest.approx(colour.tolist())
        assert (box.get_linestyle() == "--") == (view.is_leaf[node] and not view.active[node])


def test_a_box_whose_branch_is_cut_says_how_many_leaves_it_has(pyplot):
    forest = learned()
    (text,) = plot_tree(forest, 0, max_depth=0)
    assert text.get_text().startswith(f"({tree_view(forest, 0).leaves[0]} leaves)\n")


# -- colours --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [1, 2, 5, 10, 11, 20, 40])
def test_classes_have_colours_of_their_own(n_classes):
    colours = class_colours(n_classes)
    assert colours.shape == (n_classes, 3)
    assert ((colours >= 0) & (colours <= 1)).all()
    apart = np.linalg.norm(colours[:, None] - colours[None], axis=2)
    assert apart[~np.eye(n_classes, dtype=bool)].min(initial=1) > 0.05


@pytest.mark.parametrize("n_classes", [2, 5, 12])
def test_black_text_is_legible_on_every_shade(n_classes):
    linear = shades(np.eye(n_classes)) ** 2.2
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    assert ((luminance + 0.05) / 0.05 > 4.5).all()  # the contrast that WCAG requires


@pytest.mark.parametrize("n_classes", [2, 5, 12])
def test_a_shade_is_of_the_colour_of_the_likeliest_class(n_classes):
    shares = 0.5 * np.eye(n_classes) + 0.5 / n_classes
    paleness = (1 - shades(shares)) / (1 - class_colours(n_classes))
    assert paleness == pytest.approx(np.repeat(paleness[:, :1], 3, axis=1))  # mixed with white
    assert paleness == pytest.approx(paleness[0, 0])


def test_a_surer_class_has_a_fuller_colour_and_no_point_has_none():
    sure, likely, even, none = shades(np.array([[1, 0], [0.8, 0.2], [0.5, 0.5], [0, 0]]))
    blue = class_colours(2)[0]
    assert np.linalg.norm(sure - blue) < np.linalg.norm(likely - blue)
    assert np.linalg.norm(likely - blue) < np.linalg.norm(even - blue)
    assert len(set(none)) == 1


# -- the partition --------------------------------------------------------------------------------


def area(extent):
    left, right, bottom, top = extent
    return (right - left) * (top - bottom)


FOREST = learned(n=800, n_noise=2)

unit = st.floats(0, 1)


@settings(deadline=None, max_examples=60)
@given(
    tree=st.integers(0, 2),
    plane=st.permutations(range(4)).map(lambda order: tuple(order[:2])),
    fixed=st.lists(st.floats(-3, 9, width=32) | st.just(np.nan), min_size=4, max_size=4),
    corner=st.tuples(st.floats(-5, 10), st.floats(-5, 10)),
    size=st.tuples(st.floats(0.1, 20), st.floats(0.1, 20)),
    places=st.lists(st.tuples(unit, unit), min_size=1, max_size=30),
)
def test_cells_tile_the_plane_and_are_the_leaves(tree, plane, fixed, corner, size, places):
    extent = (corner[0], corner[0] + size[0], corner[1], corner[1] + size[1])
    cut = Cut(*plane, np.float32(fixed), extent)
    result = cells(tree_view(FOREST, tree), cut)
    assert sum(area(cell.extent) for cell in result) == pytest.approx(area(extent))
    for across, up in places:
        x = np.float32(fixed)
        x[list(plane)] = corner[0] + across * size[0], corner[1] + up * size[1]
        if not (extent[0] < x[plane[0]] <= extent[1] and extent[2] < x[plane[1]] <= extent[3]):
            continue  # rounded to float32, out of the extent
        holding = [
            cell.leaf
            for cell in result
            if cell.extent[0] < x[plane[0]] <= cell.extent[1]
            and cell.extent[2] < x[plane[1]] <= cell.extent[3]
        ]
        assert holding == [FOREST.apply(x[None])[0, tree]]


def rectangles_of(axes):
    """Extents and colours of the drawn cells."""
    cells = axes.collections[0]
    extents = [path.get_extents() for path in cells.get_paths()]
    return [(box.x0, box.x1, box.y0, box.y1) for box in extents], cells.get_facecolors()[:, :3]


def test_a_tree_is_drawn_as_its_cells(pyplot):
    view = tree_view(FOREST, 1)
    extent = (-3.0, 10.0, -4.0, 7.0)
    axes = plot_partition(FOREST, (1, 0), tree=1, fixed={2: 0.5, 3: np.nan}, extent=extent)
    expected = cells(view, Cut(1, 0, np.float32([0, 0, 0.5, np.nan]), extent))
    extents, colours = rectangles_of(axes)
    assert extents == [pytest.approx(cell.extent) for cell in expected]
    counts = view.counts[[cell.leaf for cell in expected]]
    assert colours == pytest.approx(shades(counts / counts.sum(axis=1, keepdims=True)))
    assert (*axes.get_xlim(), *axes.get_ylim()) == extent
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x[1]", "x[0]")


def test_a_forest_is_drawn_as_what_it_predicts(pyplot):
    fixed = np.float32([0, 0, 0.5, -0.5])
    axes = plot_partition(FOREST, extent=(0, 8, -2, 2), fixed=fixed, resolution=4)
    (image,) = axes.images
    assert tuple(image.get_extent()) == (0, 8, -2, 2)
    assert image.origin == "lower"
    drawn = np.asarray(image.get_array())
    for row, up in enumerate([-1.5, -0.5, 0.5, 1.5]):
        for column, across in enumerate([1, 3, 5, 7]):
            proba = FOREST.predict_proba(np.float32([[across, up, 0.5, -0.5]]))[0]
            assert drawn[row, column] == pytest.approx(shades(proba))


@pytest.mark.parametrize("tree", [None, 0])
def test_the_legend_has_each_class_in_its_colour(pyplot, tree):
    names = ["Esche", "Ulme", "Tanne", "$Eiche$", "Eibe"]
    axes = plot_partition(FOREST, tree=tree, fixed=np.zeros(4), resolution=2, class_names=names)
    legend = axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == names
    drawn = np.array([patch.get_facecolor()[:3] for patch in legend.get_patches()])
    assert drawn == pytest.approx(class_colours(5))
    axes.figure.canvas.draw()
    assert inside(legend.get_window_extent(), axes.figure.bbox)
    assert not overlap(legend.get_window_extent(), axes.get_window_extent())
    assert plot_partition(
        FOREST, tree=tree, fixed=np.zeros(4), resolution=2, legend=False
    ).get_legend() is None  # fmt: skip


def test_points_are_drawn_where_they_are_in_the_colour_of_their_label(pyplot):
    X, y = stream(50, n_noise=2, seed=5)
    axes = plot_partition(FOREST, (1, 3), tree=0, X=X, y=NAMES[y])
    _, points = axes.collections
    there = ~np.isnan(X[:, 3])
    places = points.get_offsets()
    assert np.asarray(places[there]) == pytest.approx(X[there][:, [1, 3]])
    assert places.mask[~there].any(axis=1).all()  # missing: not drawn
    numbers = np.searchsorted(FOREST.classes_, NAMES[y])
    assert points.get_facecolors()[:, :3] == pytest.approx(class_colours(5)[numbers])
    left, right = axes.get_xlim()
    assert left < X[:, 1].min() and X[:, 1].max() < right


def test_points_without_labels_have_one_colour(pyplot):
    axes = plot_partition(FOREST, tree=0, X=stream(50, n_noise=2)[0])
    assert len(axes.collections[1].get_facecolors()) == 1


MISSING = np.nan


@pytest.mark.parametrize(
    ("fixed", "expected"),
    [
        (None, [3, 9, MISSING]),
        ({2: 5}, [5, 9, MISSING]),
        ({"c": 5, "e": 0, "a": 7}, [5, 9, 0]),  # that of a, which varies, is not used
        ({"d": MISSING}, [3, MISSING, MISSING]),
        ([0, 0, 1, 2, 3], [1, 2, 3]),
    ],
    ids=str,
)
def test_a_feature_that_is_not_fixed_has_the_median_of_its_values(fixed, expected):
    X = np.zeros((4, 5), dtype=np.float32)
    X[:, 2:] = [[1, 9, MISSING], [3, MISSING, MISSING], [3, MISSING, MISSING], [80, 9, MISSING]]
    values = fixed_values(fixed, (0, 1), X, list("abcde"))
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values[2:], expected)


def test_a_figure_is_cut_at_the_requested_depth(pyplot):
    X, _ = stream(80, n_noise=2, seed=6)
    extent = (-3.0, 10.0, -4.0, 7.0)
    drawn = {
        "medians": plot_partition(FOREST, tree=0, X=X, extent=extent),
        "given": plot_partition(FOREST, tree=0, fixed=np.nanmedian(X, axis=0), extent=extent),
        "other": plot_partition(FOREST, tree=0, X=X, fixed={"x[3]": 2.0}, extent=extent),
    }
    extents = {name: rectangles_of(axes)[0] for name, axes in drawn.items()}
    assert extents["medians"] == extents["given"] != extents["other"]


def test_without_points_the_plane_reaches_over_all_splits(pyplot):
    axes = plot_partition(FOREST, tree=0, fixed=np.zeros(4))
    view = tree_view(FOREST, 0)
    for feature, (low, high) in enumerate([axes.get_xlim(), axes.get_ylim()]):
        thresholds = view.threshold[view.feature == feature]
        assert low < thresholds.min() and thresholds.max() < high
    whole = plot_partition(FOREST, fixed=np.zeros(4), resolution=2)
    assert whole.get_xlim()[0] <= axes.get_xlim()[0]


@pytest.mark.parametrize("tree", [None, 0])
@pytest.mark.parametrize("make", [empty, lambda: learned(n=4, n_noise=0)])
def test_a_forest_without_splits_is_one_cell_of_the_unit_square(pyplot, make, tree):
    axes = plot_partition(make(), tree=tree, resolution=3)
    assert (*axes.get_xlim(), *axes.get_ylim()) == (0, 1, 0, 1)
    if tree is not None:
        assert rectangles_of(axes)[0] == [(0, 1, 0, 1)]


def test_a_forest_of_frames_is_drawn_with_its_names(pyplot):
    pandas = pytest.importorskip("pandas")
    X, y = stream(200, n_noise=1)
    frame = pandas.DataFrame(X, columns=["east", "north", "noise"])
    forest = OnlineForestClassifier(3, random_state=0).fit(frame, NAMES[y])
    axes = plot_partition(forest, ["north", 0], X=frame, y=pandas.Series(NAMES[y]), resolution=5)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("north", "east")


def test_points_may_be_sparse(pyplot):
    X = csr_matrix(np.nan_to_num(stream(30, n_noise=2)[0]))
    axes = plot_partition(FOREST, tree=0, X=X)
    assert np.asarray(axes.collections[1].get_offsets()) == pytest.approx(X.toarray()[:, :2])


def test_a_partition_is_drawn_into_the_axes_it_is_given(pyplot):
    _, axes = pyplot.subplots()
    assert plot_partition(FOREST, tree=0, fixed=np.zeros(4), ax=axes) is axes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": (0, 4)}, "feature must be from 0 to 3, got 4"),
        ({"features": (0, "east")}, r"feature must be one of 'x\[0\]', .*, got 'east'"),
        ({"features": (1, 1)}, r"two different features, got \(1, 1\)"),
        ({"features": (0, 1, 2)}, r"features must be two features, got \(0, 1, 2\)"),
        ({"features": "ab"}, "features must be two features, got 'ab'"),
        ({"fixed": None}, r"2 are open, x\[2\], x\[3\] among them"),
        ({"fixed": {2: 0.0}}, r"1 are open, x\[3\] among them"),
        ({"fixed": {"east": 0.0}}, "got 'east'"),
        ({"fixed": [0, 1]}, r"fixed must have shape \(4,\), got \(2,\)"),
        ({"fixed": [0, 0, np.inf, 0]}, "fit float32"),
        ({"extent": (0, 0, 0, 1)}, r"left, right, bottom, top.*got \(0, 0, 0, 1\)"),
        ({"extent": (0, np.inf, 0, 1)}, "finite"),
        ({"extent": (0, 1, 2)}, r"left, right, bottom, top.*got \(0, 1, 2\)"),
        ({"resolution": 0}, "resolution must be from 1"),
        ({"y": ["oak"]}, "y must come with X"),
        ({"X": np.zeros((2, 4)), "y": ["oak"]}, "one label for each of 2 points, got 1"),
        ({"X": np.zeros((1, 4)), "y": ["palm"]}, r"knows, got \['palm'\]"),
        ({"X": np.zeros((1, 3))}, "3 features"),
        ({"feature_names": ["a"]}, "feature_names must name 4 features, got 1"),
        ({"class_names": ["a"]}, "class_names must name 5 classes, got 1"),
    ],
    ids=str,
)
def test_a_tree_that_cannot_be_drawn_is_refused_before_a_figure_is_made(pyplot, options, message):
    with pytest.raises(ValueError, match=message):
        plot_partition(FOREST, **{"fixed": np.zeros(4), **options})
    assert pyplot.get_fignums() == []


# -- paths ----------------------------------------------------------------------------------------


@pytest.mark.engine
@every_forest
def test_a_path_is_the_way_down_the_tree(make):
    forest = make()
    X = stream(50, seed=3)[0][:, : forest.n_features_in_]
    for tree in range(2):
        view = tree_view(forest, tree)
        indicator = decision_path(forest, X, tree)
        assert indicator.shape == (50, view.node_count)
        assert indicator.has_sorted_indices
        assert (indicator.data == 1).all()
        assert np.split(indicator.indices, indicator.indptr[1:-1])[0].tolist() == walk(view, X[0])
        for row, x in zip(indicator, X, strict=True):
            assert row.indices.tolist() == walk(view, x)


@pytest.mark.engine
@every_forest
def test_a_path_ends_in_the_leaf_of_apply(make):
    forest = make()
    X = stream(50, seed=4)[0][:, : forest.n_features_in_]
    indicator, n_nodes_ptr = decision_path(forest, X)
    views = [tree_view(forest, i) for i in range(forest.n_estimators)]
    assert n_nodes_ptr.tolist() == np.cumsum([0, *(view.node_count for view in views)]).tolist()
    assert indicator.shape == (50, n_nodes_ptr[-1])
    for i, leaves in enumerate(forest.apply(X).T):
        of_tree = indicator[:, n_nodes_ptr[i] : n_nodes_ptr[i + 1]]
        assert (of_tree != decision_path(forest, X, i)).nnz == 0
        assert of_tree.indices[of_tree.indptr[1:] - 1].tolist() == leaves.tolist()


def test_no_points_have_no_paths():
    indicator, n_nodes_ptr = decision_path(FOREST, np.empty((0, 4)))
    assert indicator.shape == (0, n_nodes_ptr[-1])


# -- input validation -----------------------------------------------------------------------------

LOOKS = {
    "tree_view": tree_view,
    "export_text": export_text,
    "export_graphviz": export_graphviz,
    "plot_tree": plot_tree,
    "plot_partition": lambda forest, tree: plot_partition(forest, tree=tree, fixed=np.zeros(4)),
    "decision_path": lambda forest, tree: decision_path(forest, np.zeros((1, 4)), tree),
}
every_look = pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)


@every_look
@pytest.mark.parametrize("tree", [3, -1])
def test_a_tree_that_is_not_there_is_refused(look, tree):
    with pytest.raises(ValueError, match=f"tree must be from 0 to 2, got {tree}"):
        look(FOREST, tree)


@every_look
@pytest.mark.parametrize("tree", [1.0, "1", True])
def test_a_tree_is_named_by_a_whole_number(look, tree):
    with pytest.raises(TypeError, match="tree must be a whole number"):
        look(FOREST, tree)


@every_look
def test_a_forest_that_has_learned_nothing_cannot_be_looked_into(look):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        look(OnlineForestClassifier(), 0)


@pytest.mark.parametrize("look", [export_text, export_graphviz, plot_tree])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_names": ["a"]}, "feature_names must name 4 features, got 1"),
        ({"class_names": ["a"]}, "class_names must name 5 classes, got 1"),
        ({"max_depth": -1}, "max_depth must be from 0"),
        ({"decimals": -1}, "decimals must be from 0"),
    ],
    ids=str,
)
def test_a_wrong_option_is_refused(look, options, message):
    with pytest.raises(ValueError, match=message):
        look(FOREST, 0, **options)


def test_looking_changes_nothing(pyplot):
    forest = learned(n=200)
    X, _ = stream(20)
    before = forest.predict_proba(X)
    for look in (tree_view, export_text, export_graphviz, plot_tree):
        look(forest, 0)
    decision_path(forest, X)
    plot_partition(forest, X=X)
    assert (forest.predict_proba(X) == before).all()


@pytest.mark.parametrize("plot", [plot_tree, plot_partition])
def test_without_matplotlib_a_figure_says_what_to_install(monkeypatch, plot):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=re.escape('pip install "riparian[plot]"')):
        plot(learned(n=20, n_noise=0))


def test_only_a_figure_imports_matplotlib():
    program = "import riparian.inspection, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
