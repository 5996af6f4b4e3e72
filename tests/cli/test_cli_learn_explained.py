"""`riparian learn --html` shows dependence on features, and the surest mistakes of the stream."""

from __future__ import annotations

import json
import re

import pytest

from riparian.cli.learning.checkpoint import Checkpoint

from commands import SMALL, call, table, write

OPTIONS = ("-t", "label", *SMALL)


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
    matches = re.findall(r'<script type="application/json" id="data-([\w-]+)">(.*?)</script>', html)
    return {name: json.loads(data) for name, data in matches}


def section(html, name):
    return re.search(rf'<section id="{name}".*?</section>', html, re.S)[0]


@pytest.mark.parametrize("kept", [0, 200])
def test_the_report_has_what_if(source, tmp_path, kept):
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
    assert all(1 < number <= 600 for number in numbers)  # the first row is not tested
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
    ("options", "message"),
    [
        (["--pair", "width", "age"], "--pair requires --html"),
        (["--html", "r.html", "--pair", "age", "age"], "got 'age' twice"),
        (["--html", "r.html", "--pair", "age", "girth"], "has no feature 'girth'"),
    ],
)
def test_a_pair_that_cannot_be_shown_is_bad_usage_before_anything_is_learned(
    source, tmp_path, options, message
):
    args = (*OPTIONS, "-m", "m", "--checkpoint-every", 1)
    done = call("learn", source, *args, *options, cwd=tmp_path)
    assert done.exit_code == 2
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []
