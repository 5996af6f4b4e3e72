"""A tree as a figure: a box for each node, children below their parent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riparian.inspection.colours import shades_of_nodes
from riparian.inspection.view import TreeView
from riparian.inspection.words import Names, Words
from riparian.tools.optional import matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from riparian.forest import OnlineForestClassifier

WIDTH, HEIGHT = 0.92, 0.62  # of a box, where two neighbours and two levels are 1 apart
ROOM = 0.86  # of a box, that its text may fill
FONT_SIZE = 9.0  # points
LARGEST = 60.0  # inches: the largest width and height by default
INK = "0.35"  # of borders and edges: a grey

# Where the levels from a node downwards begin, and where they end, seen from the node.
Outline = tuple[list[float], list[float]]


def plot_tree(
    forest: OnlineForestClassifier,
    tree: int = 0,
    *,
    ax: Axes | None = None,
    feature_names: Names = None,
    class_names: Names = None,
    max_depth: int | None = None,
    decimals: int = 2,
    show_counts: bool = False,
    font_size: float | None = None,
) -> list[Text]:
    """Draw one tree with matplotlib.

    A box has the colour of its class, stronger if it is purer; for numbers, stronger if the mean is
    larger. That of an inactive leaf is dashed. The points in it are estimation points, of an inner
    node those of the leaves below it. A point for which the condition is false, or the
    value missing, goes right.

    Parameters
    ----------
    forest : OnlineForestClassifier
        A fitted forest.
    tree : int
        Which tree.
    ax : matplotlib Axes or None
        Where to draw. None: a figure of its own, as large as the tree needs.
    feature_names, class_names : sequence or None
        Names for the features, and for the classes in the order of `classes_`. None: the names that
        came with the data, else x[0], x[1], ...; the labels themselves.
    max_depth : int or None
        The depth of the deepest nodes shown; one with branches shows the number of leaves below.
        None: show all; three or four levels are easy to read.
    decimals : int
        Of the thresholds.
    show_counts : bool
        Whether boxes show their estimation points class by class.
    font_size : float or None
        In points. None: 9, or what fits into the boxes.

    Returns
    -------
    list of matplotlib Text
        One for each node shown: parents before children, left before right.
    """
    words = Words(forest, tree, feature_names, class_names, max_depth, decimals)
    nodes = words.shown()
    places = _places(words.view, nodes)
    figure: Any = None
    if ax is None:
        figure = matplotlib("pyplot").figure()
        ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    ax.set_xlim(places[:, 0].min() - 0.5, places[:, 0].max() + 0.5)
    ax.set_ylim(places[:, 1].min() - 0.5, places[:, 1].max() + 0.5)
    texts = [
        ax.text(
            x, y, "\n".join(words.box(node, "≤", show_counts)), ha="center", va="center",
            fontsize=font_size or FONT_SIZE, linespacing=1.25, parse_math=False, zorder=3,
            gid=f"text of node {node}",
        )
        for node, (x, y) in zip(nodes, places, strict=True)
    ]  # fmt: skip
    if figure is not None:
        _enlarge(figure, ax, texts)
    if font_size is None:
        _shrink(ax, texts)
    _draw_boxes(ax, words.view, nodes, places)
    _draw_edges(ax, words.view, nodes, places)
    _draw_answers(ax, words.view, nodes, places, texts[0])
    return texts


def _places(view: TreeView, nodes: list[int]) -> NDArray[np.float64]:
    """The middle of each box, after Reingold and Tilford: two branches stand as close as their boxes
    allow, and their parent in the middle above them.
    """
    shown = set(nodes)
    offset = {0: 0.0}  # of a node from its parent
    outline: dict[int, Outline] = {}
    for node in reversed(nodes):
        left, right = int(view.left[node]), int(view.right[node])
        if left not in shown:
            outline[node] = [0.0], [0.0]
            continue
        of_left, of_right = outline.pop(left), outline.pop(right)
        apart = 1 + max(a - b for a, b in zip(of_left[1], of_right[0], strict=False))
        offset[left], offset[right] = -apart / 2, apart / 2
        outline[node] = (
            [0.0, *_shifted(of_left[0], of_right[0], -apart / 2)],
            [0.0, *_shifted(of_right[1], of_left[1], apart / 2)],
        )
    x: dict[int, float] = {}
    for node in nodes:
        x[node] = offset[node] + (x[int(view.parent[node])] if node > 0 else 0.0)
    return np.array([(x[node], -float(view.depth[node])) for node in nodes])


def _shifted(near: list[float], far: list[float], by: float) -> list[float]:
    """One side of two branches together: that of the branch on this side, below it the other's."""
    return [v + by for v in near] + [v - by for v in far[len(near) :]]


