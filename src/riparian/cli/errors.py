"""What can go wrong on the command line: the user's mistake (exit code 2) or the data's (1)."""

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
    """Something that is told in one message, without a traceback."""

    exit_code = BAD_DATA

    def details(self) -> dict[str, Any]:
        """The same for machines."""
        return {"message": str(self)}


class BadUsage(CommandError):
    """The command cannot be meant like that."""

    exit_code = BAD_USAGE


class BadData(CommandError):
    """A file holds what cannot be used; says which file and, as far as can be told, where in it.

    Rows are counted from 1 and leave out the header; lines are counted from 1 as an editor does.
    """

    def __init__(
        self,
        what: str,
        *,
        file: str,
        row: int | None = None,
        line: int | None = None,
        column: str | None = None,
    ) -> None:
        self.what, self.file, self.row, self.line, self.column = what, file, row, line, column
        self.note = ""  # on what became of the work so far

    def place(self) -> str:
        words = [self.file]
        if self.row is not None:
            words.append(f"row {self.row:,}" + (f" (line {self.line:,})" if self.line else ""))
        elif self.line is not None:
            words.append(f"line {self.line:,}")
        if self.column is not None:
            words.append(f"column {self.column!r}")
        return ", ".join(words)

    def __str__(self) -> str:
        return f"{self.place()}: {self.what}" + (f"\n{self.note}" if self.note else "")

    def details(self) -> dict[str, Any]:
        told = {"file": self.file, "row": self.row, "line": self.line, "column": self.column}
        return {"message": str(self), **told}


class Interrupted(CommandError):
    """Somebody asked to stop, and what was learned is safe, or there was nothing yet."""

    exit_code = INTERRUPTED


def shown(value: object) -> str:
    """A value as a message shows it: quoted, and cut where it is long.

    >>> shown("x" * 100)[-10:]
    "xxxxxx'..."
    """
    text = str(value)
    return repr(text) if len(text) <= MOST_SHOWN else repr(text[:MOST_SHOWN]) + "..."


def names(some: list[str], most: int = 10) -> str:
    """Names of columns for a message.

    >>> names(["a", "b"]), names(list("abcdefghijklm"))[-21:]
    ("'a', 'b'", "'i', 'j' and 3 others")
    """
    told = ", ".join(repr(name) for name in some[:most])
    return told + (f" and {len(some) - most} others" if len(some) > most else "")


def say(message: str) -> None:
    """Tell a person something: to stderr, since stdout is for results."""
    print(message, file=sys.stderr, flush=True)


def reported(command: Callable[P, None]) -> Callable[P, None]:
    """The command, its errors told in words on stderr, and with `--json` on stdout too."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except BrokenPipeError:  # whoever read our output has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BAD_DATA) from None
        except CommandError as error:
            _tell(error, bool(kwargs.get("as_json")))
            raise typer.Exit(error.exit_code) from None
        except OSError as error:
            file = "" if error.filename is None else f"{error.filename}: "
            _tell(CommandError(f"{file}{error.strerror or error}"), bool(kwargs.get("as_json")))
            raise typer.Exit(BAD_DATA) from None

    return run


def _tell(error: CommandError, as_json: bool) -> None:
    label = "stopped" if isinstance(error, Interrupted) else "error"
    say(f"{label}: {error}")
    if as_json:
        print(json.dumps({label: {**error.details(), "exit_code": error.exit_code}}))
