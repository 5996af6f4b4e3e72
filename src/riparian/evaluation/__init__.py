"""Scores of predictions, from counts that grow with the classes but not with the rows.

`Scores` takes predictions of classes, `NumberScores` those of numbers,
`IntervalScores` intervals around them. `Prequential` is test-then-train:
every block of a stream is predicted before it is learned, with or without a delay of the labels, and a
curve shows how the scores develop. Sums are exact or in fixed point, so they do not depend on the
batches of a stream, they can be merged, and they can be saved and restored exactly.

    classes.py      scores of predicted classes
    ranking.py      ROC AUC, average precision and their curves, from counts in fixed bins
    threshold.py    thresholds chosen along a stream, for a recall or a cost
    numbers.py      scores of predicted numbers
    intervals.py    scores of intervals around predicted numbers
    evaluate.py     test-then-train of rows in memory, for a notebook or a report
    prequential.py  test-then-train, with a window of recent rows and a curve
    fixed_point.py  sums that do not depend on their order
"""

from riparian.evaluation.classes import Bin, CurvePoint, Scores
from riparian.evaluation.evaluate import Evaluation, evaluate
from riparian.evaluation.intervals import IntervalScores
from riparian.evaluation.numbers import NumberCurvePoint, NumberScores
from riparian.evaluation.prequential import Prequential
from riparian.evaluation.ranking import RankingCurve
from riparian.evaluation.threshold import Threshold
from riparian.model.decision import Decision

__all__ = [
    "Bin",
    "CurvePoint",
    "Decision",
    "Evaluation",
    "IntervalScores",
    "NumberCurvePoint",
    "NumberScores",
    "Prequential",
    "RankingCurve",
    "Scores",
    "Threshold",
    "evaluate",
]
