"""`riparian experiment kinect`: from its options to the files it writes, also when it is killed."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time

import pytest
from motion_capture import write_folder
from typer.testing import CliRunner

from riparian_experiments.body import PART_NAMES
from riparian_experiments.cli.experiment import app

SMALL = ("--size", "80x60", "--train", 6, "--test", 3, "--trees", 3, "--candidates", 10)
NAMES = [
    "costs.csv", "features.png", "figure.png", "figure.svg", "parts.md", "parts.png", "parts.svg",
    "predictions-kept.png", "predictions-ours.png", "predictions-saffari.png", "runs.csv",
    "settings.json", "table.md", "work",
]  # fmt: skip


@pytest.fixture
def no_figures(monkeypatch):
    """Drawing takes longer than everything else here."""
    for module in ("results", "kinect.extras"):
        monkeypatch.setattr(f"riparian_experiments.{module}.write_figure", lambda *args: None)


def texts(*options):
    return [str(option) for option in options]


def kinect(*options):
    return CliRunner().invoke(app, texts("kinect", *options, "--jobs", 1))


def rows(file):
    with file.open(newline="") as source:
        return list(csv.DictReader(source))


def test_everything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("riparian_experiments.figures.DPI", 20)  # drawn in less time
    out = tmp_path / "out"
    result = kinect("--out", out, *SMALL, "--runs", 2)
    assert result.exit_code == 0, result.output
    assert sorted(file.name for file in out.iterdir()) == NAMES
    assert result.stdout.startswith(
        "## Accuracy\n\n| training pixels | ours | Saffari | ours, kept points |"
    )
    assert "run 1, Saffari: 250 pixels, accuracy 0." in result.stderr
    rows_read = rows(out / "runs.csv")
    assert list(rows_read[0])[:9] == [
        "run", "forest", "checkpoint", "pixels", "test_pictures", "test_pixels", "accuracy_on_some",
        "accuracy", "part_mean",
    ]  # fmt: skip
    assert set(PART_NAMES[1:]) < set(rows_read[0])
    assert {(row["run"], row["forest"]) for row in rows_read} == {
        (run, forest) for run in "01" for forest in ("ours", "saffari", "kept")
    }
    costs = rows(out / "costs.csv")
    assert [row["pixels"] for row in costs] == [row["pixels"] for row in rows_read]
    assert all(float(row["resident_mb"]) > 10 for row in costs)
    assert "| head | " in (out / "parts.md").read_text()


def test_the_small_size_is_the_default_and_the_full_one_needs_an_option(tmp_path, no_figures):
    tiny = ("--train", 2, "--test", 2, "--trees", 2, "--candidates", 5, "--runs", 1)
    tiny += ("--per-class", 1)  # so few pixels that the end is the only checkpoint
    for name, option in (("default", ()), ("quick", ("--quick",)), ("full", ("--full",))):
        result = kinect("--out", tmp_path / name, *tiny, "--forest", "ours", *option)
        assert result.exit_code == 0, result.output
    settings = {
        name: json.loads((tmp_path / name / "settings.json").read_text())["settings"]
        for name in ("default", "quick", "full")
    }
    assert settings["default"] == settings["quick"]
    assert (settings["quick"]["size"], settings["full"]["size"]) == ([320, 240], [640, 480])
    assert settings["quick"]["common"]["offset_std"] == settings["full"]["common"]["offset_std"] / 2
    assert {row["forest"] for row in rows(tmp_path / "full" / "runs.csv")} == {"ours"}


def test_offsets_are_as_long_on_the_body_whatever_the_size_of_the_picture(tmp_path, no_figures):
    kinect("--out", tmp_path, *SMALL, "--runs", 1, "--forest", "saffari")
    settings = json.loads((tmp_path / "settings.json").read_text())
    assert settings["settings"]["common"]["offset_std"] == 75 * 80 / 640


def test_another_forest_may_be_added_later(tmp_path, no_figures):
    kinect("--out", tmp_path, *SMALL, "--runs", 1, "--forest", "saffari")
    before = rows(tmp_path / "runs.csv")
    result = kinect("--out", tmp_path, *SMALL, "--runs", 1)
    assert result.exit_code == 0, result.output
    after = rows(tmp_path / "runs.csv")
    assert [row for row in after if row["forest"] == "saffari"] == before
    assert len(after) == 3 * len(before)


def test_a_fresh_start_forgets_what_was_under_way(tmp_path, no_figures):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "run0-ours.pickle").write_bytes(b"damaged")
    result = kinect("--out", tmp_path, *SMALL, "--runs", 1, "--forest", "ours", "--fresh")
    assert result.exit_code == 0, result.output


def test_poses_are_identified_by_name_and_contents_and_no_path_is_written(tmp_path, no_figures):
    folder = write_folder(tmp_path / "secret" / "clips", clips=2)
    out = tmp_path / "out"
    result = kinect("--out", out, *SMALL, "--runs", 1, "--forest", "ours", "--poses", folder)
    assert result.exit_code == 0, result.output
    settings = json.loads((out / "settings.json").read_text())["settings"]["poses"]
    assert (settings["name"], len(settings["sha256"])) == ("clips", 64)
    for file in out.glob("*.*"):
        assert b"secret" not in file.read_bytes()


def test_broken_poses_are_named_with_their_line_and_leave_nothing(tmp_path):
    write_folder(tmp_path / "clips", clips=2)
    for file in (tmp_path / "clips").rglob("*.bvh"):
        file.write_text(file.read_text().replace("MOTION", "MOTIONLESS"))
    result = kinect("--out", tmp_path / "out", *SMALL, "--poses", tmp_path / "clips")
    assert result.exit_code == 1
    assert ".bvh:" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options",
    [
        ("--quick", "--full"),
        ("--size", "80"),
        ("--size", "0x60"),
        ("--forest", "nonsense"),
        ("--trees", 0),
        ("--poses", "nowhere.bvh"),
        ("--offset-std", -1),
    ],
)
def test_unusable_options_are_bad_usage(options, tmp_path):
    out = tmp_path / "out"
    assert kinect("--out", out, *options).exit_code == 2
    assert not out.exists()


def test_help_shows_the_sizes():
    result = CliRunner().invoke(app, ["kinect", "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    for words in ("quick: 200; full: 2000", "320x240", "--threads", "--save-every", "--candidates"):
        assert words in result.stdout


def test_a_kill_loses_nothing_that_was_saved(tmp_path, no_figures):
    options = texts(*SMALL[:2], "--train", 25, *SMALL[4:], "--runs", 1, "--forest", "ours")
    program = [sys.executable, "-m", "riparian.cli", "experiment", "kinect", "--jobs", "1"]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    saved = killed / "work" / "run0-ours.pickle"
    command = [*program, "--out", str(killed), "--save-every", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as first:
        end = time.monotonic() + 60
        while not saved.exists():
            assert first.poll() is None and time.monotonic() < end
            time.sleep(0.005)
        first.kill()
        first.communicate()
    assert saved.exists()
    assert not (killed / "runs.csv").exists()
    for out in (killed, whole):
        assert kinect("--out", out, *options).exit_code == 0
    assert (killed / "runs.csv").read_bytes() == (whole / "runs.csv").read_bytes()
    assert not saved.exists()
