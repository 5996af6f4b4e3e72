"""Errors of a command: one message on stderr, and an exit code."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
from collections.abc import Callable
from typing import ParamSpec

import typer

from riparian.sources.errors import BAD_DATA, BadUsage, CommandError
from riparian.tools import text

__all__ = ["INTERRUPTED", "BadUsage", "CommandError", "Interrupted", "reported", "say"]

INTERRUPTED = 130  # an exit code

P = ParamSpec("P")


class Interrupted(CommandError):
    """The user stopped the command. What was learned is saved, or nothing was learned yet."""

    exit_code = INTERRUPTED


def say(message: str) -> None:
    """Print a message to stderr: stdout is for results."""
    print(text.printable(message), file=sys.stderr, flush=True)


def step(message: str, *, quiet: bool) -> None:
    """Say what a command does now, so that it is never silent for long."""
    if not quiet:
        say(f"{message} ...")


def reported(command: Callable[P, None]) -> Callable[P, None]:
    """Wrap a command: its errors become messages on stderr and, with `--json`, on stdout as well."""

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
        except UnicodeEncodeError as error:  # a name or a label of a model file
            fault = f"expected text that can be written in UTF-8, got {error.object!r}"
            _report(CommandError(fault), bool(kwargs.get("as_json")))
            raise typer.Exit(BAD_DATA) from None
        except OSError as error:
            file = "" if error.filename is None else f"{error.filename}: "
            _report(CommandError(f"{file}{error.strerror or error}"), bool(kwargs.get("as_json")))
            raise typer.Exit(BAD_DATA) from None

    return run


def _report(error: CommandError, as_json: bool) -> None:
    label = "stopped" if isinstance(error, Interrupted) else "error"
    say(f"{label}: {error}")
    if as_json:
        with contextlib.suppress(OSError):  # it may be stdout that cannot be written
            print(json.dumps({label: {**error.details(), "exit_code": error.exit_code}}))
