"""Whether learning could have produced the memories and detectors of adaptive trees (R27)."""

from __future__ import annotations

import numpy as np

from plausible.errors import check_sum, every
from plausible.sums import largest_targets
from riparian.engine.pieces import largest, numbers, sums
from riparian.parameters.forests import MEMORIES

NOTHING = np.float32(2.0**-60)  # a memory holds 0, or no less
WIDTH = len(MEMORIES)
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
    if header.numbers:
        check_memories_of_numbers(trees, lengths)
    else:
        check_memories(trees, lengths)


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


def check_memories(trees, lengths):
    memory = trees.memory.reshape(-1, WIDTH)
    every(
        ((memory >= NOTHING) | (memory == 0)).all(axis=1) & np.isfinite(memory).all(axis=1),
        "memory must be 0, or finite and at least 2^-60",
    )
    classes = trees.memory_classes
    received = trees.totals.structure_points + trees.totals.estimation_points
    most = np.repeat(np.repeat(received, lengths.leaves), classes).astype(np.float64)
    every(
        (memory <= most[:, None] * (1 + ROUNDING)).all(axis=1),
        "memory must not hold more points than the tree has received",
    )
    for j in range(WIDTH):
        last = largest(np.ascontiguousarray(memory[:, j]), classes)
        every((last >= 1) | (classes == 0), "memory must hold the last point of its leaf")
    every((classes == 0) | (trees.leaf_points > 0), "memory_classes must be 0 without votes")


def check_memories_of_numbers(trees, lengths):
    """Check weights and means: no target is beyond B (R26)."""
    weight, total = (a.reshape(-1, WIDTH) for a in (trees.memory_weight, trees.memory_sum))
    voted = trees.leaf_points > 0
    every((weight[:, 0] > 0) <= voted, "memory_weight must be 0 without votes")
    some = weight[:, 0] > 0
    every((weight[some] >= 1).all(axis=1), "memory_weight must hold the last point of its leaf")
    received = trees.totals.structure_points + trees.totals.estimation_points
    most = np.repeat(received, lengths.leaves).astype(np.float64)[:, None] * (1 + ROUNDING)
    every((weight <= most).all(axis=1), "memory_weight must not hold more points than received")
    small = (np.abs(total) < 2.0**-1000) & (total != 0)
    every(~small.any(axis=1), "memory_sum must be 0, or at least 2^-1000")
    largest_target = largest_targets(trees)
    bound = np.repeat(largest_target, lengths.leaves)[:, None] * (1 + ROUNDING)
    every((np.abs(total) <= weight * bound).all(axis=1), "memory_sum must be that of targets")
    squared, number = trees.errors.reshape(-1, 2).T
    every(number <= 1000 * (1 + ROUNDING), "errors must fade")
    close = squared <= number * (2 * largest_target) ** 2 * (1 + ROUNDING)
    every(close, "errors must be those of targets")
