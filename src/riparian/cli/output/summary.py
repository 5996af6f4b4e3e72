"""Summarise a run that has ended: on the terminal, as JSON, and as a report."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from riparian.cli.learning.run import Run
from riparian.cli.option_groups.shared import numbers_of
from riparian.cli.output.columns import columns_in_words
from riparian.cli.output.tables import (
    class_table,
    confusion_table,
    intervals_in_words,
    number,
    numbers_in_words,
    score,
    scores_in_words,
    show,
    show_never_predicted,
    two_columns,
)
from riparian.evaluation import NumberScores, Prequential, Scores
from riparian.model.budget import budget_in_words
from riparian.model.replacements import replacements_in_words, replacements_of
from riparian.model.trust import follows_in_words, trust_in_words
from riparian.regressor import OnlineForestRegressor
from riparian.tools import text

LEAST_POINTS = 5  # of a curve, in a quarter of the stream
GROWN = 1.5  # times as large: an error that has grown
GROWN_BY = 0.05  # of wrong classes: this share of the rows more


def facts(run: Run, model: Path, size: int) -> dict[str, str]:
    """Return a summary of the run, for the report and the terminal."""
    progress, stats = run.progress, run.forest.stats()
    rate = progress.learned / max(progress.seconds, 1e-9)
    summary = {
        "model": f"{model} ({text.size(size)})",
        "learned": f"{progress.learned:,} rows in {text.duration(progress.seconds)} "
        f"({rate:,.0f} rows/s)",
        "predicts": _predicts(run),
        "features": f"{run.columns.n_features:,}",
        "forest": f"{run.forest.n_estimators} trees, {stats['leaves']:,} leaves, "
        f"{stats['active']:,} active, depth {stats['depth']}, "
        f"{text.size(run.forest.memory()['total'])}",
    }
    if "trust" in stats:
        summary["trust"] = trust_in_words(stats["trust"])
    if "follows" in stats:
        summary["last target"] = follows_in_words(stats["follows"])
    if progress.skipped.rows:
        summary["skipped"] = f"{progress.skipped.rows:,} rows that cannot be used"
    budget = budget_in_words(stats)
    if budget is not None:
        summary["budget"] = budget
    replaced = replacements_of(run.forest)
    if replaced is not None:
        summary["replaced"] = replacements_in_words(replaced, stats["points"])
    if progress.test is not None and progress.test.scores.rows:
        scores = progress.test.scores
        last = f"over the last {progress.test.window:,}"
        how = f"test-then-train over {scores.rows:,} rows"
        if isinstance(scores, NumberScores):
            summary |= numbers_in_words(scores, how, f"{number(progress.test.recent)} {last}")
            if progress.test.intervals is not None:
                summary["intervals"] = intervals_in_words(progress.test.intervals)
        else:
            summary |= scores_in_words(scores, how, f"{score(progress.test.recent)} {last}")
        if progress.test.delay:
            summary["delay"] = f"labels arrive {progress.test.delay:,} rows late"
    return summary


def _predicts(run: Run) -> str:
    if isinstance(run.forest, OnlineForestRegressor):
        return "numbers"
    return f"{len(run.forest.classes_)} classes"


def show_all(run: Run, facts: dict[str, str], html: Path | None) -> None:
    """Print the summary and the scores."""
    show(two_columns(facts))
    test = run.progress.test
    if test is not None and isinstance(test.scores, Scores) and test.scores.rows:
        show(class_table(test.scores))
        show(confusion_table(test.scores))
        show_never_predicted(test.scores)
    if test is not None and replacements_of(run.forest) is None:
        _show_growing_error(test)
    if html is not None:
        show(f"report: {html}")


def _show_growing_error(test: Prequential) -> None:
    """Say what to try if recent errors are larger in the last quarter of a stream than in its first."""
    rows = test.curve[-1].row if test.curve else 0
    points = [point for point in test.curve if point.row >= test.window]
    first = [point for point in points if point.row <= rows / 4]
    last = [point for point in points if point.row > 3 * rows / 4]
    if min(len(first), len(last)) < LEAST_POINTS:
        return
    if isinstance(test.scores, NumberScores):
        before, now = (median(point.window_rmse for point in part) for part in (first, last))
        name, shown, least = "RMSE", number, 0.0
    else:
        before, now = (
            median(1 - point.window_accuracy for point in part) for part in (first, last)
        )
        name, shown, least = "error", score, GROWN_BY
    if now > max(GROWN * before, before + least):
        show(
            f"hint: the {name} has grown along the stream, from {shown(before)} in the first quarter to "
            f"{shown(now)} in the last: try --adaptive, for streams that change"
        )


def to_dict(run: Run, model: Path, size: int, html: Path | None) -> dict[str, Any]:
    """Return the summary and the scores, for JSON."""
    progress, stats = run.progress, run.forest.stats()
    del stats["trees"]
    test = progress.test
    return {
        "model": str(model),
        "model_bytes": size,
        "html": None if html is None else str(html),
        "rows": progress.learned,
        "skipped": progress.skipped.to_dict(),
        "passes": run.course.passes,
        "seconds": progress.seconds,
        "task": "numbers" if isinstance(run.forest, OnlineForestRegressor) else "classes",
        "classes": getattr(run.forest, "classes_", np.array([])).tolist(),
        "features": run.columns.n_features,
        "columns": columns_in_words(run.columns, run.forest),
        "prequential": None if test is None else test.to_dict(),
        "curve": None if test is None else [_without_nan(asdict(point)) for point in test.curve],
        "forest": {**stats, "memory": run.forest.memory()},
        "replacements": replacements_of(run.forest),
    }


def _without_nan(values: dict[str, Any]) -> dict[str, Any]:
    """Replace NaN by None, because JSON has no NaN."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in values.items()
    }


# Lines of the summary that the report shows, too.
SCORES = ("AUC", "average precision", "accuracy", "RMSE", "MAE", "R²", "intervals")


def write_report(path: Path, run: Run, facts: dict[str, str]) -> None:
    """Write the report: a page with charts."""
    from riparian.explain.answers import answers_for_report
    from riparian.explain.sample import kept_sample
    from riparian.report import Report

    kept, _ = kept_sample(run.forest)
    test, target = run.progress.test, run.columns.target
    run.forest.model_.feature_names = run.columns.feature_names
    Report(
        title=f"{path.stem}: a stream learned",
        forest=run.forest,
        facts={
            "sources": ", ".join(run.stream.paths),
            "target": "-" if target is None else target.column,
            **{
                name: facts[name]
                for name in ("learned", "skipped", *SCORES, "delay", "model")
                if name in facts
            },
        },
        columns=columns_in_words(run.columns, run.forest),
        curve=None if test is None else test.curve,
        scores=None if test is None else test.scores,
        mistakes=run.progress.mistakes.mistakes,
        sample=kept if len(kept) else run.progress.sample.rows,
        history=run.progress.history,
        answered=answers_for_report(run.progress.answers),
        pair=None if run.pair is None else numbers_of(run.pair, run.columns),
    ).write(path)
