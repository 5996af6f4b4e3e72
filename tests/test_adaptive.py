"""`AdaptiveForestClassifier` and `AdaptiveForestRegressor` follow a stream that changes (R27)."""

from __future__ import annotations

import logging
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone

import riparian
from riparian import (
    AdaptiveForestClassifier,
    AdaptiveForestRegressor,
    OnlineForestClassifier,
    OnlineForestRegressor,
)
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
    paper = OnlineForestClassifier(n_estimators=5, eager=False, random_state=0).partial_fit(X, y)
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
    (row,) = [row for row in certificate.rows() if row[0] == "replacements"]
    points = [point for point, _ in changed.replacements_]
    n, first, last = len(points), f"{min(points):,}", f"{max(points):,}"
    assert row[1:] == ("trees replaced", f"{n:,}", f"in 5 places, at points {first} to {last}")
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
    # The same trees without memories, while none was replaced.
    adaptive = forest(candidate_dims="sqrt").partial_fit(X[:500], y[:500])
    eager = OnlineForestClassifier(5, random_state=0, eager=True).partial_fit(X[:500], y[:500])
    assert (adaptive.apply(X) == eager.apply(X)).all()
    assert adaptive.memory()["histograms"] > eager.memory()["histograms"]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"drift_confidence": 0.0}, "drift_confidence must be above 0 and below 1, got 0.0"),
        ({"drift_confidence": 1}, "drift_confidence must be above 0 and below 1, got 1"),
        ({"kept_points": 0}, "kept_points must be"),
    ],
)
def test_a_wrong_parameter_is_named(wrong, error):
    with pytest.raises((ValueError, TypeError), match=re.escape(error)):
        forest(**wrong).partial_fit([[0.0]], [0])


def test_it_is_cloned_with_all_its_parameters():
    adaptive = forest(drift_confidence=0.2, beta=3.0, leaf_points=7)
    assert clone(adaptive).get_params() == adaptive.get_params()
    assert adaptive.get_params().keys() - OnlineForestClassifier().get_params().keys() == {
        *("memories", "leaf_points", "fading", "drift_confidence")
    }


@pytest.mark.parametrize(
    ("name", "value", "instead"),
    [
        ("leaf_points", 24, "a leaf uses all its points that are kept"),
        ("memories", (0.5, 1.0), "memories have the factors 1/3, 0.8 and 0.95"),
        ("fading", 0.98, "the forest trusts cells and memories by its last predictions"),
    ],
)
def test_a_parameter_without_effect_says_what_replaced_it(name, value, instead):
    X, y = turned_round(300)
    old = forest(**{name: value})
    with pytest.warns(FutureWarning, match=f"{name} has no effect since riparian 0.3.*{instead}"):
        old.partial_fit(X, y)
    assert old.get_params()[name] == value
    assert (old.predict_proba(X) == forest().partial_fit(X, y).predict_proba(X)).all()


def test_trust_names_cells_by_size_and_memories_by_factor(changed):
    assert [*changed.trust_] == [1, 4, 16, 64, 256, 1 / 3, 0.8, 0.95]
    assert sum(changed.trust_.values()) == 1
    assert changed.stats()["trust"] == changed.trust_


def test_just_after_a_change_memories_are_trusted_more_than_cells():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(1060, 1)).astype(np.float32)
    y = np.where(rng.random(1060) < 0.2, 1 - X[:, 0], X[:, 0]).astype(int)
    y[1000:] = 1 - y[1000:]

    def of_memories(n):
        slow = forest(drift_confidence=1e-9).partial_fit(X[:n], y[:n])
        assert slow.replacements_ == []
        return sum(weight for head, weight in slow.trust_.items() if head < 1)

    assert of_memories(1000) < 0.3
    assert of_memories(1060) > 0.99


def test_a_tree_turns_after_points_of_its_own():
    X, y = turned_round()
    mixed = forest(kept_points=900).partial_fit(X[:1700], y[:1700])
    first = {tree: point for point, tree in mixed.replacements_}  # the last one of each
    honest = sum(1700 - first.get(tree, 0) > 900 for tree in range(5))
    eager = mixed.certificate().eager
    assert (eager.turn, eager.one_by_one, eager.honest_trees) == (900, True, honest)
    trees = [mixed.model_.engine.tree(tree) for tree in range(5)]
    assert sum(int(tree.eager[2]) > 0 for tree in trees) == honest
    later = forest(kept_points=300).partial_fit(X, y)
    turns = {int(later.model_.engine.tree(tree).eager[2]) for tree in range(5)}
    last = {tree: point for point, tree in later.replacements_}
    assert turns == {last[tree] + 300 for tree in range(5)}


