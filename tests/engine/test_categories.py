"""Values of a categorical column become codes by arrival (R22), whatever the batches."""

import copy
import datetime
import enum
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riparian.engine.categories import (
    CATEGORY_BYTES,
    CategoryTables,
    Coded,
    MixedRows,
    bytes_of,
    shown,
)

NAN = float("nan")


class Colour(enum.StrEnum):
    RED = "red"


def rows(*columns: list) -> MixedRows:
    numbers = np.full((len(columns[0]), len(columns)), np.nan, dtype=np.float32)
    coded = {i: Coded.of(f"c{i}", cells) for i, cells in enumerate(columns)}
    return MixedRows(numbers, coded)


def tables(columns: int = 1, most: int = 100, max_bytes: int | None = None) -> CategoryTables:
    return CategoryTables.empty(range(columns), most, max_bytes)


def joined(known: CategoryTables, *columns: list) -> list:
    return known.join(rows(*columns)).T.tolist()


def same(a: list, b: list) -> bool:
    return np.array_equal(np.array(a), np.array(b), equal_nan=True)


def test_codes_are_given_by_arrival():
    known = tables()
    assert joined(known, ["b", "a", "b", "c"]) == [[0, 1, 0, 2]]
    assert joined(known, ["c", "d"]) == [[2, 3]]
    assert known.tables[0].values == ["b", "a", "c", "d"]


@pytest.mark.parametrize("missing", [None, NAN, np.float32("nan"), np.datetime64("NaT")])
def test_a_missing_value_is_nan_and_not_a_category(missing):
    known = tables()
    assert same(joined(known, ["a", missing, "a"]), [[0, NAN, 0]])
    assert known.tables[0].values == ["a"]


def test_missing_values_of_pandas_are_missing():
    pandas = pytest.importorskip("pandas")
    assert same(joined(tables(), [pandas.NA, "a", pandas.NaT]), [[NAN, 0, NAN]])


def test_a_value_that_was_never_learned_has_no_code():
    known = tables()
    known.join(rows(["a"]))
    assert same(known.codes(rows(["z", "a"])).T.tolist(), [[NAN, 0]])
    assert known.tables[0].values == ["a"]


@given(st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=1, max_size=12), st.data())
def test_some_rows_of_a_column_have_their_values_and_no_others(cells, data):
    column = Coded.of("city", cells)
    first = data.draw(st.integers(0, len(cells)))
    some = column[first : data.draw(st.integers(first, len(cells)))]
    assert [some.values[i] if i >= 0 else None for i in some.which] == cells[first:][: len(some)]
    assert len(some.values) <= max(
        len(some), len({*cells} - {None}) * (len(some) >= len(column.values))
    )


def test_only_the_values_of_the_rows_that_are_learned_join():
    known, batch = tables(), rows(["a", "b", "c"])
    known.join(batch[np.array([False, False, True])])
    assert known.tables[0].values == ["c"]


def test_numbers_that_are_equal_are_one_category_and_text_is_another():
    known = tables(2)
    assert joined(
        known, [1, 1.0, True, np.int8(1), 2.5], ["1", Colour.RED, np.str_("1"), "red", "1"]
    ) == [
        [0, 0, 0, 0, 1],
        [0, 1, 0, 1, 0],
    ]
    assert known.tables[0].values == [1, 2.5]
    assert [type(value) for value in known.tables[1].values] == [str, str]


def test_beyond_the_bound_all_others_are_one_category():
    known = tables(most=2)
    assert joined(known, ["a", "b", "a", "c", "d"]) == [[0, 1, 0, 2, 2]]
    assert known.tables[0].values == ["a", "b"]
    assert known.codes(rows(["never seen"])).tolist() == [[2]]
    assert [known.tables[0].name(code) for code in range(3)] == ["'a'", "'b'", "(other)"]


def test_tables_stay_within_their_bytes():
    known = tables(2, max_bytes=3 * CATEGORY_BYTES + 3)
    assert joined(known, ["a", "b", "c"], ["x", "x", "yy"]) == [[0, 1, 2], [0, 0, 1]]
    assert known.tables[0].values == ["a", "b"]
    assert known.tables[1].values == ["x"]
    assert known.tables[1].full
    assert known.bytes == 3 * CATEGORY_BYTES + 3


def test_a_table_that_was_full_stays_full():
    known = tables(max_bytes=bytes_of("a") + 1)
    joined(known, ["much too long"])
    assert joined(known, ["a"]) == [[0]]
    assert known.tables[0].values == []


@pytest.mark.parametrize(
    "cells, named",
    [
        (["a", 1], "text or numbers, not both, got 'a' and 1"),
        ([b"a"], "got b'a' of type bytes"),
        ([NAN, float("inf")], "got inf of type float"),
        ([2**64], "fit 64 bits"),
        ([("a",)], "of type tuple"),
        ([["a"]], "must hold categories"),
        ([datetime.date(2024, 1, 1)], "of type date: turn dates and times into numbers"),
        ([np.datetime64("2024-01-01T00:00:00", "ns")], "turn dates and times into numbers"),
        ([datetime.timedelta(1)], "turn dates and times into numbers"),
    ],
)
def test_a_value_that_cannot_be_a_category_is_refused_by_name(cells, named):
    with pytest.raises(ValueError, match="feature 'city' must hold") as refused:
        Coded.of("city", cells)
    assert named in str(refused.value)


def test_a_column_does_not_change_from_text_to_numbers():
    known = tables(2)
    joined(known, ["a"], ["x"])
    with pytest.raises(
        ValueError, match="feature 'c1' must not change its type: it has held text so far"
    ):
        known.join(rows(["b"], [3]))
    assert known.tables[0].values == ["a"]
    assert same(joined(known, [None], [None]), [[NAN], [NAN]])


cells = st.one_of(st.none(), st.sampled_from("abcdefgh"), st.text(max_size=3))


@given(
    st.lists(st.tuples(cells, cells), max_size=30),
    st.lists(st.integers(0, 30), max_size=4),
    st.integers(1, 6),
    st.one_of(st.none(), st.integers(0, 8 * CATEGORY_BYTES)),
)
def test_codes_do_not_depend_on_the_batches(points, cuts, most, max_bytes):
    whole, parts = (tables(2, most, max_bytes) for _ in range(2))
    columns = [[point[i] for point in points] for i in range(2)]
    at_once = whole.join(rows(*columns))
    ends = sorted({0, len(points), *(cut for cut in cuts if cut < len(points))})
    pieces = [parts.join(rows(*columns)[first:last]) for first, last in itertools.pairwise(ends)]
    if points:
        assert np.array_equal(at_once, np.concatenate(pieces), equal_nan=True)
    assert whole.tables[0].values == parts.tables[0].values
    assert whole.bytes == parts.bytes


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_copies_are_independent(copied):
    known = tables(most=2)
    joined(known, ["a"])
    other = copied(known)
    assert joined(other, ["a", "b", "c"]) == [[0, 1, 2]]
    assert joined(known, ["c"]) == [[1]]
    assert (other.most, other.bytes) == (2, 2 * (CATEGORY_BYTES + 1))


def test_a_long_text_is_shown_short():
    assert len(shown("x" * 1000)) <= 42
