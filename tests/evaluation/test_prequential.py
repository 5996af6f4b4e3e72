"""Test-then-train: what is predicted, learned and shown along a stream, and how it is saved."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from riparian import OnlineForestClassifier, OnlineForestRegressor
from riparian.evaluation import NumberScores, Prequential
from riparian.evaluation.prequential import MOST_CURVE_POINTS

from engines import mixture
from predicted import CLASSES, predictions


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


def test_an_interrupted_stream_continues_as_if_it_had_not_been_interrupted():
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


def test_an_unknown_value_in_a_curve_stays_unknown():
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
def test_an_interrupted_test_with_a_delay_continues_once_it_has_its_rows_again(delay):
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


def without_blocks(test):
    """What a test knows, but for its curve, which has a point per block."""
    return {k: v for k, v in test.state().items() if k not in ("batches", "stride", "curve")}


@pytest.mark.parametrize("delay", [0, 1])
def test_without_a_delay_blocks_do_not_change_scores(delay):
    """Nor what is watched: a stream with a class that comes late."""
    X, y = mixture(240)
    y = np.where(np.arange(240) < 100, y % 2, y)
    states, watched = [], []
    for rows in (1, 7, 240):
        forest, test = OnlineForestClassifier(3, random_state=0), Prequential(50, delay)
        seen = [np.empty((0, X.shape[1]))]
        for first in range(0, 240, rows):
            some = slice(first, first + rows)
            test.test_then_train(
                forest, X[some], y[some], watch=lambda X, *_, seen=seen: seen.append(X)
            )
        states.append((without_blocks(test), forest.to_bytes()))
        watched.append(np.concatenate(seen).tolist())
        assert test.scores.rows == len(watched[-1]) == 239
    assert states[0] == states[1] == states[2]
    assert watched[0] == watched[1] == watched[2]


def test_the_curve_has_the_course_of_trust():
    X, y = mixture(200)
    forest, test = OnlineForestClassifier(3, random_state=0), Prequential()
    honest, without = OnlineForestClassifier(3, eager=False, random_state=0), Prequential()
    for some in (slice(0, 5), slice(5, 200)):
        for each, its in ((forest, test), (honest, without)):
            its.test_then_train(each, X[some], y[some])
            its.mark_forest(each, row=some.stop, seconds=0.0)
    assert [point.trust for point in without.curve] == [None, None]
    assert test.curve[1].trust == {str(size): w for size, w in forest.trust_.items()}
    assert test.curve[0].trust != test.curve[1].trust
    for each in (test, without):
        again = Prequential.from_state(json.loads(json.dumps(each.state())))
        assert again.curve == each.curve


@pytest.mark.parametrize(("delay", "block"), [(0, 1), (30, 20)])
def test_numbers_are_tested_before_they_are_learned(delay, block):
    """Row by row, or block by block with late labels, as the forest answers at that moment."""
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    y = 100 + 10 * X[:, 0] + rng.normal(size=300)
    forests = [OnlineForestRegressor(3, random_state=0) for _ in range(2)]
    test, expected = Prequential(window=50, delay=delay, numbers=True), NumberScores()
    for first in range(0, 300, 20):
        test.test_then_train(forests[0], X[first : first + 20], y[first : first + 20])
    learned = 0
    for first in range(0, 300, block):
        some = slice(first, first + block)
        if learned:
            expected.update(y[some], forests[1].predict(X[some]))
        due = first + block - max(0, delay - 1)
        if due > learned:
            forests[1].partial_fit(X[learned:due], y[learned:due])
            learned = due
    assert test.scores.state() == expected.state()
    assert test.scores.r2 > 0.5
    test.mark_forest(forests[0], row=300, seconds=0.0)
    assert test.curve[-1].rmse == test.scores.rmse and test.curve[-1].leaves > 0
    assert Prequential.from_state(json.loads(json.dumps(test.state()))).curve == test.curve
