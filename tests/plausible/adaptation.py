"""Whether learning could have produced the memories and detectors of adaptive trees (R23)."""

from __future__ import annotations

import numpy as np

from plausible.errors import check_sum, every
from riparian.engine.pieces import largest, numbers, sums

NOTHING = np.float32(2.0**-60)  # a memory holds 0, or no less
ROUNDING = 1e-3  # of a sum of very many float32, as a part of it
EXACT = 1e-9  # of float64, for every number that was added


def planted(trees, lengths):
    """Return the first point of each tree: the one at which it replaced another, or 0."""
    count = lengths.arrays["replaced"]
    if not len(trees.replaced):
        return np.zeros(len(count), dtype=np.int64)
    last = trees.replaced[np.maximum(np.cumsum(count) - 1, 0)].astype(np.int64)
    return np.where(count > 0, last, 0)


def check_adaptation(trees, lengths, header):
    check_replacements(trees, lengths, header)
    check_window(trees, lengths, header)
    check_memories(trees, header.memories)


def check_replacements(trees, lengths, header):
    replaced = trees.replaced
    every(replaced < header.points, "replaced must be points that have been received")
    first = numbers(lengths.arrays["replaced"]) == 0
    every(
        (replaced[1:] > replaced[:-1]) | first[1:],
        "replaced must name later and later points of a tree",
    )


# -- the detector ------------------------------------------------------------------------------------


def check_window(trees, lengths, header):
    """Check that errors are from 0 to 1, up to rounding, and the oldest are in the largest buckets."""
    buckets = lengths.arrays["bucket_row"]
    since = np.uint64(header.points) - planted(trees, lengths).astype(np.uint64)
    every(trees.window.received <= since, "window: more errors than points since it is there")
    size = np.left_shift(np.uint64(1), trees.bucket_row.astype(np.uint64))
    check_sum(size, "bucket_row: the errors of all windows")
    width = sums(size, buckets)
    every(width <= trees.window.received, "bucket_row: the window is wider than its errors")
    check_buckets(trees, size)
    check_sums(trees, size, buckets)


def check_buckets(trees, size):
    """Check variances: numbers from 0 to 1 vary most if all of them are 0 or 1."""
    n, total, variance = size.astype(np.float64), trees.bucket_total, trees.bucket_variance
    good = (total >= -EXACT * n) & (total <= (1 + EXACT) * n)  # NaN is not
    every(good, "bucket_total must be that of numbers from 0 to 1")
    most = total - total * total / n
    good = (variance >= -EXACT * n) & (variance <= most + EXACT * n)
    every(good, "bucket_variance must be that of numbers from 0 to 1")


def check_sums(trees, size, buckets):
    """Check the sums of the window, which must be those of the buckets up to rounding."""
    n = size.astype(np.float64)
    tree = np.repeat(np.arange(len(buckets)), buckets)

    def per_tree(values):
        return np.bincount(tree, weights=values, minlength=len(buckets))

    total = per_tree(trees.bucket_total)
    mean = total / np.maximum(per_tree(n), 1)
    between = n * (trees.bucket_total / n - mean[tree]) ** 2
    variance = per_tree(trees.bucket_variance + between)
    rounding = EXACT * (1 + trees.window.received.astype(np.float64))
    kept = trees.window_sums.reshape(-1, 2).T
    for name, stored, summed in zip(("total", "variance"), kept, (total, variance), strict=True):
        close = np.abs(stored - summed) <= rounding
        every(close, f"window_sums: the {name} is not that of the buckets")


# -- what leaves remember ------------------------------------------------------------------------------


def check_memories(trees, width):
    memory = trees.memory.reshape(-1, width)
    every(
        ((memory >= NOTHING) | (memory == 0)).all(axis=1) & np.isfinite(memory).all(axis=1),
        "memory must be 0, or finite and at least 2^-60",
    )
    most = trees.histogram.astype(np.float64) * (1 + ROUNDING)
    every((memory <= most[:, None]).all(axis=1), "memory must not hold more than the histogram")
    points = trees.leaf_points
    holds = np.ones(len(points), dtype=bool)
    for j in range(width):
        last = largest(np.ascontiguousarray(memory[:, j]), trees.leaf_classes)
        holds &= (last >= 1) | (points == 0)
    every(holds, "memory must hold the last point of its leaf")
    check_sum(trees.structure_arrivals, "structure_arrivals")
    every(
        trees.estimation_arrivals <= points,
        "estimation_arrivals must not be more than the points of the leaf",
    )
    check_looks(trees)


def check_looks(trees):
    """Check the next look of each leaf against its arrivals (R20)."""
    n = trees.structure_arrivals[trees.leaf_active > 0]
    n = np.minimum(n, np.uint64(2**31))
    most = np.maximum(n + np.uint64(1), (np.uint64(13) * n + np.uint64(9)) // np.uint64(10))
    look = trees.next_look
    every((look > n) & (look <= most), "next_look must be the next one after structure_arrivals")
