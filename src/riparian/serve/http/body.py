"""Bodies of requests, within the limits of one and of all that are being read; bodies of answers."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from riparian.serve.options import Limits
from riparian.serve.refused import Overloaded, Refused

WHOLE = 4  # a whole body may take this many times as long as one part of it
SMALL = 2**16  # bytes of a body that is read even if large ones, maybe stalled, fill the memory
TOGETHER = 200  # lines
TOGETHER_BYTES = 2**20


class Bodies:
    """The bytes of bodies that are held now, and their limits."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.held = 0

    async def read(self, request: Request) -> bytes:
        """Return the whole body."""
        declared = request.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > self.limits.body:
            raise self._too_large()
        parts: list[bytes] = []
        with self._holding() as hold:
            async for part in self._parts(request, WHOLE * self.limits.timeout):
                hold(len(part))
                parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def lines(self, request: Request) -> AsyncIterator[list[bytes]]:
        """Yield the body in groups of lines, as they arrive. Only the length of a line is limited.

        A group is counted until the next one is requested: its rows take memory, too.
        """
        begun: list[bytes] = []  # parts of the line that has not ended yet
        with self._holding() as hold:
            async for part in self._parts(request, math.inf):
                *ended, rest = part.split(b"\n")
                if ended:
                    hold(-sum(map(len, begun)))
                    ended[0] = b"".join([*begun, ended[0]])
                    begun = []
                    for group in grouped(ended, min(TOGETHER_BYTES, self.limits.body)):
                        size = sum(map(len, group))
                        hold(size)
                        yield group
                        hold(-size)
                hold(len(rest))
                begun.append(rest)
            yield [b"".join(begun)]

    async def _parts(self, request: Request, most: float) -> AsyncIterator[bytes]:
        """Yield the parts of a body, which may take `most` seconds; a slower client is refused."""
        parts = request.stream()
        end = time.monotonic() + most
        while True:
            left = min(self.limits.timeout, end - time.monotonic())
            try:
                async with asyncio.timeout(left):
                    part = await anext(parts, None)
            except TimeoutError:
                raise Refused(
                    408,
                    f"the body came too slowly; send a part every {self.limits.timeout:g} seconds",
                ) from None
            if part is None:
                return
            yield part

    @contextmanager
    def _holding(self) -> Iterator[Callable[[int], None]]:
        mine = 0

        def hold(size: int) -> None:
            nonlocal mine
            mine += size
            self.held += size
            if mine > self.limits.body:
                raise self._too_large()
            if self.held > self.limits.bodies and mine > SMALL:
                raise Overloaded("too many large requests at once; try again in a second")

        try:
            yield hold
        finally:
            self.held -= mine

    def _too_large(self) -> Refused:
        return Refused(
            413, f"a body may have {self.limits.body} bytes; send several, or JSON lines"
        )


def grouped(lines: list[bytes], most: int) -> Iterator[list[bytes]]:
    """Yield groups of lines to parse and store together: few bytes each, since rows take many more."""
    group: list[bytes] = []
    size = 0
    for line in lines:
        if group and (len(group) == TOGETHER or size + len(line) > most):
            yield group
            group, size = [], 0
        group.append(line)
        size += len(line)
    if group:
        yield group


# -- answers -----------------------------------------------------------------------------------------


JSON = "application/json"
RETRY_AFTER = {"Retry-After": "1"}


def json_answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(body, status, headers, media_type=JSON)


def refusal(refused: Refused) -> Response:
    headers = RETRY_AFTER if refused.status == 503 else None
    return json_answer(refused.answer(), refused.status, headers)
