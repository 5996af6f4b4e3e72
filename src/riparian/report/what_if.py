"""What matters to predictions: permutation, partial dependence, a plane, the surest mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riparian.forest import OnlineForestClassifier
from riparian.inspection.words import names_of_features
from riparian.report import what_if_charts as charts
from riparian.report.chart import chart
from riparian.report.tables import columns, heat_key, paragraph, table
from riparian.tools.text import count, decimal, listed, percent, shortened

if TYPE_CHECKING:
    from riparian.explain.mistakes import Mistake
    from riparian.explain.permutation import Importance

MOST_PERMUTED = 20  # features in the chart
MOST_DEPENDENCES = 4
MOST_CLASSES = 20  # of a heat map
MOST_PLANES = 4  # classes, a heat map each
MOST_REASONS = 3  # features that are named next to a mistake
LONGEST_NAME = 30

EVEN_STEPS = [i / 4 for i in range(5)]  # of a scale whose colours go with the probability


def side_by_side(*parts: str) -> str:
    there = [part for part in parts if part]
    return columns(*there) if len(there) > 1 else "".join(there)


# -- importance -----------------------------------------------------------------------------------


def permuted(forest: OnlineForestClassifier, importance: Sequence[Importance]) -> str:
    """How much accuracy is lost without each feature, with intervals."""
    if not importance:
        return ""
    order = sorted(importance, key=lambda each: -each.accuracy.mean)
    shown, names = order[:MOST_PERMUTED], names_of_features(forest, None)
    first = shown[0]
    return chart(
        "permutation",
        "Accuracy lost without a feature",
        f"Bar chart of {listed(len(shown), len(order), 'features')}: without "
        f"{names[first.feature]} the accuracy is {percent(first.accuracy.mean)} lower.",
        "Each row was tested again with a value that another row had there, one feature at "
        "a time. The lines are intervals that hold the true loss in 95 of 100 cases. Features of "
        "pure noise are at 0; so are features that say the same as another.",
        charts.permuted([names[each.feature] for each in shown], shown),
    )


# -- what if --------------------------------------------------------------------------------------


def what_if(
    forest: OnlineForestClassifier,
    sample: NDArray[np.float32] | None,
    importance: Sequence[Importance],
    pair: tuple[int, int] | None,
) -> str:
    if sample is None or len(sample) == 0:
        return ""
    unnamed = CodedForest(forest)
    parts = [dependence(unnamed, sample, feature) for feature in _first(forest, importance)]
    charted = columns(*filter(None, parts)) if any(parts) else ""
    return charted + (planes(unnamed, sample, pair) if pair is not None else "")


def _first(forest: OnlineForestClassifier, importance: Sequence[Importance]) -> list[int]:
    """The most important features: by permutation, if that is known, else by their gains."""
    if importance:
        order = sorted(importance, key=lambda each: -each.accuracy.mean)
        return [each.feature for each in order[:MOST_DEPENDENCES]]
    gains = forest.feature_importances_
    best = np.argsort(-gains, kind="stable")[:MOST_DEPENDENCES]
    return [int(i) for i in best if gains[i] > 0]


class CodedForest:
    """A forest that takes rows as the engine has them, even if it knows names and categories."""

    def __init__(self, forest: OnlineForestClassifier) -> None:
        self.classes_ = forest.classes_
        self.names = names_of_features(forest, None)
        self.model_, self.threads = forest.model_, forest.threads

    def checked_points(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        return X

    def categories(self, feature: int, codes: NDArray[np.float32]) -> list[str] | None:
        """Return the categories of these codes, or None for a numeric feature."""
        table = self.model_.categories.get(feature)
        return None if table is None else [table.name(int(code)) for code in codes]

    def value(self, feature: int, x: np.float32) -> str:
        if np.isnan(x):
            return "missing"
        names = self.categories(feature, np.array([x]))
        return f"{float(x):.4g}" if names is None else shortened(names[0], LONGEST_NAME)


def dependence(forest: CodedForest, sample: NDArray[np.float32], feature: int) -> str:
    from riparian.explain.dependence import partial_dependence

    curve = partial_dependence(forest, sample, feature)  # type: ignore[arg-type]
    if curve is None or len(curve.values) < 2:
        return ""
    name, classes = forest.names[feature], [str(label) for label in forest.classes_]
    categories = forest.categories(feature, curve.values)
    title = f"If {shortened(name, LONGEST_NAME)} were otherwise"
    note = (
        f"The mean probabilities of {count(len(sample))} rows, with this feature set to one value "
        "after the other and everything else as it is."
    )
    if len(classes) <= 2:
        figure = charts.dependence_line(
            name, classes[-1], curve.values, curve.probabilities[:, -1], categories
        )
        low, high = curve.probabilities[:, -1].min(), curve.probabilities[:, -1].max()
        summary = f"of {classes[-1]} is between {percent(low)} and {percent(high)}"
        key = ""
    else:
        shown = most_probable(curve.probabilities, MOST_CLASSES)
        figure = charts.dependence_heat(
            name,
            [classes[k] for k in shown],
            curve.values,
            curve.probabilities[:, shown].T,
            categories,
        )
        summary = f"of {listed(len(shown), len(classes), 'classes')}"
        key = heat_key("probability", EVEN_STEPS, "strong-heat")
    return chart(
        f"dependence-{feature}",
        title,
        f"Partial dependence on {name}: the mean probability {summary}.",
        note,
        figure,
        key=key,
    )


def planes(forest: CodedForest, sample: NDArray[np.float32], pair: tuple[int, int]) -> str:
    from riparian.explain.dependence import plane

    grid = plane(forest, sample, *pair)  # type: ignore[arg-type]
    across, up = (forest.names[feature] for feature in pair)
    if grid is None or min(len(grid.values_across), len(grid.values_up)) < 2:
        return paragraph(f"{across} and {up} have no plane: one of them has fewer than two values.")
    classes = [str(label) for label in forest.classes_]
    names = (
        forest.categories(pair[0], grid.values_across),
        forest.categories(pair[1], grid.values_up),
    )
    flat = grid.probabilities.reshape(-1, len(classes))
    shown = most_probable(flat, MOST_PLANES) if len(classes) > 2 else [len(classes) - 1]
    return columns(
        *(
            chart(
                f"plane-{k}",
                f"{shortened(classes[k], LONGEST_NAME)} in the plane of two features",
                f"Heat map of the probability of {classes[k]}, {across} across and {up} up.",
                "All other features are at the medians of the sample, categories at the commonest. "
                "The edges are those of the partition that the trees make.",
                charts.plane(across, up, grid, k, *names),
                key=heat_key("probability", EVEN_STEPS, "strong-heat"),
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
    head = ("row", "truth", "predicted", "probability", "of the truth", "what speaks for it")
    return table(
        f"The {count(len(rows))} wrong predictions that the forest was surest of: rows to look at, "
        "and labels to doubt",
        head,
        rows,
        numbers=(0, 3, 4),
    )


def reasons(forest: CodedForest, x: NDArray[np.float32], contributions: NDArray[Any]) -> str:
    """The features that add most to the probability, with their values."""
    order = np.argsort(-contributions, kind="stable")[:MOST_REASONS]
    return ", ".join(
        f"{shortened(forest.names[i], LONGEST_NAME)} = {forest.value(i, x[i])} "
        f"(+{decimal(contributions[i], 2)})"
        for i in order.tolist()
        if contributions[i] > 0
    )
