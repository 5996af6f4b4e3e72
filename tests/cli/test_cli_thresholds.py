"""A rare class on the command line: scores that show it, thresholds that find it, and the messages."""

from __future__ import annotations

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import riparian
from riparian.evaluation import Prequential, Scores

from commands import SMALL, call, output_of, run, write


def flights(rows=2000, seed=0):
    """A table in which a tenth of the rows is late, most of them in the evening."""
    rng = np.random.default_rng(seed)
    hour, dist = rng.integers(24, size=rows), rng.random(rows)
    late = rng.random(rows) < 0.02 + 0.3 * (hour > 17)
    return pa.table({
        "id": [f"00{i}" for i in range(rows)], "hour": hour, "dist": dist,
        "label": np.where(late, "late", "in time"),
    })  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("flights")
    write(flights(), path / "a.csv")
    write(flights(800, seed=1), path / "b.csv")
    return path


def learned(folder, *args, json=False):
    more = ["--json"] if json else []
    name = "-".join(["m", *args]).replace("=", "").replace("/", "")
    done = call("learn", "a.csv", "-t", "label", "--ignore", "id", "-m", f"{name}.riparian", *SMALL,
                *args, *more, cwd=folder)  # fmt: skip
    assert done.exit_code == 0, done.output
    return (output_of(done) if json else done), folder / f"{name}.riparian"


def test_the_first_score_of_imbalanced_classes_is_the_area_under_the_curve(folder):
    done, _ = learned(folder)
    names = [line.split("  ")[0] for line in done.stdout.splitlines()]
    order = ["AUC", "average precision", "accuracy", "balanced accuracy", "log loss", "Brier"]
    assert [name for name in names if name in order] == order
    assert "for 'late'" in done.stdout


def test_a_class_that_is_never_predicted_is_named_with_what_to_try(folder):
    done, _ = learned(folder, "--threshold", "1")
    assert "ever predicted: try --class-weight balanced or --threshold" in done.stdout
    assert "hint: 'late'" in done.stdout
    done, _ = learned(folder, "--threshold", "recall=0.8")
    assert "ever predicted" not in done.stdout


def test_the_scores_of_a_run_with_a_threshold_are_those_of_python(folder):
    output, path = learned(folder, "--threshold", "cost=5", json=True)
    data = flights()
    X = np.stack([data["hour"].to_numpy(), data["dist"].to_numpy()], axis=1)
    y = np.array(data["label"].to_pylist())
    forest, test = (
        riparian.OnlineForestClassifier(3, random_state=0),
        Prequential(threshold="cost=5"),
    )
    for start in range(0, 2000, 100):
        test.test_then_train(forest, X[start : start + 100], y[start : start + 100])
    mine = {**test.to_dict(), "window_accuracy": test.window_accuracy}
    assert {name: output["prequential"][name] for name in mine} == mine
    assert riparian.load(path).decision_ == test.scores.final_decision()


@pytest.fixture
def decided(folder):
    return learned(folder, "--threshold", "recall=0.8")[1]


def test_predict_and_evaluate_use_the_threshold_of_the_model(folder, decided):
    forest = riparian.load(decided)
    rows = flights(800, seed=1)
    proba = forest.predict_proba(rows.select(["hour", "dist"]).to_pandas())
    expected = forest.decision_.labels(proba, forest.classes_)
    assert (forest.predict(rows.select(["hour", "dist"]).to_pandas()) == expected).all()
    done = call("predict", decided, "b.csv", "-o", "p.csv", cwd=folder)
    assert done.exit_code == 0, done.output
    with open(folder / "p.csv", newline="") as file:
        assert [row["prediction"] for row in csv.DictReader(file)] == expected.tolist()
    output = output_of(call("evaluate", decided, "b.csv", "--json", cwd=folder))
    scores = Scores("late", threshold=forest.decision_.threshold)
    scores.update(rows["label"].to_pylist(), proba, forest.classes_)
    assert output["confusion"] == scores.confusion.tolist()
    assert output["auc"] == scores.auc
    assert expected.tolist().count("late") > 100


