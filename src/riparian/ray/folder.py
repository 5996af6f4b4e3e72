"""The folder of checkpoints: a directory, or a path in any filesystem of pyarrow or fsspec.

A checkpoint is a new file with the number of rows in its name; the previous one is removed afterwards.
So there is a complete one at any moment, even if the filesystem cannot rename files.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from riparian.tools.files import write_whole

NAME = re.compile(r"shard-(\d+)-of-(\d+)-row-(\d+)\.riparian")


def file_name(shard: int, of: int, row: int) -> str:
    """
    >>> file_name(3, 16, 120000)
    'shard-00003-of-00016-row-0000000000120000.riparian'
    """
    return f"shard-{shard:05}-of-{of:05}-row-{row:016}.riparian"


class Folder(ABC):
    """Files by name. Folders are pickled: every process has its own."""

    @abstractmethod
    def __truediv__(self, name: str) -> Folder:
        """Return a folder inside this one."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of the files; none if the folder does not exist."""

    @abstractmethod
    def read(self, name: str) -> bytes: ...

    @abstractmethod
    def write(self, name: str, data: bytes) -> None:
        """Write a file, and make the folder if needed."""

    @abstractmethod
    def remove(self, name: str) -> None: ...

    def checkpoints(self) -> dict[int, list[str]]:
        """Return the checkpoints of each shard, the newest first."""
        by_shard: dict[int, list[str]] = {}
        for name in sorted(self.names(), reverse=True):
            parts = NAME.fullmatch(name)
            if parts is not None:
                by_shard.setdefault(int(parts[1]), []).append(name)
        return by_shard

    def n_shards(self) -> int | None:
        """Return the number of shards that the checkpoints belong to; None without checkpoints."""
        parts = [NAME.fullmatch(name) for name in self.names()]
        return next((int(match[2]) for match in parts if match is not None), None)

    def remove_older(self, checkpoint: str) -> None:
        """Remove older checkpoints of the same shard, and what a killed writer left behind.

        Newer ones stay: another process has taken over from this one.
        """
        mine = checkpoint.partition("-row-")[0]
        for name in self.names():
            if name.startswith(f".{mine}") or (name.startswith(mine) and name < checkpoint):
                self.remove(name)

    def clear(self) -> None:
        """Remove all checkpoints."""
        for name in self.names():
            if name.lstrip(".").startswith("shard-"):
                self.remove(name)


class Directory(Folder):
    """A directory of the operating system."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()

    def __str__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str) -> Directory:
        return Directory(self.path / name)

    def names(self) -> list[str]:
        return os.listdir(self.path) if self.path.is_dir() else []

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        write_whole(self.path / name, data)

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)

    def clear(self) -> None:
        super().clear()
        if self.path.is_dir() and not self.names():
            self.path.rmdir()


class Store(Folder):
    """A path in a filesystem of pyarrow."""

    def __init__(self, filesystem: Any, path: str) -> None:
        self.filesystem = filesystem
        self.path = path.rstrip("/")

    def __str__(self) -> str:
        return f"{self.path} ({self.filesystem.type_name})"

    def __truediv__(self, name: str) -> Store:
        return Store(self.filesystem, f"{self.path}/{name}")

    def names(self) -> list[str]:
        from pyarrow.fs import FileSelector

        infos = self.filesystem.get_file_info(FileSelector(self.path, allow_not_found=True))
        return [info.base_name for info in infos if info.is_file]

    def read(self, name: str) -> bytes:
        with self.filesystem.open_input_stream(f"{self.path}/{name}") as file:
            return bytes(file.read())

    def write(self, name: str, data: bytes) -> None:
        self.filesystem.create_dir(self.path, recursive=True)
        with self.filesystem.open_output_stream(f"{self.path}/{name}") as file:
            file.write(data)

    def remove(self, name: str) -> None:
        if name in self.names():
            self.filesystem.delete_file(f"{self.path}/{name}")


def folder_of(given: Any) -> Folder:
    """Return a folder by its path, its URI, or a filesystem of pyarrow or fsspec and a path in it.

    >>> print(folder_of("/mnt/shared/forests") / "taxis")
    /mnt/shared/forests/taxis
    """
    if isinstance(given, tuple):
        filesystem, path = given
        return Store(_of_pyarrow(filesystem), os.fspath(path))
    if not isinstance(given, str | os.PathLike):
        raise TypeError(
            f"checkpoint_dir must be a path, a URI, or a filesystem and a path, got {given!r}"
        )
    text = os.fspath(given)
    if "://" not in text:
        return Directory(text)
    from pyarrow import ArrowInvalid
    from pyarrow.fs import FileSystem, LocalFileSystem

    try:
        filesystem, path = FileSystem.from_uri(text)
    except ArrowInvalid:
        filesystem, path = _by_fsspec(text)
    return Directory(path) if isinstance(filesystem, LocalFileSystem) else Store(filesystem, path)


def _by_fsspec(uri: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    try:
        filesystem, path = url_to_fs(uri)
    except (ImportError, ValueError) as error:
        raise ValueError(f"checkpoint_dir: no filesystem for {uri!r}: {error}") from None
    return _of_pyarrow(filesystem), path


def _of_pyarrow(filesystem: Any) -> Any:
    from pyarrow.fs import FileSystem, FSSpecHandler, PyFileSystem

    if isinstance(filesystem, FileSystem):
        return filesystem
    return PyFileSystem(FSSpecHandler(filesystem))
