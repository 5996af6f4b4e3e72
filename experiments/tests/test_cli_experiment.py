"""`riparian experiment`: the commands, from their options to the files they write."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from riparian_experiments import mixture, usps
from riparian_experiments.cli.experiment import app
from riparian_experiments.running import Interrupted

NAMES = ["figure.png", "figure.svg", "runs.csv", "settings.json", "table.md"]


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    """Quick is not quick enough here; and no data may be found by accident."""
    tiny = replace(mixture.QUICK, trees=5, sizes=(50, 100), test_points=500)
    monkeypatch.setattr(mixture, "QUICK", tiny)
    monkeypatch.setattr(usps, "QUICK", replace(usps.QUICK, trees=5))
    monkeypatch.setattr(usps, "QUICK_SIZES", 2)
    monkeypatch.setenv("RIPARIAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("RIPARIAN_DATA", raising=False)


@pytest.fixture
def no_figures(monkeypatch):
    """Drawing takes longer than everything else here."""
    monkeypatch.setattr("riparian_experiments.results.write_figure", lambda figure, out: None)


def experiment(*options):
    return CliRunner().invoke(app, [str(option) for option in (*options, "--jobs", 1)])


def files(out):
    return sorted(file.name for file in out.iterdir())


def test_mixture_writes_its_files_and_prints_its_table(tmp_path):
    out = tmp_path / "out"
    result = experiment("mixture", "--out", out, "--quick")
    assert result.exit_code == 0, result.output
    assert files(out) == NAMES
    header, _, first, *_ = result.stdout.splitlines()
    assert header.startswith("| points learned | forest, averaged | forest, by vote | mean tree")
    assert first.startswith("| 50 | 0.")
    assert f"are in {out}" in result.stderr


def test_usps_without_data_says_loudly_what_it_runs_on(tmp_path):
    result = experiment("usps", "--out", tmp_path / "out", "--quick", "--runs", 1)
    assert result.exit_code == 0, result.output
    assert "the experiment runs on scikit-learn's digits, not on USPS" in result.stderr
    assert "riparian data usps" in result.stderr
    assert "scikit-learn's digits (not USPS)" in (tmp_path / "out" / "table.md").read_text()
    settings = json.loads((tmp_path / "out" / "settings.json").read_text())
    assert settings["settings"]["data"]["name"] == "scikit-learn's digits (not USPS)"
    assert settings["extent"] == {"runs": 1, "sizes": [20, 1297], "methods": list(usps.Method)}


def test_usps_takes_data_and_writes_no_path_of_it(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    X[:, 0] += 4 * y
    data = tmp_path / "secret" / "two.npz"
    data.parent.mkdir()
    np.savez(data, X_train=X[:30], y_train=y[:30], X_test=X[30:], y_test=y[30:])
    options = ("--method", "online", "--quick", "--data", data)
    result = experiment("usps", "--out", tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    assert "the experiment runs on two, not on USPS" in result.stderr
    for name in NAMES:
        assert b"secret" not in (tmp_path / "out" / name).read_bytes()


def test_machines_get_the_curves(tmp_path, no_figures):
    result = experiment("mixture", "--out", tmp_path, "--quick", "--json")
    output = json.loads(result.stdout)
    assert output["experiment"] == "mixture"
    forest, *_ = output["panels"][0]["curves"]
    assert (forest["label"], forest["x"], forest["runs"]) == ("forest, averaged", [50, 100], 3)
    assert 0 < forest["mean"][0] < output["panels"][0]["lines"]["Bayes classifier"] < 1


def test_the_seed_changes_the_runs(tmp_path, no_figures):
    for seed in (0, 1):
        experiment("mixture", "--out", tmp_path / str(seed), "--quick", "--seed", seed)
    first, second = ((tmp_path / name / "runs.csv").read_text() for name in "01")
    assert first != second


def test_more_runs_are_added_to_those_there_are(tmp_path, no_figures):
    experiment("mixture", "--out", tmp_path, "--quick", "--runs", 1)
    before = (tmp_path / "runs.csv").read_text()
    assert experiment("mixture", "--out", tmp_path, "--quick", "--runs", 2).exit_code == 0
    assert (tmp_path / "runs.csv").read_text().startswith(before)


def test_other_settings_in_the_same_folder_are_bad_usage(tmp_path, no_figures):
    experiment("mixture", "--out", tmp_path, "--quick")
    result = experiment("mixture", "--out", tmp_path, "--quick", "--seed", 1)
    assert result.exit_code == 2
    assert "settings.seed is 0 there and 1 here; give another --out, or --fresh" in result.stderr
    again = experiment("mixture", "--out", tmp_path, "--quick", "--seed", 1, "--fresh")
    assert again.exit_code == 0


@pytest.mark.parametrize(
    "options",
    [
        ("mixture", "--out", "{out}", "--runs", 0),
        ("mixture",),
        ("usps", "--out", "{out}", "--method", "nonsense"),
        ("nonsense", "--out", "{out}"),
    ],
)
def test_unusable_options_are_bad_usage(options, tmp_path):
    assert experiment(*[str(o).format(out=tmp_path / "out") for o in options]).exit_code == 2
    assert not (tmp_path / "out").exists()


def test_bad_data_is_named_with_its_line(tmp_path):
    (tmp_path / "usps").write_text("1 1:0.5\n2 1:half\n")
    (tmp_path / "usps.t").write_text("1 1:0.5\n")
    out = tmp_path / "out"
    result = experiment("usps", "--out", out, "--quick", "--data", tmp_path, "--json")
    assert result.exit_code == 1
    assert "usps, line 2: expected a number, got 'half'" in result.stderr
    assert json.loads(result.stdout)["error"]["exit_code"] == 1
    assert not out.exists()


def test_too_little_data_is_bad_data(tmp_path):
    X, y = np.eye(3), np.arange(3)
    np.savez(tmp_path / "few.npz", X_train=X, y_train=y, X_test=X, y_test=y)
    result = experiment("usps", "--out", tmp_path / "out", "--data", tmp_path / "few.npz")
    assert result.exit_code == 1
    assert "the training set must have at least 20 points, got 3" in result.stderr


def test_an_interrupt_says_how_to_go_on(tmp_path, monkeypatch):
    def write_all(*args, **kwargs):
        raise Interrupted("3 of 10 pieces are kept")

    monkeypatch.setattr("riparian_experiments.results.write_all", write_all)
    result = experiment("mixture", "--out", tmp_path)
    assert result.exit_code == 130
    assert "3 of 10 pieces are kept" in result.stderr


@pytest.mark.parametrize("command", ["mixture", "usps"])
def test_help_shows_an_example(command):
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert f"Example: riparian experiment {command}" in result.stdout.replace("`", "")


def test_the_data_sets_are_also_fetched_by_the_command_of_this_package():
    result = CliRunner().invoke(app, ["data", "usps", "-h"])
    assert result.exit_code == 0 and "Download the handwritten digits of USPS" in result.output
