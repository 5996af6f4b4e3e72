"""What the service says of itself holds: a fuzzer of the schema finds no 5xx, and no other answer."""

from __future__ import annotations

import html
import json
import re

import pandas as pd
import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from riparian import OnlineForestClassifier, OnlineForestRegressor
from riparian.serve.http.classes import ClassView
from riparian.serve.http.numbers import NumberView
from riparian.serve.http.openapi import document
from riparian.serve.state.model import ServedModel

from serve_running import running

TRIES = 8  # fresh ones in each run


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with running(tmp_path_factory.mktemp("state")) as service:
        service.post("/v1/learn", [{"features": {"a": i}, "label": str(i % 2)} for i in range(9)])
        service.settle()
        yield service


@pytest.fixture(scope="module")
def served_numbers(tmp_path_factory):
    path = tmp_path_factory.mktemp("numbers")
    with running(path, forest=OnlineForestRegressor) as service:
        service.post("/v1/learn", [{"features": {"a": i}, "label": i / 7} for i in range(9)])
        service.settle()
        yield service


schema = schemathesis.openapi.from_dict(document("model", ClassView.schemas))
of_numbers = schemathesis.openapi.from_dict(document("model", NumberView.schemas))
drawn = settings(max_examples=TRIES, deadline=None, suppress_health_check=list(HealthCheck))


@schema.parametrize()
@drawn
def test_no_request_is_answered_with_an_error_of_the_server(case, served):
    check_answer(case, served)


@of_numbers.parametrize()
@drawn
def test_no_request_of_numbers_is_answered_with_an_error_of_the_server(case, served_numbers):
    check_answer(case, served_numbers)


def test_the_description_has_the_labels_of_the_task(served_numbers):
    described = served_numbers.web.get("/openapi.json").json()
    body = described["paths"]["/v1/label"]["post"]["requestBody"]["content"]["application/json"]
    label = body["schema"]["anyOf"][0]["properties"]["label"]
    assert (label["type"], label["maximum"]) == ("number", 2.0**500)
    assert "&quot;label&quot;: 21.5" in served_numbers.web.get("/docs").text


def test_bodies_to_try_out_have_the_features_and_labels_of_the_model(tmp_path):
    frame = pd.DataFrame(
        {
            "when": ["2024-01-01 10:00", "2024-01-02 11:00"] * 20,
            "city": ["Oslo", "Rome"] * 20,
            "load": 1.5,
        }
    )
    model = OnlineForestClassifier(2, random_state=0).fit(frame, ["ok", "fault"] * 20)
    with running(tmp_path, model=lambda: ServedModel.of(model)) as served:
        page = html.unescape(served.web.get("/docs").text)
        bodies = [
            json.loads(text) for text in re.findall(r"<textarea[^>]*>(.*?)</textarea>", page, re.S)
        ]
        learn = next(body for body in bodies if {*body} == {"features", "label"})
        assert {*learn["features"]} == {"when", "city", "load"} and learn["label"] == "fault"
        assert served.web.post("/v1/learn", json=learn).status_code == 200


def check_answer(case, served):
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
