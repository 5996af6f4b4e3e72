"""Scores are counts: they equal scikit-learn's in batches of any size, and can be saved and restored."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from riparian.evaluation import Scores
from riparian.evaluation.classes import BINS
from riparian.evaluation.fixed_point import UNIT

from predicted import CLASSES, predictions


@pytest.fixture
def scores():
    scores = Scores()
    scores.update(*predictions(), CLASSES)
    return scores


def test_scores_are_those_of_scikit_learn(scores):
    y, proba = predictions()
    best = np.array(CLASSES)[proba.argmax(axis=1)]
    assert scores.rows == 500
    assert scores.classes == CLASSES
    assert (scores.confusion == metrics.confusion_matrix(y, best)).all()
    assert scores.accuracy == metrics.accuracy_score(y, best)
    assert scores.kappa == pytest.approx(metrics.cohen_kappa_score(y, best), abs=1e-12)
    assert scores.log_loss == pytest.approx(metrics.log_loss(y, proba), abs=2 / UNIT)


def test_balanced_accuracy_f1_and_brier_are_those_of_scikit_learn(scores):
    y, proba = predictions()
    best = np.array(CLASSES)[proba.argmax(axis=1)]
    assert scores.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(y, best))
    assert scores.f1 == pytest.approx(metrics.f1_score(y, best, average="macro"))
    truth = np.array(CLASSES) == y[:, None]
    assert scores.brier == pytest.approx(np.square(proba - truth).sum(axis=1).mean(), abs=3 / UNIT)


def test_with_two_classes_brier_is_that_of_one_of_them():
    scores = Scores()
    scores.update([0, 1, 1], [[0.75, 0.25], [0.5, 0.5], [0.0, 1.0]], [0, 1])
    assert scores.brier == pytest.approx((0.25**2 + 0.5**2 + 0) / 3)


def test_the_calibration_error_is_the_mean_distance_of_the_bins(scores):
    distances = [abs(b.confidence - b.accuracy) * b.count for b in scores.calibration]
    assert scores.calibration_error == pytest.approx(sum(distances) / scores.rows)


def test_scores_of_parts_are_merged_to_those_of_the_whole(scores):
    y, proba = predictions()
    left, right = Scores(), Scores()
    left.update(y[:123], proba[:123], CLASSES)
    right.update(y[123:], proba[123:], CLASSES)
    left.merge(right)
    assert left.state() == scores.state()


def test_a_state_does_not_depend_on_the_cut_either(scores):
    y, proba = predictions()
    single = Scores()
    for i in range(500):
        single.update(y[i : i + 1], proba[i : i + 1], CLASSES)
    assert single.state() == scores.state()


def imbalanced(rows=2000, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 12, size=rows)
    return np.where(rng.random(rows) < p, "late", "in time"), np.stack([1 - p, p], axis=1)


def test_the_headline_of_imbalanced_classes_starts_with_how_well_rows_are_ranked(scores):
    assert not scores.imbalanced
    assert next(iter(scores.headline())) == "accuracy"
    rare = Scores()
    rare.update(*imbalanced(), ["in time", "late"])
    assert rare.imbalanced and rare.positive == "late"
    assert list(rare.headline())[:2] == ["AUC", "average precision"]
    assert rare.headline()["AUC"] == rare.auc


def test_a_class_that_is_never_predicted_is_named_with_its_share():
    y, proba = imbalanced()
    scores = Scores()
    scores.update(y, np.minimum(proba, [[1.0, 0.4]]), ["in time", "late"])
    assert scores.never_predicted() == {"late": pytest.approx((y == "late").mean())}
    assert scores.to_dict()["never_predicted"][0]["label"] == "late"


def test_a_class_that_is_predicted_for_less_than_two_in_a_hundred_is_rarely_predicted():
    scores = Scores()
    guesses = np.array([[0.9, 0.1]] * 99 + [[0.1, 0.9]])
    scores.update(["late"] * 40 + ["in time"] * 60, guesses, ["in time", "late"])
    assert scores.rarely_predicted() == {} and scores.never_predicted() == {}
    scores.update(["late"] * 20, guesses[:20], ["in time", "late"])
    assert scores.rarely_predicted() == {"late": 0.5} and scores.never_predicted() == {}


def test_groups_of_equal_size_show_the_calibration_of_a_rare_class():
    y, proba = imbalanced(20_000)
    scores = Scores()
    scores.update(y, proba, ["in time", "late"])
    groups = scores.calibration_of("late")
    assert sum(group.count for group in groups) == 20_000
    assert all(1500 < group.count < 2500 for group in groups)
    order = np.argsort(proba[:, 1])
    start = 0
    for group in groups:
        some = order[start : start + group.count]
        assert group.confidence == pytest.approx(proba[some, 1].mean(), rel=0.01)
        assert group.accuracy == pytest.approx((y[some] == "late").mean())
        start += group.count


def test_precision_recall_and_f1_are_those_of_scikit_learn(scores):
    y, proba = predictions()
    best = np.array(CLASSES)[proba.argmax(axis=1)]
    expected = metrics.precision_recall_fscore_support(y, best)
    for i, name in enumerate(("precision", "recall", "f1", "support")):
        assert [row[name] for row in scores.by_class()] == pytest.approx(expected[i].tolist())


def test_bins_of_equal_width_hold_every_row_once(scores):
    y, proba = predictions()
    confidence = proba.max(axis=1)
    right = np.array(CLASSES)[proba.argmax(axis=1)] == y
    assert sum(b.count for b in scores.calibration) == scores.rows
    for bin_ in scores.calibration:
        mine = np.floor(confidence * BINS) == math.floor(bin_.confidence * BINS)
        assert bin_.count == mine.sum()
        assert bin_.accuracy == right[mine].mean()
        assert bin_.confidence == pytest.approx(confidence[mine].mean(), abs=1e-9)


def test_certainty_belongs_to_the_last_bin_and_empty_bins_are_left_out():
    scores = Scores()
    scores.update([1, 0], [[0.0, 1.0], [0.0, 1.0]], [0, 1])
    assert [(b.confidence, b.accuracy, b.count) for b in scores.calibration] == [(1.0, 0.5, 2)]


def test_a_class_that_had_no_probability_is_wrong_and_costs_the_most():
    scores = Scores()
    scores.update(["elm"], [[1.0]], ["ash"])
    assert scores.classes == ["ash", "elm"]
    assert scores.confusion.tolist() == [[0, 0], [1, 0]]
    assert scores.accuracy == 0
    assert scores.log_loss == pytest.approx(-math.log(1e-15))


def test_without_rows_nothing_is_known():
    scores = Scores()
    assert scores.rows == 0 and scores.classes == [] and scores.calibration == []
    assert math.isnan(scores.accuracy) and math.isnan(scores.kappa) and math.isnan(scores.log_loss)
    assert scores.to_dict()["accuracy"] is None


def test_kappa_says_nothing_where_there_is_one_class():
    scores = Scores()
    scores.update([1, 1], [[1.0], [1.0]], [1])
    assert math.isnan(scores.kappa)


def test_a_class_that_was_never_predicted_has_no_precision():
    scores = Scores()
    scores.update(["elm"], [[1.0]], ["ash"])
    ash, elm = scores.by_class()
    assert (ash["precision"], ash["recall"], elm["precision"], elm["recall"]) == (0, None, None, 0)


@given(st.lists(st.integers(0, 500), max_size=6))
def test_how_rows_are_cut_into_batches_changes_no_bit(cuts):
    y, proba = predictions()
    whole, parts = Scores(), Scores()
    whole.update(y, proba, CLASSES)
    ends = sorted({0, *cuts, 500})
    for start, stop in pairwise(ends):
        parts.update(y[start:stop], proba[start:stop], CLASSES)
    assert json.dumps(parts.to_dict()) == json.dumps(whole.to_dict())


@pytest.mark.parametrize(
    "labels", [[3, 1, 2], [True, False, True], ["b", "a", "c"], [0.5, 2.0, 1.0]]
)
def test_scores_of_labels_of_any_type_go_through_json_and_on(labels):
    classes = np.unique(labels)
    proba = np.full((3, len(classes)), 1 / len(classes))
    once, twice = Scores(), Scores()
    for scores in (once, twice):
        scores.update(labels, proba, classes)
    twice = Scores.from_state(json.loads(json.dumps(twice.state())))
    for scores in (once, twice):
        scores.update(labels[:1], proba[:1], classes)
    assert twice.to_dict() == once.to_dict()
    assert twice.classes == once.classes == classes.tolist()


def test_rows_counted_one_by_one_are_scored_as_in_a_batch():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([0.5, 0.5, 0.5], size=300)
    y, classes = rng.integers(3, size=300), [0, 1, 2]
    whole, single = Scores(), Scores()
    whole.update(y, proba, classes)
    for label, shares in zip(y.tolist(), proba.tolist(), strict=True):
        single.count(
            label, classes[int(np.argmax(shares))], dict(zip(classes, shares, strict=True))
        )
    assert single.to_dict() == whole.to_dict()
    assert single.state() == whole.state()
