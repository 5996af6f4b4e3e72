"""The forest itself: a few numbers, its features, its trees, its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from riparian.evaluation.words import rare_in_words
from riparian.inspection.words import names_of_features
from riparian.model.budget import budget_in_words
from riparian.model.numbers import Numbers
from riparian.model.replacements import (
    Replacement,
    replacements_in_words,
    replacements_of,
)
from riparian.model.trust import follows_in_words, head_name, trust_in_words
from riparian.parameters.forests import defaults
from riparian.report import charts
from riparian.report.figure import chart
from riparian.report.tables import columns, pairs, paragraph, side_by_side, table
from riparian.report.trees import count_leaves, size_label
from riparian.tools.text import count, decimal, listed, percent, size

if TYPE_CHECKING:
    from riparian.evaluation import Scores
    from riparian.forest import OnlineForestClassifier

MOST_FEATURES = 20


def overview(
    forest: OnlineForestClassifier, facts: Mapping[str, str], scores: Scores | None
) -> str:
    budget = budget_in_words(forest.stats())
    rare = rare_in_words(scores) if scores is not None and not numbers_of(forest) else ""
    return (
        pairs(key_figures(forest, scores), "figures")
        + (paragraph(rare) if rare else "")
        + (paragraph(f"{budget}. The theorem no longer covers this forest.") if budget else "")
        + (table("What was done", ("fact", "value"), facts.items()) if facts else "")
    )


def numbers_of(forest: OnlineForestClassifier) -> bool:
    """Return whether the forest predicts numbers (R26)."""
    return isinstance(forest.model_.target, Numbers)


def key_figures(forest: OnlineForestClassifier, scores: Scores | None) -> dict[str, str]:
    stats, replacements = forest.stats(), replacements_of(forest)
    figures = {"points learned": count(stats["points"])}
    if scores is not None:
        figures |= {
            "rows scored": count(scores.rows),
            **{name: decimal(value) for name, value in scores.headline().items()},
        }
    return figures | {
        **({} if numbers_of(forest) else {"classes": count(len(forest.classes_))}),
        "trees": count(len(stats["trees"])),
        "leaves": count(stats["leaves"]),
        "memory": size(forest.memory()["total"]),
        **({} if replacements is None else {"trees replaced": count(len(replacements))}),
    }


def features(forest: OnlineForestClassifier) -> str:
    """Show the most important features, or nothing before the first split."""
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
        f"The share of each feature in the gain of all splits, weighted by structure points: {which}. "
        "Features of pure noise get a share, too.",
        charts.importances([names[i] for i in order], importances[order].tolist()),
    )


def columns_in_words(kinds: Mapping[str, str]) -> str:
    """Show what each column of the table is for the forest."""
    if not kinds:
        return ""
    return table("What each column is", ("column", "learned as"), kinds.items())


# -- trees ----------------------------------------------------------------------------------------


def trees(forest: OnlineForestClassifier) -> str:
    stats = forest.stats()
    return (
        (histograms(forest) if stats["splits"] > 0 else "")
        + side_by_side(
            trust(forest) if stats["splits"] else "",
            replaced(replacements_of(forest), stats["points"]),
        )
        + columns(shape(stats["trees"], _unknown(forest)), memory_by_kind(forest))
    )


def replaced(replacements: Sequence[Replacement] | None, points: int) -> str:
    """R27: show which tree was replaced when, or nothing if none was."""
    if not replacements:
        return ""
    words = replacements_in_words(replacements, points)
    return chart(
        "replacements",
        "Trees replaced",
        f"Scatter chart of trees over the points at which they were replaced: {words}.",
        "Each mark is a tree that was replaced because its error rose. A column of marks means that "
        "the stream changed there.",
        charts.replacements(replacements, points),
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
            "Leaves of all trees by the number of their estimation points, which make the "
            "predictions. The number doubles from bar to bar.",
            charts.histogram(
                [size_label(i) for i in range(len(leaves.by_size))],
                leaves.by_size.tolist(),
                "estimation points",
            ),
        ),
    )


# The entries of `stats` per tree, and whether a forest that only predicts still has them.
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
    """Return the entries of `SHAPE` that this forest does not have."""
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
    checked = forest.model_.engine.parameters
    own = defaults(type(checked))
    rows = []
    for name, value in forest.get_params(deep=False).items():
        if value == "deprecated":
            continue
        shown = str(checked.seed) if name == "random_state" else repr(value)
        default = repr(own[name])
        rows.append((name, shown, "" if shown == default else default))
    caption = "Parameters, with the default where it was changed"
    return table(caption, ("parameter", "value", "default"), rows)


# -- trust ----------------------------------------------------------------------------------------


def trust(forest: OnlineForestClassifier) -> str:
    """R25: show where answers come from, or nothing for a forest without heads."""
    stats = forest.stats()
    weights, follows = stats.get("trust"), stats.get("follows")
    if weights is None:
        return ""
    names = [head_name(head) for head in weights]
    memories = (
        " “Last 5” is a memory of about the last 5 points of a leaf." if min(weights) < 1 else ""
    )
    words = trust_in_words(weights)
    last = "" if follows is None else f" Then {follows_in_words(follows)}."
    return chart(
        "trust",
        "Where the answers come from",
        f"Bar chart of the trust in {', '.join(names)}: {words}.",
        f"{words[0].upper()}{words[1:]}. The forest learns from its own predictions which cells to "
        "trust: small ones where labels are clean, large ones where they are noisy."
        + memories
        + last,
        charts.trust(names, list(weights.values())),
    )
