"""Quantiles and intervals of a forest for numbers (R28) in plain Python.

Read `riparian.reference_eager` first. The kept points near x, in all trees, are a sample of y given x:
its quantiles need nothing else. An interval is meant to hold a given share of the targets, so its level
follows the stream. The native engine must equal this file to the last bit.

>>> distribution = Distribution([Part(1.0, WHOLE), Part(5.0, WHOLE), Part(2.0, WHOLE)])
>>> distribution.quantile(0.5), distribution.quantile(0.0), distribution.quantile(1.0)
(2.0, 1.0, 5.0)
>>> level = Level(0.9)
>>> for _ in range(50):
...     level.judge(distribution, y=7.0, error=1.0)  # the targets are larger now
>>> low, high = level.interval(distribution, error=1.0)
>>> high > 7.0
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from riparian.reference import WHOLE, Leaf, Point, Split
from riparian.reference_eager import EagerTree
from riparian.reference_kept import Arrival, weight_of

ENOUGH = 4  # the kept points that a cell must list
RATE = 0.01  # of a level
STRETCH = 20.0  # of an interval, where its level is below 0


# ---------------------------------------------------------------------------------------------
# The neighbours of a point.
# ---------------------------------------------------------------------------------------------


def neighbours(tree: EagerTree, x: Point) -> list[Arrival]:
    """Return the kept points that vote in the smallest cell around x that lists enough of them."""
    mine: list[Arrival] = []
    for node in reversed([*tree.path(x)]):
        mine = [point for leaf in leaves(node) for point in listed(tree, leaf)]
        if len(mine) >= ENOUGH:
            break
    return mine


def leaves(node: Split | Leaf) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
        return
    for child in node.children:
        yield from leaves(child)


def listed(tree: EagerTree, leaf: Leaf) -> list[Arrival]:
    """Return the kept points of a leaf that vote: all that it lists while the tree is eager."""
    lists = tree.lists[leaf.number]
    voters = lists.estimation + (lists.structure if tree.is_eager() else [])
    return [point for point in voters if tree.kept.holds(point.t)]


# ---------------------------------------------------------------------------------------------
# Their distribution.
# ---------------------------------------------------------------------------------------------


class Part(NamedTuple):
    """A neighbour in one tree: its target, and its part of the vote of the tree."""

    target: float
    size: int  # in units of 2^-40


class Distribution:
    """The targets of the neighbours of a point in all trees."""

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        self.parts = sorted(parts)
        self.whole = sum(part.size for part in self.parts)

    @classmethod
    def near(cls, x: Point, trees: Iterable[EagerTree]) -> Distribution:
        return cls(part for tree in trees for part in parts_of(neighbours(tree, x)))

    def moved(self, move: Callable[[float], float]) -> Distribution:
        return Distribution(Part(move(part.target), part.size) for part in self.parts)

    def is_empty(self) -> bool:
        return not self.parts

    def quantile(self, q: float) -> float:
        """Return the smallest target up to which the distribution reaches q; NaN if it is empty."""
        so_far = 0
        for part in self.parts:
            so_far += part.size
            if float(so_far) >= q * float(self.whole):
                return part.target
        return math.nan


def parts_of(points: list[Arrival]) -> Iterator[Part]:
    """Yield the part of each neighbour in a tree; by weight, and together about 1."""
    total = weight_of(points)
    for point in points:
        yield Part(point.y, round(point.copies / total * WHOLE))


# ---------------------------------------------------------------------------------------------
# The level of an interval.
# ---------------------------------------------------------------------------------------------


class Level:
    """How much of the distribution lies outside of an interval. It follows the stream."""

    def __init__(self, coverage: float) -> None:
        self.coverage = coverage
        self.level = 1.0 - coverage

    def interval(self, distribution: Distribution, error: float) -> tuple[float, float]:
        """Return both ends, given the error of the forest; any number, if nothing is known."""
        if distribution.is_empty():
            return -math.inf, math.inf
        outside = max(self.level, 0.0) / 2.0
        low, high = distribution.quantile(outside), distribution.quantile(1.0 - outside)
        margin = 0.0
        if self.level < 0.0:
            width = high - low
            margin = STRETCH * -self.level * (width if width > 0.0 else error)
        return low - margin, high + margin

    def judge(self, distribution: Distribution, y: float, error: float) -> None:
        """Follow a target that is about to be learned, unless nothing is known of it."""
        if distribution.is_empty():
            return
        low, high = self.interval(distribution, error)
        missed = 0.0 if low <= y <= high else 1.0
        self.level = min(1.0, self.level + RATE * ((1.0 - self.coverage) - missed))
