"""`kept_points_` hands out the last points of the stream (R19), as copies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse

import riparian
from riparian import OnlineForestClassifier, SaffariForestClassifier

pytestmark = pytest.mark.engine


def stream(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, np.where(X[:, 0] > 0, "oak", "ash"), rng.choice([0.0, 0.5, 1.0, 3.0], rows)


def forest(**more):
    return OnlineForestClassifier(
        **{"n_estimators": 2, "kept_points": 100, "random_state": 0, **more}
    )


@pytest.mark.parametrize("batches", [[300], [1, 99, 1, 199], [40, 60, 200]])
def test_they_are_the_last_points_whatever_the_batches(batches):
    X, y, _ = stream()
    learned, first = forest(), 0
    for rows in batches:
        learned.partial_fit(X[first : first + rows], y[first : first + rows])
        first += rows
    kept = learned.kept_points_
    np.testing.assert_array_equal(kept.X, X[200:])
    assert kept.y.tolist() == y[200:].tolist()
    assert kept.sample_weight.tolist() == [1.0] * 100


def test_a_point_without_weight_is_not_kept_and_others_keep_theirs():
    X, y, weight = stream()
    kept = forest().partial_fit(X, y, sample_weight=weight).kept_points_
    there = np.flatnonzero(weight)[-100:]
    np.testing.assert_array_equal(kept.X, X[there])
    assert kept.sample_weight.tolist() == weight[there].tolist()


def test_sparse_rows_come_back_sparse():
    X, y, _ = stream()
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0.0
    kept = forest().partial_fit(csr_matrix(X), y).kept_points_
    assert issparse(kept.X) and kept.X.dtype == np.float32
    np.testing.assert_array_equal(kept.X.toarray(), X[200:])


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_columns_that_join_later_are_missing_in_older_rows(kind):
    X, y, _ = stream()
    X = np.nan_to_num(X)
    learned = forest().partial_fit(kind(X[:250, :2]), y[:250])
    learned.model_.widen(3, (), None)
    learned.n_features_in_ = 3
    learned.partial_fit(kind(X[250:]), y[250:])
    expected = X[200:].copy()
    expected[:50, 2] = np.nan
    rows = learned.kept_points_.X
    np.testing.assert_array_equal(rows.toarray() if issparse(rows) else rows, expected)


def test_they_are_copies():
    X, y, _ = stream()
    learned = forest().partial_fit(X, y)
    learned.kept_points_.X[:] = 7.0
    np.testing.assert_array_equal(learned.kept_points_.X, X[200:])


def test_labels_are_those_of_the_stream_when_classes_join_late():
    X, _, _ = stream()
    learned = forest().partial_fit(X[:200], [30] * 200).partial_fit(X[200:], [7, -2] * 50)
    assert learned.kept_points_.y.tolist() == [7, -2] * 50


def test_a_snapshot_keeps_them_unless_it_only_predicts():
    X, y, _ = stream()
    learned = forest().partial_fit(X, y)
    again = riparian.from_bytes(learned.to_bytes()).kept_points_
    np.testing.assert_array_equal(again.X, X[200:])
    assert again.y.tolist() == y[200:].tolist()
    only = riparian.from_bytes(learned.to_bytes(prediction_only=True)).kept_points_
    assert only.X.shape == (0, 3) and len(only.y) == len(only.sample_weight) == 0


@pytest.mark.parametrize(
    "make", [lambda: forest(kept_points=0), lambda: SaffariForestClassifier(2)]
)
def test_a_forest_that_keeps_none_returns_none(make):
    X, y, _ = stream(20)
    learned = make().partial_fit(X, y)
    kept = learned.kept_points_
    assert kept.X.shape == (0, 3) and kept.y.shape == kept.sample_weight.shape == (0,)
    assert len(learned.model_.engine.kept_values(0, np.zeros(3, dtype=np.uint64))) == 0


def test_values_are_drawn_by_words():
    X, y, _ = stream()
    learned = forest().partial_fit(X, y)
    words = np.array([0, 99, 100, 2**64 - 1], dtype=np.uint64)
    drawn = learned.model_.engine.kept_values(1, words)
    np.testing.assert_array_equal(drawn, X[200:][(words % 100).astype(int), 1])
