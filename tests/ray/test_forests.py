"""A forest in shards has the same bytes as the forest, for any shards and batches."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

import riparian
from riparian import (
    AdaptiveForestClassifier,
    AdaptiveForestRegressor,
    OnlineForestClassifier,
    OnlineForestRegressor,
)
from riparian.model.ensemble import ensemble_of
from riparian.ray import (
    RayAdaptiveForestClassifier,
    RayAdaptiveForestRegressor,
    RayForestClassifier,
    RayForestRegressor,
)

from ray_clusters import FULL, cuts, stream

pytestmark = pytest.mark.usefixtures("two_cpus")

CASES = {
    "honest": {"eager": False},
    "eager": {},
    "eager, then honest": {"kept_points": 500, "voting": "majority"},
    "the paper's": {"kept_points": 0, "fringe_size": 5},
    "a budget": {"eager": False, "max_memory": 600_000, "kept_points": 300},
    "balanced": {"class_weight": "balanced"},
    "a class without weight": {"class_weight": {2: 0.0, 3: 1.5}, "voting": "majority"},
}


QUICK = [
    (1, "the paper's"),
    (3, "eager"),
    (2, "eager, then honest"),
    (2, "a budget"),
    (3, "a class without weight"),
    (7, "balanced"),
]
ALL = [(n_shards, case) for case in CASES for n_shards in (1, 2, 3, 7)]


@pytest.mark.parametrize(("n_shards", "case"), ALL if FULL else QUICK)
def test_the_forest_is_the_same_to_the_last_bit(n_shards, case):
    """Random cuts, weights (some of them 0) and a class that comes late."""
    X, y = stream(3000, seed=n_shards)
    late = 4
    y[:2000][y[:2000] == late] = 0
    rng = np.random.default_rng(n_shards)
    weights = rng.choice([0.0, 0.5, 1.0, 2.25], size=len(y)) if n_shards > 1 else None
    alone = OnlineForestClassifier(8, random_state=3, **CASES[case])
    spread = RayForestClassifier(8, random_state=3, n_shards=n_shards, in_flight=2, **CASES[case])
    learn_both(alone, spread, X, y, weights)
    np.testing.assert_array_equal(spread.predict_proba(X[:50]), alone.predict_proba(X[:50]))
    np.testing.assert_array_equal(spread.classes_, alone.classes_)
    spread.shutdown()


def learn_both(alone, spread, X, y, weights):
    """The stream at once, and in random cuts over shards: the bytes must be the same."""
    alone.partial_fit(X, y, sample_weight=weights)
    for rows in cuts(len(y), 9, seed=spread.n_shards):
        mine = None if weights is None else weights[rows]
        spread.partial_fit(X[rows], y[rows], sample_weight=mine)
    assert spread.to_bytes() == alone.to_bytes()
    assert spread.points_ == len(y)


def numbers(n, seed=0):
    """Numbers whose scale grows along the stream."""
    X, y = stream(n, seed)
    return X, (X[:, 0] + y) * np.repeat([1.0, 1e3, 2e6], -(-n // 3))[:n]


OF_NUMBERS = {
    "honest": {"eager": False},
    "eager": {},
    "eager, then honest": {"kept_points": 500},
    "the paper's": {"kept_points": 0, "fringe_size": 5},
    "a budget": {"max_memory": 600_000, "kept_points": 300},
}


@pytest.mark.parametrize(
    ("n_shards", "case"),
    [(n_shards, case) for case in OF_NUMBERS for n_shards in (1, 2, 3, 7)]
    if FULL
    else [(3, "eager, then honest"), (2, "eager"), (2, "the paper's"), (3, "a budget")],
)
def test_the_forest_of_numbers_is_the_same_to_the_last_bit(n_shards, case):
    X, y = numbers(3000, seed=n_shards)
    weights = np.random.default_rng(n_shards).choice([0.0, 0.5, 1.0, 2.25], size=len(y))
    alone = OnlineForestRegressor(8, random_state=3, **OF_NUMBERS[case])
    spread = RayForestRegressor(
        8, random_state=3, n_shards=n_shards, in_flight=2, **OF_NUMBERS[case]
    )
    learn_both(alone, spread, X, y, weights)
    np.testing.assert_array_equal(spread.predict(X[:50]), alone.predict(X[:50]))
    gathered = spread.gather()
    spread.shutdown()
    assert type(gathered) is OnlineForestRegressor
    np.testing.assert_array_equal(gathered.predict(X[:50]), alone.predict(X[:50]))


@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_rows_are_answered_one_by_one_just_before_they_are_learned(target):
    X, y = stream(60) if target == "classes" else numbers(60)
    Alone, Spread = OnlineForestClassifier, RayForestClassifier
    if target == "numbers":
        Alone, Spread = OnlineForestRegressor, RayForestRegressor
    alone, spread = Alone(4, random_state=3), Spread(4, random_state=3, n_shards=2)
    for rows in (slice(0, 20), slice(20, 60)):
        answers = spread.predict_then_learn(X[rows], y[rows])
        np.testing.assert_array_equal(answers, alone.predict_then_learn(X[rows], y[rows]))
    assert spread.to_bytes() == alone.to_bytes()
    spread.shutdown()


@pytest.fixture(scope="module")
def twins_of_numbers():
    X, y = numbers(2000)
    alone = OnlineForestRegressor(7, random_state=1).partial_fit(X, y)
    spread = RayForestRegressor(7, random_state=1, n_shards=3).partial_fit(X, y)
    yield alone, spread
    spread.shutdown()


@pytest.fixture(scope="module")
def twins():
    X, y = stream(2000)
    alone = OnlineForestClassifier(6, random_state=1, eager=True).partial_fit(X, y)
    spread = RayForestClassifier(6, random_state=1, eager=True, n_shards=2).partial_fit(X, y)
    yield alone, spread
    spread.shutdown()


OF_ANY_TARGET = [
    lambda forest, X: forest.predict(X),
    lambda forest, X: forest.predict_trees(X),
    lambda forest, X: forest.apply(X),
    lambda forest, X: forest.predict(csr_matrix(X)),
    lambda forest, X: forest.feature_importances_,
    lambda forest, X: forest.stats(),
    lambda forest, X: forest.trust_,
    lambda forest, X: forest.certificate().rows(),
    lambda forest, X: forest.certificate(X).rows(),
    lambda forest, X: forest.decision_path(X)[0].toarray(),
    lambda forest, X: forest.kept_points_.X,
    lambda forest, X: ensemble_of(forest, "a test").share,
    lambda forest, X: forest.score(X, forest.predict(X)),
    lambda forest, X: forest.to_bytes(prediction_only=True),
]
OF_CLASSES = [
    lambda forest, X: forest.predict_proba(X),
    lambda forest, X: forest.predict_log_proba(X),
    lambda forest, X: forest.predict_proba(csr_matrix(X)),
]


@pytest.mark.parametrize("ask", OF_ANY_TARGET + OF_CLASSES)
def test_it_answers_as_on_one_machine(twins, ask):
    check_answer(twins, ask)


@pytest.mark.parametrize("ask", OF_ANY_TARGET)
def test_a_forest_of_numbers_answers_as_on_one_machine(twins_of_numbers, ask):
    check_answer(twins_of_numbers, ask)


def check_answer(twins, ask):
    alone, spread = twins
    X, _ = stream(40, seed=9)
    np.testing.assert_equal(ask(spread, X), ask(alone, X))


def test_kept_points_are_in_every_shard_and_memory_says_so(twins):
    alone, spread = (forest.memory() for forest in twins)
    assert spread.pop("kept") == 2 * alone.pop("kept")
    assert spread.pop("total") > alone.pop("total")
    assert spread == alone


@pytest.mark.parametrize("eager", [False, True])
def test_fit_is_that_of_one_machine_and_starts_over(eager):
    """Points of the second pass judge no head (R25)."""
    X, y = stream(600)
    parameters = {"n_estimators": 3, "random_state": 0, "passes": 2, "eager": eager}
    alone = OnlineForestClassifier(**parameters).fit(X, y)
    spread = RayForestClassifier(**parameters, n_shards=2)
    assert spread.fit(X[:100], y[:100]).fit(X, y).to_bytes() == alone.to_bytes()
    assert spread.points_ == 1200
    spread.shutdown()


def test_a_forest_is_spread_out_saved_and_counted_again(tmp_path):
    X, y = stream(2000)
    parameters = {"n_estimators": 7, "random_state": 0, "eager": True, "kept_points": 700}
    whole = OnlineForestClassifier(**parameters).partial_fit(X, y)
    half = OnlineForestClassifier(**parameters).partial_fit(X[:1000], y[:1000])
    spread = RayForestClassifier.from_forest(half, n_shards=2)
    assert spread.points_ == 1000
    spread.partial_fit(X[1000:1500], y[1000:1500]).save(tmp_path / "forest.riparian")
    spread.shutdown()

    loaded = riparian.load(tmp_path / "forest.riparian")
    assert type(loaded) is OnlineForestClassifier
    again = RayForestClassifier.from_forest(loaded, n_shards=1)
    other = RayForestClassifier.from_forest(again, n_shards=2)
    again.shutdown()
    assert other.partial_fit(X[1500:], y[1500:]).to_bytes() == whole.to_bytes()
    other.shutdown()


@pytest.mark.parametrize(
    ("Alone", "Spread"),
    [
        (AdaptiveForestClassifier, RayAdaptiveForestClassifier),
        (AdaptiveForestRegressor, RayAdaptiveForestRegressor),
    ],
)
@pytest.mark.parametrize("n_shards", [1, 2, 3, 7] if FULL else [3])
def test_the_forest_for_streams_that_change_is_spread_in_the_same_way(n_shards, Alone, Spread):
    X, y = stream(4000)
    y[2000:] = 4 - y[2000:]
    parameters = {"random_state": 0, "kept_points": 500, "drift_confidence": 0.05}
    alone = Alone(7, **parameters).partial_fit(X, y)
    half = Alone(7, **parameters).partial_fit(X[:1500], y[:1500])
    spread = RayForestClassifier.from_forest(half, n_shards=n_shards)
    assert type(spread) is Spread
    spread.partial_fit(X[1500:2700], y[1500:2700]).partial_fit(X[2700:], y[2700:])
    assert spread.to_bytes() == alone.to_bytes()
    assert spread.replacements_ == alone.replacements_ != []
    np.testing.assert_array_equal(spread.predict(X[:50]), alone.predict(X[:50]))
    gathered = spread.gather()
    spread.shutdown()
    assert type(gathered) is Alone
    assert gathered.to_bytes() == alone.to_bytes()


def test_categories_are_of_the_driver_and_come_back_with_the_checkpoints(tmp_path):
    X, y = stream(3000)
    frame = pd.DataFrame(X, columns=["across", "up"])
    frame["kind"] = np.array(["ash", "elm", "oak"])[np.random.default_rng(0).integers(3, size=3000)]
    frame.loc[2500, "kind"] = "yew"  # late
    alone = OnlineForestClassifier(5, random_state=0).partial_fit(frame, y)
    spread = RayForestClassifier(
        5, random_state=0, n_shards=2, name="tables", checkpoint_dir=tmp_path
    )
    spread.partial_fit(frame[:1000], y[:1000]).partial_fit(frame[1000:1700], y[1000:1700])
    spread.checkpoint().shutdown(keep_checkpoints=True)
    again = RayForestClassifier.from_checkpoints(tmp_path, "tables")
    assert again.points_ == 1700
    again.partial_fit(frame[1700:], y[1700:])
    assert again.to_bytes() == alone.to_bytes()
    assert again.categories_ == alone.categories_
    np.testing.assert_array_equal(again.predict_proba(frame[:50]), alone.predict_proba(frame[:50]))
    other = RayForestClassifier.from_forest(again.gather(), n_shards=1)
    again.shutdown()
    assert other.to_bytes() == alone.to_bytes()
    other.shutdown()


def test_sparse_rows_and_given_classes():
    X, y = stream(1500)
    rows = csr_matrix(np.where(X > 1, X, 0))
    forests = [
        OnlineForestClassifier(4, random_state=0),
        RayForestClassifier(4, random_state=0, n_shards=2),
    ]
    for forest in forests:
        forest.partial_fit(rows[:0], y[:0], classes=range(6))
        assert forest.predict_proba(X[:2]).tolist() == [[1 / 6] * 6] * 2
        forest.partial_fit(rows[:700], y[:700]).partial_fit(rows[700:], y[700:])
    assert forests[0].to_bytes() == forests[1].to_bytes()
    forests[1].shutdown()


def test_a_refused_batch_leaves_no_trace(twins):
    X, _ = stream(300)
    spread = twins[1]
    before = spread.to_bytes()
    with pytest.raises(ValueError, match="infinity"):
        spread.partial_fit([[np.inf, 0.0]], [0])
    with pytest.raises(ValueError, match="type int, got str"):
        spread.partial_fit(X[:1], ["a"])
    assert (spread.points_, spread.to_bytes()) == (2000, before)


def test_it_says_how_far_every_shard_is(twins):
    spread = twins[1].wait()
    first, second = spread.shards()
    assert (first["trees"], second["trees"]) == (range(0, 3), range(3, 6))
    assert first["pid"] != second["pid"]
    assert first["rows"] == second["rows"] == 2000
    assert first["checkpoint"] is None and first["restarts"] == 0


def test_it_can_be_cloned_but_not_pickled(twins):
    assert clone(twins[1]).get_params() == twins[1].get_params()
    with pytest.raises(TypeError, match=r"riparian\.load, or give it a name"):
        pickle.dumps(twins[1])
