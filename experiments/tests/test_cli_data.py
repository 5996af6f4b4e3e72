"""`riparian data usps`: where it stores the files, and its errors."""

from __future__ import annotations

import bz2
import hashlib
import json

import pytest
import server
from typer.testing import CliRunner

from riparian_experiments import datasets, download
from riparian_experiments.cli.data import app

TRAIN = bz2.compress(b"1 1:0.5 2:-1\n2 1:-1 2:0.25\n")
TEST = bz2.compress(b"2 1:1 2:1\n")
FILES = {"usps.bz2": TRAIN, "usps.t.bz2": TEST}
SHAPES = ((2, 2), (1, 2))


@pytest.fixture
def small_files(monkeypatch):
    """As if these were the files that LIBSVM has."""
    remotes = [
        download.Remote(name, hashlib.sha256(content).hexdigest())
        for name, content in FILES.items()
    ]
    monkeypatch.setattr(download, "USPS", tuple(remotes))
    monkeypatch.setattr(datasets, "USPS_SHAPES", SHAPES)
    datasets.load.cache_clear()


def usps(*options):
    return CliRunner().invoke(app, ["usps", *map(str, options)])


def test_the_sums_are_those_that_torchvision_publishes():
    assert {remote.name: remote.sha256[:8] for remote in download.USPS} == {
        "usps.bz2": "3771e9dd",
        "usps.t.bz2": "a9c0164e",
    }


def test_the_files_go_to_the_cache_and_the_experiment_finds_them(
    small_files, tmp_path, monkeypatch
):
    monkeypatch.setenv("RIPARIAN_CACHE", str(tmp_path))
    monkeypatch.delenv("RIPARIAN_DATA", raising=False)
    with server.serving(FILES) as (site, _):
        result = usps("--site", site)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("fetched usps.bz2 and usps.t.bz2: USPS")
    assert datasets.locate(None) == tmp_path / "usps"
    assert datasets.load(datasets.locate(None)).is_usps

    again = usps("--site", server.closed())
    assert again.exit_code == 0
    assert again.stdout.startswith("nothing to fetch: USPS")


def test_json_says_where_and_what(small_files, tmp_path):
    with server.serving(FILES) as (site, _):
        result = usps("--site", site, "--cache", tmp_path, "--json")
    output = json.loads(result.stdout)
    assert output["folder"] == str(tmp_path / "usps")
    assert output["fetched"] == ["usps.bz2", "usps.t.bz2"]
    assert output["train"] == [2, 2]


def test_offline_the_address_is_named_and_what_to_do_by_hand(small_files, tmp_path):
    site = server.closed()
    result = usps("--site", site, "--cache", tmp_path)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert f"error: {site}/usps.bz2 could not be fetched" in result.stderr
    assert f"copy usps.bz2 and usps.t.bz2 from {site} to {tmp_path / 'usps'}" in result.stderr
    assert "riparian experiment usps --data FOLDER" in result.stderr


def test_a_file_that_is_not_the_published_one_is_refused(tmp_path):
    with server.serving(FILES) as (site, _):
        result = usps("--site", site, "--cache", tmp_path)
    assert result.exit_code == 1
    assert "is not the expected file" in result.stderr


def test_files_of_another_shape_are_refused(small_files, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "USPS_SHAPES", ((3, 2), (1, 2)))
    with server.serving(FILES) as (site, _):
        result = usps("--site", site, "--cache", tmp_path)
    assert result.exit_code == 1
    assert "expected 3 and 1 points of 2 values, got shapes (2, 2) and (1, 2)" in result.stderr


def test_help_shows_an_example():
    result = usps("--help")
    assert result.exit_code == 0
    assert "Example:" in result.stdout
