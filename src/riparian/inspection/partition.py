"""The plane of two features, cut up by one tree or coloured by the whole forest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from riparian.forest import OnlineForestClassifier
from riparian.inspection.colours import class_colours, shades, shares_of
from riparian.inspection.figure import matplotlib
from riparian.inspection.view import NONE, TreeView, tree_view
from riparian.inspection.words import names_of_classes, names_of_features, number_of_feature
from riparian.parameters import whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Plane = tuple[int, int]  # the features across and up
Extent = tuple[float, float, float, float]  # from x to x, from y to y

MARGIN = 0.05  # around the points, as a share of their range
LEGEND_ROWS = 20


class Cell(NamedTuple):
    """What the plane shows of one leaf."""

    leaf: int  # its node
    extent: Extent


def plot_partition(
    forest: OnlineForestClassifier,
    features: Sequence[int | str] = (0, 1),
    *,
    tree: int | None = None,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    fixed: Mapping[int | str, float] | ArrayLike | None = None,
    ax: Axes | None = None,
    extent: Extent | None = None,
    resolution: int = 250,
    feature_names: Sequence[Any] | None = None,
    class_names: Sequence[Any] | None = None,
    legend: bool = True,
) -> Axes:
    """Draw the plane of two features: the cells of one tree, or the classes the forest predicts.

    A colour is fuller where its class is surer. The plane is a cut: all other features are held at
    fixed values.

    Parameters
    ----------
    forest : OnlineForestClassifier
        A fitted forest.
    features : two of int or str
        The features across and up, by number or name.
    tree : int or None
        One tree, drawn as the rectangles that are its leaves in this plane; or None, the whole
        forest.
    X, y : array-like or None
        Points to draw on top, and their labels. They are drawn wherever they lie in the other
        features.
    fixed : mapping or array-like or None
        The values of the other features: by number or name, or an array of all features (the
        entries of the two are not used). What it leaves open is the median in X.
    ax : matplotlib Axes or None
        Where to draw. None: a figure of its own.
    extent : (left, right, bottom, top) or None
        The part of the plane to draw. None: where the points of X are, else where the splits are.
    resolution : int
        The forest is asked on a grid of this many points either way.
    feature_names, class_names : sequence or None
        What to call the features, and the classes in the order of `classes_`. None: the names that
        came with the data, else x[0], x[1], ...; the labels themselves.
    legend : bool
        Whether to draw the legend, to the right of the axes.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(forest, "_native")
    names = names_of_features(forest, feature_names)
    class_names = names_of_classes(forest.classes_, class_names)
    resolution = whole("resolution", resolution, at_least=1, at_most=2**14)
    plane = _plane(features, names)
    view = None if tree is None else tree_view(forest, tree)
    points = None if X is None else _dense(forest, X)
    labels = None if y is None else _class_numbers(forest, points, y)
    at = _fixed_point(fixed, plane, points, names)
    extent = _extent(forest, plane, view, points) if extent is None else _checked_extent(extent)
    if ax is None:
        ax = matplotlib("pyplot").figure(layout="constrained").add_subplot()
    if view is None:
        _draw_regions(ax, forest, plane, at, extent, resolution)
    else:
        _draw_cells(ax, view, cells(view, plane, at, extent))
    if points is not None:
        _draw_points(ax, points[:, plane], labels, len(class_names))
    ax.set(xlim=extent[:2], ylim=extent[2:])
    ax.set_xlabel(names[plane[0]], parse_math=False)
    ax.set_ylabel(names[plane[1]], parse_math=False)
    if legend:
        _draw_legend(ax, class_names)
    return ax


def cells(view: TreeView, plane: Plane, at: NDArray[np.float32], extent: Extent) -> list[Cell]:
    """The rectangles that the leaves of a tree are in a plane, all other features being as in `at`.

    They fill the extent and do not overlap: only that is kept of a leaf which lies in both.
    """
    across, up = plane
    found = []
    waiting = [(0, extent)]
    while waiting:
        node, (left, right, bottom, top) = waiting.pop()
        feature, threshold = int(view.feature[node]), float(view.threshold[node])
        below, above = int(view.left[node]), int(view.right[node])
        if feature == NONE:
            found.append(Cell(node, (left, right, bottom, top)))
        elif feature == across:
            if left < threshold:
                waiting.append((below, (left, min(threshold, right), bottom, top)))
            if threshold < right:
                waiting.append((above, (max(left, threshold), right, bottom, top)))
        elif feature == up:
            if bottom < threshold:
                waiting.append((below, (left, right, bottom, min(threshold, top))))
            if threshold < top:
                waiting.append((above, (left, right, max(bottom, threshold), top)))
        else:
            side = below if at[feature] <= threshold else above  # R4: NaN goes right
            waiting.append((side, (left, right, bottom, top)))
    return found


# -- what to draw ---------------------------------------------------------------------------------


def _plane(features: Sequence[int | str], names: Sequence[str]) -> Plane:
    if isinstance(features, str) or len(features) != 2:
        raise ValueError(f"features must be two features, got {features!r}")
    across, up = (number_of_feature(feature, names) for feature in features)
    if across == up:
        raise ValueError(f"features must be two different features, got {features!r}")
    return across, up


def _dense(forest: OnlineForestClassifier, X: Any) -> NDArray[np.float32]:
    return forest._checked_points(X.toarray() if issparse(X) else X)


