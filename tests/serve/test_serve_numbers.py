"""A service for numbers: what it answers and refuses, and that its model is that of its log."""

from __future__ import annotations

import csv
import io
import math
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riparian
from riparian import AdaptiveForestRegressor, OnlineForestRegressor
from riparian.evaluation import NumberScores
from riparian.loading import from_bytes_with_extra
from riparian.serve import validation
from riparian.serve.items import Forecast, Lesson
from riparian.serve.options import Limits, ServiceOptions
from riparian.serve.refused import Refused
from riparian.serve.state.folder import StateFolder
from riparian.serve.state.model import ServedModel
from riparian.serve.state.numbers import ServedNumbers

from commands import call
from serve_running import running

pytestmark = pytest.mark.engine

ARROW = {"content-type": "application/vnd.apache.arrow.stream"}
LINES = {"content-type": "application/x-ndjson"}
TWO = [{"features": {"a": 1.0}, "label": 2.5}, {"features": {"a": 5.0}, "label": -7}]


def serving(path, **more):
    return running(path, forest=OnlineForestRegressor, **more)


@pytest.fixture
def served(tmp_path):
    with serving(tmp_path) as service:
        yield service


def drawn(n, seed=0):
    draw = random.Random(seed)
    return [
        {"features": {"a": (a := draw.random()), "b": draw.random()}, "label": 100 + 10 * a}
        for _ in range(n)
    ]


# -- answers -----------------------------------------------------------------------------------------


def test_before_anything_is_learned_the_label_is_null(served):
    answer = served.post("/v1/predict", {"id": "q", "features": {"a": 1}}).json()
    assert answer == {"id": "q", "status": 200, "label": None, "points": 0}
    reported = served.post("/v1/label", {"id": "q", "label": 4}).json()
    assert (reported["predicted"], reported["residual"]) == (None, None)


def test_a_late_label_is_compared_with_the_stored_prediction_and_learned(served):
    served.post("/v1/learn", TWO)
    served.settle()
    asked = served.post("/v1/predict", {"features": {"a": 1.0}}).json()
    assert sorted(asked) == ["id", "label", "points", "status"]
    assert type(asked["label"]) is float
    reported = served.post("/v1/label", {"id": asked["id"], "label": 3}).json()
    assert reported == {
        "id": asked["id"], "status": 200, "label": 3.0, "predicted": asked["label"],
        "residual": 3.0 - asked["label"], "learned": True,
    }  # fmt: skip
    again = served.post("/v1/label", {"id": asked["id"], "label": 3.0}).json()
    assert again == {**reported, "learned": False}
    assert served.post("/v1/label", {"id": asked["id"], "label": 3.5}).status_code == 409


def test_lazy_predictions_of_numbers_can_be_labelled_too(tmp_path):
    with serving(tmp_path, options=ServiceOptions(lazy=True)) as served:
        asked = served.post("/v1/predict", [{"features": {"a": i}} for i in range(3)]).json()
        labels = [{"id": answer["id"], "label": 0.5} for answer in asked]
        assert all(answer["learned"] for answer in served.post("/v1/label", labels).json())


REFUSED = {
    '{"label": null}': "must be a number, got null",
    '{"label": "high"}': "must be a number, got 'high'; a service that is started with --task classes",
    '{"label": true}': "must be a number, got True",
    '{"label": [1]}': "must be a number, got a list",
    "{}": "is missing",
    '{"label": 1e151}': "must be a finite number of at most 2^500, got 1e+151",
    '{"label": -3.3e150}': "at most 2^500, got -3.3e+150",
}


@pytest.mark.parametrize("row", REFUSED)
def test_a_label_that_is_no_number_is_refused_and_named(served, row):
    body = '{"features": {"a": 1}, ' + row[1:] if row != "{}" else '{"features": {"a": 1}}'
    kind = {"content-type": "application/json"}
    answer = served.web.post("/v1/learn", content=body, headers=kind)
    assert (answer.status_code, answer.json()["field"]) == (422, "label")
    assert REFUSED[row] in answer.json()["error"]
    assert served.service.backlog.rows == 0


