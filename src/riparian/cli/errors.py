"""What can go wrong: a mistake in the command (exit code 2), or in the data (1)."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable
from typing import Any, ParamSpec

import typer

BAD_DATA, BAD_USAGE, INTERRUPTED = 1, 2, 130  # exit codes

MOST_SHOWN = 80  # characters of a value in a message

P = ParamSpec("P")


class CommandError(Exception):
    """Something that one message explains, without a traceback."""

    exit_code = BAD_DATA

    def details(self) -> dict[str, Any]:
        """The error for JSON."""
        return {"message": str(self)}


class BadUsage(CommandError):
    """The command makes no sense as it is."""

    exit_code = BAD_USAGE


class BadData(CommandError):
    """A file has content that cannot be used; says which file and, where possible, the place in it.

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
        self.note = ""  # what remains of the work so far

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


class Interrupted(CommandError):
    """The user stopped the command; what was learned is safe, or there was nothing yet."""

    exit_code = INTERRUPTED


def shown(value: object) -> str:
    """A value in a message: quoted, and cut if it is long.

    >>> shown("x" * 100)[-10:]
    "xxxxxx'..."
    """
    text = str(value)
    return repr(text) if len(text) <= MOST_SHOWN else repr(text[:MOST_SHOWN]) + "..."


def names(columns: list[str], most: int = 10) -> str:
    """Names of columns in a message.

    >>> names(["a", "b"]), names(list("abcdefghijklm"))[-21:]
    ("'a', 'b'", "'i', 'j' and 3 others")
    """
    first = ", ".join(repr(name) for name in columns[:most])
    return first + (f" and {len(columns) - most} others" if len(columns) > most else "")


def say(message: str) -> None:
    """Print a message to stderr: stdout is for results."""
    print(message, file=sys.stderr, flush=True)


def reported(command: Callable[P, None]) -> Callable[P, None]:
    """The command, with its errors as messages on stderr, and with `--json` also on stdout."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except BrokenPipeError:  # the reader of our output has gone
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BAD_DATA) from None
        except KeyboardInterrupt:
            _report(Interrupted("nothing was written"), bool(kwargs.get("as_json")))
            raise typer.Exit(INTERRUPTED) from None
        except CommandError as error:
            _report(error, bool(kwargs.get("as_json")))
            raise typer.Exit(error.exit_code) from None
        except OSError as error:
            file = "" if error.filename is None else f"{error.filename}: "
            _report(CommandError(f"{file}{error.strerror or error}"), bool(kwargs.get("as_json")))
            raise typer.Exit(BAD_DATA) from None

    return run


def _report(error: CommandError, as_json: bool) -> None:
    label = "stopped" if isinstance(error, Interrupted) else "error"
    say(f"{label}: {error}")
    if as_json:
        print(json.dumps({label: {**error.details(), "exit_code": error.exit_code}}))
