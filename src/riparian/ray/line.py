"""The line to one shard: what was sent to it, and what it has learned."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import ActorDiedError, RayActorError, RayTaskError

from riparian.ray.errors import MemoryShort, RayForestError, ShardLost
from riparian.ray.journal import Entry, Journal
from riparian.ray.shard import Ack, Hello
from riparian.ray.trust import Judged

PATIENCE = 0.05  # seconds between two checks whether a shard is back
RESTART_SECONDS = 600.0  # for a shard to come back; perhaps a node has to start first
MOST_RESTARTS = 20  # of a shard that learns nothing in between


@dataclass
class Line:
    """The driver's end of the line. Only one thread at a time may use it."""

    actor: Any
    number: int
    trees: range
    restarts_allowed: bool
    hello: Hello
    rows: int = 0  # acknowledged
    points: int = 0
    saved: int = 0  # rows in its last checkpoint
    saved_points: int = 0
    judged: list[Judged] = field(default_factory=list)  # reported, and not yet taken by the driver
    trouble: str | None = None  # with its checkpoints
    restarts: int = 0
    _fruitless: int = 0  # restarts since it last learned something
    _under_way: deque[tuple[int, Any]] = field(default_factory=deque)  # rows afterwards, the call

    def __str__(self) -> str:
        trees = f"trees {self.trees.start} to {self.trees.stop - 1}"
        return f"shard {self.number} ({trees}, on {self.hello.node})"

    def send(self, entry: Entry) -> None:
        self._under_way.append((entry.stop, self.actor.learn.remote(entry.batch)))

    def settle(self, row: int, journal: Journal) -> None:
        """Wait until the shard has learned the rows before this one."""
        while self.rows < row:
            try:
                stop, call = self._under_way[0]
                self.heard(ray.get(call))
            except RayActorError as error:
                self.bring_back(journal, error)
            except RayTaskError as error:
                raise self.failure(error) from None
            else:
                if self.rows < stop:  # an earlier batch was lost with the shard
                    self.bring_back(journal, None)
                else:
                    self._under_way.popleft()

    def poll(self) -> None:
        """Process the answers that have arrived, without waiting."""
        while self._under_way:
            stop, call = self._under_way[0]
            if not ray.wait([call], timeout=0)[0]:
                return
            try:
                self.heard(ray.get(call))
            except (RayActorError, RayTaskError):
                return  # `settle` handles it
            if self.rows < stop:
                return
            self._under_way.popleft()

    def heard(self, ack: Ack) -> None:
        if ack.rows > self.rows:
            self._fruitless = 0
        self.rows, self.points = ack.rows, ack.points
        self.saved, self.saved_points = ack.saved, ack.saved_points
        if ack.judged is not None:
            self.judged.append(ack.judged)
        self.trouble = ack.trouble or self.trouble

    def bring_back(self, journal: Journal, error: Exception | None) -> None:
        """Wait until the shard is back, and send the batches that it lacks."""
        reached, self._fruitless = self.rows, self._fruitless + 1
        if error is not None:
            self.restarts += 1
        if not self.restarts_allowed and error is not None:
            raise ShardLost(
                f"{self} has died, and its trees are lost: give a checkpoint_dir to restore lost "
                f"shards. {ray_says(error)}"
            )
        if self._fruitless > MOST_RESTARTS:
            raise ShardLost(
                f"{self} has died {self._fruitless} times without learning a row in between; "
                f"perhaps its node is out of memory. {ray_says(error)}"
            )
        ack = self._answer_of_the_new()
        if ack.rows < journal.start:
            raise ShardLost(
                f"{self} came back with {ack.rows} rows, but only the rows from {journal.start} on "
                "are kept: its checkpoint is gone"
            )
        self._under_way.clear()
        self.heard(ack)
        if ack.rows <= reached:
            self._fruitless = max(self._fruitless, 1)
        for entry in journal.since(ack.rows):
            self.send(entry)

    def _answer_of_the_new(self) -> Ack:
        deadline = time.monotonic() + RESTART_SECONDS
        while True:
            try:
                calls = [self.actor.hello.remote(), self.actor.position.remote()]
                answers: tuple[Hello, Ack] = tuple(ray.get(calls))
            except RayActorError as error:
                if isinstance(error, ActorDiedError) or time.monotonic() > deadline:
                    raise ShardLost(f"{self} does not come back. {ray_says(error)}") from None
                time.sleep(PATIENCE)
            except RayTaskError as error:
                raise self.failure(error) from None
            else:
                self.hello = answers[0]
                return answers[1]

    def failure(self, error: RayTaskError) -> RayForestError:
        """Return the error of the forest for an error inside the shard."""
        if isinstance(error.cause, MemoryError):
            return MemoryShort(
                f"{self} has run out of memory: lower max_memory, or use more nodes and shards"
            )
        return ShardLost(f"{self} has failed: {error.cause!r}")


def ray_says(error: Exception | None) -> str:
    """Quote Ray's error, which may be long."""
    words = " ".join(str(error).split())
    return "" if error is None else f"Ray says: {words[:1000]}"
