"""The application: its routes, their metrics, and the answers to errors."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from riparian.serve.http.body import Bodies, json_answer, refusal
from riparian.serve.http.classes import ClassView
from riparian.serve.http.guard import Guard, Tokens
from riparian.serve.http.live import Live
from riparian.serve.http.metrics import Metrics
from riparian.serve.http.numbers import NumberView
from riparian.serve.http.openapi import docs_page, openapi
from riparian.serve.http.v1 import V1
from riparian.serve.http.v2 import V2
from riparian.serve.http.view import View
from riparian.serve.refused import Refused
from riparian.serve.service import Service

Endpoint = Callable[[Request], Awaitable[Response]]

VIEWS: dict[str, View] = {"classes": ClassView(), "numbers": NumberView()}


def app(service: Service, tokens: Tokens | None = None, name: str = "model") -> Starlette:
    """Return the application of a service, which starts and stops with it."""
    bodies = Bodies(service.options.limits)
    view = VIEWS[service.model.catalogue.target.task]
    metrics = Metrics(service, view)
    v1, v2 = V1(service, view, bodies), V2(service, view, bodies, name)
    live = Live(service, view, metrics, name)

    def route(path: str, endpoint: Endpoint, method: str = "GET") -> Route:
        return Route(path, _measured(endpoint, path, metrics), methods=[method])

    made = Starlette(
        routes=[
            route("/", live.page),
            route("/v1/status", live.status),
            Route("/v1/events", live.events),
            route("/v1/predict", v1.predict, "POST"),
            route("/v1/label", v1.label, "POST"),
            route("/v1/learn", v1.learn, "POST"),
            route("/v1/model", v1.model),
            Route("/v1/snapshot", _by_method(GET=v1.snapshot, POST=v1.take_snapshot),
                  methods=["GET", "POST"]),
            route("/v2", v2.server),
            route("/v2/health/live", v2.live),
            route("/v2/health/ready", v2.ready),
            route("/v2/models/{name}", v2.model),
            route("/v2/models/{name}/ready", v2.model_ready),
            route("/v2/models/{name}/infer", v2.infer, "POST"),
            route("/metrics", metrics.page),
            route("/openapi.json", lambda request: openapi(name, view.schemas)),
            route("/docs", lambda request: docs_page(name, view, service.model.catalogue)),
        ],
        middleware=[Middleware(Guard, tokens=tokens or Tokens())],
        exception_handlers={
            Refused: _refused,
            HTTPException: _http_error,
            ClientDisconnect: _gone,
        },
        lifespan=_lifespan(service, live),
    )  # fmt: skip
    made.state.live = live
    return made


def _by_method(**endpoints: Endpoint) -> Endpoint:
    async def choose(request: Request) -> Response:
        return await endpoints["GET" if request.method == "HEAD" else request.method](request)

    return choose


def _measured(endpoint: Endpoint, path: str, metrics: Metrics) -> Endpoint:
    async def measured(request: Request) -> Response:
        began = time.perf_counter()
        status = 500
        try:
            answer = await endpoint(request)
            status = answer.status_code
            return answer
        except Refused as refused:
            status = refused.status
            raise
        finally:
            metrics.request(path, status, time.perf_counter() - began)

    return measured


def _lifespan(service: Service, live: Live) -> Any:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        service.start()
        live.start()
        yield
        live.stop()
        await run_in_threadpool(service.stop)

    return lifespan


async def _refused(request: Request, refused: Any) -> Response:
    return refusal(refused)


async def _http_error(request: Request, error: Any) -> Response:
    body = {"status": error.status_code, "error": str(error.detail)}
    return json_answer(body, error.status_code, error.headers)


async def _gone(request: Request, error: Any) -> Response:
    return json_answer({"status": 499, "error": "the client has gone"}, 499)
