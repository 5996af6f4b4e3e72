"""`riparian predict`: classes and probabilities of the rows of a stream."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from numpy.typing import NDArray

from riparian.cli.errors import BadData, BadUsage, reported, say
from riparian.cli.features.matching import Matched, MatchingOptions
from riparian.cli.model_file import check_can_write, load_model
from riparian.cli.option_groups.common import AsJson, ReadingOptions, spread
from riparian.cli.output import words
from riparian.cli.output.predictions import STDOUT, OutputFormat, open_output, output_format
from riparian.cli.sources.stream import Stream

ModelFile = Annotated[Path, typer.Argument(help="A model, or any snapshot.", metavar="MODEL")]
Sources = Annotated[
    list[str],
    typer.Argument(metavar="SOURCE...", help="Files, globs, or -, as for `riparian learn`."),
]


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
            help="Where to: .csv, .parquet, .arrow or .jsonl; - is standard output.",
        ),
    ],
    reading: ReadingOptions,
    matching: MatchingOptions,
    output_as: Annotated[
        OutputFormat | None, typer.Option("--output-format", help="If the name does not tell.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict the rows of a stream: for each, in their order, its class and all probabilities.

    Columns are found by their names; the target need not be there. The file is written whole or
    not at all.

    Examples:

    ```
    riparian predict trees.riparian new.csv --output predicted.csv
    zcat new.csv.gz | riparian predict trees.riparian - --format csv --output - | head
    ```
    """  # fmt: skip
    if as_json and output == STDOUT:
        raise BadUsage("--json and --output - both want standard output")
    if output != STDOUT:
        check_can_write(Path(output), "--output")
    chosen = output_format(output, output_as)
    loaded = load_model(model, matching.threads)
    matched = Matched(loaded, matching)
    began = time.monotonic()
    rows = 0
    classes = loaded.forest.classes_
    schema = _schema(classes)
    try:
        with (
            Stream(sources, reading.reading(strict=False)) as stream,
            open_output(output, chosen, schema) as out,
        ):
            for batch in stream.batches(matched.choose):
                assert matched.columns is not None
                proba = loaded.forest.predict_proba(matched.columns.points(batch))
                out.write(_answers(proba, classes, schema))
                rows += len(batch)
    except BadData as error:
        partly = f"{rows:,} rows were written before" if output == STDOUT else "nothing was written"
        error.note = f"{partly}."
        raise
    matched.end()
    seconds = time.monotonic() - began
    if as_json:
        print(json.dumps({
            "output": output, "rows": rows, "seconds": seconds, "classes": classes.tolist(),
            "unknown_columns": matched.strangers, "missing_columns": matched.absent,
        }))  # fmt: skip
    else:
        say(f"{rows:,} rows predicted in {words.span(seconds)}")


def _schema(classes: NDArray[Any]) -> pa.Schema:
    label = pa.array(classes.tolist()).type
    return pa.schema(
        [("prediction", label), *((f"proba_{name}", pa.float64()) for name in classes.tolist())]
    )


def _answers(
    proba: NDArray[np.float64], classes: NDArray[Any], schema: pa.Schema
) -> pa.RecordBatch:
    labels = classes[np.argmax(proba, axis=1)]
    arrays = [pa.array(labels.tolist(), schema.field(0).type), *map(pa.array, proba.T.copy())]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
