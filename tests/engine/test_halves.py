"""Halves of categories (R22) as Python has them are those of the reference."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from riparian.engine.halves import LAST, category_goes_left, codes_left, halves_among
from riparian.reference import differs

halves = st.integers(int(LAST), -1).map(float)


@given(halves, st.integers(0, 300))
def test_the_codes_of_a_half_are_those_that_go_left(half, n_codes):
    expected = [code for code in range(n_codes) if not differs(float(code), half)]
    assert codes_left(half, n_codes).tolist() == expected
    for code in (0, 17, 299, 2**24 - 1):
        assert category_goes_left(float(code), half) == (not differs(float(code), half))


@given(st.integers(0, 20))
def test_a_category_is_the_only_one_that_goes_left(code):
    assert codes_left(float(code), 10).tolist() == ([code] if code < 10 else [])
    assert [category_goes_left(c, float(code)) for c in (code, code + 1.0)] == [True, False]


def test_a_missing_value_goes_right():
    assert not category_goes_left(np.nan, -1.0)
    assert not category_goes_left(np.nan, np.nan)
    assert codes_left(np.nan, 5).tolist() == []


def test_every_half_of_a_key_holds_about_half_of_the_codes_and_they_differ():
    sets = [codes_left(-1.0 - 64 * 1234 - b, 1000) for b in range(64)]
    assert all(400 < len(codes) < 600 for codes in sets)
    shared = [len(np.intersect1d(a, b)) for a in sets for b in sets if a is not b]
    assert min(shared) > 150 and max(shared) < 350


def test_only_a_split_in_a_categorical_column_is_one():
    threshold = np.array([-1, -1, 3, np.nan], dtype=np.float32)
    categorical = np.array([True, False, True, True])
    assert halves_among(threshold, categorical).tolist() == [True, False, False, False]
