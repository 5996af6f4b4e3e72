"""The command line predicts numbers where the target holds numbers, and says how it decided."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest

import riparian
from riparian.cli.learning.checkpoint import Checkpoint
from riparian.parameters.forests import ADAPTIVE_NUMBER_DEFAULT, NUMBER_DEFAULT

from commands import call

pytestmark = pytest.mark.engine

RNG = np.random.default_rng(0)
X = RNG.random((400, 3)).astype(np.float32)
Y = np.round(100 + 10 * X[:, 0] + RNG.normal(size=400), 3)


def write(path, targets, extra=()):
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["a", "b", "city", "y"])
        for (a, b, c), target in zip(X.tolist(), targets, strict=True):
            table.writerow([a, b, "Oslo" if c > 0.5 else "Rome", target])
        table.writerows(extra)
    return path


@pytest.fixture
def source(tmp_path):
    return write(tmp_path / "t.csv", Y.tolist())


def learn(source, model, *options):
    return call("learn", source, "-t", "y", "-m", model, "--trees", 3, *options)


def learned(source, model, *options):
    done = learn(source, model, "--json", "--quiet", *options)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_target_with_fractions_is_predicted_as_a_number_and_the_decision_is_said(
    source, tmp_path
):
    done = learn(source, tmp_path / "m")
    assert done.exit_code == 0
    assert "the target: numbers to predict; it has fractions such as" in done.stderr
    assert "--task classes" in done.stderr
    assert "RMSE" in done.stdout and "R²" in done.stdout
    assert isinstance(riparian.load(tmp_path / "m"), riparian.OnlineForestRegressor)


@pytest.mark.parametrize(
    ("different", "task"), [(20, "classes"), (21, "numbers")], ids=["few codes", "many codes"]
)
def test_more_than_20_different_whole_numbers_are_numbers(tmp_path, different, task):
    path = write(tmp_path / "t.csv", [i % different for i in range(400)])
    assert learned(path, tmp_path / "m")["task"] == task
    other = "numbers" if task == "classes" else "classes"
    assert learned(path, tmp_path / "n", "--task", other)["task"] == other


@pytest.mark.parametrize("label", ["oak", "true"])
def test_text_and_booleans_are_classes_and_cannot_be_numbers(tmp_path, label):
    other = {"oak": "elm", "true": "false"}[label]
    path = write(tmp_path / "t.csv", [label, other] * 200)
    assert learned(path, tmp_path / "m")["task"] == "classes"
    done = learn(path, tmp_path / "n", "--task", "numbers")
    assert done.exit_code == 1 and "--task numbers: expected a target of numbers" in done.stderr


def test_fractions_as_classes_are_refused_with_the_option_that_predicts_them(source, tmp_path):
    done = learn(source, tmp_path / "m", "--task", "classes")
    assert done.exit_code == 1 and "--task numbers predicts numbers" in done.stderr


def test_the_model_is_that_of_the_estimator_and_predicts_the_raw_table(source, tmp_path):
    learned(source, tmp_path / "m", "--no-eval")
    frame = pd.read_csv(source)
    twin = riparian.OnlineForestRegressor(3, random_state=0)
    twin.partial_fit(frame[["a", "b", "city"]].astype({"a": "float32", "b": "float32"}), frame["y"])
    model = riparian.load(tmp_path / "m")
    answers = model.predict(frame[["a", "b", "city"]])
    assert answers.tolist() == twin.predict(frame[["a", "b", "city"]]).tolist()
    done = call("predict", tmp_path / "m", source, "-o", tmp_path / "p.csv", "--keep", "city")
    assert done.exit_code == 0
    predicted = pd.read_csv(tmp_path / "p.csv")
    assert [*predicted.columns] == ["city", "prediction"]
    np.testing.assert_allclose(predicted["prediction"], answers, rtol=1e-15)


def test_scores_are_those_of_rows_predicted_just_before_they_are_learned(source, tmp_path):
    scores = learned(source, tmp_path / "m")["prequential"]
    frame = pd.read_csv(source)
    rows = frame[["a", "b", "city"]].astype({"a": "float32", "b": "float32"})
    forest = riparian.OnlineForestRegressor(3, random_state=0)
    errors = []
    for i in range(len(rows)):
        if i:
            errors.append(frame["y"][i] - forest.predict(rows[i : i + 1])[0])
        forest.partial_fit(rows[i : i + 1], frame["y"][i : i + 1])
    assert scores["rows"] == 399
    assert scores["rmse"] == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=1e-12)


@pytest.mark.parametrize("bad", ["inf", "1e200"])
def test_a_target_that_cannot_be_learned_is_an_error_with_its_row(tmp_path, bad):
    path = write(tmp_path / "t.csv", Y.tolist(), [["0.1", "0.2", "Oslo", bad]])
    done = learn(path, tmp_path / "m")
    assert done.exit_code == 1
    assert "row 401" in done.stderr and "the target must be a finite number" in done.stderr
    assert learned(path, tmp_path / "m", "--on-error", "skip")["skipped"]["rows"] == 1


def test_a_missing_target_is_an_error_or_is_skipped(tmp_path):
    path = write(tmp_path / "t.csv", Y.tolist(), [["0.1", "0.2", "Oslo", ""]])
    done = learn(path, tmp_path / "m")
    assert done.exit_code == 1 and "the target is missing" in done.stderr
    assert learned(path, tmp_path / "m", "--on-error", "skip")["rows"] == 400


@pytest.mark.parametrize(
    "option",
    [("--voting", "majority"), ("--class-weight", "balanced"),
     ("--memories", "0.5"), ("--threshold", "0.5"), ("--positive", "1")],
)  # fmt: skip
def test_options_of_classes_are_refused(source, tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    adaptive = ("--adaptive",) if option[0] == "--memories" else ()
    done = learn(source, tmp_path / "m", *adaptive, *option)
    assert done.exit_code == 2 and option[0] in done.stderr
    assert not (tmp_path / "m").exists()


def test_adaptive_learns_the_forest_for_streams_that_change(tmp_path):
    turned = np.where(np.arange(400) < 200, Y, 210 - Y)
    source = write(tmp_path / "t.csv", turned.tolist())
    scores = learned(source, tmp_path / "m", "--adaptive", "--html", tmp_path / "m.html")
    model = riparian.load(tmp_path / "m")
    assert type(model) is riparian.AdaptiveForestRegressor
    assert scores["replacements"] == [list(pair) for pair in model.replacements_] != []
    assert "trees replaced" in (tmp_path / "m.html").read_text()
    described = json.loads(call("inspect", tmp_path / "m", "--json").stdout)
    assert described["task"] == "numbers"
    assert len(described["replacements"]) == len(model.replacements_)
    assert call("predict", tmp_path / "m", source, "-o", tmp_path / "p.csv").exit_code == 0
    calm = learned(source, tmp_path / "n")
    assert calm["prequential"]["rmse"] > scores["prequential"]["rmse"]
    assert calm["replacements"] is None


def test_the_forests_for_numbers_have_the_same_defaults_so_that_the_help_holds_for_both():
    others = {
        name for name in NUMBER_DEFAULT if ADAPTIVE_NUMBER_DEFAULT[name] != NUMBER_DEFAULT[name]
    }
    assert others == {"lag"}  # its help names both


@pytest.mark.parametrize(
    ("options", "lag"),
    [
        ((), 0),
        (("--lag", 3), 3),
        (("--adaptive",), 1),
        (("--adaptive", "--lag", 0), 0),
        (("--adaptive", "--delay", 1), 1),
        (("--adaptive", "--delay", 20), 20),
        (("--adaptive", "--delay", 20, "--lag", 1), 1),
        (("--delay", 20), 0),
    ],
)
def test_an_adaptive_forest_follows_the_last_target_that_is_known(source, tmp_path, options, lag):
    learned(source, tmp_path / "m", *options)
    forest = riparian.load(tmp_path / "m")
    assert forest.lag == lag
    words = call("inspect", tmp_path / "m").stdout
    assert ("from the last target" in words) == (lag > 0)


def test_a_delay_learns_the_same_model(source, tmp_path):
    learned(source, tmp_path / "m")
    late = learned(source, tmp_path / "late", "--delay", 50)
    assert (tmp_path / "m").read_bytes() == (tmp_path / "late").read_bytes()
    assert late["prequential"]["rows"] < 399


def test_a_run_that_resumes_ends_with_the_same_model_and_scores(source, tmp_path, monkeypatch):
    whole = learned(source, tmp_path / "m", "--html", tmp_path / "m.html")

    class PowerCut(Exception):
        pass

    write_whole = Checkpoint.write

    def write_and_fail(*about):
        write_whole(*about)
        raise PowerCut

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", write_and_fail)
        stopped = learn(source, tmp_path / "n", "--checkpoint-every", 150)
    assert isinstance(stopped.exception, PowerCut)
    resumed = learned(
        source, tmp_path / "n", "--checkpoint-every", 150, "--resume", "--html", tmp_path / "n.html"
    )
    pages = [(tmp_path / name).read_text() for name in ("m.html", "n.html")]
    drawn = [
        re.findall(r'id="data-(?:truth|residuals|ranges)">(.*?)</script>', page) for page in pages
    ]
    assert drawn[0] == drawn[1] and len(drawn[0]) == 3  # predictions against true numbers
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    assert resumed["prequential"] == whole["prequential"]


def test_a_model_is_tested_and_described(source, tmp_path):
    learned(source, tmp_path / "m")
    scores = json.loads(call("evaluate", tmp_path / "m", source, "--json").stdout)
    assert scores["rows"] == 400 and 0 < scores["rmse"] < 10
    described = json.loads(call("inspect", tmp_path / "m", "--json").stdout)
    assert described["task"] == "numbers" and described["classes"] == []
    assert "numbers" in call("inspect", tmp_path / "m").stdout


def test_features_are_permuted_and_the_report_shows_it(source, tmp_path):
    learned(source, tmp_path / "m")
    done = call("evaluate", tmp_path / "m", source, "--permutation", 2, "--json")
    lost = json.loads(done.stdout)["permutation"]
    assert len(lost) == 2
    assert lost[0]["absolute_error"]["mean"] >= lost[1]["absolute_error"]["mean"]
    assert lost[0]["absolute_error"]["low"] > 0 and lost[0]["squared_error"]["mean"] > 0
    names = [each["feature"] for each in lost]
    html = tmp_path / "e.html"
    options = ("--permutation", 2, "--html", html, "--pair", *names)
    done = call("evaluate", tmp_path / "m", source, *options)
    assert done.exit_code == 0, done.output
    assert "absolute error added without a feature" in done.stdout
    page = html.read_text()
    for chart in ("truth", "permutation", "dependence-0", "plane"):
        assert f'id="chart-{chart}"' in page


def test_a_model_of_numbers_is_exported(source, tmp_path):
    learned(source, tmp_path / "m")
    done = call("export", tmp_path / "m", tmp_path / "m.h", "--json")
    assert json.loads(done.stdout)["classes"] == []
    assert "double m_predict(const float *x)" in (tmp_path / "m.h").read_text()


# -- intervals ----------------------------------------------------------------------------------------


def test_a_model_that_has_learned_a_coverage_writes_both_ends_of_each_interval(source, tmp_path):
    model, out = tmp_path / "m", tmp_path / "out.csv"
    learned(source, model, "--interval", 0.9, "--interval", 0.5)
    done = call("predict", model, source, "-o", out, "--interval", 0.9, "--quiet")
    assert done.exit_code == 0, done.output
    written = pd.read_csv(out)
    assert list(written) == ["prediction", "low", "high"]
    assert (written.low <= written.high).all()
    assert riparian.load(model).intervals == [0.9, 0.5]


def test_learning_scores_the_intervals_that_were_given(source, tmp_path):
    html = tmp_path / "report.html"
    done = learn(source, tmp_path / "m", "--interval", 0.9, "--html", html)
    assert "0.9 intended, coverage" in done.stdout
    assert 'id="data-fan"' in html.read_text()
    late = learned(source, tmp_path / "late", "--interval", 0.9, "--delay", 20)
    (scores,) = late["prequential"]["intervals"]
    assert scores["intended"] == 0.9
    assert scores["mean_width"] > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--interval", 0.8], "the model has learned 0.9; learn it with --interval 0.8"),
        (["--interval", 90], "the model has learned 0.9; learn it with --interval 90"),
    ],
)
def test_a_coverage_that_the_model_has_not_learned_is_refused(source, tmp_path, options, message):
    learned(source, tmp_path / "m", "--interval", 0.9)
    done = call("predict", tmp_path / "m", source, "-o", tmp_path / "out.csv", *options)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "out.csv").exists()


def test_intervals_are_for_numbers(source, tmp_path):
    done = learn(source, tmp_path / "m", "--task", "classes", "--interval", 0.9)
    assert done.exit_code == 2
    assert "--interval is for numbers, and the target holds classes" in " ".join(
        done.stderr.split()
    )
    done = learn(source, tmp_path / "m", "--interval", 90)
    assert done.exit_code == 2
    assert "--interval must hold coverages above 0 and below 1" in " ".join(done.stderr.split())


@pytest.mark.parametrize("task", ["numbers", "classes"])
def test_an_error_that_grows_along_the_stream_gets_a_hint(tmp_path, task):
    level = 5 if task == "classes" else 100
    noise = np.r_[np.zeros(1500), RNG.integers(0, level, 1500)]  # what cannot be known grows
    targets = {"numbers": 0.25 + noise, "classes": noise}
    for name, y in {"grows": targets[task], "stays": targets[task][::-1]}.items():
        pd.DataFrame({"a": RNG.random(3000), "y": y}).to_csv(tmp_path / "t.csv", index=False)
        for more in ([], ["--adaptive"]):
            options = ["-m", tmp_path / "m", "--trees", 3, "--window", 100, "--task", task]
            done = call("learn", tmp_path / "t.csv", "-t", "y", *options, *more)
            assert done.exit_code == 0, done.output
            hinted = "has grown along the stream" in done.stdout and "try --adaptive" in done.stdout
            assert hinted == (name == "grows" and not more)
