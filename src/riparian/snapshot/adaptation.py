"""Whether what trees of a stream that changes remember is what learning could have led to (R23)."""

from __future__ import annotations

import numpy as np

from riparian.engine.pieces import largest, numbers, sums
from riparian.engine.trees import Doubles, Longs
from riparian.parameters.forests import AdaptiveParameters
from riparian.snapshot.arrays import Integers, Lengths, Trees
from riparian.snapshot.errors import check_sum, every
from riparian.snapshot.header import Header

MOST_BUCKETS = 5  # of one size, in the window of a detector
MOST_ROWS = 61  # a bucket of row r holds 2^r errors
NOTHING = np.float32(2.0**-60)  # a memory holds 0, or no less
ROUNDING = 1e-3  # of a sum of very many float32, as a part of it
EXACT = 1e-9  # of float64, for every number that was added


def planted(trees: Trees, lengths: Lengths) -> Integers:
    """The point at which each tree was planted: where it replaced another, or 0."""
    count = lengths.arrays["replaced"]
    if not len(trees.replaced):
        return np.zeros(len(count), dtype=np.int64)
    last = trees.replaced[np.maximum(np.cumsum(count) - 1, 0)].astype(np.int64)
    return np.where(count > 0, last, 0)


def check_adaptation(trees: Trees, lengths: Lengths, header: Header) -> None:
    p = header.parameters
    assert isinstance(p, AdaptiveParameters)
    check_replacements(trees, lengths, header)
    check_window(trees, lengths, header)
    every(np.isfinite(trees.evidence) & (trees.evidence <= 0), "evidence must be finite, 0 at most")
    check_memories(trees, len(p.memories))


def check_replacements(trees: Trees, lengths: Lengths, header: Header) -> None:
    replaced = trees.replaced
    every(replaced < header.points, "replaced must be points that have been received")
    first = numbers(lengths.arrays["replaced"]) == 0
    every(
        (replaced[1:] > replaced[:-1]) | first[1:],
        "replaced must name later and later points of a tree",
    )


# -- the detector ------------------------------------------------------------------------------------


def check_window(trees: Trees, lengths: Lengths, header: Header) -> None:
    """Errors are from 0 to 1, but for a little rounding; the oldest are in the largest buckets."""
    buckets = lengths.arrays["bucket_row"]
    since = np.uint64(header.points) - planted(trees, lengths).astype(np.uint64)
    every(trees.window.received <= since, "window: more errors than points since it is there")
    row = trees.bucket_row.astype(np.int64)
    every(row <= MOST_ROWS, f"bucket_row must be at most {MOST_ROWS}")
    inside = numbers(buckets)[1:] > 0
    every((row[1:] <= row[:-1]) | ~inside, "bucket_row must not rise: the oldest are the largest")
    if len(row) > MOST_BUCKETS:
        far = numbers(buckets)[MOST_BUCKETS:] >= MOST_BUCKETS
        fewer = row[MOST_BUCKETS:] < row[:-MOST_BUCKETS]
        every(fewer | ~far, f"bucket_row: there are at most {MOST_BUCKETS} of a size")
    size = np.left_shift(np.uint64(1), row.astype(np.uint64))
    check_sum(size, "bucket_row: the errors of all windows")
    width = sums(size, buckets)
    every(width <= trees.window.received, "bucket_row: the window is wider than its errors")
    check_buckets(trees, size)
    check_sums(trees, size, buckets)


def check_buckets(trees: Trees, size: Longs) -> None:
    """Numbers from 0 to 1 vary most where all of them are 0 or 1."""
    n, total, variance = size.astype(np.float64), trees.bucket_total, trees.bucket_variance
    good = (total >= -EXACT * n) & (total <= (1 + EXACT) * n)  # NaN is not
    every(good, "bucket_total must be that of numbers from 0 to 1")
    most = total - total * total / n
    good = (variance >= -EXACT * n) & (variance <= most + EXACT * n)
    every(good, "bucket_variance must be that of numbers from 0 to 1")


def check_sums(trees: Trees, size: Longs, buckets: Integers) -> None:
    """Kept by adding and subtracting: what the buckets say, but for a little rounding."""
    n = size.astype(np.float64)
    tree = np.repeat(np.arange(len(buckets)), buckets)

    def per_tree(values: Doubles) -> Doubles:
        summed: Doubles = np.bincount(tree, weights=values, minlength=len(buckets)).astype(
            np.float64
        )
        return summed

    total = per_tree(trees.bucket_total)
    mean = total / np.maximum(per_tree(n), 1)
    between = n * (trees.bucket_total / n - mean[tree]) ** 2
    variance = per_tree(trees.bucket_variance + between)
    rounding = EXACT * (1 + trees.window.received.astype(np.float64))
    for name, stored, told in zip(
        ("total", "variance"), trees.window_sums.reshape(-1, 2).T, (total, variance), strict=True
    ):
        every(
            np.abs(stored - told) <= rounding, f"window_sums: the {name} is not that of the buckets"
        )


# -- what leaves remember ------------------------------------------------------------------------------


def check_memories(trees: Trees, width: int) -> None:
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


def check_looks(trees: Trees) -> None:
    """R20: a leaf that has not looked yet has had fewer arrivals than it looks at."""
    n = trees.structure_arrivals[trees.leaf_active > 0]
    n = np.minimum(n, np.uint64(2**31))
    most = np.maximum(n + np.uint64(1), (np.uint64(13) * n + np.uint64(9)) // np.uint64(10))
    look = trees.next_look
    every((look > n) & (look <= most), "next_look must be the next one after structure_arrivals")
    every(trees.dims == 0, "dims must be 0: no leaf settles in a forest that forgets")
