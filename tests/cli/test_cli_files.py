"""A command never overwrites a file that it reads, or another file that it writes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import riparian
import riparian.evaluation
from riparian.cli.output.files import check_can_write
from riparian.sources.errors import BadUsage

from commands import RIPARIAN, SMALL, call, learn, table, write


@pytest.fixture
def files(tmp_path):
    """A table and a model of it."""
    source = write(table(100, text=False), tmp_path / "t.csv")
    learn(source, tmp_path / "m")
    return source, tmp_path / "m"


def test_a_model_or_a_report_never_replaces_the_data(files, tmp_path, monkeypatch):
    source, model = files
    (tmp_path / "link.csv").symlink_to(source)
    monkeypatch.chdir(tmp_path)
    before = source.read_bytes(), model.read_bytes()
    for arguments in (
        ["learn", source, "-t", "label", "-m", source, *SMALL],
        ["learn", "*.csv", "-t", "label", "-m", "link.csv", *SMALL],
        ["learn", source, "-t", "label", "-m", "new", "--html", "t.csv", *SMALL],
        ["predict", model, source, "--output", "./t.csv"],
        ["predict", model, source, "--output", "m", "--output-format", "csv"],
        ["evaluate", model, source, "--html", "t.csv"],
        ["inspect", model, "--html", "m"],
    ):
        done = call(*arguments)
        assert done.exit_code == 2, arguments
        assert "the command reads this file; name another one to write" in done.stderr
    assert (source.read_bytes(), model.read_bytes()) == before


@pytest.mark.parametrize(
    ("options", "both"),
    [
        (["--html", "n"], "--model and --html name the same file, n"),
        (["--checkpoint", "./n"], "--model and --checkpoint name the same file, n"),
        (["--html", "n.checkpoint"], "--html and --checkpoint name the same file, n.checkpoint"),
    ],
)
def test_one_file_is_not_written_over_another(options, both, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call("learn", files[0], "-t", "label", "-m", "n", *SMALL, *options)
    assert done.exit_code == 2 and both in done.stderr
    assert not (tmp_path / "n").exists()


def test_a_path_that_cannot_be_written_is_an_error_with_the_reason(tmp_path):
    with pytest.raises(BadUsage, match=r"--model .*: cannot write a file there: it is a folder"):
        check_can_write(tmp_path, "--model")
    with pytest.raises(BadUsage, match=r"cannot write a file there: there is no folder .*no/such"):
        check_can_write(tmp_path / "no/such/file", "--model")


def test_a_folder_is_no_source(tmp_path):
    done = call("learn", tmp_path, "-t", "label", "-m", tmp_path / "m")
    assert done.exit_code == 2
    assert f"{tmp_path} is a folder: name its files, for example '{tmp_path}/*.csv'" in done.stderr


@pytest.mark.parametrize("option", ["--model", "--html"])
@pytest.mark.parametrize("kind", ["a device", "a pipe"])
def test_a_pipe_or_a_device_is_refused_before_anything_is_learned(kind, option, tmp_path):
    place = Path("/dev/null")
    if kind == "a pipe":
        place = tmp_path / "pipe"
        os.mkfifo(place)
    done = call("learn", tmp_path / "never_opened.csv", "-t", "label", option, place)
    assert done.exit_code == 2
    assert done.stderr == (
        f"error: {option} {place}: expected a regular file, got a pipe or device\n"
    )


def test_standard_input_that_is_closed_is_an_error_and_no_traceback(tmp_path):
    command = f"{' '.join(RIPARIAN)} learn - --format csv -t label -m {tmp_path / 'm'} <&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.startswith("error: standard input is closed; name a file")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_output_that_is_closed_is_no_reason_to_fail(closed, files, tmp_path):
    source, _ = files
    command = f"{' '.join(RIPARIAN)} learn {source} -t label -m {tmp_path / 'n'} {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert riparian.load(tmp_path / "n").n_features_in_ == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a disk that is always full")
@pytest.mark.parametrize("what", ["inspect {} --json", "--help"])
def test_output_on_a_full_disk_is_an_error(files, what):
    _, model = files
    command = f"{' '.join(RIPARIAN)} {what.format(model)} > /dev/full"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr in (
        "error: standard output: No space left on device\n",
        "error: No space left on device\n",
    )


ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"


def test_names_and_labels_cannot_command_the_terminal(tmp_path):
    labels = [f"{ESCAPES}{kind}" for kind in "ab"]
    rows = "".join(f"{i % 2},x{i % 5}{ESCAPES},{labels[i % 2]}\n" for i in range(300))
    (tmp_path / "t.csv").write_text(f"n{ESCAPES},c{ESCAPES},y{ESCAPES}\n{rows}")
    args = [tmp_path / "t.csv", "-t", f"y{ESCAPES}", "-m", tmp_path / "m", *SMALL]
    outputs = [call("learn", *args)]
    outputs += [call("evaluate", tmp_path / "m", tmp_path / "t.csv")]
    outputs += [call("inspect", tmp_path / "m")]
    outputs += [call("inspect", tmp_path / "m", "--tree", "0")]
    outputs += [call("learn", tmp_path / "t.csv", "-t", f"z{ESCAPES}", "-m", tmp_path / "n")]
    assert [done.exit_code for done in outputs] == [0, 0, 0, 0, 2]
    for done in outputs:
        text = done.stdout + done.stderr
        assert "\\x1b" in text, text
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)


def test_labels_that_are_no_unicode_are_shown_and_not_written(tmp_path):
    path = tmp_path / "m"
    forest = riparian.OnlineForestClassifier(2, random_state=0)
    forest.partial_fit([[0.0], [1.0]] * 20, ["\ud800", "oak"] * 20).save(path)
    for options in ([], ["--tree", "0"], ["--html", tmp_path / "page.html"]):
        done = call("inspect", path, *options)
        assert done.exit_code == 0 and "\\ud800" in done.stdout, done.output
    (tmp_path / "t.csv").write_text("0,label\n1.5,oak\n0.5,oak\n")
    scores = riparian.evaluation.evaluate(forest, [[0.0], [1.0]] * 20, ["\ud800", "oak"] * 20)
    scores.report().write(tmp_path / "scores.html")
    assert "\\ud800" in (tmp_path / "scores.html").read_text("utf-8")
    done = call("predict", path, tmp_path / "t.csv", "-o", tmp_path / "p.csv")
    assert done.exit_code == 1 and "expected text that can be written in UTF-8" in done.stderr
