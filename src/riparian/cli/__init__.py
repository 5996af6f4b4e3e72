"""The command line, `riparian`: see `riparian --help`. It needs `pip install "riparian[cli]"`.

    app.py          the program and its commands
    command.py      what commands with many options have: short help, and options from a file
    commands/       one file per command
    option_groups/  options that several commands share
    sources/        where rows come from: one file per format
    features/       from the columns of a source to points and labels, and what a model keeps of that
    learning/       the loop over a stream, its checkpoints, and requests to stop
    output/         progress, tables, summaries, files of predictions
    model_file.py   model files: a snapshot with a description of its columns
    errors.py       the errors of a command, and the exit codes

The library itself needs none of it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

NEEDED = {"typer", "rich", "pyarrow", "plotly"}

WITH_WORKERS = "experiment"  # starts processes that only Python's own shutdown ends


def main() -> NoReturn:
    """Run the command line: the entry point of the console script."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller, such as `>&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, it stays open
    try:
        from riparian.cli.app import app

        app(prog_name="riparian")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except OSError as error:  # commands report all others
        code = _unwritten(error)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        print(
            f"riparian: the command line needs {error.name}: pip install 'riparian[cli]'",
            file=sys.stderr,
        )
        code = 2
    if WITH_WORKERS in sys.argv[1:2]:
        sys.exit(code)
    _end(code)


def _unwritten(error: OSError) -> int:
    """Say that stdout cannot be written, and return the exit code."""
    if not isinstance(error, BrokenPipeError):  # then the reader has gone
        print(f"error: standard output: {error.strerror}", file=sys.stderr)
    return 1


def _end(code: int) -> NoReturn:
    """End the process at once, without Python's own shutdown.

    A thread of pyarrow, or one that waits for a pipe, may still run and could abort the process
    during a shutdown. Also, a large forest takes a while to free.
    """
    try:
        sys.stdout.flush()
    except (BrokenPipeError, ValueError):  # the reader may be gone
        pass
    except OSError as error:
        code = code or _unwritten(error)
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)
