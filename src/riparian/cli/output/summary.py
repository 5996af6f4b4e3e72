"""What is told when a stream has been learned: to a person, to a machine, and in the report."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from riparian.cli.learning.learner import Learner
from riparian.cli.model_file import named
from riparian.cli.output import words
from riparian.cli.output.tables import confusion_table, show, two_columns


def facts(learner: Learner, model: Path, size: int) -> dict[str, str]:
    """In a few words."""
    progress, stats = learner.progress, learner.forest.stats()
    rate = progress.learned / max(progress.seconds, 1e-9)
    told = {
        "model": f"{model} ({words.size(size)})",
        "learned": f"{progress.learned:,} rows in {words.span(progress.seconds)} ({rate:,.0f} a second)",
        "classes": f"{len(learner.forest.classes_)}",
        "features": f"{learner.columns.n_features:,}",
        "forest": f"{learner.forest.n_estimators} trees, {stats['leaves']:,} leaves, "
        f"{stats['active']:,} active, depth {stats['depth']}, "
        f"{words.size(learner.forest.memory()['total'])}",
    }
    if progress.test is not None and progress.test.scores.rows:
        scores = progress.test.scores
        told["accuracy"] = (
            f"{words.share(scores.accuracy)} test-then-train over {scores.rows:,} rows, "
            f"{words.share(progress.test.window_accuracy)} over the last {progress.test.window:,}"
        )
        told["kappa"] = words.share(scores.kappa)
        told["log loss"] = words.share(scores.log_loss)
    return told


def tell(learner: Learner, facts: dict[str, str], html: Path | None) -> None:
    """To a person."""
    show(two_columns(facts))
    test = learner.progress.test
    if test is not None and test.scores.rows:
        show(confusion_table(test.scores))
    if html is not None:
        show(f"report: {html}")


def machine(learner: Learner, model: Path, size: int, html: Path | None) -> dict[str, Any]:
    """For JSON."""
    progress, stats = learner.progress, learner.forest.stats()
    del stats["trees"]
    test = progress.test
    return {
        "model": str(model),
        "model_bytes": size,
        "html": None if html is None else str(html),
        "rows": progress.learned,
        "passes": learner.course.passes,
        "seconds": progress.seconds,
        "classes": learner.forest.classes_.tolist(),
        "features": learner.columns.n_features,
        "prequential": None if test is None else test.to_dict(),
        "curve": None if test is None else [_known(asdict(point)) for point in test.curve],
        "forest": {**stats, "memory": learner.forest.memory()},
    }


def _known(values: dict[str, float]) -> dict[str, float | None]:
    """JSON has no NaN."""
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def write_report(path: Path, learner: Learner, facts: dict[str, str]) -> None:
    """As a page with charts, which say the rest themselves."""
    from riparian.report import Report

    test, target = learner.progress.test, learner.columns.target
    done: dict[str, str] = {
        "sources": ", ".join(learner.stream.paths),
        "target": "-" if target is None else target.column,
        **{name: facts[name] for name in ("learned", "accuracy", "model") if name in facts},
    }
    with named(learner.forest, learner.columns.feature_names):
        Report(
            title=f"{path.stem}: a stream learned",
            forest=learner.forest,
            facts=done,
            curve=None if test is None else test.curve,
            scores=None if test is None else test.scores,
        ).write(path)
