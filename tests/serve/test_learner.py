"""Looks at the forest between two micro-batches, and the log's checkpoints beside the writer."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from riparian.serve.state.checkpoints import checkpoint
from riparian.serve.state.log import Log

from serve_running import running

ROW = {"features": {"a": 1.0}, "label": "x"}


def test_a_long_look_waits_for_one_micro_batch_and_not_for_all_that_is_queued(tmp_path):
    with running(tmp_path) as served:
        learner, learn = served.service.learner, served.service.model.learn
        go, seen = threading.Event(), []

        def slow(lessons):
            assert go.wait(10)
            learn(lessons)

        served.service.model.learn = slow
        learner._each = 1.0  # a micro-batch has one lesson
        served.post("/v1/learn", [ROW] * 30)
        looked = learner.between(lambda: seen.append(served.service.model.points))
        go.set()
        looked.result(10)
        assert seen[0] < 30


def test_a_look_that_fails_fails_alone(tmp_path):
    with running(tmp_path) as served:
        looked = served.service.learner.between(lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            looked.result(10)
        assert served.post("/v1/learn", ROW).status_code == 200
        served.settle()
        assert served.service.model.points == 1


def test_a_checkpoint_empties_the_wal_beside_an_open_writer(tmp_path):
    log = Log(tmp_path / "log.sqlite")
    other = sqlite3.connect(tmp_path / "log.sqlite", isolation_level=None)
    sizes = []
    for round in range(20):
        with log.transaction():
            for i in range(50):
                log.note(f"name {i}", "x" * 1000 + str(round))
        checkpoint(other)
        sizes.append((tmp_path / "log.sqlite-wal").stat().st_size)
    assert sizes[-1] <= 2 * sizes[1]  # it is written from its beginning again
    with log.transaction():
        log.note("name 0", "last")
        checkpoint(other, most=0)  # in the midst of a transaction: it gives up, and nothing is lost
    assert log.noted("name 0") == "last"
    other.close()
    log.close()
