"""The Open Inference Protocol."""

from __future__ import annotations

import sqlite3
import time

import pytest

from riparian.serve.state.log import Log

from serve_running import running


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with running(tmp_path_factory.mktemp("state")) as service:
        rows = [{"features": {"a": i, "b": -i}, "label": i % 2} for i in range(20)]
        assert service.web.post("/v2/models/model/infer", json={}).status_code == 400
        assert service.web.get("/v2/models/model/ready").status_code == 400
        service.post("/v1/learn", rows)
        service.settle()
        yield service


def infer(served, **request):
    return served.web.post("/v2/models/model/infer", json=request)


def tensor(name, shape, data, datatype="FP32"):
    return {"name": name, "shape": shape, "datatype": datatype, "data": data}


def test_a_matrix_is_predicted_row_by_row(served):
    answer = infer(served, id="m", inputs=[tensor("input", [2, 2], [1, -1, 2, -2])]).json()
    outputs = {output["name"]: output for output in answer["outputs"]}
    assert answer["id"] == "m"
    assert outputs["label"]["shape"] == [2]
    assert outputs["label"]["datatype"] == "INT64"
    assert outputs["probabilities"]["shape"] == [2, 2]
    assert outputs["id"]["data"] == ["m/0", "m/1"]


def test_a_tensor_per_feature_is_the_same_and_its_label_may_come(served):
    inputs = [tensor("b", [1, 1], [-2.5]), tensor("a", [1], [2.5])]
    by_name = infer(served, id="one", inputs=inputs).json()
    matrix = infer(served, inputs=[tensor("input", [1, 2], [[2.5, -2.5]])]).json()
    assert by_name["outputs"][:2] == matrix["outputs"][:2]
    assert served.post("/v1/label", {"id": "one", "label": 1}).json()["learned"]


@pytest.mark.parametrize(
    ("inputs", "field"),
    [
        (None, "inputs"),
        ([7], "inputs[0]"),
        ([tensor("input", [1, 3], [1, 2, 3])], "inputs[0].shape"),
        ([tensor("input", [1, 2], [1])], "inputs[0].data"),
        ([tensor("input", [1, 2], [1, 2], "DATES")], "inputs[0].datatype"),
        ([tensor("input", [1, 2], [1, 2], "BYTES")], "inputs[0].data"),
        ([tensor("input", [1, 2], [1, "2"])], "inputs[0].data"),
        ([tensor("input", [-1, 2], [1, 2])], "inputs[0].shape"),
        ([tensor("a", [1], [1]), tensor("b", [2], [1, 2])], "inputs[1].shape"),
    ],
)
def test_what_is_wrong_is_named(served, inputs, field):
    answer = infer(served, inputs=inputs)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_it_says_what_it_is(served):
    about = served.web.get("/v2/models/model").json()
    assert about["inputs"][0]["shape"] == [-1, 2]
    assert served.web.get("/v2/models/model/ready").json()["ready"]
    assert served.web.get("/v2/models/other").status_code == 404
    assert served.web.get("/v2").json()["name"] == "riparian"


def test_prometheus_reads_the_numbers(served):
    text = served.web.get("/metrics").text
    assert "riparian_lessons_total 20.0" in text
    assert 'riparian_request_seconds_bucket{le="0.001",path="/v1/learn"}' in text
    assert "riparian_pending_labels" in text


def test_a_service_whose_disk_is_full_is_not_ready_until_there_is_room(tmp_path, monkeypatch):
    add, note = Log.add_lessons, Log.note

    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    row = {"features": {"a": 1}, "label": "x"}
    with running(tmp_path) as served:

        def ready():
            return served.web.get("/v2/health/ready").status_code

        assert ready() == 200
        monkeypatch.setattr(Log, "add_lessons", full)
        monkeypatch.setattr(Log, "note", full)
        assert served.post("/v1/learn", row).status_code == 503
        assert ready() == 503
        assert "disk is full" in served.web.get("/v1/status").json()["figures"]["trouble"]
        assert served.web.get("/v2/health/live").status_code == 200
        monkeypatch.setattr(Log, "add_lessons", add)
        monkeypatch.setattr(Log, "note", note)
        for _ in range(50):  # it tries by itself: a service that is not ready gets no requests
            if ready() == 200:
                break
            time.sleep(0.1)
        assert ready() == 200
