"""Snapshots made by hand, small enough to be checked by eye, and changes to real ones."""

from __future__ import annotations

import functools

import numpy as np

from snapshots import DEPTH_KINDS, KINDS, NUMBER_KINDS, learned, opened

ALL_KINDS = KINDS | DEPTH_KINDS | NUMBER_KINDS

ALL, LATER, WEIGHTS = "all points kept", "young and settled leaves", "points kept, weights"
SPARSE, DEPTH, SAFFARI = "sparse points kept", "depth, pixels kept", "Saffari, trees replaced"

NAN = float("nan")
HUGE = 2**64 - 1


@functools.cache
def snapshot(kind="default", prediction_only=False):
    return learned(**ALL_KINDS[kind]).to_bytes(prediction_only=prediction_only)


def hand_made():
    """A header and arrays of one tree with two leaves, small enough to be checked by eye.

    Two classes have arrived, m is 2. The first leaf keeps its points: two candidate dimensions, two
    split points, one of four thresholds missing; a point has the bits d0j0, d0j1, d1j0, d1j1, and
    then one for each split point it has met. The second leaf has one candidate split and counts.
    """
    header, _ = opened(snapshot("no points"))
    header["engine"].update(n_trees=1, split_points=2)
    header["labels"].update(kind="int", dtype="<i8", classes=[0, 1], arrived=[0, 1])
    header.update(n_features=2, points=20)
    return header, {
        "nodes": [3],
        "totals": [10, 10, 0, 1, 0, 2, 0, 0, 0, 0],
        "feature": [1, 0, 0],
        "threshold": [0.5, 0, 0],
        "child": [1, 0, 0],
        "importance": [0, 5],
        "leaf_born": [4, 4],
        "leaf_classes": [2, 2],
        "histogram": [3, 1, 0, 4],
        "leaf_active": [1, 1],
        "key_over": [],
        "key_under": [],
        "attempt": [0, 0],
        "dims": [2, 1],
        "split_points": [2, 1],
        "received": [3, 4],
        "planned": [600, 500],
        "summed": [0, 1],
        "candidate_dims": [0, 1, 1],
        "split_point_born": [6, 7, 5],
        "split_threshold": [0.1, NAN, 0.3, 0.4, 0.7],
        "structure_counted": [0, 1],
        "structure_length": [3, 2],
        "structure_label": [0, 1, 0],
        "structure_bits": [0b01_00_01, 0b11_01_00, 0b11_10_00],
        "structure_count": [1, 2, 0, 3],
        "estimation_counted": [0, 1],
        "estimation_length": [2, 2],
        "estimation_label": [0, 1],
        "estimation_bits": [0b01_00_01, 0b11_00_00],
        "estimation_count": [0, 0, 2, 4],
    }


def with_a_fringe_of_one():
    """The same with the second leaf inactive: ŝ is 0 of 6."""
    header, arrays = hand_made()
    header["engine"]["fringe_size"] = 1
    arrays.update(leaf_active=[1, 0], key_over=[1], key_under=[5])
    for name in ("attempt", "dims", "split_points", "received", "planned", "summed",
                 "structure_counted", "structure_length", "structure_count", "candidate_dims",
                 "estimation_counted", "estimation_length", "estimation_count", "split_point_born",
                 "split_threshold"):  # fmt: skip
        several = {"structure_count": 4, "estimation_count": 4}.get(name, 1)
        arrays[name] = arrays[name][:-several]
    return header, arrays


def of_three_splits():
    """Seven nodes, for prediction only; α is always 1."""
    header, _ = hand_made()
    header["prediction_only"] = True
    header["engine"]["alpha"] = {"kind": "Geometric", "start": 1.0, "rate": 1.0}
    return header, {
        "nodes": [7],
        "totals": [10, 10, 0, 3, 0, 2, 0, 0, 0, 0],
        "feature": [1, 0, 0, 0, 0, 0, 0],
        "threshold": [0.5, 0.5, 0.5, 0, 0, 0, 0],
        "child": [1, 3, 5, 0, 0, 0, 0],
        "importance": [0, 5],
        "leaf_born": [0, 0, 0, 0],
        "leaf_classes": [1, 1, 2, 2],
        "histogram": [1, 1, 1, 1, 0, 4],
    }


