"""Histories of a service: concurrent clients that send again, a clock that jumps, and `kill -9`.

The real process is killed under load again and again. Every request and answer is noted with the times
between which it took effect. After each kill, the folder and all answers so far are compared with a
model of the service: what was acknowledged is there, once and in an order that the times allow; ids,
labels and repeated requests got the answers that they must get; and the forest is that of the log.
`fuzz/kills.py` runs it for long, `test_crash.py` briefly.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import random
import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any

from riparian import AdaptiveForestRegressor, OnlineForestClassifier, OnlineForestRegressor
from riparian.client import Client
from riparian.serve.items import Lesson
from riparian.serve.options import DAY, ServiceOptions
from riparian.serve.state.folder import StateFolder
from riparian.serve.state.model import ServedModel
from riparian.serve.state.scores import LogScores

from serve_process import Process

TREES = 3
CLIENTS = 3

# The command, with a clock that is ahead by what a file says.
WITH_CLOCK = """
import sys, time
now, ahead = time.time, sys.argv.pop(1)
time.time = lambda: now() + float(open(ahead).read())
from riparian.cli import main
main()
"""


@dataclass(frozen=True)
class Mode:
    """How the service is started, and what happens to it."""

    labels: tuple[Any, ...] = ("a", "b", "c")
    keep_log: bool = False
    lazy: bool = False
    pending: int | None = None
    wait: float = 30 * DAY  # seconds
    jump: float = 0.0  # of the clock, in seconds at most, forth and back
    resends: bool = True
    numbers: bool = False
    adaptive: bool = False  # then intervals and answers that follow the last label are learned, too

    @property
    def forest(self) -> Callable[..., Any]:
        if self.adaptive:
            return functools.partial(AdaptiveForestRegressor, intervals=[0.9])
        return OnlineForestRegressor if self.numbers else OnlineForestClassifier

    @property
    def forgets(self) -> bool:
        """Whether an id that was answered may be unknown later, without a label."""
        return self.lazy or self.pending is not None or self.expires

    @property
    def expires(self) -> bool:
        return self.jump > self.wait

    def arguments(self) -> list[str]:
        given = [
            "--new",
            "--trees",
            str(TREES),
            "--snapshot-every",
            "0.2",
            "--wait",
            str(self.wait / DAY),
        ]
        given += ["--task", "numbers"] if self.numbers else []
        given += ["--adaptive", "--interval", "0.9"] if self.adaptive else []
        given += ["--keep-log"] if self.keep_log else []
        given += ["--predictions", "lazy"] if self.lazy else []
        return given + ([] if self.pending is None else ["--pending", str(self.pending)])


MODES = {
    "the whole log": Mode(keep_log=True),
    "the default": Mode(),
    "whole numbers": Mode(labels=(0, 1, 7)),
    "whole numbers, the whole log": Mode(labels=(0, 1, 7), keep_log=True),
    "numbers": Mode(labels=(-0.5, 3.25, 1e6), numbers=True, keep_log=True),
    "numbers, lazy": Mode(labels=(-0.5, 3, 1e-9), numbers=True, lazy=True),
    "numbers, adaptive, intervals": Mode(
        labels=(-0.5, 3.25, 7.0), numbers=True, adaptive=True, keep_log=True
    ),
    "lazy": Mode(lazy=True, keep_log=True),
    "few ids wait": Mode(pending=20, keep_log=True),
    "the clock jumps": Mode(jump=DAY, keep_log=True),
    # A key that has expired does not keep a request from being learned again.
    "ids expire": Mode(labels=(True, False), wait=1000, jump=5000, resends=False, keep_log=True),
}


@dataclass
class Attempt:
    """A request that could teach a row, and what came of it."""

    label: Any
    start: int
    end: float = math.inf  # infinity: without an answer it may take effect at any later time
    answer: dict[str, Any] | None = None

    @property
    def taught(self) -> bool:
        return self.answer is not None and self.answer.get("learned") is True


@dataclass
class History:
    """All attempts to teach a row, by the number that only this row has."""

    mode: Mode
    attempts: dict[float, list[Attempt]] = field(default_factory=lambda: defaultdict(list))
    features: dict[float, dict[str, Any]] = field(default_factory=dict)
    own_ids: dict[str, float] = field(default_factory=dict)  # given with `learn`
    asked: list[tuple[str, float]] = field(
        default_factory=list
    )  # ids of predictions, to be labelled
    problems: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    _ticks: Any = field(default_factory=itertools.count)
    _marks: Any = field(default_factory=itertools.count)  # float32 has 2^24 of them

    def tick(self) -> int:
        return int(next(self._ticks))

    def point(self, draw: random.Random) -> tuple[float, dict[str, Any]]:
        mark = float(next(self._marks))
        city = draw.choice(["Oslo", "Rome", None, f"city {mark}"])
        features = {"mark": mark, "x": draw.random(), f"f{draw.randrange(4)}": 1.0, "city": city}
        self.features[mark] = features
        return mark, features

    def begin(self, mark: float, label: Any) -> Attempt:
        attempt = Attempt(label, self.tick())
        with self.lock:
            self.attempts[mark].append(attempt)
        return attempt


class Sender(threading.Thread):
    """A client that goes on over crashes, and sends what got no answer again, or gives it up."""

    def __init__(self, number: int, history: History, service: Service, seed: int) -> None:
        super().__init__(daemon=True)
        self.number, self.history, self.service = number, history, service
        self.draw = random.Random(seed)
        self.stopping = False

    def run(self) -> None:
        try:
            while not self.stopping:
                self.draw.choice([self.learn, self.predict, self.label, self.label])()
        except Exception as error:
            self.history.problems.append(f"client {self.number}: {error!r}")

    def learn(self) -> None:
        history, rows, attempts = self.history, [], []
        for _ in range(self.draw.choice([1, 5])):
            mark, features = history.point(self.draw)
            label = self.draw.choice(history.mode.labels)
            row = {"features": features, "label": label}
            if self.draw.random() < 0.4:
                row["id"] = f"own {mark}"
                history.own_ids[row["id"]] = mark
            rows.append(row)
            attempts.append(history.begin(mark, label))
        self.teach("/v1/learn", rows, attempts)

    def predict(self) -> None:
        points = [self.history.point(self.draw) for _ in range(self.draw.choice([1, 4]))]
        rows = [
            {"features": x, **({"id": f"asked {mark}"} if self.draw.random() < 0.5 else {})}
            for mark, x in points
        ]
        answers = self.send("/v1/predict", rows)
        for (mark, _), answer in zip(points, answers or [], strict=False):
            self.expect(answer["status"] == 200, f"a prediction was refused: {answer}")
            self.history.asked.append((answer["id"], mark))

    def label(self) -> None:
        """Of an id of any client: its own label or, at times, another one."""
        history = self.history
        if not history.asked:
            return
        recent = history.asked[-200:]
        chosen = dict(self.draw.choices(recent, k=self.draw.choice([1, 3])))
        labels = [
            history.mode.labels[int(mark) % len(history.mode.labels)] for mark in chosen.values()
        ]
        labels = [
            y if self.draw.random() < 0.9 else self.draw.choice(history.mode.labels) for y in labels
        ]
        rows = [{"id": id, "label": y} for id, y in zip(chosen, labels, strict=True)]
        marks = zip(chosen.values(), labels, strict=True)
        self.teach("/v1/label", rows, [history.begin(mark, label) for mark, label in marks])

    def teach(self, path: str, rows: list[dict[str, Any]], attempts: list[Attempt]) -> None:
        answers = self.send(path, rows)
        end = self.history.tick()
        for attempt, answer in zip(attempts, answers or [], strict=False):
            attempt.answer, attempt.end = answer, end

    def send(self, path: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
        """Return the answers, or None if they were lost."""
        body = json.dumps(rows).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": secrets.token_hex(8)}
        first: list[dict[str, Any]] | None = None
        for _ in range(50):
            try:
                with Client(self.service.address, timeout=10.0) as client:
                    status, _, data = client._attempt("POST", path, body, headers)
            except (OSError, HTTPException):  # it was killed
                if not self.history.mode.resends or self.draw.random() < 0.3 or self.stopping:
                    return None
                time.sleep(0.05)
                continue
            if status in (429, 503):
                time.sleep(0.05)
                continue
            self.expect(status == 200, f"{path}: {status} {data!r}")
            answers: list[dict[str, Any]] = json.loads(data)
            if first is not None:
                self.expect(answers == first, f"sent again: {first} became {answers}")
                return answers
            if not self.history.mode.resends or self.draw.random() < 0.9:
                return answers
            first = answers  # sent again although it was answered: the answer is the same
        return first

    def expect(self, holds: bool, problem: str) -> None:
        if not holds:
            self.history.problems.append(f"client {self.number}: {problem}")


class Service:
    """The process, which is killed and started again at other addresses."""

    def __init__(self, state: Path, mode: Mode) -> None:
        self.state, self.mode = state, mode
        self.ahead = state.with_name(state.name + ".clock")
        self.ahead.parent.mkdir(parents=True, exist_ok=True)
        self.ahead.write_text("0")
        self.start()

    def start(self) -> None:
        program = ("-c", WITH_CLOCK, self.ahead)
        self.process = Process(self.state, *self.mode.arguments(), program=program)
        self.address = self.process.address

    def jump(self, draw: random.Random) -> None:
        new = self.ahead.with_suffix(".new")
        new.write_text(str(draw.uniform(-self.mode.jump, self.mode.jump)))
        new.replace(self.ahead)


def run(state: Path, mode: Mode, kills: int, seed: int) -> dict[str, int]:
    """Kill the service this many times, and check everything after each kill."""
    draw = random.Random(seed)
    history, service = History(mode), Service(state, mode)
    senders = [Sender(i, history, service, seed * 1000 + i) for i in range(CLIENTS)]
    lessons = 0
    with ExitStack() as stack:
        stack.callback(lambda: service.process.__exit__())
        for sender in senders:
            sender.start()
        for number in range(kills):
            time.sleep(draw.uniform(0.05, 0.6))
            if mode.jump:
                service.jump(draw)
                time.sleep(draw.uniform(0.05, 0.3))
            service.process.kill()
            if number == kills - 1:
                for sender in senders:
                    sender.stopping = True
                for sender in senders:
                    sender.join(60)
            lessons = check_folder(state, history)
            service.start()
        check_repeated(service, history)
    assert not history.problems, history.problems
    taught = sum(any(a.taught for a in some) for some in history.attempts.values())
    assert taught > 0, "nothing was acknowledged"
    return {"kills": kills, "acknowledged": taught, "lessons": lessons}


# -- the model of the service -------------------------------------------------------------------------


def check_folder(state: Path, history: History) -> int:
    """Check the log and the model that a kill left behind, while the clients wait for the next start."""
    with history.lock:
        attempts = {mark: list(some) for mark, some in history.attempts.items()}
    check_answers(attempts, history.mode)
    taught = {mark for mark, some in attempts.items() if any(a.taught for a in some)}
    possible = {mark for mark, some in attempts.items() if any(a.end == math.inf for a in some)}
    folder = StateFolder.open(state, unexpected, "", ServiceOptions(keep_log=history.mode.keep_log))
    try:
        points = folder.model.points
        assert len(taught) <= points <= len(taught | possible), (len(taught), points, len(possible))
        assert folder.model.set_aside == 0
        if history.mode.keep_log:
            lessons = [lesson for _, lesson in folder.log.lessons(after=0, most=10**9)]
            check_lessons(lessons, attempts, taught, possible)
            offline, scores = learned_offline(lessons, history.mode.forest)
            same = folder.model.to_bytes({}) == offline.to_bytes({})
            assert same, "the model is not that of the log"
            assert folder.scores.state() == scores.state()
            assert points == len(lessons)
        return points
    finally:
        folder.close()


def check_lessons(
    lessons: list[Lesson],
    attempts: dict[float, list[Attempt]],
    taught: set[float],
    possible: set[float],
) -> None:
    """Every acknowledged row once, no other, with its label, in an order that the times allow."""
    marks = [lesson.features["mark"] for lesson in lessons]
    assert len(set(marks)) == len(marks), "a lesson was learned twice"
    assert taught <= {*marks}, f"an acknowledged lesson is lost: {taught - {*marks}}"
    assert {*marks} <= taught | possible, f"not sent: {({*marks}) - taught - possible}"
    latest = -1
    for lesson in lessons:
        some = attempts[lesson.features["mark"]]
        effective = [a for a in some if a.taught] or [a for a in some if a.end == math.inf]
        assert lesson.label in [a.label for a in effective], (lesson, some)
        assert min(a.end for a in effective) > latest, "a lesson comes after a later one"
        latest = max(latest, min(a.start for a in effective))


def check_answers(attempts: dict[float, list[Attempt]], mode: Mode) -> None:
    """Each answer to a label is one that some order of the attempts gives."""
    for mark, some in attempts.items():
        assert sum(a.taught for a in some) <= 1, f"{mark} was taught twice: {some}"
        for one in some:
            if one.answer is None or one.taught:
                continue
            before = [a for a in some if a is not one and a.start < one.end]
            status = one.answer["status"]
            if status == 200:  # known already
                known = any(
                    a.label == one.label and (a.taught or a.end == math.inf) for a in before
                )
                assert known, f"{mark}: said to be learned before: {one} among {some}"
            elif status == 409:
                assert any(a.label != one.label for a in before), f"{mark}: {one} among {some}"
            else:
                assert status == 404 and mode.forgets, f"{mark}: {one} among {some}"


def check_repeated(service: Service, history: History) -> None:
    """What was taught under an id is known for ever: the same again teaches nothing."""
    if history.mode.expires:
        return
    labels = {mark: a.label for mark, some in history.attempts.items() for a in some if a.taught}
    again = [
        ("/v1/learn", {"id": id, "features": history.features[mark], "label": labels[mark]})
        for id, mark in history.own_ids.items()
        if mark in labels
    ]
    again += [
        ("/v1/label", {"id": id, "label": labels[m]}) for id, m in history.asked if m in labels
    ]
    for path in ("/v1/learn", "/v1/label"):
        rows = [row for where, row in again if where == path]
        with Client(service.address) as client:
            for answer in client._many(path, rows, True) if rows else []:
                assert (answer["status"], answer["learned"]) == (200, False), answer


def learned_offline(
    lessons: list[Lesson], forest: Callable[..., Any] = OnlineForestClassifier
) -> tuple[ServedModel, LogScores]:
    offline = ServedModel.new(forest(TREES, random_state=0), None)
    scores = offline.catalogue.target.log_scores()
    offline.learn(lessons)
    for lesson in lessons:
        scores.add(lesson)
    return offline, scores


def unexpected() -> Any:
    raise AssertionError("there is a model already")