def test_a_fraction_as_a_class_names_the_option_for_numbers(tmp_path):
    with running(tmp_path) as served:
        answer = served.post("/v1/learn", TWO[0])
        assert (answer.status_code, answer.json()["field"]) == (422, "label")
        assert (
            "must be an integral class label, got 2.5; a service that is started with --task numbers"
            in answer.text
        )


def test_too_many_numbers_as_classes_name_the_option_for_numbers(tmp_path):
    with running(tmp_path, options=ServiceOptions(limits=Limits(classes=2))) as served:
        rows = [{"features": {"a": 1}, "label": label} for label in range(3)]
        assert "--task numbers" in served.post("/v1/learn", rows).json()[2]["error"]


def test_a_prediction_has_the_intervals_that_the_forest_learns(tmp_path):
    rows = drawn(80)
    points = [{"features": row["features"]} for row in drawn(5, seed=1)]

    def empty():
        return ServedModel.new(OnlineForestRegressor(2, random_state=0, intervals=(0.5, 0.9)), None)

    with serving(tmp_path, model=empty) as served:
        assert "interval" not in served.post("/v1/predict", points[0]).json()  # nothing is known
        served.post("/v1/learn", rows)
        served.settle()
        asked = served.post("/v1/predict", points).json()
        again = served.post("/v1/predict", {"id": "q", **points[0]}).json()
        assert served.post("/v1/predict", {"id": "q", **points[0]}).json() == again  # as stored
        table = pa.Table.from_pylist([point["features"] for point in points])
        assert [each["interval"] for each in sent(served, "/v1/predict", table)] == [
            each["interval"] for each in asked
        ]
        model = served.service.model.forest.model_
        raw = served.service.model.raw.of_points([point["features"] for point in points])
        for coverage in (0.5, 0.9):
            expected = model.predict_interval(raw, coverage, 1).tolist()
            assert [each["interval"][str(coverage)] for each in asked] == expected


def test_an_end_is_null_where_nothing_is_known():
    answer = ServedNumbers().predicted(Forecast(1.0, (), (), 3, ((0.9, None, 2.0),)))
    assert answer == {"interval": {"0.9": [None, 2.0]}}


def test_numbers_come_as_json_lines_and_as_arrow(served):
    lines = b'{"features": {"a": 1}, "label": 0.5}\n{"features": {"a": 2}, "label": "x"}\n'
    answer = served.web.post("/v1/learn", content=lines, headers=LINES)
    assert [line.count('"status":200') for line in answer.text.splitlines()] == [1, 0]
    table = pa.table({"a": [1.0, 2.0, 3.0, 4.0], "label": [1.5, math.inf, math.nan, -2.0]})
    answers = sent(served, "/v1/learn", table)
    assert [each["status"] for each in answers] == [200, 422, 422, 200]
    assert "must be a finite number of at most 2^500, got inf" in answers[1]["error"]
    assert "must be a finite number of at most 2^500, got nan" in answers[2]["error"]
    served.settle()
    predicted = sent(served, "/v1/predict", table.select(["a"]))
    assert [type(each["label"]) for each in predicted] == [float] * 4


def sent(served, path, table):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    answer = served.web.post(path, content=sink.getvalue(), headers=ARROW)
    with pa.ipc.open_stream(answer.content) as reader:
        return reader.read_all().to_pylist()


def test_the_inference_protocol_answers_with_fp64(served):
    served.post("/v1/learn", drawn(20))
    served.settle()
    about = served.web.get("/v2/models/model").json()
    assert [(out["name"], out["datatype"]) for out in about["outputs"]] == [
        ("label", "FP64"), ("id", "BYTES"),
    ]  # fmt: skip
    inputs = [{"name": "input", "shape": [2, 2], "datatype": "FP32", "data": [0.1, 0.2, 0.8, 0.9]}]
    answer = served.web.post("/v2/models/model/infer", json={"id": "m", "inputs": inputs}).json()
    label, id = answer["outputs"]
    assert (label["datatype"], label["shape"], id["data"]) == ("FP64", [2], ["m/0", "m/1"])
    assert all(100 <= number <= 110 for number in label["data"])
    assert served.post("/v1/label", {"id": "m/1", "label": 109.5}).json()["learned"]


