"""Bodies of requests, within their limits: one by one, and all that are being read; and of answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from riparian.serve.options import Limits
from riparian.serve.refused import Overloaded, Refused


class Bodies:
    """How many bytes of bodies are held at the moment."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.held = 0

    async def read(self, request: Request) -> bytes:
        """The whole body."""
        declared = request.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > self.limits.body:
            raise self._too_large()
        parts: list[bytes] = []
        with self._holding() as hold:
            async for part in request.stream():
                hold(len(part))
                parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def lines(self, request: Request) -> AsyncIterator[bytes]:
        """The body line by line, however long it is; a line may be as long as a body."""
        parts: list[bytes] = []  # of the line that has not ended yet
        with self._holding() as hold:
            async for part in request.stream():
                first, *more = part.split(b"\n")
                hold(len(first))
                parts.append(first)
                for begun in more:
                    line = b"".join(parts)
                    hold(-len(line))
                    yield line
                    hold(len(begun))
                    parts = [begun]
            yield b"".join(parts)

    @contextmanager
    def _holding(self) -> Iterator[Callable[[int], None]]:
        mine = 0

        def hold(size: int) -> None:
            nonlocal mine
            mine += size
            self.held += size
            if mine > self.limits.body:
                raise self._too_large()
            if self.held > self.limits.bodies:
                raise Overloaded("too many large requests at once; try again in a second")

        try:
            yield hold
        finally:
            self.held -= mine

    def _too_large(self) -> Refused:
        return Refused(
            413, f"a body may have {self.limits.body} bytes; send several, or JSON lines"
        )


# -- answers -----------------------------------------------------------------------------------------


JSON = "application/json"
RETRY_AFTER = {"Retry-After": "1"}


def json_answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(body, status, headers, media_type=JSON)


def refusal(refused: Refused) -> Response:
    headers = RETRY_AFTER if refused.status == 503 else None
    return json_answer(refused.answer(), refused.status, headers)
