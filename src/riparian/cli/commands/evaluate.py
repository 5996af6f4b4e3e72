"""`riparian evaluate`: test a model on rows whose class or number is known."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riparian.cli.command import Command
from riparian.cli.errors import reported, step
from riparian.cli.option_groups.deciding import ThresholdOptions
from riparian.cli.option_groups.reading import MatchingOptions, ReadingOptions
from riparian.cli.option_groups.shared import (
    AsJson,
    Html,
    ModelFile,
    Pair,
    Quiet,
    Sources,
    check_pair,
    numbers_of,
)
from riparian.cli.option_groups.spread import spread
from riparian.cli.output.files import check_can_write
from riparian.cli.output.tables import show, two_columns
from riparian.sources.errors import BadData
from riparian.tools import text

if TYPE_CHECKING:
    from riparian.cli.model_file import LoadedModel

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command(cls=Command)
@spread
@reported
def evaluate(
    model: ModelFile,
    sources: Sources,
    reading: ReadingOptions,
    matching: MatchingOptions,
    deciding: ThresholdOptions,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="Compare predictions with this column. Default: the target of the model.",
        ),
    ] = None,
    permutation: Annotated[
        int,
        typer.Option(
            help="Also measure how much accuracy, or error, depends on each of the N features of "
            "largest gain: predict every row again with that feature's value from another row.",
            min=0,
            metavar="N",
        ),
    ] = 0,
    window: Annotated[
        int | None,
        typer.Option(
            help="With --permutation: draw values from this many preceding rows. Default: draw "
            "them from the points that the model keeps, or from 1000 rows if it keeps none.",
            min=1,
            max=10**7,
            metavar="ROWS",
        ),
    ] = None,
    pair: Pair = None,
    html: Html = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Test a model on rows that it has not learned.

    The result is scores, a confusion matrix and a calibration or, for numbers, errors.

    Rows of a class that the model has never seen count as mistakes; a note names the class.

    Examples:

    ```
    riparian evaluate trees.riparian held-out.csv
    riparian evaluate trees.riparian held-out.csv --permutation 10
    riparian evaluate flights.riparian held-out.csv --threshold recall=0.8
    riparian evaluate trees.riparian held-out.parquet --html evaluation.html --json
    ```
    """  # fmt: skip
    began = time.monotonic()
    deciding.rule(None)
    if html is not None:
        check_can_write(html, "--html", read=[model, *sources])
    check_pair(pair, html)

    from riparian.cli.features.matching import Matched
    from riparian.cli.model_file import load_model
    from riparian.cli.output.display import RowCounter, display
    from riparian.cli.output.display import scores_in_words as scores_now
    from riparian.cli.skipped import Skipped
    from riparian.cli.tested import show_importance, tested
    from riparian.explain import PermutationImportance, RowSample
    from riparian.explain.sample import coded_rows
    from riparian.sources.stream import Stream

    step("loading the model", quiet=quiet)
    loaded = load_model(model, matching.threads)
    planes = None if pair is None else numbers_of(pair, loaded)
    permuted = PermutationImportance(_most_important(loaded, permutation), window=window)
    sample = RowSample()
    matched = Matched(
        loaded, matching, target=target, with_target=True, skipped=Skipped(quiet=quiet)
    )
    test = tested(loaded, deciding)
    with (
        Stream(sources, reading.reading(strict=False)) as stream,
        display(quiet, "testing") as shown,
    ):
        counted = RowCounter(shown, lambda: stream.fraction)
        for batch in matched.batches(stream):
            assert matched.columns is not None
            y = matched.columns.labels(batch)
            X = matched.columns.points(batch)
            predicted = test.test(X, y)
            if permutation:
                permuted.update(loaded.forest, X, y)
            if html is not None:
                rows = coded_rows(loaded.forest, X)
                sample.update(rows)
                test.watch(rows, y, predicted)
            counted.add(len(y), lambda: scores_now(test.scores))
    if test.scores.rows == 0:
        raise BadData("there are no rows to test on", file=stream.first.file)
    test.note()
    importance = sorted(permuted.results(), key=lambda each: -each.lost.mean)
    seconds = time.monotonic() - began
    facts = {
        "model": loaded.path,
        "sources": ", ".join(stream.paths),
        "rows": f"{test.scores.rows:,} in {text.duration(seconds)}",
        **test.words(),
    }
    if html is not None:
        step("drawing the report", quiet=quiet)
        from riparian.cli.output.columns import columns_in_words
        from riparian.report import Report

        title = f"{model.stem} on rows that it has not learned"
        Report(
            title,
            loaded.forest,
            facts,
            columns=columns_in_words(loaded.columns, loaded.forest),
            scores=test.scores,
            importance=importance,
            sample=sample.rows,
            pair=planes,
            **test.for_report(),
        ).write(html)
    if as_json:
        print(json.dumps({
            **test.to_dict(),
            "seconds": time.monotonic() - began,
            "unknown_columns": matched.unknown, "missing_columns": matched.absent,
            "skipped": matched.skipped.to_dict(),
            "permutation": [
                {**asdict(each), "feature": name}
                for name, each in zip(_names(loaded, importance), importance, strict=True)
            ],
            "html": None if html is None else str(html),
        }))  # fmt: skip
        return
    show(two_columns(facts))
    test.show()
    if importance:
        show_importance(test, _names(loaded, importance), importance)
    if html is not None:
        show(f"report: {html}")


def _most_important(loaded: LoadedModel, most: int) -> list[int]:
    import numpy as np

    gains = loaded.forest.feature_importances_
    return [int(i) for i in np.argsort(-gains, kind="stable")[:most]]


def _names(loaded: LoadedModel, importance: Sequence[Any]) -> list[str]:
    names = loaded.feature_names
    return [
        f"x[{each.feature}]" if names is None else str(names[each.feature]) for each in importance
    ]