def test_an_option_overrules_the_threshold_of_the_model(folder, decided):
    args = ("predict", decided, "b.csv", "-o", "q.jsonl", "--threshold", "0.99")
    assert call(*args, cwd=folder).exit_code == 0
    rows = [json.loads(line) for line in (folder / "q.jsonl").read_text().splitlines()]
    assert all((row["prediction"] == "late") == (row["proba_late"] >= 0.99) for row in rows)
    args = ("evaluate", decided, "b.csv", "--threshold", "recall=0.5", "--json")
    recall = output_of(call(*args, cwd=folder))["classes"][1]["recall"]
    assert 0.3 < recall < 0.7


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--threshold", "recall=2"], "recall must be above 0 and at most 1"),
        (["--threshold", "f1"], "a probability such as 0.3"),
        (["--threshold", "0.5", "--no-eval"], "--threshold conflicts with --no-eval"),
    ],
)
def test_a_threshold_that_cannot_be_used_is_refused_before_anything_is_learned(
    folder, args, message
):
    done = call("learn", "a.csv", "-t", "label", "-m", "none.riparian", *SMALL, *args, cwd=folder)
    assert done.exit_code == 2 and message in done.stderr
    assert not (folder / "none.riparian").exists()


def test_rows_without_labels_cannot_choose_a_threshold(folder, decided):
    done = call("predict", decided, "b.csv", "-o", "-", "--threshold", "cost=5", cwd=folder)
    assert done.exit_code == 2 and "rows without labels cannot choose" in done.stderr


def test_a_class_that_no_row_has_is_named_with_what_was_meant(folder):
    done, _ = learned(folder, "--class-weight", "lat=3")
    message = "warning: --class-weight: no row so far has the class 'lat'; did you mean 'late'?"
    assert message in done.stderr
    done, _ = learned(folder, "--class-weight", "late=3")
    assert "warning" not in done.stderr


def test_a_column_is_carried_through_as_it_is(folder, decided):
    for name in ("k.csv", "k.parquet", "k.jsonl"):
        args = ("predict", decided, "b.csv", "-o", name, "--keep", "id", "--keep", "hour", "-q")
        done = call(*args, cwd=folder)
        assert (done.exit_code, done.output) == (0, "")
    table = pyarrow.parquet.read_table(folder / "k.parquet")
    assert table.column_names[:3] == ["id", "hour", "prediction"]
    assert table["id"].to_pylist() == flights(800, seed=1)["id"].to_pylist()
    assert table["hour"].to_pylist() == flights(800, seed=1)["hour"].to_pylist()
    with open(folder / "k.csv", newline="") as file:
        assert next(csv.DictReader(file))["id"] == "000"


@pytest.mark.parametrize(
    ("keep", "message"), [("ids", "did you mean 'id'?"), ("prediction", "--keep")]
)
def test_a_column_that_cannot_be_carried_through_is_refused(folder, decided, keep, message):
    done = call("predict", decided, "b.csv", "-o", "n.csv", "--keep", keep, cwd=folder)
    assert done.exit_code == 2 and message in done.stderr
    assert not (folder / "n.csv").exists()


def test_evaluate_says_what_it_does_and_how_long_it_took(folder, decided):
    done = run("evaluate", decided, folder / "b.csv")
    assert "loading the model" in done.stderr
    assert run("evaluate", decided, folder / "b.csv", "-q").stderr == ""
    output = output_of(call("evaluate", decided, "b.csv", "--json", cwd=folder))
    assert output["seconds"] > 0


def test_a_model_that_is_replaced_is_named(folder):
    learned(folder, "--limit", "200")
    done, path = learned(folder, "--limit", "200")
    assert f"note: {path.name} existed and is replaced" in done.stderr


def test_a_glob_that_matches_nothing_is_the_error_and_not_the_missing_option(folder):
    done = call("learn", "nothing*.csv", "-t", "label", cwd=folder)
    assert done.exit_code == 2 and "nothing*.csv" in done.stderr and "--model" not in done.stderr
    done = call("learn", "a*.csv", "-t", "label", cwd=folder)
    assert "--model a.riparian" in done.stderr
