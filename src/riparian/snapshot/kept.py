"""The points that a forest keeps (R19): their arrays, and whether these are safe for the core.

A snapshot has the last W points of the stream, or all of them while they are fewer, in their order. The
lists of the leaves are not in it: the core routes the points down the trees again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riparian import _core
from riparian.engine.trees import Arrays, Field
from riparian.parameters.values import MAX_WEIGHT
from riparian.snapshot.arrays import Integers, narrow, typed
from riparian.snapshot.errors import every, require
from riparian.snapshot.header import DepthImages, Header

PREFIX = "kept_"

WEIGHT = Field("kept_weight", "float64", "kept point, or none")
OF_CLASSES = (Field("kept_label", "uint32", "kept point"), WEIGHT)
OF_NUMBERS = (Field("kept_label", "float64", "kept point"), WEIGHT)  # minus the first target (R26)
OF_ROWS = (Field("kept_rows", "float32", "kept point times columns"),)
OF_SPARSE_ROWS = (
    Field("kept_starts", "uint64", "kept point, and one more"),
    Field("kept_columns", "uint32", "kept entry"),
    Field("kept_entries", "float32", "kept entry"),
    Field("kept_widths", "uint32", "kept point"),
)
OF_PIXELS = (
    Field("kept_shapes", "uint32", "kept image times 2"),
    Field("kept_depths", "float32", "kept image times height times width"),
    Field("kept_pixels", "uint32", "kept point times 3"),
)
# T (R25), which predicting needs as well; of numbers, two more for σ² (R26); where answers follow the
# last target, the sums of R29, then the target and the answer of each of the last `lag` points.
OF_HEADS = (Field("trust", "float64", "head"),)
# The levels of the intervals that a forest for numbers learns (R28).
OF_INTERVALS = (Field("levels", "float64", "coverage"),)
# Of a part of a forest, whose T is older than its trees: the answers of the trees since then. Of
# numbers, a point has two more: its target, as bits, and the scale before it (R26).
OF_PARTS = (Field("judged", "uint64", "judged point times heads and one"),)
FIELDS = (*OF_CLASSES, *OF_ROWS, *OF_SPARSE_ROWS, *OF_PIXELS, *OF_HEADS, *OF_INTERVALS, *OF_PARTS)

LEAST_LEVEL = -(2.0**40)  # a level falls by less than .01 per point
MOST_PIXELS = 2**20  # rows or columns of an image, as in riparian.depth.pixels


def fields(header: Header) -> tuple[Field, ...]:
    """Return the arrays of its kept points, none if it keeps none or only predicts, and T (R25)."""
    heads = _of_trust(header)
    if header.eager and header.part is not None:
        heads += OF_PARTS
    if header.prediction_only or not header.kept_points:
        return heads
    of_all = OF_NUMBERS if header.numbers else OF_CLASSES
    if header.depth:
        return (*of_all, *OF_PIXELS, *heads)
    return (*of_all, *(OF_SPARSE_ROWS if header.sparse else OF_ROWS), *heads)


def _of_trust(header: Header) -> tuple[Field, ...]:
    """Return what the forest has learned of its answers."""
    return (
        *(OF_HEADS if header.eager else ()),
        *(OF_INTERVALS if header.parameters.intervals else ()),
    )


def join(kept: Arrays | None, header: Header) -> Arrays:
    """Return the arrays of the core, flat, each of the narrowest type that fits."""
    flat = {}
    for field in fields(header):
        assert kept is not None
        flat[field.name] = narrow(kept[field.name].ravel().astype(field.dtype, copy=False))
    return flat


def widen(stored: Arrays, header: Header) -> Arrays:
    """Return the arrays in their types, or raise an error for wrong names or types."""
    return typed(stored, {f.name: np.dtype(f.dtype) for f in fields(header)})


def check(kept: Arrays, header: Header) -> None:
    """Check their number, and that every label, weight, column and pixel is within bounds."""
    if header.eager:
        trust = kept["trust"]
        n_heads = len(header.parameters.heads)
        following = trust[header.trust_width :] if header.parameters.lag else trust[:0]
        trust = trust[: len(trust) - len(following)]
        _check_length("trust", trust, header.trust_width, "one per head")
        every(np.isfinite(trust), "trust must be finite")
        every(trust[:n_heads] <= 0, "trust must be at most 0")
        every(trust[n_heads:] >= 0, "trust: the errors and their number must be at least 0")
        if header.parameters.lag:
            _check_following(following, header)
        if header.part is not None:
            _check_judged(kept["judged"], header)
    n_coverages = len(header.parameters.intervals)
    if n_coverages:
        _check_length("levels", kept["levels"], n_coverages, "one per coverage")
        every(kept["levels"] <= 1, "levels must be 1 at most")
        every(kept["levels"] >= LEAST_LEVEL, "levels must be at least -2^40")
    if "kept_label" not in kept:  # it only predicts, or keeps none
        return
    n = min(header.kept_points, header.points)
    label, weight = kept["kept_label"], kept["kept_weight"]
    _check_length("kept_label", label, n, "one per kept point")
    if header.numbers:
        every(np.abs(label) <= 2.0**501, "kept_label must be a number of at most 2^501")
    else:
        every(label < header.arrived, "kept_label must be a class that has arrived")
    if len(weight):
        _check_length("kept_weight", weight, n, "none, or one per kept point")
        good = (weight > 0) & (weight <= MAX_WEIGHT)
        every(good, "kept_weight must be above 0 and at most 2^20")
    if header.depth:
        _check_pixels(kept, n)
    elif header.sparse:
        _check_sparse(kept, n, header.n_dims)
    else:
        _check_length("kept_rows", kept["kept_rows"], n * header.n_dims, "one per column and point")
        every(~np.isinf(kept["kept_rows"]), "kept_rows must not be infinite")


def for_core(kept: Arrays, header: Header) -> Arrays | None:
    """Return checked arrays in the form that the core takes."""
    if not header.kept_points:
        return None
    every_field = (*FIELDS, *(OF_NUMBERS if header.numbers else ()))
    nothing = {f.name: np.zeros(int(f.name == "kept_starts"), f.dtype) for f in every_field}
    arrays = {name: np.ascontiguousarray(array) for name, array in (nothing | kept).items()}
    heads = {f.name: arrays[f.name] for f in _of_trust(header)}
    if isinstance(header.space, DepthImages):
        shapes, pixels = arrays["kept_shapes"], arrays["kept_pixels"]
        return {
            **heads,
            **{name: arrays[name] for name in ("kept_label", "kept_weight", "kept_depths")},
            "kept_shapes": shapes.astype(np.int32).reshape(-1, 2),
            "kept_pixels": pixels.astype(np.int32).reshape(-1, 3),
            "kept_far": np.array([header.space.far], dtype=np.float32),
        }
    of_points = OF_SPARSE_ROWS if header.sparse else OF_ROWS
    mine = {f.name: arrays[f.name] for f in (*OF_NUMBERS, *of_points)}
    if not header.sparse:
        mine["kept_rows"] = mine["kept_rows"].reshape(len(arrays["kept_label"]), header.n_dims)
    return mine | heads


def _check_following(following: NDArray[np.float64], header: Header) -> None:
    """Check that answers are numbers: the sums are finite, and so are products of them (R29)."""
    n_sums = _core.following_sums
    sums, pairs = following[:n_sums], following[n_sums:]
    _check_length("trust: the sums of R29", sums, n_sums, "one per product")
    every(np.abs(sums) <= 2.0**1016, "trust: a sum of R29 must be at most 2^1016")
    even, few = len(pairs) % 2 == 0, len(pairs) <= 2 * min(header.parameters.lag, header.points)
    require(even and few, "arrays", "trust must hold a pair for each of the last `lag` points")
    every(np.abs(pairs) <= 2.0**502, "trust: a target or an answer must be at most 2^502")


def _check_judged(judged: NDArray[np.uint64], header: Header) -> None:
    heads, width = len(header.parameters.heads), header.trust_width + 1
    require(len(judged) % width == 0, "arrays", f"judged must hold {width} numbers per point")
    rows = judged.reshape(-1, width)
    require(len(rows) <= header.points, "arrays", "judged: more points than were received")
    shares, voters = rows[:, :heads], rows[:, heads : heads + 1]
    every(voters <= len(header.trees), "judged: more voters than trees")
    most = voters << np.uint64(28)
    if header.numbers:  # shares may be below zero
        good = np.abs(shares.astype(np.int64)) <= most.astype(np.int64)
        targets, scales = np.ascontiguousarray(rows[:, -2]).view(np.float64), rows[:, -1]
        every(np.abs(targets) <= 2.0**501, "judged: a target must be a number of at most 2^501")
        every(scales <= _core.scale_of(2.0**501), "judged: a scale must be at most that of 2^501")
    else:
        good = shares <= most
    every(good, "judged: a share must be at most 2^28")


def _check_length(name: str, array: NDArray[np.generic], expected: int, per: str) -> None:
    require(
        len(array) == expected,
        "arrays",
        f"{name} must hold {expected} numbers, {per}, got {len(array)}",
    )


def _check_sparse(kept: Arrays, n: int, n_dims: int) -> None:
    starts, columns, widths = kept["kept_starts"], kept["kept_columns"], kept["kept_widths"]
    _check_length("kept_starts", starts, n + 1, "one per kept point and one more")
    _check_length("kept_widths", widths, n, "one per kept point")
    entries = kept["kept_entries"]
    require(starts[0] == 0, "arrays", "kept_starts must begin with 0")
    every(starts[1:] >= starts[:-1], "kept_starts must not fall")
    for name, array in (("kept_columns", columns), ("kept_entries", entries)):
        _check_length(name, array, int(starts[-1]), "as the last of kept_starts says")
    every(~np.isinf(entries), "kept_entries must not be infinite")
    every((widths >= 1) & (widths <= n_dims), f"kept_widths must be from 1 to {n_dims}")
    every(widths[1:] >= widths[:-1], "kept_widths must not fall: columns only join")
    owner = np.repeat(np.arange(n), (starts[1:] - starts[:-1]).astype(np.int64))
    every(columns < widths[owner], "kept_columns must be below kept_widths")
    ascending = (columns[1:] > columns[:-1]) | (owner[1:] != owner[:-1])
    every(ascending, "kept_columns must ascend in a point")


def _check_pixels(kept: Arrays, n: int) -> None:
    shapes, pixels, depths = kept["kept_shapes"], kept["kept_pixels"], kept["kept_depths"]
    _check_length("kept_pixels", pixels, 3 * n, "three per kept point")
    require(len(shapes) % 2 == 0, "arrays", "kept_shapes must hold height and width of each image")
    every((shapes >= 1) & (shapes <= MOST_PIXELS), "kept_shapes must be from 1 to 2^20")
    heights, widths = shapes.astype(np.int64).reshape(-1, 2).T
    # As floats: sums of unchecked numbers may be anything.
    asked = float((heights.astype(np.float64) * widths).sum())
    require(
        asked == len(depths),
        "arrays",
        f"kept_depths must hold {asked:.15g} numbers, one per pixel, got {len(depths)}",
    )
    every((depths > 0) & np.isfinite(depths), "kept_depths must be positive and finite")
    image, row, column = pixels.astype(np.int64).reshape(-1, 3).T
    every(image < len(heights), "kept_pixels must be in an image of kept_shapes")
    every(row < heights[image], "kept_pixels must be in a row of their image")
    every(column < widths[image], "kept_pixels must be in a column of their image")
    _check_images(image, len(heights))


def _check_images(image: Integers, n_images: int) -> None:
    """Check that every image has a pixel, and that images are in the order of their first pixels."""
    so_far = np.concatenate([[-1], np.maximum.accumulate(image)])[:-1]
    every(image <= so_far + 1, "kept_pixels must name images in the order of their first pixels")
    used = int(image.max(initial=-1)) + 1
    require(used == n_images, "arrays", f"kept_shapes must hold {used} images, got {n_images}")
