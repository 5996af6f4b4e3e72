"""Models of `riparian learn` with columns of text: the service takes texts where the model does."""

from __future__ import annotations

import io
import json
import random

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from riparian.cli.app import app
from riparian.cli.model_file import load_model
from riparian.loading import from_bytes_with_extra
from riparian.serve.options import Options
from riparian.serve.state.folder import Folder
from riparian.serve.state.model import Model

from serve_running import running

pytestmark = pytest.mark.engine

CITIES = ["Oslo", "Rome", "Ulm", "", "Å"]


def rows(n, seed=0, cities=CITIES):
    draw = random.Random(seed)
    return [
        {"size": round(draw.random(), 3), "city": draw.choice(cities), "open": draw.choice("yn"),
         "kind": draw.choice(["big", "small"])}
        for _ in range(n)
    ]  # fmt: skip


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def csv(rows):
    return (
        "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]) + "\n"
    )


@pytest.fixture(params=["ordinal", "onehot", "hash"])
def learned(request, tmp_path):
    (tmp_path / "train.csv").write_text(csv(rows(120)))
    model = tmp_path / "model.riparian"
    done = call("learn", tmp_path / "train.csv", "--target", "kind", "--encode", request.param,
                "--trees", "3", "--seed", "1", "--no-eval", "--model", model)  # fmt: skip
    assert done.exit_code == 0, done.output
    return model


def start(path):
    def model():
        forest, extra = from_bytes_with_extra(path.read_bytes())
        return Model.of(forest, extra=extra)

    return model


def point(row):
    return {name: value for name, value in row.items() if name != "kind"}


def test_texts_are_encoded_as_the_model_does_and_new_ones_join_in_the_order_of_the_log(
    learned, tmp_path
):
    more = rows(60, seed=1, cities=[*CITIES, "Bern", "Riga"])
    lessons = [{"features": point(row), "label": row["kind"]} for row in more]
    with running(tmp_path / "state", model=start(learned)) as served:
        about = served.web.get("/v1/model").json()
        assert about["features"] == ["size", "city", "open"]
        assert about["text_features"] == ["city", "open"]
        for first in range(0, 60, 7):
            served.post("/v1/learn", lessons[first : first + 7])
        served.settle()
        asked = [served.post("/v1/predict", {"features": point(row)}).json() for row in more]
        assert served.web.get("/v1/status").status_code == 200
        served.web.post("/v1/snapshot")
        (tmp_path / "snapshot.riparian").write_bytes(served.web.get("/v1/snapshot").content)

    model = load_model(learned)
    for row in more:  # the same, by the command line's own columns
        table = pa.record_batch({name: [value] for name, value in point(row).items()})
        model.forest.partial_fit(model.columns.points(Batch(table), follow=True), [row["kind"]])
    table = pa.record_batch({name: [row[name] for row in more] for name in point(more[0])})
    shares = model.forest.predict_proba(model.columns.points(Batch(table)))
    got = [[answer["probabilities"][name] for name in ("big", "small")] for answer in asked]
    assert np.array_equal(shares, got)

    (tmp_path / "more.csv").write_text(csv(more))
    done = call("predict", tmp_path / "snapshot.riparian", tmp_path / "more.csv", "--output",
                tmp_path / "said.csv")  # fmt: skip
    assert done.exit_code == 0, done.output
    said = [line.split(",") for line in (tmp_path / "said.csv").read_text().splitlines()[1:]]
    assert [line[0].strip(chr(34)) for line in said] == [answer["label"] for answer in asked]


class Batch:
    """What the command line hands to its columns."""

    def __init__(self, table):
        self.table = table

    def __len__(self):
        return self.table.num_rows


def test_snapshot_and_log_are_the_model_to_the_bit(learned, tmp_path):
    lessons = [{"features": point(row), "label": row["kind"]}
               for row in rows(40, seed=2, cities=["Bern", "Riga", "Oslo"])]  # fmt: skip
    options = Options(keep_log=True)
    with running(tmp_path / "state", model=start(learned), options=options) as served:
        served.post("/v1/learn", lessons[:13])
        served.settle()
        served.web.post("/v1/snapshot")
        served.post("/v1/learn", lessons[13:])
        served.settle()
        before = served.service.model.to_bytes({})
        log = served.service.folder.log.lessons(0, 100)
        assert [lesson.features for _, lesson in log] == [row["features"] for row in lessons]
    whole = start(learned)()
    whole.learn([lesson for _, lesson in log])
    assert whole.to_bytes({}) == before
    folder = Folder.open(tmp_path / "state", start(learned), "", options)
    assert folder.model.to_bytes({}) == before
    folder.close()


def test_texts_come_through_every_door_and_elsewhere_are_refused(learned, tmp_path):
    with running(tmp_path / "state", model=start(learned)) as served:
        one = {"size": 0.5, "city": "Rome", "open": None}
        want = served.post("/v1/predict", {"features": one}).json()["probabilities"]
        line = json.dumps({"features": one}).encode()
        lines = served.web.post(
            "/v1/predict", content=line, headers={"content-type": "application/x-ndjson"}
        )
        assert lines.json()["probabilities"] == want
        sink = io.BytesIO()
        table = pa.table({"size": [0.5], "city": pa.array(["Rome"]).dictionary_encode()})
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        kind = {"content-type": "application/vnd.apache.arrow.stream"}
        answer = served.web.post("/v1/predict", content=sink.getvalue(), headers=kind)
        with pa.ipc.open_stream(answer.content) as reader:
            assert reader.read_all()["probabilities"].to_pylist() == [want]
        tensors = [{"name": "size", "shape": [1], "datatype": "FP32", "data": [0.5]},
                   {"name": "city", "shape": [1, 1], "datatype": "BYTES", "data": ["Rome"]}]  # fmt: skip
        outputs = served.web.post("/v2/models/model/infer", json={"inputs": tensors}).json()[
            "outputs"
        ]
        assert outputs[1]["data"] == list(want.values())
        inputs = served.web.get("/v2/models/model").json()["inputs"]
        assert [each["datatype"] for each in inputs] == ["FP32", "BYTES", "BYTES"]
        for features, field in [({"size": "big"}, "size"), ({"city": 7}, "city"),
                                ({"city": "x" * 1001}, "city"), ({"town": "Rome"}, "town")]:  # fmt: skip
            refused = served.post("/v1/predict", {"features": features})
            assert (refused.status_code, refused.json()["field"]) == (422, f"features.{field}")
