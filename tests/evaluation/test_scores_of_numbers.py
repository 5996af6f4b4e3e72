"""Scores of numbers: those of scikit-learn, exact for any batches, at any size."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from riparian.evaluation import NumberScores, Prequential
from riparian.evaluation.fixed_point import as_fraction, exact_sum
from riparian.evaluation.numbers import _exact_squares


def pairs(rows=500, seed=0, scale=1.0, offset=0.0):
    rng = np.random.default_rng(seed)
    y = offset + scale * rng.normal(size=rows)
    return y, y + scale * rng.standard_t(2, size=rows) / 3


@pytest.fixture
def scores():
    scores = NumberScores()
    scores.update(*pairs())
    return scores


def test_scores_are_those_of_scikit_learn(scores):
    y, guesses = pairs()
    assert scores.mae == pytest.approx(metrics.mean_absolute_error(y, guesses))
    assert scores.rmse == pytest.approx(metrics.root_mean_squared_error(y, guesses))
    assert scores.r2 == pytest.approx(metrics.r2_score(y, guesses))
    assert scores.bias == pytest.approx((y - guesses).mean())
    for quantile in (0.0, 0.1, 0.5, 1.0):
        expected = metrics.mean_pinball_loss(y, guesses, alpha=quantile)
        assert scores.quantile_loss(quantile) == pytest.approx(expected, abs=1e-15)


@given(
    st.lists(st.floats(-1e100, 1e100), min_size=1, max_size=30), st.floats(0, 1, exclude_max=True)
)
def test_a_quantile_of_the_errors_is_known_to_one_part_in_256(errors, quantile):
    scores = NumberScores()
    scores.update(errors, np.zeros(len(errors)))
    ordered = sorted(map(abs, errors))
    exact = ordered[max(0, math.ceil(Fraction(quantile) * len(ordered)) - 1)]
    assert scores.absolute_error(quantile) == pytest.approx(exact, rel=1 / 255, abs=5e-324)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20))
def test_a_sum_is_exact(values):
    assert as_fraction(exact_sum(np.array(values))) == sum(map(Fraction, values))


@given(st.floats(-(2.0**502), 2.0**502).filter(lambda x: x == 0 or abs(x) > 1e-120))
def test_a_square_is_exact(value):
    parts = _exact_squares(np.array([value]))
    assert sum(Fraction(float(part[0])) for part in parts) == Fraction(value) ** 2


@given(st.lists(st.integers(0, 500), max_size=6))
def test_how_rows_are_cut_into_batches_changes_no_bit(cuts):
    y, guesses = pairs()
    whole, parts = NumberScores(), NumberScores()
    whole.update(y, guesses)
    for start, stop in pairwise(sorted({0, *cuts, 500})):
        parts.update(y[start:stop], guesses[start:stop])
        parts = NumberScores.from_state(json.loads(json.dumps(parts.state())))
    assert parts.state() == whole.state()
    assert parts.to_dict() == whole.to_dict()


def test_scores_of_parts_are_merged_in_any_order():
    y, guesses = pairs()
    merged = []
    for order in ([0, 1, 2], [2, 0, 1]):
        total = NumberScores()
        for part in order:
            some = NumberScores()
            some.update(y[part::3], guesses[part::3])
            total.merge(some)
        merged.append(total.state())
    assert merged[0] == merged[1]


@pytest.mark.parametrize(("scale", "offset"), [(1.0, 1e12), (1e-9, 1e6), (1e100, 0), (1e-100, 0)])
def test_a_shift_and_a_scale_cost_no_precision(scale, offset):
    y, guesses = pairs(scale=scale, offset=offset)
    scores = NumberScores()
    scores.update(y, guesses)
    exact = [Fraction(value) for value in y.tolist()]
    mean = sum(exact) / len(exact)
    squares = sum(Fraction(e) for e in ((y - guesses) ** 2).tolist())
    assert scores.r2 == pytest.approx(float(1 - squares / sum((v - mean) ** 2 for v in exact)))


def test_constant_labels_have_no_r2_and_no_rows_have_no_scores():
    scores = NumberScores()
    assert scores.to_dict()["rmse"] is None and scores.to_dict()["median_absolute_error"] is None
    scores.update([3.0, 3.0], [3.0, 4.0])
    assert math.isnan(scores.r2)
    assert scores.mae == 0.5


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e200])
def test_a_number_that_cannot_be_scored_is_refused_with_its_row(bad, scores):
    before = scores.state()
    with pytest.raises(ValueError, match="the prediction of row 1 must be a number of at most"):
        scores.update([1.0, 2.0], [1.0, bad])
    with pytest.raises(ValueError, match="the label of row 0 must be a number of at most"):
        scores.count(bad, 1.0)
    assert scores.state() == before


ROW = st.floats(-(2.0**500), 2.0**500)


@given(st.lists(st.tuples(ROW, ROW), min_size=1, max_size=20))
def test_rows_counted_one_by_one_have_the_scores_of_a_batch(rows):
    whole, single = NumberScores(), NumberScores()
    whole.update(*zip(*rows, strict=True))
    for label, guess in rows:
        single.count(label, guess)
    assert single.state() == whole.state()


def test_the_largest_numbers_that_a_forest_learns_and_answers_can_be_scored():
    """Labels are at most 2^500 (R26), answers at most 2^501 from the first label."""
    scores = NumberScores()
    scores.update([2.0**500, -(2.0**500)], [2.0**500 - 2.0**501, 2.0**500])
    assert scores.mae == 2.0**501
    assert scores.rmse == 2.0**501
    assert NumberScores.from_state(scores.state()).to_dict() == scores.to_dict()


def test_predictions_too_far_from_labels_that_hardly_differ_have_no_finite_r2():
    scores = NumberScores()
    scores.update([1e-150, -1e-150], [2.0**500, 2.0**500])
    assert scores.r2 == -math.inf
    assert scores.to_dict()["r2"] is None
    assert NumberScores.from_state(scores.state()).state() == scores.state()


def test_the_window_looks_back_on_the_last_rows_only():
    test = Prequential(window=2, numbers=True)
    test.update([1.0, 1.0, 1.0], [9.0, 2.0, 0.0])
    test.mark(row=3, leaves=1, active=1, memory=1, seconds=0.0)
    assert test.curve[-1].window_rmse == 1 < test.curve[-1].rmse


def test_an_interrupted_stream_continues_as_if_it_had_not_been_interrupted():
    y, guesses = pairs(2000)
    whole, parts = (Prequential(window=50, numbers=True) for _ in range(2))
    for first in range(0, 2000, 100):
        some = slice(first, first + 100)
        for test in (whole, parts):
            test.update(y[some], guesses[some])
            test.mark(row=first + 100, leaves=1, active=1, memory=1, seconds=0.0)
        parts = Prequential.from_state(json.loads(json.dumps(parts.state())))
    assert parts.state() == whole.state()
    assert parts.to_dict() == whole.to_dict()
    assert parts.curve == whole.curve


@pytest.mark.parametrize(
    "pair", [[1e308, 0.0], [0.0, -1e308], [math.nan, 0.0], [0.0, 10**400], [1.0]]
)
def test_a_state_whose_window_has_no_labels_and_predictions_is_refused(pair):
    test = Prequential(window=5, numbers=True)
    test.update(*pairs(5))
    with pytest.raises(ValueError, match=r"recent|the label|the prediction"):
        Prequential.from_state(test.state() | {"recent": [pair]})
