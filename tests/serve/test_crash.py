"""`kill -9` at any moment: what was acknowledged is there, once, and the model is that of the log."""

from __future__ import annotations

import pytest

from serve_crash import run
from serve_process import Process


def test_a_service_that_is_killed_again_and_again_loses_nothing(tmp_path):
    done = run(tmp_path / "state", kills=5, seed=1)
    assert done["acknowledged"] > 50


def test_a_request_that_is_sent_again_after_a_crash_is_learned_once_and_a_folder_has_one_owner(
    tmp_path,
):
    points = [({"x": float(i), "y": float(i % 5)}, i % 3) for i in range(60)]
    with Process(tmp_path, "--new", "--trees", "2") as first:
        key = {"Idempotency-Key": "the same", "Content-Type": "application/json"}
        with first.client() as client:
            client._headers = lambda path: key
            answered = client.learn_many(points)
            with pytest.raises(AssertionError, match="in use by another process"):
                Process(tmp_path, "--new", "--trees", "2")
        first.kill()
    with Process(tmp_path, "--new", "--trees", "2") as second:
        with second.client() as again:
            again._headers = lambda path: key
            assert again.learn_many(points) == answered
            assert again.model()["points"] == 60
        assert second.stop() == 0
        assert "everything is saved" in second.said[-1]


def test_a_service_that_could_not_save_does_not_say_that_it_has(tmp_path):
    with Process(tmp_path, "--new", "--trees", "2") as process:
        with process.client() as client:
            client.learn({"x": 1.0}, "a")
        (tmp_path / "model.riparian").unlink()
        (tmp_path / "model.riparian").mkdir()
        process.stop()
        assert "everything is saved" not in "".join(process.said)
        assert "the log has every lesson, the snapshot has those up to 0" in process.said[-1]
