"""Permutation importance along a stream: what is lost when a column says nothing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import riparian
from riparian import OnlineForestClassifier, OnlineForestRegressor
from riparian.engine.draws import words
from riparian.explain import PermutationImportance
from riparian.explain.permutation import PERMUTE_DRAW

NOISE = [2, 3]


def stream(rows, seed):
    """The first column decides, the second helps, the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4)).astype(np.float32)
    X[:, NOISE[1]] = rng.integers(0, 1000, rows)
    return X, np.where(X[:, 0] > 0, "oak", np.where(X[:, 1] > 1, "elm", "ash"))


def numbers(rows, seed, factor=1.0):
    """The same with numbers for the target."""
    X, _ = stream(rows, seed)
    return X, factor * (100.0 + 3 * X[:, 0].astype(np.float64) + (X[:, 1] > 1))


@pytest.fixture(scope="module")
def forest():
    return OnlineForestClassifier(15, random_state=0).partial_fit(*stream(3000, 1))


@pytest.fixture(scope="module")
def forest_of_numbers():
    return OnlineForestRegressor(15, random_state=0).partial_fit(*numbers(3000, 1))


@pytest.fixture(scope="module", params=[None, 1000], ids=["kept points", "a window"])
def tested(request, forest):
    importance = PermutationImportance(window=request.param)
    importance.update(forest, *stream(2000, 2))
    return importance


def test_what_decides_matters_most_and_noise_does_not(tested):
    lost = {each.feature: each for each in tested.results()}
    assert lost[0].accuracy.low > lost[1].accuracy.high > 0
    assert lost[0].log_loss.low > lost[1].log_loss.low > 0
    for feature in NOISE:
        assert lost[feature].accuracy.low < 0.01
        assert abs(lost[feature].accuracy.mean) < 0.02


def test_what_decides_a_number_matters_most_and_noise_does_not(forest_of_numbers):
    importance = PermutationImportance()
    importance.update(forest_of_numbers, *numbers(2000, 2))
    lost = importance.results()
    assert lost[0].absolute_error.low > lost[1].absolute_error.high > 0.05
    assert lost[0].squared_error.low > lost[1].squared_error.low > 0
    for feature in NOISE:
        assert abs(lost[feature].absolute_error.mean) < 0.02
        assert abs(lost[feature].squared_error.mean) < 0.1


@pytest.mark.parametrize("factor", [1.0, 1e-200, -1e145])
def test_the_mean_is_the_difference_of_two_errors_at_any_scale(factor):
    forest = OnlineForestRegressor(5, random_state=0).partial_fit(*numbers(1000, 1, factor))
    X, y = numbers(500, 4, factor)
    importance = PermutationImportance([1], window=1)  # so that the row before is drawn
    importance.update(forest, X, y)
    moved = X[1:].copy()
    moved[:, 1] = X[:-1, 1]
    risen = np.abs(y[1:] - forest.predict(moved)) - np.abs(y[1:] - forest.predict(X[1:]))
    [result] = importance.results()
    assert result.absolute_error.mean == pytest.approx(risen.mean(), rel=1e-9)
    half = 1.959964 * risen.std() / np.sqrt(len(risen) - 1)
    assert result.lost.high - result.lost.mean == pytest.approx(half, rel=1e-9)
    assert np.isfinite([result.squared_error.low, result.squared_error.high]).all()


def test_neither_batches_nor_threads_change_a_bit_of_numbers(forest_of_numbers):
    X, y = numbers(900, 2)
    results = []
    for cuts in ((0, 900), (0, 1, 1, 700, 900)):
        importance = PermutationImportance()
        for first, last in pairwise(cuts):
            importance.update(forest_of_numbers, X[first:last], y[first:last])
        results.append(importance.results())
    assert results[0] == results[1]


def test_gains_give_noise_a_share_that_permutation_does_not(forest, tested):
    """The reason to have both."""
    noise = forest.feature_importances_[NOISE].sum()
    lost = np.array([each.accuracy.mean for each in tested.results()])
    assert max(lost[NOISE].sum(), 0) / lost.sum() < noise / 2


def test_neither_batches_nor_threads_change_a_bit(forest, tested):
    X, y = stream(2000, 2)
    again = PermutationImportance(window=tested.window)
    for first, last in ((0, 1), (1, 1), (1, 700), (700, 2000)):
        again.update(forest, X[first:last], y[first:last])
    assert again.results() == tested.results()
    assert again.rows == (1999 if tested.window else 2000)  # in a window, the first has none before


