"""Many rows as a stream of JSON lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson
from starlette.responses import Response, StreamingResponse

from riparian.serve.items import Bad
from riparian.serve.options import Limits
from riparian.serve.refused import Overloaded, Refused
from riparian.serve.validation import parsed, read_or_bad

NDJSON = "application/x-ndjson"

PATIENCE = 0.02  # seconds until a stream tries again that had to wait


def json_lines(
    lines: AsyncIterator[list[bytes]],
    read: Callable[..., Any],
    do: Callable[..., Any],
    limits: Limits,
) -> Response:
    """Answer line by line, as lines arrive. Where other requests are refused, a stream waits."""
    return Both(_answers(lines, read, do, limits), media_type=NDJSON)


class Both(StreamingResponse):
    """An answer that is sent while the request is read; Starlette's class would consume the body."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.stream_response(send)


async def _answers(
    lines: AsyncIterator[list[bytes]],
    read: Callable[..., Any],
    do: Callable[..., Any],
    limits: Limits,
) -> AsyncIterator[bytes]:
    try:
        async for group in lines:
            rows = [_row(line, read, limits) for line in group if line.strip()]
            if rows:
                yield await _done(rows, do)
    except Refused as refused:  # the status was sent before
        yield orjson.dumps({"id": None, **refused.answer()}) + b"\n"


def _row(line: bytes, read: Callable[..., Any], limits: Limits) -> Any:
    try:
        value = parsed(line, limits)
    except Refused as refused:
        return Bad({"id": None, **refused.answer()})
    return read_or_bad(value, read, limits)


async def _done(rows: list[Any], do: Callable[..., Any]) -> bytes:
    while True:
        try:
            answers = await do(rows)
        except Overloaded:
            await asyncio.sleep(PATIENCE)
        else:
            return b"".join(orjson.dumps(answer) + b"\n" for answer in answers)
