"""Files that a command writes: checked before the work, complete or absent after it."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from riparian.sources.errors import BadUsage, CommandError
from riparian.tools.files import write_whole


def check_can_write(
    path: Path, option: str, read: Iterable[str | Path] = (), *, or_pipe: bool = False
) -> None:
    """Raise an error now if the file cannot be written, or would replace a file that is read.

    A pipe or device cannot be replaced by a whole file; with `or_pipe`, it is written to as it is.
    """
    folder = path.parent
    if path.is_dir():
        raise BadUsage(f"{option} {path}: cannot write a file there: it is a folder")
    if path.exists() and not path.is_file() and not or_pipe:
        raise BadUsage(f"{option} {path}: expected a regular file, got a pipe or device")
    if not folder.is_dir():
        raise BadUsage(f"{option} {path}: cannot write a file there: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise BadUsage(f"{option} {path}: cannot write a file there: {folder} is not writable")
    if os.path.realpath(path) in set(_real_paths(read)):
        raise BadUsage(f"{option} {path}: the command reads this file; name another one to write")


def _real_paths(read: Iterable[str | Path]) -> Iterator[str]:
    """Return the real paths of files and globs."""
    for path in map(str, read):
        for one in glob.glob(path, recursive=True) or [path]:
            yield os.path.realpath(one)


def check_apart(paths: Mapping[str, Path | None]) -> None:
    """Reject two options that name the same file."""
    options: dict[str, str] = {}
    for option, path in paths.items():
        if path is None:
            continue
        first = options.setdefault(os.path.realpath(path), option)
        if first != option:
            raise BadUsage(f"{first} and {option} name the same file, {path}")


def write_file(path: Path, data: bytes, content: str) -> None:
    """Write a complete file, or none; the error names the content and the reason."""
    try:
        write_whole(path, data)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise CommandError(f"{path}: could not write the {content}: {why}") from error
