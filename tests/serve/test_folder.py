"""Snapshot + log = model, to the bit, after whatever happened to the files."""

from __future__ import annotations

import math
import os
import random
import shutil
import sqlite3
import stat

import pytest

from riparian import OnlineForestClassifier
from riparian.cli.commands.serve import Replay
from riparian.loading import from_bytes_with_extra, to_bytes_with_extra
from riparian.serve.items import Lesson
from riparian.serve.options import ServiceOptions
from riparian.serve.state.folder import BadState, Locked, StateFolder, origin_of
from riparian.serve.state.log import Log
from riparian.serve.state.model import ServedModel
from riparian.serve.state.scores import ClassScores

from serve_running import running

pytestmark = pytest.mark.engine


def start():
    return ServedModel.new(OnlineForestClassifier(2, random_state=0), None)


def lessons(n, seed=0):
    draw = random.Random(seed)
    return [
        Lesson({"a": draw.random(), f"f{draw.randrange(5)}": draw.random()}, draw.choice("xyz"),
               draw.choice([1.0, 1.0, 2.5]), draw.choice(["x", None]), 0.5, 0.25, draw.random())
        for _ in range(n)
    ]  # fmt: skip


def test_how_lessons_are_cut_into_batches_changes_no_bit():
    whole, pieces = start(), start()
    given = lessons(200)
    whole.learn(given)
    for first in range(0, 200, 7):
        pieces.learn(given[first : first + 7])
    assert whole.to_bytes({}) == pieces.to_bytes({})
    assert len(whole.catalogue.columns) == 6


def test_a_snapshot_taken_anywhere_goes_on_to_the_same_model():
    given = lessons(120)
    whole = start()
    whole.learn(given)
    for cut in (0, 1, 60, 119):
        first = start()
        first.learn(given[:cut])
        back, _ = ServedModel.from_bytes(first.to_bytes({}))
        back.learn(given[cut:])
        assert back.to_bytes({}) == whole.to_bytes({})


def test_scores_go_on_where_they_were():
    whole, first = ClassScores(), ClassScores()
    given = lessons(3000)
    for lesson in given:
        whole.add(lesson)
    for lesson in given[:1234]:
        first.add(lesson)
    back = ClassScores.from_state(first.state())
    for lesson in given[1234:]:
        back.add(lesson)
    assert back.state() == whole.state()
    assert len(whole.curve) <= 200


def test_the_scores_of_a_snapshot_of_0_2_go_on():
    state = {
        "lessons": 5, "scored": 4, "correct": 3, "loss": 2.5, "recent": "1101", "every": 10, "curve": [],
        "predicted": {"a": 3, "b": 1}, "labelled": {"a": 3, "b": 2}, "delays": [4, *[0] * 8],
        "bins": [[0, 0, 0.0]] * 5 + [[1, 0, 0.5], [0, 0, 0.0], [0, 0, 0.0], [3, 3, 2.55], [0, 0, 0.0]],
    }  # fmt: skip
    log = ClassScores.from_state(state)
    assert (log.scores.rows, log.scores.accuracy, log.recent.accuracy) == (4, 0.75, 0.75)
    assert log.scores.log_loss == pytest.approx(2.5 * math.log(2) / 4, rel=1e-9)
    assert [(b.count, b.accuracy) for b in log.scores.calibration] == [(1, 0.0), (3, 1.0)]
    assert log.scores.calibration[1].confidence == pytest.approx(0.85, rel=1e-9)
    log.add(Lesson({}, "a", 1.0, "a", 0.75, 0.75, 2.0))
    assert (log.lessons, log.scores.rows, log.scores.accuracy) == (6, 5, 0.8)


def test_a_torn_last_record_is_as_if_it_had_not_been_written(tmp_path):
    with running(tmp_path / "state") as served:
        for i in range(5):
            served.post("/v1/learn", {"features": {"a": i}, "label": "x"})
        shutil.copytree(tmp_path / "state", tmp_path / "copy")  # as a power cut leaves it
    whole = (tmp_path / "copy" / "log.sqlite-wal").read_bytes()
    for torn in (len(whole) - 1, len(whole) - 3000):
        shutil.copytree(tmp_path / "copy", tmp_path / f"torn{torn}")
        (tmp_path / f"torn{torn}" / "log.sqlite-wal").write_bytes(whole[:torn])
        folder = StateFolder.open(tmp_path / f"torn{torn}", start, "new", ServiceOptions())
        assert folder.position == 4
        assert folder.model.points == 4
        folder.close()
    with open(tmp_path / "copy" / "log.sqlite-wal", "ab") as file:
        file.write(whole[-2000:])  # a record that was begun and not finished
    folder = StateFolder.open(tmp_path / "copy", start, "new", ServiceOptions())
    assert folder.position == 5
    folder.close()


