"""The arrays of the trees in a snapshot: which there are, of what type, and how long each must be.

They are those of the core (`riparian.engine.trees`), of all trees end to end, tree by tree. Only the
number of nodes of each tree is stored; how long everything else is follows from what comes before it,
and must be so. What a kind of forest does not have is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.engine.trees import (
    FIELDS,
    Arrays,
    Bag,
    Field,
    Growth,
    StreamCounts,
    Totals,
    Tree,
    TreeArrays,
    Window,
)
from riparian.snapshot.errors import SnapshotError, require
from riparian.snapshot.header import Header

Integers = NDArray[np.int64]
Trees = TreeArrays[NDArray[np.uint64]]

NODES = Field("nodes", "uint64", "tree")  # the number of nodes of each tree

# What the core has too, and a snapshot has not: it follows from the links between the nodes.
DERIVED = ("leaf_node", "leaf_depth")

SAVED = {f.name: f for f in (NODES, *FIELDS) if f.name not in DERIVED}
FEATURES = [name for name, f in SAVED.items() if f.dtype == "feature"]
DTYPES = {
    name: np.dtype("uint32" if f.dtype == "feature" else f.dtype) for name, f in SAVED.items()
}

# What there is one element for, and what that is multiplied by where pieces lie end to end.
PER = {name: f.per.split(" times ") for name, f in SAVED.items()}

SEVERAL = {
    "totals": len(Totals._fields),
    "growth": len(Growth._fields),
    "window": len(Window._fields),
    "window_sums": 2,
    "bag": len(Bag._fields),
}
OFFSETS = 4  # numbers of a feature of depth images

# Only one of the rules has it; the core has nothing there for the others.
OF_ONE_STREAM = {"bag"}
OF_TWO_STREAMS = {"key_over", "key_under"} | {n for n in SAVED if n.startswith("estimation_")}
OF_KEPT_POINTS = {"growth", "next_look", "had_lost"}  # for the others, the core has zeros
OF_SETTLING = {"had_lost"}  # and for streams that change, of this
ARRIVALS = {"structure_arrivals", "estimation_arrivals"}
OF_CHANGE = ARRIVALS | {
    *("window", "window_sums", "evidence", "bucket_row", "bucket_total", "bucket_variance"),
    *("replaced", "memory"),
}

# What is left of a tree that only predicts; all its leaves are inactive.
PREDICTING = {
    name
    for name, (owner, *_) in PER.items()
    if owner not in ("active leaf", "inactive leaf")
    and name not in ("leaf_active", "growth", *ARRIVALS)
}

MOST_ELEMENTS = 2.0**53  # of an array; whole numbers up to here are exact as floats


def names(header: Header) -> list[str]:
    """The arrays of its trees, in their order."""
    left_out = _of_others(header)
    if not header.kept_points:
        left_out = left_out | OF_KEPT_POINTS
    if header.adaptive:
        left_out = left_out | OF_SETTLING
    if header.prediction_only:
        left_out = left_out | (SAVED.keys() - PREDICTING)
    return [name for name in SAVED if name not in left_out]


def _of_others(header: Header) -> set[str]:
    """What only forests of another kind have."""
    others = OF_TWO_STREAMS if header.one_stream else OF_ONE_STREAM
    return others if header.adaptive else others | OF_CHANGE


def join(trees: list[Arrays], header: Header) -> Arrays:
    """The arrays of all trees end to end, each of the narrowest type that holds it."""
    nodes = np.array([len(Tree.of(tree).child) for tree in trees], dtype=np.uint64)
    joined = {
        name: np.concatenate([tree[name].ravel() for tree in trees])
        for name in names(header)
        if name != NODES.name
    }
    return {name: narrow(array) for name, array in {NODES.name: nodes, **joined}.items()}


def narrow(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind != "u":
        return array
    return array.astype(np.min_scalar_type(int(array.max(initial=0))), copy=False)


def widen(stored: Arrays, header: Header) -> Arrays:
    """All arrays in the types of the core, if these are the right names and types."""
    dtypes = {name: DTYPES[name] for name in names(header)}
    if header.depth:
        dtypes |= {name: np.dtype("float32") for name in FEATURES if name in dtypes}
    arrays = typed(stored, dtypes)
    if header.depth:
        arrays |= {name: _offsets(name, arrays[name]) for name in FEATURES if name in dtypes}
    return {**_left_out(arrays, header), **arrays}


def typed(stored: Arrays, dtypes: Mapping[str, np.dtype[Any]]) -> Arrays:
    """The arrays in these types, if they are all there and no others."""
    for wrong in sorted(dtypes.keys() ^ stored.keys()):
        problem = "missing" if wrong in dtypes else "unknown"
        raise SnapshotError("arrays", f"the array {wrong!r} is {problem}")
    for name, array in stored.items():
        dtype = dtypes[name]
        fits = array.dtype.kind == dtype.kind and array.dtype.itemsize <= dtype.itemsize
        require(fits, "arrays", f"{name} must be of type {dtype}, is {array.dtype}")
    return {name: array.astype(dtypes[name], copy=False) for name, array in stored.items()}


def _offsets(name: str, array: NDArray[Any]) -> NDArray[Any]:
    whole = len(array) % OFFSETS == 0
    require(whole, "arrays", f"{name} must hold four numbers per feature, it holds {len(array)}")
    return array.reshape(-1, OFFSETS)


def _left_out(arrays: Arrays, header: Header) -> Arrays:
    """What the core has where a snapshot has nothing."""
    empty: Arrays = {name: np.zeros(0, dtype=dtype) for name, dtype in DTYPES.items()}
    if header.depth:
        empty |= {name: np.zeros((0, OFFSETS), dtype=np.float32) for name in FEATURES}
    growth = np.zeros(SEVERAL["growth"] * len(arrays[NODES.name]), dtype=np.uint64)
    if not header.prediction_only:
        active = int(np.count_nonzero(arrays["leaf_active"]))
        young: Arrays = {name: np.zeros(active, DTYPES[name]) for name in ("next_look", "had_lost")}
        return {**empty, "growth": growth, **young}
    leaves = len(arrays["leaf_born"])
    if header.adaptive:
        empty |= {name: np.zeros(leaves, dtype=np.uint64) for name in ARRIVALS}
    waiting = {
        "key_over": np.zeros(leaves, dtype=np.uint64),
        "key_under": np.ones(leaves, dtype=np.uint64),
    }
    # Every leaf waits, forever.
    inactive: Arrays = {"growth": growth, "leaf_active": np.zeros(leaves, dtype=np.uint8)}
    return {**empty, **inactive, **({} if header.one_stream else waiting)}


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


def measure(arrays: Arrays, header: Header) -> Lengths:
    """How long all arrays are in each tree. Every array is as long as that, or it is an error."""
    n_trees = len(header.trees)
    others = _of_others(header)
    lengths = {name: np.zeros(n_trees, dtype=np.int64) for name in others}
    arrays = {name: array for name, array in arrays.items() if name not in others}
    every_array = arrays | {name: np.zeros(0, dtype=DTYPES[name]) for name in others}
    owners = {"tree": np.ones(n_trees, dtype=np.int64)}
    lengths |= _check(arrays, owners)

    nodes = arrays[NODES.name]
    good = (nodes % 2 == 1) & (nodes < 2**31)
    require(good.all(), "arrays", "nodes must be an odd number of nodes for each tree")
    owners |= {"node": nodes.astype(np.int64), "leaf": (nodes.astype(np.int64) + 1) // 2}
    lengths |= _check(arrays, owners)

    trees = TreeArrays.end_to_end(every_array)
    require((trees.leaf_active <= 1).all(), "arrays", "leaf_active must be 0 or 1")
    active = piece_sums(trees.leaf_active, owners["leaf"])
    owners |= {
        "column": _columns(trees, owners["node"], header),
        "active leaf": active,
        "inactive leaf": owners["leaf"] - active,
    }
    lengths |= _check(arrays, owners)

    for stream in ("structure", "estimation"):
        counted = getattr(trees, stream).counted
        require((counted <= 1).all(), "arrays", f"{stream}_counted must be 0 or 1")
    products = {
        name: _product(name, owner, factors, owners, trees, header)
        for name, (owner, *factors) in PER.items()
        if factors and name in arrays
    }
    _check_lengths(arrays, products)
    return Lengths(owners["node"], owners["leaf"], active, {**lengths, **products})


def _check(arrays: Arrays, owners: dict[str, Integers]) -> dict[str, Integers]:
    """The lengths of the arrays that have one element for each of these, if they are right."""
    lengths = {
        name: owners[owner] * SEVERAL.get(name, 1)
        for name, (owner, *factors) in PER.items()
        if owner in owners and not factors and name in arrays
    }
    _check_lengths(arrays, lengths)
    return lengths


def _check_lengths(arrays: Arrays, lengths: dict[str, Integers]) -> None:
    for name, length in lengths.items():
        expected, stored = int(length.sum()), len(arrays[name])
        how_many = SEVERAL.get(name, "one")
        require(
            stored == expected,
            "arrays",
            f"{name} must hold {expected} numbers, {how_many} per {SAVED[name].per}; "
            f"it holds {stored}",
        )


def _columns(trees: Trees, nodes: Integers, header: Header) -> Integers:
    """Up to the last that has a split."""
    if header.depth:
        return np.zeros_like(nodes)
    reach = np.where(trees.is_leaf, 0, trees.feature.astype(np.int64) + 1)
    return np.asarray(np.maximum.reduceat(reach, np.cumsum(nodes) - nodes), dtype=np.int64)


def _product(
    name: str,
    owner: str,
    factors: list[str],
    owners: dict[str, Integers],
    trees: Trees,
    header: Header,
) -> Integers:
    """The length of an array in each tree, in which each owner has a piece of varying length."""
    # As floats: the products of numbers that nobody has checked may be anything.
    lengths = [_factor(factor, name, trees, header) for factor in factors]
    each = np.prod(np.broadcast_arrays(np.ones(int(owners[owner].sum())), *lengths), axis=0)
    return piece_sums(each, owners[owner])


def _factor(factor: str, name: str, trees: Trees, header: Header) -> NDArray[np.float64]:
    """What the length of an array is a multiple of, leaf by leaf, as the core's list names it."""
    most_split_points = header.parameters.split_points
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
        case "memories":
            return np.asarray(float(header.memories))
        case "buckets" | "replacements":
            return np.asarray(getattr(trees.window, factor), dtype=np.float64)
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