def adaptive():
    """One honest tree that has replaced another at point 12, with a window of nine errors.

    It has turned at point 16, with both of its leaves; they have the points that came since in memory.
    """
    header, _ = opened(snapshot("adaptive, no points"))
    header["engine"].update(n_trees=1, kept_points=4)
    header["labels"].update(kind="int", dtype="<i8", classes=[0, 1], arrived=[0, 1])
    header.update(n_features=2, points=40)
    return header, {
        "nodes": [3],
        "totals": [14, 14, 0, 1, 0, 2, 0, 0, 0, 0],
        "growth": [16, 0, 20],
        "window": [28, 3, 2],
        "window_sums": [2.5, 0.75 + 13 / 72],  # between the buckets, 13/72
        "bucket_row": [2, 2, 0],
        "bucket_total": [0.5, 1.5, 0.5],
        "bucket_variance": [0.25, 0.5, 0.0],
        "replaced": [5, 12],
        "eager": [2, 1, 16, 3],
        "scores": [-1.0, -2.0, -2.0, -2.0, -2.0],
        "feature": [1, 0, 0],
        "threshold": [0.5, 0, 0],
        "child": [1, 0, 0],
        "importance": [0, 5],
        "votes": [16, 8, 8],
        "inner_classes": [2],
        "inner_histogram": [6, 10],
        "leaf_born": [0, 0],
        "leaf_classes": [2, 2],
        "histogram": [6, 2, 0, 8],
        "memory_classes": [2, 2],
        "memory": [0.5, 1, 3, 1, 1, 1, 0, 0, 0, 1.5, 4, 8],
        "eager_votes": [2, 2],
        "spared_levels": [0, 0],
        "leaf_active": [1, 1],
        "key_over": [],
        "key_under": [],
        "next_look": [3, 1],
        "had_lost": [1, 0],
        "eager_counted": [0, 0],
        "attempt": [0, 1],
        **{name: [0, 0] for name in ("dims", "split_points", "received", "planned", "summed")},
        **{name: [] for name in ("candidate_dims", "split_point_born", "split_threshold")},
        **{
            f"{stream}_{name}": [0, 0] if name in ("counted", "length") else []
            for stream in ("structure", "estimation")
            for name in ("counted", "length", "label", "bits", "count")
        },
        "kept_label": [0, 1, 0, 1],
        "kept_weight": [],
        "kept_rows": [0.0] * 8,
        "trust": [-1.0, -2.0, -2.0, -2.0, -2.0, -3.0, -2.0, -1.0],
    }


def typed(arrays):
    types = {"threshold": np.float32, "split_threshold": np.float32, "importance": np.int64}
    types |= dict.fromkeys(("memory", "kept_rows"), np.float32)
    types |= dict.fromkeys(
        ("window_sums", "bucket_total", "bucket_variance", "kept_weight", "scores", "trust"),
        np.float64,
    )
    return {name: np.array(a, dtype=types.get(name, np.uint64)) for name, a in arrays.items()}


def narrowed(arrays):
    return {
        name: a if a.dtype.kind != "u" else a.astype(np.min_scalar_type(int(a.max(initial=0))))
        for name, a in typed(arrays).items()
    }


# -- changes of real snapshots -----------------------------------------------------------------------


def put(name, at, value):
    """A change of one number, which may need a wider type."""

    def change(header, arrays):
        array = arrays[name]
        place = at(arrays, header) if callable(at) else at
        if array.dtype.kind == "f":
            array[place] = value
            return
        wide = array.astype(np.uint64)
        wide[place] = value
        arrays[name] = wide.astype(np.min_scalar_type(int(wide.max())))

    change.__name__ = f"{name} {value}"
    return change


def cut_off(name):
    def change(header, arrays):
        arrays[name] = arrays[name][:-1]

    change.__name__ = f"{name} cut off"
    return change


def young(arrays, header):
    return int(np.flatnonzero(arrays["dims"] == 0)[0])


def settled(arrays, header):
    return int(np.flatnonzero(arrays["dims"] > 0)[0])


def with_points(arrays, header):
    return int(np.flatnonzero(arrays["structure_length"])[0])


def in_header(**changes):
    def change(header, arrays):
        header.update(changes)

    change.__name__ = str(changes)
    return change


def in_engine(**changes):
    def change(header, arrays):
        header["engine"].update(changes)

    change.__name__ = str(changes)
    return change