def test_a_log_that_is_replayed_says_how_far_it_is(tmp_path, capsys, monkeypatch):
    with running(tmp_path / "state") as served:
        served.post("/v1/learn", [{"features": {"a": i}, "label": "x"} for i in range(250)])
        served.settle()
        shutil.copytree(tmp_path / "state", tmp_path / "copy")  # before a snapshot
    monkeypatch.setattr("riparian.serve.state.folder.REPLAYED", 100)
    monkeypatch.setattr(Replay, "EVERY", 0.0)
    shown = Replay().show
    folder = StateFolder.open(tmp_path / "copy", start, "new", ServiceOptions(), shown)
    assert folder.position == 250
    folder.close()
    lines = capsys.readouterr().err.splitlines()
    assert lines[:3] == [
        "learning 250 lessons of the log that the snapshot does not have ...",
        "  100 of 250 lessons (40%)",
        "  200 of 250 lessons (80%)",
    ]
    assert lines[3].startswith("learned them in ") and len(lines) == 4


def test_a_folder_whose_snapshot_is_current_is_opened_in_silence(tmp_path, capsys):
    with running(tmp_path / "state") as served:
        served.post("/v1/learn", {"features": {"a": 1}, "label": "x"})
    capsys.readouterr()
    StateFolder.open(tmp_path / "state", start, "new", ServiceOptions(), Replay().show).close()
    assert capsys.readouterr().err == ""


def test_what_does_not_belong_together_is_refused(tmp_path):
    with running(tmp_path / "state") as served:
        shutil.copy(tmp_path / "state" / "model.riparian", tmp_path / "old")
        served.post("/v1/learn", [{"features": {"a": i}, "label": "x"} for i in range(5)])
    shutil.copy(tmp_path / "old", tmp_path / "state" / "model.riparian")
    with pytest.raises(BadState, match="do not belong together"):
        StateFolder.open(tmp_path / "state", start, "new", ServiceOptions())
    with pytest.raises(BadState, match="began empty"):
        StateFolder.open(tmp_path / "state", start, origin_of(b"a model"), ServiceOptions())
    (tmp_path / "state" / "model.riparian").unlink()
    with pytest.raises(BadState, match="is missing"):
        StateFolder.open(tmp_path / "state", start, "new", ServiceOptions())


