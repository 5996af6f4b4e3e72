"""max_memory: a hard bound on what the forest holds, by a formula that depends on the forest alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riparian import Geometric, OnlineForestClassifier, _core
from riparian.parameters.forests import PaperParameters
from riparian.streams import GaussianMixture

from equivalence import Native

pytestmark = pytest.mark.engine

MIXTURE = GaussianMixture.paper()


def small_forest(max_memory, kept_points=0, **parameters):
    return OnlineForestClassifier(
        5, max_memory=max_memory, kept_points=kept_points, random_state=0,
        alpha=Geometric(1, 1.02), **parameters,
    )  # fmt: skip


@pytest.mark.parametrize("kept_points", [0, 50, 400])
@pytest.mark.parametrize("max_memory", [45_000, 200_000, 1_000_000])
def test_the_memory_of_a_forest_never_exceeds_the_budget(max_memory, kept_points):
    forest = small_forest(max_memory, kept_points)
    for batch in range(40):
        forest.partial_fit(*MIXTURE.sample(500, random_state=batch))
        assert forest.memory()["total"] <= max_memory


def test_a_larger_budget_grows_larger_trees():
    X, y = MIXTURE.sample(20_000, random_state=0)
    leaves = [
        small_forest(max_memory).partial_fit(X, y).stats()["leaves"]
        for max_memory in (40_000, 200_000, None)
    ]
    assert leaves[0] < leaves[1] < leaves[2]


@pytest.mark.parametrize("kept_points", [0, 500])
def test_a_budget_that_is_never_reached_changes_nothing(kept_points):
    X, y = MIXTURE.sample(2000, random_state=0)
    bounded, free = (small_forest(m, kept_points).partial_fit(X, y) for m in ("1GB", None))
    assert np.array_equal(bounded.predict_proba(X), free.predict_proba(X))
    assert bounded.stats()["splits"] == free.stats()["splits"]
    assert not bounded.stats()["budget_binds"]


@pytest.mark.parametrize(("max_memory", "kept_points"), [(30_000, 0), (40_000, 100)])
def test_trees_that_are_full_stop_growing_and_go_on_learning_in_their_leaves(
    max_memory, kept_points
):
    forest = small_forest(max_memory, kept_points)
    for batch in range(60):
        forest.partial_fit(*MIXTURE.sample(1000, random_state=batch))
    full = forest.stats()
    assert full["stopped"] == 5 and full["budget_binds"]
    assert full["active"] == 0
    assert all(0 < tree["stopped_at"] <= 60_000 for tree in full["trees"])
    X, y = MIXTURE.sample(20_000, random_state=99)
    before = forest.predict_proba(X[:100])
    after = forest.partial_fit(X, y).predict_proba(X[:100])
    assert forest.stats()["leaves"] == full["leaves"]
    assert not np.array_equal(before, after)


@pytest.mark.parametrize(("max_memory", "kept_points"), [(150_000, 0), (600_000, 300)])
def test_classes_that_arrive_late_fit_too(max_memory, kept_points):
    rng = np.random.default_rng(0)
    forest = small_forest(max_memory, kept_points)
    for n_classes in range(2, 60, 4):
        X = rng.normal(size=(1000, 3))
        forest.partial_fit(X, rng.integers(n_classes, size=1000))
        assert forest.memory()["total"] <= max_memory


@pytest.mark.parametrize("kept_points", [0, 200])
def test_heavy_weights_widen_counters_within_the_budget(kept_points):
    rng = np.random.default_rng(0)
    forest = small_forest(60_000, kept_points)
    for _ in range(20):
        X, y = MIXTURE.sample(500, random_state=rng.integers(2**31))
        forest.partial_fit(X, y, sample_weight=rng.random(500) * 100_000)
        assert forest.memory()["total"] <= 60_000


@settings(max_examples=25, deadline=None)
@given(
    budget=st.integers(30_000, 120_000),
    kept_points=st.sampled_from([0, 1, 30, 300]),
    fringe_size=st.sampled_from([None, 4]),
    cuts=st.lists(st.integers(0, 3000), max_size=4),
    data=st.data(),
)
def test_a_forest_with_a_budget_does_not_depend_on_batches_threads_or_reloads(
    budget, kept_points, fringe_size, cuts, data
):
    parameters = PaperParameters(
        n_trees=4, seed=1, candidate_dims=1.0, split_points=10, min_gain=0.001,
        alpha=Geometric(1, 1.05), beta=Geometric(100, 1.05), structure_fraction=0.5,
        ignore_fraction=0.0, fringe_size=fringe_size, voting="average", max_memory=budget,
        kept_points=kept_points,
    )  # fmt: skip
    X, y = MIXTURE.sample(3000, random_state=7)
    expected = Native(parameters, 2)
    expected.learn(X, y)
    pieces = Native(parameters, 2)
    edges = [0, *sorted(cuts), len(X)]
    for first, last in pairwise(edges):
        pieces.learn(X[first:last], y[first:last], workers=data.draw(st.integers(1, 4)))
        if data.draw(st.booleans()):
            pieces = pieces.reborn()
    for one, other in zip(expected.forest.save()[1], pieces.forest.save()[1], strict=True):
        assert all(one[name].tobytes() == other[name].tobytes() for name in one)
    assert expected.bytes() == pieces.bytes()


@pytest.mark.parametrize("n_dims", [1, 3, 200, 3000])
def test_a_wide_row_is_charged_from_the_first_split_in_its_last_column_on(n_dims):
    rng = np.random.default_rng(0)
    forest = small_forest(40_000 + 100 * (4 * n_dims + 36) + 60 * n_dims, 100)
    for _ in range(10):
        X = rng.normal(size=(100, n_dims))
        forest.partial_fit(X, (X[:, -1] > 0) + 2 * (X[:, 0] > 0))
        assert forest.memory()["total"] <= forest.max_memory


# -- kept points ----------------------------------------------------------------------------------


def test_kept_points_and_their_lists_are_part_of_what_the_forest_holds():
    forest = small_forest(None, kept_points=1000)
    for points in (0, 10, 1000, 1010, 3000):
        seen = forest.stats()["points"] if points else 0
        forest.partial_fit(*MIXTURE.sample(points - seen, random_state=points))
        held = forest.memory()
        kept = min(points, 1000)
        assert held["kept"] == kept * (4 * 2 + 16)
        assert held["lists"] == kept * 4 * 5
        assert held["total"] == sum(held.values()) - held["total"]


def test_without_kept_points_nothing_is_held_for_them():
    held = small_forest(None).fit(*MIXTURE.sample(500, random_state=0)).memory()
    assert held["kept"] == held["lists"] == 0


def test_kept_points_take_what_the_trees_then_lack():
    X, y = MIXTURE.sample(20_000, random_state=0)
    few, many = (small_forest(300_000, w).partial_fit(X, y).stats() for w in (100, 5000))
    assert few["leaves"] > many["leaves"]


@pytest.mark.parametrize("max_memory", ["1MB", "512MB", None])
@pytest.mark.parametrize("n_dims", [2, 1000])
@pytest.mark.parametrize("n_estimators", [3, 300])
def test_by_default_as_many_points_are_kept_as_fit_an_eighth_of_the_budget(
    max_memory, n_dims, n_estimators
):
    forest = OnlineForestClassifier(n_estimators, kept_points="auto", max_memory=max_memory)
    if max_memory == "1MB" and n_dims == 1000 and n_estimators == 300:
        forest.max_memory = "4MB"  # or the roots alone do not fit
    engine = forest.partial_fit(np.zeros((1, n_dims)), [0]).model_.engine
    kept, bytes_of_one = engine.parameters.kept_points, 4 * n_dims + 16 + 4 * n_estimators
    if max_memory is None:
        assert kept == 20_000
    else:
        assert kept == min(20_000, engine.parameters.max_memory // 8 // bytes_of_one)
    assert forest.kept_points == "auto"


def test_a_number_of_kept_points_that_does_not_fit_is_an_error_that_says_what_would():
    X, y = MIXTURE.sample(10, random_state=0)
    with pytest.raises(
        ValueError, match=r"kept_points must be at most (\d+) for 5 trees of 2 dim"
    ) as e:
        small_forest("100kB", kept_points=10_000).partial_fit(X, y)
    fits = int(re.search(r"at most (\d+)", str(e.value))[1])
    small_forest("100kB", kept_points=fits).partial_fit(X, y)


def test_a_budget_without_room_for_a_kept_point_is_refused():
    with pytest.raises(ValueError, match=r"max_memory must be at least \d+ bytes for 5 trees"):
        small_forest(5000, kept_points=10).fit(*MIXTURE.sample(10, random_state=0))


def test_columns_that_join_late_lower_what_trees_may_hold_from_their_first_point_on():
    def engine_of(columns):
        p = PaperParameters(
            n_trees=4, seed=1, candidate_dims=1.0, split_points=10, min_gain=0.001,
            alpha=Geometric(1, 1.05), beta=Geometric(100, 1.05), structure_fraction=0.5,
            ignore_fraction=0.0, fringe_size=None, voting="average", max_memory=400_000,
            kept_points=500,
        )  # fmt: skip
        return Native(p, columns)

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 60)).astype(np.float32), rng.integers(3, size=4000)
    engine = engine_of(2)
    engine.learn(X[:1400, :2], y[:1400])
    before = engine.forest.rule.budget()
    assert not any(tree["evictions"] for tree in engine.stats())
    engine.forest.set_dims(60)
    after = engine.forest.rule.budget()
    assert before - after == 500 * 4 * 58 // 4
    other = engine.reborn()
    engine.learn(X[1400:1401], y[1400:1401])
    assert all(sum(held) <= after for held in engine.bytes())
    assert all(tree["evictions"] for tree in engine.stats())
    engine.learn(X[1401:], y[1401:])
    other.learn(X[1400:], y[1400:], workers=3)
    assert engine.bytes() == other.bytes()


@pytest.mark.parametrize("max_memory", [20_000, 25_000, 30_000])
def test_a_tiny_budget_grows_tiny_trees(max_memory):
    forest = small_forest(max_memory, kept_points=40)
    for batch in range(10):
        forest.partial_fit(*MIXTURE.sample(300, random_state=batch))
        assert forest.memory()["total"] <= max_memory
    assert forest.stats()["budget_binds"]


def test_a_budget_in_which_not_even_the_roots_fit_is_an_error():
    with pytest.raises(ValueError, match=r"max_memory must be at least \d+ bytes for 5 trees"):
        small_forest(5000).fit(*MIXTURE.sample(10, random_state=0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lots", "such as '500MB' or '2GiB', got 'lots'"),
        ("12 parsecs", "got '12 parsecs'"),
        (-5, "max_memory must be from 1"),
        (0.5, "max_memory must be a whole number"),
    ],
)
def test_an_invalid_budget_is_named(text, message):
    with pytest.raises((ValueError, TypeError), match=message):
        small_forest(text).fit(*MIXTURE.sample(10, random_state=0))


@pytest.mark.parametrize(
    ("text", "number"),
    [("250kB", 250_000), ("1MB", 1_000_000), ("1 MiB", 2**20), ("0.5GB", 500_000_000)],
)
def test_a_budget_can_be_written_as_people_write_it(text, number):
    forest = small_forest(text).fit(*MIXTURE.sample(10, random_state=0))
    assert forest.model_.engine.parameters.max_memory == number


WATCH = """
import json, sys
from riparian import OnlineForestClassifier
from riparian.streams import GaussianMixture

