"""The command line, `riparian`: see `riparian --help`. It needs `pip install "riparian[cli]"`.

    app.py          the command and its commands
    commands/       one file per command
    option_groups/  options that several commands share
    sources/        where rows come from: one file per format
    features/       from the columns of a source to points and labels, and what a model keeps of that
    learning/       the loop over a stream, its checkpoints, being asked to stop
    output/         progress, tables, summaries, files of predictions
    model_file.py   model files: a snapshot that also knows its columns
    errors.py       what can go wrong, and the exit codes

The library itself needs none of it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

NEEDED = {"typer", "rich", "pyarrow", "plotly"}

WITH_WORKERS = "experiment"  # a command whose processes Python itself has to end


def main() -> NoReturn:
    """What the console script calls."""
    try:
        from riparian.cli.app import app

        app(prog_name="riparian")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
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


def _end(code: int) -> NoReturn:
    """End at once, without Python's own shutdown.

    A thread of pyarrow, or one that waits for a pipe, may still run and could abort the process
    during a shutdown. Also, a large forest takes a while to free.
    """
    for file in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the reader may be gone
            file.flush()
    os._exit(code)
