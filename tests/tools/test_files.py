"""A file is replaced whole or not at all; `test_snapshot.py` does the same with forests and crashes."""

from __future__ import annotations

import errno
import os

import pytest

from riparian.tools.files import remove_leftovers, whole_file, write_whole


def test_a_file_takes_its_place_when_all_of_it_is_written(tmp_path):
    path = tmp_path / "numbers"
    write_whole(path, b"old")
    with whole_file(path) as file:
        file.write(b"new ")
        assert path.read_bytes() == b"old"
        file.write(b"numbers")
    assert path.read_bytes() == b"new numbers"
    assert os.listdir(tmp_path) == ["numbers"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_on_the_way_leaves_the_old_file_alone(tmp_path, error):
    path = tmp_path / "numbers"
    write_whole(path, b"old")
    with pytest.raises(error), whole_file(path) as file:
        file.write(b"new")
        raise error
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["numbers"]


def test_only_files_that_killed_writers_left_can_be_removed(tmp_path):
    others = ["a[1].riparian", ".b.0123.tmp", "a[1].riparian.0123.tmp", ".a1.riparian.0123.tmp"]
    for name in [*others, ".a[1].riparian.0123.tmp", ".a[1].riparian.4567.tmp"]:
        (tmp_path / name).touch()
    remove_leftovers(tmp_path / "a[1].riparian")
    assert sorted(os.listdir(tmp_path)) == sorted(others)


def test_an_error_on_the_way_leaves_no_file_where_none_was(tmp_path):
    with pytest.raises(ValueError), whole_file(tmp_path / "numbers"):
        raise ValueError
    assert os.listdir(tmp_path) == []


def test_a_full_disk_names_the_file(tmp_path):
    path = tmp_path / "numbers"
    with pytest.raises(OSError, match=r"No space left on device: '.*/numbers'"), whole_file(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert os.listdir(tmp_path) == []


def test_an_error_of_reading_meanwhile_does_not(tmp_path):
    with pytest.raises(OSError) as result, whole_file(tmp_path / "numbers"):
        raise OSError(errno.EIO, "Input/output error")
    assert result.value.filename is None
