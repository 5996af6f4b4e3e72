"""What `riparian evaluate` counts and shows of predicted classes, and of predicted numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from riparian.cli.errors import say
from riparian.cli.model_file import LoadedModel
from riparian.cli.option_groups.deciding import ThresholdOptions
from riparian.cli.output.columns import warn_of_classes
from riparian.cli.output.tables import (
    class_table,
    confusion_table,
    grid,
    number,
    numbers_in_words,
    score,
    scores_in_words,
    show,
    show_never_predicted,
)
from riparian.evaluation import NumberScores, Scores
from riparian.explain import SurestMistakes
from riparian.explain.answers import add_answers, answers_for_report, sample_of_answers
from riparian.table.target import Target

if TYPE_CHECKING:
    from riparian.explain import Importance, NumberImportance


class TestedClasses:
    """Scores of predicted classes, and the surest mistakes."""

    LOST: ClassVar = "accuracy lost without a feature, with a 95% interval"
    ALSO_LOST: ClassVar = "log loss"

    def __init__(self, loaded: LoadedModel, deciding: ThresholdOptions) -> None:
        self._forest = loaded.forest
        self._known = loaded.forest.classes_
        labels, decision = Target.of_classes("", self._known), loaded.forest.decision_
        positive = deciding.label(labels)
        if positive is None and decision is not None:
            positive = decision.label
        warned = [] if positive is None else [positive]
        warn_of_classes("--positive", warned, self._known.tolist())
        self.scores = Scores(positive, deciding.rule(labels, decision))
        self._mistakes = SurestMistakes()

    def test(self, X: Any, y: Any) -> Any:
        """Score a batch, and return what was predicted."""
        proba = self._forest.predict_proba(X)
        self.scores.update(y, proba, self._forest.classes_)
        return proba

    def watch(self, rows: Any, y: Any, proba: Any) -> None:
        """Look for what the report shows."""
        self._mistakes.update(rows, y, proba, self._forest.classes_)

    def for_report(self) -> dict[str, Any]:
        return {"mistakes": self._mistakes.mistakes}

    def words(self) -> dict[str, str]:
        return scores_in_words(self.scores)

    def to_dict(self) -> dict[str, Any]:
        unseen = [{"label": label, "rows": rows} for label, rows in self._unseen().items()]
        return {**self.scores.to_dict(), "unseen_classes": unseen}

    def _unseen(self) -> dict[Any, int]:
        """Return the rows of each class that the model has never seen."""
        known, truths = {*self._known.tolist()}, self.scores.ranking.truths
        return {label: truths[label] for label in self.scores.classes if label not in known}

    def note(self) -> None:
        """Say which classes the model has never seen."""
        unseen = self._unseen()
        if unseen:
            listed = ", ".join(f"{label!r} ({rows:,} rows)" for label, rows in unseen.items())
            say(
                "note: the model has never seen these classes; their rows count as mistakes: "
                f"{listed}"
            )

    def show(self) -> None:
        """Print tables after the scores."""
        scores = self.scores
        bins = [
            [score(b.confidence), score(b.accuracy), f"{b.count:,}"] for b in scores.calibration
        ]
        show(class_table(scores))
        show(confusion_table(scores))
        show(
            grid(
                "calibration: how often the prediction is right, by its probability",
                ["probability", "right", "rows"],
                bins,
                left=0,
            )
        )
        show(f"calibration error: {score(scores.calibration_error)}")
        show_never_predicted(scores)

    @staticmethod
    def losses(each: Importance) -> list[str]:
        lost = each.lost
        return [score(v) for v in (lost.mean, lost.low, lost.high, each.log_loss.mean)]


class TestedNumbers:
    """Scores of predicted numbers, and some of the rows."""

    LOST: ClassVar = "absolute error added without a feature, with a 95% interval"
    ALSO_LOST: ClassVar = "squared error"

    def __init__(self, loaded: LoadedModel, deciding: ThresholdOptions) -> None:
        deciding.check_numbers(None)
        self._forest = loaded.forest
        self.scores = NumberScores()
        self._answers = sample_of_answers()

    def test(self, X: Any, y: Any) -> Any:
        """Score a batch, and return what was predicted."""
        predicted = self._forest.predict(X)
        self.scores.update(y, predicted)
        return predicted

    def watch(self, rows: Any, y: Any, predicted: Any) -> None:
        """Look for what the report shows. These rows have been counted."""
        add_answers(self._answers, self.scores.rows - len(y), y, predicted)

    def for_report(self) -> dict[str, Any]:
        return {"answered": answers_for_report(self._answers)}

    def words(self) -> dict[str, str]:
        return numbers_in_words(self.scores)

    def to_dict(self) -> dict[str, Any]:
        return self.scores.to_dict()

    def note(self) -> None:
        """Say nothing: there are no numbers that the model does not know."""

    def show(self) -> None:
        """Print nothing after the scores."""

    @staticmethod
    def losses(each: NumberImportance) -> list[str]:
        lost = each.lost
        return [number(v) for v in (lost.mean, lost.low, lost.high, each.squared_error.mean)]


def tested(loaded: LoadedModel, deciding: ThresholdOptions) -> TestedClasses | TestedNumbers:
    """Return what counts the predictions of this model."""
    return (TestedNumbers if loaded.numbers else TestedClasses)(loaded, deciding)


def show_importance(
    test: TestedClasses | TestedNumbers, names: Sequence[str], importance: Sequence[Any]
) -> None:
    """Print a table of what is lost without each feature."""
    show(
        grid(
            test.LOST,
            ["feature", "lost" if isinstance(test, TestedClasses) else "added", "from", "to",
             test.ALSO_LOST],
            [[name, *test.losses(each)] for name, each in zip(names, importance, strict=True)],
        )
    )  # fmt: skip
