"""One process per folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO


class Locked(Exception):
    """Another process has the folder."""


def locked(folder: Path) -> IO[str]:
    """A file that is locked until it is closed, or the process ends, however it does."""
    file = open(folder / "lock", "a+", encoding="ascii")  # noqa: SIM115, it is the lock
    try:
        _lock(file)
    except OSError:
        file.seek(0)
        owner = file.read().strip() or "unknown"
        file.close()
        raise Locked(f"{folder} is in use by another process ({owner})") from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _lock(file: IO[str]) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
