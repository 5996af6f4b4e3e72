"""Forests with categorical columns (R22): with `--new`, a text makes the feature categorical."""

from __future__ import annotations

import io
import json
import random

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import riparian
from riparian import OnlineForestClassifier
from riparian.serve.items import Lesson
from riparian.serve.options import ServiceOptions
from riparian.serve.state.folder import StateFolder
from riparian.serve.state.model import ServedModel

from serve_running import running

pytestmark = pytest.mark.engine


def lessons(n, seed=0):
    """Numbers, texts, features that come late, and some that are missing."""
    draw = random.Random(seed)
    made = []
    for i in range(n):
        city = draw.choice(["Oslo", "Rome", "Ulm", f"city {draw.randrange(9)}"])
        features = {"size": draw.random(), "city": draw.choice([city, city, None])}
        if i > n // 3:
            features["late"] = draw.choice(["a", "b", None])
        if i > n // 2:
            features["number"] = draw.choice([1, 2.5, True, None])
        label = "big" if (city in ("Oslo", "Ulm")) != (draw.random() < 0.1) else "small"
        made.append(Lesson(features, label, 1.0, None, 0.0, 0.0, 0.0))
    return made


def start(trees=3, **parameters):
    return ServedModel.new(OnlineForestClassifier(trees, random_state=0, **parameters), None)


@pytest.mark.parametrize("parameters", [{}, {"max_memory": "2MB"}, {"kept_points": 0}])
def test_batches_and_snapshots_change_no_bit(parameters):
    given = lessons(240)
    whole = start(**parameters)
    whole.learn(given)
    assert whole.catalogue.texts == ["city", "late"]
    assert set(whole.catalogue.columns) == {"city", "size", "late", "number"}
    pieces = start(**parameters)
    for first in range(0, 240, 7):
        pieces.learn(given[first : first + 7])
    assert pieces.to_bytes({}) == whole.to_bytes({})
    for cut in (1, 79, 81, 121, 200):
        first = start(**parameters)
        first.learn(given[:cut])
        back, _ = ServedModel.from_bytes(first.to_bytes({}))
        back.learn(given[cut:])
        assert back.to_bytes({}) == whole.to_bytes({}), cut


def test_a_text_makes_a_feature_categorical_and_every_endpoint_takes_it(tmp_path):
    given = lessons(200)
    rows = [{"features": lesson.features, "label": lesson.label} for lesson in given]
    options = ServiceOptions(keep_log=True)
    with running(tmp_path, options=options, trees=5) as served:
        answers = [answer for row in rows for answer in [served.post("/v1/learn", row)]]
        assert {answer.status_code for answer in answers} == {200}
        served.settle()
        one = {"city": "Oslo", "size": 0.5}
        want = served.post("/v1/predict", {"features": one}).json()
        assert want["label"] == "big"
        unknown = served.post("/v1/predict", {"features": {"city": "Paris"}})
        assert unknown.status_code == 200
        for features in ({"city": 7}, {"size": "large"}):
            refused = served.post("/v1/predict", {"features": features})
            assert refused.status_code == 422
        line = json.dumps({"features": one}).encode()
        kind = {"content-type": "application/x-ndjson"}
        lines = served.web.post("/v1/predict", content=line, headers=kind)
        assert lines.json()["probabilities"] == want["probabilities"]
        sink = io.BytesIO()
        table = pa.table({"size": [0.5], "city": ["Oslo"]})
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        kind = {"content-type": "application/vnd.apache.arrow.stream"}
        arrow = served.web.post("/v1/predict", content=sink.getvalue(), headers=kind)
        with pa.ipc.open_stream(arrow.content) as reader:
            assert reader.read_all()["label"].to_pylist() == ["big"]
        tensors = [{"name": "size", "shape": [1], "datatype": "FP32", "data": [0.5]},
                   {"name": "city", "shape": [1], "datatype": "BYTES", "data": ["Oslo"]}]  # fmt: skip
        infer = served.web.post(
            "/v2/models/model/infer", json={"id": "i", "inputs": tensors}
        ).json()
        assert infer["outputs"][1]["data"] == list(want["probabilities"].values())
        assert served.post("/v1/label", {"id": "i", "label": "big"}).json()["learned"]
        served.settle()
        before = served.service.model.to_bytes({})
        log = [lesson for _, lesson in served.service.folder.log.lessons(0, 1000)]
        assert [lesson.features for lesson in log[:200]] == [row["features"] for row in rows]
        served.web.post("/v1/snapshot")
        loaded = riparian.from_bytes(served.web.get("/v1/snapshot").content)
    offline = start(5)
    offline.learn(log)
    assert offline.to_bytes({}) == before
    folder = StateFolder.open(tmp_path, start, "new", options)
    assert folder.model.to_bytes({}) == before
    assert folder.model.catalogue.texts == ["city", "late"]
    folder.close()
    assert set(loaded.categories_) == {"city", "late"}


def test_a_model_with_categories_is_served_as_it_is(tmp_path):
    frame = pd.DataFrame({"city": ["Oslo", "Rome"] * 30, "size": np.arange(60.0),
                          "open": [True, False, None] * 20,
                          "grade": pd.Categorical([1, 2, 3] * 20)})  # fmt: skip
    forest = OnlineForestClassifier(3, random_state=0)
    forest.partial_fit(frame, ["x", "y"] * 30)
    want = forest.predict_proba(frame[:1]).tolist()[0]
    with running(
        tmp_path, model=lambda: ServedModel.of(riparian.from_bytes(forest.to_bytes()))
    ) as served:
        about = served.web.get("/v1/model").json()
        assert about["text_features"] == ["city"]
        one = {"city": "Oslo", "size": 0.0, "open": True, "grade": 1}
        got = served.post("/v1/predict", {"features": one}).json()["probabilities"]
        assert list(got.values()) == want
        assert served.post("/v1/learn", {"features": one, "label": "x"}).json()["learned"]
        refused = served.post("/v1/predict", {"features": {**one, "grade": "1"}})
        assert refused.json()["field"] == "features.grade"
        served.settle()
        assert served.service.backlog.closed is None
        assert served.service.model.points == 61
