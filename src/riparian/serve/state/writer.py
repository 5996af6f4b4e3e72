"""One thread stores what is accepted. Requests that wait together share a transaction and its fsync."""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from riparian.serve.items import Item, Lesson
from riparian.serve.options import ServiceOptions
from riparian.serve.refused import Overloaded, Refused
from riparian.serve.state.backlog import Backlog
from riparian.serve.state.catalogue import Catalogue
from riparian.serve.state.changes import Changes
from riparian.serve.state.checkpoints import Checkpoints
from riparian.serve.state.ids import Answer, Ids, Staged, ids_of
from riparian.serve.state.log import Log, any_bytes

GROUP = 1000  # rows, more or less, that share a transaction
TRIMMED = 5000  # rows that one transaction removes at most, so that no request waits long
PROBE_EVERY = 1.0  # seconds between attempts to write, after a failure
PROBE = "x" * 2**16  # a full disk may still have room for a few bytes
TIDY_EVERY = 1.0  # seconds between searches for expired ids


@dataclass(frozen=True, slots=True)
class Key:
    """An idempotency key, and a digest of the request that came with it."""

    text: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Job:
    """The rows of one request, and the function that takes their answers."""

    items: list[Item]
    key: Key | None
    done: Callable[[list[Answer] | Refused], None]


