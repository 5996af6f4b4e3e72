"""The forests pass scikit-learn's own checks, and work with its tools."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse import random as sparse_random
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from riparian import (
    AdaptiveForestClassifier,
    AdaptiveForestRegressor,
    Geometric,
    OnlineForestClassifier,
    OnlineForestRegressor,
    Polynomial,
    SaffariForestClassifier,
    from_bytes,
)
from riparian.engine import native
from riparian.model import rows

# scikit-learn's own forests declare the same, for the same reason: a point that counts twice is drawn
# once, so the forest is another one than with the point twice.
EXPECTED_TO_FAIL = {
    f"check_sample_weight_equivalence_on_{kind}_data": (
        "sample_weight is not equivalent to removing/repeating samples."
    )
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [
        OnlineForestClassifier(n_estimators=10, random_state=0),
        OnlineForestRegressor(n_estimators=10, random_state=0),
        AdaptiveForestClassifier(n_estimators=10, random_state=0),
        AdaptiveForestRegressor(n_estimators=10, random_state=0),
        # The checks learn some forty points: with 50 to split, it would know one leaf.
        SaffariForestClassifier(n_estimators=20, min_samples=5, random_state=0),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_TO_FAIL,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


def small(**parameters):
    return OnlineForestClassifier(n_estimators=10, random_state=0, **parameters)


def same_forest(a, b):
    """Every array of every tree, to the bit."""
    (points_a, trees_a, _), (points_b, trees_b, _) = a.model_.engine.save(), b.model_.engine.save()
    return points_a == points_b and all(
        one[name].tobytes() == other[name].tobytes()
        for one, other in zip(trees_a, trees_b, strict=True)
        for name in one
    )


# -- its tools ------------------------------------------------------------------------------------


def test_it_works_as_a_step_of_a_pipeline(digits):
    model = make_pipeline(StandardScaler(), small()).fit(*digits)
    assert model.score(*digits) > 0.8


def test_grid_search_sets_parameters_that_are_schedules(digits):
    grid = {"alpha": [Geometric(1, 1.1), Geometric(50, 1.1)], "min_gain": [0.01]}
    search = GridSearchCV(small(), grid, cv=2).fit(*digits)
    assert search.best_params_["alpha"] == Geometric(1, 1.1)


def test_cross_validation_and_calibration_take_it_as_it_is(digits):
    assert cross_val_score(small(), *digits, cv=3).min() > 0.6
    calibrated = CalibratedClassifierCV(small(), cv=2).fit(*digits)
    assert calibrated.predict_proba(digits[0]).sum(axis=1) == pytest.approx(1)


def test_a_clone_is_unfitted_and_learns_the_same_forest(digits):
    fitted = small(fringe_size=3, beta=Polynomial(10, 2.0), alpha=Polynomial(1, 2.0)).fit(*digits)
    twin = clone(fitted)
    assert not hasattr(twin, "classes_")
    assert same_forest(twin.fit(*digits), fitted)


def test_parameters_set_after_the_start_wait_for_the_next_fit(digits):
    forest = small().fit(*digits).set_params(n_estimators=3)
    assert forest.partial_fit(*digits).stats()["leaves"] >= 10
    assert len(forest.fit(*digits).stats()["trees"]) == 3


def test_the_html_repr_shows_the_parameters():
    assert "fringe_size" in small(fringe_size=7)._repr_html_()


# -- frames and sparse matrices -------------------------------------------------------------------


def frames(X, names):
    columns = {name: X[:, i] for i, name in enumerate(names)}
    return {
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "pyarrow": pa.table(columns),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames_give_feature_names_and_the_same_forest_as_arrays(digits, kind):
    X, y = digits
    names = [f"pixel {i}" for i in range(X.shape[1])]
    frame = frames(X, names)[kind]
    forest = small().fit(frame, y)
    assert forest.feature_names_in_.tolist() == names
    assert same_forest(forest, small().fit(X, y))
    assert np.array_equal(forest.predict(frame), small().fit(X, y).predict(X))


def test_names_in_another_order_are_an_error(digits):
    X, y = digits
    frame = pd.DataFrame(X, columns=[f"pixel {i}" for i in range(X.shape[1])])
    forest = small().fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        forest.partial_fit(frame[frame.columns[::-1]], y)


def test_a_sparse_matrix_gives_the_same_forest_as_the_dense_one(digits, monkeypatch):
    X, y = digits
    monkeypatch.setattr(native, "DENSE_BYTES", 4 * X.shape[1] * 100)  # in seven pieces
    sparse = small().partial_fit(csr_matrix(X), y)
    dense = small().partial_fit(X, y)
    assert same_forest(sparse, dense)
    assert np.array_equal(sparse.predict_proba(csr_matrix(X)), dense.predict_proba(X))
    assert np.array_equal(sparse.apply(csr_matrix(X)), dense.apply(X))


def test_a_sparse_matrix_is_never_dense_as_a_whole():
    wide = sparse_random(200, 200_000, density=1e-5, format="csr", random_state=0)  # 160 MB dense
    largest = max(block.nbytes for _, block in native.blocks(rows.as_rows(wide)))
    assert largest <= native.DENSE_BYTES
    assert small(candidate_dims=3.0).partial_fit(wide, np.arange(200) % 2).stats()["points"] == 200


def test_a_bad_value_in_a_sparse_matrix_is_named():
    X = csr_matrix(([1.0, 1e300], ([0, 2], [1, 3])), shape=(3, 5))
    with pytest.raises(ValueError, match=r"X\[2, 3\] is 1e\+300"):
        small().fit(X, [0, 1, 0])


# -- progress -------------------------------------------------------------------------------------


def test_a_plain_callback_hears_of_every_step_and_can_stop(digits):
    X, y = np.tile(digits[0], (20, 1)), np.tile(digits[1], 20)
    heard = []
    small(passes=2).fit(X, y, callback=lambda done, rows: heard.append((done, rows)))
    assert heard == [(4096, 24000), (8192, 24000), (12000, 24000), (16096, 24000),
                     (20192, 24000), (24000, 24000)]  # fmt: skip
    stopped = small(passes=2).fit(X, y, callback=lambda done, rows: done >= 8192)
    assert stopped.stats()["points"] == 8192


@pytest.mark.skipif(
    not hasattr(OnlineForestClassifier, "set_callbacks"), reason="scikit-learn < 1.9"
)
def test_scikit_learns_callbacks_see_the_batches_and_a_forest_that_predicts(digits):
    X, y = np.tile(digits[0], (10, 1)), np.tile(digits[1], 10)

    class Listener:
        def __init__(self):
            self.events, self.scores = [], []

        def setup(self, estimator, context):
            self.events.append("setup")

        def on_fit_task_begin(self, estimator, context):
            self.events.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
            self.events.append(f"end {context.task_name}")
            self.scores.append(fitted_estimator.score(X, y))

        def teardown(self, estimator, context):
            self.events.append("teardown")

    listener = Listener()
    forest = small().set_callbacks(listener).fit(X, y)
    batch = ["begin batch", "end batch"]
    assert listener.events == ["setup", "begin fit", *batch, *batch, "end fit", "teardown"]
    assert listener.scores[-1] == forest.score(X, y)
    assert len(listener.scores) == 3


# -- weights --------------------------------------------------------------------------------------


def test_class_weights_multiply_sample_weights(digits):
    X, y = digits
    weight = {k: 0.5 + k / 3 for k in range(9)}  # 9 is not named: 1
    by_class = small(class_weight=weight).partial_fit(X, y, sample_weight=np.full(len(y), 2.0))
    by_row = small().partial_fit(X, y, sample_weight=[2.0 * weight.get(k, 1.0) for k in y])
    assert same_forest(by_class, by_row)


def test_balanced_follows_the_frequencies_row_by_row_whatever_the_batches(digits):
    X, y = digits[0], np.where(digits[1] < 7, 0, digits[1])
    seen, weights = {}, []
    for n, k in enumerate(y, start=1):
        seen[k] = seen.get(k, 0) + 1
        weights.append(n / (len(seen) * seen[k]))
    expected = small().partial_fit(X, y, sample_weight=weights)
    whole = small(class_weight="balanced").partial_fit(X, y)
    pieces = small(class_weight="balanced")
    for first in range(0, len(y), 37):
        pieces.partial_fit(X[first : first + 37], y[first : first + 37])
    assert same_forest(whole, expected)
    assert same_forest(pieces, expected)


def test_a_class_that_comes_after_millions_counts_as_much_as_a_point_may():
    """Its balanced weight would be above 2^20, and the forest could be saved but not loaded."""
    y = np.zeros(2_200_001, dtype=np.int64)
    y[-1] = 1
    X = np.random.default_rng(0).random((len(y), 1), dtype=np.float32)
    forest = OnlineForestClassifier(1, random_state=0, class_weight="balanced").partial_fit(X, y)
    (tree,) = from_bytes(forest.to_bytes()).stats()["trees"]
    assert tree["structure_points"] + tree["estimation_points"] == len(y) - 1 + 2**20


def test_balanced_weights_survive_a_pickle(digits):
    X, y = digits[0], np.where(digits[1] < 7, 0, digits[1])
    forest = small(class_weight="balanced").partial_fit(X[:300], y[:300])
    other = pickle.loads(pickle.dumps(forest))
    assert same_forest(other.partial_fit(X[300:], y[300:]), forest.partial_fit(X[300:], y[300:]))


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("balance", "class_weight must be a dict, 'balanced' or None, got 'balance'"),
        ({0: -1.0}, r"class_weight must hold numbers from 0 to 2\^20, got -1.0 for 0"),
        ({0: float("nan")}, "got nan for 0"),
        ({0: "heavy"}, "got 'heavy' for 0"),
    ],
)
def test_bad_class_weights_are_named(digits, class_weight, message):
    with pytest.raises(ValueError, match=message):
        small(class_weight=class_weight).fit(*digits)


# -- copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "copier", [lambda f: pickle.loads(pickle.dumps(f)), copy.deepcopy, copy.copy]
)
def test_a_copy_continues_as_the_original_would_and_does_not_change_it(digits, copier):
    X, y = digits
    forest = small(fringe_size=5).partial_fit(X[:300], y[:300])
    twin = copier(forest)
    before = forest.predict_proba(X)
    twin.partial_fit(X[300:], y[300:])
    assert np.array_equal(forest.predict_proba(X), before)
    assert same_forest(forest.partial_fit(X[300:], y[300:]), twin)
