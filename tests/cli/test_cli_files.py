"""A command never overwrites a file that it reads, or another file that it writes."""

from __future__ import annotations

import pytest

from riparian.cli.output.files import check_can_write
from riparian.sources.errors import BadUsage

from commands import SMALL, call, learn, table, write


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
