"""One thread learns while others predict: each answer is that of one moment."""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from riparian import OnlineForestClassifier, _core

from engines import mixture, trees_of

pytestmark = pytest.mark.engine

BLOCKS = 3
X, Y = mixture(BLOCKS * _core.block, seed=1)
X_TEST, _ = mixture(64, seed=2)
CLASSES = np.arange(5)
ROUNDS = 50  # to see a forest in the middle of its work; the first nearly always does
PATIENCE = 60  # seconds for another thread to run within a call of a few microseconds


def forest(**changes):
    return OnlineForestClassifier(
        **({"n_estimators": 8, "min_gain": 0.05, "beta": 8, "random_state": 0} | changes)
    )


def started(**changes):
    return forest(**changes).partial_fit(X[:1], Y[:1], classes=CLASSES)


def while_learning(f, learn, ask):
    """All that `ask(f)` answers from before `learn(f)` begins until after it has ended, in order."""
    answers, done = [ask(f)], threading.Event()

    def keep_asking():
        while not done.is_set():
            answers.append(ask(f))

    with ThreadPoolExecutor(2) as pool:
        asking = pool.submit(keep_asking)
        try:
            pool.submit(learn, f).result()
        finally:
            done.set()
        asking.result()
    return [*answers, ask(f)]


def learn_all(f):
    f.partial_fit(X, Y)


@pytest.fixture(scope="module")
def moments():
    """What a forest answers after each block of the stream, by the bytes of the answer."""
    f = started()
    answers = [f.predict_proba(X_TEST)]
    for block in np.split(np.arange(len(X)), BLOCKS):
        f.partial_fit(X[block], Y[block])
        answers.append(f.predict_proba(X_TEST))
    order = {answer.tobytes(): i for i, answer in enumerate(answers)}
    assert len(order) == BLOCKS + 1  # so that they can be distinguished
    return order


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_reader_sees_all_trees_after_the_same_block(moments, n_jobs):
    for _ in range(ROUNDS):
        answers = while_learning(
            started(n_jobs=n_jobs), learn_all, lambda f: f.predict_proba(X_TEST).tobytes()
        )
        assert set(answers) <= moments.keys()
        seen = [moments[answer] for answer in answers]
        assert seen == sorted(seen)  # time does not go backwards
        assert (seen[0], seen[-1]) == (0, BLOCKS)
        if set(seen) - {0, BLOCKS}:
            return
    pytest.fail("no reader came in between two blocks")


def test_stats_are_those_of_one_moment():
    def points_of_trees(f):
        streams = ("structure_points", "estimation_points", "ignored_points")
        return [sum(tree[stream] for stream in streams) for tree in f.model_.engine.core.stats()]

    for trees in while_learning(started(), learn_all, points_of_trees):
        assert len(set(trees)) == 1
        assert (trees[0] - 1) % _core.block == 0


def test_leaves_and_the_answers_of_trees_are_those_of_one_moment():
    f = started()
    known = {(f.apply(X_TEST).tobytes(), f.predict_trees(X_TEST).tobytes())}
    for block in np.split(np.arange(len(X)), BLOCKS):
        f.partial_fit(X[block], Y[block])
        known.add((f.apply(X_TEST).tobytes(), f.predict_trees(X_TEST).tobytes()))
    leaves, answers = ({pair[i] for pair in known} for i in (0, 1))
    for ask, allowed in (("apply", leaves), ("predict_trees", answers)):
        answers = while_learning(
            started(), learn_all, lambda f, ask=ask: getattr(f, ask)(X_TEST).tobytes()
        )
        assert set(answers) <= allowed


def test_classes_may_join_while_other_threads_predict():
    names = np.array([f"class {k:02}" for k in range(30)])
    labels = names[np.arange(3000) // 100]  # a new one every hundred points

    def learn(f):
        for batch in np.split(np.arange(3000), 60):
            f.partial_fit(X[batch], labels[batch])

    def ask(f):
        return f.predict(X_TEST).tolist(), f.predict_proba(X_TEST)

    f = forest(n_estimators=3).partial_fit(X[:1], labels[:1])
    widths = []
    for answer, proba in while_learning(f, learn, ask):
        assert set(answer) <= set(names)
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        widths.append(proba.shape[1])
    assert widths == sorted(widths)
    assert widths[-1] == 30


def test_two_batches_at_the_same_time_are_learned_one_after_the_other():
    halves = np.split(np.arange(6000), 2)

    def in_turn(order):
        f = started(n_estimators=3)
        for half in order:
            f.partial_fit(X[half], Y[half])
        return trees_of(f)

    together = started(n_estimators=3)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda half: together.partial_fit(X[half], Y[half]), halves))
    assert together.stats()["points"] == 6001
    assert trees_of(together) in (in_turn(halves), in_turn(halves[::-1]))


@pytest.fixture
def no_switching():
    """A thread keeps the GIL until it lets go of it by itself."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("work", ["learn", "predict_proba", "predict_trees", "apply"])
def test_the_gil_is_released_while_the_engine_works(no_switching, work):
    engine = started().model_.engine
    engine.set_classes(CLASSES, 5)
    engine._reach(5000)
    block, labels = X[: _core.block], Y[: _core.block].astype(np.uint32)
    arguments = {"learn": (block, labels, None, 1, len(block)), "predict_proba": (block, False, 1)}
    ticks, stop = [0], threading.Event()

    def tick():
        while not stop.is_set():
            ticks[0] += 1
            time.sleep(0)  # lets go of the GIL, so that it can be taken back

    clock = threading.Thread(target=tick)
    clock.start()
    try:
        # Whether the clock ticks within a short call is up to the operating system: it has time.
        # A call that never lets go of the GIL keeps it from ticking however long one waits.
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            before = ticks[0]
            getattr(engine.core, work)(*arguments.get(work, (block,)))
            # Nothing but a release within the call lets the clock tick between these two lines.
            if ticks[0] > before:
                return
        pytest.fail(f"no other thread ran while the engine worked for {PATIENCE} seconds")
    finally:
        stop.set()
        clock.join()
