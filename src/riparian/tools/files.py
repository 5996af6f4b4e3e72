"""Writing a file so that a crash at any moment leaves the old one or the new one, whole."""

from __future__ import annotations

import os
import secrets
import stat


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """The data is on the disk under a name of its own before it takes the place of what was there."""
    target = os.path.realpath(path)  # a link stays, and what it points to is replaced
    if os.path.exists(target) and not os.path.isfile(target):
        raise ValueError(f"path must name a file, got {os.fspath(path)!r}, which is something else")
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.tmp")
    try:
        _write_new(beside, data, like=target)
        os.replace(beside, target)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise
    _sync_folder(folder)


def _write_new(path: str, data: bytes, like: str) -> None:
    with open(path, "xb") as file:
        if os.path.exists(like):
            os.chmod(path, stat.S_IMODE(os.stat(like).st_mode))
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: str) -> None:
    """A rename is in the folder, which is on the disk only when it says so."""
    if os.name == "nt":  # folders cannot be opened there, and renames are written through
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