# -- the model ---------------------------------------------------------------------------------------


def test_the_forest_is_that_of_its_log_to_the_bit(tmp_path):
    """With weights: the same as `partial_fit`, also after a restart."""
    rows = [{**row, "weight": 1 + i % 3} for i, row in enumerate(drawn(300))]
    options = ServiceOptions(keep_log=True)
    with serving(tmp_path, options=options) as served:
        served.post("/v1/learn", rows)
        served.settle()
        before = served.service.model.to_bytes({})
    with serving(tmp_path, options=options) as again:
        assert again.service.model.to_bytes({}) == before
    (tmp_path / "model.riparian").write_bytes(fresh_snapshot(tmp_path.with_name("fresh")))
    folder = StateFolder.open(tmp_path, lambda: None, "new", options)
    assert folder.model.to_bytes({}) == before  # the log alone gives it
    folder.close()
    plain = OnlineForestRegressor(2, random_state=0)
    X = np.array([[*row["features"].values()] for row in rows], np.float32)
    weights = [row["weight"] for row in rows]
    plain.partial_fit(X, [row["label"] for row in rows], sample_weight=weights)
    forest, _ = from_bytes_with_extra(before, named=False)
    assert forest.predict(X).tolist() == plain.predict(X).tolist()


def fresh_snapshot(path):
    with serving(path):
        return (path / "model.riparian").read_bytes()


def test_a_forest_that_follows_changes_is_served_as_well(tmp_path):
    """Its trees are replaced once the numbers change."""
    rows = drawn(1200)
    for row in rows[600:]:
        row["label"] = 300 - row["label"]
    with running(tmp_path, forest=AdaptiveForestRegressor) as served:
        assert "Trees replaced" in served.web.get("/").text
        served.post("/v1/learn", rows)
        served.settle()
        replaced = served.service.model.forest.replacements_
        assert replaced and all(point > 600 for point, _ in replaced)
        assert served.web.get("/v1/status").json()["figures"]["drifts"] == len(replaced)
        before = served.service.model.to_bytes({})
    with running(tmp_path, forest=AdaptiveForestRegressor) as again:
        assert again.service.model.to_bytes({}) == before


NUMBERS = st.one_of(st.floats(-(2.0**500), 2.0**500), st.integers(-(2**62), 2**62),
                    st.sampled_from([0.5, -0.0, 2.0**500, -(2.0**500), 5e-324]))  # fmt: skip
FEATURES = st.dictionaries(st.sampled_from("ab"), st.sampled_from([0.5, 1, None, 2.0]), min_size=1)


@given(rows=st.lists(st.tuples(FEATURES, NUMBERS), min_size=1, max_size=12), cut=st.integers(0, 12))
@settings(max_examples=100, deadline=None)
def test_whatever_number_is_accepted_is_learned_and_scored_in_every_cut(rows, cut):
    whole, first = started(), started()
    lessons = []
    for features, label in rows:
        label = validation.number_label(label, Limits())
        forecast = whole.forecasts([features])[0]
        lesson = Lesson(features, label, 1.0, forecast.label, 0.0, 0.0, 0.0)
        assert whole.learn([lesson]) == [lesson]
        lessons.append(lesson)
    first.learn(lessons[:cut])
    back, _ = ServedModel.from_bytes(first.to_bytes({}))
    back.learn(lessons[cut:])
    assert back.to_bytes({}) == whole.to_bytes({})
    scores, some = whole.catalogue.target.log_scores(), whole.catalogue.target.log_scores()
    for lesson in lessons:
        scores.add(lesson)
    for lesson in lessons[:cut]:
        some.add(lesson)
    some = type(some).from_state(some.state())
    for lesson in lessons[cut:]:
        some.add(lesson)
    assert some.state() == scores.state()


def started():
    return ServedModel.new(OnlineForestRegressor(1, random_state=0), None)


