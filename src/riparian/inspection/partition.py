"""Plots of the plane of two features: the cells of one tree, or the classes of the forest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from riparian.inspection.colours import (
    class_colours,
    range_of,
    shades,
    shades_of_nodes,
    shades_of_numbers,
)
from riparian.inspection.cut import (
    Cut,
    Extent,
    Points,
    cells,
    checked_extent,
    extent_of_points,
    extent_of_splits,
    fixed_values,
    two_features,
)
from riparian.inspection.view import TreeView, tree_view
from riparian.inspection.words import Names, names_of_classes, names_of_features
from riparian.model.numbers import Numbers, checked_numbers
from riparian.tools.checks import whole
from riparian.tools.optional import matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from riparian.forest import OnlineForestClassifier

LEGEND_ROWS = 20


def plot_partition(
    forest: OnlineForestClassifier,
    features: Sequence[int | str] = (0, 1),
    *,
    tree: int | None = None,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    fixed: Mapping[Any, float] | ArrayLike | None = None,
    ax: Axes | None = None,
    extent: Extent | None = None,
    resolution: int = 250,
    feature_names: Names = None,
    class_names: Names = None,
    legend: bool = True,
) -> Axes:
    """Draw the plane of two features: the cells of one tree, or what the forest predicts.

    A colour is stronger where its class is surer, or where the predicted number is larger. The plane
    is a cut: all other features have fixed values.

    Parameters
    ----------
    forest : OnlineForestClassifier
        A fitted forest.
    features : two of int or str
        The features across and up, by number or name; they must not be categorical.
    tree : int or None
        One tree, drawn as the rectangles of its leaves in this plane; or None, the whole
        forest.
    X, y : array-like or None
        Points to draw on top, and their labels or numbers. They are drawn wherever they lie in the
        other features.
    fixed : mapping or array-like or None
        The values of the other features: a mapping from number or name, or an array of all
        features (the entries of the two are not used), where a mapping has categories as they are
        and an array has their codes. What it leaves open is the median in X, or the category that
        is most frequent there. NaN is a missing value.
    ax : matplotlib Axes or None
        Where to draw. None: a figure of its own.
    extent : (left, right, bottom, top) or None
        The part of the plane to draw. None: where the points of X are, else where the splits are.
    resolution : int
        The forest predicts on a grid of this many points in each direction.
    feature_names, class_names : sequence or None
        Names for the features, and for the classes in the order of `classes_`. None: the names that
        came with the data, else x[0], x[1], ...; the labels themselves.
    legend : bool
        Whether to draw the legend, to the right of the axes: the classes, or a scale of numbers.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(forest)
    names = names_of_features(forest, feature_names)
    of_numbers = isinstance(forest.model_.target, Numbers)
    class_names = [] if of_numbers else names_of_classes(forest.classes_, class_names)
    resolution = whole("resolution", resolution, at_least=1, at_most=2**14)
    view = None if tree is None else tree_view(forest, tree)
    points = None if X is None else _dense(forest, X)
    labels = None if y is None else _checked(forest, points, y)
    tables = forest.model_.categories
    plane = two_features(features, names, tables)
    at = fixed_values(fixed, plane, points, names, tables)
    if extent is not None:
        extent = checked_extent(extent)
    elif points is not None:
        extent = extent_of_points(points, plane)
    else:
        extent = extent_of_splits(_all_views(forest) if view is None else [view], plane)
    cut = Cut(*plane, at, extent)

    if ax is None:
        ax = matplotlib("pyplot").figure(layout="constrained").add_subplot()
    scale = None if view is None or not of_numbers else range_of(view.means)
    if view is not None:
        _draw_cells(ax, view, cut)
    else:
        scale = _draw_regions(ax, forest, cut, resolution)
    if points is not None:
        colours: Any = "0.25"
        if labels is not None:
            colours = (
                class_colours(len(class_names))[labels]
                if scale is None
                else shades_of_numbers(labels, *scale)
            )
        _draw_points(ax, points[:, plane], colours)
    ax.set(xlim=extent[:2], ylim=extent[2:])
    ax.set_xlabel(names[cut.across], parse_math=False)
    ax.set_ylabel(names[cut.up], parse_math=False)
    if legend:
        _draw_legend(ax, class_names) if scale is None else _draw_scale(ax, *scale)
    return ax


