"""Hostile files: every lie is found before the core sees it, also where the checksum is right."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest
import safetensors.numpy
from hand_made import (
    ALL,
    ALL_KINDS,
    DEPTH,
    HUGE,
    LATER,
    NAN,
    SAFFARI,
    SPARSE,
    WEIGHTS,
    adaptive,
    cut_off,
    hand_made,
    in_engine,
    in_header,
    narrowed,
    of_three_splits,
    put,
    settled,
    snapshot,
    with_a_fringe_of_one,
    young,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import riparian
from riparian.engine.trees import TreeArrays
from riparian.snapshot import size, state
from riparian.snapshot.header import FORMAT

from snapshots import changed, opened, scratched, sealed, survive

pytestmark = pytest.mark.engine


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
def test_a_file_that_is_not_a_container_is_refused(data):
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


def test_a_name_that_appears_twice_in_a_header_is_refused():
    header, arrays = opened(snapshot())
    twice = json.dumps(header)[:-1] + ', "points": 0}'
    assert "appears twice" in refused(riparian.snapshot.container.pack(twice, arrays))[1]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "nul", "[" * 100_000, '{"format": NaN}', '{"format": 1e999}', "1" * 5000],
)
def test_a_header_that_is_not_json_is_refused(text):
    _, arrays = opened(snapshot())
    assert refused(riparian.snapshot.container.pack(text, arrays))[0] == "header"


def test_a_later_format_is_distinguished_from_a_damaged_file():
    header, arrays = opened(snapshot())
    del arrays["child"]
    case, reason = refused(sealed({**header, "format": FORMAT + 1, "library": "9.0"}, arrays))
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
    (at("engine", "alpha"), ["1.0", None, {"kind": "Geometric", "start": 0, "rate": 1},
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
def test_a_forged_header_is_detected(change, lie):
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


def test_a_few_labels_cannot_claim_gigabytes():
    header, arrays = opened(snapshot("names"))
    header["labels"].update(dtype="<U50000000", classes=["ash", "elm", "oak"])
    tracemalloc.start()
    case, text = refused(sealed(header, arrays))
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
    assert case == "size"
    assert "3 labels do not need the dtype <U50000000" in text


def test_balanced_weights_have_seen_only_what_arrived():
    header, arrays = opened(snapshot("balanced"))
    for seen in ([1, 2, 3, 4], [2**61 - 1, 1]):
        header["class_weights"]["seen"] = seen
        assert refused(sealed(header, arrays))[0] == "header"


# -- arrays ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [hand_made, with_a_fringe_of_one, of_three_splits, adaptive])
def test_the_hand_made_snapshots_are_true(make):
    header, arrays = make()
    assert survive(sealed(header, narrowed(arrays))).startswith("valid")


# Which snapshot, what is put in it, and what the error says.
ARRAY_LIES = [
    # streams that change
    (adaptive, {"window": [28, 4, 2]}, "bucket_row must hold 4 numbers, one per tree times buckets"),
    (adaptive, {"window": [28, 3, 2**63]}, "implausibly large"),
    (adaptive, {"trust": [-1.0] * 5}, "trust must hold 8 numbers, one per head"),
    (adaptive, {"trust": [NAN] + [-1.0] * 7}, "trust must be finite"),
    (adaptive, {"bucket_row": [0, 2, 2]}, "bucket_row must not rise"),
    (adaptive, {"bucket_row": [62, 2, 0]}, "bucket_row must be at most 61"),
    (adaptive, {"memory": [0.5, 1, 3, 1, 1, 1, 0, 0, 0, NAN, 4, 8]}, "memory must be finite"),
    (adaptive, {"memory": [0.5, 1, 3, 1, 1, 1, 0, 0, 0, -1, 4, 8]}, "memory must be finite"),
    (adaptive, {"memory": [0.5, 1, 3, 1, 1, 1, 0, 0, 0, 0, 4, 8]}, "memory must not be all 0"),
    (adaptive, {"memory": [1.0] * 6}, "memory must hold 12 numbers, one per leaf times"),
    (adaptive, {"memory_classes": [2, 3], "memory": [1.0] * 15}, "memory_classes must have arrived"),
    (adaptive, {"memory_classes": [2**32 - 1, 2**32 - 1]}, "memory must hold"),
    (adaptive, {"kept_label": [0, 1, 0, 2]}, "kept_label must be a class that has arrived"),
    # lengths
    (hand_made, {"nodes": [4]}, "odd number"),
    (hand_made, {"nodes": [0]}, "odd number"),
    (hand_made, {"nodes": [2**63 + 1]}, "odd number"),
    (hand_made, {"nodes": [5]}, "feature must hold 5 numbers, one per node, got 3"),
    (hand_made, {"leaf_classes": [2, 2**32 - 1]}, "histogram must hold"),
    (hand_made, {"leaf_active": [1, 2]}, "leaf_active must be 0 or 1"),
    (hand_made, {"leaf_active": [1, 0]}, "key_over must hold 1"),
    (hand_made, {"dims": [2, 2**32 - 1]}, "one per active leaf times dims"),
    (hand_made, {"split_points": [2**32 - 1, 1]}, "one per active leaf times split_points"),
    (hand_made, {"structure_counted": [0, 2]}, "structure_counted must be 0 or 1"),
    (hand_made, {"structure_length": [2**32 - 1, 2]}, "structure_label must hold"),
    (hand_made, {"structure_length": [2**32 - 1, 2], "dims": [2**32 - 1, 1]}, "implausibly large"),
    (hand_made, {"estimation_length": [2, 2**32 - 1]}, "estimation_count must hold"),
    (hand_made, {"importance": [0]}, "one per column"),
    # nodes
    (hand_made, {"child": [2, 0, 0]}, "child must be odd"),
    (hand_made, {"child": [3, 0, 0]}, "child must be a node of its tree"),
    (hand_made, {"child": [2**32 - 1, 0, 0]}, "child must be a node of its tree"),
    (hand_made, {"child": [0, 0, 0], "importance": []}, "every node but the root a parent"),
    (hand_made, {"child": [0, 1, 0], "importance": [0]}, "child must come after its parent"),
    (of_three_splits, {"child": [1, 3, 3, 0, 0, 0, 0]}, "child must not have two parents"),
    (of_three_splits, {"child": [3, 0, 0, 5, 1, 0, 0]}, "child must come after its parent"),
    (hand_made, {"feature": [2, 0, 0], "importance": [0] * 3}, "feature must be below 2"),
    (hand_made, {"threshold": [NAN, 0, 0]}, "threshold must be finite"),
    (hand_made, {"threshold": [np.inf, 0, 0]}, "threshold must be finite"),
    # totals
    (hand_made, {"totals": [10, 10, 0, 1, 0, 3, 0, 0, 0, 0]}, "more classes than have arrived"),
    # leaves
    (hand_made, {"histogram": [HUGE, 1, 0, 4]}, "sum of histogram must be below 2^62"),
    # keys
    # candidates
    (hand_made, {"dims": [3, 0], "split_threshold": [0.1] * 6, "structure_count": [2, 3],
                 "estimation_count": [0, 4]}, "dims must be from 1 to 2"),
    (hand_made, {"split_points": [1, 3], "split_point_born": [6, 5, 5, 5],
                 "structure_count": [1] * 12, "estimation_count": [1] * 12},
     "split_points must be at most m"),
    (hand_made, {"summed": [1, 1]}, "summed must be 0 or 1, and 0 where no structure points"),
    (hand_made, {"summed": [0, 2]}, "summed must be 0 or 1"),
    (hand_made, {"candidate_dims": [0, 1, 2]}, "candidate_dims must be below 2"),
    (hand_made, {"split_threshold": [0.1, NAN, np.inf, 0.4, 0.7]}, "must not be infinite"),
    # points that are kept, in either stream
    (hand_made, {"structure_label": [0, 2, 0]}, "structure_label must be a class that has arrived"),
    (hand_made, {"estimation_label": [0, HUGE >> 32]}, "estimation_label must be a class"),
    (hand_made, {"structure_bits": [0b01_00_01, 0b10_00_00, 0b11_10_00]}, "has no meaning"),
    (hand_made, {"structure_bits": [0b01_10_00, 0b11_01_00, 0b11_10_00]}, "has no meaning"),
    (hand_made, {"structure_bits": [0b01_00_01 | 1 << 6, 0b11_01_00, 0b11_10_00]}, "has no meaning"),
    (hand_made, {"structure_bits": [0b01_00_01 | 1 << 63, 0b11_01_00, 0b11_10_00]}, "has no meaning"),
    (hand_made, {"structure_bits": [0b01_00_01, 0b11_00_10, 0b11_10_00]}, "no point may go left of NaN"),
    (hand_made, {"estimation_bits": [0b01_00_01, 0b11_00_10]}, "no point may go left of NaN"),
    (with_a_fringe_of_one, {"split_points": [0], "split_point_born": [], "split_threshold": []},
     "points, but no split point"),
    (with_a_fringe_of_one, {"split_points": [1], "split_point_born": [6],
                            "split_threshold": [0.1, 0.3]}, "more split points than there are"),
    # points that are counted
    (hand_made, {"structure_count": [3, 2, 0, 3]}, "structure_count: more points go left than arrive"),
    (hand_made, {"structure_count": [1, 2**63, 0, 2**63]}, "sum of structure_count must be below"),
    (hand_made, {"estimation_count": [0, 0, 3, 2]}, "estimation_count: more points go left"),
    (hand_made, {"split_threshold": [0.1, NAN, 0.3, 0.4, NAN]}, "no point may go left of NaN"),
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
def test_a_forged_array_is_detected(make, lie, reason):
    header, arrays = make()
    case, message = refused(sealed(header, narrowed({**arrays, **lie})))
    assert (case, reason in message) == ("arrays", True), message


# -- kept points -------------------------------------------------------------------------------------


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
    (ALL, put("growth", 0, 401), "growth: more structure arrivals than were received"),
    (WEIGHTS, cut_off("kept_weight"), "kept_weight must hold 150 numbers, none, or one per kept"),
    *((WEIGHTS, put("kept_weight", 3, weight), "kept_weight must be above 0 and at most 2^20")
      for weight in (0.0, -1.0, NAN, np.inf, 2.0**20 + 1)),
    (LATER, put("next_look", young, 0), "next_look must be set exactly where dims is 0"),
    (LATER, put("next_look", settled, 1), "next_look must be set exactly where dims is 0"),
    (LATER, put("summed", young, 1), "summed must be 0 in a young leaf"),
    (SPARSE, cut_off("kept_starts"), "kept_starts must hold 131 numbers"),
    (SPARSE, cut_off("kept_widths"), "kept_widths must hold 130 numbers"),
    (SPARSE, cut_off("kept_columns"), "kept_columns must hold"),
    (SPARSE, cut_off("kept_entries"), "kept_entries must hold"),
    (SPARSE, put("kept_starts", 0, 1), "kept_starts must begin with 0"),
    (SPARSE, put("kept_starts", 5, HUGE), "kept_starts must not fall"),
    (SPARSE, put("kept_starts", -1, 2**62), "kept_columns must hold"),
    (SPARSE, put("kept_columns", 0, 4), "kept_columns must be below kept_widths"),
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
    (DEPTH, put("kept_pixels", 0, 10), "kept_pixels must be in an image of kept_shapes"),
    (DEPTH, put("kept_pixels", 0, 1), "in the order of their first pixels"),
    (DEPTH, put("kept_pixels", 1, 6), "kept_pixels must be in a row of their image"),
    (DEPTH, put("kept_pixels", 2, 2**32 - 1), "kept_pixels must be in a column of their image"),
    (DEPTH, put("feature", 0, NAN), "feature must be finite"),
    (DEPTH, cut_off("feature"), "feature must hold four numbers per feature"),
    ("depth", put("candidate_dims", 0, np.inf), "candidate_dims must be finite"),
    (SAFFARI, cut_off("bag"), "bag must hold 12 numbers, 4 per tree"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "change", "reason"), KEPT_LIES,
    ids=[f"{kind}: {change.__name__}" for kind, change, _ in KEPT_LIES],
)  # fmt: skip
def test_forged_kept_points_and_arrays_of_another_kind_of_forest_are_detected(kind, change, reason):
    header, arrays = opened(snapshot(kind))
    change(header, arrays)
    case, message = refused(sealed(header, arrays))
    assert (case, reason in message) == ("arrays", True), message


DEPTH_LIES = [
    (at("n_features"), [4]), (at("feature_names"), [["a"]]), (at("sparse"), [False]),
    (at("depth"), [MISSING, None, {}, {"far": 6.0}, {"far": 6.0, "offset_std": 1.0, "more": 1}]),
    (at("depth", "far"), [0.0, -1.0, 1e7, 0.1, "x", None, 1e-60]),
    (at("depth", "offset_std"), [0.0, NAN, "x", None]),
]  # fmt: skip


@pytest.mark.parametrize(("change", "lie"), [(c, lie) for c, lies in DEPTH_LIES for lie in lies])
def test_a_forged_header_of_a_depth_forest_is_detected(change, lie):
    header, arrays = opened(snapshot("depth, pixels kept"))
    change(header, lie)
    assert refused(sealed(header, arrays))[0] == "header"


def test_an_unknown_estimator_class_is_named_with_the_known_ones():
    header, arrays = opened(snapshot())
    case, reason = refused(sealed({**header, "class": "subprocess.Popen"}, arrays))
    assert case == "header"
    assert "'subprocess.Popen'" in reason
    assert "OnlineForestClassifier, OnlineForestRegressor, AdaptiveForestClassifier" in reason


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_a_snapshot_of_one_class_is_not_one_of_another(kind):
    header, arrays = opened(snapshot(kind))
    for name in ("OnlineForestClassifier", "SaffariForestClassifier", "DepthForestClassifier",
                 "DepthSaffariClassifier"):  # fmt: skip
        if name != header["class"]:
            assert refused(sealed({**header, "class": name}, arrays))[0] == "header"


def test_a_kept_row_that_would_need_a_segment_of_wide_rows_is_counted_in_full():
    header, arrays = opened(snapshot("one point kept"))
    wide = 20_000
    header["n_features"] = wide
    arrays["kept_rows"] = np.zeros(wide, dtype=np.float32)
    case, reason = refused(sealed(header, arrays), max_bytes=10**7)
    assert case == "size"
    assert "max_bytes=10000000" in reason


# -- whatever else ------------------------------------------------------------------------------------


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


def test_a_small_file_that_needs_much_memory_is_refused():
    header, arrays = opened(snapshot("no points"))
    header["n_features"] = 2**31 - 1
    header["engine"]["split_points"] = 2**16
    arrays["dims"][:] = 50_000 % 256
    drawn = np.arange(arrays["dims"].sum(dtype=int), dtype=np.uint32)
    arrays["candidate_dims"] = drawn
    case, reason = refused(sealed(header, arrays), max_bytes=10**7)
    assert case == "size"
    assert "max_bytes=10000000" in reason


def test_parameters_for_a_large_forest_need_no_memory_to_load():
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


@pytest.mark.parametrize("value", [[], {}, {"a": 1}, "", 1.5, [1]], ids=json.dumps)
def test_a_header_of_many_small_values_is_refused_before_they_are_made(value):
    header, arrays = opened(snapshot())
    header["extra"] = {"many": [value] * 200_000}
    data = sealed(header, arrays)
    del header
    tracemalloc.start()
    case, reason = refused(data, max_bytes=2**24)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.reset_peak()
    assert riparian.from_bytes(data, max_bytes=2**27)
    assert tracemalloc.get_traced_memory()[1] < 2**27
    tracemalloc.stop()
    assert case == "size"
    assert "max_bytes=16777216" in reason


def test_labels_that_need_much_memory_are_refused():
    header, arrays = opened(snapshot("names"))
    header["labels"]["dtype"] = "<U99999999"
    assert refused(sealed(header, arrays), max_bytes=10**8)[0] == "size"


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "forest"
    with open(path, "wb") as file:
        file.truncate(10**12)  # takes no room
    with pytest.raises(riparian.SnapshotError, match="bytes, more than") as caught:
        riparian.load(path)
    assert caught.value.case == "size"


def test_the_estimate_is_no_less_than_what_the_forest_holds():
    for kind in ALL_KINDS:
        forest = riparian.from_bytes(snapshot(kind))
        about, _, trees, _, points = state.read(snapshot(kind), 2**40)
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
