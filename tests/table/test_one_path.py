"""One table, four ways in: Python, command line, service and client give the same answers to the bit."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from datetime import date, datetime, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import riparian
from riparian import OnlineForestClassifier
from riparian.cli.model_file import model_bytes
from riparian.client import Client, RowsRefused
from riparian.inspection import export_text
from riparian.loading import from_bytes_with_extra
from riparian.serve.http import arrow
from riparian.serve.state.model import ServedModel
from riparian.table.encoders import Number
from riparian.table.table import TableColumns
from riparian.table.target import Target
from riparian.table.times import Moment

from commands import SMALL, call, learn, output_of, write
from serve_running import running

pytestmark = pytest.mark.engine

ROWS = 300
CITIES = np.array(["Oslo", "Bergen", "Vaasa", "Umeå"])


def flights(rows=ROWS, seed=0):
    """Moments, days, times of day, texts, whole numbers, bools and gaps."""
    rng = np.random.default_rng(seed)
    when = [
        datetime(2024, 1, 1) + timedelta(minutes=int(m)) for m in rng.integers(0, 500_000, rows)
    ]
    delay = rng.normal(size=rows).round(3)
    city = CITIES[rng.integers(4, size=rows)]
    gaps = (rng.random(rows) < 0.05) & (np.arange(rows) > 0)
    late = (city == "Oslo") | np.array([w.hour < 8 for w in when])
    return pa.table(
        {
            "id": [f"F{i}" for i in range(rows)],
            "when": pa.array(when, pa.timestamp("us"), mask=gaps),
            "day": pa.array([w.date() for w in when], pa.date32()),
            "opens": pa.array([time(w.hour, 30) for w in when], pa.time64("us")),
            "city": pa.array(city, mask=rng.random(rows) < 0.05),
            "zone": rng.integers(3, size=rows),
            "delay": pa.array(delay, mask=rng.random(rows) < 0.1),
            "old": rng.random(rows) < 0.5,
            "late": np.where(late, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    path = write(flights(), folder / "t.csv")
    done = call("learn", path, "-t", "late", "-m", folder / "m", *SMALL, "--ignore", "id",
                "--categorical", "zone")  # fmt: skip
    assert done.exit_code == 0, done.output
    return folder / "m"


@pytest.fixture(scope="module")
def expected(model):
    """What the command line predicts for new rows, and for one whose values are all missing."""
    more = flights(60, seed=1)
    written = write(more, model.parent / "new.parquet")
    done = call("predict", model, written, "-o", model.parent / "p.jsonl")
    assert done.exit_code == 0, done.output
    lines = (model.parent / "p.jsonl").read_text().splitlines()
    return more, np.array(
        [[json.loads(line)[f"proba_{c}"] for c in ("no", "yes")] for line in lines]
    )


def texts(frame):
    """The same table with dates as texts."""
    there = frame["when"].notna()
    return frame.assign(when=frame["when"].astype(str).where(there), day=frame["day"].astype(str))


FRAMES = {
    "pandas": pa.Table.to_pandas,
    "pandas with texts": lambda table: texts(table.to_pandas()).astype({"city": "category"}),
    "polars": pl.from_arrow,
    "pyarrow": lambda table: table,
    "dicts": pa.Table.to_pylist,
    "another order": lambda table: table.select(table.column_names[::-1]).to_pandas(),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_python_takes_the_table_that_the_command_line_learned(frame, model, expected):
    more, answers = expected
    assert (riparian.load(model).predict_proba(frame(more)) == answers).all()


def test_python_needs_no_pyarrow_for_that(model, expected):
    more, answers = expected
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import datetime, json, riparian\n"
        "rows = eval(sys.stdin.read())\n"
        f"print(json.dumps(riparian.load({str(model)!r}).predict_proba(rows).tolist()))"
    )
    done = subprocess.run([sys.executable, "-c", program], input=repr(more.to_pylist()),
                          capture_output=True, text=True, check=True, timeout=60)  # fmt: skip
    assert json.loads(done.stdout) == answers.tolist()


@pytest.mark.parametrize("name", ["t.csv", "t.arrow", "t.csv.gz"])
def test_the_command_line_takes_it_in_every_format(name, model, expected, tmp_path):
    more, answers = expected
    done = call("predict", model, write(more, tmp_path / name), "-o", tmp_path / "p.jsonl")
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [[row["proba_no"], row["proba_yes"]] for row in rows] == answers.tolist()


@pytest.fixture(scope="module")
def served(model, tmp_path_factory):
    def start():
        forest, extra = from_bytes_with_extra(model.read_bytes())
        return ServedModel.of(forest, extra=extra)

    with running(tmp_path_factory.mktemp("state") / "s", model=start) as service:
        yield service


@pytest.fixture
def client(served):
    """A client whose requests reach the service without a network."""
    client = Client("http://localhost")

    def attempt(method, path, body, headers):
        answer = served.web.request(method, path, content=body, headers=headers)
        return answer.status_code, 0.0, answer.content

    client._attempt = attempt
    return client


def shares(answers):
    return [[answer["probabilities"][name] for name in ("no", "yes")] for answer in answers]


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_the_client_takes_it(frame, client, expected):
    more, answers = expected
    assert shares(client.predict_many(frame(more))) == answers.tolist()


def test_the_service_takes_it_as_json_lines_and_as_arrow(served, expected):
    more, answers = expected
    rows = [
        {name: value if value is None or isinstance(value, int | float) else str(value)
         for name, value in row.items()}
        for row in more.to_pylist()
    ]  # fmt: skip
    lines = "".join(json.dumps({"features": row}) + "\n" for row in rows)
    kind = {"Content-Type": "application/x-ndjson"}
    got = served.web.post("/v1/predict", content=lines, headers=kind).text.splitlines()
    assert shares(map(json.loads, got)) == answers.tolist()
    more = more.drop_columns("id")  # the service has ids of its own
    for table in (more, with_zones(more)):
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        got = served.web.post(
            "/v1/predict", content=sink.getvalue(), headers={"Content-Type": arrow.ARROW}
        )
        probabilities = pa.ipc.open_stream(got.content).read_all()["probabilities"].to_pylist()
        assert shares([{"probabilities": each} for each in probabilities]) == answers.tolist()


def with_zones(more):
    """The same moments, with other units and the time of another zone."""
    when = more["when"].cast(pa.timestamp("ns")).cast(pa.timestamp("ns", "UTC"))
    return more.set_column(0, "when", when.cast(pa.timestamp("ns", "Europe/Oslo")))


def test_a_service_that_learns_ends_with_the_model_of_the_command_line(model, expected, tmp_path):
    more, _ = expected
    rows = more.to_pandas()
    python = riparian.load(model)
    python.partial_fit(rows, rows["late"])
    forest, extra = from_bytes_with_extra(model.read_bytes())
    with running(tmp_path / "s", model=lambda: ServedModel.of(forest, extra=extra)) as service:
        client = Client("http://localhost")
        client._attempt = lambda method, path, body, headers: (
            200, 0.0, service.web.request(method, path, content=body, headers=headers).content
        )  # fmt: skip
        client.learn_many(rows, rows["late"])
        service.settle()
        ended = riparian.from_bytes(service.service.model.to_bytes({}))
    assert (ended.predict_proba(rows) == python.predict_proba(rows)).all()
    assert ended.model_.raw_columns.state() == python.model_.raw_columns.state()


def test_rows_that_the_service_refuses_raise_an_error_with_all_answers(client, expected):
    more, answers = expected
    rows = more.to_pylist()[:4]
    rows[1] = {**rows[1], "when": "soon"}
    rows[3] = {**rows[3], "delay": "long"}
    with pytest.raises(
        RowsRefused, match=r"features.when: expected a date .*row 1, .* of 2"
    ) as bad:
        client.predict_many(rows)
    assert bad.value.rows == [1, 3] and bad.value.status == 422
    assert shares([bad.value.answers[i] for i in (0, 2)]) == answers[[0, 2]].tolist()
    assert [a["status"] for a in client.predict_many(rows, check=False)] == [200, 422, 200, 422]


def test_rows_of_any_number_are_sent_in_parts(client, expected, monkeypatch):
    more, answers = expected
    monkeypatch.setattr("riparian.client.MOST_ROWS", 7)
    assert shares(client.predict_many(more)) == answers.tolist()


def test_a_model_of_python_with_dates_is_read_by_the_command_line(expected, tmp_path):
    more, _ = expected
    frame = flights().to_pandas()
    X, y = frame.drop(columns=["id", "late"]), frame["late"]
    forest = OnlineForestClassifier(3, random_state=0).partial_fit(X, y)
    forest.save(tmp_path / "m")
    path = write(more, tmp_path / "new.csv")
    done = call("evaluate", tmp_path / "m", path, "--target", "late", "--ignore", "id", "--json")
    new = more.to_pandas()
    assert output_of(done)["accuracy"] == forest.score(new[X.columns], new["late"])


# -- dates in Python -----------------------------------------------------------------------------------


def dated(rows=200):
    table = flights(rows).to_pandas()
    return table[["when", "day", "opens", "city", "delay"]], table["late"]


@pytest.mark.parametrize("cut", [1, 7, 200])
def test_no_cut_into_batches_changes_a_forest_that_learns_dates(cut):
    X, y = dated()
    whole = OnlineForestClassifier(3, random_state=0).partial_fit(X, y)
    parts = OnlineForestClassifier(3, random_state=0)
    for first in range(0, len(X), cut):
        parts.partial_fit(texts(X)[first : first + cut], y[first : first + cut])
    assert parts.to_bytes() == whole.to_bytes()
    assert whole.feature_names_in_[:5].tolist() == [
        "when", "when.hour", "when.weekday", "when.day", "when.month",
    ]  # fmt: skip


def test_python_and_the_command_line_learn_the_same_forest_from_dates(tmp_path):
    X, y = dated()
    path = write(pa.Table.from_pandas(X.assign(label=y)), tmp_path / "t.csv")
    learn(path, tmp_path / "m")
    forest = OnlineForestClassifier(3, random_state=0).partial_fit(X, y)
    assert (riparian.load(tmp_path / "m").predict_proba(X) == forest.predict_proba(X)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"when": ["soon"] * 200}, "column 'when', row 0: expected a date such as 2024-05-31"),
        (
            {"when": [1.5] * 200},
            "column 'when', row 0: expected a date, got values of type float64",
        ),
        ({"delay": ["long"] * 200}, "column 'delay', row 0: expected a number, got 'long'"),
        ({"more": [1] * 200}, "does not know these columns: 'more'"),
        ({"city": [[1]] * 200}, "'city'"),
        ({"delay": [np.inf] * 200}, "column 'delay', row 0: expected a number that fits float32"),
    ],
)
def test_a_refused_table_changes_nothing(change, message):
    X, y = dated()
    forest = OnlineForestClassifier(3, random_state=0).partial_fit(X, y)
    before = forest.to_bytes()
    with pytest.raises(ValueError, match=message):
        forest.partial_fit(X.assign(**change), y)
    with pytest.raises(ValueError, match="these columns of the model are missing: 'opens'"):
        forest.partial_fit(X.drop(columns="opens"), y)
    assert forest.to_bytes() == before


def test_a_refused_first_date_is_not_the_origin():
    X, y = dated()
    forest = OnlineForestClassifier(3, random_state=0)
    forest.partial_fit(X.assign(when=pd.Series([pd.NaT] * 200)), y)
    assert forest.model_.raw_columns.encoders["when"].origin is None
    with pytest.raises(ValueError, match="label"):
        forest.partial_fit(X.assign(when=datetime(1999, 1, 1)), np.linspace(0, 1, 200))
    forest.partial_fit(X, y)
    first = X["when"].dropna().iloc[0]
    assert forest.model_.raw_columns.encoders["when"].shown(0) == f"{first:%Y-%m-%d %H:%M}"


def test_categories_by_choice_are_no_dates():
    X, y = dated()
    X = X[["city"]].assign(when=X["day"].astype(str))
    forest = OnlineForestClassifier(1, random_state=0, categorical_features=["city", "when"])
    forest.partial_fit(X, y)
    assert forest.feature_names_in_.tolist() == ["city", "when"]
    assert set(forest.categories_["when"]) <= {
        str(date(2024, 1, 1) + timedelta(i)) for i in range(366)
    }


def test_the_parts_of_a_date_may_not_take_the_name_of_another_column():
    X, y = dated()
    with pytest.raises(ValueError, match=r"two columns give a feature 'when\.hour'"):
        OnlineForestClassifier(1).partial_fit(X.assign(**{"when.hour": 1.0}), y)


# -- dates are shown as dates --------------------------------------------------------------------------


def test_trees_and_reports_show_dates_as_dates(model, tmp_path):
    forest = riparian.load(model)
    raw, names = forest.model_.raw_columns, forest.model_.feature_names
    assert raw.shown(names.index("delay"), 1.5) is None
    assert raw.shown(names.index("opens"), 37_800.0) == "10:30:00"
    assert raw.shown(names.index("when.hour"), 3.0) is None
    shown = {text for tree in range(3) for text in export_text(forest, tree).splitlines()}
    assert any(re.search(r"\bwhen <= 2024-\d\d-\d\d", line) for line in shown)
    assert any(re.search(r"\bopens >  \d\d:\d\d:\d\d", line) for line in shown)
    page = tmp_path / "r.html"
    path = write(flights(100, seed=2), tmp_path / "t.csv")
    done = call(
        "evaluate", model, path, "--html", page, "--permutation", 4, "--pair", "when", "opens"
    )
    assert done.exit_code == 0, done.output
    assert re.search(r"ticktext[^]]*2024-\d\d-\d\d", page.read_text())


def test_a_file_of_0_2_keeps_the_parts_that_it_was_learned_with():
    hours = np.arange(200.0) * 5
    rows = np.column_stack([hours * 3600, hours % 24, hours % 7]).astype(np.float32)
    forest = OnlineForestClassifier(3, random_state=0).partial_fit(rows, hours % 24 < 8)
    columns = TableColumns(
        Target("late", "bool"), {"when": Moment(0, ("hour",)), "x": Number()}, ("id",)
    )
    loaded = riparian.from_bytes(model_bytes(forest, columns))
    when = pd.Timestamp(0) + pd.to_timedelta(hours, unit="h")
    frame = pd.DataFrame({"id": hours, "x": hours % 7, "when": when.astype(str)})
    assert (loaded.predict_proba(frame) == forest.predict_proba(rows)).all()
    derived = pd.DataFrame(rows, columns=["when", "when.hour", "x"])  # what 0.2 required
    assert (loaded.predict_proba(derived) == forest.predict_proba(rows)).all()