def _all_views(forest: OnlineForestClassifier) -> list[TreeView]:
    return [tree_view(forest, i) for i in range(forest.model_.engine.parameters.n_trees)]


def _dense(forest: OnlineForestClassifier, X: Any) -> Points:
    return np.asarray(forest.checked_points(X.toarray() if issparse(X) else X))


def _checked(forest: OnlineForestClassifier, points: Points | None, y: Any) -> NDArray[Any]:
    """Return the index of each label among the classes, or the numbers."""
    if points is None:
        raise ValueError("y must come with X, the points that it labels, got y alone")
    labels = np.asarray(y).ravel().tolist()
    if len(labels) != len(points):
        raise ValueError(
            f"y must hold one label for each of {len(points)} points, got {len(labels)}"
        )
    if isinstance(forest.model_.target, Numbers):
        return checked_numbers(labels)
    number = {label: i for i, label in enumerate(forest.classes_.tolist())}
    unknown = sorted({label for label in labels if label not in number})
    if unknown:
        raise ValueError(f"y must hold only classes that the forest knows, got {unknown!r}")
    return np.array([number[label] for label in labels], dtype=np.int64)


def _draw_cells(ax: Axes, view: TreeView, cut: Cut) -> None:
    Rectangle = matplotlib("patches").Rectangle
    shown = cells(view, cut)
    rectangles = [
        Rectangle((left, bottom), right - left, top - bottom)
        for _, (left, right, bottom, top) in shown
    ]
    leaves = [cell.leaf for cell in shown]
    ax.add_collection(
        matplotlib("collections").PatchCollection(
            rectangles,
            facecolors=shades_of_nodes(view)[leaves],
            edgecolors="white",
            linewidths=min(0.8, 8 / math.sqrt(len(shown))),  # many cells must not drown in lines
        )
    )


def _draw_regions(
    ax: Axes, forest: OnlineForestClassifier, cut: Cut, resolution: int
) -> tuple[float, float] | None:
    """Draw what the forest predicts on a grid; return the range of the numbers, if it predicts these."""
    left, right, bottom, top = cut.extent
    middles = (np.arange(resolution) + 0.5) / resolution
    grid = np.tile(cut.at, (resolution, 1))  # a row of the image: all of it may be too much to hold
    grid[:, cut.across] = left + (right - left) * middles
    image, scale = np.empty((resolution, resolution, 3)), None
    of_numbers = isinstance(forest.model_.target, Numbers)
    numbers = np.empty((resolution, resolution)) if of_numbers else None
    for row, value in enumerate(bottom + (top - bottom) * middles):
        grid[:, cut.up] = value
        if numbers is None:
            image[row] = shades(forest.model_.engine.predict_proba(grid, forest.threads()))
        else:
            numbers[row] = forest.model_.predict(grid, forest.threads())
    if numbers is not None:
        scale = range_of(numbers)
        image = shades_of_numbers(numbers, *scale)
    ax.imshow(image, extent=cut.extent, origin="lower", aspect="auto", interpolation="nearest")
    return scale


def _draw_points(ax: Axes, points: Points, colours: Any) -> None:
    ax.scatter(
        points[:, 0], points[:, 1], c=colours, s=16, edgecolors="white", linewidths=0.5, zorder=3
    )


def _draw_scale(ax: Axes, low: float, high: float) -> None:
    colours = matplotlib("colors")
    shown = shades_of_numbers(np.linspace(low, high, 256), low, high)
    mappable = matplotlib("cm").ScalarMappable(
        colours.Normalize(low, high), colours.ListedColormap(shown)
    )
    ax.figure.colorbar(mappable, ax=ax)


def _draw_legend(ax: Axes, class_names: Sequence[str]) -> None:
    Patch = matplotlib("patches").Patch
    colours = class_colours(len(class_names))
    legend = ax.legend(
        handles=[
            Patch(facecolor=tuple(colour), label=name)
            for colour, name in zip(colours, class_names, strict=True)
        ],
        title="class",
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0.0,
        frameon=False,
        ncols=max(1, math.ceil(len(class_names) / LEGEND_ROWS)),
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
