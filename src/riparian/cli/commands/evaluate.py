"""`riparian evaluate`: how good a model is on rows whose truth is known."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

import typer

from riparian.cli.commands.predict import ModelFile, Sources
from riparian.cli.errors import BadData, reported, say
from riparian.cli.features.matching import Matched, MatchingOptions
from riparian.cli.model_file import check_can_write, load_model, named
from riparian.cli.option_groups.common import AsJson, Html, ReadingOptions, spread
from riparian.cli.output import words
from riparian.cli.output.tables import class_table, confusion_table, grid, show, two_columns
from riparian.cli.sources.stream import Stream
from riparian.evaluation import Scores


@spread
@reported
def evaluate(
    model: ModelFile,
    sources: Sources,
    reading: ReadingOptions,
    matching: MatchingOptions,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="The column of the truth; that of the model if not given.",
        ),
    ] = None,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Hold a model against rows that it has not learned from: accuracy, confusion, calibration.

    A class that the model has never seen is counted as predicted wrong, and reported.

    Examples:

    ```
    riparian evaluate trees.riparian held-out.csv
    riparian evaluate trees.riparian held-out.parquet --html evaluation.html --json
    ```
    """  # fmt: skip
    if html is not None:
        check_can_write(html, "--html")
    loaded = load_model(model, matching.threads)
    matched = Matched(loaded, matching, target=target, with_target=True)
    began = time.monotonic()
    scores = Scores()
    with Stream(sources, reading.reading(strict=False)) as stream:
        for batch in stream.batches(matched.choose):
            assert matched.columns is not None
            y = matched.columns.labels(batch)
            proba = loaded.forest.predict_proba(matched.columns.points(batch))
            scores.update(y, proba, loaded.forest.classes_)
    matched.end()
    if scores.rows == 0:
        raise BadData("there are no rows to evaluate", file=stream.first.file)
    known = {*loaded.forest.classes_.tolist()}
    unseen = {
        row["label"]: row["support"] for row in scores.by_class() if row["label"] not in known
    }
    if unseen:
        told = ", ".join(f"{label!r} ({rows:,} rows)" for label, rows in unseen.items())
        say(f"note: classes that the model has never seen, all counted as wrong: {told}")
    facts = _facts(scores, loaded.path, stream.paths, time.monotonic() - began)
    if html is not None:
        from riparian.report import Report

        with named(loaded.forest, loaded.feature_names):
            title = f"{model.stem} on rows it has not learned from"
            Report(title, loaded.forest, facts, scores=scores).write(html)
    if as_json:
        print(json.dumps({
            **scores.to_dict(),
            "unseen_classes": [{"label": label, "rows": rows} for label, rows in unseen.items()],
            "unknown_columns": matched.strangers, "missing_columns": matched.absent,
            "html": None if html is None else str(html),
        }))  # fmt: skip
        return
    _tell(scores, facts)
    if html is not None:
        show(f"report: {html}")


def _facts(scores: Scores, model: str, paths: list[str], seconds: float) -> dict[str, str]:
    return {
        "model": model,
        "sources": ", ".join(paths),
        "rows": f"{scores.rows:,} in {words.span(seconds)}",
        "accuracy": words.share(scores.accuracy),
        "kappa": words.share(scores.kappa),
        "log loss": words.share(scores.log_loss),
    }


def _tell(scores: Scores, facts: dict[str, Any]) -> None:
    show(two_columns(facts))
    show(class_table(scores))
    show(confusion_table(scores))
    show(
        grid(
            "calibration: how often right, by the probability of the class predicted",
            ["probability", "right", "rows"],
            [
                [words.share(b.confidence), words.share(b.accuracy), f"{b.count:,}"]
                for b in scores.calibration
            ],
            left=0,
        )
    )
