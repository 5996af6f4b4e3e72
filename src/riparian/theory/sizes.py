"""How large the cells of the points are, over all trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riparian.theory.census import TreeCensus

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)

OF_X = "the points of X, in every tree"
OF_LEAVES = "the leaves of all trees, each as often as it has estimation points"
RANGE_OF_X = "the range of X"
RANGE_OF_THRESHOLDS = "the range of the thresholds of the tree"


@dataclass(frozen=True)
class CellSizes:
    """The cells of the points; quantiles and shares are over points and trees together."""

    over: str  # which points
    within: str  # what a diameter is a share of the diameter of
    quantiles: tuple[float, ...]
    points: tuple[float, ...]  # N^e(A_t(X)), at the quantiles
    diameters: tuple[float, ...]  # the same, see `cells`
    split_at_least: tuple[tuple[int, float], ...]  # k, share of points whose cell split so often


def sizes_at_points(trees: Sequence[TreeCensus], leaf: NDArray[np.int64]) -> CellSizes:
    """`leaf` is what `apply` gives: the leaf of each point in each tree."""
    places = [tree.leaf_at(leaf[:, i]) for i, tree in enumerate(trees)]
    return _sizes(OF_X, RANGE_OF_X, trees, places, np.ones(leaf.size))


def sizes_over_leaves(trees: Sequence[TreeCensus]) -> CellSizes:
    """Estimation points have the distribution of X, so they stand for points in X."""
    places = [np.arange(len(tree.node)) for tree in trees]
    weights = np.concatenate([tree.points for tree in trees]).astype(np.float64)
    if not weights.any():
        weights += 1.0  # no estimation point has come yet
    return _sizes(OF_LEAVES, RANGE_OF_THRESHOLDS, trees, places, weights)


def _sizes(
    over: str,
    within: str,
    trees: Sequence[TreeCensus],
    places: Sequence[NDArray[np.int64]],
    weights: NDArray[np.float64],
) -> CellSizes:
    def of_all(name: str) -> NDArray[np.float64]:
        return np.concatenate(
            [getattr(tree, name)[mine] for tree, mine in zip(trees, places, strict=True)]
        )

    return CellSizes(
        over,
        within,
        QUANTILES,
        points=weighted_quantiles(of_all("points"), weights),
        diameters=weighted_quantiles(of_all("diameter"), weights),
        split_at_least=_split_at_least(of_all("splits"), weights),
    )


def weighted_quantiles(
    values: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[float, ...]:
    """The least value that as large a share of the weight does not exceed, for all `QUANTILES`.

    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([8.0, 1.0, 1.0]))
    (1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0)
    """
    order = np.argsort(values[weights > 0], kind="stable")
    ordered = values[weights > 0][order]
    reached = np.cumsum(weights[weights > 0][order])
    places = np.searchsorted(reached, np.array(QUANTILES) * reached[-1])
    return tuple(float(value) for value in ordered[np.minimum(places, len(ordered) - 1)])


def _split_at_least(
    splits: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[tuple[int, float], ...]:
    """Return the shares for 1, 2, 4, 8, ... splits, as far as there are any."""
    by_number = np.bincount(splits.astype(np.int64), weights)
    shares = by_number[::-1].cumsum()[::-1] / by_number.sum()
    powers = [2**i for i in range(len(shares).bit_length()) if 2**i < len(shares)]
    return tuple((k, float(shares[k])) for k in powers)
