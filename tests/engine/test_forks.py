"""After a fork the child has a whole forest of its own, whatever the parent's threads were doing."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading

import numpy as np
import pytest

from riparian import OnlineForestClassifier
from riparian.streams import GaussianMixture

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
    # Python 3.12 and later warn about forks with threads; this file tests that they work.
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

X, Y = GaussianMixture.paper().sample(6000, random_state=0)


def grown(**parameters):
    return OnlineForestClassifier(10, random_state=0, **parameters).partial_fit(X[:500], Y[:500])


def in_child(work) -> bytes:
    """What `work` returns in a forked child; a child that hangs is killed and fails the test."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, work())
        finally:
            os._exit(0)
    os.close(write)
    timer = threading.Timer(60, os.kill, (pid, 9))
    timer.start()
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(pid, 0)
    timer.cancel()
    return answer


def test_a_child_learns_and_predicts_without_the_parent_noticing():
    forest = grown()
    before = forest.predict_proba(X[:50]).tobytes()
    alone = pickle.loads(pickle.dumps(forest)).partial_fit(X[500:], Y[500:])
    child = in_child(lambda: forest.partial_fit(X[500:], Y[500:]).predict_proba(X[:50]).tobytes())
    assert child == alone.predict_proba(X[:50]).tobytes()
    assert forest.predict_proba(X[:50]).tobytes() == before


def test_a_fork_in_the_middle_of_learning_finds_all_trees_after_the_same_point():
    forest = grown(n_jobs=2)
    stop = threading.Event()

    def learn():
        while not stop.is_set():
            forest.partial_fit(X, Y)

    def points_of_each_tree() -> bytes:
        trees = forest.stats()["trees"]
        forest.partial_fit(X[:10], Y[:10])  # and it goes on
        points = {tree["structure_points"] + tree["estimation_points"] for tree in trees}
        return str(len(points)).encode()

    learner = threading.Thread(target=learn)
    learner.start()
    try:
        answers = [in_child(points_of_each_tree) for _ in range(10)]
    finally:
        stop.set()
        learner.join()
    assert answers == [b"1"] * 10


def predict_some(rows):
    return FOREST.predict_proba(X[rows])


FOREST = grown()


def test_a_pool_of_forked_workers_predicts_as_the_parent():
    pool = multiprocessing.get_context("fork").Pool(2)
    parts = pool.map(predict_some, [slice(0, 100), slice(100, 300)])
    pool.close()  # not by a signal: where Java runs in the parent, a child does not hear it
    pool.join()
    assert np.array_equal(np.concatenate(parts), FOREST.predict_proba(X[:300]))


def test_a_pickle_taken_while_another_thread_learns_is_of_a_whole_batch():
    forest = grown()
    learner = threading.Thread(target=lambda: [forest.partial_fit(X, Y) for _ in range(5)])
    learner.start()
    seen = set()
    while learner.is_alive():
        seen.add(pickle.loads(pickle.dumps(forest)).stats()["points"])
    learner.join()
    assert seen <= {500 + 6000 * batches for batches in range(6)}
