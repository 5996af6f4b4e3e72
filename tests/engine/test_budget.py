"""max_memory: a hard bound on what the forest holds, by a formula that depends on the forest alone."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riparian import Geometric, OnlineForestClassifier, _core
from riparian.estimator.parameters import Parameters
from riparian.streams import GaussianMixture

from equivalence import Native

pytestmark = pytest.mark.engine

MIXTURE = GaussianMixture.paper()


def small_forest(max_memory, **parameters):
    return OnlineForestClassifier(
        5, max_memory=max_memory, random_state=0, alpha=Geometric(1, 1.02), **parameters
    )


@pytest.mark.parametrize("max_memory", [40_000, 200_000, 1_000_000])
def test_what_the_forest_holds_never_passes_the_budget(max_memory):
    forest = small_forest(max_memory)
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


def test_a_budget_that_is_never_reached_changes_nothing():
    X, y = MIXTURE.sample(2000, random_state=0)
    bounded, free = (small_forest(m).partial_fit(X, y) for m in ("1GB", None))
    assert np.array_equal(bounded.predict_proba(X), free.predict_proba(X))
    assert bounded.stats()["splits"] == free.stats()["splits"]


def test_trees_that_are_full_stop_to_grow_and_go_on_learning_in_their_leaves():
    forest = small_forest(30_000)
    for batch in range(60):
        forest.partial_fit(*MIXTURE.sample(1000, random_state=batch))
    full = forest.stats()
    assert full["stopped"] == 5
    assert full["active"] == 0
    assert all(0 < tree["stopped_at"] <= 60_000 for tree in full["trees"])
    X, y = MIXTURE.sample(20_000, random_state=99)
    before = forest.predict_proba(X[:100])
    after = forest.partial_fit(X, y).predict_proba(X[:100])
    assert forest.stats()["leaves"] == full["leaves"]
    assert not np.array_equal(before, after)


def test_classes_that_arrive_late_fit_too():
    rng = np.random.default_rng(0)
    forest = small_forest(150_000)
    for n_classes in range(2, 60, 4):
        X = rng.normal(size=(1000, 3))
        forest.partial_fit(X, rng.integers(n_classes, size=1000))
        assert forest.memory()["total"] <= 150_000


def test_heavy_weights_widen_counters_within_the_budget():
    rng = np.random.default_rng(0)
    forest = small_forest(60_000)
    for _ in range(20):
        X, y = MIXTURE.sample(500, random_state=rng.integers(2**31))
        forest.partial_fit(X, y, sample_weight=rng.random(500) * 100_000)
        assert forest.memory()["total"] <= 60_000


@settings(max_examples=25, deadline=None)
@given(
    budget=st.integers(30_000, 120_000),
    fringe_size=st.sampled_from([None, 4]),
    cuts=st.lists(st.integers(0, 3000), max_size=4),
    data=st.data(),
)
def test_a_forest_with_a_budget_does_not_depend_on_batches_threads_or_rebirths(
    budget, fringe_size, cuts, data
):
    parameters = Parameters(
        n_trees=4, seed=1, candidate_dims=1.0, split_points=10, min_gain=0.001,
        alpha=Geometric(1, 1.05), beta=Geometric(100, 1.05), structure_fraction=0.5,
        ignore_fraction=0.0, fringe_size=fringe_size, voting="average", max_memory=budget,
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


def test_a_budget_in_which_not_even_the_roots_fit_is_an_error():
    with pytest.raises(ValueError, match=r"max_memory must be at least \d+ bytes for 5 trees"):
        small_forest(5000).fit(*MIXTURE.sample(10, random_state=0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lots", "like '500MB' or '2GiB', got 'lots'"),
        ("12 parsecs", "got '12 parsecs'"),
        (-5, "max_memory must be from 1"),
        (0.5, "max_memory must be a whole number"),
    ],
)
def test_a_budget_that_is_none_is_named(text, message):
    with pytest.raises((ValueError, TypeError), match=message):
        small_forest(text).fit(*MIXTURE.sample(10, random_state=0))


@pytest.mark.parametrize(
    ("text", "number"),
    [("250kB", 250_000), ("1MB", 1_000_000), ("1 MiB", 2**20), ("0.5GB", 500_000_000)],
)
def test_a_budget_can_be_written_as_people_write_it(text, number):
    forest = small_forest(text).fit(*MIXTURE.sample(10, random_state=0))
    assert forest._native.parameters.max_memory == number


WATCH = """
import json, sys
from riparian import OnlineForestClassifier
from riparian.streams import GaussianMixture

def resident():
    return 4096 * int(open("/proc/self/statm").read().split()[1])

mixture, budget = GaussianMixture.paper(), int(sys.argv[1])
forest = OnlineForestClassifier(20, max_memory=budget, random_state=0)
forest.partial_fit(*mixture.sample(1, random_state=0))
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
    start_up = 4_000_000  # pages of the allocator and of numpy
    assert 0.5 * seen["formula"] <= seen["most"] + start_up
    assert seen["most"] <= 1.05 * budget + start_up
