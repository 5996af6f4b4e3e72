"""The report on predicted numbers: the error along the stream, and predictions against true numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riparian.model.replacements import Replacement
from riparian.report import charts
from riparian.report.figure import chart
from riparian.report.stream import replaced_in_words
from riparian.report.tables import columns
from riparian.tools.text import count, percent

if TYPE_CHECKING:
    from riparian.evaluation import NumberCurvePoint

RANGES = 10  # of the target
IN_FAN = 150  # rows that can be distinguished


def along(
    curve: Sequence[NumberCurvePoint], replacements: Sequence[Replacement] | None = None
) -> str:
    """`replacements` are those of a forest that replaces trees; they stand below the error."""
    last = curve[-1]
    rows = f"after {count(last.row)} rows"
    replaced = replaced_in_words(replacements, last.row)
    return chart(
        "error",
        "Error along the stream",
        f"Line chart of the root of the mean squared error: {rows} {last.rmse:.4g} of all rows so far, "
        f"{last.window_rmse:.4g} of the last window.{replaced}",
        "The root of the mean squared error. Every row was predicted before it was learned. The window "
        f"covers only the last rows, so it shows whether the stream has changed.{replaced}",
        charts.errors(curve, replacements or ()),
    )


def answers(answered: NDArray[np.float64]) -> str:
    """`answered` has the row, the target and the prediction of some rows; other columns are ignored."""
    if len(answered) < 2:
        return ""
    row, truth, predicted = answered.T[:3]
    some = f"{count(len(answered))} rows, drawn at random"
    return columns(
        chart(
            "truth",
            "Predicted against true",
            f"Scatter chart of {some}: predictions over the true numbers.",
            f"{some[0].upper()}{some[1:]}. Predictions on the dotted line are exact.",
            charts.against(truth, predicted),
        ),
        chart(
            "residuals",
            "Errors along the stream",
            f"Scatter chart of {some}: true number less prediction, over the rows.",
            "The true number minus the prediction: above 0, the prediction was too small.",
            charts.residuals(row, truth - predicted),
        ),
        chart(
            "ranges",
            "Error by range of the target",
            f"Bar chart of the mean absolute error in {RANGES} ranges of the true number.",
            "The mean absolute error, in ranges of the true number that hold about as many rows each.",
            charts.by_range(*ranges(truth, predicted)),
        ),
    )


def fan(answered: NDArray[np.float64] | None, coverages: Sequence[str]) -> str:
    """`answered` has, after the prediction, both ends of the interval of each coverage."""
    if answered is None or answered.shape[1] != 3 + 2 * len(coverages):
        return ""
    answered = answered[np.isfinite(answered).all(axis=1)]
    if len(answered) < 2:
        return ""
    answered = answered[np.arange(min(len(answered), IN_FAN)) * len(answered) // IN_FAN]
    answered = answered[np.argsort(answered[:, 0])]
    widest = max(range(len(coverages)), key=lambda i: float(coverages[i]))
    low, high = answered[:, 3 + 2 * widest : 5 + 2 * widest].T
    held = (low <= answered[:, 1]) & (answered[:, 1] <= high)
    some = f"{count(len(answered))} rows, drawn at random"
    return chart(
        "fan",
        f"Intervals of coverage {coverages[widest]}",
        f"Chart of {some}: the interval that was given before each row was learned, the prediction and "
        f"the true number, which was inside for {held.mean():.0%} of them.",
        f"{some[0].upper()}{some[1:]}: each bar is the interval that was given before the row was "
        f"learned. It held the true number of {held.mean():.0%} of them.",
        charts.fan(answered[:, 0], answered[:, 1], answered[:, 2], low, high, held),
    )


def intervals_along(curve: Sequence[NumberCurvePoint], coverages: Sequence[str]) -> str:
    last = curve[-1]
    shares = ", ".join(f"{percent((last.coverage or {})[each])} for {each}" for each in coverages)
    return columns(
        chart(
            "coverage",
            "Coverage of the intervals",
            f"Line chart of the share of true numbers inside intervals: in the last window {shares}.",
            f"The share of true numbers inside the intervals, of the last window: in the end, {shares}. "
            "Dotted lines are the intended coverages.",
            charts.coverage(curve, coverages),
        ),
        chart(
            "width",
            "Width of the intervals",
            "Line chart of the mean width of the intervals in the last window.",
            "The mean width of the intervals, of the last window.",
            charts.width(curve, coverages),
        ),
    )


def ranges(
    truth: NDArray[np.float64], predicted: NDArray[np.float64]
) -> tuple[list[str], list[float], list[int]]:
    """The ranges in words, the mean absolute error in each, and the rows in it.

    >>> truth = np.arange(20.0)
    >>> names, errors, rows = ranges(truth, truth + (truth > 9))
    >>> names[0], errors[0], errors[-1], rows[-1]
    ('0 to 1.9', 0.0, 1.0, 2)
    """
    edges = np.unique(np.quantile(truth, np.arange(RANGES + 1) / RANGES))
    place = np.clip(np.searchsorted(edges, truth, side="right") - 1, 0, max(len(edges) - 2, 0))
    names, errors, rows = [], [], []
    for i in np.unique(place).tolist():
        inside = place == i
        names.append(f"{edges[i]:.4g} to {edges[min(i + 1, len(edges) - 1)]:.4g}")
        errors.append(float(np.abs(truth - predicted)[inside].mean()))
        rows.append(int(inside.sum()))
    return names, errors, rows
