"""`riparian evaluate`: how good a model is on rows with a known target."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riparian.cli.errors import BadData, reported, say
from riparian.cli.option_groups.matching import MatchingOptions
from riparian.cli.option_groups.reading import ReadingOptions
from riparian.cli.option_groups.shared import AsJson, Html, ModelFile, Sources
from riparian.cli.option_groups.spread import spread
from riparian.cli.output.files import check_can_write
from riparian.cli.output.tables import class_table, confusion_table, grid, score, show, two_columns
from riparian.tools import text

if TYPE_CHECKING:
    from riparian.evaluation import Scores

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
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
            help="The column with the true class. Default: the target of the model.",
        ),
    ] = None,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Test a model on rows that it has not learned: accuracy, confusion, calibration.

    Rows of a class that the model has never seen count as wrong, and the class is reported.

    Examples:

    ```
    riparian evaluate trees.riparian held-out.csv
    riparian evaluate trees.riparian held-out.parquet --html evaluation.html --json
    ```
    """  # fmt: skip
    if html is not None:
        check_can_write(html, "--html")

    from riparian.cli.features.matching import Matched
    from riparian.cli.model_file import load_model, named
    from riparian.cli.sources.stream import Stream
    from riparian.evaluation import Scores

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
        raise BadData("there are no rows to test on", file=stream.first.file)
    known = {*loaded.forest.classes_.tolist()}
    unseen = {
        row["label"]: row["support"] for row in scores.by_class() if row["label"] not in known
    }
    if unseen:
        listed = ", ".join(f"{label!r} ({rows:,} rows)" for label, rows in unseen.items())
        say(f"note: classes that the model has never seen, whose rows count as wrong: {listed}")
    facts = _facts(scores, loaded.path, stream.paths, time.monotonic() - began)
    if html is not None:
        from riparian.report import Report

        with named(loaded.forest, loaded.feature_names):
            title = f"{model.stem} on rows that it has not learned"
            Report(title, loaded.forest, facts, scores=scores).write(html)
    if as_json:
        print(json.dumps({
            **scores.to_dict(),
            "unseen_classes": [{"label": label, "rows": rows} for label, rows in unseen.items()],
            "unknown_columns": matched.unknown, "missing_columns": matched.absent,
            "html": None if html is None else str(html),
        }))  # fmt: skip
        return
    _show(scores, facts)
    if html is not None:
        show(f"report: {html}")


def _facts(scores: Scores, model: str, paths: list[str], seconds: float) -> dict[str, str]:
    return {
        "model": model,
        "sources": ", ".join(paths),
        "rows": f"{scores.rows:,} in {text.duration(seconds)}",
        "accuracy": score(scores.accuracy),
        "kappa": score(scores.kappa),
        "log loss": score(scores.log_loss),
    }


def _show(scores: Scores, facts: dict[str, Any]) -> None:
    show(two_columns(facts))
    show(class_table(scores))
    show(confusion_table(scores))
    show(
        grid(
            "calibration: how often the prediction is right, by its probability",
            ["probability", "right", "rows"],
            [[score(b.confidence), score(b.accuracy), f"{b.count:,}"] for b in scores.calibration],
            left=0,
        )
    )
