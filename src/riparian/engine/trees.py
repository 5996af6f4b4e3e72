"""Trees as flat arrays by name, from which snapshots, inspection, theory and reports read a forest.

The core lists the arrays in core/state_fields.hpp: their types, what each entry stands for, which
forests have them, and since which format. Pieces of varying length follow one another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from riparian import _core
from riparian.engine.pieces import largest, sums

Arrays = dict[str, NDArray[Any]]

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint32]
Longs = NDArray[np.uint64]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

N = TypeVar("N")  # a number of one tree, or an array with one number per tree


class Field(NamedTuple):
    """One of the arrays, as the core describes it."""

    name: str
    dtype: str  # of numpy; "feature": uint32, or four float32 in depth images
    per: str  # such as "leaf", or "active leaf times dims"
    of: str = ""  # the forests that have it, and whether only learning needs it
    since: int = 1  # the first format of snapshots that has it


FIELDS = tuple(Field(*field) for field in _core.tree_fields)


class Totals(NamedTuple, Generic[N]):
    """The totals of a tree, in the order of `_core.tree_totals`."""

    structure_points: N
    estimation_points: N  # E
    ignored_points: N
    should_splits: N
    must_splits: N
    classes: N  # that have arrived; of numbers, the scale (R26)
    activations: N  # of inactive leaves (R12)
    refreshes: N  # of their keys
    evictions: N  # of active leaves, for lack of memory
    stopped_at: N  # the point after which the tree stopped growing; 0 while it grows


class Bag(NamedTuple):
    """Further totals of a tree of Saffari's forest (R18), in the order of `_core.tree_bag`."""

    number: int
    planted: int  # points that the forest had received before
    left_out: int  # points that the tree did not take
    errors: int  # those of them that it got wrong


class Growth(NamedTuple, Generic[N]):
    """Further totals of a tree with kept points (R21), in the order of `_core.tree_growth`."""

    structure_arrivals: N
    growth: N  # structure arrivals when it was rebuilt; 0: never
    bound: N  # structure arrivals at which it is rebuilt; 0 before its first split


class Window(NamedTuple, Generic[N]):
    """Further totals of a tree for streams that change (R27), in the order of `_core.tree_window`."""

    received: N  # errors that its detector has received
    buckets: N  # that hold them
    replacements: N  # of trees in its place


def squared_errors(weight: Longs, total: Doubles, squares: Doubles, same: Doubles) -> Doubles:
    """Return n·variance of points with these sums; 0 where all targets are the same (R26)."""
    n = weight.astype(np.float64)
    with np.errstate(all="ignore"):  # sums may have overflowed
        errors = squares - total * (total / n)
    return np.where((errors > 0) & np.isnan(same), errors, 0.0)


@dataclass(frozen=True, eq=False)
class StreamCounts:
    """The counts of the candidates of the active leaves in one stream."""

    counted: Bytes  # per active leaf: 1 if it holds rows of counts, 0 if it keeps points
    length: Words  # per active leaf: the number of rows or points
    label: Words  # per kept point
    bits: Longs  # per kept point and word
    count: Longs  # per row, dimension (and one more, for all points) and split point


