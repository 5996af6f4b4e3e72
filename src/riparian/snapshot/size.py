"""How much memory a snapshot needs, computed before any of it is taken.

A few bytes can need a lot: a leaf has a counter for each of m split points, even for those that do not
exist yet. So what the core will hold is added up first.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian import _core
from riparian.engine.rules import TREE_BYTES
from riparian.engine.trees import Arrays, StreamCounts, TreeArrays
from riparian.parameters.forests import LINK_BYTES, PAIR_BYTES
from riparian.snapshot.arrays import DTYPES, OFFSETS, Trees, shapes
from riparian.snapshot.errors import require
from riparian.snapshot.header import Header
from riparian.snapshot.kept import FIELDS, OF_NUMBERS

SIZES = _core.sizes
TREE = SIZES["tree"] + 2 * 4096  # with the first page of each of its pools
LEAF = SIZES["leaf"] + 2 * SIZES["node"] + SIZES["waiting_leaf"]
ROW_OF_POINT = 40  # at most this many bytes of a kept point: weight, end and width of a sparse row

WIDTHS = {name: dtype.itemsize for name, dtype in DTYPES.items()}
WIDTHS |= {field.name: np.dtype(field.dtype).itemsize for field in (*FIELDS, *OF_NUMBERS)}

NUMBERS = 24  # bytes of a counter of numbers: weight, sum and sum of squares (R26)

POOL = 1.25  # a factor for unused space in the blocks of a pool and at the ends of arrays

# Of the header: its text is held several times, in up to four bytes per character.
TEXT_FACTOR, VALUE_BYTES = 12, 128

UNKNOWN_MEMORY = 2**33  # assumed if the machine does not report its memory


def default_max_bytes() -> int:
    """Return half of the memory of the machine."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        memory = UNKNOWN_MEMORY
    return memory // 2


def check_header_size(data: bytes, max_bytes: int) -> None:
    """Check the size of the header once it is read: an empty list takes 80 bytes for its three."""
    end = 8 + int.from_bytes(data[:8], "little")
    values = sum(data.count(mark, 8, end) for mark in (b",", b"[", b"{"))
    text = min(len(data), end)
    _check(float(TEXT_FACTOR * text + VALUE_BYTES * values), max_bytes)


def check_arrays_size(stored: Arrays, max_bytes: int) -> None:
    """Check the size of the arrays: as stored, as the checks need them, and as the core gets them."""
    held = sum(array.nbytes for array in stored.values())
    wide = sum(len(array) * WIDTHS[name] for name, array in stored.items() if name in WIDTHS)
    _check(held + 2 * wide, max_bytes)


def check_core_size(arrays: Arrays, kept: Arrays, header: Header, max_bytes: int) -> None:
    wide = sum(array.nbytes for array in (*arrays.values(), *kept.values()))
    held = core_bytes(TreeArrays.end_to_end(arrays), header) + kept_bytes(kept, arrays, header)
    _check(2 * wide + held, max_bytes)


def check_budget(header: Header) -> None:
    """Raise an error if a budget is too small for empty trees."""
    n_trees, given = header.parameters.n_trees, header.parameters.max_memory
    least = n_trees * TREE_BYTES + 1
    require(
        given is None or given >= least,
        "size",
        f"max_memory must be at least {least} bytes for {n_trees} trees, got {given}",
    )


def core_bytes(trees: Trees, header: Header) -> float:
    """Estimate what the core will hold, in floats, which do not overflow."""
    m = header.parameters.split_points
    dims = trees.dims.astype(np.float64)
    each, words = shapes(trees.dims, m)
    feature = 4.0 * (OFFSETS if header.depth else 1)
    fixed = SIZES["candidates"] + 8 * m + 4 * m * dims + np.maximum(feature * dims, 64)
    sums = trees.summed * each * (8 + _width_of_sums(trees.structure))
    held = fixed + each * _width_of_sums(trees.estimation) + sums
    for counts in (trees.structure, trees.estimation):
        length = counts.length.astype(np.float64)
        room = np.exp2(np.ceil(np.log2(np.maximum(length, 8))))  # points, doubled when full
        rows = length * each * _width(counts.count)
        held += np.where(counts.counted, rows, room * (8 * words + 4))
    if header.numbers:
        held += 2 * NUMBERS * each
    # While a leaf is loaded, its kept points are counted temporarily, in a row for every class.
    moment = each.max(initial=0.0) * max(1, header.arrived)
    small = len(trees.histogram) * _width(trees.histogram) + float(len(trees.leaf_born) * LEAF)
    small += trees.memory.nbytes + _detector_bytes(trees)
    if header.eager:
        inner = trees.inner_histogram
        pairs = (len(trees.votes) + len(header.trees)) / 2  # of siblings; a root is alone
        small += len(inner) * _width(inner) + pairs * SIZES["siblings"]
    roots = len(header.trees) * (TREE + 16.0 * m)
    return float(POOL * (held.sum() + small) + roots + moment)


def _detector_bytes(trees: Trees) -> float:
    """Return the bytes of rows of buckets, up to the largest and one more, and of replacements."""
    rows = 2.0 + float(trees.bucket_row.max(initial=0))
    return len(trees.window.received) * 2 * rows * SIZES["detector_row"] + 2 * trees.replaced.nbytes


def kept_bytes(kept: Arrays, arrays: Arrays, header: Header) -> float:
    """Estimate what the core will hold for the kept points and their lists."""
    if not header.kept_points:
        return 0.0
    n, per_segment = len(kept.get("kept_label", ())), _core.segment_points
    segments = n / per_segment + 2.0  # a segment of points is made at once
    points = segments * (SIZES["segment"] + per_segment * ROW_OF_POINT)
    points += (
        2.0 * sum(array.nbytes for array in kept.values()) + PAIR_BYTES * header.parameters.lag
    )
    points += len(kept.get("kept_shapes", ())) * SIZES["kept_image"]
    dense = not (header.depth or header.sparse or n == 0)
    rows = segments * per_segment * 4.0 * header.n_dims if dense else 0.0
    links = len(header.trees) * (n + 64.0) * LINK_BYTES
    listed = len(arrays["leaf_born"]) * SIZES["listed_leaf"] * POOL
    return points + rows + links + listed


def _width_of_sums(counts: StreamCounts) -> int:
    """Return the bytes of a sum over the rows of a leaf, or over the points that it keeps."""
    most = int(counts.length.max(initial=0)) * max(1, int(counts.count.max(initial=0)))
    return np.min_scalar_type(min(most, 2**64 - 1)).itemsize


def _width(values: NDArray[Any]) -> int:
    return np.min_scalar_type(int(values.max(initial=0))).itemsize


def _check(needed: float, max_bytes: int) -> None:
    require(
        needed <= max_bytes,
        "size",
        f"the snapshot needs about {needed:.3g} bytes of memory, more than "
        f"max_bytes={max_bytes}; if you trust it, pass a larger max_bytes",
    )