def test_values_come_from_the_kept_points(forest):
    """By hand: one column, whose values are drawn by the number of the row."""
    X, y = stream(300, 6)
    importance = PermutationImportance([1], seed=7)
    importance.update(forest, X, y)
    kept = forest.kept_points_.X
    place = words(7, (PERMUTE_DRAW, 1), np.arange(300)) % np.uint64(len(kept))
    moved = X.copy()
    moved[:, 1] = kept[place.astype(int), 1]
    expected = forest.score(X, y) - forest.score(moved, y)
    assert importance.results()[0].accuracy.mean == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("prediction_only", [False, True])
def test_a_forest_without_kept_points_uses_the_last_rows(prediction_only):
    X, y = stream(600, 1)
    forest = OnlineForestClassifier(5, kept_points=100 * prediction_only, random_state=0)
    forest = riparian.from_bytes(forest.fit(X, y).to_bytes(prediction_only=prediction_only))
    by_default, window = PermutationImportance(), PermutationImportance(window=1000)
    for importance in (by_default, window):
        importance.update(forest, *stream(400, 2))
    assert by_default.results() == window.results()
    assert by_default.rows == 399


def test_along_a_stream_values_come_from_what_was_learned_last():
    forest = OnlineForestClassifier(5, kept_points=50, random_state=0)
    X, y = stream(400, 3)
    X[:, 0] += 1000.0 * (np.arange(400) // 50)
    for first in range(0, 400, 50):
        day = slice(first, first + 50)
        if first:
            drawn = forest.model_.engine.kept_values(0, np.arange(50, dtype=np.uint64))
            assert drawn.tolist() == X[first - 50 : first, 0].tolist()
        forest.partial_fit(X[day], y[day])


def test_columns_may_join_if_features_are_named(forest):
    X, y = stream(200, 1)
    for kept in (0, 100):
        growing = OnlineForestClassifier(3, kept_points=kept, random_state=0)
        growing.partial_fit(X[:100, :3], y[:100])
        named, every = PermutationImportance([0]), PermutationImportance()
        for importance in (named, every):
            importance.update(growing, X[:50, :3], y[:50])
        growing.model_.widen(4, (), None)
        growing.n_features_in_ = 4
        named.update(growing, X[50:], y[50:])
        assert named.rows == (200 if kept else 199)
        with pytest.raises(ValueError, match="has 4 columns now and had 3 at first"):
            every.update(growing, X[50:], y[50:])


def test_values_come_from_the_window(forest):
    """A column that changes its level: only rows of the new level are drawn from after a window."""
    X, y = stream(400, 3)
    X[:200, 0] += 100.0
    y[:200] = "oak"
    near, far = PermutationImportance([0], window=10), PermutationImportance([0], window=400)
    for importance in (near, far):
        importance.update(forest, X, y)
    assert near.results()[0].accuracy.mean != far.results()[0].accuracy.mean
    assert near._recent is not None and len(near._recent) == 10


def test_an_interval_holds_the_mean_of_a_long_stream(forest, tested):
    long = PermutationImportance([0, 1])
    long.update(forest, *stream(20_000, 9))
    for truth, result in zip(long.results(), tested.results(), strict=False):
        assert result.accuracy.low <= truth.accuracy.mean <= result.accuracy.high
        assert truth.accuracy.high - truth.accuracy.low < result.accuracy.high - result.accuracy.low


def test_the_mean_is_the_difference_of_two_accuracies(forest):
    X, y = stream(500, 4)
    importance = PermutationImportance([1], window=1)  # so that the row before is drawn
    importance.update(forest, X, y)
    moved = X[1:].copy()
    moved[:, 1] = X[:-1, 1]
    expected = forest.score(X[1:], y[1:]) - forest.score(moved, y[1:])
    assert importance.results()[0].accuracy.mean == pytest.approx(expected, abs=1e-12)


def test_labels_that_the_forest_does_not_know_are_always_wrong(forest):
    X, _ = stream(50, 5)
    importance = PermutationImportance()
    importance.update(forest, X, ["yew"] * 50)
    assert all(each.accuracy.mean == 0 == each.log_loss.mean for each in importance.results())


def test_sparse_rows_are_rows(forest, tested):
    X, y = stream(2000, 2)
    importance = PermutationImportance(window=tested.window)
    importance.update(forest, csr_matrix(X), y)
    assert importance.results() == tested.results()


def test_nothing_tested_has_no_results(forest):
    importance = PermutationImportance()
    assert importance.results() == []
    importance.update(forest, *(part[:1] for part in stream(5, 1)))
    assert importance.results() == []


def test_bad_input_is_named(forest):
    X, y = stream(5, 1)
    with pytest.raises(ValueError, match="features must be below 4, got 9"):
        PermutationImportance([9]).update(forest, X, y)
    with pytest.raises(ValueError, match="one label for each of 5 rows, got 4"):
        PermutationImportance().update(forest, X, y[:4])
    with pytest.raises(ValueError, match="window must be"):
        PermutationImportance(window=0)
