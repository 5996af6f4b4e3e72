"""The forest itself: a few numbers, its features, its trees, its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from riparian.forest import OnlineForestClassifier
from riparian.inspection.words import names_of_features
from riparian.model.budget import budget_in_words
from riparian.model.replacements import replacements_of
from riparian.parameters.forests import defaults
from riparian.report import charts
from riparian.report.chart import chart
from riparian.report.tables import columns, pairs, paragraph, table
from riparian.report.trees import count_leaves, size_label
from riparian.tools.text import count, decimal, listed, percent, size

if TYPE_CHECKING:
    from riparian.evaluation import Scores

MOST_FEATURES = 20


def overview(
    forest: OnlineForestClassifier, facts: Mapping[str, str], scores: Scores | None
) -> str:
    budget = budget_in_words(forest.stats())
    return (
        pairs(key_figures(forest, scores), "figures")
        + (paragraph(f"{budget}. The theorem no longer covers this forest.") if budget else "")
        + (table("What was done", ("fact", "value"), facts.items()) if facts else "")
    )


def key_figures(forest: OnlineForestClassifier, scores: Scores | None) -> dict[str, str]:
    stats, replacements = forest.stats(), replacements_of(forest)
    figures = {"points learned": count(stats["points"])}
    if scores is not None:
        figures |= {
            "rows scored": count(scores.rows),
            "accuracy": percent(scores.accuracy),
            "Cohen's kappa": decimal(scores.kappa),
            "log loss, in nats": decimal(scores.log_loss),
        }
    return figures | {
        "classes": count(len(forest.classes_)),
        "trees": count(len(stats["trees"])),
        "leaves": count(stats["leaves"]),
        "memory": size(forest.memory()["total"]),
        **({} if replacements is None else {"trees replaced": count(len(replacements))}),
    }


def features(forest: OnlineForestClassifier) -> str:
    """The most important ones; nothing before the first split."""
    importances = forest.feature_importances_
    order = np.argsort(-importances, kind="stable")[:MOST_FEATURES]
    order = order[importances[order] > 0]
    if len(order) == 0:
        return ""
    names = names_of_features(forest, None)
    which = listed(len(order), len(importances), "features")
    best = int(order[0])
    return chart(
        "importances",
        "Importances",
        f"Bar chart of the importances of {which}: most important is {names[best]} "
        f"with {percent(importances[best])}.",
        f"Gain times structure points of all splits in a feature, as a share of all: {which}. "
        "Features of pure noise get a share too.",
        charts.importances([names[i] for i in order], importances[order].tolist()),
    )


def columns_in_words(kinds: Mapping[str, str]) -> str:
    """What each column of the table is to the forest."""
    if not kinds:
        return ""
    return table("What each column is", ("column", "learned as"), kinds.items())


# -- trees ----------------------------------------------------------------------------------------


def trees(forest: OnlineForestClassifier) -> str:
    stats = forest.stats()
    return (histograms(forest) if stats["splits"] > 0 else "") + columns(
        shape(stats["trees"], _unknown(forest)), memory_by_kind(forest)
    )


def histograms(forest: OnlineForestClassifier) -> str:
    leaves = count_leaves(forest)
    total = count(int(leaves.by_depth.sum()))
    deepest = len(leaves.by_depth) - 1
    return columns(
        chart(
            "depths",
            "Depth of the leaves",
            f"Histogram of the depths of {total} leaves; the deepest lies at {deepest}.",
            "Leaves of all trees; the root has depth 0.",
            charts.histogram(
                [str(depth) for depth in range(deepest + 1)], leaves.by_depth.tolist(), "depth"
            ),
        ),
        chart(
            "sizes",
            "Size of the leaves",
            f"Histogram of the numbers of estimation points in {total} leaves.",
            "Leaves of all trees by their estimation points, which predictions are made from; "
            "from one bar to the next they double.",
            charts.histogram(
                [size_label(i) for i in range(len(leaves.by_size))],
                leaves.by_size.tolist(),
                "estimation points",
            ),
        ),
    )


# What `stats` has of each tree, and whether a forest that can only predict still knows it.
SHAPE = {
    "leaves": ("leaves", True),
    "active": ("active leaves", False),
    "young": ("young leaves, which look among kept points", False),
    "depth": ("depth of the deepest leaf", True),
    "should_splits": ("splits for their gain", True),
    "must_splits": ("splits forced by β", True),
    "structure_points": ("structure points", True),
    "estimation_points": ("estimation points", True),
}


def _unknown(forest: OnlineForestClassifier) -> set[str]:
    """What of `SHAPE` this forest does not know, or does not have."""
    if forest.model_.prediction_only:
        return {key for key, (_, always) in SHAPE.items() if not always}
    return set() if forest.model_.engine.parameters.kept_points else {"young"}


def shape(stats: list[dict[str, Any]], unknown: set[str]) -> str:
    rows = []
    for key, (name, _) in SHAPE.items():
        if key not in unknown:
            values = [tree[key] for tree in stats]
            rows.append((name, *(count(round(f(values))) for f in (min, median, max))))
    return table(
        f"The shape of {count(len(stats))} trees",
        ("of a tree", "least", "median", "most"),
        rows,
        numbers=(1, 2, 3),
    )


def memory_by_kind(forest: OnlineForestClassifier) -> str:
    held = forest.memory()
    names = {
        "nodes": "nodes",
        "histograms": "histograms of leaves",
        "fringe": "the fringe",
        "kept": "kept points",
        "lists": "lists of kept points",
        "categories": "categories",
    }
    rows = [
        (name, size(held[kind]), percent(held[kind] / held["total"]))
        for kind, name in names.items()
        if held.get(kind)
    ]
    rows.append(("in all", size(held["total"]), percent(1.0)))
    return table("Memory by kind", ("kind", "memory", "share"), rows, numbers=(1, 2))


def parameters(forest: OnlineForestClassifier) -> str:
    own = defaults(forest._parameters_class)
    rows = []
    for name, value in forest.get_params(deep=False).items():
        shown = str(forest.model_.engine.parameters.seed) if name == "random_state" else repr(value)
        default = repr(own[name])
        rows.append((name, shown, "" if shown == default else default))
    caption = "Parameters, and the default where another value was chosen"
    return table(caption, ("parameter", "value", "default"), rows)
