"""`predict_then_learn` answers and learns as `predict_proba` and `partial_fit` do row by row."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import riparian
from riparian import (
    AdaptiveForestClassifier,
    Geometric,
    OnlineForestClassifier,
    SaffariForestClassifier,
)
from riparian.depth import DepthForestClassifier

from snapshots import PLAIN_DEPTH, images, mixture, same_forest

pytestmark = pytest.mark.engine

COMMON = {"n_estimators": 3, "random_state": 1}
SMALL = {"kept_points": 60, "alpha": Geometric(2, 1.1), "min_gain": 0.05}

FORESTS = {
    "paper": lambda: OnlineForestClassifier(kept_points=0, **COMMON),
    "kept": lambda: OnlineForestClassifier(eager=False, **SMALL, **COMMON),
    "eager": lambda: OnlineForestClassifier(**COMMON),
    "eager, then honest": lambda: OnlineForestClassifier(**SMALL, **COMMON),
    "eager, by vote": lambda: OnlineForestClassifier(voting="majority", **SMALL, **COMMON),
    "points ignored": lambda: OnlineForestClassifier(
        ignore_fraction=0.6, structure_fraction=0.2, **SMALL, **COMMON
    ),
    "balanced": lambda: OnlineForestClassifier(class_weight="balanced", **SMALL, **COMMON),
    "classes without weight": lambda: OnlineForestClassifier(
        class_weight={0: 0.0, 1: 0.5}, **SMALL, **COMMON
    ),
    "adaptive": lambda: AdaptiveForestClassifier(**COMMON),
    "Saffari": lambda: SaffariForestClassifier(min_samples=10, **COMMON),
    "Saffari, replaced": lambda: SaffariForestClassifier(
        min_samples=10, replacement_rate=0.02, **COMMON
    ),
}


def one_by_one(forest, X, y, weights=None, classes=None):
    """What each row is predicted before it is learned, by label; empty where no class is known."""
    answers = []
    for i in range(len(y)):
        row = X.iloc[i : i + 1] if isinstance(X, pd.DataFrame) else X[i : i + 1]
        weight = None if weights is None else weights[i : i + 1]
        if i == 0:  # the forest starts, and knows the classes that are given
            forest.partial_fit(row, y[:1], classes, np.zeros(1))
        known = forest.classes_.tolist()
        proba = forest.predict_proba(row)[0].tolist() if known else []
        answers.append(dict(zip(known, proba, strict=True)))
        forest.partial_fit(row, y[i : i + 1], sample_weight=weight)
    return answers


def in_batches(forest, X, y, weights=None, classes=None, cuts=(7, 8, 100)):
    """The same answers, from batches that end at these rows."""
    answers, ends = [], sorted({0, *(cut for cut in cuts if cut < len(y)), len(y)})
    forest.partial_fit(X[:1], y[:1], classes, np.zeros(1))
    for first, last in pairwise(ends):
        weight = None if weights is None else weights[first:last]
        proba = forest.predict_then_learn(X[first:last], y[first:last], sample_weight=weight)
        assert proba.shape == (last - first, len(forest.classes_))
        answers += [dict(zip(forest.classes_.tolist(), row, strict=True)) for row in proba.tolist()]
    return answers


def same_answers(batched, expected):
    """Whether answers are equal to the bit; classes that were not known yet have probability 0."""
    return len(batched) == len(expected) and all(
        {label: p for label, p in one.items() if label in other} == other
        and not any(p for label, p in one.items() if label not in other)
        for one, other in zip(batched, expected, strict=True)
    )


def late(n=220):
    """A stream with classes that arrive late, and do so unsorted."""
    X, y = mixture(n)
    return X, np.where(np.arange(n) < 90, 2 - y % 2, y)


@pytest.mark.parametrize("name", FORESTS)
def test_answers_and_forest_are_those_of_one_row_after_the_other(name):
    X, y = late()
    one, batched = FORESTS[name](), FORESTS[name]()
    assert same_answers(in_batches(batched, X, y), one_by_one(one, X, y))
    assert same_forest(batched, one)


@pytest.mark.parametrize("name", ["kept", "eager, then honest", "balanced"])
def test_rows_of_weight_0_are_predicted_and_not_learned(name):
    X, y = late()
    weights = np.random.default_rng(0).choice([0, 0, 0.3, 1, 2.5], len(y))
    one, batched = FORESTS[name](), FORESTS[name]()
    assert same_answers(in_batches(batched, X, y, weights), one_by_one(one, X, y, weights))
    assert same_forest(batched, one)


def test_classes_that_are_given_are_known_from_the_start():
    X, y = late()
    one, batched = FORESTS["eager"](), FORESTS["eager"]()
    expected = one_by_one(one, X, y, classes=[0, 1, 2])
    assert same_answers(in_batches(batched, X, y, classes=[0, 1, 2]), expected)
    assert expected[0] == {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}


@given(st.integers(0, 2**16), st.sampled_from(["kept", "eager", "adaptive"]))
@settings(max_examples=10, deadline=None)
def test_a_category_is_unknown_until_it_is_learned(seed, name):
    """R22: it would go to its half before any row had it, if the batch had joined at once."""
    rng = np.random.default_rng(seed)
    n = 150
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.integers(0, n, n) // 3, "c": 0})
    frame["b"] = frame["b"].map(lambda value: None if value % 9 == 0 else f"b{value}")
    frame["c"] = rng.choice(["x", "y", "z"], n)
    y = (frame["c"] == "y").to_numpy().astype(int) + (frame["a"] > 1).to_numpy()
    weights = rng.choice([0.0, 1.0, 1.0], n)
    made = [FORESTS[name]().set_params(max_categories=20) for _ in range(2)]
    expected = one_by_one(made[0], frame, y, weights)
    assert same_answers(in_batches(made[1], frame, y, weights), expected)
    assert same_forest(*made)


def test_sparse_rows_are_rows():
    X, y = late()
    X = np.where(np.isnan(X) | (X < 0.5), 0, X)
    one, batched = FORESTS["eager, then honest"](), FORESTS["eager, then honest"]()
    X = sparse.csr_matrix(X)
    assert same_answers(in_batches(batched, X, y), one_by_one(one, X, y))
    assert same_forest(batched, one)


def test_threads_change_nothing():
    X, y = late()
    answers = [
        FORESTS["eager, then honest"]().set_params(n_jobs=jobs).predict_then_learn(X, y)
        for jobs in (1, 3)
    ]
    assert (answers[0] == answers[1]).all()


def test_an_empty_batch_has_no_answers():
    forest = FORESTS["eager"]()
    X, y = mixture(20)
    assert forest.partial_fit(X, y).predict_then_learn(X[:0], y[:0]).shape == (0, 3)


def test_a_refused_batch_is_not_learned():
    forest = FORESTS["eager"]()
    X, y = mixture(40)
    before = forest.partial_fit(X, y).to_bytes()
    with pytest.raises(ValueError, match="infinit"):
        forest.predict_then_learn(np.full((1, 4), np.inf), y[:1])
    assert forest.to_bytes() == before
    only_predicts = riparian.from_bytes(forest.to_bytes(prediction_only=True))
    with pytest.raises(riparian.SnapshotError, match="cannot learn"):
        only_predicts.predict_then_learn(X, y)


def test_pixels_are_answered_in_turn():
    one = DepthForestClassifier(**PLAIN_DEPTH, kept_points=70)
    batched = DepthForestClassifier(**PLAIN_DEPTH, kept_points=70)
    for number, (depth, pixels, labels) in enumerate(images(8)):
        if number == 0:
            one.partial_fit(depth, pixels, labels)
            batched.partial_fit(depth, pixels, labels)
            continue
        answers = batched.predict_then_learn(depth, pixels, labels)
        for i in range(len(labels)):
            known = np.searchsorted(batched.classes_, one.classes_)
            expected = one.predict_proba(depth, pixels[i : i + 1])[0]
            assert answers[i, known].tolist() == expected.tolist()
            one.partial_fit(depth, pixels[i : i + 1], labels[i : i + 1])
    assert same_forest(batched, one)
