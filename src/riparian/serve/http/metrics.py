"""Numbers for Prometheus, by its naming rules."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from riparian.model.replacements import replacements_of
from riparian.serve.http.view import View
from riparian.serve.service import Service
from riparian.serve.state.scores import DELAYS

FAST = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
RECENT = 2000  # requests whose times are kept for the page

COUNTED = {
    "asked": ("riparian_predictions", "Predictions that were stored"),
    "labelled": ("riparian_labels", "Labels that came for a prediction"),
    "taught": ("riparian_lessons", "Points that came with their label"),
    "expired": ("riparian_expired", "Ids that waited too long for their label"),
    "dropped": ("riparian_dropped", "Ids that had to go because too many waited"),
    "failures": ("riparian_write_failures", "Transactions that could not be written"),
    "commits": ("riparian_commits", "Transactions that were written"),
}


class Metrics:
    def __init__(self, service: Service, view: View) -> None:
        self.service, self.view = service, view
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "riparian_requests", "Requests by path and status", ["path", "status"],
            registry=self.registry,
        )  # fmt: skip
        self.seconds = self._histogram("riparian_request_seconds", "Time to answer", ["path"])
        self.delay = Histogram(
            "riparian_label_delay_seconds", "Time from a prediction to its label",
            buckets=DELAYS, registry=self.registry,
        )  # fmt: skip
        self.commit = self._histogram("riparian_commit_seconds", "Time to write a transaction")
        self.learn = self._histogram("riparian_learn_seconds", "Time to learn a micro-batch")
        self.recent: deque[float] = deque(maxlen=RECENT)  # seconds of the last predictions
        ProcessCollector(registry=self.registry)
        self.registry.register(self)
        service.writer.observe = self._committed
        service.learner.observe = lambda lessons, seconds: self.learn.observe(seconds)

    def request(self, path: str, status: int, seconds: float) -> None:
        self.requests.labels(path, status).inc()
        self.seconds.labels(path).observe(seconds)
        if path == "/v1/predict":
            self.recent.append(seconds)

    async def page(self, request: Request) -> Response:
        data = await run_in_threadpool(generate_latest, self.registry)
        return Response(data, headers={"Content-Type": CONTENT_TYPE_LATEST})

    def collect(self) -> Iterator[Any]:
        """Return the counts and scores of the service, read when metrics are requested."""
        service = self.service
        for name, (metric, text) in COUNTED.items():
            yield CounterMetricFamily(metric, text, value=service.writer.totals[name])
        model = service.model
        yield gauge("riparian_pending_labels", "Ids that wait for a label", service.writer.waiting)
        yield gauge("riparian_backlog_rows", "Rows accepted and not yet done", service.backlog.rows)
        yield gauge("riparian_points", "Points that the model has learned", model.points)
        yield gauge("riparian_snapshot_lessons", "The last lesson in the snapshot",
                    service.learner.saved)  # fmt: skip
        yield gauge("riparian_set_aside_lessons", "Lessons of the log that could not be learned",
                    model.set_aside)  # fmt: skip
        for metric, text, value in self.view.gauges(service.scores):
            if not math.isnan(value):
                yield gauge(metric, text, value)
        replaced = replacements_of(model.forest) if model.points else None
        if replaced is not None:
            yield CounterMetricFamily(
                "riparian_drifts", "Trees replaced because their error rose", value=len(replaced)
            )
        if model.points:
            stats = model.forest.stats()
            yield gauge("riparian_leaves", "Leaves of all trees", stats["leaves"])
            yield gauge("riparian_forest_bytes", "What the forest holds",
                        model.forest.memory()["total"])  # fmt: skip

    def _histogram(self, name: str, text: str, labels: list[str] | None = None) -> Histogram:
        return Histogram(name, text, labels or [], buckets=FAST, registry=self.registry)

    def _committed(self, delays: list[float], seconds: float) -> None:
        self.commit.observe(seconds)
        for delay in delays:
            self.delay.observe(delay)


def gauge(name: str, text: str, value: float) -> Any:
    return GaugeMetricFamily(name, text, value=value)
