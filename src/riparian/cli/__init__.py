"""The command line, `riparian`: see `riparian --help`. It needs `pip install "riparian[cli]"`.

    app.py              the command and its commands
    learn.py            from a stream to a model: learn_options.py says how, learner.py does it,
                        checkpoint.py makes it safe, learned.py tells what came of it
    predict.py          classes and probabilities of the rows of a stream; outputs.py writes them
    evaluate.py         how good a model is on rows with a known target
    inspect.py          what a model is
    demo.py             the main job on built-in data
    options.py          groups of options; forest_options.py has those of the estimator
    sources/            where rows come from, one file a format; ahead.py reads while others learn
    blocks.py           rows in blocks of a size of our own, and shuffled
    columns.py          what the columns of a source mean; with sparse_columns.py, encoding.py and
                        target.py; matching.py holds a file against a model
    model.py            model files; remembered.py is what they say of columns
    display.py          what one sees meanwhile; tables.py and words.py, at the end
    errors.py           what can go wrong, and the exit codes; interrupt.py, being asked to stop
    experiment.py       the experiments of the paper; data.py fetches what they need

The library itself needs none of it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

NEEDED = {"typer", "rich", "pyarrow", "plotly"}


def main() -> NoReturn:
    """What the console script calls."""
    try:
        from riparian.cli.app import LATER, app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        print(
            f"riparian: the command line needs {error.name}: pip install 'riparian[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
    try:
        app(prog_name="riparian")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    if any(word in LATER for word in sys.argv[1:2]):
        sys.exit(code)  # experiments have workers, which Python ends
    _end(code)


def _end(code: int) -> NoReturn:
    """End without taking Python apart.

    A thread that waits for a pipe, or one of pyarrow's, may still be there, and could abort the
    process while that goes on. And a large forest takes a while to free.
    """
    for file in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # whoever read it may have gone
            file.flush()
    os._exit(code)
