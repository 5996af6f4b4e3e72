"""What if: partial dependence, the plane of two features, and samples of rows to ask with."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.inspection import partial_dependence as sklearn_dependence

from riparian import OnlineForestClassifier, OnlineForestRegressor
from riparian.explain import RowSample, partial_dependence, plane
from riparian.explain.dependence import grid
from riparian.explain.sample import kept_sample


@pytest.fixture(scope="module", params=["classes", "numbers"])
def asked(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3)).astype(np.float32)
    if request.param == "numbers":
        return OnlineForestRegressor(10, random_state=0).fit(X, X[:, 0] * X[:, 1]), X[:200]
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    return OnlineForestClassifier(10, random_state=0).fit(X, y), X[:200]


def test_partial_dependence_is_that_of_scikit_learn(asked):
    forest, X = asked
    result = partial_dependence(forest, X, 0, points=12)
    of_numbers = isinstance(forest, OnlineForestRegressor)
    theirs = sklearn_dependence(
        forest, X, [0], custom_values={0: result.values}, method="brute",
        response_method="auto" if of_numbers else "predict_proba",
    )  # fmt: skip
    ours = result.predictions.reshape(len(result.values), -1)
    np.testing.assert_allclose(ours.T, theirs["average"], rtol=0, atol=1e-12)


def test_the_rows_that_are_asked_with_stay_as_they_are(asked):
    forest, X = asked
    before = X.copy()
    partial_dependence(forest, X, 0)
    plane(forest, X, 0, 1)
    assert np.array_equal(X, before)


def test_a_plane_is_the_forest_at_the_medians(asked):
    forest, X = asked
    result = plane(forest, X, 2, 0, points=5)
    for i, up in enumerate(result.values_up):
        for j, across in enumerate(result.values_across):
            row = np.array([[up, np.median(X[:, 1]), across]])
            ask = getattr(forest, "predict_proba", forest.predict)
            assert np.array_equal(result.predictions[i, j], ask(row)[0])


def test_a_grid_has_the_values_that_occur_or_evenly_spaced_ones():
    few = np.array([3, 1, np.nan, 1, 2], dtype=np.float32)
    assert grid(few, 3).tolist() == [1, 2, 3]
    many = np.arange(1000, dtype=np.float32)
    assert grid(many, 5) == pytest.approx([19.98, 259.74, 499.5, 739.26, 979.02])
    assert len(grid(np.full(4, np.nan, np.float32), 3)) == 0


def test_a_feature_without_values_has_no_dependence(asked):
    forest, X = asked
    missing = X.copy()
    missing[:, 1] = np.nan
    assert partial_dependence(forest, missing, 1) is None
    assert plane(forest, missing, 0, 1) is None
    assert plane(forest, missing, 0, 2) is not None


def test_a_plane_needs_two_features(asked):
    forest, X = asked
    with pytest.raises(ValueError, match="across and up must be different features, got 1 twice"):
        plane(forest, X, 1, 1)
    with pytest.raises(ValueError, match="feature must be"):
        partial_dependence(forest, X, 3)


# -- samples --------------------------------------------------------------------------------------


def test_a_sample_does_not_depend_on_batches():
    X = np.arange(3000, dtype=np.float32)[:, None]
    whole, parts = RowSample(100), RowSample(100)
    whole.update(X)
    for first, last in ((0, 1), (1, 1), (1, 60), (60, 2000), (2000, 3000)):
        parts.update(X[first:last])
    assert np.array_equal(whole.rows, parts.rows)
    assert len(np.unique(whole.rows)) == 100


def test_every_row_has_the_same_chance():
    X = np.arange(20)[:, None]
    counts = np.zeros(20)
    for seed in range(2000):
        sample = RowSample(5, seed=seed)
        sample.update(X)
        counts[sample.rows[:, 0].astype(int)] += 1
    assert np.abs(counts / 2000 - 0.25).max() < 0.05


def test_a_short_stream_is_its_own_sample():
    sample = RowSample(10)
    assert sample.rows.shape == (0, 0)
    sample.update(np.eye(3))
    assert np.array_equal(sample.rows, np.eye(3))


def test_a_sample_goes_on_from_its_state():
    X = np.random.default_rng(0).normal(size=(300, 2)).astype(np.float32)
    X[3, 1] = np.nan
    whole, sample = RowSample(20), RowSample(20)
    whole.update(X)
    for first in (0, 50, 170):
        sample = RowSample.from_state(json.loads(json.dumps(sample.state())))
        sample.update(X[first : {0: 50, 50: 170, 170: 300}[first]])
    np.testing.assert_array_equal(sample.rows, whole.rows)


def test_columns_that_join_are_missing_in_the_rows_of_a_sample():
    sample = RowSample(10)
    sample.update(np.ones((4, 1)))
    sample.update(np.ones((4, 3)))
    assert np.isnan(sample.rows).sum(axis=1).tolist() == [2] * 4 + [0] * 4


def test_kept_points_are_sampled_evenly(asked):
    forest, _ = asked
    rows, weights = kept_sample(forest, 8)
    np.testing.assert_array_equal(rows, forest.kept_points_.X[::250])
    assert weights.tolist() == [1.0] * 8
    assert len(kept_sample(forest, 10**6)[0]) == 2000


def test_of_many_categories_the_commonest_are_tried():
    """Codes between categories mean nothing, and a median of codes does not either."""
    rng = np.random.default_rng(4)
    X = np.stack([rng.geometric(0.2, size=900), rng.normal(size=900)], axis=1)
    forest = OnlineForestClassifier(5, categorical_features=[0], random_state=0)
    forest.partial_fit(X, X[:, 0] == 3)
    result = partial_dependence(forest, X, 0, points=4)
    codes = [forest.categories_[0].index(value) for value in (1, 2, 3, 4)]
    assert result.values.tolist() == sorted(codes)
    highest = forest.categories_[0][int(result.values[result.probabilities[:, 1].argmax()])]
    assert highest == 3
    flat = plane(forest, X, 1, 0, points=4)
    assert flat.values_up.tolist() == sorted(codes)
