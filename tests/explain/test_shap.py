"""`shap` reads our forests and finds what we find."""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import pytest

from riparian import OnlineForestClassifier
from riparian.explain import Explainer
from riparian.explain.contributions import plain_trees
from riparian.explain.shap import described
from riparian.model.ensemble import ensemble_of

from plain_forests import EVERY_KIND, of_categories, predictions

SHAP_KINDS = [
    *("mixture", "mixture by vote", "missing", "late classes", "two classes", "sparse rows"),
    *("only predicts", "adaptive", "adaptive by vote", "Saffari", "categories", "other categories"),
    *("numbers", "numbers, eager, then honest", "numbers of categories", "numbers, far from 0"),
]


@pytest.fixture(scope="module")
def shap():
    with warnings.catch_warnings():  # of matplotlib, about how shap uses it
        warnings.simplefilter("ignore")
        return importlib.import_module("shap")


@pytest.mark.parametrize("kind", SHAP_KINDS)
def test_shap_finds_the_same_path_dependent_contributions(shap, kind):
    forest, X = EVERY_KIND[kind]()
    explains = Explainer(forest)
    theirs = shap.TreeExplainer(forest.to_shap(), feature_perturbation="tree_path_dependent")
    ours = explains.contributions(X)
    np.testing.assert_allclose(theirs.expected_value, ours.base, rtol=0, atol=1e-9)
    np.testing.assert_allclose(theirs.shap_values(X), ours.values, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", SHAP_KINDS)
def test_shap_finds_the_same_interventional_contributions(shap, kind):
    forest, X = EVERY_KIND[kind]()
    background = X[3:40:4]
    explains = Explainer(forest, background)
    theirs = shap.TreeExplainer(forest.to_shap(), background, feature_perturbation="interventional")
    ours = explains.contributions(X)
    np.testing.assert_allclose(theirs.shap_values(X), ours.values, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", SHAP_KINDS)
def test_the_weights_of_parents_are_the_sums_of_their_childrens(kind):
    forest, X = EVERY_KIND[kind]()
    result, weights = answers(forest.to_shap(), X)
    np.testing.assert_allclose(result, predictions(forest, X), rtol=1e-15, atol=1e-9)
    assert not weights.any()


def answers(described, X):
    """What the dictionary says of rows; of inner nodes, how far their weight is from the children's."""
    total, off = described["base_offset"], []
    for tree in described["trees"]:
        inner = np.flatnonzero(tree["children_left"] >= 0)
        weight, left, right, missing = (
            tree[name]
            for name in (
                "node_sample_weight",
                "children_left",
                "children_right",
                "children_default",
            )
        )
        off.append(weight[inner] - weight[left[inner]] - weight[right[inner]])
        at = np.zeros(len(X), dtype=int)
        while (below := left[at] >= 0).any():
            x = X[np.arange(len(X)), tree["features"][at]]
            goes = np.where(x <= tree["thresholds"][at], left[at], right[at])
            at = np.where(below, np.where(np.isnan(x), missing[at], goes), at)
        total = total + tree["values"][at]
    return total, np.concatenate(off)


# -- categories (R22): SHAP knows numbers only ------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "halves"), [((0,), False), ((0, 2), False), ((0, 1, 2, 3), False), ((0, 2), True)]
)
@pytest.mark.parametrize("method", ["tree_path_dependent", "interventional"])
def test_shap_finds_the_same_contributions_of_categories(shap, columns, halves, method):
    asked = of_categories(columns, trees=3, points=300, halves=halves)
    trees, background = plain_trees(asked.ensemble, None), asked.X[:8]
    if method == "interventional":
        ours = trees.interventional(asked.X, background, None, 1)
        theirs = shap.TreeExplainer(
            described(asked.ensemble), background, feature_perturbation=method
        )
    else:
        ours = trees.path_dependent(asked.X, 1)
        theirs = shap.TreeExplainer(described(asked.ensemble), feature_perturbation=method)
    np.testing.assert_allclose(theirs.shap_values(asked.X), ours, rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", ["tree_path_dependent", "interventional"])
def test_shap_finds_the_same_contributions_of_halves(shap, method):
    """Of a real forest: a test of half of 40 categories becomes about twenty."""
    rng = np.random.default_rng(1)
    X = np.floor(rng.random((250, 2)) * [40, 3]).astype(np.float32)
    X[:40, 0] = np.arange(40)
    y = (X[:, 0] * 7 % 11 > 5).astype(int)
    forest = OnlineForestClassifier(2, categorical_features=[0], random_state=1).partial_fit(X, y)
    assert ensemble_of(forest, "this").is_half.sum() > 4
    X, background = X[:60], X[60:70]
    X[0] = np.nan
    if method == "interventional":
        ours = Explainer(forest, background).contributions(X)
        theirs = shap.TreeExplainer(forest.to_shap(), background, feature_perturbation=method)
    else:
        ours = Explainer(forest).contributions(X)
        theirs = shap.TreeExplainer(forest.to_shap(), feature_perturbation=method)
    np.testing.assert_allclose(theirs.shap_values(X), ours.values, rtol=0, atol=1e-6)


@pytest.mark.parametrize("halves", [False, True])
def test_categories_are_asked_in_shaps_words(halves):
    asked = of_categories((0, 1, 2, 3), halves=halves)
    result, weights = answers(described(asked.ensemble), asked.X)
    np.testing.assert_allclose(result, asked.answers, rtol=0, atol=1e-9)
    np.testing.assert_allclose(weights, 0, rtol=0, atol=1e-9)


def test_a_forest_that_shap_cannot_hold_is_refused(monkeypatch):
    monkeypatch.setattr("riparian.explain.shap.MOST_NODES", 100)
    with pytest.raises(
        ValueError, match=r"would take more than 100 of them: use riparian\.explain"
    ):
        described(of_categories((0, 1, 2, 3)).ensemble)
    assert described(of_categories(()).ensemble)["trees"]  # numbers are asked as they are
