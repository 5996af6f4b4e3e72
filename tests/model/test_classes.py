"""Labels in two orders: that of arrival, which the engine counts in, and the public, sorted one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riparian.model.classes import Classes, distinct
from riparian.tools.checks import label_family as family


def test_labels_are_numbered_in_order_of_arrival_and_shown_sorted():
    labels = Classes(None)
    assert labels.join(np.array(["oak", "ash", "oak", "elm"])).tolist() == [0, 1, 0, 2]
    assert labels.arrived == ["oak", "ash", "elm"]
    assert labels.classes.tolist() == ["ash", "elm", "oak"]
    assert labels.rank().tolist() == [2, 0, 1]


def test_a_number_once_given_stays():
    labels = Classes(None)
    labels.join(np.array([5, 3]))
    assert labels.join(np.array([4, 3, 5])).tolist() == [2, 1, 0]
    assert labels.classes.tolist() == [3, 4, 5]
    assert labels.rank().tolist() == [2, 0, 1]


# Small numbers are looked up in a table, others are not.
batches = st.one_of(
    st.lists(st.lists(label, max_size=6), max_size=6)
    for label in (st.integers(0, 5), st.integers(-9, 9), st.sampled_from([0, 1, 4095, 4096]))
)


@given(batches)
def test_batches_make_no_difference(batches):
    whole, pieces = Classes(None), Classes(None)
    stream = [label for batch in batches for label in batch]
    numbers = whole.join(np.array(stream, dtype=int)).tolist()
    assert [n for b in batches for n in pieces.join(np.array(b, dtype=int)).tolist()] == numbers
    assert pieces.arrived == whole.arrived == list(dict.fromkeys(stream))
    assert pieces.classes.tolist() == whole.classes.tolist() == sorted(set(stream))


@given(batches)
def test_classes_that_are_known_beforehand_change_no_number(batches):
    stream = [label for batch in batches for label in batch]
    known = np.array([*sorted(set(stream)), 5000])
    plain, closed, open_ = Classes(None), Classes(known), Classes(known[::2], open=True)
    for batch in batches:
        numbers = plain.join(np.array(batch, dtype=int)).tolist()
        for labels in (closed, open_):
            labels.check(np.array(batch, dtype=int))
            assert labels.join(np.array(batch, dtype=int)).tolist() == numbers
            assert labels.arrived == plain.arrived
            assert labels.classes[labels.rank()].tolist() == plain.arrived
    assert closed.classes.tolist() == known.tolist()
    assert open_.classes.tolist() == sorted({*known[::2].tolist(), *stream})


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint64])
def test_the_width_of_a_whole_number_makes_no_difference(dtype):
    labels = Classes(None)
    labels.join(np.array([5, 3]))
    assert labels.join(np.array([3, 5, 3], dtype=dtype)).tolist() == [1, 0, 1]
    assert labels.join(np.array([4, 5], dtype=dtype)).tolist() == [2, 0]


@pytest.mark.parametrize("strange", [[0.0], [True], ["0"]])
def test_a_label_of_another_type_is_refused_even_if_it_could_stand_for_a_number(strange):
    labels = Classes(None)
    labels.join(np.array([0, 1]))
    for refuse in (labels.check, labels.join):
        with pytest.raises(ValueError, match="labels of type int, got"):
            refuse(np.array(strange))


@given(batches)
def test_the_rank_of_a_label_is_its_place_among_the_classes(batches):
    labels = Classes(None)
    for batch in batches:
        labels.join(np.array(batch, dtype=int))
    assert [labels.classes[place] for place in labels.rank()] == labels.arrived


def test_classes_given_are_there_before_they_arrive():
    labels = Classes(np.array([1, 2, 3]))
    assert labels.classes.tolist() == [1, 2, 3]
    assert labels.rank().tolist() == []
    assert labels.join(np.array([3, 1])).tolist() == [0, 1]
    assert labels.rank().tolist() == [2, 0]
    assert labels.classes.tolist() == [1, 2, 3]


def test_a_label_that_is_none_of_the_given_classes_is_refused_and_so_is_its_whole_batch():
    labels = Classes(np.array([1, 2, 3]))
    labels.join(np.array([2]))
    with pytest.raises(ValueError, match=r"classes that were given, \[1, 2, 3\], got \[4, 5\]"):
        labels.join(np.array([1, 5, 4]))
    assert labels.arrived == [2]


def test_a_label_between_the_classes_given_is_refused_too():
    labels = Classes(np.array([1, 6]))
    for refuse in (labels.check, labels.join):
        with pytest.raises(ValueError, match=r"classes that were given, \[1, 6\], got \[2, 4\]"):
            refuse(np.array([4, 1, 2, 4]))
    assert labels.arrived == []
    assert labels.join(np.array([6, 1])).tolist() == [0, 1]


def test_a_label_between_those_known_joins_an_open_stream():
    labels = Classes(np.array([1, 6]), open=True)
    assert labels.join(np.array([6, 3, 1, 3, 2])).tolist() == [0, 1, 2, 1, 3]
    assert labels.classes.tolist() == [1, 2, 3, 6]
    assert labels.joined == [3, 2]
    assert labels.classes_when(3).tolist() == [1, 3, 6]


def test_a_label_of_another_type_is_refused():
    labels = Classes(None)
    labels.join(np.array([1, 2]))
    with pytest.raises(ValueError, match="labels of type int, got str"):
        labels.join(np.array(["1"]))
    assert labels.arrived == [1, 2]
    assert labels.classes.tolist() == [1, 2]


def test_an_empty_batch_settles_no_type():
    labels = Classes(None)
    assert labels.join(np.array([])).tolist() == []
    assert labels.join(np.array(["a"])).tolist() == [0]


def test_longer_words_fit_among_shorter_ones():
    labels = Classes(None)
    labels.join(np.array(["fir"]))
    labels.join(np.array(["hornbeam", "fi"]))
    assert labels.classes.tolist() == ["fi", "fir", "hornbeam"]
    assert labels.rank().tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.array([1], dtype=np.int8), np.array([1000])),
        (np.array([2**62]), np.array([2**62 + 1], dtype=np.uint64)),
        (np.array([-1]), np.array([2**63 + 1], dtype=np.uint64)),
    ],
    ids=["int8 and int64", "int64 and uint64", "a negative and a huge one"],
)
def test_integers_of_any_width_are_distinguished(first, second):
    labels = Classes(None)
    labels.join(first)
    try:
        labels.join(second)
    except ValueError:
        assert labels.classes.tolist() == first.tolist()  # refused is fine, mixed up is not
    else:
        assert labels.classes.tolist() == [first[0], second[0]]
        assert [labels.classes[place] for place in labels.rank()] == labels.arrived


def test_the_classes_of_an_earlier_moment_can_be_restored():
    labels = Classes(None)
    labels.join(np.array(["b", "c"]))
    labels.join(np.array(["a"]))
    assert labels.classes_when(2).tolist() == ["b", "c"]
    assert labels.classes_when(3).tolist() == ["a", "b", "c"]


def test_the_same_classes_in_a_later_call_are_fine_and_others_are_not():
    labels = Classes(np.array([1, 2]))
    labels.check_same(np.array([1, 2]))
    with pytest.raises(ValueError, match=r"must stay as in the first call, \[1, 2\], got \[1, 3\]"):
        labels.check_same(np.array([1, 3]))
    with pytest.raises(ValueError, match="in the first call or not at all"):
        Classes(None).check_same(np.array([1, 2]))


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        (np.array([1]), "int"),
        (np.array([1], dtype=np.uint8), "int"),
        (np.array([1.0]), "float"),
        (np.array([True]), "bool"),
        (np.array(["a"]), "str"),
        (np.array(["a"], dtype=object), "str"),
        (np.array([7], dtype=object), "int"),
    ],
)
def test_labels_that_can_be_sorted_among_each_other_are_a_family(labels, name):
    assert family(labels) == name


def test_labels_of_two_families_are_refused():
    with pytest.raises(ValueError, match="labels must all be of one type, got int, str"):
        family(np.array(["a", 1], dtype=object))
    with pytest.raises(ValueError, match="must be numbers, strings or bools, got datetime64"):
        family(np.array(["2020-01-01"], dtype="M8[D]"))


@pytest.mark.parametrize(
    "labels",
    [
        np.array([], dtype=int),
        np.array([3, -1, 3, 2], dtype=np.int8),
        np.array([2**64 - 1, 0, 7, 0], dtype=np.uint64),
        np.array([True, False, True]),
        np.array([2.0, 1.0, 2.0]),
        np.array(["b", "a", "b"]),
    ],
)
def test_distinct_labels_are_those_that_numpy_finds_in_an_array_of_their_own(labels):
    own, unique = distinct(labels), np.unique(labels)
    np.testing.assert_array_equal(own, unique)
    assert own.dtype == unique.dtype
    assert not np.shares_memory(own, labels)
