"""Files that a command writes: checked before the work, whole or absent after it."""

from __future__ import annotations

import os
from pathlib import Path

from riparian.cli.errors import BadUsage, CommandError
from riparian.tools.files import write_whole


def check_can_write(path: Path, option: str) -> None:
    """An error now is better than one after hours of learning."""
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise BadUsage(f"{option} {path}: cannot write a file there")


def write_file(path: Path, data: bytes, content: str) -> None:
    """Write a whole file, or none; the error says what could not be written, and why."""
    try:
        write_whole(path, data)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise CommandError(f"{path}: could not write the {content}: {why}") from error