def test_a_label_of_a_forged_log_that_is_no_number_is_set_aside():
    good = Lesson({"a": 1.0}, 2.5, 1.0, None, 0.0, 0.0, 0.0)
    model = started()
    bad = [Lesson({"b": 1.0}, label, 1.0, None, 0.0, 0.0, 0.0) for label in ("x", True, math.inf)]
    assert model.learn([bad[0], good, *bad[1:]]) == [good]
    assert (model.points, model.set_aside) == (1, 3)
    with pytest.raises(Refused, match="finite number of at most 2"):
        model.catalogue.target.check(math.inf)


def test_a_model_file_decides_by_itself_and_answers_as_it_does_elsewhere(tmp_path):
    """Dates and categories come as they are in the table."""
    draw = random.Random(0)
    rows = [
        {"when": f"2024-05-{1 + i % 28:02} {i % 24:02}:30", "city": draw.choice(["Oslo", "Rome"]),
         "x": draw.random(), "load": 20 + 10 * draw.random()}
        for i in range(200)
    ]  # fmt: skip
    with open(tmp_path / "rows.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    done = call("learn", "rows.csv", "-t", "load", "-m", "m.riparian", "--trees", 3, cwd=tmp_path)
    assert done.exit_code == 0, done.output
    loaded, extra = from_bytes_with_extra((tmp_path / "m.riparian").read_bytes())
    points = [{name: row[name] for name in ("when", "city", "x")} for row in rows[:20]]
    with serving(tmp_path / "s", model=lambda: ServedModel.of(loaded, None, extra)) as served:
        asked = served.post("/v1/predict", [{"features": point} for point in points]).json()
        assert served.web.get("/v1/model").json()["task"] == "numbers"
        refused = served.post("/v1/learn", {"features": points[0], "label": "20"})
        assert refused.status_code == 422
        late = served.post("/v1/label", {"id": asked[0]["id"], "label": 25}).json()
        assert late["learned"]
        served.settle()
        assert served.service.model.points == 201
    expected = riparian.load(tmp_path / "m.riparian").predict(points)
    assert [answer["label"] for answer in asked] == expected.tolist()


# -- scores ------------------------------------------------------------------------------------------


def test_scores_of_numbers_are_metrics_and_are_those_of_the_answers(tmp_path):
    with serving(tmp_path) as served:
        expected = NumberScores()
        for i, row in enumerate(drawn(120)):
            answer = served.post("/v1/predict", {"id": str(i), "features": row["features"]}).json()
            if answer["label"] is not None:
                expected.count(row["label"], answer["label"])
            served.post("/v1/label", {"id": str(i), "label": row["label"]})
            served.settle()
        status = served.web.get("/v1/status").json()
        text = served.web.get("/metrics").text
        for name in ("rmse", "mae", "r2", "bias", "median_absolute_error"):
            assert status["figures"][name] == getattr(expected, name)
            assert f"riparian_{name} {getattr(expected, name)!r}" in text
        assert status["figures"]["recent_rmse"] == expected.rmse  # there are fewer than 1000
        assert f"riparian_absolute_error {expected.mae!r}" in text
        assert "riparian_squared_error " in text
        assert "riparian_accuracy_ratio" not in text
        assert served.web.get("/v1/model").json()["rmse"] == expected.rmse
        right, dots = status["charts"]["truth"]["data"]
        assert len(dots["x"]) == expected.rows == 119
        assert right["x"] == [min(dots["x"] + dots["y"]), max(dots["x"] + dots["y"])]
        assert len(status["charts"]["ranges"]["data"][0]["y"]) == 10
    with serving(tmp_path) as again:
        assert again.service.scores.scores.state() == expected.state()
        assert again.web.get("/v1/status").json()["figures"]["recent_rmse"] == expected.rmse


def test_the_largest_numbers_are_learned_and_scored(served):
    """Squared errors of them are finite."""
    labels = [2.0**500, -(2.0**500)] * 20
    for i, label in enumerate(labels):
        answer = served.post("/v1/learn", {"features": {"a": i % 3}, "label": label})
        assert answer.status_code == 200
        served.settle()
    assert served.service.model.points == 40
    figures = served.web.get("/v1/status").json()["figures"]
    assert figures["trouble"] is None
    assert 0 < figures["rmse"] <= 2.0**501
