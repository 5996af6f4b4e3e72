"""Hostile files: every lie is found before the core sees it, also where the checksum is right."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import riparian
from riparian.engine.trees import TreeArrays
from riparian.snapshot import size

from snapshots import DEPTH_KINDS, KINDS, changed, learned, opened, scratched, sealed, survive

pytestmark = pytest.mark.engine

ALL_KINDS = KINDS | DEPTH_KINDS


@functools.cache
def snapshot(kind="default", prediction_only=False):
    return learned(**ALL_KINDS[kind]).to_bytes(prediction_only=prediction_only)


def refused(data, **options):
    with pytest.raises(riparian.SnapshotError) as caught:
        riparian.from_bytes(data, **options)
    return caught.value.case, str(caught.value)


# -- containers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [b"", b"\0" * 7, b"\0" * 8, b"hello, I am a text file", b"\x80\x04K\x01.", b"\xff" * 100,
     (2**63).to_bytes(8, "little") + b"{}", (3).to_bytes(8, "little") + b"[1]"],
)  # fmt: skip
def test_what_is_no_container_is_refused(data):
    assert refused(data)[0] == "container"


def test_another_safetensors_file_is_foreign():
    weights = {"weight": np.ones((2, 3), dtype=np.float32)}
    for metadata in (None, {"format": "pt"}):
        assert refused(safetensors.numpy.save(weights, metadata=metadata))[0] == "foreign"


@pytest.mark.parametrize("kind", ["default", "memory budget"])
def test_a_truncated_file_is_refused_wherever_it_ends(kind):
    data = snapshot(kind)
    for end in range(0, len(data), 37):
        assert refused(data[:end])[0] == "container"
    assert refused(data[:-1])[0] == "container"
    assert refused(data + b"\0")[0] == "container"


def test_a_flipped_bit_in_what_the_snapshot_says_is_found():
    data = bytearray(snapshot())
    length = int.from_bytes(data[:8], "little")
    for at in range(8 + length, len(data), 11):
        data[at] ^= 1 << at % 8
        assert refused(bytes(data))[0] == "checksum"
        data[at] ^= 1 << at % 8
    text = bytes(data).replace(b"0.5", b"0.6", 1)
    assert refused(text)[0] == "checksum"


def test_a_name_that_comes_twice_in_a_header_is_refused():
    header, arrays = opened(snapshot())
    twice = json.dumps(header)[:-1] + ', "points": 0}'
    assert "comes twice" in refused(riparian.snapshot.container.pack(twice, arrays))[1]


@pytest.mark.parametrize("text", ["", "[]", "nul", "[" * 100_000, '{"format": NaN}', "1" * 5000])
def test_a_header_that_is_not_json_is_refused(text):
    _, arrays = opened(snapshot())
    assert refused(riparian.snapshot.container.pack(text, arrays))[0] == "header"


def test_a_later_format_is_told_from_a_damaged_file():
    header, arrays = opened(snapshot())
    del arrays["child"]
    case, reason = refused(sealed({**header, "format": 3, "library": "9.0"}, arrays))
    assert case == "version"
    assert "riparian 9.0" in reason


def test_an_array_of_two_dimensions_is_refused():
    header, arrays = opened(snapshot())
    metadata = {"riparian": json.dumps(header)}
    arrays["child"] = arrays["child"].reshape(1, -1)
    assert refused(safetensors.numpy.save(arrays, metadata=metadata))[0] == "arrays"
    arrays["child"] = arrays["child"].reshape(-1).astype(np.float16)
    assert refused(safetensors.numpy.save(arrays, metadata=metadata))[0] == "arrays"
    assert refused(safetensors.numpy.save({}, metadata=metadata))[0] == "checksum"


# -- headers -----------------------------------------------------------------------------------------


def at(*path):
    def change(header, value):
        for name in path[:-1]:
            header = header[name]
        if value is MISSING:
            del header[path[-1]]
        else:
            header[path[-1]] = value

    change.__name__ = ".".join(map(str, path))
    return change


MISSING = object()

HEADER_LIES = [
    (at("format"), [MISSING, 0, "1", 1.0, True, None]),
    (at("class"), [MISSING, "Forest", "os.system", "SaffariForestClassifier", "DepthForestClassifier",
                   None, 1]),
    (at("sparse"), [MISSING, None, 0, "yes"]),
    (at("depth"), [MISSING, {}, {"offset_std": 75.0, "far": 6.0}]),
    (at("prediction_only"), [MISSING, 0, None, "yes"]),
    (at("estimator"), [MISSING, [], None]),
    (at("estimator", "color"), ["green"]),
    (at("estimator", "alpha"), [[1], {"kind": "Linear"}, {"kind": "Geometric", "start": 0}, {}]),
    (at("estimator", "class_weight"), [{"kind": "dict", "pairs": p} for p in
                                       (1, [1], [[0, 1]], [[["int", 0]]], [[["int", "0"], 1]],
                                        [[["tuple", 0], 1]], [[["bytes", "ŝ"], 1]],
                                        [[["int", 0], [1]]])]),
    (at("estimator", "n_jobs"), [0, 1.5, "all", 10**9]),
    (at("engine"), [MISSING, {}, 3]),
    (at("engine", "color"), ["green"]),
    (at("engine", "n_trees"), [MISSING, 0, -1, 2**21, 2.0, None, "3"]),
    (at("engine", "seed"), [MISSING, -1, 2**64, None]),
    (at("engine", "split_points"), [0, 2**17, None]),
    (at("engine", "min_gain"), [-1.0, None, "a", 10**400]),
    (at("engine", "alpha"), [1.0, None, {"kind": "Geometric", "start": 0, "rate": 1},
                             {"kind": "Polynomial", "start": 1, "rate": 1}]),
    (at("engine", "beta"), [{"kind": "Geometric", "start": 1.0, "rate": 1.0}, [], "x"]),
    (at("engine", "structure_fraction"), [0.0, 1.0, None]),
    (at("engine", "fringe_size"), [0, -1, 1.5, 2**64]),
    (at("engine", "voting"), ["loud", None]),
    (at("engine", "max_memory"), [0, -5, "much", 2**70]),
    (at("engine", "kept_points"), [-1, 1.5, "auto", "all", None, 2**31 + 1]),
    (at("n_features"), [MISSING, 0, -1, 2**31, 4.0]),
    (at("estimator", "categorical_features"), [[0], {"kind": "list"},
                                               {"kind": "list", "values": [[0]]}]),
    (at("feature_names"), [MISSING, [], ["a"], [1, 2, 3, 4], "abcd"]),
    (at("points"), [MISSING, -1, 2**61, 400.0]),
    (at("labels"), [MISSING, [], None]),
    (at("labels", "kind"), [MISSING, "str", "tuple", None]),
    (at("labels", "dtype"), ["<i3", "O", "<U3", "<M8", "<c16", "<f16", "i8,i8", "<V8", "|b1", 3]),
    (at("labels", "closed"), [MISSING, 1, None]),
    (at("labels", "classes"), [MISSING, [0, 1], [0, 1, 1], [2, 1, 0], [0, 1, 2.0], [0, 1, 2**70],
                               [0, 1, True], {}]),
    (at("labels", "known"), [MISSING, [3], [0, 0], [1, 0], [-1]]),
    (at("labels", "arrived"), [MISSING, [], [0, 1], [0, 1, 3], [0, 1, 1], [0, 1, -1], [0, 1, 2.0]]),
    (at("class_weights"), [MISSING, None]),
    (at("class_weights", "given"), [MISSING, "unfair", 3, {"kind": "dict",
                                                           "pairs": [[["int", 0], -1]]}]),
    (at("class_weights", "seen"), [MISSING, [1], [-1], [2**63], "x"]),
    (at("extra"), [None, [], "columns", 3]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "lie"), [(c, lie) for c, lies in HEADER_LIES for lie in lies],
    ids=lambda v: getattr(v, "__name__", "missing" if v is MISSING else repr(v)[:30]),
)  # fmt: skip
def test_a_lie_in_the_header_is_found(change, lie):
    header, arrays = opened(snapshot())
    change(header, lie)
    assert refused(sealed(header, arrays))[0] == "header"


def test_labels_that_are_closed_must_be_known():
    header, arrays = opened(snapshot())
    header["labels"]["closed"] = True
    assert refused(sealed(header, arrays))[0] == "header"
    header["labels"]["known"] = [0, 1, 2]
    assert riparian.from_bytes(sealed(header, arrays)).model_.target.closed


def test_labels_must_fit_their_type():
    header, arrays = opened(snapshot("names"))
    for dtype, classes in (("<U2", ["ash", "elm", "oak"]), ("<U3", ["ash", "elm", "oa\0"])):
        header["labels"].update(dtype=dtype, classes=classes)
        assert refused(sealed(header, arrays))[0] == "header"
    header, arrays = opened(snapshot("no points"))
    header["labels"].update(closed=True)
    assert refused(sealed(header, arrays))[0] == "header"


def test_balanced_weights_have_seen_only_what_arrived():
    header, arrays = opened(snapshot("balanced"))
    for seen in ([1, 2, 3, 4], [2**61 - 1, 1]):
        header["class_weights"]["seen"] = seen
        assert refused(sealed(header, arrays))[0] == "header"


# -- arrays ------------------------------------------------------------------------------------------

NAN = float("nan")
HUGE = 2**64 - 1


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
    """Seven nodes, for predicting alone; α is 1 for ever."""
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
    """One tree that has replaced another at point 12, with two memories and a window of nine errors."""
    header, _ = opened(snapshot("adaptive, no points"))
    memories = {"kind": "tuple", "values": [0.5, 1.0]}
    header["engine"].update(n_trees=1, kept_points=4, memories=memories)
    header["labels"].update(kind="int", dtype="<i8", classes=[0, 1], arrived=[0, 1])
    header.update(n_features=2, points=40)
    return header, {
        "nodes": [3],
        "totals": [14, 14, 0, 1, 0, 2, 0, 0, 0, 0],
        "growth": [14, 0, 20],
        "window": [28, 3, 2],
        "window_sums": [2.5, 0.75 + 13 / 72],  # between the buckets, 13/72
        "evidence": [-2.5, -1.0],
        "bucket_row": [2, 2, 0],
        "bucket_total": [0.5, 1.5, 0.5],
        "bucket_variance": [0.25, 0.5, 0.0],
        "replaced": [5, 12],
        "feature": [1, 0, 0],
        "threshold": [0.5, 0, 0],
        "child": [1, 0, 0],
        "importance": [0, 5],
        "leaf_born": [4, 4],
        "leaf_classes": [2, 2],
        "histogram": [3, 1, 0, 4],
        "memory": [0.5, 3, 1, 1, 0, 0, 1.75, 4],
        "structure_arrivals": [6, 3],
        "estimation_arrivals": [4, 4],
        "leaf_active": [1, 1],
        "key_over": [],
        "key_under": [],
        "next_look": [7, 4],
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
    }


def typed(arrays):
    types = {"threshold": np.float32, "split_threshold": np.float32, "importance": np.int64}
    types |= dict.fromkeys(("memory", "kept_rows"), np.float32)
    types |= dict.fromkeys(
        ("window_sums", "evidence", "bucket_total", "bucket_variance", "kept_weight"), np.float64
    )
    return {name: np.array(a, dtype=types.get(name, np.uint64)) for name, a in arrays.items()}


def narrowed(arrays):
    return {
        name: a if a.dtype.kind != "u" else a.astype(np.min_scalar_type(int(a.max(initial=0))))
        for name, a in typed(arrays).items()
    }


@pytest.mark.parametrize("make", [hand_made, with_a_fringe_of_one, of_three_splits, adaptive])
def test_the_hand_made_snapshots_are_true(make):
    header, arrays = make()
    assert survive(sealed(header, narrowed(arrays))).startswith("valid")


# Which snapshot, what is put in it, and what the error says.
ARRAY_LIES = [
    # streams that change
    (adaptive, {"window": [28, 4, 2]}, "bucket_row must hold 4 numbers, one per tree times buckets"),
    (adaptive, {"window": [28, 3, 2**63]}, "beyond all bounds"),
    (adaptive, {"window": [29, 3, 2]}, "more errors than points since it is there"),
    (adaptive, {"window": [8, 3, 2]}, "the window is wider than its errors"),
    (adaptive, {"growth": [15, 0, 20]}, "growth: more structure arrivals than points"),
    (adaptive, {"growth": [29, 0, 20], "totals": [29, 14, 0, 1, 0, 2, 0, 0, 0, 0]},
     "growth: more structure arrivals than were received"),
    (adaptive, {"growth": [14, 0, 0]}, "growth: bound must be 0 before the first split only"),
    (adaptive, {"growth": [14, 11, 20]}, "growth: bound must be at least twice the growth"),
    (adaptive, {"evidence": [-1.0]}, "evidence must hold 2 numbers, one per tree times memories"),
    (adaptive, {"evidence": [NAN, -1.0]}, "evidence must be finite, 0 at most"),
    (adaptive, {"evidence": [0.5, -1.0]}, "evidence must be finite, 0 at most"),
    (adaptive, {"replaced": [12, 5]}, "later and later points"),
    (adaptive, {"replaced": [5, 40]}, "points that have been received"),
    (adaptive, {"bucket_row": [0, 2, 2]}, "bucket_row must not rise"),
    (adaptive, {"bucket_row": [62, 2, 0]}, "bucket_row must be at most 61"),
    (adaptive, {"bucket_total": [0.5, 4.5, 0.5]}, "bucket_total must be that of numbers from 0"),
    (adaptive, {"bucket_total": [NAN, 0.5, 0.5]}, "bucket_total must be that of numbers from 0"),
    (adaptive, {"bucket_variance": [-1.0, 0.0, 0.0]}, "bucket_variance must be that of numbers"),
    (adaptive, {"bucket_variance": [0.44, 0.5, 0.0]}, "bucket_variance must be that of numbers"),
    (adaptive, {"window_sums": [2.4, 0.93]}, "the total is not that of the buckets"),
    (adaptive, {"window_sums": [2.5, 0.7]}, "the variance is not that of the buckets"),
    (adaptive, {"window_sums": [2.5, NAN]}, "the variance is not that of the buckets"),
    (adaptive, {"memory": [0.5, 3, 1, 1, 0, 0, NAN, 4]}, "memory must be 0, or finite"),
    (adaptive, {"memory": [0.5, 3, 1, 1, 0, 0, 1e-30, 4]}, "memory must be 0, or finite"),
    (adaptive, {"memory": [0.5, 3, 1, 1, 0, 0, -1.0, 4]}, "memory must be 0, or finite"),
    (adaptive, {"memory": [0.5, 3, 1, 1, 0, 0, 1, 5]}, "must not hold more than the histogram"),
    (adaptive, {"memory": [0.5, 3, 1, 1, 1, 0, 1, 4]}, "must not hold more than the histogram"),
    (adaptive, {"memory": [0.5, 3, 1, 1, 0, 0, 0, 4]}, "memory must hold the last point"),
    (adaptive, {"structure_arrivals": [7, 3]}, "next_look must be the next one after"),
    (adaptive, {"structure_arrivals": [5, 0]}, "next_look must be the next one after"),
    (adaptive, {"structure_arrivals": [2**64 - 1, 3]}, "structure_arrivals must not sum up"),
    (adaptive, {"estimation_arrivals": [5, 4]}, "estimation_arrivals must not be more"),
    (adaptive, {"dims": [1, 0], "candidate_dims": [0]}, "no leaf settles"),
    (adaptive, {"kept_label": [0, 1, 0, 2]}, "kept_label must be a class that has arrived"),
    # lengths
    (hand_made, {"nodes": [4]}, "odd number"),
    (hand_made, {"nodes": [0]}, "odd number"),
    (hand_made, {"nodes": [2**63 + 1]}, "odd number"),
    (hand_made, {"nodes": [5]}, "feature must hold 5 numbers, one per node; it holds 3"),
    (hand_made, {"leaf_classes": [2, 2**32 - 1]}, "histogram must hold"),
    (hand_made, {"leaf_active": [1, 2]}, "leaf_active must be 0 or 1"),
    (hand_made, {"leaf_active": [1, 0]}, "key_over must hold 1"),
    (hand_made, {"dims": [2, 2**32 - 1]}, "one per active leaf times dims"),
    (hand_made, {"split_points": [2**32 - 1, 1]}, "one per active leaf times split_points"),
    (hand_made, {"structure_counted": [0, 2]}, "structure_counted must be 0 or 1"),
    (hand_made, {"structure_length": [2**32 - 1, 2]}, "structure_label must hold"),
    (hand_made, {"structure_length": [2**32 - 1, 2], "dims": [2**32 - 1, 1]}, "beyond all bounds"),
    (hand_made, {"estimation_length": [2, 2**32 - 1]}, "estimation_count must hold"),
    (hand_made, {"importance": [0]}, "one per column"),
    # nodes
    (hand_made, {"child": [2, 0, 0]}, "child must be odd"),
    (hand_made, {"child": [3, 0, 0]}, "child must be a node of its tree"),
    (hand_made, {"child": [2**32 - 1, 0, 0]}, "child must be a node of its tree"),
    (hand_made, {"child": [0, 0, 0], "importance": []}, "every node but the root a parent"),
    (hand_made, {"child": [0, 1, 0], "importance": [0]}, "child must come after its parent"),
    (of_three_splits, {"child": [1, 3, 3, 0, 0, 0, 0]}, "child must not be that of two parents"),
    (of_three_splits, {"child": [3, 0, 0, 5, 1, 0, 0]}, "child must come after its parent"),
    (hand_made, {"feature": [2, 0, 0], "importance": [0] * 3}, "feature must be below 2"),
    (hand_made, {"feature": [1, 0, 1]}, "feature must be 0 in a leaf"),
    (hand_made, {"threshold": [NAN, 0, 0]}, "threshold must be finite"),
    (hand_made, {"threshold": [np.inf, 0, 0]}, "threshold must be finite"),
    (hand_made, {"threshold": [0.5, 0, 1]}, "threshold must be 0 in a leaf"),
    # totals
    (hand_made, {"totals": [2**61, 10, 0, 1, 0, 2, 0, 0, 0, 0]}, "structure_points must be below"),
    (hand_made, {"totals": [2**60, 10, 0, 1, 0, 2, 0, 0, 0, 0]}, "more points than were received"),
    (hand_made, {"totals": [10, 10, 0, 1, 1, 2, 0, 0, 0, 0]}, "a split for every inner node"),
    (hand_made, {"totals": [10, 10, 0, 1, 0, 3, 0, 0, 0, 0]}, "more classes than have arrived"),
    (hand_made, {"totals": [10, 10, 0, 1, 0, 2, 0, HUGE, 0, 0]}, "refreshes must be below"),
    (hand_made, {"totals": [10, 10, 0, 1, 0, 2, 0, 0, 1, 0]}, "evictions must be 0 without"),
    (hand_made, {"totals": [10, 10, 0, 1, 0, 2, 0, 0, 0, 1]}, "stopped_at must be 0 without"),
    (hand_made, {"totals": [10, 10, 0, 1, 0, 2, 0, 0, 0, 21]}, "stopped_at must have been reached"),
    (hand_made, {"importance": [2**62, 2**62]}, "importance must not sum up to 2^62"),
    (hand_made, {"importance": [0, -(2**63)]}, "importance must not sum up to 2^62"),
    # leaves
    (hand_made, {"totals": [10, 10, 0, 1, 0, 1, 0, 0, 0, 0]}, "leaf_classes must have arrived"),
    (hand_made, {"leaf_born": [4, 11]}, "leaf_born must not be later than now"),
    (hand_made, {"histogram": [4, 0, 0, 4]}, "histogram must not end with a class of no points"),
    (hand_made, {"histogram": [HUGE, 1, 0, 4]}, "histogram must not sum up to 2^62"),
    (hand_made, {"histogram": [9, 1, 0, 4]}, "more points than came since leaf_born"),
    (hand_made, {"histogram": [5, 1, 0, 5]}, "more points than its tree"),
    (hand_made, {"leaf_classes": [2, 0], "histogram": [3, 1]}, "must hold a point, but at the root"),
    # keys
    (with_a_fringe_of_one, {"key_under": [0]}, "key_under must be from 1 to the age of the leaf"),
    (with_a_fringe_of_one, {"key_under": [7]}, "key_under must be from 1 to the age of the leaf"),
    (with_a_fringe_of_one, {"key_over": [6]}, "key_over must not be above key_under"),
    (with_a_fringe_of_one, {"histogram": [3, 1, 1, 3], "key_over": [0]}, "must be at least ŝ"),
    # candidates
    (hand_made, {"dims": [3, 0], "split_threshold": [0.1] * 6, "structure_count": [2, 3],
                 "estimation_count": [0, 4]}, "dims must be from 1 to 2"),
    (hand_made, {"split_points": [1, 3], "split_point_born": [6, 5, 5, 5],
                 "structure_count": [1] * 12, "estimation_count": [1] * 12},
     "split_points must be at most m"),
    (hand_made, {"received": [5, 4]}, "received must be points of the leaf"),
    (hand_made, {"summed": [1, 1]}, "summed must be 0 or 1, and 0 where no structure points"),
    (hand_made, {"summed": [0, 2]}, "summed must be 0 or 1"),
    (hand_made, {"planned": [600, 2**63]}, "planned must not sum up to 2^62"),
    (hand_made, {"candidate_dims": [0, 1, 2]}, "candidate_dims must be below 2"),
    (hand_made, {"candidate_dims": [0, 0, 1]}, "candidate_dims must be distinct in a leaf"),
    (hand_made, {"split_point_born": [3, 7, 5]}, "in the life of its leaf"),
    (hand_made, {"split_point_born": [6, 11, 5]}, "split_point_born must not be later than now"),
    (hand_made, {"split_point_born": [7, 6, 5]}, "split_point_born must not fall"),
    (hand_made, {"split_threshold": [0.1, NAN, np.inf, 0.4, 0.7]}, "must not be infinite"),
    # points that are kept, in either stream
    (hand_made, {"structure_label": [0, 2, 0]}, "structure_label must be a class that has arrived"),
    (hand_made, {"estimation_label": [0, HUGE >> 32]}, "estimation_label must be a class"),
    (hand_made, {"structure_bits": [0b01_00_01, 0b11_01_00, 0b01_00_00]}, "must come one by one"),
    (hand_made, {"structure_bits": [0b11_00_01, 0b11_01_00, 0b11_10_00]},
     "the first point must meet the first split point"),
    (hand_made, {"structure_bits": [0, 0b01_01_00, 0b11_10_00]}, "must meet the first split point"),
    (hand_made, {"structure_bits": [0b01_00_01] * 3}, "a split point is missing"),
    (hand_made, {"structure_bits": [0b01_00_01, 0b10_00_00, 0b11_10_00]}, "where nobody counts"),
    (hand_made, {"structure_bits": [0b01_10_00, 0b11_01_00, 0b11_10_00]}, "where nobody counts"),
    (hand_made, {"structure_bits": [0b01_00_01 | 1 << 6, 0b11_01_00, 0b11_10_00]}, "nobody counts"),
    (hand_made, {"structure_bits": [0b01_00_01 | 1 << 63, 0b11_01_00, 0b11_10_00]}, "nobody counts"),
    (hand_made, {"structure_bits": [0b01_00_01, 0b11_00_10, 0b11_10_00]}, "nobody goes left of NaN"),
    (hand_made, {"estimation_bits": [0, 0b11_00_00]}, "a point must meet a split point"),
    (hand_made, {"estimation_bits": [0b11_00_00, 0b01_00_01]}, "split points must not vanish"),
    (hand_made, {"estimation_bits": [0b01_00_01, 0b11_00_10]}, "nobody goes left of NaN"),
    (hand_made, {"split_point_born": [9, 9, 5]}, "more points than came since split_point_born"),
    (hand_made, {"received": [1, 4]}, "estimation_length: more points than received"),
    (hand_made, {"estimation_label": [1, 1]}, "must be in its histogram"),
    (with_a_fringe_of_one, {"split_points": [0], "split_point_born": [], "split_threshold": []},
     "points, but no split point"),
    (with_a_fringe_of_one, {"split_points": [1], "split_point_born": [6],
                            "split_threshold": [0.1, 0.3]}, "more split points than there are"),
    (with_a_fringe_of_one, {"structure_length": [0], "structure_label": [], "structure_bits": []},
     "a split point, but no point that brought it"),
    (with_a_fringe_of_one, {"totals": [2, 10, 0, 1, 0, 2, 0, 0, 0, 0]},
     "structure_length: more points than the tree has received"),
    (with_a_fringe_of_one, {"structure_length": [17], "structure_label": [0] * 17,
                            "structure_bits": [17] * 17}, "more points are kept than counting"),
    # points that are counted
    (hand_made, {"structure_count": [3, 2, 0, 3]}, "structure_count: more points go left than come"),
    (hand_made, {"structure_count": [0, 0, 0, 0]}, "a split point without its own point"),
    (hand_made, {"structure_count": [1, 8, 0, 3]}, "more points than the tree has received"),
    (hand_made, {"structure_count": [1, 2**63, 0, 2**63]}, "structure_count must not sum up to"),
    (hand_made, {"estimation_count": [0, 0, 3, 2]}, "estimation_count: more points go left"),
    (hand_made, {"estimation_count": [0, 1, 2, 4]}, "estimation_count: more points than received"),
    (hand_made, {"split_point_born": [6, 7, 7]}, "more points than since split_point_born"),
    (hand_made, {"estimation_count": [1, 1, 0, 3]}, "must be in its histogram"),
    (hand_made, {"split_threshold": [0.1, NAN, 0.3, 0.4, NAN]}, "nobody goes left of NaN"),
    (hand_made, {"structure_length": [3, 3], "structure_count": [1, 2, 0, 3, 0, 0]},
     "more rows than classes"),
    (hand_made, {"structure_length": [3, 0], "structure_count": []},
     "must not be 0 where points are counted"),
    (with_a_fringe_of_one, {"split_points": [0], "split_point_born": [], "split_threshold": [],
                            "structure_counted": [1], "structure_label": [], "structure_bits": [],
                            "structure_length": [1]}, "without a split point"),
    (with_a_fringe_of_one, {"estimation_counted": [1], "estimation_label": [],
                            "estimation_bits": [], "estimation_length": [1],
                            "estimation_count": [0, 0, 0, 0, 1, 2]},
     "a later split point has seen more"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "lie", "reason"), ARRAY_LIES,
    ids=[f"{reason}: {', '.join(lie)}" for _, lie, reason in ARRAY_LIES],
)  # fmt: skip
def test_a_lie_in_an_array_is_found(make, lie, reason):
    header, arrays = make()
    case, told = refused(sealed(header, narrowed({**arrays, **lie})))
    assert (case, reason in told) == ("arrays", True), told


# -- kept points -------------------------------------------------------------------------------------


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


ALL, LATER, WEIGHTS = "all points kept", "young and settled leaves", "points kept, weights"
SPARSE, DEPTH, SAFFARI = "sparse points kept", "depth, pixels kept", "Saffari, trees replaced"

# A real snapshot, a change, and what the error says.
KEPT_LIES = [
    (ALL, cut_off("kept_label"), "kept_label must hold 400 numbers, one per kept point"),
    (ALL, cut_off("kept_rows"), "kept_rows must hold 1600 numbers"),
    (ALL, put("kept_label", 0, 3), "kept_label must be a class that has arrived"),
    (ALL, put("kept_rows", 7, np.inf), "kept_rows must not be infinite"),
    (ALL, put("kept_rows", 7, -np.inf), "kept_rows must not be infinite"),
    (ALL, in_header(points=399), "kept_label must hold 399 numbers"),
    (ALL, in_header(points=401), "kept_label must hold 401 numbers"),
    (ALL, in_engine(kept_points=399), "kept_label must hold 399 numbers"),
    (ALL, in_engine(kept_points=0), "the array 'growth' is unknown"),
    (ALL, in_engine(seed=8), "must include the kept points"),
    (ALL, put("totals", 0, 5), "totals: structure_points must include the kept points"),
    (ALL, put("totals", 0, 500), "must be those of the kept points, which are all"),
    (ALL, put("totals", 1, 500), "totals: estimation_points must be those of the kept points"),
    (ALL, put("totals", 2, 1), "totals: ignored_points must be those of the kept points"),
    (ALL, put("growth", 0, 5), "growth: structure_arrivals must include the kept points"),
    (ALL, put("growth", 0, 401), "growth: structure_arrivals must be those of the kept points"),
    (LATER, put("growth", 0, 350), "growth: more structure arrivals than points"),
    (ALL, put("growth", 1, 399), "growth: growth must have been reached"),
    (ALL, put("growth", 2, 0), "growth: bound must be 0 before the first split only"),
    (ALL, put("growth", 2, 1), "growth: bound must be at least twice the growth"),
    (ALL, put("growth", 2, HUGE), "growth: bound must be at most four times the arrivals"),
    ("points kept, one point", put("growth", 2, 2), "bound must be 0 before the first split only"),
    (ALL, put("totals", 5, 2), "classes"),
    (WEIGHTS, cut_off("kept_weight"), "kept_weight must hold 150 numbers, none, or one per kept"),
    *((WEIGHTS, put("kept_weight", 3, weight), "kept_weight must be above 0 and at most 2^20")
      for weight in (0.0, -1.0, NAN, np.inf, 2.0**20 + 1)),
    (LATER, put("next_look", young, 0), "next_look must be set where dims is 0"),
    (LATER, put("next_look", settled, 1), "next_look must be set where dims is 0"),
    (LATER, put("next_look", young, 2**32 - 1), "next_look must be at most 117"),
    (LATER, put("had_lost", young, 2), "had_lost must be 0 or 1"),
    (LATER, put("had_lost", settled, 1), "0 in a leaf that has settled"),
    (ALL, put("had_lost", young, 1), "had_lost must be 0 while all points are at hand"),
    (LATER, put("received", young, 1), "received must be 0 in a young leaf"),
    (LATER, put("received", settled, 2**60), "received must be points of the tree"),
    (LATER, put("planned", young, 1), "planned must be 0 in a young leaf"),
    (LATER, put("summed", young, 1), "summed must be 0 in a young leaf"),
    (SPARSE, cut_off("kept_starts"), "kept_starts must hold 131 numbers"),
    (SPARSE, cut_off("kept_widths"), "kept_widths must hold 130 numbers"),
    (SPARSE, cut_off("kept_columns"), "kept_columns must hold"),
    (SPARSE, cut_off("kept_entries"), "kept_entries must hold"),
    (SPARSE, put("kept_starts", 0, 1), "kept_starts must begin with 0"),
    (SPARSE, put("kept_starts", 5, HUGE), "kept_starts must not fall"),
    (SPARSE, put("kept_starts", -1, 2**62), "kept_columns must hold"),
    (SPARSE, put("kept_columns", 0, 4), "kept_columns must be columns that were there"),
    (SPARSE, put("kept_columns", 1, 0), "kept_columns must ascend in a point"),
    (SPARSE, put("kept_entries", 1, np.inf), "kept_entries must not be infinite"),
    (SPARSE, put("kept_widths", -1, 5), "kept_widths must be from 1 to 4"),
    (SPARSE, put("kept_widths", 0, 0), "kept_widths must be from 1 to 4"),
    (SPARSE, put("kept_widths", -1, 3), "kept_widths must not fall"),
    (SPARSE, in_header(sparse=False), "the array 'kept_columns' is unknown"),
    (DEPTH, cut_off("kept_pixels"), "kept_pixels must hold 600 numbers, three per kept point"),
    (DEPTH, cut_off("kept_shapes"), "kept_shapes must hold height and width"),
    (DEPTH, cut_off("kept_depths"), "kept_depths must hold 325 numbers"),
    (DEPTH, put("kept_shapes", 0, 0), "kept_shapes must be from 1 to 2^20"),
    (DEPTH, put("kept_shapes", 0, 2**32 - 1), "kept_shapes must be from 1 to 2^20"),
    (DEPTH, put("kept_shapes", 0, 7), "kept_depths must hold 330 numbers"),
    *((DEPTH, put("kept_depths", 9, depth), "kept_depths must be positive and finite")
      for depth in (0.0, -1.0, NAN, np.inf)),
    (DEPTH, put("kept_pixels", 0, 10), "kept_pixels must be in an image that is there"),
    (DEPTH, put("kept_pixels", 0, 1), "in the order of their first pixels"),
    (DEPTH, put("kept_pixels", 1, 6), "kept_pixels must be in a row of their image"),
    (DEPTH, put("kept_pixels", 2, 2**32 - 1), "kept_pixels must be in a column of their image"),
    (DEPTH, put("feature", 0, NAN), "feature must be finite"),
    (DEPTH, cut_off("feature"), "feature must hold four numbers per feature"),
    ("depth", put("candidate_dims", 0, np.inf), "candidate_dims must be finite"),
    (SAFFARI, cut_off("bag"), "bag must hold 12 numbers, 4 per tree"),
    (SAFFARI, put("bag", 0, 1), "bag: number must be that of the tree's place"),
    (SAFFARI, put("bag", 0, 3 * 2**61), "bag: number must be below 2^61"),
    (SAFFARI, put("bag", 1, 401), "bag: planted must have been reached"),
    (SAFFARI, put("bag", 2, 401), "bag: more points than the tree did not take"),
    (SAFFARI, put("bag", 3, 400), "bag: more errors than points"),
    ("Saffari", put("bag", 0, 3), "bag: number must be that of the tree if none is replaced"),
    ("Saffari", put("bag", 1, 1), "bag must be empty if no tree is replaced"),
    ("Saffari", in_engine(max_depth=1), "leaf_active must be set above max_depth only"),
    ("Saffari", put("received", with_points, 0), "more points than the tree has received"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "change", "reason"), KEPT_LIES,
    ids=[f"{kind}: {change.__name__}" for kind, change, _ in KEPT_LIES],
)  # fmt: skip
def test_a_lie_about_kept_points_or_another_kind_of_forest_is_found(kind, change, reason):
    header, arrays = opened(snapshot(kind))
    change(header, arrays)
    case, told = refused(sealed(header, arrays))
    assert (case, reason in told) == ("arrays", True), told


DEPTH_LIES = [
    (at("n_features"), [4]), (at("feature_names"), [["a"]]), (at("sparse"), [False]),
    (at("depth"), [MISSING, None, {}, {"far": 6.0}, {"far": 6.0, "offset_std": 1.0, "more": 1}]),
    (at("depth", "far"), [0.0, -1.0, 1e7, 0.1, "x", None, 1e-60]),
    (at("depth", "offset_std"), [0.0, NAN, "x", None]),
]  # fmt: skip


@pytest.mark.parametrize(("change", "lie"), [(c, lie) for c, lies in DEPTH_LIES for lie in lies])
def test_a_lie_in_the_header_of_a_depth_forest_is_found(change, lie):
    header, arrays = opened(snapshot("depth, pixels kept"))
    change(header, lie)
    assert refused(sealed(header, arrays))[0] == "header"


def test_a_class_that_nobody_knows_is_named_with_those_that_are():
    header, arrays = opened(snapshot())
    case, reason = refused(sealed({**header, "class": "subprocess.Popen"}, arrays))
    assert case == "header"
    assert "'subprocess.Popen'" in reason
    assert "OnlineForestClassifier, AdaptiveForestClassifier, SaffariForestClassifier" in reason


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_a_snapshot_of_one_class_is_not_one_of_another(kind):
    header, arrays = opened(snapshot(kind))
    for name in ("OnlineForestClassifier", "SaffariForestClassifier", "DepthForestClassifier",
                 "DepthSaffariClassifier"):  # fmt: skip
        if name != header["class"]:
            assert refused(sealed({**header, "class": name}, arrays))[0] == "header"


def test_a_kept_row_that_would_ask_for_a_segment_of_wide_rows_is_counted_in_full():
    header, arrays = opened(snapshot("one point kept"))
    wide = 20_000
    header["n_features"] = wide
    arrays["kept_rows"] = np.zeros(wide, dtype=np.float32)
    case, reason = refused(sealed(header, arrays), max_bytes=10**7)
    assert case == "size"
    assert "max_bytes=10000000" in reason


# -- whatever else ------------------------------------------------------------------------------------


def test_counts_that_could_overflow_are_refused():
    header, arrays = hand_made()
    header["points"] = 2**60
    arrays["totals"][:3] = [2**61 - 1] * 3
    assert "must not sum up to 2^62" in refused(sealed(header, narrowed(arrays)))[1]


def test_a_key_is_compared_exactly_however_large():
    header, arrays = with_a_fringe_of_one()
    header["points"] = 2**58
    many = 2**50
    arrays.update(
        totals=[10, many, 0, 1, 0, 2, 0, 0, 0, 0], leaf_classes=[2, 2], histogram=[3, 1, 7, 8],
        leaf_born=[4, 4], key_over=[7], key_under=[many - 4],
    )  # fmt: skip
    riparian.from_bytes(sealed(header, narrowed(arrays)))
    arrays["key_over"] = [6]
    assert "at least ŝ" in refused(sealed(header, narrowed(arrays)))[1]


def other_type(array):
    return np.zeros(len(array), dtype=np.float32 if array.dtype.kind != "f" else np.uint32)


@pytest.mark.parametrize("prediction_only", [False, True])
@pytest.mark.parametrize(
    "kind",
    ["sums kept", "points kept, weights", "sparse points kept", "depth, pixels kept", "Saffari"],
)
def test_every_array_must_be_there_with_its_type_and_length_and_no_other(kind, prediction_only):
    header, arrays = opened(snapshot(kind, prediction_only))
    for name, array in arrays.items():
        others = {other: a for other, a in arrays.items() if other != name}
        assert refused(sealed(header, others)) == ("arrays", f"the array {name!r} is missing")
        for wrong in (other_type(array), np.append(array, array.dtype.type(0)), array[1:]):
            if wrong.dtype != array.dtype or len(wrong) != len(array):
                assert refused(sealed(header, {**arrays, name: wrong}))[0] == "arrays"
    more = {**arrays, "more": np.zeros(3, dtype=np.uint8)}
    assert refused(sealed(header, more)) == ("arrays", "the array 'more' is unknown")


def test_a_fringe_larger_than_it_may_be_is_refused():
    header, arrays = opened(snapshot("full fringe and a late class"))
    for fringe_size in (2, 4):
        header["engine"]["fringe_size"] = fringe_size
        assert "fringe (R12)" in refused(sealed(header, arrays))[1]
    header, arrays = opened(snapshot("memory budget and fringe"))
    header["engine"]["fringe_size"] = 3
    assert "more leaves than fringe_size" in refused(sealed(header, arrays))[1]


def test_a_tree_that_has_stopped_has_no_active_leaf():
    header, arrays = opened(snapshot("memory budget"))
    arrays["totals"][9] = 1
    assert "in a tree that has stopped" in refused(sealed(header, arrays))[1]


def test_leaves_with_fewer_points_than_alpha_are_refused():
    header, arrays = opened(snapshot())
    header["engine"]["alpha"]["start"] = 50.0
    header["engine"]["beta"]["start"] = 5000.0
    assert "must hold α points" in refused(sealed(header, arrays))[1]


def test_a_deep_tree_is_checked_in_time():
    # A chain of a hundred thousand splits: nothing is done once a level.
    header, arrays = opened(snapshot("no points", prediction_only=True))
    splits, trees = 100_000, 3
    header["labels"].update(classes=[0], arrived=[0], kind="int", dtype="<i8")
    header["engine"]["alpha"] = header["engine"]["beta"] = {
        "kind": "Geometric", "start": 1.0, "rate": 1.0}  # fmt: skip
    header["points"] = 10**6
    child = np.zeros(2 * splits + 1, dtype=np.uint32)
    child[0] = 1
    child[2:-1:2] = np.arange(3, 2 * splits, 2)
    totals = [0, splits + 1, 0, splits, 0, 1, 0, 0, 0, 0]
    parts = {
        "nodes": [len(child)], "totals": totals, "child": child, "feature": 0 * child,
        "importance": [0], "leaf_born": [0] * (splits + 1), "leaf_classes": [1] * (splits + 1),
        "histogram": [1] * (splits + 1),
    }  # fmt: skip
    arrays = {
        name: np.tile(np.array(part, dtype=np.int64 if name == "importance" else np.uint32), trees)
        for name, part in parts.items()
    }
    arrays["threshold"] = np.zeros(trees * len(child), dtype=np.float32)
    forest = riparian.from_bytes(sealed(header, arrays))
    assert forest.stats()["depth"] == splits
    assert forest.predict([[0.0] * 4]) == [0]


# -- memory ------------------------------------------------------------------------------------------


def test_a_small_file_that_asks_for_a_lot_is_refused():
    header, arrays = opened(snapshot("no points"))
    header["n_features"] = 2**31 - 1
    header["engine"]["split_points"] = 2**16
    arrays["dims"][:] = 50_000 % 256
    drawn = np.arange(arrays["dims"].sum(dtype=int), dtype=np.uint32)
    arrays["candidate_dims"] = drawn
    case, reason = refused(sealed(header, arrays), max_bytes=10**7)
    assert case == "size"
    assert "max_bytes=10000000" in reason


def test_parameters_that_ask_for_a_lot_cost_nothing_to_load():
    # A million draws for every root, and as many columns: none of them is made.
    header, arrays = opened(snapshot("no points"))
    header["n_features"] = 2**31 - 1
    header["engine"]["candidate_dims"] = 1e6
    forest = riparian.from_bytes(sealed(header, arrays), max_bytes=10**7)
    assert forest.n_features_in_ == 2**31 - 1


def test_a_budget_that_not_even_a_root_would_fit_in_is_refused():
    header, arrays = opened(snapshot("memory budget"))
    header["engine"]["max_memory"] = 1
    case, reason = refused(sealed(header, arrays))
    assert case == "size"
    assert "max_memory must be at least" in reason


def test_labels_that_ask_for_a_lot_are_refused():
    header, arrays = opened(snapshot("names"))
    header["labels"]["dtype"] = "<U99999999"
    assert refused(sealed(header, arrays), max_bytes=10**8)[0] == "size"


def test_a_file_larger_than_may_be_is_not_even_read(tmp_path):
    path = tmp_path / "forest"
    with open(path, "wb") as file:
        file.truncate(10**12)  # takes no room
    with pytest.raises(riparian.SnapshotError, match="bytes, more than") as caught:
        riparian.load(path)
    assert caught.value.case == "size"


def test_the_estimate_is_no_less_than_what_the_forest_holds():
    for kind in ALL_KINDS:
        header, arrays = opened(snapshot(kind))
        forest = riparian.from_bytes(sealed(header, arrays))
        about = riparian.snapshot.header.read(json.dumps(header), 2**40)
        _, arrays = riparian.snapshot.categories.read(arrays, about, 2**40)
        trees, points = riparian.snapshot.state._parted(arrays)
        trees = riparian.snapshot.arrays.widen(trees, about)
        memory = forest.memory()
        held = size.core_bytes(TreeArrays.end_to_end(trees), about)
        shared = size.kept_bytes(points, trees, about)
        assert memory["total"] - memory.get("categories", 0) <= held + shared <= 10**7
        if about.kept_points:
            assert forest.model_.engine.core.shared_bytes() <= shared


# -- any change at all -------------------------------------------------------------------------------

many = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
kinds = st.sampled_from([(kind, only) for kind in ALL_KINDS for only in (False, True)])


@many
@given(kinds, st.randoms())
def test_scratched_bytes_are_refused_or_a_forest(kind, random):
    survive(scratched(random, snapshot(*kind)))


@many
@given(kinds, st.randoms())
def test_changed_arrays_and_headers_are_refused_or_a_forest(kind, random):
    survive(changed(random, *opened(snapshot(*kind))))
