"""`riparian predict`: predict the classes and probabilities, or the numbers, of the rows of a stream."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riparian.cli.command import Command
from riparian.cli.errors import reported, say
from riparian.cli.option_groups.deciding import ThresholdOptions
from riparian.cli.option_groups.reading import MatchingOptions, ReadingOptions
from riparian.cli.option_groups.shared import AsJson, ModelFile, Quiet, Sources
from riparian.cli.option_groups.spread import spread
from riparian.cli.output.files import check_can_write
from riparian.cli.output.predictions import STDOUT, OutputFormat, format_for
from riparian.sources.errors import BadData, BadUsage
from riparian.tools import text

if TYPE_CHECKING:
    from riparian.cli.model_file import LoadedModel
    from riparian.model.decision import Decision
    from riparian.table.target import Target

MOST_NAMED = 10  # classes, in a message

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command(cls=Command)
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
    deciding: ThresholdOptions,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Copy this column of the source to the output, such as an id. Repeatable.",
            metavar="COLUMN",
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            help="Add the columns low and high: the ends of an interval that holds this share of the "
            "targets. The model must have learned it: riparian learn --interval.",
            metavar="COVERAGE",
        ),
    ] = None,
    output_as: Annotated[
        OutputFormat | None,
        typer.Option("--output-format", help="Set the format. Default: by the file name."),
    ] = None,
    escape_formulas: Annotated[
        bool,
        typer.Option(
            "--escape-formulas",
            help="In CSV, put an apostrophe before texts that a spreadsheet would run as formulas.",
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Predict the class and the probabilities, or the number, of every row of a stream, in order.

    Columns are matched by name; the target column is not needed. If the command fails, no output
    file is left behind. Labels are written as they were learned: if others can choose them, pass
    --escape-formulas before you open a CSV file in a spreadsheet.

    Examples:

    ```
    riparian predict trees.riparian new.csv --output predicted.csv --keep id
    zcat new.csv.gz | riparian predict trees.riparian - --format csv --output - | head
    ```
    """  # fmt: skip
    if as_json and output == STDOUT:
        raise BadUsage("--json and --output - both write to standard output")
    if output != STDOUT:
        check_can_write(Path(output), "--output", read=[model, *sources], or_pipe=True)
    format_ = format_for(output, output_as)
    if escape_formulas and format_ is not OutputFormat.CSV:
        raise BadUsage(f"--escape-formulas: expected CSV output, got {format_.value}")

    from riparian.cli.features.matching import Matched
    from riparian.cli.model_file import load_model
    from riparian.cli.output.display import RowCounter, display
    from riparian.cli.output.predictions import open_predictions
    from riparian.cli.skipped import Skipped
    from riparian.model.decision import best_columns
    from riparian.sources.stream import Stream
    from riparian.table.target import Target

    began = time.monotonic()
    loaded = load_model(model, matching.threads)
    classes = None if loaded.numbers else loaded.forest.classes_
    decision = None
    if classes is None:
        deciding.check_numbers(None)
    else:
        decision = _decision(deciding, Target.of_classes("", classes), loaded)
    if interval is not None:
        _check_interval(interval, loaded)
    matched = Matched(loaded, matching, keep=keep or [], skipped=Skipped(quiet=quiet))
    rows = 0
    try:
        with (
            Stream(sources, reading.reading(strict=False)) as stream,
            open_predictions(
                output,
                format_,
                classes,
                escape_formulas=escape_formulas,
                keep=keep or [],
                intervals=interval is not None,
            ) as predictions,
            display(quiet, "predicting") as shown,
        ):
            counted = RowCounter(shown, lambda: stream.fraction)
            for batch in matched.batches(stream):
                assert matched.columns is not None
                points = matched.columns.points(batch)
                if classes is None:
                    numbers = loaded.forest.predict(points)
                    ends = None
                    if interval is not None:
                        ends = loaded.forest.predict_interval(points, interval)
                    predictions.write_numbers(numbers, batch.table, ends)
                else:
                    proba = loaded.forest.predict_proba(points)
                    predictions.write(proba, best_columns(decision, proba, classes), batch.table)
                rows += len(batch)
                counted.add(len(batch))
    except BadData as error:
        written = f"the {rows:,} rows before it were" if output == STDOUT else "no file was"
        error.note = f"{written} written."
        raise
    seconds = time.monotonic() - began
    if as_json:
        print(json.dumps({
            "output": output, "rows": rows, "seconds": seconds,
            "classes": [] if classes is None else classes.tolist(),
            "unknown_columns": matched.unknown, "missing_columns": matched.absent,
            "skipped": matched.skipped.to_dict(),
        }))  # fmt: skip
    elif not quiet:
        say(f"{rows:,} rows predicted in {text.duration(seconds)}")


def _check_interval(coverage: float, loaded: LoadedModel) -> None:
    """Raise an error if the model cannot give such intervals."""
    if not loaded.numbers:
        raise BadUsage("--interval is for numbers, and the model predicts classes; leave it out")
    learned = loaded.forest.model_.engine.parameters.intervals
    if coverage not in learned:
        raise BadUsage(
            f"--interval {coverage}: the model has learned {', '.join(map(str, learned)) or 'none'}; "
            f"learn it with --interval {coverage}"
        )


def _decision(deciding: ThresholdOptions, labels: Target, loaded: LoadedModel) -> Decision | None:
    """Return the decision that the user or the model names."""
    saved = loaded.forest.decision_
    rule = deciding.rule(labels, saved)
    if rule is None:
        return None
    if rule.rule != "value":
        raise BadUsage(
            f"--threshold {deciding.threshold}: rows without labels cannot choose a threshold; give a "
            "number, or learn or evaluate with this option"
        )
    if rule.label is None:
        known = ", ".join(repr(label) for label in loaded.forest.classes_[:MOST_NAMED].tolist())
        raise BadUsage(
            "--threshold needs --positive here, because the model does not say which class is rare; its "
            f"classes are {known}"
        )
    from riparian.model.decision import Decision

    try:
        return Decision.checked(rule.label, rule.number, loaded.forest.classes_.tolist())
    except ValueError as error:
        raise BadUsage(f"--positive: {error}") from None
