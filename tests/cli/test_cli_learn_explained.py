"""`riparian learn --html` asks what if, and shows the surest mistakes along the stream."""

from __future__ import annotations

import json
import re

import pytest

import riparian
from riparian.cli.learning.checkpoint import Checkpoint

from commands import SMALL, call, table, write

OPTIONS = ("-t", "label", "--encode", "ordinal", *SMALL)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write(table(600), tmp_path_factory.mktemp("learned") / "t.csv")


class PowerCut(Exception):
    """The process is gone."""


def report(source, folder, *options):
    page = folder / "r.html"
    done = call("learn", source, *OPTIONS, "-m", folder / "m", "--html", page, *options)
    assert done.exit_code == 0, done.output
    return page.read_text()


def figures(html):
    found = re.findall(r'<script type="application/json" id="data-([\w-]+)">(.*?)</script>', html)
    return {name: json.loads(data) for name, data in found}


def section(html, name):
    return re.search(rf'<section id="{name}".*?</section>', html, re.S)[0]


@pytest.mark.parametrize("kept", [0, 200])
def test_the_report_asks_what_if(source, tmp_path, kept):
    """With kept points or without: then from a sample of the stream."""
    html = report(source, tmp_path, "--kept-points", kept, "--pair", "width", "age")
    drawn = figures(html)
    assert any(name.startswith("dependence-") for name in drawn)
    assert {"plane-0", "plane-1", "plane-2"} <= {*drawn}
    rows = 500 if kept == 0 else kept
    assert f"The mean probabilities of {rows} rows" in html


def test_the_report_has_the_surest_mistakes_of_the_stream(source, tmp_path):
    html = report(source, tmp_path, "--block", 50)
    rows = re.findall(r"<tr>.*?</tr>", section(html, "mistakes"), re.S)[1:]
    assert len(rows) == 10
    numbers = [int(re.search(r'<th scope="row"[^>]*>(\d+)</th>', row)[1]) for row in rows]
    assert all(50 < number <= 600 for number in numbers)  # the first block is not tested
    truth = table(600)["label"].to_pylist()
    assert all(truth[number - 1] in row for number, row in zip(numbers, rows, strict=True))


def test_without_a_test_there_are_no_mistakes(source, tmp_path):
    html = report(source, tmp_path, "--no-eval")
    assert '<section id="what-if"' in html
    assert '<section id="mistakes"' not in html


@pytest.mark.parametrize("kept", [0, 100])
def test_a_run_that_was_stopped_ends_with_the_same_report(source, tmp_path, monkeypatch, kept):
    (tmp_path / "whole").mkdir()
    options = ("--kept-points", kept, "--pair", "age", "width")
    whole = report(source, tmp_path / "whole", *options)
    args = ("learn", source, *OPTIONS, *options, "-m", tmp_path / "m")
    html = ("--html", tmp_path / "r.html")
    write = Checkpoint.write

    def write_and_fail(self, forest, columns, progress):
        write(self, forest, columns, progress)
        if progress.learned == 300:
            raise PowerCut

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", write_and_fail)
        done = call(*args, *html, "--checkpoint-every", 100)
        assert isinstance(done.exception, PowerCut)
    done = call(*args, *html, "--resume")
    assert done.exit_code == 0, done.output
    again = (tmp_path / "r.html").read_text()
    for name in ("mistakes", "what-if"):
        assert section(again, name) == section(whole, name)


@pytest.mark.parametrize(
    ("encode", "options", "message"),
    [
        ("ordinal", ["--pair", "width", "age"], "give --html, too"),
        ("ordinal", ["--html", "r.html", "--pair", "age", "age"], "got 'age' twice"),
        ("ordinal", ["--html", "r.html", "--pair", "age", "girth"], "has no feature 'girth'"),
        ("onehot", ["--html", "r.html", "--pair", "age", "colour"], "has no feature 'colour'"),
    ],
)
def test_a_pair_that_makes_no_sense_is_bad_usage_before_anything_is_learned(
    source, tmp_path, encode, options, message
):
    args = ("-t", "label", "--encode", encode, *SMALL, "-m", "m", "--checkpoint-every", 1)
    done = call("learn", source, *args, *options, cwd=tmp_path)
    assert done.exit_code == 2
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_features_made_from_text_have_a_plane_by_their_names(source, tmp_path):
    page = tmp_path / "r.html"
    args = ("-t", "label", "--encode", "onehot", *SMALL, "-m", tmp_path / "m", "--html", page)
    names = riparian.load(_model(source, tmp_path)).feature_names_in_.tolist()
    red = next(name for name in names if "red" in name)
    done = call("learn", source, *args, "--pair", "width", red)
    assert done.exit_code == 0, done.output
    assert "plane-" in page.read_text()


def _model(source, folder):
    done = call(
        "learn", source, "-t", "label", "--encode", "onehot", *SMALL, "-m", folder / "first"
    )
    assert done.exit_code == 0, done.output
    return folder / "first"
