"""`riparian learn` learns the same as the estimator, and tests each row before it is learned."""

from __future__ import annotations

import json
import re
from inspect import signature

import numpy as np
import pandas as pd
import pytest

import riparian
from riparian import (
    AdaptiveForestClassifier,
    AdaptiveForestRegressor,
    Geometric,
    OnlineForestClassifier,
    Polynomial,
)
from riparian.cli.option_groups.forest import ForestOptions
from riparian.cli.option_groups.learning import StreamOptions
from riparian.evaluation import Prequential
from riparian.table.target import Target

from commands import SMALL, call, learn, output_of, table, write

COLUMNS = ["width", "age", "old"]


@pytest.fixture(scope="module")
def data():
    return table(text=False)


@pytest.fixture(scope="module")
def path(data, tmp_path_factory):
    return write(data, tmp_path_factory.mktemp("learn") / "t.csv")


@pytest.fixture(scope="module")
def points(data):
    columns = [np.array(data[name].to_pylist(), dtype=np.float64) for name in COLUMNS]
    return np.column_stack(columns).astype(np.float32), np.array(data["label"].to_pylist())


def forest(**changes):
    return OnlineForestClassifier(3, random_state=0, **changes)


def same(model, expected, X):
    named = pd.DataFrame(X, columns=model.feature_names_in_)
    return (model.predict_proba(named) == expected.predict_proba(X)).all()


def test_the_model_is_what_the_estimator_learns_and_loads_in_python(path, points, tmp_path):
    learn(path, tmp_path / "m")
    X, y = points
    model = riparian.load(tmp_path / "m")
    assert same(model, forest().partial_fit(X, y), X)
    assert model.classes_.tolist() == ["ash", "elm", "oak"]
    assert model.feature_names_in_.tolist() == COLUMNS


def test_a_forest_is_eager_unless_an_option_says_otherwise(path, points, tmp_path):
    learn(path, tmp_path / "m")
    learn(path, tmp_path / "n", "--no-eager")
    assert riparian.load(tmp_path / "m").eager is True
    honest = riparian.load(tmp_path / "n")
    assert honest.eager is False
    assert same(honest, forest(eager=False).partial_fit(*points), points[0])


def test_how_it_was_tested_and_how_many_threads_learned_is_not_in_the_model(path, tmp_path):
    model = learn(path, tmp_path / "m")
    for args in (["--no-eval"], ["--block", 7], ["--threads", 2], ["--window", 5], ["--delay", 9]):
        assert learn(path, tmp_path / "m", *args) == model


