"""Checkpoints are written to directories and to filesystems of pyarrow and fsspec."""

from __future__ import annotations

import pickle

import pytest

from riparian.ray.folder import Directory, Store, file_name, folder_of


def places(tmp_path):
    from fsspec.implementations.local import LocalFileSystem as OfFsspec
    from pyarrow.fs import LocalFileSystem

    return {
        "path": tmp_path / "path",
        "text": str(tmp_path / "text"),
        "uri": (tmp_path / "uri").as_uri(),
        "pyarrow": (LocalFileSystem(), str(tmp_path / "pyarrow")),
        "fsspec": (OfFsspec(), str(tmp_path / "fsspec")),
    }


@pytest.mark.parametrize("kind", ["path", "text", "uri", "pyarrow", "fsspec"])
def test_files_are_written_listed_read_and_removed(kind, tmp_path):
    folder = folder_of(places(tmp_path)[kind]) / "forest"
    assert folder.names() == [] and folder.checkpoints() == {} and folder.n_shards() is None
    names = [file_name(shard, 2, row) for shard, row in ((0, 100), (1, 100), (1, 90))]
    for name in names:
        folder.write(name, name.encode())
    folder.write("probe", b"")
    elsewhere = pickle.loads(pickle.dumps(folder))
    assert elsewhere.checkpoints() == {0: names[:1], 1: names[1:]}
    assert elsewhere.n_shards() == 2
    assert elsewhere.read(names[0]) == names[0].encode()
    elsewhere.remove("probe")
    elsewhere.remove("probe")
    elsewhere.remove_older(names[1])
    assert folder.checkpoints() == {0: names[:1], 1: names[1:2]}
    elsewhere.clear()
    assert folder.names() == []


def test_a_uri_of_a_file_is_a_directory_and_others_are_stores(tmp_path):
    assert isinstance(folder_of(tmp_path.as_uri()), Directory)
    assert isinstance(folder_of("memory://checkpoints"), Store)


def test_a_relative_path_is_the_same_place_in_every_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(folder_of("here") / "forest") == str(tmp_path / "here" / "forest")


def test_what_is_no_place_is_an_error():
    with pytest.raises(TypeError, match="must be a path, a URI, or a filesystem and a path, got 7"):
        folder_of(7)
    with pytest.raises(ValueError, match="no filesystem for 'nowhere://x'"):
        folder_of("nowhere://x")
