"""How much memory a snapshot asks for, known before any of it is taken.

A few bytes can ask for a lot: a leaf has a counter for each of m split points, whether they are there
yet or not. So what the core will hold is added up first.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.engine.rules import TREE_BYTES
from riparian.engine.trees import Arrays, TreeArrays
from riparian.parameters.forests import LINK_BYTES
from riparian.snapshot.arrays import DTYPES, Trees, counters, words
from riparian.snapshot.errors import require
from riparian.snapshot.header import Header
from riparian.snapshot.kept import FIELDS

# Rough sizes in bytes of what the core holds once each; see core/tree.hpp and core/leaf.hpp.
TREE, NODE, LEAF, CANDIDATES = 8192, 16, 160, 256

# And of kept points; see core/kept/ and core/rules/keeping.hpp.
SEGMENT, KEPT_POINT, LISTED_LEAF = 1024, 128, 128

# And of the window of a detector, per sum of it; see core/drift/adwin.hpp.
DETECTOR = 4096

WIDTHS = {name: dtype.itemsize for name, dtype in DTYPES.items()}
WIDTHS |= {field.name: np.dtype(field.dtype).itemsize for field in FIELDS}

POOL = 1.25  # what a pool may leave over in a block

UNKNOWN_MEMORY = 2**33  # taken as the machine's where it does not tell


def default_max_bytes() -> int:
    """Half of the memory of the machine."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        memory = UNKNOWN_MEMORY
    return memory // 2


def check_arrays_size(stored: Arrays, max_bytes: int) -> None:
    """The arrays as they are, as the checks need them, and as they go to the core."""
    held = sum(array.nbytes for array in stored.values())
    wide = sum(len(array) * WIDTHS[name] for name, array in stored.items() if name in WIDTHS)
    _check(held + 2 * wide, max_bytes)


def check_core_size(arrays: Arrays, kept: Arrays, header: Header, max_bytes: int) -> None:
    wide = sum(array.nbytes for array in (*arrays.values(), *kept.values()))
    held = core_bytes(TreeArrays.end_to_end(arrays), header) + kept_bytes(kept, arrays, header)
    _check(2 * wide + held, max_bytes)


def check_budget(header: Header) -> None:
    """A budget holds the trees themselves, and something in them."""
    n_trees, given = header.parameters.n_trees, header.max_memory
    least = n_trees * TREE_BYTES + 1
    require(
        given is None or given >= least,
        "size",
        f"max_memory must be at least {least} bytes for {n_trees} trees, is {given}",
    )


def core_bytes(trees: Trees, header: Header) -> float:
    """About what the core will hold; as floats, which do not overflow."""
    m = header.parameters.split_points
    dims = trees.dims.astype(np.float64)
    each = counters(dims, m)  # of one row
    fixed = CANDIDATES + 8 * m + 4 * m * dims + np.maximum(4 * dims, 64)
    totals = each * _width(trees.received)
    sums = trees.summed * each * (8 + _width(trees.structure.count))
    held = fixed + totals + sums
    streams = [trees.structure] if header.one_stream else [trees.structure, trees.estimation]
    for counts in streams:
        length = counts.length.astype(np.float64)
        room = np.exp2(np.ceil(np.log2(np.maximum(length, 8))))  # points, doubled when full
        kept = room * (8 * words(dims, m) + 4)
        rows = length * each * _width(counts.count)
        held += np.where(counts.counted, rows, kept)
    # While it comes back, kept points are counted for a moment, in a row for every class.
    moment = each.max(initial=0.0) * max(1, header.arrived)
    histogram = len(trees.histogram) * _width(trees.histogram)
    small = len(trees.child) * NODE + len(trees.leaf_born) * LEAF + histogram
    small += trees.memory.nbytes + len(trees.window_sums) * DETECTOR
    roots = len(header.trees) * (TREE + 16.0 * m)
    return float(POOL * (held.sum() + small) + roots + moment)


def kept_bytes(kept: Arrays, arrays: Arrays, header: Header) -> float:
    """About what the core will hold of the kept points, and of the lists of them."""
    if not header.kept_points:
        return 0.0
    n = len(kept.get("kept_label", ()))
    room = n + 2.0 * SEGMENT  # a segment of points is made at once
    points = room * KEPT_POINT + 2.0 * sum(array.nbytes for array in kept.values())
    rows = 0.0 if header.depth or header.sparse or n == 0 else room * 4.0 * header.n_dims
    links = len(header.trees) * (n + 64.0) * LINK_BYTES
    return points + rows + links + len(arrays["leaf_born"]) * float(LISTED_LEAF)


def _width(values: NDArray[Any]) -> int:
    return np.min_scalar_type(int(values.max(initial=0))).itemsize


def _check(needed: float, max_bytes: int) -> None:
    require(
        needed <= max_bytes,
        "size",
        f"the snapshot asks for about {needed:.3g} bytes of memory, more than "
        f"max_bytes={max_bytes}; if you trust it, give more",
    )
