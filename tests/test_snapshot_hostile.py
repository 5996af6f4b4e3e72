"""Hostile files: every lie is found before the core sees it, also where the checksum is right."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from snapshots import KINDS, changed, learned, opened, scratched, sealed, survive

import riparian
from riparian.snapshot import size

pytestmark = pytest.mark.engine


@functools.cache
def snapshot(kind="default", prediction_only=False):
    return learned(**KINDS[kind]).to_bytes(prediction_only=prediction_only)


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
    case, reason = refused(sealed({**header, "format": 2, "library": "9.0"}, arrays))
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
    (at("engine", "alpha"), [1.0, None, {"kind": "Geometric", "start": 0.5, "rate": 1},
                             {"kind": "Polynomial", "start": 1, "rate": 1}]),
    (at("engine", "beta"), [{"kind": "Geometric", "start": 1.0, "rate": 1.0}, [], "x"]),
    (at("engine", "structure_fraction"), [0.0, 1.0, None]),
    (at("engine", "fringe_size"), [0, -1, 1.5, 2**64]),
    (at("engine", "voting"), ["loud", None]),
    (at("engine", "max_memory"), [0, -5, "much", 2**70]),
    (at("n_features"), [MISSING, 0, -1, 2**32, 4.0]),
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
    assert riparian.from_bytes(sealed(header, arrays))._labels.closed


def test_balanced_weights_have_seen_only_what_arrived():
    header, arrays = opened(snapshot("balanced"))
    for seen in ([1, 2, 3, 4], [2**61 - 1, 1]):
        header["class_weights"]["seen"] = seen
        assert refused(sealed(header, arrays))[0] == "header"


# -- arrays ------------------------------------------------------------------------------------------


def put(name, index, value, wide=np.uint64):
    def change(arrays):
        places = index(arrays) if callable(index) else index
        if arrays[name].dtype.kind == "u":
            arrays[name] = arrays[name].astype(wide)
        arrays[name][places] = value

    change.__name__ = f"{name}[{getattr(index, '__name__', index)}] = {value}"
    return change


def add(name, index, amount):
    def change(arrays):
        arrays[name] = arrays[name].astype(np.int64)
        arrays[name][index(arrays) if callable(index) else index] += amount
        arrays[name] = arrays[name].astype(np.uint64)

    change.__name__ = f"{name}[{getattr(index, '__name__', index)}] += {amount}"
    return change


def inner(arrays):
    return np.flatnonzero(arrays["child"])[0]


def second_inner(arrays):
    return np.flatnonzero(arrays["child"])[1]


def a_leaf(arrays):
    return np.flatnonzero(arrays["child"] == 0)[0]


def end_of_a_histogram(arrays):
    return arrays["leaf_classes"][0] - 1


def a_leaf_with_split_points(arrays):
    return np.flatnonzero(arrays["split_points"] > 1)[0]


def its_split_point(arrays):
    return arrays["split_points"][: a_leaf_with_split_points(arrays)].sum(dtype=int) + 1


def total(i):
    def place(arrays):
        return i

    place.__name__ = f"total {i}"
    return place


# A kind of forest, what is done to its arrays, and what the error says. `wide` types are the core's.
ARRAY_LIES = [
    # the tree
    ("default", put("nodes", 0, 2), "odd number"),
    ("default", put("nodes", 0, 0), "odd number"),
    ("default", add("nodes", 0, 2), "one for each node"),
    ("default", put("nodes", 0, 2**63 + 1), "odd number"),
    ("default", put("child", inner, 2, np.uint32), "odd"),
    ("default", put("child", second_inner, 1, np.uint32), "two parents|after its parent"),
    ("default", put("child", inner, 2**31 + 1, np.uint32), "node of its tree"),
    ("default", put("child", 5, 5, np.uint32), "after its parent"),
    ("default", put("child", inner, 0, np.uint32), "every node but the root|one for each|in a leaf"),
    ("default", put("feature", inner, 4, np.uint32), "feature must be below 4|for each column"),
    ("default", put("feature", a_leaf, 1, np.uint32), "0 in a leaf"),
    ("default", put("threshold", inner, np.nan), "threshold must be finite"),
    ("default", put("threshold", inner, np.inf), "threshold must be finite"),
    ("default", put("threshold", a_leaf, 1.0), "0 in a leaf"),
    # totals
    ("default", put("totals", 0, 2**61), "structure_points must be below"),
    ("default", put("totals", 1, 2**60), "more points than were received"),
    ("default", add("totals", 3, 1), "a split for every inner node"),
    ("default", put("totals", 5, 4), "more classes"),
    ("default", put("totals", 8, 1), "evictions must be 0"),
    ("default", put("totals", 9, 1), "stopped_at must be 0"),
    ("memory budget", put("totals", 9, 1501), "stopped_at must have been reached"),
    ("memory budget", put("totals", 9, 1), "has stopped"),
    ("default", put("importance", 0, 2**63 - 1), "importance must not sum up"),
    # leaves
    ("default", put("leaf_born", 0, 10**6), "later than now"),
    ("default", put("leaf_classes", 0, 2**32 - 1, np.uint32), "for each class of a leaf"),
    ("default", put("leaf_active", 0, 2, np.uint8), "0 or 1"),
    ("default", put("histogram", end_of_a_histogram, 0), "end with a class of no points"),
    ("default", put("histogram", 0, 2**63), "must not sum up"),
    ("default", put("histogram", 0, 10**6), "more points than"),
    ("full fringe and a late class", put("leaf_active", slice(None), 0, np.uint8), "one for each"),
    # keys
    ("full fringe and a late class", put("key_under", 0, 0), "key_under must be from 1"),
    ("full fringe and a late class", put("key_under", 0, 10**6), "key_under must be from 1"),
    ("full fringe and a late class", put("key_over", 0, 10**6), "must not be above key_under"),
    ("full fringe and a late class", put("key_over", slice(None), 0), "at least ŝ"),
    # candidates
    ("default", put("dims", 0, 0, np.uint32), "one for each"),
    ("default", put("dims", 0, 2**32 - 1, np.uint32), "one for each|beyond all bounds"),
    ("default", put("split_points", 0, 2**32 - 1, np.uint32), "one for each|beyond all bounds"),
    ("default", put("received", 0, 10**6), "received must be points of the leaf"),
    ("default", put("planned", 0, 2**63), "planned must not sum up"),
    ("default", put("summed", slice(None), 1, np.uint8), "summed must be 0 or 1"),
    ("default", put("candidate_dims", 0, 4, np.uint32), "candidate_dims must be below 4"),
    ("many candidates", put("candidate_dims", slice(0, 2), 1, np.uint32), "distinct"),
    ("default", put("split_threshold", 0, np.inf), "must not be infinite"),
    ("default", put("split_point_born", 0, 10**6), "not be later|not fall"),
    ("default", put("split_point_born", its_split_point, 0), "life of its leaf|not fall"),
    ("sums kept", put("structure_counted", 0, 2, np.uint8), "0 or 1"),
    ("default", put("structure_length", 0, 2**32 - 1, np.uint32), "one for each"),
    ("default", put("structure_label", 0, 3, np.uint32), "class that has arrived"),
    ("default", put("estimation_label", 0, 2**32 - 1, np.uint32), "class that has arrived"),
    ("default", put("structure_bits", 0, 2**64 - 1), "where nobody counts"),
    ("default", put("structure_bits", 0, 0), "one by one|first point must meet"),
    ("default", put("estimation_bits", 0, 0), "must meet a split point"),
    ("default", put("estimation_bits", slice(None), 2**63), "meet a split point|nobody counts"),
    ("sums kept", put("structure_count", slice(None), 0), "without its own point"),
    ("sums kept", put("structure_count", 0, 2**63), "more points go left"),
    ("sums kept", put("structure_count", slice(None), 10**6), "than the tree has received|NaN"),
    ("sums kept", put("estimation_count", slice(None), 10**4), "more points than received|NaN"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "change", "reason"), ARRAY_LIES, ids=lambda v: getattr(v, "__name__", str(v)[:20])
)
def test_a_lie_in_an_array_is_found(kind, change, reason):
    header, arrays = opened(snapshot(kind))
    change(arrays)
    case, told = refused(sealed(header, arrays))
    assert case == "arrays"
    assert any(one in told for one in reason.split("|")), told


def other_type(array):
    return np.zeros(len(array), dtype=np.float32 if array.dtype.kind != "f" else np.uint32)


@pytest.mark.parametrize("prediction_only", [False, True])
def test_every_array_must_be_there_with_its_type_and_length_and_no_other(prediction_only):
    header, arrays = opened(snapshot("sums kept", prediction_only))
    for name, array in arrays.items():
        others = {other: a for other, a in arrays.items() if other != name}
        assert refused(sealed(header, others)) == ("arrays", f"the array {name!r} is missing")
        for wrong in (other_type(array), np.append(array, array.dtype.type(0)), array[1:]):
            if wrong.dtype != array.dtype or len(wrong) != len(array):
                assert refused(sealed(header, {**arrays, name: wrong}))[0] == "arrays"
    more = {**arrays, "more": np.zeros(3, dtype=np.uint8)}
    assert refused(sealed(header, more)) == ("arrays", "the array 'more' is unknown")


def test_a_tree_with_a_cycle_is_refused():
    # 0 -> 1, 2; then 1 and 3 would lead to each other.
    header, arrays = opened(snapshot())
    arrays["child"] = arrays["child"].astype(np.uint32)
    arrays["child"][:5] = [1, 3, 0, 1, 0]
    assert "after its parent" in refused(sealed(header, arrays))[1]


def test_a_fringe_larger_than_it_may_be_is_refused():
    header, arrays = opened(snapshot("full fringe and a late class"))
    for fringe_size in (2, 4):
        header["engine"]["fringe_size"] = fringe_size
        assert "fringe (R12)" in refused(sealed(header, arrays))[1]
    header, arrays = opened(snapshot("memory budget and fringe"))
    header["engine"]["fringe_size"] = 3
    assert "more leaves than fringe_size" in refused(sealed(header, arrays))[1]


def test_leaves_with_fewer_points_than_alpha_are_refused():
    header, arrays = opened(snapshot())
    header["engine"]["alpha"]["start"] = 50.0
    header["engine"]["beta"]["start"] = 5000.0
    assert "must hold α points" in refused(sealed(header, arrays))[1]


def test_more_points_kept_than_the_engine_keeps_are_refused():
    header, arrays = opened(snapshot("one point"))
    kept = np.flatnonzero(arrays["structure_length"])
    if len(kept) == 0:
        pytest.fail("the point should be a structure point somewhere")
    words = len(arrays["structure_bits"]) // len(kept)
    arrays["structure_length"] = arrays["structure_length"].astype(np.uint32)
    arrays["structure_length"][kept[0]] = 10_001
    for name, each in (("structure_label", 1), ("structure_bits", words)):
        arrays[name] = np.concatenate([np.tile(arrays[name][:each], 10_000), arrays[name]])
    assert "than counting would cost" in refused(sealed(header, arrays))[1]


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
    header["n_features"] = 2**32 - 1
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
    header["n_features"] = 2**32 - 1
    header["engine"]["candidate_dims"] = 1e6
    forest = riparian.from_bytes(sealed(header, arrays), max_bytes=10**7)
    assert forest.n_features_in_ == 2**32 - 1


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
    for kind in KINDS:
        header, arrays = opened(snapshot(kind))
        forest = riparian.from_bytes(sealed(header, arrays))
        about = riparian.snapshot.header.read(json.dumps(header), 2**40)
        wide = riparian.snapshot.arrays.widen(arrays, False)
        assert forest.memory()["total"] <= size.core_bytes(wide, about) <= 10**7


# -- any change at all -------------------------------------------------------------------------------

many = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
kinds = st.sampled_from([(kind, only) for kind in KINDS for only in (False, True)])


@many
@given(kinds, st.randoms())
def test_scratched_bytes_are_refused_or_a_forest(kind, random):
    survive(scratched(random, snapshot(*kind)))


@many
@given(kinds, st.randoms())
def test_changed_arrays_and_headers_are_refused_or_a_forest(kind, random):
    survive(changed(random, *opened(snapshot(*kind))))
