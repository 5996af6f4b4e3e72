"""The arrays of the trees in a snapshot: their names, types and lengths.

They are those of the core (`riparian.engine.trees`), tree after tree. The list of the core says what
each entry of an array stands for, which forests have it, and since which format. Only the number of
nodes of each tree is stored in addition; every other length follows from the arrays before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian import _core
from riparian.engine.trees import (
    FIELDS,
    Arrays,
    Bag,
    Field,
    Growth,
    Totals,
    Tree,
    TreeArrays,
    Window,
)
from riparian.snapshot.errors import SnapshotError, require
from riparian.snapshot.header import FORMAT, Header

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Trees = TreeArrays[NDArray[np.uint64]]

NODES = Field("nodes", "uint64", "tree")  # the number of nodes of each tree

# Arrays of the core that a snapshot does not store: they follow from the links between the nodes.
DERIVED = ("leaf_node", "leaf_depth")

SAVED = {f.name: f for f in (NODES, *FIELDS) if f.name not in DERIVED}
FEATURES = [name for name, f in SAVED.items() if f.dtype == "feature"]
DTYPES = {
    name: np.dtype("uint32" if f.dtype == "feature" else f.dtype) for name, f in SAVED.items()
}

# What one element stands for, and the factors of its number where there are several.
PER = {name: f.per.split(" times ") for name, f in SAVED.items()}

SEVERAL = {
    "totals": len(Totals._fields),
    "growth": len(Growth._fields),
    "window": len(Window._fields),
    "window_sums": 2,
    "errors": 2,
    "bag": len(Bag._fields),
    "eager": len(_core.tree_eager),
    "scores": len(_core.head_sizes),
}
OFFSETS = 4  # numbers of a feature of depth images

MOST_ELEMENTS = 2.0**53  # of an array; integers up to here are exact as floats


def names(header: Header, format_: int = FORMAT) -> list[str]:
    """Return the names of the arrays of the trees in a snapshot of a format, in their order."""
    kinds = _kinds(header)
    return [name for name, f in SAVED.items() if f.since <= format_ and _is_in(f, header, kinds)]


def _is_in(field: Field, header: Header, kinds: set[str]) -> bool:
    of = set(filter(None, field.of.split(", ")))
    # In a snapshot that only predicts, every leaf is inactive, and no leaf will ever leave the heap.
    learning = "learning" in of or PER[field.name][0] in ("active leaf", "inactive leaf")
    return of - {"learning"} <= kinds and not (learning and header.prediction_only)


def _kinds(header: Header) -> set[str]:
    """Return the words by which the list of the core describes a forest."""
    kinds = {"one stream" if header.one_stream else "two streams"}
    kinds.add("numbers" if header.numbers else "classes")
    if header.kept_points:
        kinds |= {"kept points", "settling"}
    if header.eager:
        kinds.add("eager")
    return kinds | {"change"} if header.adaptive else kinds


def join(trees: list[Arrays], header: Header) -> Arrays:
    """Return the arrays of all trees, one after the other, each of the narrowest type that fits."""
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
    """Return the arrays in the types of the core, or raise an error for wrong names or types."""
    dtypes = {name: DTYPES[name] for name in names(header, header.format)}
    if header.depth:
        dtypes |= {name: np.dtype("float32") for name in FEATURES if name in dtypes}
    arrays = typed(stored, dtypes)
    if header.depth:
        arrays |= {name: _offsets(name, arrays[name]) for name in FEATURES if name in dtypes}
    return arrays


def typed(stored: Arrays, dtypes: Mapping[str, np.dtype[Any]]) -> Arrays:
    """Return the arrays in these types, or raise an error if one is missing or unknown."""
    for wrong in sorted(dtypes.keys() ^ stored.keys()):
        problem = "missing" if wrong in dtypes else "unknown"
        raise SnapshotError("arrays", f"the array {wrong!r} is {problem}")
    for name, array in stored.items():
        dtype = dtypes[name]
        fits = array.dtype.kind == dtype.kind and array.dtype.itemsize <= dtype.itemsize
        require(fits, "arrays", f"{name} must be of type {dtype}, got {array.dtype}")
    return {name: array.astype(dtypes[name], copy=False) for name, array in stored.items()}


def _offsets(name: str, array: NDArray[Any]) -> NDArray[Any]:
    whole = len(array) % OFFSETS == 0
    require(whole, "arrays", f"{name} must hold four numbers per feature, got {len(array)} in all")
    return array.reshape(-1, OFFSETS)


@dataclass(frozen=True)
class Lengths:
    """The numbers of nodes, leaves and array elements of each tree."""

    nodes: Integers
    leaves: Integers
    active: Integers  # leaves
    arrays: dict[str, Integers]  # the elements of each array


def split(arrays: Arrays, lengths: Lengths) -> list[Arrays]:
    """Return the arrays of each tree."""
    every = {**lengths.arrays, **dict.fromkeys(DERIVED, lengths.leaves)}
    pieces = {
        name: np.split(array, np.cumsum(every[name])[:-1])
        for name, array in arrays.items()
        if name != NODES.name
    }
    return [{name: mine[i] for name, mine in pieces.items()} for i in range(len(lengths.nodes))]


def complete(stored: Arrays, header: Header) -> tuple[Arrays, Lengths]:
    """Return all arrays of the core, zeros where a snapshot has none, and their lengths by tree.

    A stored array whose length does not agree with the others is an error.
    """
    measuring = _Measuring(stored, header)
    measuring.measure()
    nodes, leaves, active = (measuring.owners[name] for name in ("node", "leaf", "active leaf"))
    return measuring.arrays, Lengths(nodes, leaves, active, measuring.lengths)


class _Measuring:
    """Takes the arrays in turn, as their lengths become known."""

    def __init__(self, stored: Arrays, header: Header) -> None:
        self.stored = stored
        self.header = header
        self.owners: dict[str, Integers] = {"tree": np.ones(len(header.trees), dtype=np.int64)}
        self.arrays: Arrays = {}
        self.lengths: dict[str, Integers] = {}

    def measure(self) -> None:
        self._take()
        nodes = self.arrays[NODES.name]
        good = (nodes % 2 == 1) & (nodes < 2**31)
        require(good.all(), "arrays", "nodes must be an odd number of nodes for each tree")
        leaves = (nodes.astype(np.int64) + 1) // 2
        self.owners |= {"node": nodes.astype(np.int64), "leaf": leaves, "inner node": leaves - 1}
        self._take()
        self._check_flags("leaf_active")
        active = piece_sums(self.arrays["leaf_active"], self.owners["leaf"])
        self.owners |= {
            "column": self._columns(),
            "active leaf": active,
            "inactive leaf": self.owners["leaf"] - active,
        }
        self._take()
        self._check_flags("structure_counted", "estimation_counted")
        self._take(products=True)

    def _take(self, products: bool = False) -> None:
        """Take every array whose length is known, stored ones first: the others follow from them."""
        known = {
            name: self._length(name)
            for name, (owner, *factors) in PER.items()
            if name not in self.lengths and owner in self.owners and bool(factors) == products
        }
        for name in sorted(known, key=lambda name: name not in self.stored):
            length = int(known[name].sum())
            if name in self.stored:
                self.arrays[name] = self._checked(name, length)
            else:
                self.arrays[name] = self._zeros(name, length)
        self.lengths |= known

    def _checked(self, name: str, expected: int) -> NDArray[Any]:
        array, how_many = self.stored[name], SEVERAL.get(name, "one")
        require(
            len(array) == expected,
            "arrays",
            f"{name} must hold {expected} numbers, {how_many} per {SAVED[name].per}, "
            f"got {len(array)}",
        )
        return array

    def _is_of_others(self, name: str) -> bool:
        """Return whether only other forests have the array, which is empty then."""
        of, header = SAVED[name].of, self.header
        return "numbers" in of and not (header.numbers and (header.adaptive or "change" not in of))

    def _zeros(self, name: str, length: int) -> NDArray[Any]:
        if name in FEATURES and self.header.depth:
            return np.zeros((length, OFFSETS), dtype=np.float32)
        return np.zeros(length, dtype=DTYPES[name])

    def _check_flags(self, *flags: str) -> None:
        for name in flags:
            require((self.arrays[name] <= 1).all(), "arrays", f"{name} must be 0 or 1")

    def _columns(self) -> Integers:
        """Return the number of columns of each tree, up to the last that has a split."""
        nodes = self.owners["node"]
        if self.header.depth:
            return np.zeros_like(nodes)
        is_leaf = self.arrays["child"] == 0
        reach = np.where(is_leaf, 0, self.arrays["feature"].astype(np.int64) + 1)
        return np.asarray(np.maximum.reduceat(reach, np.cumsum(nodes) - nodes), dtype=np.int64)

    def _length(self, name: str) -> Integers:
        """Return the length of an array in each tree; its pieces may vary in length."""
        owner, *factors = PER[name]
        if self._is_of_others(name):
            return np.zeros_like(self.owners[owner], shape=len(self.owners["tree"]))
        if not factors:
            return self.owners[owner] * SEVERAL.get(name, 1)
        # As floats: the products of unchecked numbers may be anything.
        owners = np.ones(int(self.owners[owner].sum()))
        pieces = np.broadcast_arrays(owners, *(self._factor(f, name) for f in factors))
        return piece_sums(np.prod(pieces, axis=0), self.owners[owner])

    def _factor(self, factor: str, name: str) -> Floats:
        """Return a factor of the length of an array, owner by owner, by its name in the core's list."""
        match factor:
            case "points" | "rows":
                stream = name.partition("_")[0]
                counted = self.arrays[f"{stream}_counted"] == (factor == "rows")
                return np.where(counted, self.arrays[f"{stream}_length"], 0.0)
            case "words":
                return shapes(self.arrays["dims"], self.header.parameters.split_points)[1]
            case "(dims + 1)":
                return self.arrays["dims"] + 1.0
            case "memories":
                return np.asarray(float(len(_core.memory_factors)))
            case "buckets" | "replacements":
                window = Window(*self.arrays["window"].reshape(-1, len(Window._fields)).T)
                return np.asarray(getattr(window, factor), dtype=np.float64)
            case _:
                return self.arrays[factor].astype(np.float64)


def shapes(dims: NDArray[Any], most_split_points: int) -> tuple[Floats, Floats]:
    """Return the counters of leaves with these dimensions, and the words of the bits of a point."""
    several, which = np.unique(dims, return_inverse=True)
    shape = [_core.candidate_shape(int(each), most_split_points) for each in several]
    counters, words = np.array(shape, dtype=np.float64).reshape(-1, 2).T
    return counters[which], words[which]


def piece_sums(values: NDArray[Any], lengths: Integers) -> Integers:
    """Return the sum of each piece of unchecked numbers."""
    values = values.astype(np.float64)
    require(values.sum() < MOST_ELEMENTS, "arrays", "array lengths are implausibly large")
    ends = np.concatenate([[0], np.cumsum(values.astype(np.int64))])
    last = np.cumsum(lengths)
    pieces: Integers = ends[last] - ends[last - lengths]
    return pieces
