"""Accuracy, leaves and memory along the stream."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from riparian.model.replacements import Replacement, replacements_in_words
from riparian.model.trust import head_name, trust_in_words
from riparian.report import charts
from riparian.report.figure import chart
from riparian.report.tables import columns
from riparian.tools.text import count, decimal, percent, shortened, size

LONGEST_NAME = 30

if TYPE_CHECKING:
    from riparian.evaluation import CurvePoint, NumberCurvePoint, Scores


def along(
    curve: Sequence[CurvePoint],
    scores: Scores | None,
    replacements: Sequence[Replacement] | None = None,
) -> str:
    """`replacements` are those of a forest that replaces trees; they stand below the accuracy."""
    last = curve[-1]
    rows = f"after {count(last.row)} rows"
    replaced = replaced_in_words(replacements, last.row)
    ranked = ranking(curve, scores) if scores is not None and scores.imbalanced else ""
    return (
        ranked
        + chart(
            "accuracy",
            "Accuracy along the stream",
            f"Line chart of accuracy: {rows} {percent(last.accuracy)} of all rows so far, "
            f"{percent(last.window_accuracy)} of the last window.{replaced}",
            "Every row was predicted before it was learned. The window covers only the last rows, so it "
            f"shows how good the forest is now, and whether the stream has changed.{replaced}",
            charts.accuracy(
                curve, None if scores is None else most_frequent(scores), replacements or ()
            ),
        )
        + columns(
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
                "Nodes, histograms, lists and kept points of the forest.",
                charts.held(curve),
            ),
        )
    )


def ranking(curve: Sequence[CurvePoint], scores: Scores) -> str:
    """Show how well the rows were ranked, or nothing if a run of riparian 0.2 did not count that."""
    ranked = [point for point in curve if not math.isnan(point.auc)]
    if len(ranked) < 2:
        return ""
    label = shortened(str(scores.positive), LONGEST_NAME)
    two = len(scores.ranking.truths) == 2
    of = f"by the probability of {label}" if two else "by the probability of each class"
    mean = "" if two else " Both scores are means over the classes."
    last = ranked[-1]
    return chart(
        "ranking",
        "Ranking along the stream",
        f"Line chart: the area under the ROC curve is {decimal(last.auc)} in the end, the average "
        f"precision {decimal(last.average_precision)}.",
        f"Classes are imbalanced, so always guessing the most frequent one is often right. How well "
        f"rows are ranked {of} says more. The scores are those of all rows so far.{mean}",
        charts.ranking(ranked),
    )


def trusted(curve: Sequence[CurvePoint] | Sequence[NumberCurvePoint]) -> str:
    """R25: show where answers came from, or nothing for a forest without heads."""
    there = [(point.row, point.trust) for point in curve if point.trust is not None]
    if len(there) < 2:
        return ""
    heads, last = list(there[-1][1]), there[-1][1]
    names = [head_name(float(head)) for head in heads]
    words = trust_in_words({float(head): weight for head, weight in last.items()})
    return chart(
        "trust-along",
        "Where the answers come from, along the stream",
        f"Area chart of the trust in {', '.join(names)}: in the end, {words}.",
        "The bands show which part of the answers came from cells of each size, or from the last "
        "points of a leaf. The forest learns from its own predictions which to trust. In the end, "
        f"{words}.",
        charts.trust_along(
            names,
            [row for row, _ in there],
            [[trust.get(head, 0.0) for head in heads] for _, trust in there],
        ),
    )


def replaced_in_words(replacements: Sequence[Replacement] | None, rows: int) -> str:
    if replacements is None:
        return ""
    words = replacements_in_words(replacements, rows)
    below = " The bars below the curves count them." if replacements else ""
    return f" {words[0].upper()}{words[1:]}.{below}"


def most_frequent(scores: Scores) -> float:
    """Return the accuracy of always predicting the class that was most frequent in the end."""
    return float(scores.confusion.sum(axis=1).max() / scores.rows)