def _class_numbers(
    forest: OnlineForestClassifier, points: NDArray[np.float32] | None, y: Any
) -> NDArray[np.int64]:
    labels = np.asarray(y).tolist()
    if points is None:
        raise ValueError("y must come with X, the points that it labels, got y alone")
    if len(labels) != len(points):
        raise ValueError(f"y must hold {len(points)} labels, one for each row of X")
    number = {label: i for i, label in enumerate(forest.classes_.tolist())}
    unknown = sorted({label for label in labels if label not in number})
    if unknown:
        raise ValueError(f"y must hold only classes that the forest knows, got {unknown!r}")
    return np.array([number[label] for label in labels], dtype=np.int64)


def _fixed_point(
    fixed: Any, plane: Plane, points: NDArray[np.float32] | None, names: Sequence[str]
) -> NDArray[np.float32]:
    """A value for every feature; those of the plane do not count."""
    at = np.zeros(len(names))
    open_ = np.ones(len(names), dtype=np.bool_)
    open_[[*plane]] = False
    if isinstance(fixed, Mapping):
        for feature, value in fixed.items():
            i = number_of_feature(feature, names)
            at[i], open_[i] = value, False
    elif fixed is not None:
        at = np.array(fixed, dtype=np.float64)
        if at.shape != (len(names),):
            raise ValueError(f"fixed must have shape ({len(names)},), got {at.shape}")
        open_[:] = False
    if open_.any():
        if points is None or len(points) == 0:
            missing = ", ".join(names[i] for i in np.flatnonzero(open_)[:5])
            raise ValueError(
                f"fixed must give the values of all {len(names) - 2} other features, or X points "
                f"to take their medians from, got neither for {missing}"
            )
        at[open_] = _medians(points[:, open_])
    with np.errstate(over="ignore"):
        at = at.astype(np.float32)
    if np.isinf(at).any():
        raise ValueError(f"fixed must hold values that fit float32, got {fixed!r}")
    return at


def _medians(columns: NDArray[np.float32]) -> NDArray[np.float64]:
    """Of what is there: a column of which nothing is there stays missing."""
    there = ~np.isnan(columns).all(axis=0)
    medians = np.full(columns.shape[1], np.nan)
    medians[there] = np.nanmedian(columns[:, there], axis=0)
    return medians


def _checked_extent(extent: Any) -> Extent:
    left, right, bottom, top = (float(v) for v in extent)
    if not (np.isfinite([left, right, bottom, top]).all() and left < right and bottom < top):
        raise ValueError(f"extent must be left < right, bottom < top, all finite, got {extent!r}")
    return left, right, bottom, top


def _extent(
    forest: OnlineForestClassifier,
    plane: Plane,
    view: TreeView | None,
    points: NDArray[np.float32] | None,
) -> Extent:
    """Where the points are; without any, where the splits are."""
    if points is not None and len(points):
        return _range(points[:, plane[0]]) + _range(points[:, plane[1]])
    n_trees = forest._native.parameters.n_trees
    views = [view] if view is not None else [tree_view(forest, i) for i in range(n_trees)]
    across, up = (
        np.concatenate([v.threshold[v.feature == feature] for v in views]) for feature in plane
    )
    return _range(across) + _range(up)


def _range(values: NDArray[np.float32]) -> tuple[float, float]:
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = MARGIN * (high - low) or MARGIN * abs(low) or 0.5
    return low - margin, high + margin


# -- drawing --------------------------------------------------------------------------------------


def _draw_cells(ax: Axes, view: TreeView, found: list[Cell]) -> None:
    Rectangle = matplotlib("patches").Rectangle
    rectangles = [
        Rectangle((left, bottom), right - left, top - bottom)
        for _, (left, right, bottom, top) in found
    ]
    leaves = [cell.leaf for cell in found]
    ax.add_collection(
        matplotlib("collections").PatchCollection(
            rectangles,
            facecolors=shades(shares_of(view.counts[leaves])),
            edgecolors="white",
            linewidths=min(0.8, 8 / math.sqrt(len(found))),  # many cells must not drown in lines
        )
    )


def _draw_regions(
    ax: Axes,
    forest: OnlineForestClassifier,
    plane: Plane,
    at: NDArray[np.float32],
    extent: Extent,
    resolution: int,
) -> None:
    middles = (np.arange(resolution) + 0.5) / resolution
    across = extent[0] + (extent[1] - extent[0]) * middles
    up = extent[2] + (extent[3] - extent[2]) * middles
    grid = np.tile(at, (resolution, 1))
    grid[:, plane[0]] = across
    image = np.empty((resolution, resolution, 3))
    for row, value in enumerate(up):
        grid[:, plane[1]] = value
        image[row] = shades(forest._native.predict_proba(grid, forest._workers()))
    ax.imshow(image, extent=extent, origin="lower", aspect="auto", interpolation="nearest")


def _draw_points(
    ax: Axes, points: NDArray[np.float32], labels: NDArray[np.int64] | None, n_classes: int
) -> None:
    colours: Any = "0.25" if labels is None else class_colours(n_classes)[labels]
    ax.scatter(
        points[:, 0], points[:, 1], c=colours, s=16, edgecolors="white", linewidths=0.5, zorder=3
    )


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
