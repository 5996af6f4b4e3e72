"""A plane through the feature space: two features vary, the others are fixed."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riparian.engine.categories import Table, is_missing
from riparian.engine.halves import category_goes_left
from riparian.inspection.view import NONE, TreeView
from riparian.inspection.words import number_of_feature

Extent = tuple[float, float, float, float]  # left, right, bottom, top
Points = NDArray[np.float32]
Tables = Mapping[int, Table]  # of categorical columns

NO_TABLES: Tables = MappingProxyType({})

MARGIN = 0.05  # around the points, as a share of their range


@dataclass(frozen=True, eq=False)
class Cut:
    """A part of a plane."""

    across: int  # the feature from left to right
    up: int  # the feature from bottom to top
    at: NDArray[np.float32]  # a value for each feature; those of the two are not used
    extent: Extent


class Cell(NamedTuple):
    """The part of a leaf that lies in a cut."""

    leaf: int  # the number of its node
    extent: Extent


def cells(view: TreeView, cut: Cut) -> list[Cell]:
    """Return the rectangles of the leaves of a tree in the plane: they fill it and do not overlap."""
    reached = []
    waiting = [(0, cut.extent)]
    while waiting:
        node, extent = waiting.pop()
        feature, threshold = int(view.feature[node]), float(view.threshold[node])
        children = int(view.left[node]), int(view.right[node])
        if feature == NONE:
            reached.append(Cell(node, extent))
        elif feature in (cut.across, cut.up):
            halves = _halves(extent, threshold, axis=0 if feature == cut.across else 2)
            waiting += [
                (child, half)
                for child, half in zip(children, halves, strict=True)
                if half[0] < half[1] and half[2] < half[3]
            ]
        else:
            value = float(cut.at[feature])
            goes = category_goes_left if view.categorical[node] else operator.le  # R22, R4
            left = goes(value, threshold)
            waiting.append((children[0 if left else 1], extent))
    return reached


def _halves(extent: Extent, threshold: float, axis: int) -> tuple[Extent, Extent]:
    below, above = [*extent], [*extent]
    below[axis + 1] = min(threshold, extent[axis + 1])
    above[axis] = max(threshold, extent[axis])
    return (below[0], below[1], below[2], below[3]), (above[0], above[1], above[2], above[3])


# -- from the arguments ---------------------------------------------------------------------------


def two_features(
    features: Sequence[int | str], names: Sequence[str], tables: Tables
) -> tuple[int, int]:
    if isinstance(features, str) or len(features) != 2:
        raise ValueError(f"features must be two features, got {features!r}")
    across, up = (number_of_feature(feature, names) for feature in features)
    if across == up:
        raise ValueError(f"features must be two different features, got {features!r}")
    for feature in (across, up):
        if feature in tables:
            raise ValueError(
                f"features must be numeric to make a plane, got {names[feature]!r}, which is "
                "categorical"
            )
    return across, up


def fixed_values(
    fixed: Any,
    plane: tuple[int, int],
    points: Points | None,
    names: Sequence[str],
    tables: Tables = NO_TABLES,
) -> NDArray[np.float32]:
    """Return a value for each feature: as given, else the median or usual category of the points."""
    values = np.zeros(len(names))
    open_ = np.ones(len(names), dtype=np.bool_)
    open_[list(plane)] = False
    if isinstance(fixed, Mapping):
        for feature, value in fixed.items():
            i = number_of_feature(feature, names)
            values[i], open_[i] = _code(value, names[i], tables.get(i)), False
    elif fixed is not None:
        values = np.array(fixed, dtype=np.float64)
        open_[:] = False
    if values.shape != (len(names),):
        raise ValueError(f"fixed must have shape ({len(names)},), got {values.shape}")
    if open_.any():
        values[open_] = _middles(points, open_, names, tables)
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    if np.isinf(narrow).any():
        raise ValueError(f"fixed must hold values that fit float32, got {fixed!r}")
    return narrow


def _code(value: Any, name: str, table: Table | None) -> float:
    """Return a value as the trees compare it."""
    if table is None or is_missing(value):
        return float("nan") if value is None else value
    if value not in table:
        raise ValueError(f"fixed must give {name!r} a category that was learned, got {value!r}")
    return float(table.code(value))


def _middles(
    points: Points | None, wanted: NDArray[np.bool_], names: Sequence[str], tables: Tables
) -> NDArray[np.float64]:
    """Return the middle of the values of each column; a column without values stays missing."""
    if points is None or len(points) == 0:
        missing = [names[i] for i in np.flatnonzero(wanted)[:5]]
        raise ValueError(
            "fixed must give the values of the other features, unless X has points to take their "
            f"medians from: {wanted.sum()} are open, {', '.join(missing)} among them"
        )
    return np.array([middle(points[:, i], i in tables) for i in np.flatnonzero(wanted)])


def middle(column: NDArray[np.float32], categorical: bool) -> float:
    """Return the median or, of codes, the most frequent one, the first to arrive among equals."""
    there = column[~np.isnan(column)]
    if len(there) == 0:
        return float("nan")
    if categorical:
        return float(np.bincount(there.astype(np.int64)).argmax())
    return float(np.median(there.astype(np.float64)))


def checked_extent(extent: Any) -> Extent:
    values = np.array(extent, dtype=np.float64)
    if values.shape == (4,) and np.isfinite(values).all():
        left, right, bottom, top = values.tolist()
        if left < right and bottom < top:
            return left, right, bottom, top
    raise ValueError(
        f"extent must be finite, (left, right, bottom, top) in this order, got {extent!r}"
    )


def extent_of_points(points: Points, plane: tuple[int, int]) -> Extent:
    across, up = (_range(points[:, feature]) for feature in plane)
    return across + up


def extent_of_splits(views: Sequence[TreeView], plane: tuple[int, int]) -> Extent:
    across, up = (
        _range(np.concatenate([view.threshold[view.feature == feature] for view in views]))
        for feature in plane
    )
    return across + up


def _range(values: NDArray[np.float32]) -> tuple[float, float]:
    """Return the range from the smallest to the largest value, with a margin."""
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = MARGIN * (high - low) or MARGIN * abs(low) or 0.5
    return low - margin, high + margin
