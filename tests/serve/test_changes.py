"""A transaction's rows, read together and written together."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riparian.serve.items import Lesson
from riparian.serve.state.changes import Changes
from riparian.serve.state.log import MOST_ROWS, Log, Stored

ODD = ["a", "", "it's", 'say "x"', "nul\0here", "naïve", "\U0001f332", "?", "x" * 1000]


def stored(time=1.0, label=None):
    return Stored(time, b"\x00digest", b'{"a":1}', b"[null,[],[],0]", label)


def lesson(label):
    return Lesson({"a": 1.0}, label, 1.0, None, 0.0, 0.0, 0.0)


@pytest.fixture
def log(tmp_path):
    log = Log(tmp_path / "log.sqlite")
    yield log
    log.close()


def test_what_is_written_is_read_by_the_next(log):
    for first in ODD:
        changes = Changes(log, ODD)
        assert changes.prediction(first) is None
        changes.add_prediction(first, stored())
        assert changes.prediction(first) == stored()
        changes.write()
    changes = Changes(log, ODD)
    assert all(changes.prediction(id) == stored() for id in ODD)
    for id in ODD:
        changes.set_label(id, id.encode())
    changes.write()
    reported = Changes(log, ODD)
    assert [reported.prediction(id) for id in ODD] == [
        stored(label=id.encode())._replace(features=None) for id in ODD
    ]


def test_an_id_may_be_asked_and_told_at_once(log):
    changes = Changes(log, ["p"])
    changes.add_prediction("p", stored())
    changes.set_label("p", b"1")
    changes.write()
    assert Changes(log, ["p"]).prediction("p") == Stored(
        1.0, b"\x00digest", None, b"[null,[],[],0]", b"1"
    )


def test_an_id_may_go_and_come_again_at_once(log):
    before = Changes(log, [])
    before.add_prediction("p", stored(1.0))
    before.write()
    changes = Changes(log, ["p"])
    changes.remove_prediction("p")
    assert changes.prediction("p") is None
    changes.add_prediction("p", stored(2.0))
    changes.write()
    assert Changes(log, ["p"]).prediction("p") == stored(2.0)


@pytest.mark.parametrize("count", [0, 1, MOST_ROWS, MOST_ROWS + 1, 3 * MOST_ROWS])
def test_many_rows_go_in_several_statements(log, count):
    ids = [f"id {i}" for i in range(count)]
    changes = Changes(log, ids)
    for id in ids:
        changes.add_prediction(id, stored())
        changes.add_lesson(lesson(id))
    written = changes.write()
    assert [reported.label for _, reported in written] == ids
    assert written == log.lessons(0, count + 1)
    again = Changes(log, ids)
    for id in ids:
        again.set_label(id, b"1")
    again.write()
    assert log.waiting() == (0, 0)
    last = Changes(log, ids)
    for id in ids:
        last.remove_prediction(id)
    last.write()
    assert log.predictions(ids) == {}


@settings(max_examples=20, deadline=None)
@given(cuts=st.lists(st.integers(0, 250), max_size=6))
def test_lessons_are_numbered_in_their_order_whatever_the_transactions(tmp_path_factory, cuts):
    log = Log(tmp_path_factory.mktemp("log") / "log.sqlite")
    reported = []
    for count in cuts:
        changes = Changes(log, [])
        for _ in range(count):
            changes.add_lesson(lesson(len(reported)))
            reported.append(len(reported))
        changes.write()
    result = log.lessons(0, 10_000)
    assert [number for number, _ in result] == list(range(1, len(reported) + 1))
    assert [lesson.label for _, lesson in result] == reported
    log.close()
