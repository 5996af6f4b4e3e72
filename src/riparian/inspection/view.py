"""One tree as arrays: all other views of a tree start from these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from riparian.engine.pieces import numbers
from riparian.engine.trees import Tree
from riparian.model.numbers import Numbers
from riparian.tools.checks import whole

if TYPE_CHECKING:
    from riparian.forest import OnlineForestClassifier

NONE = -1  # where there is no child, no parent, no feature or no class


@dataclass(frozen=True, eq=False)
class TreeView:
    """A tree at one moment, with one entry per node in the order of creation.

    The root is node 0, a child comes after its parent, and the numbers are those of `apply`.

    More points have passed an inner node than it counts: a leaf starts with those that its candidate
    split had seen by then (R10), not with those from before.
    """

    classes: NDArray[Any]  # the labels, sorted: the columns of `counts`
    feature: NDArray[np.int64]  # that a node splits in; -1 at a leaf
    threshold: NDArray[np.float32]  # `x[feature] <= threshold` goes left; NaN at a leaf
    categorical: NDArray[np.bool_]  # here a code does that is the threshold or in its half (R22)
    left: NDArray[np.int64]  # child; -1 at a leaf
    right: NDArray[np.int64]  # child; -1 at a leaf
    parent: NDArray[np.int64]  # -1 at the root
    depth: NDArray[np.int64]  # 0 at the root
    # (nodes, classes): estimation points of the leaves at or below; of numbers, one column
    counts: NDArray[np.int64]
    is_leaf: NDArray[np.bool_]
    active: NDArray[np.bool_]  # a leaf that is in the fringe
    young: NDArray[np.bool_]  # an active leaf that looks among kept points for a split (R20)
    means: NDArray[np.float64]  # of numbers (R26): of the leaves at or below; else empty

    def __post_init__(self) -> None:
        for field in fields(self):
            getattr(self, field.name).setflags(write=False)

    @property
    def node_count(self) -> int:
        return len(self.feature)

    @property
    def points(self) -> NDArray[np.int64]:
        """N^e: the estimation points of the leaves at or below each node."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.int64)

    @property
    def best(self) -> NDArray[np.int64]:
        """The class with the most points, the first in `classes` among equals; -1: no point yet."""
        if len(self.classes) == 0:
            return np.full(self.node_count, NONE)
        return np.where(self.points > 0, self.counts.argmax(axis=1), NONE)

    @property
    def leaves(self) -> NDArray[np.int64]:
        """How many leaves there are at or below each node."""
        return summed_up(self.is_leaf.astype(np.int64), self.left, self.right, self.depth)

    def preorder(self, max_depth: int | None = None) -> Iterator[int]:
        """Every node before those below it, left before right, none deeper than `max_depth`."""
        waiting = [0]
        while waiting:
            node = waiting.pop()
            yield node
            if not self.is_leaf[node] and (max_depth is None or self.depth[node] < max_depth):
                waiting += (int(self.right[node]), int(self.left[node]))


def tree_view(forest: OnlineForestClassifier, tree: int = 0) -> TreeView:
    """Return one tree of a fitted forest as arrays, one entry per node (see `TreeView`).

    >>> from riparian import OnlineForestClassifier
    >>> forest = OnlineForestClassifier(n_estimators=1, eager=False, random_state=1)
    >>> forest = forest.fit([[1], [2], [3], [4]] * 10, ["ash", "ash", "oak", "oak"] * 10)
    >>> tree = tree_view(forest, 0)
    >>> tree.node_count, tree.left.tolist(), tree.right.tolist()
    (5, [1, 3, -1, -1, -1], [2, 4, -1, -1, -1])
    >>> tree.classes[tree.best[tree.is_leaf]].tolist()
    ['oak', 'ash', 'ash']
    """
    check_is_fitted(forest)
    n_trees = forest.model_.engine.parameters.n_trees
    arrays: Tree = forest.model_.engine.tree(whole("tree", tree, at_least=0, at_most=n_trees - 1))
    is_leaf = arrays.is_leaf
    left = np.where(is_leaf, NONE, arrays.child.astype(np.int64))
    right = np.where(is_leaf, NONE, left + 1)
    depth, parent = depths_and_parents(left, right)
    active = np.zeros(len(left), dtype=np.bool_)
    active[arrays.leaf_node] = arrays.leaf_active > 0
    young = np.zeros(len(left), dtype=np.bool_)
    young[active] = arrays.next_look > 0
    target, means = forest.model_.target, np.zeros(0)
    of_numbers = isinstance(target, Numbers)
    classes, of_leaves = (_leaf_weights if of_numbers else _leaf_counts)(forest, arrays)
    counts = summed_up(of_leaves, left, right, depth)
    if isinstance(target, Numbers):
        sums = np.zeros(len(left))
        sums[arrays.leaf_node] = arrays.leaf_sum
        sums = summed_up(sums, left, right, depth)
        means = target.with_origin(sums / np.maximum(1, counts[:, 0]))
    feature = np.where(is_leaf, NONE, arrays.feature.astype(np.int64))
    return TreeView(
        classes=classes,
        feature=feature,
        threshold=np.where(is_leaf, np.float32("nan"), arrays.threshold),
        categorical=np.isin(feature, [*forest.model_.categories]),
        left=left,
        right=right,
        parent=parent,
        depth=depth,
        counts=counts,
        is_leaf=is_leaf,
        active=active,
        young=young,
        means=means,
    )


def depths_and_parents(
    left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the depth and the parent of each node; the root has depth 0 and no parent."""
    depth = np.zeros(len(left), dtype=np.int64)
    parent = np.full(len(left), NONE)
    level = np.flatnonzero(left[:1] != NONE)
    while len(level):
        for children in (left[level], right[level]):
            parent[children] = level
            depth[children] = depth[level] + 1
        below = np.concatenate([left[level], right[level]])
        level = below[left[below] != NONE]
    return depth, parent


def _leaf_counts(
    forest: OnlineForestClassifier, tree: Tree
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes, and one row per node of the estimation points of each: only leaves have any.

    A tree numbers classes by arrival (R17). Others may be joining right now, in another thread;
    those that occur in the tree have joined.
    """
    lengths = tree.leaf_classes
    arrived = forest.model_.class_target.arrived[: int(lengths.max())]
    classes = forest.model_.class_target.classes.copy()
    public = np.searchsorted(classes, np.array(arrived, dtype=classes.dtype))
    by_arrival = numbers(lengths.astype(np.int64))
    counts = np.zeros((len(tree.child), len(classes)), dtype=np.int64)
    counts[np.repeat(tree.leaf_node, lengths), public[by_arrival]] = tree.histogram
    return classes, counts


def _leaf_weights(
    forest: OnlineForestClassifier, tree: Tree
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """No classes, and the weight of the votes of each leaf, in one column."""
    counts = np.zeros((len(tree.child), 1), dtype=np.int64)
    counts[tree.leaf_node, 0] = tree.leaf_weight
    return np.empty(0), counts


def summed_up(
    values: NDArray[Any],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    depth: NDArray[np.int64],
) -> NDArray[Any]:
    """The values of the leaves, and at each inner node the sum over the leaves below it."""
    sums = values.copy()
    inner = np.flatnonzero(left != NONE)
    inner = inner[np.argsort(depth[inner], kind="stable")]
    levels = np.split(inner, np.flatnonzero(np.diff(depth[inner])) + 1)
    for level in reversed(levels):
        sums[level] = sums[left[level]] + sums[right[level]]
    return sums
