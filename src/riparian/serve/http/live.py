"""The live page, and its numbers once per second, by server-sent events."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from riparian.model.replacements import Replacement, replacements_of
from riparian.model.trust import head_name
from riparian.serve.http.body import json_answer
from riparian.serve.http.live_charts import named
from riparian.serve.http.live_page import live_page
from riparian.serve.http.metrics import Metrics
from riparian.serve.http.view import View
from riparian.serve.refused import Overloaded
from riparian.serve.service import Service

POLICY = (  # that of the page itself; and no other page may frame it
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
EVERY = 1.0  # seconds
SECONDS = 300  # of throughput to show
READERS = 50  # pages that are open at the same time
IMPORTANCES = 20  # to show
MOST_STEPS = 300  # of the chart of replaced trees


class Live:
    def __init__(self, service: Service, view: View, metrics: Metrics, name: str) -> None:
        self.service, self.view, self.metrics, self.name = service, view, metrics, name
        self.readers = 0
        self.rates: deque[dict[str, float | None]] = deque(maxlen=SECONDS)
        self.trust: list[tuple[int, list[float]]] = []  # points, and the weight of each size
        self._before = dict(service.writer.totals)
        self._page: str | None = None
        self._sizes: list[str] = []  # of the cells in the page
        self._last_event = (-EVERY, b"")
        self._stopped = asyncio.Event()
        self._tick: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._tick = asyncio.create_task(self._ticking())

    def stop(self) -> None:
        """Close the streams of open pages: they connect again when there is a service."""
        self._stopped.set()
        if self._tick is not None:
            self._tick.cancel()

    async def page(self, request: Request) -> Response:
        sizes = [*self._trust()]  # none before the first point
        if self._page is None or sizes != self._sizes:
            adaptive = "drift_confidence" in self.service.model.forest.get_params()
            lazy = self.service.options.lazy
            self._page = await run_in_threadpool(
                live_page, self.name, self.view, adaptive, lazy, sizes
            )
            self._sizes = sizes
        headers = {"Cache-Control": "no-cache", "Content-Security-Policy": POLICY}
        return HTMLResponse(self._page, headers=headers)

    async def status(self, request: Request) -> Response:
        return json_answer(await run_in_threadpool(self.numbers))

    async def events(self, request: Request) -> Response:
        if self.readers >= READERS:
            raise Overloaded(f"{READERS} pages are already open")
        return StreamingResponse(
            self._events(), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

    async def _events(self) -> AsyncIterator[bytes]:
        self.readers += 1
        try:
            yield b"retry: 1000\n\n"
            while not self._stopped.is_set():
                yield await self._event()
                await self._pause()
        finally:
            self.readers -= 1

    async def _event(self) -> bytes:
        """Return the event, the same for all pages that ask within half a second."""
        made, event = self._last_event
        if time.monotonic() - made > EVERY / 2:
            numbers = await run_in_threadpool(self.numbers)
            event = b"data: " + orjson.dumps(numbers) + b"\n\n"
            self._last_event = time.monotonic(), event
        return event

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._stopped.wait(), EVERY)
        except TimeoutError:
            return

    async def _ticking(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            self.mark()

    def mark(self) -> None:
        """Record what happened since the last mark."""
        now = dict(self.service.writer.totals)
        since = {name: now[name] - self._before[name] for name in now}
        self._before = now
        p50, p99 = quantiles(list(self.metrics.recent))
        self.metrics.recent.clear()
        self.rates.append({
            "predictions": since["asked"] / EVERY,
            "labels": (since["labelled"] + since["taught"]) / EVERY,
            "p50": p50,
            "p99": p99,
        })  # fmt: skip

    # -- the numbers ------------------------------------------------------------------------------

    def numbers(self) -> dict[str, Any]:
        figures = self._figures()
        return {"figures": figures, "charts": self._charts(), "bad": bad(self.view, figures)}

    def _figures(self) -> dict[str, Any]:
        service, scores = self.service, self.service.scores
        catalogue = service.model.catalogue
        totals = service.writer.totals
        last = self.rates[-1] if self.rates else {}
        stats = service.model.forest.stats() if service.model.points else None
        return {
            **self.view.figures(catalogue, scores),
            "scored": scores.scores.rows,
            "points": service.model.points,
            "pending": service.writer.waiting,
            "expired": totals["expired"] + totals["dropped"],
            "backlog": service.backlog.rows,
            "predictions_rate": last.get("predictions"),
            "labels_rate": last.get("labels"),
            "p50": last.get("p50"),
            "p99": last.get("p99"),
            "leaves": None if stats is None else stats["leaves"],
            "memory": None if stats is None else service.model.forest.memory()["total"],
            "features": len(catalogue.columns),
            "saved": service.learner.saved,
            "unsaved": max(0, service.learner.position - service.learner.saved),
            "drifts": len(self._replaced()),
            "set_aside": service.model.set_aside,
            "trouble": service.trouble,
        }

    def _charts(self) -> dict[str, Any]:
        scores = self.service.scores
        return {
            **self.view.charts(scores),
            "delay": {"data": [{"y": list(scores.delays)}]},
            "throughput": self._along("predictions", "labels"),
            "latency": self._along("p50", "p99", scale=1000.0),
            "importances": self._importances(),
            "drifts": drifts(self._replaced(), self.service.model.points),
            "trust": self._trusted(),
        }

    def _along(self, *names: str, scale: float = 1.0) -> dict[str, Any]:
        marks = list(self.rates)
        x = list(range(1 - len(marks), 1))
        return {"data": [{"x": x, "y": [scaled(mark[name], scale) for mark in marks]}
                         for name in names]}  # fmt: skip

    def _replaced(self) -> list[Replacement]:
        model = self.service.model
        return (replacements_of(model.forest) or []) if model.points else []

    def _trust(self) -> dict[str, float]:
        """Return the weight of each head by its name (R25); empty for a forest without heads."""
        engine = self.service.model.forest.model_.engine if self.service.model.points else None
        trust = None if engine is None else engine.trust()
        return {head_name(head): weight for head, weight in (trust or {}).items()}

    def _trusted(self) -> dict[str, Any]:
        points, weights = self.service.model.points, list(self._trust().values())
        if weights and (not self.trust or self.trust[-1][0] != points):
            self.trust.append((points, weights))
        if len(self.trust) > MOST_STEPS:
            del self.trust[:-1:2]
        x = [points for points, _ in self.trust]
        sizes = range(len(weights))
        return {"data": [{"x": x, "y": [mark[1][i] for mark in self.trust]} for i in sizes]}

    def _importances(self) -> dict[str, Any]:
        model = self.service.model
        if model.points == 0:
            return named([], [])
        names = model.feature_names
        shares = model.forest.feature_importances_.tolist()
        pairs = sorted(zip(shares, names, strict=False), key=lambda p: (-p[0], p[1]))[:IMPORTANCES]
        return named([name for _, name in pairs], [[share for share, _ in pairs]])


def bad(view: View, figures: dict[str, Any]) -> list[str]:
    """Return the names of the numbers that need attention."""
    lost = [name for name in ("set_aside", "expired") if figures[name]]
    return [*view.bad(figures), *lost]


def drifts(replaced: list[Replacement], points: int) -> dict[str, Any]:
    """Return how many trees were replaced up to a point, in at most some hundred steps.

    >>> drifts([(10, 0), (10, 3), (40, 1)], 50)
    {'data': [{'x': [0, 10, 40, 50], 'y': [0, 2, 3, 3]}]}
    """
    at = sorted(point for point, _ in replaced)
    steps = list(dict.fromkeys(at))
    x = [0, *steps[:: max(1, -(-len(steps) // MOST_STEPS))], points]
    return {"data": [{"x": x, "y": [bisect_right(at, point) for point in x]}]}


def quantiles(seconds: list[float]) -> tuple[float | None, float | None]:
    """Return the median and the 99th percentile.

    >>> quantiles([]), quantiles([1.0, 2.0, 3.0])
    ((None, None), (2.0, 3.0))
    """
    if not seconds:
        return None, None
    ordered = sorted(seconds)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]


def scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale
