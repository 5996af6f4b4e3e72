"""The quality of the predictions: confusions, calibration, and scores by class."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riparian.report import charts
from riparian.report.figure import chart
from riparian.report.tables import columns, folded, heat_key, paragraph, table
from riparian.tools.text import count, decimal, listed, percent, shortened

if TYPE_CHECKING:
    from riparian.evaluation import Scores

MOST_CLASSES_IN_A_MATRIX = 40
MOST_PAIRS = 10  # that are listed next to a matrix
MOST_PAIRS_ALONE = 15  # that are listed instead of one
LONGEST_NAME = 60  # characters of a class in a table
MOST_CLASSES_AS_BARS = 20  # of those that are too many for a matrix
FAR_FROM_CALIBRATED = 0.05  # in the mean over rows
MOST_POINTS = 300  # of a curve over thresholds
MOST_RANKED = 10  # classes: with more, the rarest one has too few rows
LARGEST_IN_A_COLUMN = 15  # classes of a matrix that needs no more than half of a wide page


def answers(scores: Scores) -> str:
    """Show the section. For imbalanced classes, the ranking of the rows comes before the predictions."""
    ranked, rest = ranking(scores), predicted(scores)
    return ranked + rest if scores.imbalanced else rest + ranked


def predicted(scores: Scores) -> str:
    names = [str(label) for label in scores.classes]
    matrix = scores.confusion
    whole = confusion(names, matrix)
    others = [
        confused_pairs(names, matrix) if len(names) > 2 else "",
        calibration(scores),
        class_shares(names, matrix),
    ]
    if len(names) > LARGEST_IN_A_COLUMN:
        return whole + columns(*others) + by_class(scores)
    return columns(whole, *others) + by_class(scores)


def ranking(scores: Scores) -> str:
    """Show the curves of one class: of two the rarer one; of more the rarest one, if it is rare."""
    curve, classes = scores.curve(), len(scores.ranking.truths)
    rare = scores.imbalanced and classes <= MOST_RANKED
    if not curve.defined or not (classes == 2 or rare):
        return ""
    label = shortened(str(scores.positive), LONGEST_NAME)
    base = curve.positives / (curve.positives + curve.negatives)
    first = float(np.interp(0.1, curve.share, curve.lift))
    shown = curve.thinned(MOST_POINTS)
    return columns(
        chart(
            "roc",
            f"ROC curve of {label}",
            f"ROC curve of {label}: the area under it is {decimal(curve.auc)}.",
            f"Recall against false positives, for all thresholds of the probability of {label}. The "
            f"area under the curve is {decimal(curve.auc)}: how often a row of {label} has a higher "
            "probability than another row.",
            charts.roc(shown),
        ),
        chart(
            "precision",
            f"Precision and recall of {label}",
            f"Precision-recall curve of {label}: average precision {decimal(curve.average_precision)}.",
            f"The average precision is {decimal(curve.average_precision)}; at random it would be "
            f"{decimal(base)}, the share of {label}.",
            charts.precision_recall(shown, base),
        ),
        chart(
            "lift",
            f"Lift of {label}",
            f"Lift curve of {label}: {decimal(first, 1)} in the first tenth of the rows.",
            f"How much more often {label} occurs among the rows with the highest probability than among "
            f"all rows: {decimal(first, 1)} times as often in the first tenth.",
            charts.lift(shown),
        ),
    )


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
        "Rows are true classes, columns are predictions. The colour shows the share of the row, on a "
        "scale on which small shares can be distinguished.",
        charts.confusion(names, matrix),
        key=heat_key("share of the true class", charts.HEAT_STEPS, charts.heat_colours(names)),
        least_width=40 + 11 * len(names),  # so that names side by side can be read
    )


def confused_pairs(names: list[str], matrix: NDArray[np.int64]) -> str:
    """Return a table of the most frequent mistakes, or nothing if there is none."""
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
        ("truth", "predicted", "rows", "of the true class"),
        rows,
        numbers=(2, 3),
    )


def calibration(scores: Scores) -> str:
    bins, gap = scores.calibration, scores.calibration_error
    return chart(
        "calibration",
        "Calibration",
        f"Line chart of how often predictions were right by their confidence, in {len(bins)} "
        f"bins; on average {percent(gap)} away from the diagonal.",
        "How often predictions are right, by their probability. On the dotted line, they are right as "
        "often as the probability says; above it, more often. The mean distance from the line, "
        f"weighted by rows, is {percent(gap)}.{what_to_do(scores)}",
        charts.calibration(bins),
    )


def what_to_do(scores: Scores) -> str:
    """Point to the temperature if probabilities are far from how often predictions are right."""
    if scores.calibration_error < FAR_FROM_CALIBRATED:
        return ""
    above = math.fsum(b.count * (b.accuracy - b.confidence) for b in scores.calibration) > 0
    return (
        f" The probabilities are too {'timid' if above else 'sure'}: "
        "riparian.calibration.OnlineTemperature learns to correct them along the stream."
    )


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
        f"How often each class occurred, and how often it was predicted.{cut}",
        charts.class_shares(
            [names[i] for i in shown], truth[shown], predicted[shown], int(matrix.sum())
        ),
    )


BY_CLASS = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "auc": "AUC",
    "average_precision": "average precision",
}


def by_class(scores: Scores) -> str:
    rows = [
        (
            shortened(str(each["label"]), LONGEST_NAME),
            *(decimal(_number(each[kind])) for kind in BY_CLASS),
            count(each["support"]),
        )
        for each in scores.by_class()
    ]
    head = ("class", *BY_CLASS.values(), "rows")
    listed = table("Scores by class", head, rows, numbers=range(1, len(head)))
    return folded(f"Class by class: {count(len(rows))} classes", listed)


def _number(value: float | None) -> float:
    return math.nan if value is None else value
