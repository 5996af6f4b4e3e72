"""The arrays of a snapshot: which there are, of what type, and how long each must be.

The arrays of all trees lie end to end, tree by tree. Only the number of nodes of each tree is told;
how long everything else is follows from what comes before it, and must be so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.snapshot.errors import SnapshotError, require

Arrays = dict[str, NDArray[Any]]
Integers = NDArray[np.int64]

TOTALS = ("structure_points", "estimation_points", "ignored_points", "should_splits", "must_splits",
          "classes", "activations", "refreshes", "evictions", "stopped_at")  # fmt: skip
STREAMS = ("structure", "estimation")


def _counts(stream: str) -> dict[str, tuple[Any, str]]:
    return {
        f"{stream}_counted": (np.uint8, "active leaf"),
        f"{stream}_length": (np.uint32, "active leaf"),
        f"{stream}_label": (np.uint32, f"{stream} point"),
        f"{stream}_bits": (np.uint64, f"{stream} word"),
        f"{stream}_count": (np.uint64, f"{stream} count"),
    }


# Each array with its element type and what it has one element for; see core/state.hpp.
ARRAYS: dict[str, tuple[Any, str]] = {
    "nodes": (np.uint64, "tree"),
    "totals": (np.uint64, "total"),
    "feature": (np.uint32, "node"),
    "threshold": (np.float32, "node"),
    "child": (np.uint32, "node"),
    "importance": (np.int64, "column"),
    "leaf_born": (np.uint64, "leaf"),
    "leaf_classes": (np.uint32, "leaf"),
    "histogram": (np.uint64, "class of a leaf"),
    "leaf_active": (np.uint8, "leaf"),
    "key_over": (np.uint64, "inactive leaf"),
    "key_under": (np.uint64, "inactive leaf"),
    "attempt": (np.uint32, "active leaf"),
    "dims": (np.uint32, "active leaf"),
    "split_points": (np.uint32, "active leaf"),
    "received": (np.uint64, "active leaf"),
    "planned": (np.uint64, "active leaf"),
    "summed": (np.uint8, "active leaf"),
    "candidate_dims": (np.uint32, "candidate dimension"),
    "split_point_born": (np.uint64, "split point"),
    "split_threshold": (np.float32, "candidate split"),
    **_counts("structure"),
    **_counts("estimation"),
}

# What is left of a tree that only predicts; all its leaves are inactive.
PREDICTING = ("nodes", "totals", "feature", "threshold", "child", "importance", "leaf_born",
              "leaf_classes", "histogram")  # fmt: skip

# What the core has too, and a snapshot has not: it follows from the links between the nodes.
DERIVED = ("leaf_node", "leaf_depth")

MOST_ELEMENTS = 2.0**53  # of an array; whole numbers up to here are exact as floats


def join(trees: list[Arrays], prediction_only: bool) -> Arrays:
    """The arrays of all trees end to end, each of the narrowest type that holds it."""
    nodes = np.array([len(tree["child"]) for tree in trees], dtype=np.uint64)
    names = [name for name in (PREDICTING if prediction_only else ARRAYS) if name != "nodes"]
    joined = {name: np.concatenate([tree[name] for tree in trees]) for name in names}
    return {name: _narrow(array) for name, array in {"nodes": nodes, **joined}.items()}


def widen(found: Arrays, prediction_only: bool) -> Arrays:
    """All arrays in the types of the core, if these are the right names and types."""
    names = set(PREDICTING if prediction_only else ARRAYS)
    for wrong in sorted(names ^ found.keys()):
        what = "missing" if wrong in names else "unknown"
        raise SnapshotError("arrays", f"the array {wrong!r} is {what}")
    for name, array in found.items():
        dtype = np.dtype(ARRAYS[name][0])
        fits = array.dtype.kind == dtype.kind and array.dtype.itemsize <= dtype.itemsize
        require(fits, "arrays", f"{name} must be of type {dtype}, is {array.dtype}")
    arrays = {name: array.astype(ARRAYS[name][0], copy=False) for name, array in found.items()}
    return arrays if not prediction_only else {**arrays, **_no_fringe(arrays)}


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind != "u":
        return array
    return array.astype(np.min_scalar_type(int(array.max(initial=0))), copy=False)


def _no_fringe(arrays: Arrays) -> Arrays:
    """Every leaf waits, forever."""
    fringe = {
        name: np.zeros(0, dtype=dtype)
        for name, (dtype, _) in ARRAYS.items()
        if name not in PREDICTING
    }
    leaves = len(arrays["leaf_born"])
    fringe["leaf_active"] = np.zeros(leaves, dtype=np.uint8)
    fringe["key_over"] = np.zeros(leaves, dtype=np.uint64)
    fringe["key_under"] = np.ones(leaves, dtype=np.uint64)
    return fringe


def split(arrays: Arrays, lengths: dict[str, Integers]) -> list[Arrays]:
    """The arrays of each tree."""
    ends = {kind: np.cumsum(mine) for kind, mine in lengths.items()}
    kinds = {**{name: kind for name, (_, kind) in ARRAYS.items()}, **dict.fromkeys(DERIVED, "leaf")}
    pieces = {
        name: np.split(array, ends[kinds[name]][:-1])
        for name, array in arrays.items()
        if name != "nodes"
    }
    return [{name: mine[i] for name, mine in pieces.items()} for i in range(len(arrays["nodes"]))]


def counters(dims: Any, most_split_points: int) -> Any:
    """Of a leaf: one a candidate and one a split point, in whole bytes of bits."""
    return ((dims + 1) * most_split_points + 7) // 8 * 8


def words(dims: Any, most_split_points: int) -> Any:
    """Of the bits of one point."""
    return (counters(dims, most_split_points) + 63) // 64


def measure(arrays: Arrays, n_trees: int, most_split_points: int) -> dict[str, Integers]:
    """How many of everything each tree has. Every array is as long as that, or it is an error."""
    lengths = {
        "tree": np.ones(n_trees, dtype=np.int64),
        "total": np.full(n_trees, len(TOTALS), dtype=np.int64),
    }
    check_lengths(arrays, lengths, "tree", "total")

    nodes = arrays["nodes"]
    good = (nodes % 2 == 1) & (nodes < 2**31)
    require(good.all(), "arrays", "nodes must be an odd number of nodes for each tree")
    lengths["node"] = nodes.astype(np.int64)
    lengths["leaf"] = (lengths["node"] + 1) // 2
    check_lengths(arrays, lengths, "node", "leaf")
    starts = np.cumsum(lengths["node"]) - lengths["node"]
    reach = np.where(arrays["child"] > 0, arrays["feature"].astype(np.int64) + 1, 0)
    lengths["column"] = np.maximum.reduceat(reach, starts)

    active = arrays["leaf_active"]
    require((active <= 1).all(), "arrays", "leaf_active must be 0 or 1")
    lengths["class of a leaf"] = sums(arrays["leaf_classes"], lengths["leaf"])
    lengths["active leaf"] = sums(active, lengths["leaf"])
    lengths["inactive leaf"] = lengths["leaf"] - lengths["active leaf"]
    check_lengths(arrays, lengths, "column", "class of a leaf", "active leaf", "inactive leaf")

    # As floats: the products of numbers that nobody has checked may be anything.
    dims, points = (arrays[name].astype(np.float64) for name in ("dims", "split_points"))
    multiples = {
        "candidate dimension": dims,
        "split point": points,
        "candidate split": dims * points,
    }
    for stream in STREAMS:
        counted, length = arrays[f"{stream}_counted"], arrays[f"{stream}_length"]
        require((counted <= 1).all(), "arrays", f"{stream}_counted must be 0 or 1")
        kept = np.where(counted, 0.0, length)
        multiples[f"{stream} point"] = kept
        multiples[f"{stream} word"] = kept * words(dims, most_split_points)
        multiples[f"{stream} count"] = np.where(counted, length, 0.0) * (dims + 1) * points
    for kind, times in multiples.items():
        lengths[kind] = sums(times, lengths["active leaf"])
    check_lengths(arrays, lengths, *multiples)
    return lengths


def check_lengths(arrays: Arrays, lengths: dict[str, Integers], *kinds: str) -> None:
    for name, (_, kind) in ARRAYS.items():
        if kind in kinds:
            expected, found = int(lengths[kind].sum()), len(arrays[name])
            require(
                expected == found,
                "arrays",
                f"{name} must hold {expected} numbers, one for each {kind}; it holds {found}",
            )


def sums(values: NDArray[Any], lengths: Integers) -> Integers:
    """The sum of each piece, the pieces being so long."""
    values = values.astype(np.float64)
    require(values.sum() < MOST_ELEMENTS, "arrays", "lengths are beyond all bounds")
    ends = np.concatenate([[0], np.cumsum(values.astype(np.int64))])
    last = np.cumsum(lengths)
    pieces: Integers = ends[last] - ends[last - lengths]
    return pieces
