"""Summarise a run that has ended: on the terminal, as JSON, and as a report."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from riparian.cli.learning.run import Run
from riparian.cli.option_groups.shared import numbers_of
from riparian.cli.output.columns import columns_in_words
from riparian.cli.output.tables import confusion_table, score, show, two_columns
from riparian.model.budget import budget_in_words
from riparian.model.replacements import replacements_in_words, replacements_of
from riparian.tools import text


def facts(run: Run, model: Path, size: int) -> dict[str, str]:
    """Return a summary of the run, for the report and the terminal."""
    progress, stats = run.progress, run.forest.stats()
    rate = progress.learned / max(progress.seconds, 1e-9)
    summary = {
        "model": f"{model} ({text.size(size)})",
        "learned": f"{progress.learned:,} rows in {text.duration(progress.seconds)} "
        f"({rate:,.0f} rows/s)",
        "classes": f"{len(run.forest.classes_)}",
        "features": f"{run.columns.n_features:,}",
        "forest": f"{run.forest.n_estimators} trees, {stats['leaves']:,} leaves, "
        f"{stats['active']:,} active, depth {stats['depth']}, "
        f"{text.size(run.forest.memory()['total'])}",
    }
    budget = budget_in_words(stats)
    if budget is not None:
        summary["budget"] = budget
    replaced = replacements_of(run.forest)
    if replaced is not None:
        summary["replaced"] = replacements_in_words(replaced, stats["points"])
    if progress.test is not None and progress.test.scores.rows:
        scores = progress.test.scores
        summary["accuracy"] = (
            f"{score(scores.accuracy)} test-then-train over {scores.rows:,} rows, "
            f"{score(progress.test.window_accuracy)} over the last {progress.test.window:,}"
        )
        if progress.test.delay:
            summary["delay"] = f"labels arrive {progress.test.delay:,} rows late"
        summary["kappa"] = score(scores.kappa)
        summary["log loss"] = score(scores.log_loss)
    return summary


def show_all(run: Run, facts: dict[str, str], html: Path | None) -> None:
    """Print the summary and the scores."""
    show(two_columns(facts))
    test = run.progress.test
    if test is not None and test.scores.rows:
        show(confusion_table(test.scores))
    if html is not None:
        show(f"report: {html}")


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
        "passes": run.course.passes,
        "seconds": progress.seconds,
        "classes": run.forest.classes_.tolist(),
        "features": run.columns.n_features,
        "columns": columns_in_words(run.columns, run.forest),
        "prequential": None if test is None else test.to_dict(),
        "curve": None if test is None else [_without_nan(asdict(point)) for point in test.curve],
        "forest": {**stats, "memory": run.forest.memory()},
        "replacements": replacements_of(run.forest),
    }


def _without_nan(values: dict[str, float]) -> dict[str, float | None]:
    """Replace NaN by None, because JSON has no NaN."""
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def write_report(path: Path, run: Run, facts: dict[str, str]) -> None:
    """Write the report: a page with charts."""
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
                for name in ("learned", "accuracy", "delay", "model")
                if name in facts
            },
        },
        columns=columns_in_words(run.columns, run.forest),
        curve=None if test is None else test.curve,
        scores=None if test is None else test.scores,
        mistakes=run.progress.mistakes.mistakes,
        sample=kept if len(kept) else run.progress.sample.rows,
        pair=None if run.pair is None else numbers_of(run.pair, run.columns),
    ).write(path)
