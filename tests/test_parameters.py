"""Parameters: one frozen value, checked in one place, and an error that names what it expected."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from riparian.estimator.parameters import number, whole
from riparian.estimator.schedules import ConsistencyWarning, Geometric, Polynomial

from engines import parameters


def test_parameters_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        parameters().min_gain = 1.0


def test_the_type_of_a_number_leaves_no_trace():
    p = parameters(n_trees=np.int8(3), min_gain=Fraction(1, 2), split_points=np.uint16(4))
    assert [type(v) for v in (p.n_trees, p.min_gain, p.split_points)] == [int, float, int]
    assert p == parameters(n_trees=3, min_gain=0.5, split_points=4)
    assert hash(p) == hash(parameters(n_trees=3, min_gain=0.5, split_points=4))


def test_a_number_for_beta_has_become_a_schedule():
    p = parameters(alpha=Polynomial(2, 1.5), beta=10)
    assert p.beta == Polynomial(20, 1.5)


@pytest.mark.parametrize(
    ("given", "n_dims", "rate"),
    [("sqrt", 16, 4.0), ("sqrt", 2, math.sqrt(2)), (3, 100, 3.0), (0, 5, 0.0), (1e6, 5, 1e6)],
)
def test_lambda_is_a_number_or_the_root_of_the_dimensions_there_are(given, n_dims, rate):
    assert parameters(candidate_dims=given).rate(n_dims) == rate


@pytest.mark.parametrize(
    ("name", "edges"),
    [
        ("n_trees", [1, 2**20]),
        ("seed", [0, 2**64 - 1]),
        ("split_points", [1, 2**16]),
        ("min_gain", [0, 1e308]),
        ("fringe_size", [None, 1, 2**63 - 1]),
        ("structure_fraction", [1e-300, 1 - 2**-53]),
        ("ignore_fraction", [0, 0.4999999999]),
        ("beta", [1, 1e308, Geometric(1, 1.1), Geometric(1, 5)]),
    ],
)
def test_values_at_the_edge_are_accepted(name, edges):
    for edge in edges:
        if isinstance(edge, float | int) and name != "beta":
            assert getattr(parameters(**{name: edge}), name) == edge
        else:
            parameters(**{name: edge})


@pytest.mark.parametrize(
    ("name", "outside", "message"),
    [
        ("n_trees", 0, "n_estimators must be from 1 to 1048576, got 0"),
        ("n_trees", 2**20 + 1, "n_estimators must be from 1 to 1048576, got 1048577"),
        ("seed", -1, "random_state must be from 0 to 18446744073709551615, got -1"),
        ("seed", 2**64, "random_state must be from 0 to 18446744073709551615, got"),
        ("split_points", 0, "split_points must be from 1 to 65536, got 0"),
        ("fringe_size", 0, "fringe_size must be from 1 to 9223372036854775807, got 0"),
        ("candidate_dims", 1000001, "candidate_dims must be at most 1000000, got 1000001"),
        ("structure_fraction", 0.0, "structure_fraction must be > 0, .* got 0.0"),
        ("structure_fraction", 1.0, r"must be < 1, .* got 1.0 \+ 0.0"),
        ("ignore_fraction", 0.5, r"must be < 1, .* got 0.5 \+ 0.5"),
        ("voting", "loud", "voting must be 'average' or 'majority', got 'loud'"),
    ],
)
def test_values_beyond_the_edge_are_refused_by_their_public_name(name, outside, message):
    with pytest.raises(ValueError, match=message):
        parameters(**{name: outside})


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


def test_a_weak_alpha_warns_and_is_taken():
    with pytest.warns(ConsistencyWarning, match="constant"):
        p = parameters(alpha=Geometric(5, 1))
    assert p.alpha == Geometric(5, 1)