def test_points_of_a_second_pass_neither_judge_nor_replace_trees():
    X, y = turned_round(900)
    once, twice = (forest(passes=n, shuffle=False).fit(X, y) for n in (1, 2))
    assert once.trust_ == twice.trust_
    windows = [[f.model_.engine.tree(i).window.received for i in range(5)] for f in (once, twice)]
    assert windows[0] == windows[1]


# -- numbers ------------------------------------------------------------------------------------------


def with_other_sign(n=2000, change=1000):
    """A number that goes with other columns after the change."""
    X = np.random.default_rng(0).normal(size=(5000, 3))[:n].astype(np.float32)
    y = 1000 + 10 * X[:, 0] + X[:, 1]
    y[change:] = 1000 - 10 * X[change:, 0] + X[change:, 2]
    return X, y


def of_numbers(**changes):
    return AdaptiveForestRegressor(**({"n_estimators": 5, "random_state": 0} | changes))


@pytest.fixture(scope="module")
def changed_numbers():
    return of_numbers().partial_fit(*with_other_sign())


def test_a_forest_of_numbers_follows_a_change_that_the_other_one_does_not(changed_numbers):
    X, y = with_other_sign(2400)
    still = OnlineForestRegressor(5, random_state=0).partial_fit(X[:2000], y[:2000])
    assert changed_numbers.score(X[2000:], y[2000:]) > 0.9
    assert still.score(X[2000:], y[2000:]) < 0.5


def test_trees_of_numbers_are_replaced_after_the_change_and_at_no_other_time(changed_numbers):
    assert {tree for _, tree in changed_numbers.replacements_} == set(range(5))
    assert all(1000 < point < 1400 for point, _ in changed_numbers.replacements_)
    assert of_numbers().partial_fit(*with_other_sign(900)).replacements_ == []


def test_a_forest_of_numbers_trusts_cells_and_memories(changed_numbers):
    assert [*changed_numbers.trust_] == [1, 4, 16, 64, 256, 1 / 3, 0.8, 0.95]
    assert sum(changed_numbers.trust_.values()) == 1


def test_a_level_that_drifts_is_followed_by_memories():
    """No feature says how high the level is: the last targets do."""
    rng = np.random.default_rng(0)
    X = rng.random((3000, 2)).astype(np.float32)
    y = np.cumsum(rng.normal(size=3000)) + X[:, 0]
    forest, still = of_numbers(), OnlineForestRegressor(5, random_state=0)
    errors = [
        np.sqrt(np.mean((y - each.predict_then_learn(X, y))[500:] ** 2)) for each in (forest, still)
    ]
    assert errors[0] < 0.6 * errors[1]
    assert sum(weight for head, weight in forest.trust_.items() if head < 1) > 0.9


def test_copies_and_snapshots_of_numbers_go_on_alike(changed_numbers):
    X, y = with_other_sign(2600)
    whole = of_numbers().partial_fit(X, y)
    for copy in (
        pickle.loads(pickle.dumps(changed_numbers)),
        riparian.from_bytes(changed_numbers.to_bytes()),
    ):
        assert type(copy) is AdaptiveForestRegressor
        assert copy.replacements_ == changed_numbers.replacements_
        copy.partial_fit(X[2000:], y[2000:])
        assert (copy.predict(X) == whole.predict(X)).all()


def test_a_budget_is_kept_and_counts_the_memories_of_numbers():
    X, y = with_other_sign(5000, 2500)
    bounded = of_numbers(kept_points=200, max_memory=80_000)
    for first in range(0, 5000, 1000):
        bounded.partial_fit(X[first : first + 1000], y[first : first + 1000])
        assert bounded.memory()["total"] <= 80_000
    assert bounded.stats()["stopped"] > 0
    # The same trees without memories, while none was replaced.
    adaptive, eager = (
        cls(5, random_state=0).partial_fit(X[:500], y[:500])
        for cls in (AdaptiveForestRegressor, OnlineForestRegressor)
    )
    assert (adaptive.apply(X) == eager.apply(X)).all()
    assert adaptive.memory()["histograms"] > eager.memory()["histograms"]


def test_the_certificate_of_numbers_says_that_trees_were_replaced(changed_numbers):
    certificate = changed_numbers.certificate()
    assert list(certificate.replacements) == changed_numbers.replacements_
    assert "trees replaced" in certificate.verdict
    assert certificate.eager.one_by_one


def test_a_forest_of_numbers_has_one_parameter_more_and_is_always_eager_at_first():
    more = of_numbers().get_params().keys() - OnlineForestRegressor().get_params().keys()
    assert more == {"drift_confidence"}
    with pytest.raises(ValueError, match="eager must be True in a forest for streams that change"):
        of_numbers(eager=False).partial_fit([[0.0]], [0.0])
