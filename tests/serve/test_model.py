"""Whatever a service accepts is learned, in every cut of the log, with snapshots in between."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riparian import OnlineForestClassifier
from riparian.serve import validation
from riparian.serve.items import Lesson
from riparian.serve.options import Limits, ServiceOptions
from riparian.serve.refused import Refused
from riparian.serve.state.folder import StateFolder
from riparian.serve.state.log import Log
from riparian.serve.state.model import ServedModel

from serve_running import running

pytestmark = pytest.mark.engine

EDGES = [0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1]
LABELS = st.sampled_from([*EDGES, *map(float, EDGES), 1e300, -1e300, -0.0, True, False, "a", "1"])
VALUES = st.sampled_from([0.5, 1, 2**70, None, True, "x", ""])
ROWS = st.lists(st.tuples(st.dictionaries(st.sampled_from("abc"), VALUES, min_size=1), LABELS),
                min_size=1, max_size=12)  # fmt: skip


def start(classes=None):
    return ServedModel.new(OnlineForestClassifier(1, random_state=0), classes)


def accepted(rows, catalogue):
    """The lessons that the input validation and the writer let into the log."""
    lessons = []
    for features, label in rows:
        try:
            row = validation.teach_row(
                {"features": features, "label": label}, Limits(), validation.class_label
            )
            label = catalogue.target.canonical(row.label)
            catalogue.check_features(row.features)
            catalogue.target.check(label)
        except Refused:
            continue
        catalogue = catalogue.with_lesson(row.features, label)
        lessons.append(Lesson(row.features, label, row.weight, None, 0.0, 0.0, 0.0))
    return lessons


def learned_in_parts(lessons, cuts):
    """Learned in parts, with a snapshot saved and loaded between two of them."""
    places = [0, *sorted(cuts), len(lessons)]
    parts = [lessons[a:b] for a, b in pairwise(places)]

    def step(model, part):
        model.learn(part)
        return ServedModel.from_bytes(model.to_bytes({}))[0]

    return reduce(step, parts, start())


@given(rows=ROWS, cuts=st.lists(st.integers(0, 12), max_size=3))
@settings(max_examples=150, deadline=None)
def test_whatever_is_accepted_is_learned_in_every_cut_with_snapshots_in_between(rows, cuts):
    lessons = accepted(rows, start().catalogue)
    whole = start()
    assert whole.learn(lessons) == lessons
    assert whole.set_aside == 0
    parts = learned_in_parts(lessons, [cut for cut in cuts if cut <= len(lessons)])
    assert (parts.points, parts.set_aside) == (len(lessons), 0)
    assert parts.to_bytes({}) == whole.to_bytes({})


def test_a_lesson_that_cannot_be_learned_is_set_aside_in_every_cut():
    """A log of riparian 0.2 can hold them."""
    good = [Lesson({"a": i / 7}, i % 2, 1.0, None, 0.0, 0.0, 0.0) for i in range(12)]
    bad = [Lesson({"b": 1.0}, label, 1.0, None, 0.0, 0.0, 0.0) for label in (2**63, "x", True)]
    mixed = [*good[:5], bad[0], *good[5:9], *bad[1:], *good[9:]]
    plain, whole = start(), start()
    plain.learn(good)
    assert whole.learn(mixed) == good
    assert (whole.points, whole.set_aside) == (12, 3)
    whole.set_aside = 0
    assert whole.to_bytes({}) == plain.to_bytes({})
    for cut in range(len(mixed) + 1):
        assert learned_in_parts(mixed, [cut]).set_aside == 3


@pytest.mark.parametrize("snapshot", [False, True])
def test_a_log_with_a_lesson_that_cannot_be_learned_starts_and_shows_it(tmp_path, snapshot):
    row = {"features": {"a": 1}, "label": 1}
    options = ServiceOptions(keep_log=True)
    with running(tmp_path, options=options) as served:
        served.post("/v1/learn", row)
    log = Log(tmp_path / "log.sqlite")
    with log.transaction():
        log.add_lessons([Lesson({"a": 1.0}, 2**63, 1.0, None, 0.0, 0.0, 0.0)])
    log.close()
    if snapshot:
        with running(tmp_path, options=options) as served:
            served.post("/v1/learn", row)
    with running(tmp_path, options=options) as served:
        assert served.service.model.points == 1 + snapshot
        assert served.web.get("/v1/status").json()["figures"]["set_aside"] == 1
        assert "riparian_set_aside_lessons 1.0" in served.web.get("/metrics").text
        assert served.post("/v1/learn", {**row, "label": 2}).status_code == 200
        served.settle()
        assert served.service.model.catalogue.target.labels == {1, 2}


@pytest.mark.parametrize("label", [2.0**63, -1e300, 1e19])
def test_a_number_beyond_64_bits_is_refused_where_labels_are_whole_numbers(tmp_path, label):
    with running(tmp_path) as served:
        assert served.post("/v1/learn", {"features": {"a": 1}, "label": 1}).status_code == 200
        refused = served.post("/v1/learn", {"features": {"a": 1}, "label": label})
        assert (refused.status_code, refused.json()["field"]) == (422, "label")
        assert "64 bits" in refused.json()["error"]
    folder = StateFolder.open(tmp_path, start, "new", ServiceOptions())
    assert folder.model.points == 1
    folder.close()
