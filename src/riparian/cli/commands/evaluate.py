"""`riparian evaluate`: test a model on rows whose class is known."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riparian.cli.errors import reported, say
from riparian.cli.option_groups.reading import MatchingOptions, ReadingOptions
from riparian.cli.option_groups.shared import (
    AsJson,
    Html,
    ModelFile,
    Pair,
    Sources,
    check_pair,
    numbers_of,
)
from riparian.cli.option_groups.spread import spread
from riparian.cli.output.files import check_can_write
from riparian.cli.output.tables import class_table, confusion_table, grid, score, show, two_columns
from riparian.sources.errors import BadData
from riparian.tools import text

if TYPE_CHECKING:
    from riparian.cli.model_file import LoadedModel
    from riparian.evaluation import Scores
    from riparian.explain import Importance

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
            help="Compare predictions with this column. Default: the target of the model.",
        ),
    ] = None,
    permutation: Annotated[
        int,
        typer.Option(
            help="Also measure how much accuracy depends on each of the N features of largest "
            "gain: predict every row again with that feature's value from another row.",
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
    as_json: AsJson = False,
) -> None:
    """Test a model on rows that it has not learned: accuracy, confusion matrix, calibration.

    Rows of a class that the model has never seen count as mistakes; a note names the class.

    Examples:

    ```
    riparian evaluate trees.riparian held-out.csv
    riparian evaluate trees.riparian held-out.csv --permutation 10
    riparian evaluate trees.riparian held-out.parquet --html evaluation.html --json
    ```
    """  # fmt: skip
    if html is not None:
        check_can_write(html, "--html", read=[model, *sources])
    check_pair(pair, html)

    from riparian.cli.features.matching import Matched
    from riparian.cli.model_file import load_model
    from riparian.evaluation import Scores
    from riparian.explain import PermutationImportance, RowSample, SurestMistakes
    from riparian.explain.sample import coded_rows
    from riparian.sources.stream import Stream

    loaded = load_model(model, matching.threads)
    planes = None if pair is None else numbers_of(pair, loaded)
    permuted = PermutationImportance(_most_important(loaded, permutation), window=window)
    sample, mistakes = RowSample(), SurestMistakes()
    matched = Matched(loaded, matching, target=target, with_target=True)
    began = time.monotonic()
    scores = Scores()
    with Stream(sources, reading.reading(strict=False)) as stream:
        for batch in stream.batches(matched.choose):
            assert matched.columns is not None
            y = matched.columns.labels(batch)
            X = matched.columns.points(batch)
            proba = loaded.forest.predict_proba(X)
            scores.update(y, proba, loaded.forest.classes_)
            if permutation:
                permuted.update(loaded.forest, X, y)
            if html is not None:
                rows = coded_rows(loaded.forest, X)
                sample.update(rows)
                mistakes.update(rows, y, proba, loaded.forest.classes_)
    matched.end()
    if scores.rows == 0:
        raise BadData("there are no rows to test on", file=stream.first.file)
    known = {*loaded.forest.classes_.tolist()}
    unseen = {
        row["label"]: row["support"] for row in scores.by_class() if row["label"] not in known
    }
    if unseen:
        listed = ", ".join(f"{label!r} ({rows:,} rows)" for label, rows in unseen.items())
        say(f"note: the model has never seen these classes; their rows count as mistakes: {listed}")
    importance = sorted(permuted.results(), key=lambda each: -each.accuracy.mean)
    facts = _facts(scores, loaded.path, stream.paths, time.monotonic() - began)
    if html is not None:
        from riparian.cli.output.columns import columns_in_words
        from riparian.report import Report

        title = f"{model.stem} on rows that it has not learned"
        Report(
            title,
            loaded.forest,
            facts,
            columns=columns_in_words(loaded.columns, loaded.forest),
            scores=scores,
            importance=importance,
            mistakes=mistakes.mistakes,
            sample=sample.rows,
            pair=planes,
        ).write(html)
    if as_json:
        print(json.dumps({
            **scores.to_dict(),
            "unseen_classes": [{"label": label, "rows": rows} for label, rows in unseen.items()],
            "unknown_columns": matched.unknown, "missing_columns": matched.absent,
            "permutation": [
                {**asdict(each), "feature": name}
                for name, each in zip(_names(loaded, importance), importance, strict=True)
            ],
            "html": None if html is None else str(html),
        }))  # fmt: skip
        return
    _show(scores, facts)
    if importance:
        _show_importance(_names(loaded, importance), importance)
    if html is not None:
        show(f"report: {html}")


def _most_important(loaded: LoadedModel, most: int) -> list[int]:
    import numpy as np

    gains = loaded.forest.feature_importances_
    return [int(i) for i in np.argsort(-gains, kind="stable")[:most]]


def _names(loaded: LoadedModel, importance: Sequence[Importance]) -> list[str]:
    names = loaded.feature_names
    return [
        f"x[{each.feature}]" if names is None else str(names[each.feature]) for each in importance
    ]


def _show_importance(names: list[str], importance: Sequence[Importance]) -> None:
    show(
        grid(
            "accuracy lost without a feature, with a 95% interval",
            ["feature", "lost", "from", "to", "log loss"],
            [
                [name, *(score(v) for v in _row(each))]
                for name, each in zip(names, importance, strict=True)
            ],
        )
    )


def _row(each: Importance) -> tuple[float, ...]:
    return each.accuracy.mean, each.accuracy.low, each.accuracy.high, each.log_loss.mean


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
