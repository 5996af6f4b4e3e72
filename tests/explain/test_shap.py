"""`shap` reads our forests and finds what we find."""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import pytest

from riparian.explain import Explainer

from plain_forests import KINDS, probabilities

SHAP_KINDS = ["mixture", "mixture by vote", "missing", "late classes", "two classes", "Saffari"]


@pytest.fixture(scope="module")
def shap():
    with warnings.catch_warnings():  # of matplotlib, about how shap uses it
        warnings.simplefilter("ignore")
        return importlib.import_module("shap")


@pytest.mark.parametrize("kind", SHAP_KINDS)
def test_shap_finds_the_same_path_dependent_contributions(shap, kind):
    forest, X = KINDS[kind]()
    explains = Explainer(forest)
    theirs = shap.TreeExplainer(forest.to_shap(), feature_perturbation="tree_path_dependent")
    ours = explains.contributions(X)
    np.testing.assert_allclose(theirs.expected_value, ours.base, rtol=0, atol=1e-9)
    np.testing.assert_allclose(theirs.shap_values(X), ours.values, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", SHAP_KINDS)
def test_shap_finds_the_same_interventional_contributions(shap, kind):
    forest, X = KINDS[kind]()
    background = X[3:40:4]
    explains = Explainer(forest, background)
    theirs = shap.TreeExplainer(forest.to_shap(), background, feature_perturbation="interventional")
    ours = explains.contributions(X)
    np.testing.assert_allclose(theirs.shap_values(X), ours.values, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", SHAP_KINDS)
def test_the_weights_of_parents_are_the_sums_of_their_childrens(kind):
    forest, X = KINDS[kind]()
    described = forest.to_shap()
    total = np.zeros((len(X), len(forest.classes_)))
    for tree in described["trees"]:
        inner = np.flatnonzero(tree["children_left"] >= 0)
        weight, left, right = (
            tree[name] for name in ("node_sample_weight", "children_left", "children_right")
        )
        assert np.array_equal(weight[inner], weight[left[inner]] + weight[right[inner]])
        at = np.zeros(len(X), dtype=int)
        while (below := tree["children_left"][at] >= 0).any():
            goes = X[np.arange(len(X)), tree["features"][at]] <= tree["thresholds"][at]
            at = np.where(below, np.where(goes, left[at], right[at]), at)
        total += tree["values"][at]
    np.testing.assert_allclose(total, probabilities(forest, X), rtol=0, atol=1e-9)
