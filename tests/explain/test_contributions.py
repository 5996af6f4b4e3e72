"""Contributions are Shapley values of the trees, and add up to the probabilities."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import csr_matrix

import riparian
from riparian import AdaptiveForestClassifier, OnlineForestClassifier, OnlineForestRegressor
from riparian.explain import Explainer
from riparian.explain.contributions import mean_of, plain_trees
from riparian.model.ensemble import ensemble_of
from riparian.reference import differs, goes_right
from riparian.streams import GaussianMixture

from plain_forests import (
    EVERY_KIND,
    WAYS_TO_ASK,
    Categorical,
    grown,
    mixture,
    numbers,
    of_categories,
    predictions,
    probabilities,
    spread_of,
)

pytestmark = pytest.mark.engine

KINDS_AND_METHODS = [(kind, method) for kind in EVERY_KIND for method in ("paths", "background")]


def background_of(X):
    return X[3:40:4]


def explained(kind, method):
    forest, X = EVERY_KIND[kind]()
    return forest, X, explainer(forest, X, method)


def explainer(forest, X, method):
    vars(forest).pop("feature_names_in_", None)  # rows come without names
    return Explainer(forest, None if method == "paths" else background_of(X))


# -- by the definition ----------------------------------------------------------------------------


def shapley(value, n):
    """Shapley's formula, over all subsets of n features."""
    phi = np.zeros((n, *np.shape(value(()))))
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for size in range(n):
            weight = factorial(size) * factorial(n - size - 1) / factorial(n)
            for S in combinations(others, size):
                phi[i] += weight * (value((*S, i)) - value(S))
    return phi


def goes_left(ensemble, node, x):
    right = differs if ensemble.equals[node] else goes_right
    return not right(float(x[ensemble.feature[node]]), float(ensemble.threshold[node]))


def expected(ensemble, x, known, node):
    """The answer below a node where only some features of x are known: others go both ways."""
    left = ensemble.left[node]
    if left < 0:
        leaf = ensemble.leaf_number[node]
        return ensemble.leaf_values(leaf, leaf + 1)[0]
    if ensemble.feature[node] in known:
        return expected(ensemble, x, known, left if goes_left(ensemble, node, x) else left + 1)
    weight = ensemble.node_weight
    both = [weight[child] * expected(ensemble, x, known, child) for child in (left, left + 1)]
    return sum(both) / weight[node]


def by_paths(ensemble, x, known):
    sums = sum(expected(ensemble, x, known, root) for root in ensemble.root)
    return ensemble.origin + sums / ensemble.n_trees


def by_background(forest, background, x, known):
    mixed = background.copy()
    mixed[:, list(known)] = x[list(known)]
    return predictions(forest, mixed).mean(axis=0)


@pytest.fixture(scope="module", params=["classes", "numbers"])
def four_features(request):
    """Deep trees over few columns, so that features come again on a path; some values missing."""
    if request.param == "numbers":
        forest, X = numbers(points=600)
        return forest, X[:12]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] * X[:, 2] > 0)
    X[rng.random(X.shape) < 0.1] = np.nan
    return OnlineForestClassifier(3, random_state=1, beta=4.0).fit(X, y), X[:12]


def test_path_dependent_contributions_are_shapley_values(four_features):
    forest, X = four_features
    ensemble = ensemble_of(forest, "this")
    result = Explainer(forest).contributions(X)
    for x, values in zip(X, result.values, strict=True):
        exact = shapley(lambda known, x=x: by_paths(ensemble, x, known), 4)
        np.testing.assert_allclose(values.reshape(exact.shape), exact, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.base, by_paths(ensemble, X[0], ()), rtol=0, atol=1e-12)


def test_interventional_contributions_are_shapley_values(four_features):
    forest, X = four_features
    background = X[4:]
    result = Explainer(forest, background).contributions(X)
    for x, values in zip(X, result.values, strict=True):
        exact = shapley(lambda known, x=x: by_background(forest, background, x, known), 4)
        np.testing.assert_allclose(values.reshape(exact.shape), exact, rtol=0, atol=1e-10)


