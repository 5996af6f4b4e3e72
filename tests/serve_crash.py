"""The crash test: kill the real process under load, repeatedly, and compare with the expected state.

`fuzz/kills.py` runs it for long, `test_crash.py` briefly.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from http.client import HTTPException
from pathlib import Path
from typing import Any

from riparian import OnlineForestClassifier
from riparian.client import Client, ServiceError
from riparian.serve.items import Lesson
from riparian.serve.options import ServiceOptions
from riparian.serve.state.folder import StateFolder
from riparian.serve.state.model import ServedModel
from riparian.serve.state.scores import LogScores

from serve_process import Process

MARKS = itertools.count()  # a number of its own for each lesson; float32 has 2^24 of them
TREES = 3
ARGUMENTS = ("--new", "--trees", str(TREES), "--keep-log", "--snapshot-every", "0.2")


class Sender(threading.Thread):
    """A client that knows what was acknowledged. Every lesson has a number of its own."""

    def __init__(self, number: int, address: str, seed: int) -> None:
        super().__init__(daemon=True)
        self.number, self.address = number, address
        self.random = random.Random(seed)
        self.acknowledged: list[float] = []
        self.problems: list[str] = []
        self.stopping = False

    def run(self) -> None:
        with Client(self.address, patience=0.0, timeout=5.0) as client:
            try:
                while not self.stopping:
                    self.send(client)
            except ServiceError as error:
                self.problems.append(str(error))
            except (OSError, HTTPException):  # it was killed
                return

    def send(self, client: Client) -> None:
        marks = [float(next(MARKS)) for _ in range(self.random.choice([1, 5]))]
        points = [{"mark": mark, "x": self.random.random(), f"f{self.random.randrange(4)}": 1.0,
                   "city": self.random.choice(["Oslo", "Rome", None, f"city {mark}"])}
                  for mark in marks]  # fmt: skip
        labels = [self.random.choice("abc") for _ in marks]
        if self.random.random() < 0.5:
            answers = client.learn_many(zip(points, labels, strict=True))
        else:
            ids = [answer["id"] for answer in client.predict_many(points)]
            answers = client.label_many(dict(zip(ids, labels, strict=True)))
        assert all(answer["learned"] for answer in answers)
        self.acknowledged += marks


def run(state: Path, kills: int, seed: int) -> dict[str, int]:
    """Kill this many times, and check the folder after each kill."""
    draw = random.Random(seed)
    acknowledged: list[float] = []
    for round in range(kills):
        with Process(state, *ARGUMENTS) as process:
            senders = [Sender(i, process.address, seed * 1000 + 10 * round + i) for i in range(3)]
            for sender in senders:
                sender.start()
            time.sleep(draw.uniform(0.05, 0.6))
            process.kill()
            for sender in senders:
                sender.stopping = True
                sender.join(10)
                assert not sender.problems
                acknowledged += sender.acknowledged
        lessons = check(state, acknowledged)
    return {"kills": kills, "acknowledged": len(acknowledged), "lessons": lessons}


def check(state: Path, acknowledged: list[float]) -> int:
    """Check that the log has every acknowledged lesson once, and that the model follows from it."""
    folder = StateFolder.open(state, unexpected, "", ServiceOptions(keep_log=True))
    try:
        numbered = folder.log.lessons(after=0, most=10**9)
        lessons = [lesson for _, lesson in numbered]
        marks = [lesson.features["mark"] for lesson in lessons]
        assert len(set(marks)) == len(marks), "a lesson was learned twice"
        assert set(acknowledged) <= set(marks), "an acknowledged lesson is lost"
        assert len(set(acknowledged)) == len(acknowledged)
        offline, scores = learned_offline(lessons)
        assert folder.model.to_bytes({}) == offline.to_bytes({}), "the model is not that of the log"
        assert folder.scores.state() == scores.state()
        assert folder.model.points == len(lessons)
        return len(lessons)
    finally:
        folder.close()


def learned_offline(lessons: list[Lesson]) -> tuple[ServedModel, LogScores]:
    offline = ServedModel.new(OnlineForestClassifier(TREES, random_state=0), None)
    scores = LogScores()
    offline.learn(lessons)
    for lesson in lessons:
        scores.add(lesson)
    return offline, scores


def unexpected() -> Any:
    raise AssertionError("there is a model already")
