"""Writing a file so that a crash at any moment leaves the old one or the new one, whole."""

from __future__ import annotations

import errno
import glob
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

# What a write raises, without a name, where there is no room: nobody could tell which file it was.
FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace a file, or make it, with this content."""
    with whole_file(path) as file:
        file.write(data)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file to write to. It takes its place when the block ends, unless that is by an error.

    Until then it has a name of its own, `.NAME.RANDOM.tmp`. The permissions of a file that it
    replaces are kept.
    """
    target = os.path.realpath(path)  # a link stays, and what it points to is replaced
    if os.path.exists(target) and not os.path.isfile(target):
        raise ValueError(f"path must name a file, got {os.fspath(path)!r}, which is something else")
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(beside, "xb") as file:
            if os.path.exists(target):
                os.chmod(beside, stat.S_IMODE(os.stat(target).st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException as error:
        if os.path.exists(beside):
            os.unlink(beside)
        if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
            error.filename = os.fspath(path)
        raise
    _sync_folder(folder)


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """What writers of this file left that were killed. Nobody may be writing it now."""
    folder, name = os.path.split(os.path.realpath(path))
    for leftover in glob.glob(os.path.join(glob.escape(folder), f".{glob.escape(name)}.*.tmp")):
        os.unlink(leftover)


def _sync_folder(folder: str) -> None:
    """A rename is an entry of the folder, which must reach the disk as well."""
    if os.name == "nt":  # folders cannot be opened there, and renames are written through
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
