"""What a file holds is compared with what it must look like, and a fault is named by its place."""

import pytest

from riparian.tools.shapes import COUNT, LABEL, NUMBER, Either, shaped


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (3, COUNT), (None, Either(None, str)), ("x", LABEL), (True, LABEL), (1, NUMBER),
        ([1, "x"], (int, str)), ([], [int]), ([[1], []], [[int]]), ({"a": 1, "b": 2}, {"a": int}),
        ({"a": 1}, {str: COUNT}), ({}, {str: COUNT}),
    ],
)  # fmt: skip
def test_a_value_of_the_right_shape_is_returned(value, shape):
    assert shaped("v", value, shape) is value


@pytest.mark.parametrize(
    ("value", "shape", "fault"),
    [
        (-1, COUNT, "v: expected a whole number from 0 to"),
        (True, COUNT, "v: expected a whole number"),
        (1.0, int, "v: expected a value of type int, got 1.0"),
        (None, LABEL, "v: expected a value of type float, got None"),
        ([1], (int, str), "v: expected a list of 2 values"),
        ({"a": [0, "x"]}, {"a": [int]}, r"v.a\[1\]: expected a value of type int, got 'x'"),
        ({"b": 1}, {"a": int, "b": int}, "v: expected an object with a, b"),
        ({"a": -1}, {str: COUNT}, "v.a: expected a whole number"),
        ("ab", [str], "v: expected a list"),
        (1, None, "v: expected null"),
    ],
)
def test_a_value_of_another_shape_is_named(value, shape, fault):
    with pytest.raises(ValueError, match=fault):
        shaped("v", value, shape)