def _largest(texts: list[Text]) -> tuple[float, float]:
    """Width and height that all texts fit into, in pixels."""
    extents = [text.get_window_extent() for text in texts]
    return max(extent.width for extent in extents), max(extent.height for extent in extents)


def _enlarge(figure: Any, ax: Axes, texts: list[Text]) -> None:
    """Enlarge the figure until the texts fit into their boxes."""
    width, height = _largest(texts)
    across, down = np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())
    figure.set_size_inches(
        min(LARGEST, across * width / (WIDTH * ROOM * figure.dpi)),
        min(LARGEST, down * height / (HEIGHT * ROOM * figure.dpi)),
    )


def _pixels_per_unit(ax: Axes) -> tuple[float, float]:
    box = ax.get_window_extent()
    return box.width / np.ptp(ax.get_xlim()), box.height / np.ptp(ax.get_ylim())


def _shrink(ax: Axes, texts: list[Text]) -> None:
    """Reduce the font until the texts fit into their boxes."""
    width, height = _largest(texts)
    across, down = _pixels_per_unit(ax)
    scale = min(1, ROOM * WIDTH * across / width, ROOM * HEIGHT * down / height)
    for text in texts:
        text.set_fontsize(FONT_SIZE * scale)


def _draw_boxes(ax: Axes, view: TreeView, nodes: list[int], places: NDArray[np.float64]) -> None:
    FancyBboxPatch = matplotlib("patches").FancyBboxPatch
    across, down = _pixels_per_unit(ax)
    colours = shades_of_nodes(view)
    for node, (x, y) in zip(nodes, places, strict=True):
        inactive = view.is_leaf[node] and not view.active[node]
        ax.add_patch(
            FancyBboxPatch(
                (x - WIDTH / 2, y - HEIGHT / 2), WIDTH, HEIGHT,
                boxstyle="round,pad=0,rounding_size=0.07", mutation_aspect=across / down,
                facecolor=colours[node], edgecolor=INK, linewidth=0.9,
                linestyle="--" if inactive else "-", zorder=2, gid=f"node {node}",
            )
        )  # fmt: skip


def _draw_edges(ax: Axes, view: TreeView, nodes: list[int], places: NDArray[np.float64]) -> None:
    place = dict(zip(nodes, places, strict=True))
    lines = [
        (place[int(view.parent[node])] - (0, HEIGHT / 2), place[node] + (0, HEIGHT / 2))
        for node in nodes[1:]
    ]
    ax.add_collection(matplotlib("collections").LineCollection(lines, color=INK, linewidth=0.9))


def _draw_answers(
    ax: Axes, view: TreeView, nodes: list[int], places: NDArray[np.float64], like: Text
) -> None:
    """The edges of the root name the sides."""
    for node, place in zip(nodes, places, strict=True):
        if view.parent[node] == 0:
            x, y = (places[0] + place) / 2
            ax.text(
                x, y, "True" if node == view.left[0] else "False",
                ha="center", va="center", fontsize=like.get_fontsize(), color=INK,
                bbox={"facecolor": ax.figure.get_facecolor(), "edgecolor": "none", "pad": 1.5},
            )  # fmt: skip
