"""A table with categories, dates, gaps and ids is learned and predicted without options."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import riparian
from riparian import OnlineForestClassifier
from riparian.cli.learning.checkpoint import Checkpoint
from riparian.sources import raw

from commands import SMALL, call, learn, output_of, write

pytestmark = pytest.mark.engine

ROWS = 400
CITIES = np.array(["Oslo", "Bergen", "Vaasa", "Umeå"])


def loans(rows=ROWS, seed=0):
    """A date, two columns of text, gaps, an id; the mornings and Oslo are better."""
    rng = np.random.default_rng(seed)
    minutes = np.cumsum(rng.integers(1, 90, size=rows))
    when = np.datetime64("2024-05-01T10:00") + minutes.astype("m8[m]")
    city = rng.integers(4, size=rows)
    job = rng.integers(30, size=rows)
    morning = minutes % 1440 < 600
    good = (city == 0) | morning & (job % 2 == 0)
    return pa.table(
        {
            "id": [f"L{seed}-{i}" for i in range(rows)],
            "when": pa.array([str(moment) for moment in when], mask=rng.random(rows) < 0.05),
            "city": pa.array(CITIES[city], mask=rng.random(rows) < 0.05),
            "job": [f"job {i}" for i in job],
            "income": pa.array(rng.normal(40, 9, size=rows).round(1), mask=rng.random(rows) < 0.1),
            "label": np.where(good, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def data():
    return loans()


@pytest.fixture(scope="module")
def model(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    learn(write(data, folder / "t.csv"), folder / "m", "--ignore", "id")
    return folder / "m"


def rows_of(data):
    """Return the features, computed with pandas."""
    frame = data.to_pandas()
    when = pd.to_datetime(frame["when"])
    return pd.DataFrame(
        {
            "when": (when - when.dropna().iloc[0]).dt.total_seconds(),
            "when.hour": when.dt.hour,
            "when.weekday": when.dt.weekday,
            "when.day": when.dt.day,
            "when.month": when.dt.month,
            "city": frame["city"],
            "job": frame["job"],
            "income": frame["income"],
        }
    )


def test_the_model_is_what_the_estimator_learns_from_a_frame(data, model):
    X, y = rows_of(data), data["label"].to_pylist()
    expected = OnlineForestClassifier(3, random_state=0).partial_fit(X, y)
    loaded = riparian.load(model)
    assert loaded.feature_names_in_.tolist() == list(X.columns)
    assert loaded.categories_ == expected.categories_
    assert (loaded.predict_proba(X) == expected.predict_proba(X)).all()


def typed(data, name):
    """With types where the format has some: the same moments."""
    if name.endswith(("parquet", "arrow")):
        when = data["when"].cast(pa.timestamp("s"))
        data = data.set_column(1, "when", when)
        return data.set_column(2, "city", data["city"].dictionary_encode())
    return data


@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet", "t.arrow", "t.jsonl", "t.arff"])
def test_the_same_table_gives_the_same_model_in_every_format(name, data, model, tmp_path):
    path = write(typed(data, name), tmp_path / name)
    assert learn(path, tmp_path / "m", "--ignore", "id") == model.read_bytes()


@pytest.mark.parametrize("rows", [1, 7, 133])
def test_no_cut_into_files_and_batches_changes_a_bit(rows, data, model, tmp_path, monkeypatch):
    monkeypatch.setattr(raw, "BLOCK_BYTES", 900 * rows)
    monkeypatch.setattr("riparian.sources.parquet.MOST_ROWS", rows)
    names = ["a.csv", "b.parquet", "c.jsonl"]
    parts = [
        write(typed(data.slice(150 * i, 150), name), tmp_path / name)
        for i, name in enumerate(names)
    ]
    args = ("--ignore", "id", "--category-rows", 200, "--block", rows)
    assert learn(parts, tmp_path / "m", *args) == model.read_bytes()


class PowerCut(Exception):
    """The process is gone."""


@pytest.mark.parametrize(
    "way", [[], ["--shuffle-window", "130", "--passes", "2"], ["--max-categories", "2"]], ids=str
)
def test_a_run_that_was_killed_ends_with_the_same_model(way, data, tmp_path, monkeypatch):
    path = write(data, tmp_path / "t.csv")
    expected = learn(path, tmp_path / "whole", *way)
    write_it = Checkpoint.write

    def write_and_fail(self, *args):
        write_it(self, *args)
        raise PowerCut

    monkeypatch.setattr(Checkpoint, "write", write_and_fail)
    args = ["learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, *way]
    stopped = call(*args, "--checkpoint-every", "120")
    while isinstance(stopped.exception, PowerCut):
        stopped = call(*args, "--checkpoint-every", "120", "--resume")
    assert stopped.exit_code == 0, stopped.output
    assert (tmp_path / "m").read_bytes() == expected


def test_new_categories_gaps_and_absent_columns_are_no_error_later(model, tmp_path):
    (tmp_path / "new.csv").write_text(
        "when,city,job,income\n2024-06-01,Paris,job 1,40\n,,,\n2024-06-01 10:00:00Z,Oslo,job 2,NA\n"
    )
    done = call("predict", model, tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert done.exit_code == 0, done.output
    data = pd.read_csv(tmp_path / "p.csv", float_precision="round_trip")
    forest = riparian.load(model)
    zero = pd.to_datetime(loans()["when"].to_pandas().dropna().iloc[0])
    when = (pd.to_datetime(pd.Series(["2024-06-01 00:00", None, "2024-06-01 10:00"])) - zero).dt
    X = pd.DataFrame(
        {
            "when": when.total_seconds(), "when.hour": [0, None, 10], "when.weekday": [5, None, 5],
            "when.day": [1, None, 1], "when.month": [6, None, 6], "city": ["Paris", None, "Oslo"],
            "job": ["job 1", None, "job 2"], "income": [40, None, None],
        }
    )  # fmt: skip
    assert (data[["proba_no", "proba_yes"]].to_numpy() == forest.predict_proba(X)).all()
    (tmp_path / "less.csv").write_text("when,income\n2024-06-01,40\n")
    done = call("predict", model, tmp_path / "less.csv", "-o", tmp_path / "p.csv", "--fill-missing")
    assert done.exit_code == 0 and "treated as missing values: 'city', 'job'" in done.stderr


def test_a_date_that_cannot_be_read_is_named_when_predicting(model, tmp_path):
    (tmp_path / "new.csv").write_text("when,city,job,income\n2024-06-01,a,b,1\nsoon,a,b,1\n")
    done = call("predict", model, tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert done.exit_code == 1
    assert "new.csv, row 2, column 'when': expected a date such as 2024-05-31" in done.stderr


def test_categories_of_a_model_from_python_may_be_numbers(tmp_path):
    frame = pd.DataFrame({"code": [7, 12, 7, 300] * 50, "x": np.arange(200.0)})
    y = (frame["code"] == 7).astype(int)
    forest = OnlineForestClassifier(3, random_state=0, categorical_features=["code"])
    forest.partial_fit(frame, y).save(tmp_path / "m")
    frame.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    output = output_of(
        call("evaluate", tmp_path / "m", tmp_path / "t.csv", "--target", "y", "--json")
    )
    assert output["accuracy"] == forest.score(frame, y) > 0.95


# -- the output -----------------------------------------------------------------------------------------


def test_the_type_of_each_column_is_shown_before_learning_and_kept(data, model, tmp_path):
    path = write(data, tmp_path / "t.csv")
    done = call("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL)
    steps = {"saving the model ...", "summing up ..."}
    lines = [line for line in done.stderr.splitlines() if line not in steps]
    assert lines[0] == f"columns of {path}:"
    assert lines[1].startswith("  id      category, 400 values in 400 rows: 'L0-0', 'L0-1', ")
    assert lines[2].startswith("  when    date: seconds since 2024-05-01 12:13 UTC, hour")
    assert lines[6] == "  label   the target: text"
    assert lines[7].startswith(
        "warning: column 'id' has a different value in each of the first 400"
    )

    described = output_of(call("inspect", model, "--json"))
    assert described["columns"]["city"] == "category, 4 values"
    assert described["columns"]["job"] == "category, 30 values"
    assert described["columns"]["id"] == "left out"
    assert "category, 4 values" in call("inspect", model).stdout
    assert {row["feature"] for row in described["importances"]} <= {
        *riparian.load(model).feature_names_in_.tolist()
    }


def test_a_table_that_is_full_says_so(data, tmp_path):
    path = write(data, tmp_path / "t.csv")
    done = call("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, "--max-categories", 3,
                "--json")  # fmt: skip
    assert output_of(done)["columns"]["city"] == "category, 3 values, and others"


def test_a_tree_shows_categories_by_their_names(model):
    tree = call("inspect", model, "--tree", 0).stdout
    assert "city = 'Oslo'" in tree and "city != 'Oslo'" in tree


def test_reports_show_columns_and_categories(model, tmp_path):
    path = write(loans(seed=1), tmp_path / "new.csv")
    args = ("--html", tmp_path / "r.html", "--permutation", 4)
    done = call("evaluate", model, path, *args)
    assert done.exit_code == 0, done.output
    page = (tmp_path / "r.html").read_text()
    for words in (
        "What each column is",
        "category, 30 values",
        "If city were different",
        "'Oslo'",
    ):
        assert words in page


def test_hostile_decisions_are_refused(model, tmp_path):
    from riparian.loading import from_bytes_with_extra, to_bytes_with_extra

    forest, extra = from_bytes_with_extra(model.read_bytes())
    for change in (
        lambda c: c["columns"][1].__setitem__(1, "number"),
        lambda c: c.__setitem__("ignored", [3]),
    ):
        columns = json.loads(json.dumps(extra["columns"]))
        change(columns)
        (tmp_path / "m").write_bytes(to_bytes_with_extra(forest, {"columns": columns}))
        assert call("inspect", tmp_path / "m").exit_code == 1
