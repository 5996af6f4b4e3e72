"""`/v1`: predict, label, learn, model, snapshot."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import IO, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from riparian.serve import validation
from riparian.serve.http import arrow, bulk
from riparian.serve.http.body import Bodies, json_answer
from riparian.serve.http.guard import content_type, may_only_read
from riparian.serve.http.view import View
from riparian.serve.items import Bad
from riparian.serve.refused import Refused
from riparian.serve.service import Service
from riparian.serve.state.ids import Answer
from riparian.serve.state.writer import Key
from riparian.serve.validation import parsed, rows_of

PIECE = 2**18  # bytes of a snapshot that are sent at a time


class V1:
    def __init__(self, service: Service, view: View, bodies: Bodies) -> None:
        self.service, self.view, self.bodies = service, view, bodies
        self.limits = service.options.limits

    async def predict(self, request: Request) -> Response:
        predict = partial(self.service.predict, reader=may_only_read(request.scope))
        return await self._rows(request, validation.ask_row, predict)

    async def label(self, request: Request) -> Response:
        read = partial(validation.tell_row, read_label=self.view.read_label)
        return await self._rows(request, read, self.service.label)

    async def learn(self, request: Request) -> Response:
        read = partial(validation.teach_row, read_label=self.view.read_label)
        return await self._rows(request, read, self.service.learn)

    async def _rows(
        self, request: Request, read: Callable[..., Any], do: Callable[..., Any]
    ) -> Response:
        kind = content_type(request.headers)
        if kind == bulk.NDJSON:
            if "idempotency-key" in request.headers:
                raise Refused(
                    400, "goes with a whole body; give the rows of a stream ids", "Idempotency-Key"
                )
            return bulk.json_lines(self.bodies.lines(request), read, do, self.limits)
        body = await self.bodies.read(request)
        key = self._key(request, body)
        if kind == arrow.ARROW:
            value: Any = await run_in_threadpool(arrow.rows, body, self.limits)
            answers = await self._done(value, read, do, key)
            return await run_in_threadpool(arrow.answer, answers)
        value = parsed(body, self.limits)
        answers = await self._done(value, read, do, key)
        if isinstance(value, list):
            return json_answer(answers)
        return json_answer(answers[0], int(answers[0]["status"]))

    async def _done(
        self, value: Any, read: Callable[..., Any], do: Callable[..., Any], key: Key | None
    ) -> list[Answer]:
        rows: Sequence[Any | Bad] = rows_of(value, read, self.limits)[0]
        answers: list[Answer] = await do(rows, key)
        return answers

    def _key(self, request: Request, body: bytes) -> Key | None:
        given = request.headers.get("idempotency-key")
        if given is None:
            return None
        key = validation.text(given, "Idempotency-Key", self.limits)
        asked = request.url.path.encode() + b"\0" + body
        return Key(key, hashlib.blake2b(asked, digest_size=16).digest())

    # -- the model --------------------------------------------------------------------------------

    async def model(self, request: Request) -> Response:
        return json_answer(await self.service.look(lambda: described(self.service, self.view)))

    async def take_snapshot(self, request: Request) -> Response:
        position = await self.service.snapshot()
        return json_answer({"lessons": position})

    async def snapshot(self, request: Request) -> Response:
        try:
            file = await run_in_threadpool(self.service.folder.open_snapshot)
        except OSError as error:
            raise Refused(503, f"the snapshot could not be read: {error}") from None
        headers = {
            "Content-Disposition": 'attachment; filename="model.riparian"',
            "Content-Length": str(os.fstat(file.fileno()).st_size),
        }
        return StreamingResponse(pieces(file), 200, headers, media_type="application/octet-stream")


async def pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    """Return a file piece by piece; it stays the same although another one may take its place."""
    with file:
        while piece := await run_in_threadpool(file.read, PIECE):
            yield piece


def described(service: Service, view: View) -> dict[str, Any]:
    model = service.model
    catalogue = model.catalogue
    return {
        "points": model.points,
        "task": catalogue.target.task,
        "parameters": {name: plain(value) for name, value in model.forest.get_params().items()},
        "features": catalogue.columns,
        "text_features": catalogue.texts,
        "new_features": catalogue.open_features,
        **view.about(catalogue, service.scores),
        "scored": service.scores.scores.rows,
        "pending": service.writer.waiting,
        **(learned(service) if model.points else {"stats": None, "certificate": None}),
    }


def learned(service: Service) -> dict[str, Any]:
    """Describe a forest that has learned something."""
    forest = service.model.forest
    stats = forest.stats()
    del stats["trees"]
    if "trust" in stats:  # keys of JSON
        stats["trust"] = {str(size): weight for size, weight in stats["trust"].items()}
    return {"stats": stats, "certificate": str(forest.certificate())}


def plain(value: Any) -> Any:
    """Return a parameter for JSON."""
    return value if isinstance(value, bool | int | float | str | None) else repr(value)
