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

from riparian import OnlineForestClassifier
from riparian.evaluation import BINS, MOST_CURVE_POINTS, UNIT, Prequential, Scores

from engines import mixture

CLASSES = ["ash", "elm", "oak"]


def predictions(rows=500, seed=0):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(3), size=rows)
    y = np.array([rng.choice(3, p=p) for p in proba])
    return np.array(CLASSES)[y], proba


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


# -- test-then-train -----------------------------------------------------------------------------------


def mark(test, row):
    test.mark(row=row, leaves=row, active=1, memory=1, seconds=0.0)


def test_the_window_looks_back_on_the_last_rows_only():
    test = Prequential(window=3)
    test.update([1, 1, 0, 0], [[0.0, 1.0]] * 4, [0, 1])
    assert test.window_accuracy == pytest.approx(1 / 3)
    assert test.scores.accuracy == 0.5
    test.update([1], [[0.0, 1.0]], [0, 1])
    assert test.window_accuracy == pytest.approx(1 / 3)


def test_the_curve_is_thinned_evenly_and_stays_small():
    test = Prequential(window=1)
    asked = 0
    for batch in range(1, 20_000):
        test.update([1], [[0.0, 1.0]], [0, 1])
        if test.due:
            asked += 1
            mark(test, batch)
    rows = [point.row for point in test.curve]
    assert MOST_CURVE_POINTS / 2 <= len(rows) <= MOST_CURVE_POINTS
    assert len({*np.diff(rows)}) == 1
    assert asked < 5 * MOST_CURVE_POINTS


def test_a_row_is_marked_once():
    test = Prequential()
    test.update([1], [[0.0, 1.0]], [0, 1])
    mark(test, 1)
    mark(test, 1)
    assert len(test.curve) == 1


def test_a_stream_put_down_goes_on_as_if_it_had_not_been():
    y, proba = predictions(2000)
    whole, parts = Prequential(window=50), Prequential(window=50)
    for first in range(0, 2000, 100):
        some = slice(first, first + 100)
        for test in (whole, parts):
            test.update(y[some], proba[some], CLASSES)
            mark(test, first + 100)
        parts = Prequential.from_state(json.loads(json.dumps(parts.state())))
    assert parts.state() == whole.state()
    assert parts.to_dict() == whole.to_dict()
    assert parts.curve == whole.curve


def test_what_is_not_known_in_a_curve_stays_so():
    test = Prequential()
    test.update([1], [[1.0]], [1])
    mark(test, 1)
    assert math.isnan(Prequential.from_state(test.state()).curve[0].kappa)


# -- labels that come late -------------------------------------------------------------------------


def one_by_one(forest, X, y, delay):
    test = Prequential(window=50, delay=delay)
    for i in range(len(y)):
        test.test_then_train(forest, X[i : i + 1], y[i : i + 1])
    return test


@pytest.mark.parametrize("delay", [0, 1, 7, 200])
def test_late_labels_are_those_of_river(delay):
    """Its questions and answers say what is predicted and learned, and when."""
    simulate_qa = pytest.importorskip("river.stream").simulate_qa
    X, y = mixture(120)
    expected, forest = Prequential(window=50), OnlineForestClassifier(3, random_state=0)
    for i, x, answer in simulate_qa(zip(X, y, strict=True), moment=None, delay=delay or None):
        if answer is not None:
            forest.partial_fit([x], [answer])
        elif hasattr(forest, "classes_"):
            expected.update([y[i]], forest.predict_proba([x]), forest.classes_)
    ours = OnlineForestClassifier(3, random_state=0)
    test = one_by_one(ours, X, y, delay)
    assert test.scores.state() == expected.scores.state()
    test.learn_waiting(ours)
    assert ours.to_bytes() == forest.to_bytes()


def test_a_delay_of_one_row_is_none():
    X, y = mixture(80)
    states = [
        one_by_one(OnlineForestClassifier(2, random_state=0), X, y, delay).scores.state()
        for delay in (0, 1, 2)
    ]
    assert states[0] == states[1] != states[2]


@pytest.mark.parametrize("delay", [5, 33, 300])
def test_a_late_test_put_down_goes_on_once_it_has_its_rows_again(delay):
    X, y = mixture(200)
    forests = [OnlineForestClassifier(2, random_state=0) for _ in range(2)]
    whole, parts = Prequential(delay=delay), Prequential(delay=delay)
    for first in range(0, 200, 20):
        some = slice(first, first + 20)
        for test, forest in zip((whole, parts), forests, strict=True):
            test.test_then_train(forest, X[some], y[some])
        parts = Prequential.from_state(json.loads(json.dumps(parts.state())))
        waited = slice(first + 20 - parts.absent, first + 20)
        parts.wait_again(X[waited], y[waited])
    assert parts.state() == whole.state()
    for test, forest in zip((whole, parts), forests, strict=True):
        test.learn_waiting(forest)
    assert forests[0].to_bytes() == forests[1].to_bytes()


def test_a_block_that_is_refused_is_not_scored_and_does_not_wait():
    X, y = mixture(40)
    forest, test = OnlineForestClassifier(2, random_state=0), Prequential(delay=4)
    test.test_then_train(forest, X, y)
    before = test.state()
    with pytest.raises(ValueError, match="infinity"):
        test.test_then_train(forest, np.full_like(X, np.inf), y)
    assert test.state() == before


def test_rows_counted_one_by_one_are_scored_as_in_a_batch():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([0.5, 0.5, 0.5], size=300)
    y, classes = rng.integers(3, size=300), [0, 1, 2]
    whole, single = Scores(), Scores()
    whole.update(y, proba, classes)
    for label, shares in zip(y.tolist(), proba.tolist(), strict=True):
        single.count(label, classes[int(np.argmax(shares))], shares[label], max(shares))
    assert single.to_dict() == whole.to_dict()