@pytest.mark.parametrize("block", [1, 20, 1000])
def test_every_row_but_the_first_is_predicted_just_before_it_is_learned(
    block, path, points, tmp_path
):
    args = ("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, "--json")
    data = output_of(call(*args, "--block", block))["prequential"]
    X, y = points
    expected, test = forest(), Prequential()
    for i in range(len(y)):
        row = slice(i, i + 1)
        if i:
            test.update(y[row], expected.predict_proba(X[row]), expected.classes_)
        expected.partial_fit(X[row], y[row])
    assert data["rows"] == 299
    assert data == json.loads(json.dumps(test.to_dict()))


@pytest.mark.parametrize("delay", [1, 30, 1000])
def test_labels_may_come_late(delay, path, points, tmp_path):
    args = ("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, "--block", 20, "--json")
    data = output_of(call(*args, "--delay", delay))
    X, y = points
    late, test = forest(), Prequential(delay=delay)
    for first in range(0, len(y), 20):
        test.test_then_train(late, X[first : first + 20], y[first : first + 20])
    assert data["rows"] == 300
    assert data["prequential"] == json.loads(json.dumps(test.to_dict()))
    # A block is not tested before a label is there: rows are learned `delay` rows later.
    assert data["prequential"]["rows"] == {1: 299, 30: 260, 1000: 0}[delay]


def test_a_delay_conflicts_with_no_test(path, tmp_path):
    done = call("learn", path, "-t", "label", "-m", tmp_path / "m", "--delay", 3, "--no-eval")
    assert done.exit_code == 2
    assert "--delay 3 conflicts with --no-eval" in done.stderr


def test_a_delay_is_shown(path, tmp_path):
    done = call("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, "--delay", 30)
    assert "labels arrive 30 rows late" in done.stdout


def test_a_second_pass_is_no_test(path, tmp_path):
    args = ("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, "--json")
    once, twice = output_of(call(*args)), output_of(call(*args, "--passes", 2))
    assert twice["rows"] == 2 * once["rows"] == 600
    assert twice["prequential"] == once["prequential"]
    assert riparian.load(tmp_path / "m").model_.history.passes == 2


def test_a_window_that_holds_all_rows_shuffles_as_fit_does(path, points, tmp_path):
    X, y = points
    learn(path, tmp_path / "m", "--shuffle-window", 1000, "--passes", 3)
    assert same(riparian.load(tmp_path / "m"), forest(passes=3).fit(X, y), X)


def test_windows_shuffle_within_themselves(path, points, tmp_path):
    from riparian.engine.draws import shuffled

    X, y = points
    learn(path, tmp_path / "m", "--shuffle-window", 128)
    order = np.concatenate(
        [128 * i + shuffled(0, i << 32, min(128, 300 - 128 * i)) for i in range(3)]
    )
    assert same(riparian.load(tmp_path / "m"), forest().partial_fit(X[order], y[order]), X)


def test_the_limit_counts_rows_of_the_stream(path, points, data, tmp_path):
    X, y = points
    limited = learn(path, tmp_path / "m", "--limit", 123)
    assert same(riparian.load(tmp_path / "m"), forest().partial_fit(X[:123], y[:123]), X)
    assert limited == learn(write(data.slice(0, 123), tmp_path / "t.csv"), tmp_path / "m")


def test_columns_can_be_left_out(path, points, tmp_path):
    X, y = points
    learn(path, tmp_path / "m", "--ignore", "age", "--ignore", "width")
    assert same(riparian.load(tmp_path / "m"), forest().partial_fit(X[:, 2:], y), X[:, 2:])


@pytest.mark.parametrize(
    ("target", "classes"),
    [
        (["5", "-3"], [-3, 5]),
        (["true", "false"], [False, True]),
        (["1.0", "2.0"], [1, 2]),
        (["2020-01-01", "2020-01-02"], ["2020-01-01", "2020-01-02"]),
        (["NA", "oak"], ["NA", "oak"]),
    ],
)
def test_a_target_is_text_or_whole_numbers_or_true_and_false(target, classes, tmp_path):
    (tmp_path / "t.csv").write_text(
        "x,label\n" + "".join(f"{i},{t}\n" for i, t in enumerate(target * 9))
    )
    learn(tmp_path / "t.csv", tmp_path / "m")
    assert riparian.load(tmp_path / "m").classes_.tolist() == classes


# -- options -------------------------------------------------------------------------------------------

TARGET = Target("label", "str")


def test_every_parameter_of_the_estimators_is_an_option():
    # Which columns are categories is decided by the table, and by --categorical.
    elsewhere = {"passes", "shuffle", "categorical_features", "max_categories"}
    options = {*vars(ForestOptions())} | elsewhere
    forests = (AdaptiveForestClassifier, AdaptiveForestRegressor)
    parameters = {name for forest in forests for name in signature(forest).parameters}
    assert options == {*parameters, "adaptive"}


@pytest.mark.parametrize("adaptive", [False, True])
def test_options_that_are_not_given_are_the_defaults_of_the_estimator(adaptive):
    estimator = ForestOptions(adaptive=adaptive).estimator(TARGET)
    theirs = type(estimator)().get_params()
    # A command should do the same twice, and use the machine; neither changes what it means.
    assert estimator.get_params() == theirs | {"random_state": 0, "n_jobs": -1}
    assert StreamOptions().passes == theirs["passes"]


@pytest.mark.parametrize(
    ("args", "parameters"),
    [
        (["--trees", 5], {"n_estimators": 5}),
        (["--candidate-dims", 1.5], {"candidate_dims": 1.5}),
        (["--split-points", 4], {"split_points": 4}),
        (["--min-gain", 0.1], {"min_gain": 0.1}),
        (["--alpha", "polynomial:1,2", "--beta", 30], {"alpha": Polynomial(1, 2), "beta": 30.0}),
        (["--beta", "geometric:9,1.2"], {"beta": Geometric(9, 1.2)}),
        (["--structure-fraction", 0.4], {"structure_fraction": 0.4}),
        (["--ignore-fraction", 0.2], {"ignore_fraction": 0.2}),
        (["--fringe-size", 3], {"fringe_size": 3}),
        (["--max-memory", "1MB"], {"max_memory": "1MB"}),
        (["--max-memory", "none"], {"max_memory": None}),
        (["--kept-points", 0], {"kept_points": 0}),
        (["--kept-points", 50], {"kept_points": 50}),
        (["--kept-points", "auto"], {"kept_points": "auto"}),
        (["--max-memory", "1000000"], {"max_memory": 1_000_000}),
        (["--voting", "majority"], {"voting": "majority"}),
        (["--class-weight", "balanced"], {"class_weight": "balanced"}),
        (["--class-weight", "oak=2", "--class-weight", "elm=.5"],
         {"class_weight": {"oak": 2.0, "elm": 0.5}}),
        (["--seed", 7], {"random_state": 7}),
    ],
)  # fmt: skip
def test_an_option_is_what_the_estimator_is_given(args, parameters, path, points, tmp_path):
    done = call("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, *args)
    assert done.exit_code == 0, done.output
    X, y = points
    model, expected = riparian.load(tmp_path / "m"), forest().set_params(**parameters)
    assert same(model, expected.partial_fit(X, y), X)
    for name, value in parameters.items():
        assert model.get_params()[name] == value


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["--trees", 0], "--trees must be from 1 to"),
        (["--trees", "many"], "Invalid value for '--trees'"),
        (["--alpha", "linear:1,2"], "--alpha must be like geometric:1,1.05"),
        (["--alpha", "geometric:0,1"], "start must be > 0, got 0.0"),
        (["--alpha", "geometric:100,1.1", "--beta", "geometric:1,1.1"], "--beta must be >= alpha"),
        (["--beta", "x"], "--beta must be like"),
        (["--voting", "loud"], "--voting must be 'average' or 'majority', got 'loud'"),
        (["--max-memory", "10"], "--max-memory must be at least"),
        (["--max-memory", "much"], "--max-memory"),
        (["--kept-points", "many"], "--kept-points must be"),
        (["--kept-points", -1], "--kept-points must be from 0"),
        (["--kept-points", 10**6, "--max-memory", "1MB"], "--kept-points must be at most"),
        (["--class-weight", "oak"], "--class-weight must be balanced, or LABEL=WEIGHT"),
        (["--class-weight", "oak=-1"], "--class-weight must hold numbers from 0"),
        (["--candidate-dims", "all"], "--candidate-dims must be a number or 'sqrt' or '2sqrt'"),
        (["--threads", 0], "--threads"),
        (["--checkpoint-every", "5m"], "--checkpoint-every must be a number of rows"),
        (["--checkpoint-every", "0"], "--checkpoint-every must be a number of rows"),
        (["--ignore", "colour"], "--ignore 'colour': "),
        (["--target", "lable"], "has no such column; it has 'width', 'age', 'old', 'label'"),
        (["--model", "no/such/folder"], "cannot write a file there"),
        (["--html", "no/such/folder"], "cannot write a file there"),
        (["--bogus"], "No such option: --bogus"),
    ],
)
def test_an_option_that_cannot_be_meant_is_bad_usage(args, reason, path, tmp_path):
    done = call("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, *args)
    assert (done.exit_code, reason in done.stderr) == (2, True), done.stderr
    assert done.stdout == "" and not (tmp_path / "m").exists()


def test_a_first_row_that_was_taken_for_a_header_is_detected(tmp_path):
    (tmp_path / "t.csv").write_text("0.5,1,a\n0.7,1,b\n")
    done = call("learn", "t.csv", "-t", "label", "-m", "m", cwd=tmp_path)
    assert done.exit_code == 2
    assert "it has '0.5', '1', 'a'; if the file has no header, give --no-header" in done.stderr


def test_a_model_without_a_name_is_named_like_its_source(data, tmp_path):
    write(data, tmp_path / "trees.csv.gz")
    args = ("learn", "trees.csv.gz", "-t", "label", *SMALL)
    assert output_of(call(*args, "--json", cwd=tmp_path))["model"] == "trees.riparian"
    assert riparian.load(tmp_path / "trees.riparian").classes_.tolist() == ["ash", "elm", "oak"]
    again = call(*args, cwd=tmp_path)
    assert again.exit_code == 2 and "trees.riparian already exists" in again.stderr
    piped = call("learn", "-", "--format", "csv", "-t", "label", input="x,label\n1,a\n")
    assert piped.exit_code == 2 and "--model is required" in piped.stderr


def test_the_target_must_be_named(path, tmp_path):
    done = call("learn", path, "-m", tmp_path / "m")
    assert done.exit_code == 2 and "--target must name the column to predict" in done.stderr


def test_another_delimiter_is_guessed_at(tmp_path):
    (tmp_path / "t.csv").write_text("x;label\n1;a\n")
    done = call("learn", tmp_path / "t.csv", "-t", "label", "-m", tmp_path / "m")
    assert done.exit_code == 2 and "it has 'x;label'; do you need --delimiter?" in done.stderr


def test_a_name_with_blanks_around_it_is_guessed_at(tmp_path):
    (tmp_path / "t.csv").write_text("x, label\n1, a\n")
    done = call("learn", tmp_path / "t.csv", "-t", "label", "-m", tmp_path / "m")
    assert done.exit_code == 2 and "do you mean ' label'?" in done.stderr


@pytest.mark.parametrize(
    ("name", "what_to_do"), [("t.csv.zip", "unpack it first"), ("t.xlsx", "export it as CSV")]
)
def test_an_error_about_an_unreadable_file_says_what_to_do(name, what_to_do, tmp_path):
    (tmp_path / name).write_bytes(b"PK")
    done = call("learn", tmp_path / name, "-t", "label", "-m", tmp_path / "m")
    assert done.exit_code == 2
    assert (
        f".{name.rpartition('.')[2]} files are not supported" in done.stderr
        and what_to_do in done.stderr
    )


def test_a_schedule_without_a_guarantee_is_noted(path, tmp_path):
    done = call(
        "learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, "--alpha", "geometric:1,1"
    )
    assert done.exit_code == 0
    assert done.stderr.count("note: Geometric(start=1.0, rate=1.0) as alpha is constant") == 1


# -- the output -----------------------------------------------------------------------------------------


def test_the_terminal_shows_the_result(path, tmp_path):
    done = call("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL)
    for word in (
        "300 rows",
        "test-then-train over 299 rows",
        "answers come",
        "kappa",
        "log loss",
        "confusion",
    ):
        assert word in done.stdout
    assert done.stderr.splitlines() == [
        f"columns of {path}:",
        "  width  number",
        "  age    number",
        "  old    number",
        "  label  the target: text",
        "saving the model ...",
        "summing up ...",
    ]
    assert call("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, "--quiet").stderr == ""


def test_a_budget_that_binds_is_said(path, tmp_path):
    args = ("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, "--kept-points", 20)
    bound = call(*args, "--max-memory", "15kB")
    assert re.search(r"max_memory binds: \d+ leaves evicted", bound.stdout)
    assert "max_memory binds" in call("inspect", tmp_path / "m").stdout
    assert "max_memory binds" not in call(*args).stdout
    output = output_of(call(*args, "--max-memory", "15kB", "--json"))
    assert output["forest"]["budget_binds"] is True


def test_sparse_points_are_kept_sparse(tmp_path):
    rows = "".join(f"{i % 2} {1 + i % 3}:{i} 400:1\n" for i in range(200))
    (tmp_path / "t.libsvm").write_text(rows)
    done = call("learn", tmp_path / "t.libsvm", "-m", tmp_path / "m", *SMALL, "--json")
    assert output_of(done)["forest"]["memory"]["kept"] == 200 * (4 * 256 + 16)


def test_with_many_classes_the_most_confused_ones_are_shown(tmp_path):
    rng = np.random.default_rng(0)
    rows = "".join(f"{y},{rng.normal()},{y % 20}\n" for y in range(600))
    (tmp_path / "t.csv").write_text(f"x,z,label\n{rows}")
    done = call("learn", tmp_path / "t.csv", "-t", "label", "-m", tmp_path / "m", *SMALL)
    assert "most frequent confusions, of 20 classes" in done.stdout


def test_json_has_the_same_in_one_document(path, tmp_path):
    output = output_of(call("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, "--json"))
    assert output["rows"] == 300 and output["features"] == 3
    assert output["classes"] == ["ash", "elm", "oak"]
    assert output["model_bytes"] == (tmp_path / "m").stat().st_size
    assert output["forest"]["memory"]["total"] > 0
    assert np.sum(output["prequential"]["confusion"]) == 299
    assert [point["row"] for point in output["curve"]] == [100, 200, 300]
    assert output["curve"][-1]["accuracy"] == output["prequential"]["accuracy"]


def test_the_report_has_the_curve(path, tmp_path):
    done = call(
        "learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, "--html", tmp_path / "r.html"
    )
    assert f"report: {tmp_path / 'r.html'}" in done.stdout
    html = (tmp_path / "r.html").read_text()
    assert "300 rows" in html and str(path) in html
