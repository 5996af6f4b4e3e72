"""A log that is damaged is an error that says so; a log of riparian 0.2 goes on."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3

import orjson
import pytest

from riparian import OnlineForestClassifier
from riparian.serve.items import Lesson
from riparian.serve.options import ServiceOptions
from riparian.serve.state import checkpoints
from riparian.serve.state.folder import BadState, StateFolder
from riparian.serve.state.log import Log, values
from riparian.serve.state.model import ServedModel
from riparian.serve.state.scores import ClassScores

from serve_running import running

pytestmark = pytest.mark.engine

OF_0_2 = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE predictions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, time REAL NOT NULL,
    digest BLOB NOT NULL, features BLOB, forecast BLOB NOT NULL, label BLOB
);
CREATE INDEX waiting ON predictions (number) WHERE label IS NULL;
CREATE TABLE lessons (number INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL);
CREATE TABLE keys (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, time REAL NOT NULL,
    digest BLOB NOT NULL, answer BLOB NOT NULL
);
INSERT INTO meta VALUES ('format', '1'), ('origin', 'new');
"""


def start():
    return ServedModel.new(OnlineForestClassifier(2, random_state=0), None)


def opened(path, **options):
    return StateFolder.open(path, start, "new", ServiceOptions(**options))


def lesson(i):
    return Lesson({"a": i / 10}, i % 3, 1.0, None, 0.0, 0.0, 0.0)


@pytest.fixture
def crashed(tmp_path, monkeypatch):
    """A folder as a crash leaves it: 20 lessons in its WAL, 5 of them in the snapshot."""
    monkeypatch.setattr(checkpoints, "EVERY", 3600.0)  # the WAL keeps all of them
    with running(tmp_path / "served", options=ServiceOptions(keep_log=True)) as served:
        for i in range(20):
            served.post("/v1/learn", {"features": {"a": i / 10}, "label": i % 3})
            if i == 4:
                served.web.post("/v1/snapshot")
        served.settle()
        shutil.copytree(tmp_path / "served", tmp_path / "crashed")
    return tmp_path / "crashed"


def changed(path, *statements):
    db = sqlite3.connect(path / "log.sqlite")
    with db:
        for statement in statements:
            db.execute(statement)
    db.close()


def test_a_log_that_is_whole_opens(crashed):
    folder = opened(crashed)
    assert (folder.saved, folder.position, folder.model.points) == (5, 20, 20)
    folder.close()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE lessons SET body = CAST(replace(body, '1.2', '1.3') AS BLOB) WHERE number = 13",
         "lesson 13 is not"),
        ("DELETE FROM lessons WHERE number = 13", "lessons 13 to 13 are missing"),
        ("DELETE FROM lessons WHERE number > 15", "lessons 16 to 20 are missing"),
        ("DELETE FROM lessons WHERE number = 5", "lesson 5 or its checksum is missing"),
        ("UPDATE lessons SET chain = NULL WHERE number = 9", "lesson 9 is not"),
        ("UPDATE lessons SET chain = x'00' WHERE number = 5", "do not belong together"),
        ("UPDATE lessons SET body = x'ff' WHERE number = 20", "lesson 20 is not"),
        ("UPDATE lessons SET body = 'text' WHERE number = 8", "lesson 8 is not"),
        ("DROP TABLE lessons", "do not belong together"),
        ("UPDATE meta SET value = 'x' WHERE name = 'format'", "format 'x'"),
        ("INSERT INTO meta VALUES ('trimmed', 'x')", "invalid literal"),
        ("INSERT INTO meta VALUES ('trimmed', '3'), ('trimmed_chain', 'x')", None),
    ],
)  # fmt: skip
def test_a_lesson_that_was_changed_or_removed_is_an_error(crashed, statement, message):
    changed(crashed, statement)
    if message is None:  # before the snapshot: nothing that is learned depends on it
        opened(crashed).close()
        return
    with pytest.raises(BadState, match=message):
        opened(crashed, keep_log=True)


