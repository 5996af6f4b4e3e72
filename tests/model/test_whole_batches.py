"""A batch is learned as a whole or not at all. If neither is possible, the forest says so."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from riparian import (
    AdaptiveForestClassifier,
    AdaptiveForestRegressor,
    OnlineForestClassifier,
    OnlineForestRegressor,
    SaffariForestClassifier,
    _core,
)
from riparian.engine import native
from riparian.river import OnlineForestClassifier as RiverForest

pytestmark = pytest.mark.engine

FORESTS = {
    "paper": lambda **p: OnlineForestClassifier(kept_points=0, **p),
    "kept": lambda **p: OnlineForestClassifier(eager=False, **p),
    "eager": lambda **p: OnlineForestClassifier(eager=True, **p),
    "adaptive": lambda **p: AdaptiveForestClassifier(**p),
    "Saffari": lambda **p: SaffariForestClassifier(**p),
    "numbers": lambda **p: OnlineForestRegressor(**p),
    "numbers, adaptive": lambda **p: AdaptiveForestRegressor(intervals=(0.5, 0.9), **p),
}
BROKEN = "failed while it was learning.*load its last snapshot, or start again with fit"


def batch(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    return X, (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)


def made(kind, **parameters):
    return FORESTS[kind](n_estimators=3, random_state=0, **parameters)


def check_broken(forest, X, y):
    """Every call that reads or changes a model says that it cannot be used."""
    for call in (
        lambda: forest.predict(X),
        lambda: getattr(forest, "predict_proba", forest.predict)(X),
        lambda: forest.partial_fit(X, y),
        lambda: forest.partial_fit(X[:1], y[:1]),
        lambda: forest.to_bytes(),
        lambda: forest.stats(),
        lambda: pickle.dumps(forest),
    ):
        with pytest.raises(RuntimeError, match=BROKEN):
            call()


def fail_at(monkeypatch, call, name="_learn_some"):
    """Let the given call of the core from Python, counted from 0, run out of memory."""
    calls, learn = [], getattr(native.NativeEngine, name)

    def failing(engine, *args):
        calls.append(args)
        if len(calls) == call + 1:
            raise MemoryError
        return learn(engine, *args)

    monkeypatch.setattr(native.NativeEngine, name, failing)


@pytest.mark.parametrize("kind", FORESTS)
def test_a_forest_that_fails_in_the_middle_of_a_batch_says_so_from_then_on(kind, monkeypatch):
    X, y = batch(10_000)
    forest = made(kind).partial_fit(X[:500], y[:500])
    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        fail_at(patch, 1)  # the second block of the next batch
        forest.partial_fit(X, y)
    check_broken(forest, X, y)
    forest.fit(X[:500], y[:500])
    assert len(forest.predict(X)) == len(X)


@pytest.mark.parametrize("kind", FORESTS)
def test_a_forest_that_fails_before_anything_has_changed_is_as_before(kind, monkeypatch):
    X, y = batch(6_000)
    forest = made(kind).partial_fit(X[:500], y[:500])
    before = forest.to_bytes()
    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        fail_at(patch, 0)
        forest.partial_fit(X, y)
    assert forest.to_bytes() == before


@pytest.mark.parametrize("call", [0, 1])
def test_intervals_that_fail_leave_the_forest_as_before_or_break_it(call, monkeypatch):
    X, y = batch(10_000)
    forest = made("numbers, adaptive").partial_fit(X[:500], y[:500])
    before = forest.to_bytes()
    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        fail_at(patch, call, "_answer_some")
        forest.give_intervals_then_learn(X, y)
    if call:
        check_broken(forest, X, y)
    else:
        assert forest.to_bytes() == before
        answers, ends = forest.give_intervals_then_learn(X[:100], y[:100])
        assert len(answers) == len(ends) == 100


def test_a_class_that_has_joined_without_its_points_breaks_a_forest(monkeypatch):
    X, y = batch(600)
    forest = made("kept").partial_fit(X, y)
    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        fail_at(patch, 0)
        forest.partial_fit(X, y + 1)
    check_broken(forest, X, y)


def test_a_feature_that_has_joined_without_its_point_breaks_a_forest(monkeypatch):
    forest = RiverForest(n_estimators=2, seed=0)
    for i in range(50):
        forest.learn_one({"a": i % 7}, i % 2)
    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(native.ColumnEngine, "learn_one", lambda *_: fail())
        forest.learn_one({"a": 1.0, "b": 2.0}, 1)
    with pytest.raises(RuntimeError, match=BROKEN):
        forest.predict_proba_one({"a": 1.0})
    with pytest.raises(RuntimeError, match=BROKEN):
        forest.learn_one({"a": 1.0}, 1)


def fail():
    raise MemoryError


def test_the_exception_of_a_signal_handler_leaves_whole_batches():
    """A batch of several blocks, and a timer that goes off at some point of it."""
    X, y = batch(20_000)
    first, rest = slice(0, 500), slice(500, None)

    def stop(number, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    interrupted = 0
    try:
        for delay in np.geomspace(0.0005, 0.1, 12):
            forest = made("kept").partial_fit(X[first], y[first])
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                forest.partial_fit(X[rest], y[rest])
                signal.setitimer(signal.ITIMER_REAL, 0)
            except TimeoutError:
                interrupted += 1
            assert forest.stats()["points"] in (500, len(X))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted > 3


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS bounds the address space on Linux")
@pytest.mark.skipif(_core.sanitized, reason="a sanitizer takes address space of its own")
def test_a_process_that_runs_out_of_memory_never_crashes_or_saves_half_a_batch():
    program = Path(__file__).parents[1] / "out_of_memory.py"
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=500)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "failed runs: 0" in run.stdout
