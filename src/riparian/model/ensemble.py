"""A forest as plain trees, which give the same answers without the engine (R11, R26).

Exports and explanations start from an ensemble. It stays as it is while the forest goes on learning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riparian import _core
from riparian.engine.categories import OTHER, Value
from riparian.engine.engine import Correction
from riparian.engine.halves import codes_left, halves_among
from riparian.engine.native import DepthEngine
from riparian.engine.pieces import begins
from riparian.engine.trees import Tree
from riparian.model.classes import Classes
from riparian.model.model import HasModel, model_of
from riparian.model.numbers import Numbers
from riparian.model.target import Target

Integers = NDArray[np.int64]

NONE = np.int32(-1)

WHOLE = _core.whole_share  # a share of one, in the units in which shares are added (R11)

ONE_COLUMN = (
    "its nodes compare the depths at two places near a pixel, places that depend on the depth of the "
    "pixel itself, and the formats know only tests of one column of a row"
)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The trees that vote, one after the other. A test is `x[feature] <= threshold`; for a categorical
    feature it is `x[feature] == threshold`, or whether the value is in a half (R22). True goes left.

    A missing value (NaN) goes right. A tree without an estimation point abstains and is left out;
    if all abstain, a single leaf gives every class the same probability, or the first target.

    An answer is the sum of the shares of all trees, divided by `n_trees * WHOLE`, times `slope`, plus
    `offset`. A forest of numbers has shares of a single output, which may be below 0 (R26).
    """

    classes: NDArray[Any] | None  # in the public order; None: the forest predicts numbers
    scale: float  # of numbers B, a power of two; of classes 1
    origin: float  # of numbers y₀; of classes 0
    correction: Correction | None  # R29: the last learned point, which the answers follow
    lag: int  # they are for the point that comes this many points after it; 0: for any
    n_features: int
    feature_names: list[str] | None
    categories: Mapping[int, Sequence[Value]]  # per categorical feature: its categories by code

    # Per tree.
    root: Integers  # the number of its root among all nodes

    # Per node, tree by tree, in the order of creation.
    feature: NDArray[np.int32]  # -1 in a leaf
    threshold: NDArray[np.float32]
    equals: NDArray[np.bool_]  # whether the feature is categorical: it holds codes (R22)
    left: NDArray[np.int32]  # among all nodes; the right child is the next node; -1 in a leaf

    # Per leaf, in the order of the nodes.
    leaf: Integers  # its number among all nodes
    weight: Integers  # N^e, its estimation points
    n_shares: Integers  # classes with a share above 0; of numbers 1

    # Per leaf and class with a share above 0.
    share_class: NDArray[np.int32]  # its index in `classes`; of numbers 0
    share: Integers  # in units of scale / WHOLE; WHOLE with majority voting

    @property
    def n_trees(self) -> int:
        return len(self.root)

    @property
    def n_outputs(self) -> int:
        """Return the number of classes, or 1 for numbers."""
        return 1 if self.classes is None else len(self.classes)

    @property
    def unit(self) -> float:
        """Return what a share of 1 stands for."""
        return self.slope / WHOLE

    @property
    def slope(self) -> float:
        """Return what an answer of 1 of all trees adds to that of the forest."""
        shared = 0.0 if self.correction is None else self.correction.target_share
        return self.scale * (1.0 - shared)

    @property
    def offset(self) -> float:
        """Return the answer of the forest where its trees answer 0."""
        return self.origin + (0.0 if self.correction is None else self.correction.of(0.0))

    @property
    def abstains(self) -> bool:
        """Return whether all trees abstain."""
        return not self.weight.any()

    @property
    def nodes(self) -> list[slice]:
        """Return the slice of each tree among all nodes."""
        ends = [*self.root[1:].tolist(), len(self.feature)]
        return [slice(begin, end) for begin, end in zip(self.root.tolist(), ends, strict=True)]

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Return, per node, whether it is a leaf."""
        return np.equal(self.left, NONE)

    @cached_property
    def is_half(self) -> NDArray[np.bool_]:
        """Return, per node, whether its threshold is a half of the categories (R22)."""
        return halves_among(self.threshold, self.equals)

    def codes_left(self, node: int) -> NDArray[np.int64]:
        """Return the codes of known categories that a test of a categorical feature sends left."""
        n_codes = len(self.categories[int(self.feature[node])])
        return codes_left(float(self.threshold[node]), n_codes)

    @cached_property
    def leaf_number(self) -> Integers:
        """Return, per node, its index among the leaves; -1 for an inner node."""
        place = np.full(len(self.feature), -1, dtype=np.int64)
        place[self.leaf] = np.arange(len(self.leaf))
        return place

    @cached_property
    def share_begin(self) -> Integers:
        """Return, per leaf, where its shares begin."""
        return begins(self.n_shares)

    @cached_property
    def node_weight(self) -> NDArray[np.float64]:
        """Return, per node, the number of estimation points below it."""
        weight = np.zeros(len(self.feature))
        weight[self.leaf] = self.weight
        for node in reversed(np.flatnonzero(~self.is_leaf).tolist()):  # children come after it
            weight[node] = weight[self.left[node]] + weight[self.left[node] + 1]
        return weight

    def leaf_values(self, first: int = 0, last: int | None = None) -> NDArray[np.float64]:
        """Return the answers of some leaves, without the origin: a row per leaf, a column per class."""
        last = len(self.leaf) if last is None else last
        values = np.zeros((last - first, self.n_outputs))
        rows = np.repeat(np.arange(last - first), self.n_shares[first:last])
        begin = int(self.share_begin[first]) if first < len(self.leaf) else 0
        of_these = slice(begin, begin + len(rows))
        values[rows, self.share_class[of_these]] = self.share[of_these] * self.unit
        return values


def ensemble_of(forest: HasModel, what: str) -> Ensemble:
    """Return the forest as it is now. `what` names the purpose, for errors."""
    model = model_of(forest)
    engine = model.engine
    if isinstance(engine, DepthEngine):
        raise TypeError(f"{what} of a {type(forest).__name__} is not possible: {ONE_COLUMN}")
    with engine.learning:  # so that no batch is learned between two trees
        outputs = _outputs_of(model.target, what)
        correction = engine.correction()
        rank = outputs.rank
        trees = [engine.tree(i) for i in range(len(engine.trees))]
        answers = [
            Answers(*engine.leaf_answers(i, tree.leaf_node, len(rank)))
            for i, tree in enumerate(trees)
        ]
        n_features = engine.n_dims
        tables = {} if engine.categories is None else engine.categories.tables
        categories = {
            column: [*table.values, *([OTHER] if table.full else [])]
            for column, table in sorted(tables.items())
        }
    voters = [i for i, mine in enumerate(answers) if mine.points.any()]  # the others abstain
    if any(not answers[i].points.all() for i in voters):
        raise ValueError(
            f"{what} is not possible while a tree abstains for some points only, because one of its "
            "leaves holds no point; learn more points first"
        )
    majority = engine.parameters.majority
    arrays = _one_leaf(outputs.classes)
    if voters:
        arrays = {
            **_nodes([trees[i] for i in voters], list(categories)),
            **_shares([answers[i] for i in voters], rank, majority),
        }
    names = model.feature_names
    return Ensemble(
        classes=outputs.classes,
        scale=outputs.scale,
        origin=outputs.origin,
        correction=correction if voters else None,
        lag=engine.parameters.lag,
        n_features=n_features,
        feature_names=None if names is None else [str(name) for name in names],
        categories=categories,
        **arrays,
    )


class Outputs(NamedTuple):
    """What the answers of a forest stand for."""

    classes: NDArray[Any] | None
    rank: NDArray[np.intp]  # the index in `classes` of each class that has arrived
    scale: float = 1.0
    origin: float = 0.0


def _outputs_of(target: Target, what: str) -> Outputs:
    if isinstance(target, Numbers):
        if target.origin is None:
            raise ValueError(f"{what} needs a target, but none is known yet; learn a point first")
        scale = math.ldexp(1.0, target.scale - _core.scale_of(1.0))
        return Outputs(None, np.zeros(1, dtype=np.intp), scale, target.origin)
    assert isinstance(target, Classes)
    if len(target.classes) == 0:
        raise ValueError(f"{what} needs a class, but none is known yet; learn a point first")
    return Outputs(target.classes, target.rank())


def _nodes(trees: list[Tree], categorical: list[int]) -> dict[str, Any]:
    root = begins(np.array([len(tree.child) for tree in trees], dtype=np.int64))
    left, feature, leaf = [], [], []
    for first, tree in zip(root.tolist(), trees, strict=True):
        is_leaf = tree.is_leaf
        left.append(np.where(is_leaf, NONE, tree.child.astype(np.int64) + first).astype(np.int32))
        feature.append(np.where(is_leaf, NONE, tree.feature.astype(np.int64)).astype(np.int32))
        leaf.append(tree.leaf_node.astype(np.int64) + first)
    return {
        "root": root,
        "left": np.concatenate(left),
        "feature": np.concatenate(feature),
        "threshold": np.concatenate([tree.threshold for tree in trees]),
        "equals": np.isin(np.concatenate(feature), categorical),
        "leaf": np.concatenate(leaf),
    }


class Answers(NamedTuple):
    """The answers of the leaves of a tree, from the core: classes are numbered by arrival (R17).

    Those of numbers have the form of a single class (R26).
    """

    points: NDArray[np.uint64]  # per leaf: N^e
    n_shares: NDArray[np.uint32]  # per leaf: classes with a share above 0
    share_class: NDArray[np.uint32]  # per share
    share: Integers


def _shares(answers: list[Answers], rank: NDArray[np.intp], majority: bool) -> dict[str, Any]:
    """Return the answers of all leaves, with classes in the public order (R11)."""
    each = Answers(*(np.concatenate(parts) for parts in zip(*answers, strict=True)))
    n_leaves, n_shares = len(each.points), each.n_shares.astype(np.int64)
    leaf = np.repeat(np.arange(n_leaves), n_shares)
    public, share = rank[each.share_class], each.share
    if majority:
        # By leaf, then the largest share, then the smallest class: the first of each leaf wins.
        chosen = np.lexsort((public, -share, leaf))[begins(n_shares)]
        share = np.full_like(share, WHOLE)
    else:
        chosen = np.lexsort((public, leaf))
    return {
        "weight": each.points.astype(np.int64),
        "n_shares": np.bincount(leaf[chosen], minlength=n_leaves).astype(np.int64),
        "share_class": public[chosen].astype(np.int32),
        "share": share[chosen],
    }


def _one_leaf(classes: NDArray[Any] | None) -> dict[str, Any]:
    """Return a tree that gives every class the same probability: all trees abstain (R11).

    Of numbers, it answers with the origin (R26).
    """
    one = np.array([0], dtype=np.int64)
    shares = [0] if classes is None else [WHOLE // len(classes)] * len(classes)
    return {
        "root": one,
        "left": np.array([NONE]),
        "feature": np.array([NONE]),
        "threshold": np.zeros(1, dtype=np.float32),
        "equals": np.zeros(1, dtype=bool),
        "leaf": one,
        "weight": one,
        "n_shares": one + len(shares),
        "share_class": np.arange(len(shares), dtype=np.int32),
        "share": np.array(shares, dtype=np.int64),
    }
