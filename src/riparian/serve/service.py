"""A service: its state, and what it does with the rows of a request."""

from __future__ import annotations

import asyncio
import gc
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from riparian.serve.items import Ask, Bad, Features, Forecast, Item, Teach, Tell
from riparian.serve.options import ServiceOptions
from riparian.serve.refused import Refused
from riparian.serve.state.backlog import Backlog
from riparian.serve.state.folder import StateFolder
from riparian.serve.state.ids import Answer, ask_answer
from riparian.serve.state.learner import Learner
from riparian.serve.state.model import ServedModel
from riparian.serve.state.scores import LogScores
from riparian.serve.state.writer import Job, Key, Writer
from riparian.serve.together import Together
from riparian.serve.validation import AskRow, TeachRow, TellRow

INLINE = 32  # rows of one request that are predicted before other requests get their turn

# A thread that holds the interpreter gives it up after this long (Python's default is 5 ms): a
# prediction should not wait for rows being prepared for learning.
SWITCH = 0.0001

Result = TypeVar("Result")


class Service:
    def __init__(
        self, folder: StateFolder, options: ServiceOptions, clock: Callable[[], float] = time.time
    ) -> None:
        self.folder, self.options, self.clock = folder, options, clock
        self.started = clock()
        self.backlog = Backlog(options.limits.backlog)
        self.learner = Learner(
            folder.model, folder.scores, folder.position, self.backlog, self._save,
            options.snapshot_every,
        )  # fmt: skip
        self.learner.saved = folder.saved
        self.writer = Writer(
            folder.log, folder.model.catalogue, options, self.backlog,
            self.learner.put, self._tell_all, clock,
        )  # fmt: skip
        self._together = Together(lambda points: folder.model.forecasts(points))
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def model(self) -> ServedModel:
        return self.folder.model

    @property
    def scores(self) -> LogScores:
        return self.folder.scores

    def start(self) -> None:
        """Begin to write and learn. Call it in the event loop that takes the requests."""
        sys.setswitchinterval(SWITCH)
        gc.freeze()  # these objects stay: to look through them again would stop all requests
        self._loop = asyncio.get_running_loop()
        self.learner.start()
        self.writer.start()

    def stop(self) -> None:
        """Store, learn and save what was accepted, then close."""
        self.writer.stop()
        self.learner.stop()
        if not self.options.keep_log:
            self._trim()
        self.folder.close()
        gc.unfreeze()

    @property
    def trouble(self) -> str | None:
        """Why the model is not saved up to the last lesson, or will not be; None if all is well."""
        return self.backlog.closed or self.writer.trouble or self.learner.save_failure

    def _trim(self) -> None:
        with self.folder.log.transaction():
            self.folder.log.trim(self.learner.saved, sys.maxsize >> 1)

    def _save(self, model: ServedModel, scores: LogScores, position: int) -> None:
        self.folder.save(model, scores, position)
        self.writer.trim(position)

    # -- requests -------------------------------------------------------------------------------

    async def predict(
        self, rows: Sequence[AskRow | Bad], key: Key | None = None, reader: bool = False
    ) -> list[Answer]:
        """Predict rows. The ids of a `reader`, a client that may only read, are counted separately."""
        self.backlog.take(len(rows))
        try:
            forecasts = await self._forecasts([r.features for r in rows if isinstance(r, AskRow)])
        except BaseException:
            self.backlog.done(len(rows))
            raise
        items: list[Item] = [
            row if isinstance(row, Bad)
            else Ask(*self._id(row.id), row.features, next(forecasts), reader)
            for row in rows
        ]  # fmt: skip
        if self.options.lazy and key is None and not any(row_id_given(item) for item in items):
            return self._answer_first(items)
        return await self._stored(items, key)

    async def label(self, rows: Sequence[TellRow | Bad], key: Key | None = None) -> list[Answer]:
        self.backlog.take(len(rows))
        items: list[Item] = [
            row if isinstance(row, Bad) else Tell(row.id, row.label) for row in rows
        ]
        return await self._stored(items, key)

    async def learn(self, rows: Sequence[TeachRow | Bad], key: Key | None = None) -> list[Answer]:
        self.backlog.take(len(rows))
        try:
            forecasts = await self._forecasts([r.features for r in rows if isinstance(r, TeachRow)])
        except BaseException:
            self.backlog.done(len(rows))
            raise
        items: list[Item] = [
            row if isinstance(row, Bad)
            else Teach(*self._id(row.id), row.features, row.label, row.weight, next(forecasts))
            for row in rows
        ]  # fmt: skip
        return await self._stored(items, key)

    async def snapshot(self) -> int:
        """Take a snapshot now, and return the number of the last lesson in it."""
        if self.backlog.closed is not None:
            raise Refused(503, self.backlog.closed)
        try:
            return await asyncio.wrap_future(self.learner.snapshot())
        except OSError as error:
            raise Refused(503, f"the snapshot could not be written: {error}") from None

    async def look(self, look: Callable[[], Result]) -> Result:
        """Return what `look` returns; a long look at the forest is made between two micro-batches."""
        if self.backlog.closed is not None:  # the learner has ended
            return look()
        return await asyncio.wrap_future(self.learner.between(look))

    async def settled(self) -> None:
        """Wait until all that was accepted is learned."""
        while self.backlog.rows:
            await asyncio.sleep(0.001)

    # -- how --------------------------------------------------------------------------------------

    def _id(self, given: str | None) -> tuple[str, bool]:
        """Return the id, and whether it was given. Generated ids follow time, so inserts append."""
        if given is not None:
            return given, True
        return f"{int(self.clock() * 1000):012x}{secrets.token_hex(10)}", False

    async def _forecasts(self, points: list[Features]) -> Any:
        made: list[Forecast] = []
        for first in range(0, len(points), INLINE):
            made += await self._together.forecasts(points[first : first + INLINE])
        return iter(made)

    def _answer_first(self, items: list[Item]) -> list[Answer]:
        """Answer before it is on disk: a crash may forget these predictions."""
        checked = [self._checked(item) for item in items]
        self.writer.put(Job(checked, None, lambda answer: None))
        target = self.writer.catalogue.target
        return [
            ask_answer(target, item.id, item.forecast) if isinstance(item, Ask) else item.answer
            for item in checked
            if isinstance(item, Ask | Bad)
        ]

    def _checked(self, item: Item) -> Item:
        """Check an item as the writer would, which cannot refuse it once the answer is sent."""
        if isinstance(item, Ask):
            try:
                self.writer.catalogue.check_features(item.features)
            except Refused as refused:
                return Bad({"id": item.id, **refused.answer()})
        return item

    async def _stored(self, items: list[Item], key: Key | None) -> list[Answer]:
        assert self._loop is not None
        waiting: asyncio.Future[list[Answer] | Refused] = self._loop.create_future()

        def done(answer: list[Answer] | Refused) -> None:
            if not waiting.done():  # the client may have disconnected
                waiting.set_result(answer)

        self.writer.put(Job(items, key, done))
        answer = await waiting
        if isinstance(answer, Refused):
            raise answer
        return answer

    def _tell_all(self, calls: list[Callable[[], None]]) -> None:
        """Pass answers from the writer to the event loop, once for a whole transaction."""
        assert self._loop is not None
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(lambda: [call() for call in calls])


def row_id_given(item: Item) -> bool:
    return isinstance(item, Ask) and item.given
