"""Splits against estimation points: n-to-infty one way, upper-bound-K the other.

The paper counts depths from 1 here, from 0 in Appendix A. By R6 a leaf at depth d needs α(d) estimation
points on each side, the root α(0), so every α of these two statements moves down by one.

With kept points (R19) a point may count for several splits, one below the other, so that it takes only
half as many for as many splits. The argument is then another one, see `max_splits`.

In a tree that was eager (R24), splits count from the turn, when the tree has leaves already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from riparian.parameters.schedules import Schedule
from riparian.tools.checks import whole


def least_points(splits: int, alpha: Schedule) -> int:
    """The fewest estimation points that a cell can hold after K splits: α(K-1) (n-to-infty).

    The paper says α(K), one too many: the K-th split of a cell is made at depth K-1, and its children
    hold α(K-1) each (R10). Before the first split a cell may hold none.

    >>> from riparian.parameters.schedules import Geometric
    >>> [least_points(k, Geometric(2, 2)) for k in range(4)]
    [0, 2, 4, 8]
    """
    splits = whole("splits", splits, 0, 2**63)
    return alpha.at(splits - 1) if splits else 0


def max_splits(
    n_estimation: int, alpha: Schedule, *, kept: bool = False, leaves: Sequence[int] = (1,)
) -> int:
    """Return the most splits that a tree can have made with n estimation points (upper-bound-K).

    A split at depth d takes 2α(d) points that counted for no other split, and α never falls, so the
    cheapest tree of K splits fills level after level. Its deepest level is that of ⌈log2(K+1)⌉ (the
    paper has ⌈log2 K⌉, which for one split is none).

    With kept points (`kept`) a point may count again for splits below. But it ends in one leaf, and a
    leaf at depth d holds α(d-1) (`least_points`). A split at depth d turns one such leaf into two of
    α(d), so it takes at least α(d) points more: half of the above.

    `leaves` are those that exist before the first of these splits, by depth: one root, or the leaves of
    an eager tree at the turn (R24).

    >>> from riparian.parameters.schedules import Geometric
    >>> max_splits(10, Geometric(1, 2))  # 2 for the root, 4 for each of its children
    3
    >>> max_splits(10, Geometric(1, 2), kept=True)
    4
    >>> max_splits(10, Geometric(1, 2), leaves=[0, 5])  # five leaves, where a split takes 4
    2
    """
    left = _worth(n_estimation, kept)
    splits = most = 0
    for depth, cost in _costs(alpha):
        room = 2 * most + (leaves[depth] if depth < len(leaves) else 0)
        most = min(room, left // cost)
        splits, left = splits + most, left - most * cost
        if most < room or (room == 0 and depth >= len(leaves)):
            return splits
    raise AssertionError("a level that cannot be filled comes after 63 of them at the latest")


def max_path(n_estimation: int, alpha: Schedule, *, kept: bool = False, start: int = 0) -> int:
    """The most splits that the cell of one point can have gone through: the depth of a leaf.

    Not in the paper, and by the same count: a path of K splits takes 2α(0) + ... + 2α(K-1) points, with
    kept points (`kept`) half of that. The path begins at the depth `start`.

    >>> from riparian.parameters.schedules import Geometric
    >>> max_path(14, Geometric(1, 2)), max_path(14, Geometric(1, 2), start=1)
    (3, 2)
    """
    left = _worth(n_estimation, kept)
    for depth, cost in _costs(alpha, start):
        if left < cost:
            return depth - start
        left -= cost
    raise AssertionError("there is always a deeper level")


def _worth(n_estimation: int, kept: bool) -> int:
    """Return how many points a split takes: half as many if points are kept, since these count twice."""
    points = whole("n_estimation", n_estimation, 0, 2**63)
    return 2 * points if kept else points


def _costs(alpha: Schedule, start: int = 0) -> Iterator[tuple[int, int]]:
    """Return each depth, and the number of estimation points that a split there takes."""
    depth = start
    while True:
        yield depth, 2 * alpha.at(depth)
        depth += 1
