"""α(d) and β(d): their values, what is refused, and which lost guarantee is named (R15)."""

import copy
import math
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from riparian.parameters.schedules import (
    NEVER,
    ConsistencyWarning,
    Geometric,
    Polynomial,
    Schedule,
    resolve,
)

starts = st.floats(1e-3, 1e6)
geometrics = st.builds(Geometric, starts, st.floats(1, 3))
polynomials = st.builds(Polynomial, starts, st.floats(0, 8))
schedules = geometrics | polynomials


@pytest.mark.parametrize(
    ("schedule", "depth", "value"),
    [
        (Geometric(1, 1.1), 0, 1.0),
        (Geometric(1, 1.1), 2, 1.1**2),
        (Geometric(25, 1.01), 3, 25 * 1.01**3),
        (Geometric(7, 1), 50, 7.0),
        (Polynomial(3, 2), 0, 3.0),
        (Polynomial(3, 2), 4, 75.0),
        (Polynomial(3, 0.5), 3, 6.0),
        (Polynomial(3, 0), 9, 3.0),
    ],
)
def test_a_schedule_has_the_value_of_its_formula(schedule, depth, value):
    assert schedule(depth) == value


@pytest.mark.parametrize(
    ("schedule", "integers"),
    [
        (Geometric(1, 1.1), [1, 2, 2, 2, 2, 2, 2, 2, 3]),
        (Geometric(1, 2), [1, 2, 4, 8]),
        (Geometric(2.5, 1), [3, 3]),
        (Polynomial(1, 1.5), [1, 3, 6, 8]),
        (Geometric(0.25, 2), [1, 1, 1, 2, 4]),
        (Geometric(5e-324, 1), [1, 1]),
        (Polynomial(0.1, 2), [1, 1, 1, 2, 3]),
    ],
)
def test_integers_are_the_values_rounded_up(schedule, integers):
    assert schedule.integers(len(integers)).tolist() == integers
    assert schedule.integers(len(integers)).dtype == np.uint64


def test_a_schedule_of_no_depths_has_no_integers():
    assert Geometric(1, 2).integers(0).shape == (0,)


@pytest.mark.parametrize(
    ("schedule", "last_finite"),
    [(Geometric(1, 2), 62), (Geometric(1, 1e200), 0), (Polynomial(2.0**62, 1), 0)],
)
def test_overflow_means_never(schedule, last_finite):
    integers = schedule.integers(70).tolist()
    assert all(n < NEVER for n in integers[: last_finite + 1])
    assert all(n == NEVER for n in integers[last_finite + 1 :])


@pytest.mark.parametrize(
    ("schedule", "depth"),
    [(Geometric(1, 10), 400), (Geometric(1e308, 10), 1), (Polynomial(1, 1e3), 9)],
)
def test_a_value_beyond_float64_is_infinite(schedule, depth):
    assert schedule(depth) == math.inf


@given(schedules)
def test_integers_never_fall_as_the_depth_grows(schedule):
    integers = schedule.integers(60).tolist()
    assert integers == sorted(integers)


@given(schedules)
def test_the_repr_of_a_schedule_is_the_schedule(schedule):
    assert eval(repr(schedule)) == schedule


@given(schedules)
def test_copies_are_equal_and_hash_alike(schedule):
    for twin in (copy.deepcopy(schedule), pickle.loads(pickle.dumps(schedule))):
        assert twin == schedule
        assert hash(twin) == hash(schedule)


def test_the_type_of_a_number_does_not_matter():
    exact = Geometric(1.0, 1.5)
    assert Geometric(1, Fraction(3, 2)) == exact
    assert repr(Geometric(np.int64(1), np.float32(1.5))) == repr(exact)


def test_a_schedule_cannot_be_changed():
    with pytest.raises(AttributeError):
        Geometric(1, 1.1).rate = 2


def test_two_forms_with_the_same_numbers_are_two_schedules():
    assert Geometric(2, 3) != Polynomial(2, 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Geometric(0, 2), "start must be > 0, got 0.0"),
        (lambda: Geometric(-3, 2), "start must be > 0, got -3.0"),
        (lambda: Geometric(1, 0.9), "rate must be >= 1, got 0.9"),
        (lambda: Geometric(math.nan, 2), "start must be finite, got nan"),
        (lambda: Geometric(1, math.inf), "rate must be finite, got inf"),
        (lambda: Geometric(10**400, 2), "start must be finite, got 1000"),
        (lambda: Polynomial(0, 2), "start must be > 0, got 0.0"),
        (lambda: Polynomial(-1e-300, 2), "start must be > 0, got -1e-300"),
        (lambda: Polynomial(1, -0.1), "power must be >= 0, got -0.1"),
        (lambda: Polynomial(1, math.nan), "power must be finite, got nan"),
    ],
)
def test_a_schedule_that_starts_at_zero_or_falls_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("value", [True, np.True_, "2", None, 1j, [2.0], np.array([2.0])])
def test_only_numbers_make_a_schedule(value):
    with pytest.raises(TypeError, match="start must be a number, got"):
        Geometric(value, 2)
    with pytest.raises(TypeError, match="power must be a number, got"):
        Polynomial(1, value)


@pytest.mark.parametrize("factor", [1, 4, 1000, 2.5, np.float64(4), np.int32(4)])
def test_a_number_for_beta_is_a_multiple_of_alpha(factor):
    for alpha in (Geometric(3, 1.1), Polynomial(3, 2)):
        resolved, beta = resolve(alpha, factor)
        assert resolved == alpha
        assert [beta(d) for d in range(9)] == pytest.approx([factor * alpha(d) for d in range(9)])


