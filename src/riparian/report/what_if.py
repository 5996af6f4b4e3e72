"""What affects predictions: permutation, partial dependence, a plane, the surest mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riparian.inspection.words import names_of_features
from riparian.report import what_if_charts as charts
from riparian.report.figure import chart, fitted, fitted_numbers, text
from riparian.report.model import numbers_of
from riparian.report.tables import columns, heat_key, paragraph, table
from riparian.tools.text import count, decimal, listed, percent, shortened

if TYPE_CHECKING:
    from riparian.explain.dependence import Dependence
    from riparian.explain.mistakes import Mistake
    from riparian.explain.permutation import Importance, NumberImportance
    from riparian.forest import OnlineForestClassifier

MOST_PERMUTED = 20  # features in the chart
MOST_DEPENDENCES = 4
MOST_CLASSES = 20  # of a heat map
MOST_PLANES = 4  # classes, with a heat map each
MOST_REASONS = 3  # features that are named next to a mistake
LEAST_REASON = 0.005  # of the probability: less would be written as 0.00
LONGEST_NAME = 30

# Each has what is lost, `Importance` of classes and `NumberImportance` of numbers.
Importances = Sequence["Importance | NumberImportance"]


# -- importance -----------------------------------------------------------------------------------


def permuted(forest: OnlineForestClassifier, importance: Importances) -> str:
    """Show what accuracy is lost, or what error is added, without each feature, with intervals."""
    if not importance:
        return ""
    order = sorted(importance, key=lambda each: -each.lost.mean)
    shown, names = order[:MOST_PERMUTED], names_of_features(forest, None)
    first = shown[0]
    title, axis, unit = "Accuracy lost without a feature", "accuracy lost", charts.SHARES
    change = f"the accuracy is {percent(first.lost.mean)} lower"
    if numbers_of(forest):
        title, axis = "Error added without a feature", "mean absolute error added"
        unit = charts.NUMBERS
        change = f"the mean absolute error is {unit.written(first.lost.mean)} higher"
    return chart(
        "permutation",
        title,
        f"Bar chart of {listed(len(shown), len(order), 'features')}: without "
        f"{names[first.feature]} {change}.",
        "Each row was predicted again with the value of another row, one feature at a time. The lines "
        "are 95% confidence intervals. Features of pure noise are at 0; so are features that repeat "
        "what another one says.",
        charts.permuted([names[each.feature] for each in shown], shown, axis, unit),
    )


# -- what if --------------------------------------------------------------------------------------

OTHERWISE = (
    "with this feature set to each value in turn and everything else unchanged. All charts of this "
    "section have the same scale."
)
IN_THE_PLANE = (
    "All other features have their median in the sample, and categories their most frequent value. The "
    "edges are those of the partition that the trees make."
)


def what_if(
    forest: OnlineForestClassifier,
    sample: NDArray[np.float32] | None,
    importance: Importances,
    pair: tuple[int, int] | None,
) -> str:
    if sample is None or len(sample) == 0:
        return ""
    from riparian.explain.dependence import partial_dependence

    unnamed = CodedForest(forest)
    curves = [
        curve
        for feature in _first(forest, importance)
        if (curve := partial_dependence(unnamed, sample, feature)) is not None  # type: ignore[arg-type]
        and len(curve.values) > 1
    ]
    if unnamed.classes is None:
        charted = number_dependences(unnamed, curves, len(sample)) if curves else ""
        return charted + (number_plane(unnamed, sample, pair) if pair is not None else "")
    only = None
    if len(unnamed.classes) == 2:  # the rarer class is the one to look for
        answers = forest.model_.engine.predict_proba(sample, forest.threads())
        only = int(answers.mean(axis=0).argmin())
    charted = dependences(unnamed, curves, len(sample), only) if curves else ""
    return charted + (planes(unnamed, sample, pair, only) if pair is not None else "")


def _first(forest: OnlineForestClassifier, importance: Importances) -> list[int]:
    """The most important features: by permutation, if that is known, else by their gains."""
    if importance:
        order = sorted(importance, key=lambda each: -each.lost.mean)
        return [each.feature for each in order[:MOST_DEPENDENCES]]
    gains = forest.feature_importances_
    best = np.argsort(-gains, kind="stable")[:MOST_DEPENDENCES]
    return [int(i) for i in best if gains[i] > 0]


class CodedForest:
    """A forest that takes rows in the form of the engine, although it has names and categories."""

    def __init__(self, forest: OnlineForestClassifier) -> None:
        self.classes = None if numbers_of(forest) else [str(each) for each in forest.classes_]
        self.names = names_of_features(forest, None)
        self.model_, self.threads = forest.model_, forest.threads

    def checked_points(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        return X

    def categories(self, feature: int, codes: NDArray[np.float32]) -> list[str] | None:
        """Return the categories of these codes, or None for a numeric feature."""
        table = self.model_.categories.get(feature)
        return None if table is None else [table.name(int(code)) for code in codes]

    def along(self, feature: int, values: NDArray[np.float32]) -> charts.Along:
        """Return the axis of a feature, with dates as dates."""
        shown = [self.model_.shown(feature, value) for value in values.tolist()]
        dates = [each for each in shown if each is not None]
        categories = self.categories(feature, values)
        return charts.Along(self.names[feature], values, categories, dates or None)

    def value(self, feature: int, x: np.float32) -> str:
        if np.isnan(x):
            return "missing"
        shown = self.model_.shown(feature, float(x))
        if shown is not None:
            return shown
        names = self.categories(feature, np.array([x]))
        return f"{float(x):.4g}" if names is None else shortened(names[0], LONGEST_NAME)


def dependences(
    forest: CodedForest, curves: Sequence[Dependence], rows: int, only: int | None
) -> str:
    """A chart for each feature. All have one scale, so that they can be compared."""
    answers, classes = np.concatenate([curve.predictions for curve in curves]), forest.classes
    assert classes is not None
    shown = most_probable(answers, MOST_CLASSES) if only is None else [only]
    scale = fitted(answers[:, shown])
    note = f"The mean probabilities of {count(rows)} rows, {OTHERWISE}"
    return columns(*(dependence(forest, curve, classes, shown, scale, note) for curve in curves))


def dependence(
    forest: CodedForest,
    curve: Dependence,
    classes: list[str],
    shown: list[int],
    scale: tuple[float, float],
    note: str,
) -> str:
    name = forest.names[curve.feature]
    along = forest.along(curve.feature, curve.values)
    probabilities = curve.predictions[:, shown]
    if len(shown) == 1:
        label, values = classes[shown[0]], probabilities[:, 0]
        title = f"probability of {text(label, 30)}"
        figure = charts.dependence_line(along, title, values, scale, charts.SHARES)
        summary = f"of {label} is between {percent(values.min())} and {percent(values.max())}"
        key = ""
    else:
        named = [classes[k] for k in shown]
        figure = charts.dependence_heat(along, named, probabilities.T, scale)
        summary = f"of {listed(len(shown), len(classes), 'classes')}"
        key = heat_key("probability", _steps(scale), "strong-heat")
    return chart(
        f"dependence-{curve.feature}",
        f"If {shortened(name, LONGEST_NAME)} were different",
        f"Partial dependence on {name}: the mean probability {summary}.",
        note,
        figure,
        key=key,
    )


def number_dependences(forest: CodedForest, curves: Sequence[Dependence], rows: int) -> str:
    """The same for a forest of numbers: a line for each feature."""
    scale = fitted_numbers(np.concatenate([curve.predictions for curve in curves]))
    written = charts.NUMBERS.written
    return columns(
        *(
            chart(
                f"dependence-{curve.feature}",
                f"If {shortened(name, LONGEST_NAME)} were different",
                f"Partial dependence on {name}: the mean prediction is between "
                f"{written(curve.predictions.min())} and {written(curve.predictions.max())}.",
                f"The mean prediction for {count(rows)} rows, {OTHERWISE}",
                charts.dependence_line(
                    forest.along(curve.feature, curve.values),
                    "mean prediction",
                    curve.predictions,
                    scale,
                    charts.NUMBERS,
                ),
            )
            for curve in curves
            for name in [forest.names[curve.feature]]
        )
    )


def _steps(scale: tuple[float, float]) -> list[float]:
    return [scale[0] + i / 4 * (scale[1] - scale[0]) for i in range(5)]


def plane_of(
    forest: CodedForest, sample: NDArray[np.float32], pair: tuple[int, int]
) -> tuple[NDArray[np.float64], tuple[charts.Along, charts.Along]] | str:
    """Return the predictions over a plane and its two axes, or else a paragraph that says why not."""
    from riparian.explain.dependence import plane

    grid = plane(forest, sample, *pair)  # type: ignore[arg-type]
    across, up = (forest.names[feature] for feature in pair)
    if grid is None or min(len(grid.values_across), len(grid.values_up)) < 2:
        return paragraph(f"{across} and {up} have no plane: one of them has fewer than two values.")
    along = forest.along(pair[0], grid.values_across), forest.along(pair[1], grid.values_up)
    return grid.predictions, along


def number_plane(forest: CodedForest, sample: NDArray[np.float32], pair: tuple[int, int]) -> str:
    drawn = plane_of(forest, sample, pair)
    if isinstance(drawn, str):
        return drawn
    predictions, along = drawn
    across, up = (forest.names[feature] for feature in pair)
    scale = fitted_numbers(predictions)
    return columns(
        chart(
            "plane",
            "Predictions in the plane of two features",
            f"Heat map of the predicted number, {across} across and {up} up.",
            IN_THE_PLANE,
            charts.plane(*along, predictions, scale, charts.NUMBERS),
            key=heat_key("prediction", _steps(scale), "strong-heat", charts.NUMBERS.written),
        )
    )


def planes(
    forest: CodedForest, sample: NDArray[np.float32], pair: tuple[int, int], only: int | None
) -> str:
    drawn, classes = plane_of(forest, sample, pair), forest.classes
    assert classes is not None
    if isinstance(drawn, str):
        return drawn
    predictions, along = drawn
    across, up = (forest.names[feature] for feature in pair)
    flat = predictions.reshape(-1, len(classes))
    shown = most_probable(flat, MOST_PLANES) if only is None else [only]
    scale = fitted(flat[:, shown])
    return columns(
        *(
            chart(
                f"plane-{k}",
                f"{shortened(classes[k], LONGEST_NAME)} in the plane of two features",
                f"Heat map of the probability of {classes[k]}, {across} across and {up} up.",
                IN_THE_PLANE,
                charts.plane(*along, np.round(predictions[:, :, k], 6), scale, charts.SHARES),
                key=heat_key("probability", _steps(scale), "strong-heat"),
            )
            for k in shown
        )
    )


def most_probable(probabilities: NDArray[np.float64], most: int) -> list[int]:
    """The classes with the largest probability anywhere, in their own order."""
    largest = probabilities.max(axis=0)
    return sorted(np.argsort(-largest, kind="stable")[:most].tolist())


# -- mistakes -------------------------------------------------------------------------------------


def mistakes(forest: OnlineForestClassifier, surest: Sequence[Mistake]) -> str:
    """Return a table of mistakes, with the features that add most to the wrong class."""
    if not surest:
        return ""
    from riparian.explain.contributions import Explainer

    unnamed = CodedForest(forest)
    explainer = Explainer(unnamed)  # type: ignore[arg-type]
    rows = []
    for mistake in surest:
        contributions = explainer.contributions(mistake.x[None], label=mistake.predicted)
        rows.append(
            (
                count(mistake.row),
                shortened(str(mistake.truth), LONGEST_NAME),
                shortened(str(mistake.predicted), LONGEST_NAME),
                percent(mistake.probability),
                percent(mistake.of_truth),
                reasons(unnamed, mistake.x, contributions.values[0]),
            )
        )
    head = ("row", "truth", "predicted", "probability", "of the true class", "main reasons")
    return table(
        f"The {count(len(rows))} wrong predictions with the highest probability, from all "
        "classes: rows to look at, and labels to check",
        head,
        rows,
        numbers=(0, 3, 4),
        below=True,
    )


def reasons(forest: CodedForest, x: NDArray[np.float32], contributions: NDArray[Any]) -> str:
    """The features that add most to the probability, with their values."""
    order = np.argsort(-contributions, kind="stable")[:MOST_REASONS]
    named = [
        f"{shortened(forest.names[i], LONGEST_NAME)} = {forest.value(i, x[i])} "
        f"(+{decimal(contributions[i], 2)})"
        for i in order.tolist()
        if contributions[i] >= LEAST_REASON
    ]
    return ", ".join(named) or "no feature by itself"