class Writer:
    """The thread that writes. `totals` are counts since the start; any thread may read them."""

    def __init__(
        self,
        log: Log,
        catalogue: Catalogue,
        options: ServiceOptions,
        backlog: Backlog,
        learn: Callable[[list[tuple[int, Lesson]]], None],
        tell_all: Callable[[list[Callable[[], None]]], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.log, self.options, self.backlog, self.clock = log, options, backlog, clock
        self.catalogue = catalogue  # of all that is stored
        self.trouble: str | None = None  # why the last write failed, if it did
        self._waiting = log.waiting()
        self.totals = dict.fromkeys(
            ("asked", "labelled", "taught", "expired", "dropped", "failures", "commits"), 0
        )
        self.observe: Callable[[list[float], float], None] = lambda delays, seconds: None
        self._checkpoints = Checkpoints(log)
        self._ids = Ids(options.wait)
        self._learn, self._tell_all = learn, tell_all
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._trim_to = 0
        self._tidied = 0.0
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    @property
    def waiting(self) -> int:
        """Ids that wait for their label."""
        return sum(self._waiting)

    def start(self) -> None:
        self._checkpoints.start()
        self._thread.start()

    def put(self, job: Job) -> None:
        self._jobs.put(job)

    def trim(self, up_to: int) -> None:
        """Let the lessons up to this one be trimmed: a snapshot has them."""
        self._trim_to = up_to
        self._jobs.put(Job([], None, lambda answer: None))  # the thread may have no other job

    def stop(self) -> None:
        """Store what was put, then stop the thread."""
        self._jobs.put(None)
        self._thread.join()
        self._checkpoints.stop()

    # -- the thread -------------------------------------------------------------------------------

    def _run(self) -> None:
        while (jobs := self._group()) is not None:
            if jobs:
                self._do(jobs)
            else:
                self._probe()

    def _do(self, jobs: list[Job]) -> None:
        began = time.perf_counter()
        try:
            answers, staged = self._store(jobs)
        except sqlite3.Error as error:
            self.trouble = f"the log could not be written: {error}"
            self._fail(jobs, Overloaded(self.trouble))
        except Exception as error:  # a bug must not stop the thread
            if len(jobs) > 1:  # only the request that caused it should fail
                for job in jobs:
                    self._do([job])
                return
            traceback.print_exc()
            self._fail(jobs, Refused(500, f"{type(error).__name__}: {error}"))
        else:
            self._commit(jobs, answers, staged, time.perf_counter() - began)

    def _probe(self) -> None:
        """Check whether the log can be written again: without requests, no other write would show it."""
        try:
            with self.log.transaction():
                self.log.note("probe", PROBE)
            with self.log.transaction():
                self.log.note("probe", "")
        except sqlite3.Error as error:
            self.trouble = f"the log could not be written: {error}"
        else:
            self.trouble = None

    def _group(self) -> list[Job] | None:
        """Return the jobs that wait; None at the end. There are none only if the last write failed."""
        try:
            first = self._jobs.get(timeout=None if self.trouble is None else PROBE_EVERY)
        except queue.Empty:
            return []
        if first is None:
            return None
        jobs, rows = [first], len(first.items)
        while rows < GROUP:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self._jobs.put(None)  # for the next time
                break
            jobs.append(job)
            rows += len(job.items)
        return jobs

    def _store(self, jobs: list[Job]) -> tuple[list[list[Answer] | Refused], Staged]:
        now = self.clock()
        with self.log.transaction():
            ids = {id for job in jobs for item in job.items for id in ids_of(item)}
            staged = Staged(Changes(self.log, ids), self.catalogue, self._waiting)
            answers = [self._answer(job, now, staged) for job in jobs]
            staged.lessons = staged.changes.write()
            self._tidy(now, staged)
            self._trim()
        return answers, staged

    def _answer(self, job: Job, now: float, staged: Staged) -> list[Answer] | Refused:
        if job.key is None:
            return [self._ids.answer(item, now, staged) for item in job.items]
        known = self.log.answer_of(job.key.text, now - self.options.wait)
        if known is None:
            made = [self._ids.answer(item, now, staged) for item in job.items]
            self.log.add_key(job.key.text, now, job.key.digest, any_bytes(made))
            return made
        if known[0] != job.key.digest:
            return Refused(422, "the key was used for another request", "Idempotency-Key")
        again: list[Answer] = orjson.loads(known[1])
        return again

    def _tidy(self, now: float, staged: Staged) -> None:
        """Remove ids that waited too long, some at a time, and ids beyond the limit."""
        if abs(now - self._tidied) >= TIDY_EVERY:
            self._tidied = now
            for reader, expired in enumerate(
                self.log.remove_older(now - self.options.wait, TRIMMED)
            ):
                staged.expired += expired
                staged.wait(reader, -expired)
        # Counted separately: a client that may only read must not push out an id of one that may write.
        for reader, waiting in enumerate(staged.waiting):
            dropped = waiting - self.options.pending
            if dropped > 0:
                self.log.remove_oldest_waiting(reader, dropped)
                staged.dropped += dropped
                staged.wait(reader, -dropped)

    def _trim(self) -> None:
        if self._trim_to and not self.options.keep_log:
            if self.log.trim(self._trim_to, TRIMMED):
                self._jobs.put(Job([], None, lambda answer: None))  # there may be more
            else:
                self._trim_to = 0

    def _commit(
        self, jobs: list[Job], answers: list[list[Answer] | Refused], staged: Staged, seconds: float
    ) -> None:
        """Apply a transaction in memory, now that it is on disk, and answer."""
        self.catalogue, self._waiting = staged.catalogue, staged.waiting
        self._checkpoints.written()
        if any(job.items for job in jobs):
            self.trouble = None
        self.totals["commits"] += 1
        for name in ("asked", "labelled", "taught", "expired", "dropped"):
            self.totals[name] += getattr(staged, name)
        rows = sum(len(job.items) for job in jobs)
        self.backlog.done(rows - len(staged.lessons))
        if staged.lessons:
            self._learn(staged.lessons)
        self._tell(zip(jobs, answers, strict=True))
        self.observe(staged.delays, seconds)

    def _fail(self, jobs: list[Job], refused: Refused) -> None:
        """Answer that nothing was stored; the client may try again."""
        self.totals["failures"] += 1
        self.backlog.done(sum(len(job.items) for job in jobs))
        self._tell((job, refused) for job in jobs)

    def _tell(self, pairs: Any) -> None:
        self._tell_all([partial(job.done, answer) for job, answer in pairs])
