"""A file is downloaded once, completely and with the right hash, or not at all."""

from __future__ import annotations

import hashlib
import re

import pytest
import server

from riparian_experiments.download import DownloadError, Remote, fetch

CONTENT = b"digits " * 50_000  # more than one chunk
FILE = Remote("digits.bz2", hashlib.sha256(CONTENT).hexdigest())


def test_a_file_is_fetched_once(tmp_path):
    folder = tmp_path / "new" / "folder"
    with server.serving({FILE.name: CONTENT}) as (site, asked):
        assert fetch(FILE, site, folder)
        assert not fetch(FILE, site + "/", folder)
    assert asked == ["/data/digits.bz2"]
    assert [file.name for file in folder.iterdir()] == [FILE.name]
    assert (folder / FILE.name).read_bytes() == CONTENT


def test_a_file_that_is_there_but_wrong_is_fetched_again(tmp_path):
    (tmp_path / FILE.name).write_bytes(b"half of it")
    with server.serving({FILE.name: CONTENT}) as (site, _):
        assert fetch(FILE, site, tmp_path)
    assert (tmp_path / FILE.name).read_bytes() == CONTENT


def refused(site, folder, message):
    with pytest.raises(DownloadError, match=message):
        fetch(FILE, site, folder)
    assert list(folder.iterdir()) == []


def test_the_wrong_file_is_refused_and_both_sums_are_named(tmp_path):
    other = b"a page that says sorry"
    wrong = hashlib.sha256(other).hexdigest()
    with server.serving({FILE.name: other}) as (site, _):
        message = rf"{re.escape(site)}/digits\.bz2 is not .* the SHA-256 {FILE.sha256}, got {wrong}"
        refused(site, tmp_path, message)


def test_a_connection_that_is_cut_off_leaves_nothing(tmp_path):
    with server.serving({FILE.name: CONTENT}, missing_bytes=1000) as (site, _):
        refused(
            site, tmp_path, "could not be fetched: the connection ended after 349,000 of 350,000"
        )


def test_a_missing_file_is_named(tmp_path):
    with server.serving({}) as (site, _):
        refused(site, tmp_path, r"digits\.bz2 could not be fetched: HTTP Error 404")


def test_a_server_that_does_not_listen_is_named(tmp_path):
    refused(server.closed(), tmp_path, r"digits\.bz2 could not be fetched: .*refused")


@pytest.mark.parametrize("site", ["no address", "http://", "ftp2://host"])
def test_a_text_that_is_not_an_address_is_named(site, tmp_path):
    refused(site, tmp_path, "could not be fetched")
