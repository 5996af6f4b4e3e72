"""Sequences of requests against a plain model of the service: ids, labels, duplicates, restarts."""

from __future__ import annotations

import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from riparian.serve.options import ServiceOptions
from riparian.serve.state.writer import Job

from serve_running import Clock, running

IDS = st.sampled_from("pqrst")
VALUES = st.sampled_from([0, 1.5, None])
LABELS = st.sampled_from(["x", "y"])
WAIT, PENDING = 100.0, 3


class Plain(RuleBasedStateMachine):
    """What the page of the docs says, in dicts and lists."""

    def __init__(self):
        super().__init__()
        self.stack = ExitStack()
        self.path = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.clock = Clock()
        self.known = {}  # id: [time, value, label or None], the oldest first
        self.keys = {}  # key: (time, request, answer)
        self.learned = []
        self._open()

    def _open(self):
        self.running = ExitStack()
        options = ServiceOptions(wait=WAIT, pending=PENDING, keep_log=True)
        self.served = self.running.enter_context(
            running(self.path, options=options, clock=self.clock, trees=1)
        )

    def _forget(self):
        now = self.clock.now
        self.known = {id: row for id, row in self.known.items() if row[0] >= now - WAIT}

    def _drop(self):
        waiting = [id for id, (_, _, label) in self.known.items() if label is None]
        for id in waiting[: max(0, len(waiting) - PENDING)]:
            del self.known[id]

    @rule(id=IDS, value=VALUES)
    def ask(self, id, value):
        self._forget()
        answer = self.served.post("/v1/predict", {"id": id, "features": {"a": value}})
        if id in self.known:
            assert answer.status_code == (200 if self.known[id][1] == value else 409)
        else:
            assert answer.status_code == 200
            self.known[id] = [self.clock.now, value, None]
            self._drop()

    @rule(id=IDS, label=LABELS)
    def tell(self, id, label):
        self._forget()
        answer = self.served.post("/v1/label", {"id": id, "label": label})
        if id not in self.known:
            assert answer.status_code == 404
        elif self.known[id][2] is None:
            assert answer.json()["learned"] is True
            self.known[id][2] = label
            self.learned.append((self.known[id][1], label))
        else:
            same = self.known[id][2] == label
            assert answer.status_code == (200 if same else 409)
            assert not same or answer.json()["learned"] is False

    @rule(id=st.none() | IDS, value=VALUES, label=LABELS)
    def teach(self, id, value, label):
        self._forget()
        row = {"features": {"a": value}, "label": label}
        answer = self.served.post("/v1/learn", row if id is None else {**row, "id": id})
        if id is None or id not in self.known:
            assert answer.json()["learned"] is True
            self.learned.append((value, label))
            if id is not None:
                self.known[id] = [self.clock.now, value, label]
        else:
            same = self.known[id][1:] == [value, label]
            assert answer.status_code == (200 if same else 409)
            assert not same or answer.json()["learned"] is False

    @rule(key=st.sampled_from("kl"), value=VALUES, label=LABELS)
    def teach_with_key(self, key, value, label):
        row = {"features": {"a": value}, "label": label}
        answer = self.served.post("/v1/learn", row, Idempotency_Key=key)
        known = self.keys.get(key)
        if known is None or known[0] < self.clock.now - WAIT:
            assert answer.status_code == 200
            self.keys[key] = (self.clock.now, row, answer.json())
            self.learned.append((value, label))
        elif known[1] == row:
            assert answer.json() == known[2]
        else:
            assert answer.status_code == 422

    @rule(seconds=st.sampled_from([0.5, 40.0, 100.0]))
    def wait(self, seconds):
        self.clock.now += seconds

    @rule()
    def snapshot(self):
        assert self.served.web.post("/v1/snapshot").status_code == 200

    @rule()
    def restart(self):
        self.running.close()
        self._open()

    @invariant()
    def each_lesson_was_learned_once_in_order(self):
        self.served.settle()
        log = self.served.service.folder.log.lessons(0, 10**6)
        assert [(lesson.features["a"], lesson.label) for _, lesson in log] == self.learned
        assert self.served.service.model.points == len(self.learned)

    @invariant()
    def as_many_wait_as_the_log_says(self):
        service = self.served.service
        stored = (
            threading.Event()
        )  # a snapshot makes the writer trim the log, on the same connection
        service.writer.put(Job([], None, lambda answer: stored.set()))
        assert stored.wait(10)
        assert service.writer.waiting == sum(service.folder.log.waiting())

    def teardown(self):
        self.running.close()
        self.stack.close()


TestPlain = Plain.TestCase
TestPlain.settings = settings(
    max_examples=8, stateful_step_count=25, deadline=None,
    suppress_health_check=list(HealthCheck), derandomize=True,
)  # fmt: skip


def test_one_id_from_a_clock_that_was_ahead_does_not_stop_the_expiry_of_others(tmp_path):
    clock = Clock()
    with running(tmp_path, options=ServiceOptions(wait=WAIT), clock=clock) as served:

        def ask(id, **headers):
            answer = served.post("/v1/predict", {"id": id, "features": {"a": 1}}, **headers)
            assert answer.status_code == 200

        clock.now += 1e6
        ask("ahead", Idempotency_Key="ahead")
        clock.now -= 1e6
        for number in range(5):
            ask(f"late {number}")
        clock.now += WAIT + 10
        ask("now")
        assert served.service.writer.waiting == 2
        assert served.service.writer.totals["expired"] == 5
