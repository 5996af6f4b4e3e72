"""Ranking: areas are those of scikit-learn for binned probabilities, within the stated error."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from riparian.evaluation import Scores
from riparian.evaluation.ranking import (
    BINS,
    BITS,
    MOST_COUNTS,
    Ranking,
    bin_of,
    bins_of,
    least_of_bins,
)

from predicted import CLASSES, predictions

probabilities = st.one_of(
    st.floats(0, 1), st.sampled_from([0.0, 1e-12, 1e-3, 0.25, 0.5, 0.75, 1 - 1e-9, 1.0])
)


def ranked(truth, proba):
    ranking = Ranking()
    shares = np.stack([1 - proba, proba], axis=1)
    ranking.add(truth.astype(np.intp), shares, [0, 1], [0, 1])
    return ranking


def rare(rows=3000, seed=0):
    """A rare class whose probabilities are small, and rank it well."""
    rng = np.random.default_rng(seed)
    proba = rng.beta(0.3, 9, size=rows)
    return rng.random(rows) < proba, proba


@given(st.lists(probabilities, min_size=2, max_size=20))
def test_a_larger_probability_is_in_no_smaller_bin(values):
    ordered = np.sort(np.array(values))
    bins = bins_of(ordered)
    assert (np.diff(bins) >= 0).all()
    assert bins.tolist() == [bin_of(value) for value in ordered.tolist()]
    assert bins[0] >= 0 and bins[-1] < BINS


@pytest.mark.parametrize("merged", [0, 1, BITS])
def test_a_bin_begins_with_its_least_probability(merged):
    least = least_of_bins(merged)
    assert (bins_of(least) >> merged == np.arange(BINS >> merged)).all()
    below = bins_of(np.nextafter(least[1:], 0.0)) >> merged
    assert (below == np.arange((BINS >> merged) - 1)).all()


def test_areas_are_those_of_scikit_learn_for_the_bins():
    truth, proba = rare()
    curve = ranked(truth, proba).curve(1)
    bins = bins_of(proba)
    assert curve.auc == pytest.approx(metrics.roc_auc_score(truth, bins), abs=1e-12)
    expected = metrics.average_precision_score(truth, bins)
    assert curve.average_precision == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(st.booleans(), probabilities), min_size=2, max_size=50))
def test_areas_differ_from_those_of_the_probabilities_by_no_more_than_the_bound(rows):
    truth, proba = np.array([t for t, _ in rows]), np.array([p for _, p in rows])
    curve = ranked(truth, proba).curve(1)
    if not curve.defined:
        assert np.isnan(curve.auc) and np.isnan(curve.average_precision)
        return
    exact = metrics.roc_auc_score(truth, proba), metrics.average_precision_score(truth, proba)
    assert abs(curve.auc - exact[0]) <= curve.auc_error + 1e-12
    assert abs(curve.average_precision - exact[1]) <= curve.average_precision_error + 1e-12


def test_the_bound_is_small_for_a_rare_class():
    curve = ranked(*rare(20_000)).curve(1)
    assert curve.auc_error < 0.002
    assert curve.average_precision_error < 0.05


def test_a_row_is_predicted_from_the_threshold_of_the_curve_on():
    truth, proba = rare()
    curve = ranked(truth, proba).curve(1)
    for threshold, right, wrong in zip(curve.threshold, curve.right, curve.wrong, strict=True):
        assert (proba[truth] >= threshold).sum() == right
        assert (proba[~truth] >= threshold).sum() == wrong


def test_more_than_two_classes_are_ranked_one_against_the_rest():
    y, proba = predictions(5000)
    scores = Scores()
    scores.update(y, proba, CLASSES)
    for name, average in (("auc", "macro"), ("auc_weighted", "weighted")):
        exact = metrics.roc_auc_score(y, proba, multi_class="ovr", average=average)
        assert abs(getattr(scores, name) - exact) <= scores.auc_error
    truth = y[:, None] == np.array(CLASSES)
    for name, average in (
        ("average_precision", "macro"), ("average_precision_weighted", "weighted"),
    ):  # fmt: skip
        exact = metrics.average_precision_score(truth, proba, average=average)
        assert abs(getattr(scores, name) - exact) <= scores.average_precision_error


def test_a_class_that_comes_late_had_the_probability_0_before():
    whole, late = Scores(), Scores()
    y, proba = predictions(600)
    proba[:300, 2] = 0
    y[:300][y[:300] == CLASSES[2]] = CLASSES[0]
    whole.update(y, proba, CLASSES)
    late.update(y[:300], proba[:300, :2], CLASSES[:2])
    late.update(y[300:], proba[300:], CLASSES)
    assert late.curve("oak").auc == whole.curve("oak").auc
    assert late.brier == whole.brier


def test_merging_bins_for_many_classes_changes_nothing_but_the_width_of_the_bins():
    y, proba = predictions()
    early, late = Scores(), Scores()
    many = [f"c{i}" for i in range(MOST_COUNTS // BINS)]
    nothing = np.full((1, 1 + len(many)), 1e-9)
    for scores, first in ((early, True), (late, False)):
        if first:
            scores.update(["ash"], nothing, ["ash", *many])
        scores.update(y, proba, CLASSES)
        if not first:
            scores.update(["ash"], nothing, ["ash", *many])
    assert early.state() == late.state()
    assert early.ranking._counts.shape[2] < BINS
    exact = metrics.roc_auc_score(y == "elm", proba[:, 1])
    assert early.curve("elm").auc == pytest.approx(exact, abs=0.01)
    fine = Scores()
    fine.update(y, proba, CLASSES)
    fine.merge(Scores.from_state(json.loads(json.dumps(early.state()))))
    early.update(y, proba, CLASSES)
    assert fine.state() == early.state()


def test_a_thinned_curve_keeps_its_ends():
    curve = ranked(*rare()).curve(1)
    thin = curve.thinned(20)
    assert len(thin.right) <= 20
    assert (thin.positives, thin.negatives) == (curve.positives, curve.negatives)
    assert thin.recall[-1] == thin.share[-1] == thin.lift[-1] == 1