def resident():
    return 4096 * int(open("/proc/self/statm").read().split()[1])

mixture, budget = GaussianMixture.paper(), int(sys.argv[1])
forest = OnlineForestClassifier(20, max_memory=budget, random_state=0)
forest.partial_fit(*mixture.sample(1, random_state=0))
# α and β of every depth within reach: a few megabytes for a moment, and not of the forest.
forest.model_.engine.rule.tell_schedules(forest.model_.engine.core, 60_000)
for batch in range(3):  # what a batch takes by itself
    mixture.sample(20_000, random_state=batch)
    forest.predict(mixture.sample(20_000, random_state=batch)[0])
before = resident()
most = 0
for batch in range(15):
    forest.partial_fit(*mixture.sample(20_000, random_state=batch))
    most = max(most, resident() - before)
print(json.dumps({"most": most, "formula": forest.memory()["total"]}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.skipif(_core.sanitized, reason="a sanitizer keeps freed memory")
@pytest.mark.parametrize("budget", [4_000_000, 20_000_000])
def test_the_process_keeps_to_the_budget_too(budget):
    """The formula against real allocations: resident memory, in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-c", WATCH, str(budget)], capture_output=True, text=True, check=True
    )
    seen = json.loads(run.stdout)
    start_up = 6_000_000  # pages of the allocator and of numpy, tables, what a look works with
    assert 0.5 * seen["formula"] <= seen["most"] + start_up
    assert seen["most"] <= 1.05 * budget + start_up


SAVED = """
import json
import riparian
from riparian import OnlineForestClassifier
from riparian.streams import GaussianMixture

def resident():
    return 4096 * int(open("/proc/self/statm").read().split()[1])

forest = OnlineForestClassifier(20, kept_points=0, random_state=0)
forest.partial_fit(*GaussianMixture.paper().sample(60_000, random_state=0))
riparian.from_bytes(forest.to_bytes())  # what is needed once: modules, tables
before = resident()
for _ in range(3):
    data = forest.to_bytes()
saved = resident() - before - len(data)
before = resident()
for _ in range(3):
    again = None
    again = riparian.from_bytes(data)
loaded = resident() - before
print(json.dumps({"saved": saved, "loaded": loaded, "forest": forest.memory()["total"]}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.skipif(_core.sanitized, reason="a sanitizer keeps freed memory")
def test_the_memory_of_a_snapshot_is_returned_to_the_system():
    run = subprocess.run([sys.executable, "-c", SAVED], capture_output=True, text=True, check=True)
    seen = json.loads(run.stdout)
    assert seen["forest"] > 30_000_000
    # Kept, it would be as much as the forest; a few pages that are in use here and there stay.
    assert seen["saved"] < 0.3 * seen["forest"]
    assert seen["loaded"] < 1.3 * seen["forest"]
