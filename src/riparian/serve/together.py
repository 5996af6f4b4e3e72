"""One call for all predictions that are requested in the same turn of the event loop.

A call costs more than a point in it, and each may have to wait for a micro-batch to be learned.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from riparian.serve.items import Features, Forecast


class Together:
    def __init__(self, make: Callable[[list[Features]], list[Forecast]]) -> None:
        self._make = make
        self._asked: list[tuple[list[Features], asyncio.Future[list[Forecast]]]] = []

    async def forecasts(self, points: list[Features]) -> list[Forecast]:
        loop = asyncio.get_running_loop()
        if not self._asked:
            loop.call_soon(self._make_all)
        waiting: asyncio.Future[list[Forecast]] = loop.create_future()
        self._asked.append((points, waiting))
        return await waiting

    def _make_all(self) -> None:
        asked, self._asked = self._asked, []
        try:
            made = iter(self._make([point for points, _ in asked for point in points]))
        except Exception as error:
            for _, waiting in asked:
                if not waiting.done():
                    waiting.set_exception(error)
            return
        for points, waiting in asked:
            own = [next(made) for _ in points]
            if not waiting.done():  # the client may have disconnected
                waiting.set_result(own)
