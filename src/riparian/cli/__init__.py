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

import sys

NEEDED = {"typer", "rich", "pyarrow", "plotly"}


def main() -> None:
    """What the console script calls."""
    try:
        from riparian.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        print(
            f"riparian: the command line needs {error.name}: pip install 'riparian[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
    app(prog_name="riparian")