def test_a_log_that_is_none_is_refused_and_not_touched(tmp_path):
    (tmp_path / "log.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises(BadState, match=r"log\.sqlite cannot be used: file is not a database"):
        StateFolder.open(tmp_path, start, "new", ServiceOptions())
    assert (tmp_path / "log.sqlite").read_bytes() == b"this is no database" * 100
    (tmp_path / "log.sqlite").unlink()
    StateFolder.open(tmp_path, start, "new", ServiceOptions()).close()
    with sqlite3.connect(tmp_path / "log.sqlite") as other:
        other.execute("UPDATE meta SET value = '99' WHERE name = 'format'")
    other.close()
    with pytest.raises(BadState, match="the log has format '99', not '2'"):
        StateFolder.open(tmp_path, start, "new", ServiceOptions())


def test_a_model_from_elsewhere_has_its_features_and_takes_no_others(tmp_path):
    forest = OnlineForestClassifier(2, random_state=0)
    forest.partial_fit([[0.0, 1.0], [1.0, 0.0]], ["x", "y"])
    origin = origin_of(b"it")
    StateFolder.open(tmp_path, lambda: ServedModel.of(forest), origin, ServiceOptions()).close()
    folder = StateFolder.open(tmp_path, start, origin, ServiceOptions())
    assert list(folder.model.catalogue.columns) == ["x0", "x1"]
    assert not folder.model.catalogue.open_features
    assert folder.model.points == 2
    folder.close()


def test_a_lesson_that_cannot_be_learned_stops_the_service_and_not_the_process(tmp_path, capsys):
    """It would be a mistake of ours: the model is no longer what the log says."""
    with running(tmp_path) as served:

        def fails(lessons):
            raise ValueError("a mistake")

        served.service.model.learn = fails
        row = {"features": {"a": 1}, "label": "x"}
        assert served.post("/v1/learn", row).status_code == 200  # it is on disk
        served.service.learner._thread.join(10)
        assert served.post("/v1/learn", row).status_code == 503
        assert served.web.post("/v1/snapshot").status_code == 503
        assert served.web.get("/v2/health/live").status_code == 503
    assert "a mistake" in capsys.readouterr().err
    folder = StateFolder.open(tmp_path, start, "new", ServiceOptions())
    assert folder.model.points == 1
    folder.close()


# -- writes that fail ------------------------------------------------------------------------------


def test_when_a_write_fails_nothing_counts_and_nothing_acknowledged_is_lost(tmp_path, monkeypatch):
    """Every third transaction fails, before or after its rows were written."""
    draw = random.Random(3)
    add = Log.add_lessons

    def add_or_fail(log, lessons):
        numbers = add(log, lessons)
        if draw.random() < 0.3:
            raise sqlite3.OperationalError("disk I/O error")
        return numbers

    acknowledged = []
    with running(tmp_path, options=ServiceOptions(keep_log=True)) as served:
        monkeypatch.setattr(Log, "add_lessons", add_or_fail)
        for i in range(60):
            row = {"features": {f"f{i}": i}, "label": f"c{i}"}
            answer = served.post("/v1/learn", row)
            assert answer.status_code in (200, 503)
            if answer.status_code == 200:
                acknowledged.append(f"c{i}")
        served.settle()
        assert 10 < len(acknowledged) < 55
        assert served.service.writer.totals["failures"] == 60 - len(acknowledged)
        assert list(served.service.writer.catalogue.target.labels) != []
        before = served.service.model.to_bytes({})
        monkeypatch.undo()
        shutil.copytree(tmp_path, tmp_path.with_name("copy"))
    folder = StateFolder.open(
        tmp_path.with_name("copy"), start, "new", ServiceOptions(keep_log=True)
    )
    assert [lesson.label for _, lesson in folder.log.lessons(0, 100)] == acknowledged
    assert folder.model.to_bytes({}) == before
    folder.close()


def test_a_full_disk_refuses_and_goes_on_when_there_is_room(tmp_path):
    rows = [{"features": {f"feature {i}": i for i in range(200)}, "label": "x"}] * 20
    with running(tmp_path) as served:
        assert served.post("/v1/learn", rows[:1]).status_code == 200
        pages = served.service.folder.log._db.execute("PRAGMA page_count").fetchone()[0]
        served.service.folder.log._db.execute(f"PRAGMA max_page_count = {pages + 3}")
        refused = served.post("/v1/learn", rows, Idempotency_Key="again")
        assert refused.status_code == 503
        assert "full" in refused.json()["error"]
        assert served.service.backlog.rows == 0
        served.service.folder.log._db.execute("PRAGMA max_page_count = 100000")
        assert served.post("/v1/learn", rows, Idempotency_Key="again").status_code == 200
        served.settle()
        assert served.service.model.points == 21


def test_a_snapshot_that_cannot_be_written_loses_nothing(tmp_path, monkeypatch):
    with running(tmp_path) as served:
        served.post("/v1/learn", {"features": {"a": 1}, "label": "x"})

        def full(*about):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("riparian.serve.state.folder.write_whole", full)
        assert served.web.post("/v1/snapshot").status_code == 503
        assert "No space" in served.web.get("/v1/status").json()["figures"]["trouble"]
    monkeypatch.undo()
    folder = StateFolder.open(tmp_path, start, "new", ServiceOptions())
    assert (folder.saved, folder.position, folder.model.points) == (0, 1, 1)
    folder.close()


# -- who may use the folder --------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
@pytest.mark.parametrize("old", [False, True])
def test_only_the_owner_may_read_the_folder(tmp_path, old):
    path = tmp_path / "state"
    if old:  # riparian 0.2 let all users read
        with running(path) as served:
            served.post("/v1/learn", {"features": {"a": 1}, "label": "x"})
        for file in (path, *path.iterdir()):
            os.chmod(file, 0o755 if file == path else 0o644)
    with running(path) as served:
        served.post("/v1/learn", {"features": {"a": 1}, "label": "x"})
        served.web.post("/v1/snapshot")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (path, *path.iterdir())}
    assert modes.pop("state") == 0o700
    modes.pop("lock")  # it holds the number of a process
    assert set(modes.values()) == {0o600}
    assert {"model.riparian", "log.sqlite", "log.sqlite-wal"} <= set(modes)


@pytest.mark.skipif(os.name != "posix", reason="elsewhere, an open file cannot be removed")
def test_a_folder_whose_lock_file_was_removed_is_still_in_use(tmp_path):
    folder = StateFolder.open(tmp_path, start, "new", ServiceOptions())
    (tmp_path / "lock").unlink()
    with pytest.raises(Locked, match="in use by another process"):
        StateFolder.open(tmp_path, start, "new", ServiceOptions())
    folder.close()
    StateFolder.open(tmp_path, start, "new", ServiceOptions()).close()


@pytest.mark.parametrize(
    "forge",
    [
        lambda own: own.pop("position"),
        lambda own: own.update(position=-1),
        lambda own: own["scores"].pop("curve"),
        lambda own: own["scores"].update(delays=[0]),
        lambda own: own["scores"]["scores"]["pairs"].append([0, 5, 1]),
        lambda own: own.update(columns=[1]),
        lambda own: own.update(set_aside="x"),
    ],
)
def test_a_snapshot_that_says_something_else_of_itself_is_named(tmp_path, forge):
    with running(tmp_path) as served:
        for i in range(5):
            served.post("/v1/learn", {"features": {"a": i}, "label": "x"})
    forest, extra = from_bytes_with_extra((tmp_path / "model.riparian").read_bytes())
    forge(extra["serve"])
    (tmp_path / "model.riparian").write_bytes(to_bytes_with_extra(forest, extra))
    with pytest.raises(BadState, match=r"model.riparian: .*expected"):
        StateFolder.open(tmp_path, start, "new", ServiceOptions())
