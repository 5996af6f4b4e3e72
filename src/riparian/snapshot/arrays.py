"""The arrays of a snapshot: which there are, of what type, and how long each must be.

They are those of the core (`riparian.engine.trees`), of all trees end to end, tree by tree. Only the
number of nodes of each tree is stored; how long everything else is follows from what comes before it,
and must be so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.engine.trees import FIELDS, Arrays, Field, StreamCounts, Totals, Tree, TreeArrays
from riparian.snapshot.errors import SnapshotError, require

Integers = NDArray[np.int64]
Trees = TreeArrays[NDArray[np.uint64]]

NODES = Field("nodes", "uint64", "tree")  # the number of nodes of each tree

# What the core has too, and a snapshot has not: it follows from the links between the nodes.
DERIVED = ("leaf_node", "leaf_depth")
OF_SAFFARI = ("bag",)  # whose forests have no snapshots

SAVED = {f.name: f for f in (NODES, *FIELDS) if f.name not in (*DERIVED, *OF_SAFFARI)}
DTYPES = {
    name: np.dtype("uint32" if f.dtype == "feature" else f.dtype) for name, f in SAVED.items()
}

# What there is one element for, and what that is multiplied by where pieces lie end to end.
PER = {name: f.per.split(" times ") for name, f in SAVED.items()}

# What is left of a tree that only predicts; all its leaves are inactive.
PREDICTING = [
    name
    for name, (owner, *_) in PER.items()
    if owner not in ("active leaf", "inactive leaf") and name != "leaf_active"
]

MOST_ELEMENTS = 2.0**53  # of an array; whole numbers up to here are exact as floats


def join(trees: list[Arrays], prediction_only: bool) -> Arrays:
    """The arrays of all trees end to end, each of the narrowest type that holds it."""
    nodes = np.array([len(Tree.of(tree).child) for tree in trees], dtype=np.uint64)
    names = [name for name in (PREDICTING if prediction_only else SAVED) if name != NODES.name]
    joined = {name: np.concatenate([tree[name] for tree in trees]) for name in names}
    return {name: _narrow(array) for name, array in {NODES.name: nodes, **joined}.items()}


def widen(stored: Arrays, prediction_only: bool) -> Arrays:
    """All arrays in the types of the core, if these are the right names and types."""
    names = set(PREDICTING if prediction_only else SAVED)
    for wrong in sorted(names ^ stored.keys()):
        problem = "missing" if wrong in names else "unknown"
        raise SnapshotError("arrays", f"the array {wrong!r} is {problem}")
    for name, array in stored.items():
        dtype = DTYPES[name]
        fits = array.dtype.kind == dtype.kind and array.dtype.itemsize <= dtype.itemsize
        require(fits, "arrays", f"{name} must be of type {dtype}, is {array.dtype}")
    arrays = {name: array.astype(DTYPES[name], copy=False) for name, array in stored.items()}
    return {**_no_fringe(len(arrays["leaf_born"])), **arrays} if prediction_only else arrays


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind != "u":
        return array
    return array.astype(np.min_scalar_type(int(array.max(initial=0))), copy=False)


def _no_fringe(leaves: int) -> Arrays:
    """What a snapshot without it leaves out: every leaf waits, forever."""
    empty = {name: np.zeros(0, dtype=DTYPES[name]) for name in SAVED if name not in PREDICTING}
    return {
        **empty,
        "leaf_active": np.zeros(leaves, dtype=np.uint8),
        "key_over": np.zeros(leaves, dtype=np.uint64),
        "key_under": np.ones(leaves, dtype=np.uint64),
    }


@dataclass(frozen=True)
class Lengths:
    """How many of everything each tree has."""

    nodes: Integers
    leaves: Integers
    active: Integers  # leaves
    arrays: dict[str, Integers]  # the elements of each array


def split(arrays: Arrays, lengths: Lengths) -> list[Arrays]:
    """The arrays of each tree."""
    every = {**lengths.arrays, **dict.fromkeys(DERIVED, lengths.leaves)}
    pieces = {
        name: np.split(array, np.cumsum(every[name])[:-1])
        for name, array in arrays.items()
        if name != NODES.name
    }
    return [{name: mine[i] for name, mine in pieces.items()} for i in range(len(lengths.nodes))]


def counters(dims: Any, most_split_points: int) -> Any:
    """Of a leaf: one per candidate and one per split point, in whole bytes of bits."""
    return ((dims + 1) * most_split_points + 7) // 8 * 8


def words(dims: Any, most_split_points: int) -> Any:
    """Of the bits of one point."""
    return (counters(dims, most_split_points) + 63) // 64


def measure(arrays: Arrays, n_trees: int, most_split_points: int) -> Lengths:
    """How long all arrays are in each tree. Every array is as long as that, or it is an error."""
    lengths: dict[str, Integers] = {}
    owners = {"tree": np.ones(n_trees, dtype=np.int64)}
    lengths |= _check(arrays, owners)

    nodes = arrays[NODES.name]
    good = (nodes % 2 == 1) & (nodes < 2**31)
    require(good.all(), "arrays", "nodes must be an odd number of nodes for each tree")
    owners = {"node": nodes.astype(np.int64), "leaf": (nodes.astype(np.int64) + 1) // 2}
    lengths |= _check(arrays, owners)

    trees = TreeArrays.end_to_end(arrays)
    require((trees.leaf_active <= 1).all(), "arrays", "leaf_active must be 0 or 1")
    active = piece_sums(trees.leaf_active, owners["leaf"])
    owners |= {
        "column": _columns(trees, owners["node"]),
        "active leaf": active,
        "inactive leaf": owners["leaf"] - active,
    }
    lengths |= _check(arrays, owners)

    for stream in ("structure", "estimation"):
        counted = getattr(trees, stream).counted
        require((counted <= 1).all(), "arrays", f"{stream}_counted must be 0 or 1")
    products = {
        name: _product(name, owner, factors, owners, trees, most_split_points)
        for name, (owner, *factors) in PER.items()
        if factors
    }
    _check_lengths(arrays, products)
    return Lengths(owners["node"], owners["leaf"], active, {**lengths, **products})


def _check(arrays: Arrays, owners: dict[str, Integers]) -> dict[str, Integers]:
    """The lengths of the arrays that have one element for each of these, if they are right."""
    lengths = {
        name: owners[owner] * (len(Totals._fields) if name == "totals" else 1)
        for name, (owner, *factors) in PER.items()
        if owner in owners and not factors
    }
    _check_lengths(arrays, lengths)
    return lengths


def _check_lengths(arrays: Arrays, lengths: dict[str, Integers]) -> None:
    for name, length in lengths.items():
        expected, stored = int(length.sum()), len(arrays[name])
        how_many = len(Totals._fields) if name == "totals" else "one"
        require(
            stored == expected,
            "arrays",
            f"{name} must hold {expected} numbers, {how_many} per {SAVED[name].per}; "
            f"it holds {stored}",
        )


def _columns(trees: Trees, nodes: Integers) -> Integers:
    """Up to the last that has a split."""
    reach = np.where(trees.is_leaf, 0, trees.feature.astype(np.int64) + 1)
    return np.asarray(np.maximum.reduceat(reach, np.cumsum(nodes) - nodes), dtype=np.int64)


def _product(
    name: str,
    owner: str,
    factors: list[str],
    owners: dict[str, Integers],
    trees: Trees,
    most_split_points: int,
) -> Integers:
    """The length of an array in each tree, in which each owner has a piece of varying length."""
    # As floats: the products of numbers that nobody has checked may be anything.
    lengths = [_factor(factor, name, trees, most_split_points) for factor in factors]
    return piece_sums(np.prod(lengths, axis=0), owners[owner])


def _factor(factor: str, name: str, trees: Trees, most_split_points: int) -> NDArray[np.float64]:
    """What the length of an array is a multiple of, leaf by leaf, as the core's list names it."""
    dims = trees.dims.astype(np.float64)
    match factor:
        case "points":
            counts: StreamCounts = getattr(trees, name.partition("_")[0])
            return np.where(counts.counted, 0.0, counts.length)
        case "rows":
            counts = getattr(trees, name.partition("_")[0])
            return np.where(counts.counted, counts.length, 0.0)
        case "words":
            return np.asarray(words(dims, most_split_points))
        case "(dims + 1)":
            return dims + 1
        case _:
            return np.asarray(getattr(trees, factor), dtype=np.float64)


def piece_sums(values: NDArray[Any], lengths: Integers) -> Integers:
    """The sum of each piece, of numbers that nobody has checked."""
    values = values.astype(np.float64)
    require(values.sum() < MOST_ELEMENTS, "arrays", "lengths are beyond all bounds")
    ends = np.concatenate([[0], np.cumsum(values.astype(np.int64))])
    last = np.cumsum(lengths)
    pieces: Integers = ends[last] - ends[last - lengths]
    return pieces
