"""Models of `riparian learn` with dates: the service takes them as texts, as the model does."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from riparian.cli.app import app
from riparian.cli.model_file import load_model
from riparian.loading import from_bytes_with_extra, to_bytes_with_extra
from riparian.serve.options import ServiceOptions
from riparian.serve.state.folder import StateFolder
from riparian.serve.state.model import ServedModel

from serve_running import running

pytestmark = pytest.mark.engine


def rows(n, seed=0, year=2024):
    draw = random.Random(seed)
    return [
        {"size": round(draw.random(), 3), "opens": f"{draw.randint(6, 11):02}:30",
         "day": f"{year}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
         "kind": draw.choice(["big", "small"])}
        for _ in range(n)
    ]  # fmt: skip


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def csv(rows):
    return (
        "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]) + "\n"
    )


@pytest.fixture
def learned(tmp_path):
    (tmp_path / "train.csv").write_text(csv(rows(120)))
    model = tmp_path / "model.riparian"
    done = call("learn", tmp_path / "train.csv", "--target", "kind",
                "--trees", "3", "--seed", "1", "--no-eval", "--model", model)  # fmt: skip
    assert done.exit_code == 0, done.output
    return model


def start(path):
    def model():
        forest, extra = from_bytes_with_extra(path.read_bytes())
        return ServedModel.of(forest, extra=extra)

    return model


def point(row):
    return {name: value for name, value in row.items() if name != "kind"}


def test_dates_are_read_as_the_command_line_reads_them(learned, tmp_path):
    more = rows(60, seed=1, year=2025)
    lessons = [{"features": point(row), "label": row["kind"]} for row in more]
    with running(tmp_path / "state", model=start(learned)) as served:
        about = served.web.get("/v1/model").json()
        assert about["features"] == ["size", "opens", "day"]
        assert about["text_features"] == ["opens", "day"]
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
    printed = [line.split(",") for line in (tmp_path / "said.csv").read_text().splitlines()[1:]]
    assert [line[0].strip(chr(34)) for line in printed] == [answer["label"] for answer in asked]


class Batch:
    """What the command line hands to its columns."""

    missing = ()

    def __init__(self, table):
        self.table = table

    def __len__(self):
        return self.table.num_rows


def test_snapshot_and_log_are_the_model_to_the_bit(learned, tmp_path):
    lessons = [{"features": point(row), "label": row["kind"]}
               for row in rows(40, seed=2, year=2025)]  # fmt: skip
    options = ServiceOptions(keep_log=True)
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
    folder = StateFolder.open(tmp_path / "state", start(learned), "", options)
    assert folder.model.to_bytes({}) == before
    folder.close()


@pytest.mark.parametrize(
    ("features", "fault"),
    [
        ({"day": "soon"}, "expected a date such as 2024-05-31"),
        ({"day": "2024-02-30"}, "expected a date such as 2024-05-31"),
        ({"day": 7}, "must be a date or null, got 7"),
        ({"opens": "25:00"}, "expected a time of day such as 10:30:00"),
        ({"size": "big"}, "must be a number or null, got 'big'"),
    ],
)
def test_what_is_no_date_is_refused_before_it_is_stored(learned, tmp_path, features, fault):
    with running(tmp_path / "state", model=start(learned)) as served:
        (name,) = features
        refused = served.post("/v1/learn", {"features": features, "label": "big"})
        assert (refused.status_code, refused.json()["field"]) == (422, f"features.{name}")
        assert fault in refused.text
        assert served.post("/v1/learn", {"features": {name: None}, "label": "big"}).is_success
        served.settle()


@pytest.mark.parametrize("encode", ["ordinal", "onehot", "hash"])
def test_a_model_learned_with_encode_names_the_version_that_serves_it(learned, encode):
    forest, extra = from_bytes_with_extra(learned.read_bytes())
    extra["columns"]["columns"][1][1:] = [encode, {}]
    forest, extra = from_bytes_with_extra(to_bytes_with_extra(forest, extra))  # in Python it loads
    with pytest.raises(ValueError, match=r"use the file with riparian 0\.2"):
        ServedModel.of(forest, extra=extra)
