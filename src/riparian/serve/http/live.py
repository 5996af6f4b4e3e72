"""The live page: how the service is doing, once per second, by server-sent events."""

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

from riparian.adaptive import AdaptiveForestClassifier
from riparian.evaluation import or_none
from riparian.model.replacements import Replacement, replacements_of
from riparian.report.figure import LONGEST_NAME, text
from riparian.serve.http.body import json_answer
from riparian.serve.http.live_page import live_page
from riparian.serve.http.metrics import Metrics
from riparian.serve.refused import Overloaded
from riparian.serve.service import Service
from riparian.serve.state.scores import LogScores

POLICY = (  # what the page itself declares, and that no other page may frame it
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
EVERY = 1.0  # seconds
SECONDS = 300  # of throughput that are shown
READERS = 50  # pages that are open at the same time
IMPORTANCES = 20  # that are shown
MOST_STEPS = 300  # of the chart of replaced trees


class Live:
    def __init__(self, service: Service, metrics: Metrics, name: str) -> None:
        self.service, self.metrics, self.name = service, metrics, name
        self.readers = 0
        self.rates: deque[dict[str, float | None]] = deque(maxlen=SECONDS)
        self._before = dict(service.writer.totals)
        self._page: str | None = None
        self._last_event = (-EVERY, b"")
        self._stopped = asyncio.Event()
        self._tick: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._tick = asyncio.create_task(self._ticking())

    def stop(self) -> None:
        """Let open pages go: they come back when there is a service again."""
        self._stopped.set()
        if self._tick is not None:
            self._tick.cancel()

    async def page(self, request: Request) -> Response:
        if self._page is None:
            adaptive = isinstance(self.service.model.forest, AdaptiveForestClassifier)
            lazy = self.service.options.lazy
            self._page = await run_in_threadpool(live_page, self.name, adaptive, lazy)
        headers = {"Cache-Control": "no-cache", "Content-Security-Policy": POLICY}
        return HTMLResponse(self._page, headers=headers)

    async def status(self, request: Request) -> Response:
        return json_answer(await run_in_threadpool(self.numbers))

    async def events(self, request: Request) -> Response:
        if self.readers >= READERS:
            raise Overloaded(f"{READERS} pages are open already")
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
        """The same for all pages that ask within half a second."""
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
        """What happened since the last mark."""
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
        return {"figures": self._figures(), "charts": self._charts()}

    def _figures(self) -> dict[str, Any]:
        service, scores = self.service, self.service.scores
        totals = service.writer.totals
        last = self.rates[-1] if self.rates else {}
        stats = service.model.forest.stats() if service.model.points else None
        return {
            "accuracy": or_none(scores.scores.accuracy),
            "recent": or_none(scores.recent.accuracy),
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
            "features": len(service.model.catalogue.columns),
            "classes": len(service.model.catalogue.labels),
            "saved": service.learner.saved,
            "drifts": len(self._replaced()),
            "set_aside": service.model.set_aside,
            "trouble": service.trouble,
        }

    def _charts(self) -> dict[str, Any]:
        scores = self.service.scores
        return {
            "accuracy": accuracy(scores),
            "mix": mix(scores),
            "calibration": calibration(scores),
            "delay": {"data": [{"y": list(scores.delays)}]},
            "throughput": self._along("predictions", "labels"),
            "latency": self._along("p50", "p99", scale=1000.0),
            "importances": self._importances(),
            "drifts": drifts(self._replaced(), self.service.model.points),
        }

    def _along(self, *names: str, scale: float = 1.0) -> dict[str, Any]:
        marks = list(self.rates)
        x = list(range(1 - len(marks), 1))
        return {"data": [{"x": x, "y": [scaled(mark[name], scale) for mark in marks]}
                         for name in names]}  # fmt: skip

    def _replaced(self) -> list[Replacement]:
        model = self.service.model
        return (replacements_of(model.forest) or []) if model.points else []

    def _importances(self) -> dict[str, Any]:
        model = self.service.model
        if model.points == 0:
            return named([], [])
        names = model.feature_names
        shares = model.forest.feature_importances_.tolist()
        pairs = sorted(zip(shares, names, strict=False), key=lambda p: (-p[0], p[1]))[:IMPORTANCES]
        return named([name for _, name in pairs], [[share for share, _ in pairs]])


def accuracy(scores: LogScores) -> dict[str, Any]:
    marks = list(scores.curve)
    x = [mark[0] for mark in marks]
    return {"data": [{"x": x, "y": [mark[i] for mark in marks]} for i in (1, 2)]}


def drifts(replaced: list[Replacement], points: int) -> dict[str, Any]:
    """How many trees were replaced up to a point: a step for each point at which one was, in a few.

    >>> drifts([(10, 0), (10, 3), (40, 1)], 50)
    {'data': [{'x': [0, 10, 40, 50], 'y': [0, 2, 3, 3]}]}
    """
    at = sorted(point for point, _ in replaced)
    steps = list(dict.fromkeys(at))
    x = [0, *steps[:: max(1, -(-len(steps) // MOST_STEPS))], points]
    return {"data": [{"x": x, "y": [bisect_right(at, point) for point in x]}]}


def mix(scores: LogScores) -> dict[str, Any]:
    labelled, predicted = dict(scores.labelled), dict(scores.predicted)
    names = sorted({*labelled, *predicted})
    return named(names, [shares(labelled, names), shares(predicted, names)])


def shares(counts: dict[str, int], names: list[str]) -> list[float]:
    total = sum(counts.values())
    return [counts.get(name, 0) / total if total else 0.0 for name in names]


def named(names: list[str], values: list[list[float]]) -> dict[str, Any]:
    """Bars with a name each; plotly would read HTML in a name."""
    places = list(range(len(names)))
    ticks = {"tickvals": places, "ticktext": [text(name, LONGEST_NAME) for name in names]}
    hover = [text(name) for name in names]
    traces = [{"x": list(each), "y": places, "customdata": hover} for each in values]
    return {"data": traces, "yaxis": ticks, "rows": len(names)}


def calibration(scores: LogScores) -> dict[str, Any]:
    """The mean confidence of each bin, how often it was right, and how many there were."""
    filled = scores.scores.calibration
    x = [bin_.confidence for bin_ in filled]
    right = {"x": x, "y": [bin_.accuracy for bin_ in filled]}
    return {"data": [{}, right, {"x": x, "y": [bin_.count for bin_ in filled]}]}


def quantiles(seconds: list[float]) -> tuple[float | None, float | None]:
    """
    >>> quantiles([]), quantiles([1.0, 2.0, 3.0])
    ((None, None), (2.0, 3.0))
    """
    if not seconds:
        return None, None
    ordered = sorted(seconds)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]


def scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale
