"""`riparian predict` and `evaluate`: every row, in its order, for models from any source."""

from __future__ import annotations

import json
import os
import subprocess

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
import pytest

import riparian
from riparian.evaluation import Scores

from commands import RIPARIAN, call, learn, output_of, run, start, table, write

READERS = {
    "p.csv": pyarrow.csv.read_csv,
    "p.parquet": pyarrow.parquet.read_table,
    "p.arrow": lambda path: pyarrow.ipc.open_file(str(path)).read_all(),
    "p.jsonl": lambda path: pa.Table.from_pylist(
        [json.loads(line) for line in path.read_text().splitlines()]
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, and rows that it has not learned from."""
    folder = tmp_path_factory.mktemp("predict")
    learn(write(table(text=False), folder / "t.csv"), folder / "m")
    write(table(200, seed=5, text=False), folder / "new.csv")
    return folder


@pytest.fixture(scope="module")
def expected(folder):
    frame = pd.read_csv(folder / "new.csv")
    model = riparian.load(folder / "m")
    X = frame[["width", "age", "old"]].astype(float)
    return model.predict(X), model.predict_proba(X), frame["label"].to_numpy()


@pytest.mark.parametrize("name", READERS)
def test_classes_and_probabilities_are_those_of_the_model_in_every_format(
    name, folder, expected, tmp_path
):
    done = call("predict", folder / "m", folder / "new.csv", "-o", tmp_path / name)
    assert done.exit_code == 0, done.output
    assert done.stdout == "" and done.stderr.startswith("200 rows predicted in ")
    predicted = READERS[name](tmp_path / name)
    assert predicted.column_names == ["prediction", "proba_ash", "proba_elm", "proba_oak"]
    assert predicted["prediction"].to_pylist() == expected[0].tolist()
    proba = np.column_stack([predicted[name] for name in predicted.column_names[1:]])
    assert (proba == expected[1]).all()


def test_a_pipe_gives_what_a_file_would(folder, tmp_path):
    done = call("predict", folder / "m", folder / "new.csv", "-o", tmp_path / "p.csv")
    assert done.exit_code == 0
    piped = run("predict", "m", "-", "--format", "csv", "-o", "-", cwd=folder,
                input=(folder / "new.csv").read_text())  # fmt: skip
    assert piped.returncode == 0, piped.stderr
    assert piped.stdout == (tmp_path / "p.csv").read_text()


def test_the_reader_of_a_pipe_may_stop(folder):
    many = (folder / "new.csv").read_text() * 1
    many += "".join(many.splitlines(keepends=True)[1:]) * 300
    done = subprocess.run(
        f"{' '.join(RIPARIAN)} predict m - --format csv -o - | head -2", shell=True, cwd=folder,
        input=many, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert len(done.stdout.splitlines()) == 2
    assert "Traceback" not in done.stderr and "Error" not in done.stderr


@pytest.mark.parametrize("dtype", [np.int64, bool, "U3"])
def test_labels_keep_their_type(dtype, tmp_path):
    y = np.arange(60) % 2
    forest = riparian.OnlineForestClassifier(3).partial_fit(y[:, None], y.astype(dtype))
    forest.save(tmp_path / "m")
    (tmp_path / "t.csv").write_text("x\n0\n1\n")
    done = call("predict", tmp_path / "m", tmp_path / "t.csv", "-o", tmp_path / "p.parquet")
    assert done.exit_code == 0, done.output
    predicted = pyarrow.parquet.read_table(tmp_path / "p.parquet")["prediction"].to_pylist()
    assert predicted == forest.classes_.tolist()


# -- columns -------------------------------------------------------------------------------------------


def test_columns_are_found_by_their_names_and_new_ones_are_noted(folder, expected, tmp_path):
    frame = pd.read_csv(folder / "new.csv").assign(price=1, size=2)
    frame[frame.columns[::-1]].to_csv(tmp_path / "new.csv", index=False)
    done = call("predict", folder / "m", tmp_path / "new.csv", "-o", tmp_path / "p.csv", "--json")
    assert output_of(done)["unknown_columns"] == ["size", "price"]
    assert "the model does not use these columns: 'size', 'price'" in done.stderr
    assert READERS["p.csv"](tmp_path / "p.csv")["prediction"].to_pylist() == expected[0].tolist()


def test_missing_columns_are_an_error_unless_they_may_be_missing(folder, tmp_path):
    pd.read_csv(folder / "new.csv").drop(columns="age").to_csv(tmp_path / "new.csv", index=False)
    args = ("predict", folder / "m", tmp_path / "new.csv", "-o", tmp_path / "p.csv", "--json")
    done = call(*args)
    assert done.exit_code == 1
    assert "these columns are missing: 'age'; the file has 'width', 'old', 'label'" in done.stderr
    assert "no file was written" in done.stderr and not (tmp_path / "p.csv").exists()
    done = call(*args, "--fill-missing")
    assert output_of(done)["missing_columns"] == ["age"]
    assert "absent columns, treated as missing values: 'age'" in done.stderr
    X = pd.read_csv(tmp_path / "new.csv").assign(age=np.nan)[["width", "age", "old"]].astype(float)
    predicted = READERS["p.csv"](tmp_path / "p.csv")["prediction"].to_pylist()
    assert predicted == riparian.load(folder / "m").predict(X).tolist()


def test_the_target_need_not_be_there(folder, expected, tmp_path):
    pd.read_csv(folder / "new.csv").drop(columns="label").to_csv(tmp_path / "new.csv", index=False)
    done = call("predict", folder / "m", tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert done.exit_code == 0 and "not used" not in done.stderr
    assert READERS["p.csv"](tmp_path / "p.csv")["prediction"].to_pylist() == expected[0].tolist()


def test_a_command_that_fails_halfway_leaves_the_old_file(folder, tmp_path):
    (tmp_path / "p.csv").write_text("old")
    text = (folder / "new.csv").read_text() + "abc,1,true,oak\n"
    (tmp_path / "new.csv").write_text(text)
    done = call("predict", folder / "m", tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert done.exit_code == 1
    assert "row 201 (line 202), column 'width': expected a number" in done.stderr
    assert (tmp_path / "p.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.csv", "p.csv"]


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["-o", "p.xyz"], "give --output-format"),
        (["-o", "-", "--output-format", "parquet"], "Parquet cannot be written to a pipe"),
        (["-o", "-", "--json"], "both write to standard output"),
        (["-o", "no/such/p.csv"], "cannot write a file there"),
        ([], "Missing option '--output'"),
    ],
)
def test_an_output_that_cannot_be_meant_is_bad_usage(args, reason, folder):
    done = call("predict", folder / "m", folder / "new.csv", *args)
    assert (done.exit_code, reason in done.stderr) == (2, True), done.stderr


# -- models from Python --------------------------------------------------------------------------------


@pytest.fixture
def from_python(folder, tmp_path):
    frame = pd.read_csv(folder / "t.csv")
    X, y = frame[["width", "age", "old"]].astype(float), frame["label"].to_numpy()
    forest = riparian.OnlineForestClassifier(3, random_state=0)

    def save(named, **options):
        forest.partial_fit(X if named else X.to_numpy(), y).save(tmp_path / "python", **options)
        return tmp_path / "python"

    return save


@pytest.mark.parametrize("named", [True, False])
def test_a_model_saved_from_python_is_a_model(named, from_python, folder, expected, tmp_path):
    model = from_python(named, prediction_only=True)
    args = (model, folder / "new.csv")
    assert output_of(call("evaluate", *args, "-t", "label", "--json"))["accuracy"] == np.mean(
        expected[0] == expected[2]
    )
    ignore = [] if named else ["--ignore", "label"]
    done = call("predict", *args, "-o", tmp_path / "p.csv", *ignore)
    assert done.exit_code == 0, done.output
    assert READERS["p.csv"](tmp_path / "p.csv")["prediction"].to_pylist() == expected[0].tolist()


def test_a_model_without_names_takes_as_many_columns_as_it_has_features(
    from_python, folder, tmp_path
):
    model = from_python(named=False)
    done = call("predict", model, folder / "new.csv", "-o", tmp_path / "p.csv")
    assert done.exit_code == 1
    assert "the model has 3 features without names, but the file has 4 columns" in done.stderr


def test_a_model_from_python_does_not_know_its_target(from_python, folder):
    done = call("evaluate", from_python(named=True), folder / "new.csv")
    assert done.exit_code == 2 and "--target is required: the model does not name" in done.stderr


def test_names_and_libsvm_do_not_go_together(folder, tmp_path):
    (tmp_path / "t.libsvm").write_text("1 1:2\n")
    done = call("predict", folder / "m", tmp_path / "t.libsvm", "-o", tmp_path / "p.csv")
    assert done.exit_code == 1 and "LIBSVM has no column names" in done.stderr
    assert call("learn", tmp_path / "t.libsvm", "-m", tmp_path / "m", "--trees", 2).exit_code == 0
    done = call("predict", tmp_path / "m", folder / "new.csv", "-o", tmp_path / "p.csv")
    assert done.exit_code == 1 and "the model was learned from LIBSVM" in done.stderr


# -- evaluate ------------------------------------------------------------------------------------------


def test_scores_are_those_of_the_predictions(folder, expected):
    scores = Scores()
    scores.update(expected[2], expected[1], ["ash", "elm", "oak"])
    output = output_of(call("evaluate", folder / "m", folder / "new.csv", "--json"))
    assert {name: output[name] for name in scores.to_dict()} == scores.to_dict()
    assert output["unseen_classes"] == []


def test_the_terminal_shows_all_results(folder, tmp_path):
    done = call("evaluate", folder / "m", folder / "new.csv", "--html", tmp_path / "e.html")
    for word in (
        "accuracy",
        "kappa",
        "log loss",
        "precision",
        "confusion",
        "calibration",
        "report:",
    ):
        assert word in done.stdout
    assert "new.csv" in (tmp_path / "e.html").read_text()


def test_the_truth_must_be_there(folder, tmp_path):
    pd.read_csv(folder / "new.csv").drop(columns="label").to_csv(tmp_path / "new.csv", index=False)
    done = call("evaluate", folder / "m", tmp_path / "new.csv")
    assert done.exit_code == 1 and "these columns are missing: 'label'" in done.stderr


def test_labels_of_another_type_are_reported(folder, tmp_path):
    frame = pd.read_csv(folder / "new.csv").assign(label=1)
    frame.to_parquet(tmp_path / "new.parquet")
    done = call("evaluate", folder / "m", tmp_path / "new.parquet")
    assert done.exit_code == 1
    assert "column 'label': expected values of type text, got int64" in done.stderr


def test_nothing_to_evaluate_is_bad_data(folder, tmp_path):
    (tmp_path / "new.csv").write_text("width,age,old,label\n")
    done = call("evaluate", folder / "m", tmp_path / "new.csv")
    assert done.exit_code == 1 and "there are no rows to test on" in done.stderr


@pytest.fixture(scope="module")
def formulas(tmp_path_factory):
    """A model whose labels are formulas of a spreadsheet, and rows of each class."""
    folder = tmp_path_factory.mktemp("formulas")
    labels = ["=1+1", "@SUM(A1)", "oak"]
    rows = "".join(f"{i % 3},{labels[i % 3]}\n" for i in range(300))
    (folder / "t.csv").write_text(f"x,label\n{rows}")
    learn(folder / "t.csv", folder / "m")
    return folder


def test_a_label_that_is_a_formula_can_be_escaped(formulas, tmp_path):
    args = ["predict", formulas / "m", formulas / "t.csv", "-o", tmp_path / "p.csv"]
    call(*args)
    assert set(pd.read_csv(tmp_path / "p.csv")["prediction"]) == {"=1+1", "@SUM(A1)", "oak"}
    done = call(*args, "--escape-formulas")
    assert done.exit_code == 0, done.output
    assert set(pd.read_csv(tmp_path / "p.csv")["prediction"]) == {"'=1+1", "'@SUM(A1)", "oak"}
    done = call(*args[:-1], tmp_path / "p.parquet", "--escape-formulas")
    assert (done.exit_code, "expected CSV output, got parquet" in done.stderr) == (2, True)


def test_predictions_can_be_written_to_a_pipe_with_a_name(folder, tmp_path):
    os.mkfifo(tmp_path / "p.csv")
    process = start("predict", folder / "m", folder / "new.csv", "-o", tmp_path / "p.csv")
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 201
    process.communicate(timeout=60)
    assert process.returncode == 0
