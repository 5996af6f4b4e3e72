"""How good the predictions were: confusions, calibration, and scores by class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riparian.report import charts
from riparian.report.chart import chart
from riparian.report.tables import columns, folded, heat_key, paragraph, table
from riparian.tools.text import count, decimal, listed, percent, shortened

if TYPE_CHECKING:
    from riparian.evaluation import Bin, Scores

MOST_CLASSES_IN_A_MATRIX = 40
MOST_PAIRS = 10  # that are listed next to a matrix
MOST_PAIRS_ALONE = 15  # that are listed instead of one
LONGEST_NAME = 60  # characters of a class in a table
MOST_CLASSES_AS_BARS = 20  # of those that are too many for a matrix
LARGEST_IN_A_COLUMN = 15  # classes of a matrix that needs no more than half of a wide page


def answers(scores: Scores) -> str:
    names = [str(label) for label in scores.classes]
    matrix = scores.confusion
    whole = confusion(names, matrix)
    others = [
        confused_pairs(names, matrix) if len(names) > 2 else "",
        calibration(scores.calibration),
        class_shares(names, matrix),
    ]
    if len(names) > LARGEST_IN_A_COLUMN:
        return whole + columns(*others) + by_class(scores)
    return columns(whole, *others) + by_class(scores)


def confusion(names: list[str], matrix: NDArray[np.int64]) -> str:
    """Return the matrix, or a note that it would be too large to read."""
    if len(names) > MOST_CLASSES_IN_A_MATRIX:
        return paragraph(
            f"A matrix of {count(len(names))} classes would be too large to read. The pairs "
            "that were confused most often are listed instead."
        )
    right = int(np.trace(matrix))
    return chart(
        "confusion",
        "Confusion matrix",
        f"Heat map of {len(names)} classes, truth down and prediction across: "
        f"{count(right)} of {count(int(matrix.sum()))} rows lie on the diagonal, predicted right.",
        "A row is a class as it was, a column as it was predicted. The colour is the share of the "
        "row; its scale gives most room to small shares, so that rare confusions can be seen.",
        charts.confusion(names, matrix),
        key=heat_key("share of the truth", charts.HEAT_STEPS, charts.heat_colours(names)),
        least_width=40 + 11 * len(names),  # so that names side by side can be read
    )


def confused_pairs(names: list[str], matrix: NDArray[np.int64]) -> str:
    """A table of the mistakes made most often; nothing where none was made."""
    mistakes = matrix * ~np.eye(len(matrix), dtype=bool)
    most = MOST_PAIRS if len(names) <= MOST_CLASSES_IN_A_MATRIX else MOST_PAIRS_ALONE
    order = np.argsort(-mistakes, axis=None, kind="stable")[:most]
    pairs = [divmod(int(i), len(matrix)) for i in order if mistakes.flat[i] > 0]
    if not pairs:
        return ""
    in_all = int(np.count_nonzero(mistakes))
    rows = [
        (
            shortened(names[truth], LONGEST_NAME),
            shortened(names[predicted], LONGEST_NAME),
            count(int(matrix[truth, predicted])),
            percent(matrix[truth, predicted] / matrix[truth].sum()),
        )
        for truth, predicted in pairs
    ]
    return table(
        f"Most often confused: {listed(len(pairs), in_all, 'pairs')}",
        ("truth", "predicted", "rows", "of the truth"),
        rows,
        numbers=(2, 3),
    )


def calibration(bins: Sequence[Bin]) -> str:
    gap = calibration_error(bins)
    return chart(
        "calibration",
        "Calibration",
        f"Line chart of how often predictions were right by their confidence, in {len(bins)} "
        f"bins; on average {percent(gap)} away from the diagonal.",
        "Predictions by the probability of the predicted class. On the dotted line they are right "
        "as often as they say, above it more often. The mean distance from it, weighted by rows, "
        f"is {percent(gap)}.",
        charts.calibration(bins),
    )


def calibration_error(bins: Sequence[Bin]) -> float:
    rows = sum(b.count for b in bins)
    return math.fsum(b.count * abs(b.accuracy - b.confidence) for b in bins) / rows


def class_shares(names: list[str], matrix: NDArray[np.int64]) -> str:
    truth, predicted = matrix.sum(axis=1), matrix.sum(axis=0)
    shown = np.arange(len(names))
    if len(names) > MOST_CLASSES_IN_A_MATRIX:
        shown = np.argsort(-truth, kind="stable")[:MOST_CLASSES_AS_BARS]
    which = f"the {len(shown)} most frequent of {count(len(names))} classes"
    cut = f" Shown are {which}." if len(shown) < len(names) else ""
    return chart(
        "shares",
        "Class shares",
        f"Bar chart of how often {which} were the truth, and how often they were predicted.",
        f"How often a class was the truth, and how often it was predicted.{cut}",
        charts.class_shares(
            [names[i] for i in shown], truth[shown], predicted[shown], int(matrix.sum())
        ),
    )


def by_class(scores: Scores) -> str:
    rows = [
        (
            shortened(str(each["label"]), LONGEST_NAME),
            *(decimal(_number(each[kind])) for kind in ("precision", "recall", "f1")),
            count(each["support"]),
        )
        for each in scores.by_class()
    ]
    head = ("class", "precision", "recall", "F1", "rows")
    listed = table("Precision, recall and F1 by class", head, rows, numbers=(1, 2, 3, 4))
    return folded(f"Class by class: {count(len(rows))} classes", listed)


def _number(value: float | None) -> float:
    return math.nan if value is None else value
