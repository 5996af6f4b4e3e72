"""The report on a forest, with or without rows to test it on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from riparian.evaluation import NumberScores, Scores
from riparian.explain.mistakes import SurestMistakes
from riparian.explain.permutation import PermutationImportance
from riparian.explain.sample import coded_rows, kept_sample
from riparian.report.model import numbers_of
from riparian.report.report import Report

if TYPE_CHECKING:
    from riparian.forest import OnlineForestClassifier

MOST_ANSWERS = 2000  # rows whose target and prediction are drawn
MOST_PERMUTED = 10  # features of largest gain


def report(
    forest: OnlineForestClassifier,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    title: str | None = None,
) -> Report:
    """Return the report; X and y may hold rows that were not learned.

    >>> from riparian import OnlineForestClassifier
    >>> forest = OnlineForestClassifier(n_estimators=2, random_state=0)
    >>> forest = forest.fit([[1], [2], [3], [4]] * 10, ["ash", "ash", "oak", "oak"] * 10)
    >>> forest.report([[0], [5]], ["ash", "oak"]).scores
    Scores(2 rows: accuracy 1, balanced accuracy 1, kappa 1)
    """
    check_is_fitted(forest)
    if (X is None) != (y is None):
        raise ValueError("report needs both X and y to test the forest on, or neither")
    points = forest.model_.engine.points
    title = title or f"{type(forest).__name__} after {points:,} points"
    sample, _ = kept_sample(forest)
    if X is None or y is None:
        return Report(title, forest, sample=sample if len(sample) else None)
    rows = coded_rows(forest, X)
    mistakes, answered = SurestMistakes(), None
    scores: Scores | NumberScores
    if numbers_of(forest):
        truth, predicted = np.asarray(y, dtype=np.float64), forest.predict(X)
        scores = NumberScores()
        scores.update(truth, predicted)
        some = np.arange(len(truth))[:: -(-len(truth) // MOST_ANSWERS)]
        answered = np.column_stack([some + 1, truth[some], predicted[some]])
    else:
        proba = forest.predict_proba(X)
        scores = Scores()
        scores.update(y, proba, forest.classes_)
        mistakes.update(rows, y, proba, forest.classes_)
    gains = forest.feature_importances_
    features = [int(i) for i in np.argsort(-gains, kind="stable")[:MOST_PERMUTED]]
    importance = PermutationImportance(features)
    importance.update(forest, X, y)
    return Report(
        title,
        forest,
        {"tested on": f"{scores.rows:,} rows"},
        scores=scores,
        importance=importance.results(),
        mistakes=mistakes.mistakes,
        sample=sample if len(sample) else rows,
        answered=answered,
    )
