"""`AdaptiveForestClassifier`: it follows a stream that changes (R23)."""

from __future__ import annotations

import logging
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone

import riparian
from riparian import AdaptiveForestClassifier, OnlineForestClassifier
from riparian.model.ensemble import WHOLE, ensemble_of

pytestmark = pytest.mark.engine


def turned_round(n=2000, change=1000):
    """Three classes side by side. At the change, every one takes the place of another."""
    X = np.random.default_rng(0).normal(size=(5000, 3))[:n].astype(np.float32)
    y = (X[:, 0] > -0.5) + (X[:, 0] + X[:, 1] > 0.5).astype(int)
    y[change:] = (y[change:] + 1) % 3
    return X, y


def forest(**changes):
    return AdaptiveForestClassifier(**({"n_estimators": 5, "random_state": 0} | changes))


@pytest.fixture(scope="module")
def changed():
    return forest().partial_fit(*turned_round())


def test_it_follows_a_change_that_the_paper_s_forest_does_not(changed):
    X, y = turned_round()
    paper = OnlineForestClassifier(n_estimators=5, random_state=0).partial_fit(X, y)
    assert changed.score(X[1800:], y[1800:]) > paper.score(X[1800:], y[1800:]) + 0.1


def test_replacements_name_the_point_and_the_tree(changed):
    assert changed.replacements_ == sorted(changed.replacements_)
    assert {tree for _, tree in changed.replacements_} == set(range(5))
    assert all(1000 < point < 1400 for point, _ in changed.replacements_)
    assert forest().partial_fit(*turned_round(900)).replacements_ == []


def test_each_replacement_is_logged_once_whatever_the_batches(changed, caplog):
    X, y = turned_round()
    with caplog.at_level(logging.INFO, logger="riparian"):
        slow = forest()
        for first in range(0, len(X), 100):
            slow.partial_fit(X[first : first + 100], y[first : first + 100])
    matches = [re.search(r"point (\d+): tree (\d+)", r.getMessage()) for r in caplog.records]
    logged = sorted((int(match[1]), int(match[2])) for match in matches if match)
    assert logged == changed.replacements_ == slow.replacements_


def test_a_replaced_tree_has_learned_the_points_since_then_only(changed):
    for tree, stats in enumerate(changed.stats()["trees"]):
        since = max(point for point, mine in changed.replacements_ if mine == tree)
        assert stats["structure_points"] + stats["estimation_points"] == 2000 - since


def test_the_certificate_says_which_trees_were_replaced_and_when(changed):
    certificate = changed.certificate()
    assert list(certificate.replacements) == changed.replacements_
    assert "trees replaced" in certificate.verdict
    for point, tree in changed.replacements_:
        (row,) = [row for row in certificate.rows() if row[:2] == ("replacements", f"tree {tree}")]
        assert f"{point:,}" in row[3]
    calm = OnlineForestClassifier(2, random_state=0).partial_fit(*turned_round(200)).certificate()
    assert calm.replacements == ()
    assert not [row for row in calm.rows() if row[0] == "replacements"]


@pytest.mark.parametrize("voting", ["average", "majority"])
def test_plain_trees_answer_what_the_forest_answers(voting):
    X, y = turned_round()
    learned = forest(voting=voting).partial_fit(X, y)
    ensemble = ensemble_of(learned, "this")
    place = ensemble.root[None, :].repeat(len(X), axis=0)
    for _ in range(60):
        inner = ~ensemble.is_leaf[place]
        value = np.take_along_axis(X, np.maximum(ensemble.feature[place], 0), axis=1)
        below = ensemble.left[place] + ~(value <= ensemble.threshold[place])
        place = np.where(inner, below, place)
    values = ensemble.leaf_values()[ensemble.leaf_number[place]]
    exact = np.rint(values * WHOLE).astype(np.int64).sum(axis=1) / (5 * WHOLE)
    assert (exact == learned.predict_proba(X)).all()


def test_copies_and_snapshots_go_on_alike(changed):
    X, y = turned_round(2600)
    whole = forest().partial_fit(X, y)
    for copy in (
        pickle.loads(pickle.dumps(changed)),
        riparian.from_bytes(changed.to_bytes()),
    ):
        assert type(copy) is AdaptiveForestClassifier
        assert copy.replacements_ == changed.replacements_
        copy.partial_fit(X[2000:], y[2000:])
        assert (copy.predict_proba(X) == whole.predict_proba(X)).all()
    predicting = riparian.from_bytes(changed.to_bytes(prediction_only=True))
    assert (predicting.predict_proba(X) == changed.predict_proba(X)).all()
    assert predicting.replacements_ == changed.replacements_


def test_a_budget_is_kept_and_counts_the_memories():
    X, y = turned_round(6000, 3000)
    bounded = forest(kept_points=200, max_memory=45_000)
    for first in range(0, 6000, 1000):
        bounded.partial_fit(X[first : first + 1000], y[first : first + 1000])
        assert bounded.memory()["total"] <= 45_000
    assert bounded.stats()["stopped"] > 0
    one, four = forest(memories=(1.0,)), forest()
    one, four = (f.partial_fit(X[:500], y[:500]).memory()["histograms"] for f in (one, four))
    assert four > one


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"drift_confidence": 0.0}, "drift_confidence must be above 0 and below 1, got 0.0"),
        ({"drift_confidence": 1}, "drift_confidence must be above 0 and below 1, got 1"),
        ({"leaf_points": 1}, "leaf_points must be"),
        ({"memories": ()}, "memories must hold 1 to 8 numbers, got 0"),
        ({"memories": (1.0,) * 9}, "memories must hold 1 to 8 numbers, got 9"),
        ({"memories": (1.5,)}, "memories must be"),
        ({"memories": 0.5}, "memories must be a sequence of numbers, got 0.5"),
        ({"memories": "0.5"}, "memories must be a sequence of numbers, got '0.5'"),
        ({"fading": 1.1}, "fading must be"),
        ({"kept_points": 0}, "kept_points must be"),
    ],
)
def test_a_wrong_parameter_is_named(wrong, error):
    with pytest.raises((ValueError, TypeError), match=re.escape(error)):
        forest(**wrong).partial_fit([[0.0]], [0])


def test_it_is_cloned_with_all_its_parameters():
    adaptive = forest(
        memories=(0.5, 1.0), leaf_points=7, fading=0.9, drift_confidence=0.2, beta=3.0
    )
    assert clone(adaptive).get_params() == adaptive.get_params()
    assert adaptive.get_params().keys() - OnlineForestClassifier().get_params().keys() == {
        *("memories", "leaf_points", "fading", "drift_confidence")
    }