@dataclass(frozen=True, eq=False)
class TreeArrays(Generic[N]):
    """The arrays of one tree, or of several trees one after the other."""

    totals: Totals[N]
    growth: Growth[N]
    window: Window[N]

    # Per tree for streams that change (R27); empty in other forests.
    window_sums: Doubles  # total and variance of the errors in the window
    bucket_row: Bytes  # per bucket, the oldest first: it holds 2^row errors
    bucket_total: Doubles
    bucket_variance: Doubles
    replaced: Longs  # the points at which trees were replaced
    errors: Doubles  # of numbers: the discounted sum of squared errors, and of ones

    # Of eager trees (R24), per tree; zeros or empty in other forests.
    eager: Longs  # V, the floor, and the turn: see `_core.tree_eager`
    scores: Doubles  # per head: s_j

    importance: NDArray[np.int64]  # per column: Σ G over its splits (R14)
    saved_error: Doubles  # of numbers: the squared error that they have removed (R26)

    # Per node, in the order of creation.
    feature: NDArray[Any]
    threshold: Floats
    child: Words  # the left child; the right one is the next node; 0 in a leaf

    # Of eager trees (R25); zeros or empty in other forests.
    votes: Longs  # per node: the points that have voted there
    inner_classes: Words  # per inner node: the length of its histogram
    inner_histogram: Longs  # per inner node and class
    inner_weight: Longs  # per inner node of a tree of numbers: the weight of its votes
    inner_sum: Doubles  # and their sum

    # Per leaf, in the order of the nodes.
    leaf_born: Longs  # E0 (R12)
    leaf_active: Bytes
    leaf_classes: Words  # the length of its histogram
    histogram: Longs  # per leaf and class: Y^e

    # Per leaf of a tree of numbers (R26); empty in other forests.
    leaf_weight: Longs  # of its votes
    leaf_sum: Doubles
    leaf_squares: Doubles
    leaf_same: Doubles  # the target of all of them; NaN if they differ, or if that is not known

    # Per leaf for streams that change (R27); empty in other forests.
    memory_classes: Words  # the length of its memories
    memory: Floats  # per leaf, class and memory: F_j
    memory_weight: Doubles  # of numbers, per leaf and memory
    memory_sum: Doubles

    # Per leaf of eager trees (R24); zeros or empty in other forests.
    eager_votes: Longs  # an upper bound of the weight of its eager votes; 0 before the turn
    spared_levels: Words  # levels above it that do not count for α and β

    # Per inactive leaf: its key in the heap, a ratio that is at least ŝ (R12).
    key_over: Longs
    key_under: Longs
    waiting_error: Doubles  # of numbers

    # Per active leaf.
    next_look: Words  # young leaves: listed structure points at the next look (R20); else 0
    had_lost: Bytes  # 1 if a young one has lost a listed point
    eager_counted: Longs  # of a settled one: the weight of eager votes at its start (R24)
    attempt: Words  # how often it has drawn candidates before (R8)
    dims: Words
    split_points: Words  # so far
    received: Longs  # estimation points since the candidates were drawn
    planned: Longs  # bytes set aside for it
    summed: Bytes  # 1 if it keeps its entropy sums up to date
    candidate_dims: NDArray[Any]  # per active leaf and dimension
    split_point_born: Longs  # per active leaf and split point: what E was
    split_threshold: Floats  # per active leaf, dimension and split point

    # Of numbers, per active leaf, dimension (and one more, for all points) and split point.
    structure_weight: Longs
    structure_sum: Doubles
    structure_squares: Doubles  # of all points only
    estimation_weight: Longs
    estimation_sum: Doubles
    estimation_squares: Doubles

    structure: StreamCounts  # with one stream (R18), all counts are here
    estimation: StreamCounts

    @classmethod
    def end_to_end(cls, arrays: Arrays) -> TreeArrays[Longs]:
        """Return the arrays of all trees of a forest."""
        totals = Totals(*arrays["totals"].reshape(-1, len(Totals._fields)).T)
        growth = Growth(*arrays["growth"].reshape(-1, len(Growth._fields)).T)
        window = Window(*arrays["window"].reshape(-1, len(Window._fields)).T)
        return TreeArrays(
            totals=totals, growth=growth, window=window, **_arrays(TreeArrays, arrays)
        )

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Return, per node, whether it is a leaf."""
        return np.equal(self.child, 0)

    @property
    def of_numbers(self) -> bool:
        """Return whether the targets are numbers (R26)."""
        return len(self.leaf_weight) > 0

    @property
    def leaf_points(self) -> Longs:
        """Return, per leaf, N^e: the number of its estimation points."""
        return self.leaf_weight if self.of_numbers else sums(self.histogram, self.leaf_classes)

    @property
    def leaf_errors(self) -> NDArray[Any]:
        """Return, per leaf, how many of its estimation points are not of the most frequent class.

        Of numbers, return the squared error of the mean (R26).
        """
        if self.of_numbers:
            return squared_errors(
                self.leaf_weight, self.leaf_sum, self.leaf_squares, self.leaf_same
            )
        return self.leaf_points - largest(self.histogram, self.leaf_classes)


@dataclass(frozen=True, eq=False)
class Tree(TreeArrays[int]):
    """The arrays of one tree, and numbers derived from the links between its nodes."""

    leaf_node: Words  # per leaf: the number of its node
    leaf_depth: Words  # per leaf
    bag: Bag | None  # None: not of Saffari's forest

    @classmethod
    def of(cls, arrays: Arrays) -> Self:
        bag = arrays["bag"].tolist()
        return cls(
            totals=Totals(*arrays["totals"].tolist()),
            growth=Growth(*arrays["growth"].tolist()),
            window=Window(*(arrays["window"].tolist() or [0, 0, 0])),
            bag=Bag(*bag) if bag else None,
            **_arrays(cls, arrays),
        )


def _arrays(view: type[TreeArrays[Any]], arrays: Arrays) -> dict[str, Any]:
    names = {field.name for field in fields(view)} - {
        "totals",
        "growth",
        "window",
        "bag",
        "structure",
        "estimation",
    }
    return {
        **{name: arrays[name] for name in names},
        "structure": _counts(arrays, "structure"),
        "estimation": _counts(arrays, "estimation"),
    }


def _counts(arrays: Mapping[str, Any], stream: str) -> StreamCounts:
    return StreamCounts(**{f.name: arrays[f"{stream}_{f.name}"] for f in fields(StreamCounts)})
