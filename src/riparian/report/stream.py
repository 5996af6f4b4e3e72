"""Accuracy, leaves and memory along the stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from riparian.model.replacements import Replacement, replacements_in_words
from riparian.report import charts
from riparian.report.chart import chart
from riparian.report.tables import columns
from riparian.tools.text import count, percent, size

if TYPE_CHECKING:
    from riparian.evaluation import CurvePoint, Scores


def along(
    curve: Sequence[CurvePoint],
    scores: Scores | None,
    replacements: Sequence[Replacement] | None = None,
) -> str:
    """`replacements` are those of a forest that replaces trees; they stand below the accuracy."""
    last = curve[-1]
    rows = f"after {count(last.row)} rows"
    replaced = "" if replacements is None else _replaced(replacements, last.row)
    return chart(
        "accuracy",
        "Accuracy along the stream",
        f"Line chart of accuracy: {rows} {percent(last.accuracy)} of all rows so far, "
        f"{percent(last.window_accuracy)} of the last window.{replaced}",
        "Every row was predicted before it was learned. The window covers only the last rows, so it "
        f"shows how good the forest is now, and whether the stream has changed.{replaced}",
        charts.accuracy(
            curve, None if scores is None else most_frequent(scores), replacements or ()
        ),
    ) + columns(
        chart(
            "leaves",
            "Leaves",
            f"Line chart of the leaves of all trees: {rows} {count(last.leaves)}, "
            f"of which {count(last.active)} active.",
            "Of all trees. Active leaves collect the statistics that a split needs.",
            charts.leaves(curve),
        ),
        chart(
            "memory",
            "Memory",
            f"Line chart of the memory that the forest holds: {rows} {size(last.memory)}.",
            "Memory of the forest, as `memory()` counts it.",
            charts.held(curve),
        ),
    )


def _replaced(replacements: Sequence[Replacement], rows: int) -> str:
    words = replacements_in_words(replacements, rows)
    below = " The bars below the curves count them." if replacements else ""
    return f" {words[0].upper()}{words[1:]}.{below}"


def most_frequent(scores: Scores) -> float:
    """The accuracy of always answering with the class that was most frequent in the end."""
    return float(scores.confusion.sum(axis=1).max() / scores.rows)
