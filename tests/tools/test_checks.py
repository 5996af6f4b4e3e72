"""Numbers from outside: what is taken, and what an error says of the rest."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riparian.tools.checks import number, whole


@pytest.mark.parametrize("not_whole", [1.0, "1", None, True, 1j, np.float64(1), [1]])
def test_a_whole_number_is_an_integer_and_no_bool(not_whole):
    with pytest.raises(TypeError, match="size must be a whole number, got"):
        whole("size", not_whole, at_least=0, at_most=9)


@pytest.mark.parametrize("no_number", ["1", None, True, 1j, [1.0], np.array([1.0])])
def test_a_number_is_real_and_no_bool(no_number):
    with pytest.raises(TypeError, match="size must be a number, got"):
        number("size", no_number, at_least=0)


@pytest.mark.parametrize("beyond", [-1e-300, math.nan, math.inf, -math.inf])
def test_a_number_is_finite_and_at_least_its_bound(beyond):
    with pytest.raises(ValueError, match="size must be finite and >= 0, got"):
        number("size", beyond, at_least=0)


@pytest.mark.parametrize("beyond", [-1e-300, 1.5, math.nan, math.inf])
def test_a_number_with_two_bounds_lies_between_them(beyond):
    assert [number("size", edge, 0, 1) for edge in (0, 1)] == [0.0, 1.0]
    with pytest.raises(ValueError, match="size must be from 0 to 1, got"):
        number("size", beyond, at_least=0, at_most=1)