# -- categories (R22) -----------------------------------------------------------------------------


@pytest.mark.parametrize(("columns", "halves"), WAYS_TO_ASK)
def test_contributions_of_categories_are_shapley_values(columns, halves):
    ensemble, X = of_categories(columns, trees=2, points=300, halves=halves)
    X = X[-12:]
    values = plain_trees(ensemble, None).path_dependent(X, 1)
    for x, result in zip(X, values, strict=True):
        exact = shapley(lambda known, x=x: by_paths(ensemble, x, known), 4)
        np.testing.assert_allclose(result, exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("columns", "halves"), WAYS_TO_ASK)
def test_contributions_of_categories_against_a_background_are_shapley_values(columns, halves):
    ensemble, X = of_categories(columns, trees=2, points=300, halves=halves)
    X, background = X[-6:], X[:9]
    values = plain_trees(ensemble, None).interventional(X, background, None, 1)

    def mean_answer(x, known):
        mixed = background.copy()
        mixed[:, list(known)] = x[list(known)]
        return Categorical(ensemble, mixed).answers.mean(axis=0)

    for x, result in zip(X, values, strict=True):
        exact = shapley(lambda known, x=x: mean_answer(x, known), 4)
        np.testing.assert_allclose(result, exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("halves", [False, True])
def test_contributions_of_categories_add_up(halves):
    asked = of_categories(trees=5, points=1500, codes=12, halves=halves)
    trees = plain_trees(asked.ensemble, None)
    np.testing.assert_allclose(trees.answer(asked.X), asked.answers, rtol=0, atol=1e-12)
    base = mean_of(asked.ensemble, None)
    total = base + trees.path_dependent(asked.X, 1).sum(axis=1)
    np.testing.assert_allclose(total, asked.answers, rtol=0, atol=1e-9)
    base = trees.answer(asked.X[:9]).mean(axis=0)
    total = base + trees.interventional(asked.X, asked.X[:9], None, 2).sum(axis=1)
    np.testing.assert_allclose(total, asked.answers, rtol=0, atol=1e-9)


# -- they add up ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "method"), KINDS_AND_METHODS)
def test_contributions_add_up_to_the_prediction(kind, method):
    forest, X, explains = explained(kind, method)
    result, expected = explains.contributions(X), predictions(forest, X)
    of_classes = () if result.classes is None else (len(forest.classes_),)
    assert result.values.shape == (len(X), X.shape[1], *of_classes)
    np.testing.assert_allclose(
        result.predictions.reshape(expected.shape),
        expected,
        rtol=1e-15,
        atol=1e-9 * spread_of(forest),
    )


@settings(max_examples=25, deadline=None)
@given(grown())
def test_contributions_of_any_forest_add_up(asked):
    forest, X = asked
    kept, trees = forest.kept_points_.X[:7], plain_trees(ensemble_of(forest, "this"), None)
    for base, values in (
        (mean_of(ensemble_of(forest, "this"), None), trees.path_dependent(X, 1)),
        (trees.answer(kept).mean(axis=0), trees.interventional(X, kept, None, 1)),
    ):
        total = base + values.sum(axis=1)
        np.testing.assert_allclose(total, probabilities(forest, X), rtol=0, atol=1e-9)


def test_long_paths_over_many_features_add_up():
    """A path asks up to 150 features: more than one word of bits, and many places to integrate at."""
    n = 150
    X = np.tile(np.triu(np.ones((n, n), dtype=np.float32)), (6, 1))
    forest = chain(n)
    rows = X[::9]
    for explains in (Explainer(forest), Explainer(forest, X[:20])):
        explains._ensemble = forest.ensemble
        result = explains.contributions(rows)
        np.testing.assert_allclose(
            result.probabilities, forest.ensemble_answer(rows), rtol=0, atol=1e-9
        )


def chain(n):
    """A forest whose one tree asks feature after feature, and its answer in plain Python."""
    from dataclasses import replace

    forest = OnlineForestClassifier(1, random_state=0)
    forest.partial_fit(np.zeros((4, n)), [0, 1, 0, 1])
    left = np.full(2 * n + 1, -1, dtype=np.int32)
    feature = left.copy()
    inner = np.array([0, *range(2, 2 * n, 2)])  # the right child goes on
    left[inner] = inner + 1
    feature[inner] = np.arange(n)
    leaves = np.flatnonzero(left < 0)
    share = 2**40 * (np.arange(len(leaves)) % 3) // 2
    forest.ensemble = replace(
        ensemble_of(forest, "this"),
        root=np.array([0]),
        feature=feature,
        threshold=np.full(2 * n + 1, 0.5, dtype=np.float32),
        equals=np.zeros(2 * n + 1, dtype=bool),
        left=left,
        leaf=leaves,
        weight=1 + np.arange(len(leaves)) % 5,
        n_shares=np.full(len(leaves), 2),
        share_class=np.tile(np.array([0, 1], dtype=np.int32), len(leaves)),
        share=np.stack([share, 2**40 - share], axis=1).ravel(),
    )

    def answer(rows):
        first_left = np.array([np.argmax(np.r_[row <= 0.5, True]) for row in rows])
        return forest.ensemble.leaf_values()[first_left]

    forest.ensemble_answer = answer
    return forest


# -- one class, threads, time ---------------------------------------------------------------------


@pytest.mark.parametrize("method", ["paths", "background"])
def test_the_contributions_of_one_class_are_those_of_all(method):
    _, X, explains = explained("missing", method)
    whole = explains.contributions(X)
    for k, label in enumerate(explains.classes.tolist()):
        one = explains.contributions(X, label=label)
        assert np.array_equal(one.values, whole.values[:, :, k])
        assert one.base == pytest.approx(whole.base[k], abs=1e-12)
        assert one.classes == label


@pytest.mark.parametrize("method", ["paths", "background"])
def test_neither_threads_nor_batches_change_a_bit(method):
    forest, X, explains = explained("mixture", method)
    X = np.tile(X, (4, 1))
    forest.n_jobs = 1
    alone = explains.contributions(X).values
    forest.n_jobs = 3
    assert np.array_equal(explains.contributions(X).values, alone)
    parts = [explains.contributions(X[i : i + 101]).values for i in range(0, len(X), 101)]
    assert np.array_equal(np.concatenate(parts), alone)


def test_an_explainer_stays_with_the_forest_of_its_moment():
    forest, X = mixture()
    explains, before = Explainer(forest), probabilities(forest, X)
    forest.partial_fit(X[:200], np.full(200, 9))
    result = explains.contributions(X)
    np.testing.assert_allclose(result.probabilities, before, rtol=0, atol=1e-9)


def test_a_feature_that_no_tree_asks_contributes_nothing():
    X, y = np.random.default_rng(0).normal(size=(600, 3)), [0, 1, 2] * 200
    X[:, 1] = 5.0
    forest = OnlineForestClassifier(5, random_state=0).fit(X, y)
    for explains in (Explainer(forest), Explainer(forest, X[:10])):
        assert not explains.contributions(X[:50]).values[:, 1].any()


def test_no_rows_have_no_contributions():
    forest, _ = mixture()
    assert Explainer(forest).contributions(np.empty((0, 2))).values.shape == (0, 2, 5)


def test_a_label_that_is_no_class_is_an_error():
    forest, X = mixture()
    with pytest.raises(ValueError, match=r"label must be one of the classes.*got 17"):
        Explainer(forest).contributions(X, label=17)


def test_a_forest_of_numbers_has_no_labels():
    forest, X = numbers(points=50)
    with pytest.raises(ValueError, match=r"label must be None for a forest of numbers, got 'oak'"):
        Explainer(forest).contributions(X, label="oak")


def test_a_forest_without_a_target_cannot_be_explained():
    forest = OnlineForestRegressor(2).partial_fit(np.empty((0, 2)), [])
    with pytest.raises(ValueError, match="an explanation needs a target, but none is known yet"):
        Explainer(forest)


def test_an_empty_background_is_an_error():
    with pytest.raises(ValueError, match="background must hold at least one row, got none"):
        Explainer(mixture().forest, np.empty((0, 2)))


# -- the kept points as background ------------------------------------------------------------------


def keeping(kept=60, sparse=False, weighted=False, **more):
    X, y = GaussianMixture.paper().sample(400, random_state=1)
    weight = np.random.default_rng(0).choice([0.5, 1.0, 4.0], 400) if weighted else None
    forest = OnlineForestClassifier(4, kept_points=kept, random_state=2, **more)
    forest.partial_fit(csr_matrix(X) if sparse else X, y, sample_weight=weight)
    return forest, X.astype(np.float32), weight


@pytest.mark.parametrize("sparse", [False, True])
def test_the_kept_points_are_a_background(sparse):
    forest, X, _ = keeping(sparse=sparse)
    result = Explainer(forest, "kept").contributions(X[:50])
    given = Explainer(forest, X[-60:]).contributions(X[:50])
    assert np.array_equal(result.values, given.values)
    np.testing.assert_allclose(result.base, given.base, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        result.probabilities, probabilities(forest, X[:50]), rtol=0, atol=1e-9
    )


def test_a_kept_point_counts_as_often_as_it_weighs():
    forest, X, weight = keeping(weighted=True)
    result = Explainer(forest, "kept").contributions(X[:50])
    copies = np.repeat(X[-60:], (2 * weight[-60:]).astype(int), axis=0)
    given = Explainer(forest, copies).contributions(X[:50])
    np.testing.assert_allclose(result.values, given.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.base, given.base, rtol=0, atol=1e-12)
    one = Explainer(forest, "kept").contributions(X[:50], label=3)
    np.testing.assert_allclose(one.probabilities, probabilities(forest, X[:50])[:, 3], atol=1e-9)


def test_of_many_kept_points_some_are_taken_evenly():
    forest, X, _ = keeping()
    result = Explainer(forest, "kept", background_size=7).contributions(X[:50])
    some = X[-60:][[0, 8, 17, 25, 34, 42, 51]]
    assert np.array_equal(result.values, Explainer(forest, some).contributions(X[:50]).values)


def test_the_background_stays_as_the_kept_points_were():
    forest, X, _ = keeping()
    explains = Explainer(forest, "kept")
    before = explains.contributions(X[:20]).values
    forest.partial_fit(X[:200] + 100, np.zeros(200, dtype=int))
    assert np.array_equal(explains.contributions(X[:20]).values, before)


@pytest.mark.parametrize("prediction_only", [False, True])
def test_without_kept_points_a_background_must_be_given(prediction_only):
    forest, X, _ = keeping(kept=60 * prediction_only)
    forest = riparian.from_bytes(forest.to_bytes(prediction_only=prediction_only))
    with pytest.raises(ValueError, match="keeps points, and this one has none: give rows"):
        Explainer(forest, "kept")
    assert Explainer(forest, X[:5]).contributions(X[:2]).values.shape == (2, 2, 5)


def test_a_background_of_another_name_is_an_error():
    with pytest.raises(ValueError, match="must be rows, \"kept\" or None, got 'all'"):
        Explainer(mixture().forest, "all")
    with pytest.raises(ValueError, match="background_size must be from 1 to"):
        Explainer(mixture().forest, "kept", background_size=0)


def test_categories_of_a_stream_that_changes_are_explained_too():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(6, size=3000), rng.normal(size=3000)]).astype(np.float32)
    X[rng.random(3000) < 0.1] = np.nan
    y = (X[:, 0] == 2) ^ (X[:, 1] > 0)
    y[1500:] = ~y[1500:]
    forest = AdaptiveForestClassifier(5, categorical_features=[0], random_state=0).partial_fit(X, y)
    assert forest.replacements_
    proba = forest.predict_proba(X[:200])
    for background in (None, "kept"):
        result = Explainer(forest, background).contributions(X[:200])
        np.testing.assert_allclose(result.probabilities, proba, atol=1e-9)
