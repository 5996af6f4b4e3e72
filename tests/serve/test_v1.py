"""Predict, label, learn: what is answered, what is refused and why."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest

import riparian
from riparian.serve.options import DAY, Limits, ServiceOptions

from serve_running import Clock, running

TWO = [{"features": {"a": 1.0}, "label": "x"}, {"features": {"a": 5.0}, "label": "y"}]


@pytest.fixture
def served(tmp_path):
    with running(tmp_path) as service:
        yield service


def test_before_anything_is_learned_there_is_an_id_and_no_label(served):
    answer = served.post("/v1/predict", {"features": {"a": 1}})
    assert answer.status_code == 200
    assert answer.json() == {
        "id": answer.json()["id"], "status": 200, "label": None, "probabilities": None, "points": 0,
    }  # fmt: skip


def test_a_label_scores_the_stored_prediction_and_is_learned(served):
    served.post("/v1/learn", TWO)
    served.settle()
    asked = served.post("/v1/predict", {"features": {"a": 1.0}}).json()
    assert asked["points"] == 2
    assert sum(asked["probabilities"].values()) == pytest.approx(1)
    reported = served.post("/v1/label", {"id": asked["id"], "label": "x"}).json()
    assert reported["predicted"] == asked["label"]
    assert reported["correct"] == (asked["label"] == "x")
    assert reported["learned"]
    served.settle()
    model = served.web.get("/v1/model").json()
    assert (model["points"], model["scored"], model["classes"]) == (3, 1, ["x", "y"])


def test_the_same_label_again_is_fine_another_one_is_a_conflict(served):
    id = served.post("/v1/predict", {"features": {"a": 1}}).json()["id"]
    assert served.post("/v1/label", {"id": id, "label": "x"}).json()["learned"] is True
    assert served.post("/v1/label", {"id": id, "label": "x"}).json()["learned"] is False
    assert served.post("/v1/label", {"id": id, "label": "y"}).status_code == 409
    served.settle()
    assert served.service.model.points == 1


def test_an_unknown_id_is_not_found(served):
    answer = served.post("/v1/label", {"id": "unknown", "label": "x"})
    assert (answer.status_code, answer.json()["field"]) == (404, "id")


def test_a_list_is_answered_by_a_list_and_a_bad_row_spoils_no_other(served):
    rows = [*TWO, {"features": {"a": "one"}, "label": "x", "id": "bad"}, 7]
    answers = served.post("/v1/learn", rows)
    assert answers.status_code == 200
    assert [answer["status"] for answer in answers.json()] == [200, 200, 422, 422]
    assert answers.json()[2]["id"] == "bad"
    assert answers.json()[2]["field"] == "features.a"
    served.settle()
    assert served.service.model.points == 2


def test_an_id_has_one_question(served):
    first = served.post("/v1/predict", {"id": "q", "features": {"a": 1, "b": 2}}).json()
    served.post("/v1/learn", TWO)
    served.settle()
    again = served.post("/v1/predict", {"id": "q", "features": {"b": 2, "a": 1}})
    assert again.json() == first
    assert served.post("/v1/predict", {"id": "q", "features": {"a": 2}}).status_code == 409


@pytest.mark.parametrize(
    ("path", "row", "field"),
    [
        ("/v1/predict", {}, "features"),
        ("/v1/predict", {"features": {}}, "features"),
        ("/v1/predict", {"features": {"a": 1e39}}, "features.a"),
        ("/v1/predict", {"features": {"a": [1]}}, "features.a"),
        ("/v1/predict", {"features": {"": 1}}, "features"),
        ("/v1/predict", {"features": {"a" * 201: 1}}, "features"),
        ("/v1/predict", {"features": {"a": 1}, "id": ""}, "id"),
        ("/v1/predict", {"features": {"a": 1}, "id": 7}, "id"),
        ("/v1/predict", {"features": {"a": 1}, "colour": 7}, "colour"),
        ("/v1/label", {"label": "x"}, "id"),
        ("/v1/label", {"id": "x"}, "label"),
        ("/v1/label", {"id": "x", "label": None}, "label"),
        ("/v1/label", {"id": "x", "label": 2**63}, "label"),
        ("/v1/label", {"id": "x", "label": 0.5}, "label"),
        ("/v1/label", {"id": "x", "label": "a\0"}, "label"),
        ("/v1/learn", {"features": {"a": 1}, "label": "x", "weight": 0}, "weight"),
        ("/v1/learn", {"features": {"a": 1}, "label": "x", "weight": "1"}, "weight"),
    ],
)
def test_what_is_wrong_is_named(served, path, row, field):
    answer = served.post(path, row)
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert served.service.backlog.rows == 0


@pytest.mark.parametrize("body", [b"", b"{", b'{"features": {"a": NaN}}', b"[" * 5000, b"\xff"])
def test_a_body_that_is_no_json_is_refused(served, body):
    answer = served.web.post(
        "/v1/predict", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 400


def test_labels_are_of_one_type(served):
    served.post("/v1/learn", TWO)
    answer = served.post("/v1/learn", {"features": {"a": 1}, "label": 1})
    assert answer.status_code == 422
    assert "type str" in answer.json()["error"]
    assert served.post("/v1/learn", {"features": {"a": 1}, "label": "z"}).status_code == 200


def test_given_classes_are_the_only_ones(tmp_path):
    with running(tmp_path, classes=["x", "y"]) as served:
        assert served.post("/v1/learn", {"features": {"a": 1}, "label": "z"}).status_code == 422
        assert served.post("/v1/learn", TWO).json()[0]["status"] == 200
        served.settle()
        assert served.web.get("/v1/model").json()["classes"] == ["x", "y"]


def test_a_new_feature_joins_when_it_is_learned(served):
    served.post("/v1/learn", TWO)
    served.post("/v1/learn", {"features": {"c": 1, "b": 2}, "label": "x"})
    served.settle()
    assert served.web.get("/v1/model").json()["features"] == ["a", "b", "c"]
    assert served.post("/v1/predict", {"features": {"zz": 1}}).status_code == 200


def test_a_key_is_done_once(served):
    first = served.post("/v1/learn", TWO, Idempotency_Key="k")
    assert served.post("/v1/learn", TWO, Idempotency_Key="k").json() == first.json()
    assert served.post("/v1/learn", TWO[:1], Idempotency_Key="k").status_code == 422
    served.settle()
    assert served.service.model.points == 2


def test_an_id_waits_so_long_and_no_longer(tmp_path):
    clock = Clock()
    with running(tmp_path, clock=clock, options=ServiceOptions(wait=DAY)) as served:
        for id in "ab":
            served.post("/v1/predict", {"id": id, "features": {"a": 1}})
        clock.now += DAY
        assert served.post("/v1/label", {"id": "a", "label": "x"}).status_code == 200
        clock.now += 1
        assert served.post("/v1/label", {"id": "b", "label": "x"}).status_code == 404
        assert served.post("/v1/label", {"id": "a", "label": "x"}).status_code == 404
        assert served.service.writer.waiting == 0
        assert served.service.writer.totals["expired"] == 1


def test_a_bounded_number_of_ids_wait_and_the_oldest_go_first(tmp_path):
    with running(tmp_path, options=ServiceOptions(pending=2)) as served:
        for id in "abc":
            served.post("/v1/predict", {"id": id, "features": {"a": 1}})
        statuses = [served.post("/v1/label", {"id": i, "label": "x"}).status_code for i in "abc"]
        assert statuses == [404, 200, 200]
        assert served.service.writer.totals["dropped"] == 1


def test_lazy_predictions_can_be_labelled_too(tmp_path):
    with running(tmp_path, options=ServiceOptions(lazy=True)) as served:
        asked = served.post("/v1/predict", [{"features": {"a": i}} for i in range(3)]).json()
        reported = [{"id": answer["id"], "label": "x"} for answer in asked]
        assert all(answer["learned"] for answer in served.post("/v1/label", reported).json())


def test_too_much_is_refused_before_memory_grows(tmp_path):
    limits = Limits(body=1000, rows=3, backlog=2)
    with running(tmp_path, options=ServiceOptions(limits=limits)) as served:
        row = {"features": {"a": 1}, "label": "x"}
        assert served.post("/v1/learn", [row] * 4).status_code == 413
        assert served.post("/v1/learn", {"features": {"a" * 150 + str(i): 1 for i in range(9)},
                                         "label": "x"}).status_code == 413  # fmt: skip
        served.service.backlog.take(2)  # as if two rows waited
        answer = served.post("/v1/learn", row)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        served.service.backlog.done(2)
        assert served.post("/v1/learn", row).status_code == 200


def test_a_snapshot_can_be_downloaded_and_loaded(served, tmp_path):
    served.post("/v1/learn", TWO)
    assert served.web.post("/v1/snapshot").json() == {"lessons": 2}
    forest = riparian.from_bytes(served.web.get("/v1/snapshot").content)
    assert forest.stats()["points"] == 2
    assert forest.feature_names_in_.tolist() == ["a"]


def test_json_lines_are_answered_line_by_line(served):
    lines = (
        b'{"features": {"a": 1}, "label": "x"}\n\nnonsense\n{"features": {"a": 2}, "label": "y"}'
    )
    answer = served.web.post(
        "/v1/learn", content=lines, headers={"content-type": "application/x-ndjson"}
    )
    assert [line.count('"status":200') for line in answer.text.splitlines()] == [1, 0, 1]
    served.settle()
    assert served.service.model.points == 2


def test_arrow_goes_in_and_comes_out(served):
    served.post("/v1/learn", TWO)
    served.settle()
    table = pa.table({"id": ["p", "q"], "a": [1.0, None]})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    kind = {"content-type": "application/vnd.apache.arrow.stream"}
    answer = served.web.post("/v1/predict", content=sink.getvalue(), headers=kind)
    with pa.ipc.open_stream(answer.content) as reader:
        reported = reader.read_all()
    assert reported["id"].to_pylist() == ["p", "q"]
    assert reported["status"].to_pylist() == [200, 200]
    broken = served.web.post("/v1/predict", content=sink.getvalue()[:50], headers=kind)
    assert broken.status_code == 400


def test_a_restart_forgets_nothing(tmp_path):
    with running(tmp_path) as served:
        served.post("/v1/learn", TWO * 20)
        served.settle()
        asked = served.post("/v1/predict", {"id": "late", "features": {"a": 2}}).json()
        before = served.service.model.to_bytes({})
    with running(tmp_path) as served:
        assert served.service.model.to_bytes({}) == before
        assert served.service.writer.waiting == 1
        reported = served.post("/v1/label", {"id": "late", "label": "x"}).json()
        assert reported["predicted"] == asked["label"]


# -- streams ---------------------------------------------------------------------------------------

LINES = {"content-type": "application/x-ndjson"}
ARROW = {"content-type": "application/vnd.apache.arrow.stream"}


def arrow(table):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=2):
            writer.write_batch(batch)
    return sink.getvalue()


def test_a_line_without_an_end_is_held_and_refused_like_a_body(tmp_path):
    limits = Limits(body=1000)
    with running(tmp_path, options=ServiceOptions(limits=limits)) as served:
        whole = [
            b'{"features": {"a": 1}, "label": "x"}\n{"fe',
            b'atures": {"a": 2}, ',
            b'"label": "y"}\n',
        ]
        parts = [*whole, *[b"x" * 400] * 4]
        answer = served.web.post("/v1/learn", content=iter(parts), headers=LINES)
        lines = answer.text.splitlines()
        assert [line.count('"status":200') for line in lines] == [1, 1, 0]
        assert '"status":413' in lines[2]
        few = b'{"features": {"a": 1}, "label": "x"}\n' * 60  # more than a body, line by line
        answer = served.web.post("/v1/learn", content=few, headers=LINES)
        assert answer.text.count('"status":200') == 60


def test_a_key_does_not_go_with_a_stream(served):
    answer = served.web.post("/v1/learn", content=b"{}", headers={**LINES, "Idempotency-Key": "k"})
    assert (answer.status_code, answer.json()["field"]) == (400, "Idempotency-Key")


def test_an_arrow_stream_of_too_many_rows_is_refused_before_it_is_all_read(tmp_path):
    with running(tmp_path, options=ServiceOptions(limits=Limits(rows=3))) as served:
        table = pa.table({"a": [1.0] * 9, "label": ["x"] * 9})
        answer = served.web.post("/v1/learn", content=arrow(table), headers=ARROW)
        assert answer.status_code == 413
        assert "got 4" in answer.json()["error"]
        assert served.service.backlog.rows == 0


def compressed(table):
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("text", [pa.array(["x"] * 900), pa.array(["x"] * 900).dictionary_encode()])
def test_a_compressed_arrow_stream_is_refused_before_it_is_unpacked(served, text):
    table = pa.table({"a": [1.0] * 900, "b": text, "label": ["x"] * 900})
    answer = served.web.post("/v1/learn", content=compressed(table), headers=ARROW)
    assert answer.status_code == 400
    assert "must not be compressed" in answer.json()["error"]
    assert served.web.post("/v1/learn", content=arrow(table), headers=ARROW).status_code == 200


@pytest.mark.parametrize(
    "values",
    [
        pa.array([b"x"] * 9),
        pa.array([[1.0, 2.0]] * 9),
        pa.array([{"x": 1.0}] * 9),
    ],
    ids=lambda values: str(values.type),
)
def test_an_arrow_column_of_another_kind_is_refused_by_name(served, values):
    table = pa.table({"b": values, "label": ["x"] * 9})
    answer = served.web.post("/v1/learn", content=arrow(table), headers=ARROW)
    assert (answer.status_code, answer.json()["field"]) == (400, "b")
    assert served.service.backlog.rows == 0


# -- labels that are numbers -----------------------------------------------------------------------


def test_json_has_one_kind_of_numbers_and_labels_have_one_type(tmp_path):
    with running(tmp_path, classes=[2.0, 1.0]) as served:
        asked = served.post("/v1/predict", {"features": {"a": 1}}).json()
        reported = {"id": asked["id"], "label": 1}
        assert served.post("/v1/label", reported).json()["label"] == 1.0
        assert served.post("/v1/label", {**reported, "label": 1.0}).json()["learned"] is False
        assert served.post("/v1/learn", {"features": {"a": 1}, "label": True}).status_code == 422
    with running(tmp_path / "whole", classes=[0, 1]) as served:
        assert served.post("/v1/learn", {"features": {"a": 1}, "label": 1.0}).json()["learned"]
        assert served.post("/v1/learn", {"features": {"a": 1}, "label": 0.5}).status_code == 422
        served.settle()
        assert served.web.get("/v1/model").json()["classes"] == [0, 1]


@pytest.mark.parametrize(
    "label",
    [
        True,
        0,
        2**63 - 1,
        -(2**63),
        -0.0,
        1e300,
        2.0**-0,
        "",
        " ",
        "x" * 200,
        "é\u2028\n",
        "1.5",
        "nan",
    ],
)
def test_what_validation_accepts_as_a_label_can_be_learned(tmp_path, label):
    """Once it is in the log it must be: a lesson that cannot be learned would stop every start."""
    with running(tmp_path) as served:
        answer = served.post(
            "/v1/learn", {"features": {"a": 3.4028234e38, "b": -1e-45}, "label": label}
        )
        assert answer.status_code == (422 if label == "" else 200)
        if label != "":
            assert (
                served.post("/v1/learn", {"features": {"a": 1}, "label": label}).status_code == 200
            )
            served.settle()
            assert served.service.backlog.closed is None
            assert served.web.get("/v1/model").json()["classes"] == [label]
