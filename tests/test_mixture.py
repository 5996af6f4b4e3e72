"""The paper's first experiment at 10,000 points: as near to the Bayes classifier as it should be."""

from __future__ import annotations

import numpy as np
import pytest

from riparian import Geometric, OnlineForestClassifier
from riparian.streams import GaussianMixture

MIXTURE = GaussianMixture.paper()
SEEDS = (0, 1, 2)


@pytest.fixture(scope="module")
def below_bayes():
    """For each seed, how far the forest and its mean tree stay below the Bayes accuracy."""
    X_test, y_test = MIXTURE.sample(200_000, np.random.default_rng(12345))
    some = slice(0, 20_000)  # are enough for a hundred trees
    bayes, bayes_of_some = (
        MIXTURE.bayes_accuracy(X_test[part], y_test[part]) for part in (slice(None), some)
    )
    gaps = []
    for seed in SEEDS:
        X, y = MIXTURE.sample(10_000, np.random.default_rng(1000 + seed))
        forest = OnlineForestClassifier(
            100,
            candidate_dims=1.0,
            split_points=10,
            min_gain=0.001,
            alpha=Geometric(1, 1.1),
            beta=1000,
            kept_points=0,
            random_state=seed,
            n_jobs=-1,
        ).partial_fit(X, y, classes=range(5))
        trees = np.mean(forest.predict_trees(X_test[some]) == y_test[some, None])
        leaves = forest.stats()["leaves"] / 100
        gaps.append((bayes - forest.score(X_test, y_test), bayes_of_some - trees, leaves))
    return np.array(gaps)


def test_the_forest_is_close_to_the_best_possible(below_bayes):
    assert 0.004 <= below_bayes[:, 0].mean() <= 0.010


def test_a_single_tree_is_not(below_bayes):
    assert 0.048 <= below_bayes[:, 1].mean() <= 0.058


def test_a_tree_has_about_four_hundred_leaves(below_bayes):
    assert 380 <= below_bayes[:, 2].mean() <= 420
