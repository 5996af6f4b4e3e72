"""One thread learns what is stored, in its order, and takes snapshots while others predict."""

from __future__ import annotations

import queue
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from riparian.serve.items import Lesson
from riparian.serve.state.backlog import Backlog
from riparian.serve.state.model import ServedModel
from riparian.serve.state.scores import LogScores

AIM = 0.001  # seconds that a micro-batch should take: readers wait no longer than that
MOST = 256  # lessons of a micro-batch


Result = TypeVar("Result")


@dataclass(frozen=True)
class Errand:
    """A call that this thread makes for another one, between two micro-batches."""

    answer: Future[Any]
    do: Callable[[], Any]

    def run(self) -> None:
        try:
            self.answer.set_result(self.do())
        except Exception as error:
            self.answer.set_exception(error)


class Learner:
    """`position` is the number of the last lesson that the model has."""

    def __init__(
        self,
        model: ServedModel,
        scores: LogScores,
        position: int,
        backlog: Backlog,
        save: Callable[[ServedModel, LogScores, int], None],
        every: float,
    ) -> None:
        self.model, self.scores, self.position, self.backlog = model, scores, position, backlog
        self.saved = position  # the position of the last snapshot
        self.saved_at = time.monotonic()
        self.save_failure: str | None = None  # of the last attempt
        self.observe: Callable[[int, float], None] = lambda lessons, seconds: None
        self._save, self._every = save, every
        self._work: queue.SimpleQueue[list[tuple[int, Lesson]] | Errand | None]
        self._work = queue.SimpleQueue()
        self._looks: queue.SimpleQueue[Errand] = queue.SimpleQueue()
        # Seconds of work per lesson, as measured; without waiting for other threads.
        self._each = 1e-4
        self._thread = threading.Thread(target=self._run, name="learner", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, lessons: list[tuple[int, Lesson]]) -> None:
        self._work.put(lessons)

    def snapshot(self) -> Future[int]:
        """Take a snapshot after all that was put before. Its result is its position, or an error."""
        errand = Errand(Future(), self._snapshot)
        self._work.put(errand)
        return errand.answer

    def between(self, look: Callable[[], Result]) -> Future[Result]:
        """Call `look` between two micro-batches.

        Elsewhere, learning would wait for a long look at the forest, and predictions for the learning.
        """
        errand = Errand(Future(), look)
        self._looks.put(errand)
        self._work.put([])  # wakes the thread
        return errand.answer

    def stop(self) -> None:
        """Learn what was put, save, and stop the thread."""
        self._work.put(None)
        self._thread.join()

    # -- the thread -------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._work_on()
        except Exception as error:  # the model is no longer what the log says: stop here
            traceback.print_exc()
            self.backlog.closed = f"learning failed ({type(error).__name__}: {error}); restart"

    def _work_on(self) -> None:
        while True:
            work = self._next()
            if isinstance(work, list):
                self._learn(work)
            elif isinstance(work, Errand):
                work.run()
            elif work is None:
                break
            self._look_around()
            if self._due():
                self._take()
        if self.position > self.saved:
            self._take()

    def _next(self) -> list[tuple[int, Lesson]] | Errand | str | None:
        try:
            return self._work.get(timeout=1.0)
        except queue.Empty:
            return "nothing yet"

    def _learn(self, lessons: list[tuple[int, Lesson]]) -> None:
        done = 0
        while done < len(lessons):
            size = max(1, min(MOST, int(AIM / self._each)))
            self._learn_batch(lessons[done : done + size])
            self._look_around()
            done += size

    def _look_around(self) -> None:
        while not self._looks.empty():
            self._looks.get().run()

    def _learn_batch(self, batch: list[tuple[int, Lesson]]) -> None:
        began, worked = time.perf_counter(), time.thread_time()
        learned = self.model.learn([lesson for _, lesson in batch])
        seconds, worked = time.perf_counter() - began, time.thread_time() - worked
        for lesson in learned:
            self.scores.add(lesson)
        self.position = batch[-1][0]
        self.backlog.done(len(batch))
        self._each += 0.1 * (worked / len(batch) - self._each)
        self.observe(len(batch), seconds)

    def _due(self) -> bool:
        late = time.monotonic() - self.saved_at >= self._every
        return late and self.position > self.saved

    def _snapshot(self) -> int:
        if self.position > self.saved:
            self._take_or_raise()
        return self.saved

    def _take(self) -> None:
        try:
            self._take_or_raise()
        except OSError:  # a full disk: the log has everything, and the next snapshot will have it
            self.saved_at = time.monotonic()

    def _take_or_raise(self) -> None:
        try:
            self._save(self.model, self.scores, self.position)
        except OSError as error:
            self.save_failure = str(error)
            raise
        self.saved, self.saved_at, self.save_failure = self.position, time.monotonic(), None
