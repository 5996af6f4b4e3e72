"""A service within the process of the test, over HTTP without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from riparian import OnlineForestClassifier
from riparian.serve.http.app import app
from riparian.serve.http.guard import Tokens
from riparian.serve.options import ServiceOptions
from riparian.serve.service import Service
from riparian.serve.state.folder import StateFolder
from riparian.serve.state.model import ServedModel


class Running:
    """A started service, its web client, and a clock that the test moves."""

    def __init__(self, service: Service, web: TestClient, clock: Clock) -> None:
        self.service, self.web, self.clock = service, web, clock

    def post(self, path: str, value: Any, **headers: str) -> Any:
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return self.web.post(path, json=value, headers=named)

    def settle(self) -> None:
        assert self.web.portal is not None
        self.web.portal.call(self.service.settled)


class Clock:
    def __init__(self, now: float = 1e9) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@contextmanager
def running(
    path: Path,
    *,
    options: ServiceOptions | None = None,
    classes: list[Any] | None = None,
    tokens: Tokens | None = None,
    clock: Clock | None = None,
    trees: int = 2,
    forest: type[OnlineForestClassifier] = OnlineForestClassifier,
    model: Callable[[], ServedModel] | None = None,
) -> Iterator[Running]:
    def start() -> ServedModel:
        if model is not None:
            return model()
        return ServedModel.new(forest(trees, random_state=0), classes)

    options, clock = options or ServiceOptions(), clock or Clock()
    folder = StateFolder.open(path, start, "new", options)
    service = Service(folder, options, clock)
    with TestClient(app(service, tokens), base_url="http://localhost") as web:
        yield Running(service, web, clock)
