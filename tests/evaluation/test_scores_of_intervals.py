"""Scores of intervals: coverage, width, and the interval score."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riparian.evaluation import IntervalScores


def test_scores_are_those_of_tiny_cases_made_by_hand():
    scores = IntervalScores(0.5)
    scores.update([0.0, 5.0], [[-1.0, 1.0], [0.0, 4.0]])
    assert (scores.coverage, scores.mean_width) == (0.5, 3.0)
    assert scores.interval_score == 3.0 + 4.0 * 0.5


def test_ends_belong_to_an_interval():
    scores = IntervalScores(0.5)
    scores.update([1.0, 2.0, 3.0], [[1.0, 2.0], [1.0, 2.0], [3.0, 3.0]])
    assert scores.coverage == 1.0


def test_batches_change_nothing():
    rng = np.random.default_rng(0)
    y, ends = rng.normal(size=100) * 1e6, np.sort(rng.normal(size=(100, 2)) / 3, axis=1)
    whole, parts = IntervalScores(0.9), IntervalScores(0.9)
    whole.update(y, ends)
    for i in reversed(range(100)):
        parts.update(y[i : i + 1], ends[i : i + 1])
    assert repr(whole) == repr(parts)
    assert whole.interval_score == parts.interval_score


def test_an_interval_without_ends_counts_in_the_coverage_alone():
    scores = IntervalScores(0.9)
    scores.update([1.0, 9.0], [[-np.inf, np.inf], [0.0, 2.0]])
    assert (scores.rows, scores.coverage, scores.mean_width) == (2, 0.5, 2.0)


def test_without_rows_nothing_is_known():
    scores = IntervalScores(0.9)
    assert math.isnan(scores.coverage)
    assert math.isnan(scores.mean_width)
    assert math.isnan(scores.interval_score)


@pytest.mark.parametrize(
    ("y", "ends"),
    [
        ([1.0], [0.0, 2.0]),
        ([1.0, 2.0], [[0.0, 2.0]]),
        ([np.nan], [[0.0, 2.0]]),
        ([1.0], [[2.0, 0.0]]),
        ([1.0], [[np.nan, 0.0]]),
    ],
)
def test_what_are_no_targets_and_intervals_is_refused(y, ends):
    with pytest.raises(ValueError, match=r"expected n targets|must be finite"):
        IntervalScores(0.9).update(y, ends)