def test_a_flipped_bit_in_the_wal_loses_no_lesson_in_silence(crashed):
    wal = bytearray((crashed / "log.sqlite-wal").read_bytes())
    frames = (len(wal) - 32) // 4120
    assert frames > 40
    for frame in (0, 3, frames // 2, frames - 8):
        broken = crashed.with_name(f"broken{frame}")
        shutil.copytree(crashed, broken)
        damaged = bytearray(wal)
        damaged[32 + frame * 4120 + 24 + 2000] ^= 4
        (broken / "log.sqlite-wal").write_bytes(damaged)
        for _ in range(2):  # the second attempt has as much to see as the first
            with pytest.raises(BadState, match="WAL is damaged"):
                opened(broken)
    header = crashed.with_name("header")
    shutil.copytree(crashed, header)
    wal[10] ^= 1
    (header / "log.sqlite-wal").write_bytes(wal)
    with pytest.raises(BadState, match="WAL is damaged, and all transactions"):
        opened(header)


def test_bytes_that_were_changed_anywhere_in_the_database_end_in_an_error_or_the_same_model(
    crashed,
):
    folder = opened(crashed, keep_log=True)
    whole = folder.model.to_bytes({})
    folder.close()
    data = (crashed / "log.sqlite").read_bytes()
    draw = random.Random(0)
    errors = 0
    for _ in range(60):
        broken = bytearray(data)
        for _ in range(draw.choice([1, 40])):
            broken[draw.randrange(len(data))] = draw.randrange(256)
        (crashed / "log.sqlite").write_bytes(broken)
        for name in ("log.sqlite-wal", "log.sqlite-shm"):
            (crashed / name).unlink(missing_ok=True)
        try:
            folder = opened(crashed, keep_log=True)
        except BadState:
            errors += 1
        else:
            assert folder.model.to_bytes({}) == whole
            folder.close()
    assert errors > 10


def test_a_row_that_was_changed_while_it_waited_is_not_learned(tmp_path):
    with running(tmp_path) as served:
        served.post("/v1/learn", {"features": {"a": 1.2}, "label": 0})
        for id in "xy":
            served.post("/v1/predict", {"features": {"a": 1.2}, "id": id})
    changed(
        tmp_path,
        "UPDATE predictions SET features = CAST(replace(features, '1.2', '1.3') AS BLOB) WHERE id = 'x'",
    )
    with running(tmp_path) as served:
        answer = served.post("/v1/label", {"id": "x", "label": 1})
        assert answer.status_code == 500 and "is damaged on disk" in answer.json()["error"]
        assert served.post("/v1/label", {"id": "y", "label": 1}).status_code == 200
        served.settle()
        assert served.service.model.points == 2


@pytest.mark.parametrize("snapshot", [0, 7])
def test_a_log_of_0_2_gets_its_checksums_when_it_is_opened(tmp_path, snapshot):
    old(tmp_path, snapshot)
    folder = opened(tmp_path, keep_log=True)
    assert (folder.saved, folder.position, folder.model.points) == (snapshot, 20, 20)
    assert folder.log.noted("format") == "2"
    folder.close()
    changed(tmp_path, "UPDATE lessons SET body = x'5b5d' WHERE number = 13")
    with pytest.raises(BadState, match="lesson 13 is not"):
        opened(tmp_path)


def test_a_log_of_0_2_with_a_gap_is_refused(tmp_path):
    old(tmp_path, 0)
    changed(tmp_path, "DELETE FROM lessons WHERE number = 13")
    with pytest.raises(BadState, match="lessons 13 to 13 are missing"):
        opened(tmp_path)


@pytest.mark.parametrize("features", ["x", [], [1], None, 3])
def test_a_lesson_of_0_2_that_is_none_is_an_error(tmp_path, features):
    old(tmp_path, 0)
    body = json.dumps([features, *values(lesson(13))[1:]]).encode().hex()
    changed(tmp_path, f"UPDATE lessons SET body = x'{body}' WHERE number = 13")
    with pytest.raises(BadState, match="cannot be used"):
        opened(tmp_path)


def old(path, position):
    """A folder of riparian 0.2."""
    db = sqlite3.connect(path / "log.sqlite")
    db.executescript(OF_0_2)
    with db:
        bodies = [(orjson.dumps(values(lesson(i))),) for i in range(20)]
        db.executemany("INSERT INTO lessons (body) VALUES (?)", bodies)
        if position:
            db.execute("DELETE FROM lessons WHERE number <= ?", (position,))
            db.execute("INSERT INTO meta VALUES ('trimmed', ?)", (str(position),))
    db.close()
    model = start()
    model.learn([lesson(i) for i in range(position)])
    extra = {"position": position, "scores": ClassScores().state()}
    (path / "model.riparian").write_bytes(model.to_bytes(extra))


def test_checksums_go_on_over_trims_and_restarts(tmp_path):
    log = Log(tmp_path / "log.sqlite")
    with log.transaction():
        log.add_lessons([lesson(i) for i in range(6)])
        log.trim(4, 100)
    end = log.chain_at(6)
    with pytest.raises(ZeroDivisionError), log.transaction():
        log.add_lessons([lesson(9)])
        raise ZeroDivisionError
    log.close()
    log = Log(tmp_path / "log.sqlite")
    assert log.chain_at(6) == end
    with log.transaction():
        log.add_lessons([lesson(6)])
        log.trim(7, 100)
    assert log.lessons(0, 100) == []
    whole = Log(tmp_path / "whole.sqlite")
    with whole.transaction():
        whole.add_lessons([lesson(i) for i in range(7)])
    assert log.chain_at(7) == whole.chain_at(7)
    log.close()
    whole.close()
