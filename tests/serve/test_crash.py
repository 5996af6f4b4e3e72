"""`kill -9` at any moment: what was acknowledged is there, once, and the model is that of the log."""

from __future__ import annotations

import pytest

from riparian.serve.items import Lesson

from serve_history import MODES, Attempt, Mode, check_answers, check_lessons, run
from serve_process import Process


@pytest.mark.parametrize("mode", MODES)
def test_a_service_that_is_killed_again_and_again_loses_nothing(mode, tmp_path):
    done = run(tmp_path / "state", MODES[mode], kills=1, seed=1)
    assert done["acknowledged"] > 0


def learned(label, start, end):
    return Attempt(label, start, end, {"status": 200, "learned": True})


def lesson(mark, label="a"):
    return Lesson({"mark": mark}, label, 1.0, None, 0.0, 0.0, 0.0)


LOST = Attempt("a", 4)  # without an answer
HISTORIES = {
    "as it should be": ([lesson(1.0), lesson(2.0)], {1.0: [learned("a", 0, 1)],
                                                     2.0: [learned("a", 2, 3)]}, None),
    "at the same time": ([lesson(1.0), lesson(2.0)], {1.0: [learned("a", 0, 3)],
                                                      2.0: [learned("a", 1, 2)]}, None),
    "without an answer": ([lesson(1.0)], {1.0: [LOST], 2.0: [LOST]}, None),
    "a lost lesson": ([lesson(1.0)], {1.0: [learned("a", 0, 1)], 2.0: [learned("a", 2, 3)]},
                      "is lost"),
    "a lesson twice": ([lesson(1.0), lesson(1.0)], {1.0: [learned("a", 0, 1)]}, "learned twice"),
    "out of order": ([lesson(2.0), lesson(1.0)], {1.0: [learned("a", 0, 1)],
                                                  2.0: [learned("a", 2, 3)]}, "after a later one"),
    "another label": ([lesson(1.0, "b")], {1.0: [learned("a", 0, 1)]}, "mark"),
    "never sent": ([lesson(1.0)], {1.0: [Attempt("a", 0, 1, {"status": 404})]}, "not sent"),
}  # fmt: skip


@pytest.mark.parametrize("kind", HISTORIES)
def test_the_model_of_a_service_finds_what_must_not_be_in_a_log(kind):
    lessons, attempts, problem = HISTORIES[kind]
    taught = {mark for mark, some in attempts.items() if any(a.taught for a in some)}
    possible = {mark for mark, some in attempts.items() if LOST in some}
    if problem is None:
        check_lessons(lessons, attempts, taught, possible)
        return
    with pytest.raises(AssertionError, match=problem):
        check_lessons(lessons, attempts, taught, possible)


@pytest.mark.parametrize(
    ("some", "holds"),
    [
        ([learned("a", 0, 1), Attempt("a", 2, 3, {"status": 200, "learned": False})], True),
        ([Attempt("a", 2, 3, {"status": 200, "learned": False})], False),
        ([LOST, Attempt("a", 5, 6, {"status": 200, "learned": False})], True),
        ([learned("a", 0, 1), learned("a", 2, 3)], False),
        ([learned("a", 0, 1), Attempt("b", 2, 3, {"status": 409})], True),
        ([learned("a", 0, 1), Attempt("a", 2, 3, {"status": 409})], False),
        ([Attempt("a", 0, 1, {"status": 404})], False),
    ],
)
def test_the_model_of_a_service_finds_wrong_answers(some, holds):
    if holds:
        check_answers({1.0: some}, Mode())
        return
    with pytest.raises(AssertionError):
        check_answers({1.0: some}, Mode())


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
