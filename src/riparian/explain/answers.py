"""A sample of predicted numbers along a stream, for the report."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riparian.explain.sample import RowSample

MOST_ANSWERS = 2000  # rows whose target and prediction are drawn
OF_AN_ANSWER = 3  # numbers: the row from 1, the target and the prediction; then ends of intervals


def sample_of_answers() -> RowSample:
    return RowSample(MOST_ANSWERS)


def add_answers(
    sample: RowSample,
    before: int,
    y: ArrayLike,
    predicted: ArrayLike,
    intervals: NDArray[np.float64] | None = None,
) -> None:
    """Add the rows that follow the first `before` rows of the stream.

    `intervals` has two ends for each row and coverage.
    """
    truth = np.asarray(y, dtype=np.float64)
    rows = np.arange(before + 1, before + len(truth) + 1)
    ends = [] if intervals is None else [intervals.reshape(len(truth), -1)]
    sample.update(np.column_stack([rows, truth, np.asarray(predicted), *ends]))


def answers_for_report(sample: RowSample) -> NDArray[np.float64] | None:
    """Return the sampled rows, targets and predictions; None if there are none."""
    return sample.rows.astype(np.float64) if len(sample.rows) else None
