"""Errors of a command: bad usage (exit code 2) and bad data (exit code 1)."""

from __future__ import annotations

from typing import Any

BAD_DATA, BAD_USAGE = 1, 2  # exit codes

MOST_SHOWN = 80  # characters of a value in a message


class CommandError(Exception):
    """An error that one message explains, without a traceback."""

    exit_code = BAD_DATA

    def details(self) -> dict[str, Any]:
        """Return the error for JSON."""
        return {"message": str(self)}


class BadUsage(CommandError):
    """The options or arguments of the command are wrong."""

    exit_code = BAD_USAGE


class BadData(CommandError):
    """A file has content that cannot be used. The message names the file and, if known, the place.

    Rows are counted from 1, without the header; lines are counted from 1, as in an editor.
    """

    def __init__(
        self,
        fault: str,
        *,
        file: str,
        row: int | None = None,
        line: int | None = None,
        column: str | None = None,
    ) -> None:
        self.fault, self.file, self.row, self.line, self.column = fault, file, row, line, column
        self.note = ""  # what is saved of the work so far

    def place(self) -> str:
        parts = [self.file]
        if self.row is not None:
            parts.append(f"row {self.row:,}" + (f" (line {self.line:,})" if self.line else ""))
        elif self.line is not None:
            parts.append(f"line {self.line:,}")
        if self.column is not None:
            parts.append(f"column {self.column!r}")
        return ", ".join(parts)

    def __str__(self) -> str:
        return f"{self.place()}: {self.fault}" + (f"\n{self.note}" if self.note else "")

    def details(self) -> dict[str, Any]:
        place = {"file": self.file, "row": self.row, "line": self.line, "column": self.column}
        return {"message": str(self), **place}


def shown(value: object) -> str:
    """Quote a value for a message, and cut it if it is long.

    >>> shown("x" * 100)[-10:]
    "xxxxxx'..."
    """
    text = str(value)
    return repr(text) if len(text) <= MOST_SHOWN else repr(text[:MOST_SHOWN]) + "..."


def names(columns: list[str], most: int = 10) -> str:
    """List names of columns for a message.

    >>> names(["a", "b"]), names(list("abcdefghijklm"))[-21:]
    ("'a', 'b'", "'i', 'j' and 3 others")
    """
    first = ", ".join(repr(name) for name in columns[:most])
    return first + (f" and {len(columns) - most} others" if len(columns) > most else "")
