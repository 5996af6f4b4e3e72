"""Small: what a leaf costs, active and inactive, as the engine itself accounts for it."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from riparian import Geometric, OnlineForestClassifier, _core

from engines import NEVER, is_active, leaves, mixture, trees_of

pytestmark = pytest.mark.engine


def tree(**changes):
    """One tree of the paper's forest, without a budget."""
    paper = {"n_estimators": 1, "kept_points": 0, "max_memory": None, "random_state": 0}
    return OnlineForestClassifier(**(paper | changes))


def test_an_active_leaf_of_the_papers_third_experiment_takes_no_more_than_in_the_paper():
    # Section 5.3: 2000 dimensions, 10 split points, 20 parts of the body; 1.6 MB a leaf. Two
    # streams, both beyond the few points that a leaf may keep instead of counts, and checked for
    # splits, so that the entropy sums are there too. It can split all the time but never does.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4000)).astype(np.float32)
    y = np.arange(800) % 20
    leaf = tree(candidate_dims=2000.0, split_points=10, min_gain=100, beta=NEVER)
    leaf.partial_fit(X, y)

    ((root,),) = (leaves(t).values() for t in trees_of(leaf))
    *_, dims, candidates = root
    assert 1900 < len(dims) < 2100
    assert len(candidates) == 10 * len(dims)
    counts = [n for c in candidates[::997] for side in (*c[3], *c[4]) for n in side.values()]
    assert 10 < max(counts) <= 255
    assert leaf.stats()["fringe_bytes"] <= 1.6e6


def test_a_leaf_that_has_seen_little_takes_little():
    # It holds the few points it has seen instead of 2 x 20 classes x 20,000 counters.
    leaf = tree(candidate_dims=2000.0, split_points=10, alpha=Geometric(100, 1.1))
    X = np.random.default_rng(0).normal(size=(40, 4000)).astype(np.float32)
    leaf.partial_fit(X, np.arange(40) % 20)
    assert leaf.stats()["fringe_bytes"] <= 0.4e6


@pytest.fixture(scope="module")
def growing():
    """The stats of a tree with a hundred active leaves, as it grows and grows."""
    X, y = mixture(100_000)
    f = tree(candidate_dims=0.0, split_points=2, fringe_size=100, min_gain=0.0, beta=1)
    return [
        f.partial_fit(*batch).stats()
        for batch in zip(np.split(X, 10), np.split(y, 10), strict=True)
    ]


def test_an_inactive_leaf_costs_its_histogram_and_a_few_words(growing):
    # Histogram, leaf and nodes: averaged over the moments, as room is made for many at a time.
    sizes = [(stats["leaf_bytes"] + stats["node_bytes"]) / stats["leaves"] for stats in growing]
    assert growing[-1]["leaves"] > 600
    assert np.mean(sizes) < 200


def test_the_fringe_holds_active_leaves_and_a_line_for_each_waiting_one(growing):
    # However many leaves have been through it: what a split frees is used again.
    for stats in growing:
        waiting = stats["leaves"] - stats["active"]
        assert stats["fringe_bytes"] <= 1000 * stats["active"] + 64 * waiting


def test_a_class_costs_an_inactive_leaf_no_more_than_its_counter():
    X, y = mixture(20_000)
    few, many = (
        tree(fringe_size=1, min_gain=0.0, beta=1).partial_fit(X, labels).stats()
        for labels in (y, np.where(np.arange(len(y)) < 5, 300 + y, y))
    )
    assert few["leaves"] == pytest.approx(many["leaves"], rel=0.1)
    assert many["leaf_bytes"] / many["leaves"] - few["leaf_bytes"] / few["leaves"] < 24


def test_memory_follows_from_what_the_forest_holds_and_not_from_the_batches():
    X, y = mixture(3000)
    whole = tree(n_estimators=3).partial_fit(X, y).stats()
    pieces = tree(n_estimators=3)
    for batch in np.split(np.arange(3000), 30):
        pieces.partial_fit(X[batch], y[batch])
    assert pieces.stats() == whole


def test_a_forest_of_no_points_takes_a_root_a_tree():
    f = tree(n_estimators=4).partial_fit(np.ones((1, 3)), [0])
    assert f.stats()["bytes"] < 4 * 10_000
    assert all(is_active(t[0]) for t in trees_of(f))


FORESTS = """
import json, resource
from riparian import OnlineForestClassifier, _core
from riparian.streams import GaussianMixture

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def pages():
    return int(open("/proc/self/statm").read().split()[1])

def learned(points):
    before = faults(), pages()
    forest = OnlineForestClassifier(20, kept_points=0, random_state=0)
    forest.partial_fit(X[:points], y[:points])
    return faults() - before[0], pages() - before[1], forest

X, y = GaussianMixture.paper().sample(60_000, random_state=0)
learned(5000)  # what is needed once: modules, tables
_core.trim()
first = learned(5000)[:2]
again = learned(5000)[:2]
forest = learned(60_000)[2]
large = pages()
del forest
kept = pages()
_core.trim()
print(json.dumps([first, again, large - kept, kept - pages()]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.skipif(_core.sanitized, reason="a sanitizer keeps freed memory")
def test_a_forest_reuses_the_little_memory_that_the_last_one_left():
    run = subprocess.run(
        [sys.executable, "-c", FORESTS], capture_output=True, text=True, check=True
    )
    first, again, gone, kept = json.loads(run.stdout)
    assert again[0] < first[0] / 2  # pages that the system provides, most of them at once
    assert again[1] < first[1] / 2  # and how much larger the process has become
    assert 0 < kept <= 2**24 / 4096 * 1.1
    assert gone > kept / 2  # most of a larger forest goes back at once
