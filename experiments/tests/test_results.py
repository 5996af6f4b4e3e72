"""Curves, figure and table of a study."""

from __future__ import annotations

import struct
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import small_study

from riparian_experiments.curves import Curve, Panel, curve_of
from riparian_experiments.figures import draw
from riparian_experiments.results import markdown, write_all

ROWS = [
    {"run": run, "points": points, "method": method, "accuracy": run / 10 + points / 1000}
    for run in (0, 1, 2)
    for points in (200, 100)
    for method in ("a", "b")
]


def test_a_curve_has_mean_and_sample_deviation_in_order_of_x():
    curve = curve_of(ROWS, "A", x="points", y="accuracy", where={"method": "a"})
    assert curve.x.tolist() == [100, 200]
    np.testing.assert_allclose(curve.mean, [0.2, 0.3])
    np.testing.assert_allclose(curve.sd, [0.1, 0.1])
    assert curve.runs == 3


def test_one_run_has_no_deviation():
    curve = curve_of(ROWS, "A", x="points", y="accuracy", where={"method": "a", "run": 1})
    assert (curve.runs, curve.sd.tolist()) == (1, [0, 0])


def test_a_curve_of_no_rows_is_an_error():
    with pytest.raises(ValueError, match=r"curve 'C' needs rows with \{'method': 'c'\}, got none"):
        curve_of(ROWS, "C", x="points", y="accuracy", where={"method": "c"})


def test_a_table_leaves_open_what_a_curve_does_not_have():
    a = Curve("a", np.array([10.0, 20.0]), np.array([0.5, 0.6]), np.zeros(2), runs=1)
    b = Curve("b", np.array([20.0, 0.25]), np.array([0.7, 0.8]), np.zeros(2), runs=1)
    assert markdown([Panel([a, b], title="Both")]).splitlines() == [
        "## Both",
        "",
        "| points | a | b |",
        "|---:|---:|---:|",
        "| 0.25 |  | 0.8000 |",
        "| 10 | 0.5000 |  |",
        "| 20 | 0.6000 | 0.7000 |",
        "",
        "accuracy: one run.",
    ]


def test_a_study_leaves_runs_settings_figure_and_table(tmp_path):
    write_all(small_study.study(), tmp_path, jobs=1)
    names = ["figure.png", "figure.svg", "runs.csv", "settings.json", "table.md"]
    assert sorted(file.name for file in tmp_path.iterdir()) == names
    assert (
        (tmp_path / "table.md").read_text().startswith("# A small study\n\n| points | all | best")
    )
    png = (tmp_path / "figure.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    assert width > height > 500
    assert ElementTree.parse(tmp_path / "figure.svg").getroot().tag.endswith("svg")


def test_the_same_study_gives_the_same_files(tmp_path):
    for name in ("first", "second"):
        write_all(small_study.study(), tmp_path / name, jobs=1)
    for file in (tmp_path / "first").iterdir():
        assert file.read_bytes() == (tmp_path / "second" / file.name).read_bytes(), file.name


def test_a_figure_shows_each_curve_with_its_band_and_each_level():
    curve = curve_of(ROWS, "A", x="points", y="accuracy", where={"method": "a"})
    panels = [Panel([curve], lines={"best": 1.0}), Panel([curve], log_x=False, log_y=True)]
    logarithmic, other = draw(panels, "title").axes
    band = logarithmic.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(0.1)
    assert band[:, 1].max() == pytest.approx(0.4)
    assert [line.get_label() for line in logarithmic.lines] == ["A", "best"]
    assert [ax.get_xscale() for ax in (logarithmic, other)] == ["log", "linear"]
    assert [ax.get_yscale() for ax in (logarithmic, other)] == ["linear", "log"]


def test_a_missing_matplotlib_is_reported_before_anything_is_computed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"riparian\[plot\]"):
        write_all(small_study.study(), tmp_path / "out", jobs=1)
    assert not (tmp_path / "out").exists()