def test_a_multiple_that_overflows_means_never():
    _, beta = resolve(Geometric(10, 1.1), 1e308)
    assert beta.integers(3).tolist() == [NEVER] * 3


@given(schedules)
def test_integers_are_at_least_one(schedule):
    assert schedule.at(0) >= 1


def test_alpha_and_beta_may_start_below_one():
    assert resolve(Geometric(0.1, 1.1), 4) == (Geometric(0.1, 1.1), Geometric(0.4, 1.1))
    with pytest.raises(ValueError, match=r"got 0\.1 < 0\.2 at depth 0"):
        resolve(Geometric(0.2, 1.1), Geometric(0.1, 1.1))


def test_beta_equal_to_alpha_is_allowed():
    alpha = Geometric(3, 1.1)
    assert resolve(alpha, 1) == resolve(alpha, alpha) == (alpha, alpha)


@pytest.mark.parametrize("factor", [0, 0.999, -1, math.nan, math.inf, -math.inf])
def test_a_multiple_below_one_is_refused(factor):
    with pytest.raises(ValueError, match=r"beta must be (>= 1|finite), got"):
        resolve(Geometric(1, 1.1), factor)


class Homemade(Schedule):
    growth = (2, 2.0)

    def __call__(self, depth):
        return 2.0**depth

    def times(self, factor):
        return self


@pytest.mark.parametrize("value", [None, True, "sqrt", abs, (1, 1.1), Homemade()])
def test_anything_but_a_schedule_or_a_number_is_a_type_error_that_says_so(value):
    with pytest.raises(TypeError, match="alpha must be a number, a Geometric or a Polynomial, got"):
        resolve(value, 4)
    with pytest.raises(TypeError, match="beta must be a number, a Geometric or a Polynomial, got"):
        resolve(Geometric(1, 1.1), value)


def test_a_number_is_the_start_of_alpha():
    assert resolve(10, 4) == (Geometric(10, 1.1), Geometric(40, 1.1))
    for bad in (0, -1, math.nan, math.inf):
        with pytest.raises(ValueError, match="must be"):
            resolve(bad, 4)


@pytest.mark.parametrize(
    ("alpha", "beta", "where"),
    [
        (Geometric(2, 1.1), Geometric(1.5, 1.1), "got 1.5 < 2.0 at depth 0"),
        # The first two cross at depth 149; the next two only at about 73,000.
        (Geometric(1, 1.1), Geometric(1000, 1.05), "grows more slowly"),
        (Geometric(1, 1.0002), Geometric(1e6, 1.00001), "grows more slowly"),
        (Geometric(1, 1.0001), Polynomial(1e9, 9), "grows more slowly"),
        (Polynomial(1, 2), Polynomial(1e9, 1.9), "grows more slowly"),
        (Polynomial(1, 2), Geometric(100, 1), "grows more slowly"),
        # Above at the root and in the end, below in between.
        (Polynomial(1, 2), Geometric(10, 1.2), "at depth 9$"),
        (Polynomial(1, 2), Geometric(1000, 1.00001), r"at depth \d{6}$"),
        (Polynomial(1, 5000), Geometric(1e9, 2), "at depth 1$"),
    ],
)
def test_beta_below_alpha_at_any_depth_is_refused(alpha, beta, where):
    with pytest.raises(ValueError, match=f"beta must be >= alpha at every depth, .*{where}"):
        resolve(alpha, beta)


@pytest.mark.parametrize(
    ("alpha", "beta"),
    [
        (Polynomial(1, 2), Geometric(1000, 1.5)),
        (Polynomial(3, 1.5), Geometric(3, 4)),
        (Polynomial(1, 2), Polynomial(1, 2.5)),
        (Geometric(1, 1.1), Geometric(1, 1.2)),
    ],
)
def test_beta_of_another_form_may_lie_above_alpha(alpha, beta):
    assert resolve(alpha, beta) == (alpha, beta)


@given(schedules, schedules)
def test_an_accepted_beta_is_above_alpha_at_every_depth_tried(alpha, beta):
    below = [d for d in range(3000) if beta(d) < alpha(d)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsistencyWarning)
        try:
            resolve(alpha, beta)
        except ValueError:
            # Refused: below at a depth tried, or bound to be in the end, or in a deeper trough.
            assert below or beta.growth < alpha.growth or beta.growth[1] < 1.01
        else:
            assert not below


@pytest.mark.parametrize("alpha", [Geometric(5, 1), Polynomial(5, 0)])
def test_a_constant_alpha_warns_that_consistency_is_lost(alpha):
    with pytest.warns(
        ConsistencyWarning, match=r"is constant: .* need not grow to infinity"
    ) as seen:
        resolve(alpha, 4)
    assert len(seen) == 1


@pytest.mark.parametrize("power", [1, 0.5, 1e-9])
def test_a_slow_alpha_warns_that_the_bounded_fringe_loses_its_proof(power):
    with pytest.warns(ConsistencyWarning, match=r"d/alpha\(d\) does not go to 0, .*fringe") as seen:
        resolve(Polynomial(5, power), 4)
    assert len(seen) == 1


@given(schedules)
def test_an_alpha_that_meets_the_papers_conditions_does_not_warn(alpha):
    assume(alpha.growth > (1, 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        resolve(alpha, 1)


def test_the_warning_points_at_the_caller_of_the_code_that_resolves():
    def construct():
        resolve(Geometric(1, 1), 2)

    with pytest.warns(ConsistencyWarning) as seen:
        construct()
    assert seen[0].filename == __file__
