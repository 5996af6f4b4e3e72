"""`riparian predict`: predict the classes and probabilities of the rows of a stream."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from riparian.cli.errors import reported, say
from riparian.cli.option_groups.reading import MatchingOptions, ReadingOptions
from riparian.cli.option_groups.shared import AsJson, ModelFile, Sources
from riparian.cli.option_groups.spread import spread
from riparian.cli.output.files import check_can_write
from riparian.cli.output.predictions import STDOUT, OutputFormat, format_for
from riparian.sources.errors import BadData, BadUsage
from riparian.tools import text

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
@spread
@reported
def predict(
    model: ModelFile,
    sources: Sources,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to this file: .csv, .parquet, .arrow or .jsonl; - for standard output.",
        ),
    ],
    reading: ReadingOptions,
    matching: MatchingOptions,
    output_as: Annotated[
        OutputFormat | None,
        typer.Option("--output-format", help="Set the format. Default: by the file name."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict the class and the probabilities of every row of a stream, in the same order.

    Columns are matched by name; the target column is not needed. If the command fails, no output
    file is left behind.

    Examples:

    ```
    riparian predict trees.riparian new.csv --output predicted.csv
    zcat new.csv.gz | riparian predict trees.riparian - --format csv --output - | head
    ```
    """  # fmt: skip
    if as_json and output == STDOUT:
        raise BadUsage("--json and --output - both write to standard output")
    if output != STDOUT:
        check_can_write(Path(output), "--output", read=[model, *sources])
    format_ = format_for(output, output_as)

    from riparian.cli.features.matching import Matched
    from riparian.cli.model_file import load_model
    from riparian.cli.output.predictions import open_predictions
    from riparian.sources.stream import Stream

    loaded = load_model(model, matching.threads)
    matched = Matched(loaded, matching)
    began = time.monotonic()
    rows = 0
    classes = loaded.forest.classes_
    try:
        with (
            Stream(sources, reading.reading(strict=False)) as stream,
            open_predictions(output, format_, classes) as predictions,
        ):
            for batch in stream.batches(matched.choose):
                assert matched.columns is not None
                predictions.write(loaded.forest.predict_proba(matched.columns.points(batch)))
                rows += len(batch)
    except BadData as error:
        written = f"the {rows:,} rows before it were" if output == STDOUT else "no file was"
        error.note = f"{written} written."
        raise
    matched.end()
    seconds = time.monotonic() - began
    if as_json:
        print(json.dumps({
            "output": output, "rows": rows, "seconds": seconds, "classes": classes.tolist(),
            "unknown_columns": matched.unknown, "missing_columns": matched.absent,
        }))  # fmt: skip
    else:
        say(f"{rows:,} rows predicted in {text.duration(seconds)}")
