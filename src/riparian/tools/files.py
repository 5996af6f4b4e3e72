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

# Errors of a write to a full disk. They do not name the file, so the name is added.
FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Create or replace a file with this content."""
    with whole_file(path) as file:
        file.write(data)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file, which replaces `path` when the block ends without an error.

    Until then its name is `.NAME.RANDOM.tmp`, in the same folder. It gets the permissions of the file
    that it replaces.
    """
    target = os.path.realpath(path)  # a link stays, and what it points to is replaced
    if os.path.exists(target) and not os.path.isfile(target):
        raise ValueError(f"path must name a regular file, got {os.fspath(path)!r}")
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            if os.path.exists(target):
                os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
            error.filename = os.fspath(path)
        raise
    _sync_folder(folder)


def make_folder(path: str | os.PathLike[str], mode: int) -> None:
    """Make a folder, and those above it, that a power cut leaves there; one that exists stays as it is.

    A new folder is an entry of the one above, which must reach the disk.
    """
    whole = os.path.abspath(path)
    if os.path.isdir(whole):
        return
    above = os.path.dirname(whole)
    make_folder(above, 0o777)
    try:
        os.mkdir(whole, mode)
    except FileExistsError:  # another process may have made it
        if not os.path.isdir(whole):
            raise
    _sync_folder(above)


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove temporary files of killed writers of this file. No process may be writing it now."""
    folder, name = os.path.split(os.path.realpath(path))
    for leftover in glob.glob(os.path.join(glob.escape(folder), f".{glob.escape(name)}.*.tmp")):
        os.unlink(leftover)


def _sync_folder(folder: str) -> None:
    """Flush the folder: a rename is an entry of it, which must reach the disk as well."""
    if os.name == "nt":  # folders cannot be opened there, and renames are written through
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
