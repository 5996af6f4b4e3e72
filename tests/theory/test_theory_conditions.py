"""Which conditions of the theorem a pair of schedules meets, and what follows."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riparian.parameters.schedules import ConsistencyWarning, Geometric, Polynomial, resolve
from riparian.theory import check_schedule

schedules = st.builds(Geometric, st.floats(1, 100), st.floats(1, 3)) | st.builds(
    Polynomial, st.floats(1, 100), st.floats(0, 4)
)


def broken(alpha, beta):
    return [c.name for c in check_schedule(alpha, beta).conditions if not c.holds]


@pytest.mark.parametrize(
    ("alpha", "beta", "names"),
    [
        (Geometric(1, 1.1), 1000, []),
        (Polynomial(1, 1.01), 1, []),
        (Geometric(5, 1), 4, ["α(d) -> ∞", "d/α(d) -> 0"]),
        (Polynomial(5, 1), 4, ["d/α(d) -> 0"]),
        (Geometric(2, 1.1), Geometric(1.5, 1.1), ["β(d) >= α(d)"]),
        (Geometric(1, 1.1), Polynomial(1e9, 3), ["β(d) >= α(d)"]),
        (Geometric(1, 1.1), 1e300, ["β(d) is reached"]),
    ],
)
def test_the_conditions_that_fail_are_named(alpha, beta, names):
    check = check_schedule(alpha, beta)
    assert [c.name for c in check.conditions if not c.holds] == names
    assert check.consistent == (names == [])
    assert all(c.why for c in check.conditions)


@pytest.mark.parametrize(
    ("alpha", "beta", "guarantee", "unbounded"),
    [
        (Geometric(1, 1.1), 2, "with and without a bounded fringe", True),
        (Polynomial(1, 0.5), 2, "if its fringe is not bounded", True),
        (Polynomial(1, 0), 2, "No guarantee: the estimation points", False),
        (Geometric(1, 1.1), 1e300, "No guarantee: a leaf need not split", False),
    ],
)
def test_the_guarantee_says_what_is_left(alpha, beta, guarantee, unbounded):
    check = check_schedule(alpha, beta)
    assert guarantee in check.guarantee
    assert check.consistent_unbounded == unbounded


@given(schedules, schedules)
def test_validation_refuses_or_warns_of_what_the_check_finds(alpha, beta):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            resolve(alpha, beta)
            refused = False
        except ValueError:
            refused = True
    names = broken(alpha, beta)
    assert refused == ("β(d) >= α(d)" in names)
    if not refused:
        warned = any(issubclass(w.category, ConsistencyWarning) for w in seen)
        assert warned == (not check_schedule(alpha, beta).consistent)


def test_a_value_that_is_not_a_schedule_is_refused():
    with pytest.raises(
        TypeError, match="alpha must be a number, a Geometric or a Polynomial, got '10'"
    ):
        check_schedule("10", 4)
    with pytest.raises(ValueError, match=r"beta must be >= 1, got 0\.5"):
        check_schedule(Geometric(1, 1.1), 0.5)


def test_it_prints_as_a_table_with_the_guarantee_below():
    lines = str(check_schedule(Geometric(7, 1), 2)).splitlines()
    assert lines[1].startswith("no  α(d) -> ∞")
    assert lines[-1].startswith("No guarantee")
