"""What the service says of itself holds: a fuzzer of the schema finds no 5xx, and no other answer."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from riparian.serve.http.openapi import document

from serve_running import running

TRIES = 8


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with running(tmp_path_factory.mktemp("state")) as service:
        service.post("/v1/learn", [{"features": {"a": i}, "label": str(i % 2)} for i in range(9)])
        service.settle()
        yield service


schema = schemathesis.openapi.from_dict(document("model"))


@schema.parametrize()
@settings(
    max_examples=TRIES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
def test_no_request_is_answered_with_an_error_of_the_server(case, served):
    if isinstance(case.body, bytes):
        sent = {"content": case.body}
    else:
        sent = {} if type(case.body).__name__ == "NotSet" else {"json": case.body}
    answer = served.web.request(
        case.method, case.formatted_path, headers=dict(case.headers or {}), **sent
    )
    assert answer.status_code < 500, answer.text


def test_all_routes_are_described(served):
    described = set(served.web.get("/openapi.json").json()["paths"])
    routes = {route.path.replace("{name}", "model") for route in served.web.app.routes}
    assert routes - described == {"/", "/docs", "/openapi.json", "/v1/events"}
