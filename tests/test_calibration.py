"""One temperature, learned from predictions before their labels, makes probabilities fit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits

from riparian import OnlineForestClassifier
from riparian.calibration import OnlineTemperature
from riparian.evaluation import Scores


def drawn(temperature, rows=4000, classes=4, seed=0):
    """Probabilities that would be right at another temperature, and labels drawn from those."""
    rng = np.random.default_rng(seed)
    predicted = rng.dirichlet(np.ones(classes), rows).clip(0.01)
    predicted /= predicted.sum(axis=1, keepdims=True)
    true = predicted ** (1 / temperature)
    true /= true.sum(axis=1, keepdims=True)
    y = (rng.random(rows)[:, None] > true.cumsum(axis=1)).sum(axis=1).clip(max=classes - 1)
    return predicted, true, y


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_it_finds_the_temperature_that_is_there(temperature):
    predicted, true, y = drawn(temperature)
    online = OnlineTemperature()
    online.update(predicted, y, range(4))
    assert online.temperature == pytest.approx(temperature, rel=0.1)
    assert np.abs(online.transform(predicted) - true).mean() < 0.02


def test_it_ends_where_the_log_loss_of_all_rows_is_least():
    predicted, _, y = drawn(0.5)
    online = OnlineTemperature()
    online.update(predicted, y, range(4))

    def loss(power):
        logs = power * np.log(predicted)
        shares = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
        return -np.log(shares[np.arange(len(y)), y]).mean()

    powers = np.linspace(0.5, 4, 200)
    best = min(map(loss, powers))
    assert loss(1 / online.temperature) < best + 1e-3


def test_probabilities_stay_probabilities_and_their_order_stays():
    predicted, _, y = drawn(0.4)
    online = OnlineTemperature()
    online.update(predicted, y, range(4))
    better = online.transform(predicted)
    assert np.allclose(better.sum(axis=1), 1)
    assert np.array_equal(np.argsort(better, axis=1), np.argsort(predicted, axis=1))


def test_batches_and_a_save_in_between_change_nothing():
    predicted, _, y = drawn(0.7, rows=500)
    whole, parts = OnlineTemperature(), OnlineTemperature()
    whole.update(predicted, y, range(4))
    for first, last in ((0, 1), (1, 300), (300, 500)):
        parts.update(predicted[first:last], y[first:last], range(4))
        parts = OnlineTemperature.from_state(json.loads(json.dumps(parts.state())))
    assert parts.state() == whole.state() and whole.rows == 500


def test_labels_that_are_not_known_say_nothing():
    online = OnlineTemperature()
    online.update([[0.9, 0.1]], ["yew"], ["ash", "elm"])
    assert online.rows == 0 and online.temperature == 1.0


def test_certain_mistakes_are_survived():
    online = OnlineTemperature()
    online.update([[1.0, 0.0]] * 50, [1] * 50, [0, 1])
    assert np.isfinite(online.transform([[1.0, 0.0]])).all()
    assert online.temperature > 1


def test_a_forest_along_a_stream_is_better_calibrated_with_it():
    X, y = load_digits(return_X_y=True)
    forest, online = OnlineForestClassifier(20, random_state=0), OnlineTemperature()
    plain, calibrated = Scores(), Scores()
    for first in range(0, len(y), 100):
        rows = slice(first, first + 100)
        if first:
            proba = forest.predict_proba(X[rows])
            plain.update(y[rows], proba, forest.classes_)
            calibrated.update(y[rows], online.transform(proba), forest.classes_)
            online.update(proba, y[rows], forest.classes_)
        forest.partial_fit(X[rows], y[rows])
    assert calibrated.accuracy == plain.accuracy
    assert calibrated.log_loss < 0.7 * plain.log_loss
    assert calibrated.calibration_error < plain.calibration_error / 2


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="floor must be above 0 and below 1, got 0"):
        OnlineTemperature(0)
    with pytest.raises(ValueError, match="rows of probabilities"):
        OnlineTemperature().transform([[np.nan, 1.0]])
    with pytest.raises(ValueError, match="one label for each of 1 rows, got 2"):
        OnlineTemperature().update([[0.5, 0.5]], [0, 1], [0, 1])
