"""The record of what was tried keeps count, and the page says what it says."""

from __future__ import annotations

import re
import runpy
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

import pytest
from benchmarks import record, reliability
from benchmarks.reliability import TRIALS, add, collect, read, recorded, trials_table

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/promises.md"
FUZZ = ROOT / "fuzz/fuzz.py"


@pytest.fixture(autouse=True)
def commit(monkeypatch):
    monkeypatch.setattr(record, "commit", lambda: "abc")


def test_trials_of_one_commit_add_up(tmp_path, monkeypatch):
    path = tmp_path / "reliability.json"
    add("learn", 10, 0, {"models": 1, "plain": 10}, path)
    add("serve", 5, 0, {}, path)
    add("learn", 3, 1, {"models": 1}, path)
    monkeypatch.setattr(record, "commit", lambda: "def")
    add("learn", 1, 0, {}, path)
    result = [(one.name, one.commit, one.tried, one.failed, one.details) for one in read(path)]
    assert result == [
        ("learn", "abc", 13, 1, {"models": 2, "plain": 10}),
        ("learn", "def", 1, 0, {}),
        ("serve", "abc", 5, 0, {}),
    ]
    assert "| 14 | 1 |" in trials_table(read(path))
    assert "abc, def" in trials_table(read(path))


def test_a_snapshot_that_leads_to_an_error_is_counted(tmp_path, monkeypatch):
    seeded = runpy.run_path(str(FUZZ))["seeded"]
    monkeypatch.setitem(seeded.__globals__, "HERE", tmp_path)
    monkeypatch.setattr(reliability, "add", lambda *what: added.append(what[1:3]))
    added: list[tuple[int, int]] = []

    class Run:
        name = "snapshot"
        seconds = 0.0

        def __init__(self):
            self.outcomes, self.formats = Counter(), Counter()

        def file(self, _random, name):
            if name == "snapshot-7-1500":
                raise ValueError(name)
            self.outcomes["valid"] += 1

    with pytest.raises(ValueError, match="7-1500"):
        seeded(Run(), 7, 10_000, 1.0, True)
    assert added == [(1000, 0), (501, 1)]


def add_some(path: Path) -> None:
    for _ in range(20):
        add("ray", 1, 0, {"streams": 1}, path)


def test_scripts_may_add_at_the_same_time(tmp_path):
    path = tmp_path / "reliability.json"
    processes = [get_context("fork").Process(target=add_some, args=(path,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [one.tried for one in read(path)] == [40]


def test_the_trials_of_another_copy_are_added_once(tmp_path):
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    add("learn", 10, 0, {}, ours)
    add("serve", 5, 0, {}, theirs)
    for more in (0, 7):
        if more:
            add("serve", more, 0, {}, theirs)
        collect(theirs, ours)
        collect(theirs, ours)
        assert [(one.name, one.tried) for one in read(ours)] == [("learn", 10), ("serve", 5 + more)]


def test_the_page_says_what_is_recorded():
    """`make promises` brings it up to date."""
    assert recorded() in PAGE.read_text()


def test_every_test_that_the_page_names_is_there():
    named = [name for name in re.findall(r"`([\w/.]+)`", PAGE.read_text()) if name.endswith(".py")]
    assert len(named) > 15
    for name in named:
        assert (ROOT / name).is_file() or [*(ROOT / "tests").rglob(Path(name).name)], name


def test_no_failure_has_been_recorded_since_the_last_fix():
    for name in TRIALS:
        tried = [one for one in read(reliability.RECORD) if one.name == name]
        if tried:
            assert max(tried, key=lambda one: one.since).failed == 0
    assert sum(one.failed for one in read(reliability.RECORD)) == 1  # see promises.md
