"""Test a forest on a stream that is in memory, with everything that a report shows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike
from sklearn.base import is_regressor
from sklearn.utils.validation import _num_samples

from riparian.evaluation.prequential import Prequential
from riparian.evaluation.threshold import Threshold
from riparian.late_labels import rows_of
from riparian.tools.checks import whole
from riparian.tools.notebook import progress as progress_bar
from riparian.tools.text import duration

if TYPE_CHECKING:
    from riparian.explain import FeatureHistory, RowSample, SurestMistakes
    from riparian.forest import OnlineForestClassifier
    from riparian.report import Report


@dataclass(repr=False)
class Evaluation:
    """A forest with its results on a stream, and the mistakes of which it was surest."""

    forest: OnlineForestClassifier
    test: Prequential
    mistakes: SurestMistakes
    sample: RowSample  # of the rows, for a forest that keeps none
    history: FeatureHistory  # of the values of the features
    answers: RowSample  # of numbers: row, target and prediction
    seconds: float = 0.0  # of testing and learning
    rows: int = field(default=0)

    @property
    def scores(self) -> Any:
        return self.test.scores

    @property
    def curve(self) -> Sequence[Any]:
        """The scores along the stream, with statistics of the forest."""
        return self.test.curve

    def report(self, title: str | None = None) -> Report:
        """Return the report: `write` it to a file, or show it in a notebook. It needs plotly."""
        from riparian.explain.answers import answers_for_report
        from riparian.explain.sample import kept_sample
        from riparian.report import Report

        kept, _ = kept_sample(self.forest)
        return Report(
            title or f"{type(self.forest).__name__} on {self.rows:,} rows",
            self.forest,
            {"rows": f"{self.rows:,} in {duration(self.seconds)}, each tested, then learned"},
            curve=self.curve,
            scores=self.scores,
            mistakes=self.mistakes.mistakes,
            sample=kept if len(kept) else self.sample.rows,
            history=self.history,
            answered=answers_for_report(self.answers),
        )

    def __repr__(self) -> str:
        return f"Evaluation of {type(self.forest).__name__}, {self.test!r}"

    def _repr_html_(self) -> str:
        return self.test._repr_html_()


def evaluate(
    forest: OnlineForestClassifier,
    X: Any,
    y: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    window: int = 1000,
    delay: int = 0,
    block: int = 100,
    positive: Any = None,
    threshold: Threshold | str | float | None = None,
    progress: bool | None = None,
) -> Evaluation:
    """Let a forest predict every row of a stream before it learns it, and return the results.

    Parameters
    ----------
    forest : OnlineForestClassifier or OnlineForestRegressor
        A forest that has learned before learns on.
    X, y : array, sparse matrix or data frame, and labels
        The stream, in its order.
    classes : array, optional
        All classes, if they are known.
    window, delay, positive, threshold :
        As in `Prequential`.
    block : int
        The number of rows that are tested and learned in one go.
    progress : bool, optional
        Whether to show a bar, by tqdm or rich; by default in notebooks, if one of them is installed.

    Examples
    --------
    >>> from riparian import OnlineForestClassifier
    >>> from riparian.streams import GaussianMixture
    >>> X, y = GaussianMixture.paper().sample(2000, random_state=0)
    >>> result = evaluate(OnlineForestClassifier(10, random_state=0), X, y)
    >>> result.scores.accuracy > 0.5, len(result.curve) > 10, len(result.mistakes.mistakes)
    (True, True, 10)
    """
    from riparian.explain import FeatureHistory, RowSample, SurestMistakes, coded_rows
    from riparian.explain.answers import add_answers, sample_of_answers

    block = whole("block", block, at_least=1, at_most=10**7)
    numbers = is_regressor(forest)
    test = Prequential(window, delay, positive=positive, threshold=threshold, numbers=numbers)
    mistakes = SurestMistakes(learning=True)
    result = Evaluation(forest, test, mistakes, RowSample(), FeatureHistory(), sample_of_answers())

    untested = 0  # rows of a block: its first ones

    def watch(X: Any, y: ArrayLike, predicted: Any, classes: Any, *intervals: Any) -> None:
        nonlocal untested
        tested = int(_num_samples(y))
        mistakes.pass_over(untested - tested)
        untested = 0
        if classes is None:
            add_answers(result.answers, mistakes.rows, y, predicted, *intervals)
            mistakes.pass_over(tested)
        else:
            mistakes.update(coded_rows(forest, X), y, predicted, classes)

    n, start = int(_num_samples(y)), time.perf_counter()
    with progress_bar(n, progress, "testing and learning") as step:
        for first in range(0, n, block):
            last = min(first + block, n)
            some, labels = rows_of(X, first, last), rows_of(y, first, last)
            untested = last - first
            test.test_then_train(forest, some, labels, classes, watch)
            mistakes.pass_over(untested)
            if forest.__sklearn_is_fitted__():
                coded, model = coded_rows(forest, some), forest.model_
                result.history.update(coded)
                if not model.engine.parameters.kept_points:
                    result.sample.update(coded)
            result.rows, result.seconds = last, time.perf_counter() - start
            if test.due or last == n:
                test.mark_forest(forest, row=last, seconds=result.seconds)
            step(last - first)
        test.learn_waiting(forest)
    return result
