"""Looks at the forest between two micro-batches, and the log's checkpoints while the writer is open."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from riparian.serve.state.checkpoints import Checkpoints
from riparian.serve.state.log import Log

from serve_running import running

ROW = {"features": {"a": 1.0}, "label": "x"}


def test_a_long_look_waits_for_one_micro_batch_and_not_for_all_that_is_queued(tmp_path):
    with running(tmp_path) as served:
        learner, learn = served.service.learner, served.service.model.learn
        go, seen = threading.Event(), []

        def slow(lessons):
            assert go.wait(10)
            return learn(lessons)

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


def test_a_checkpoint_empties_the_wal_while_a_writer_is_open(tmp_path):
    log = Log(tmp_path / "log.sqlite")
    checkpoints = Checkpoints(log)
    other = sqlite3.connect(log.path, isolation_level=None)
    sizes = []
    for round in range(20):
        with log.transaction():
            for i in range(50):
                log.note(f"name {i}", "x" * 1000 + str(round))
        checkpoints.move(other)
        sizes.append((tmp_path / "log.sqlite-wal").stat().st_size)
    assert sizes[-1] <= 2 * sizes[1]  # it is written from its beginning again
    other.close()
    log.close()


def test_a_wal_that_grows_too_long_is_moved_by_the_writer_itself(tmp_path):
    log = Log(tmp_path / "log.sqlite")
    checkpoints = Checkpoints(log, most=20)
    other = sqlite3.connect(log.path, isolation_level=None)

    def write(times):
        for i in range(times):
            with log.transaction():
                log.note("name", f"{i} " + "x" * 20_000)
            checkpoints.written()

    other.execute("BEGIN")
    other.execute(
        "SELECT * FROM meta"
    ).fetchall()  # the thread comes too late for what is written now
    write(30)
    with sqlite3.connect(log.path, isolation_level=None) as late:
        checkpoints.move(late)
    late.close()
    other.close()
    size = (tmp_path / "log.sqlite-wal").stat().st_size
    write(1)  # moves all of it
    write(30)
    assert (tmp_path / "log.sqlite-wal").stat().st_size < 1.5 * size
    assert log.noted("name").startswith("29 ")
    log.close()
