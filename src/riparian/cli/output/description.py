"""Describe a model as JSON, in the report, and on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean
from typing import Any

import numpy as np

from riparian.cli.model_file import LoadedModel
from riparian.cli.output.columns import columns_in_words
from riparian.cli.output.tables import grid, show, two_columns
from riparian.model.budget import budget_in_words
from riparian.model.replacements import replacements_in_words, replacements_of
from riparian.model.trust import follows_in_words, trust_in_words
from riparian.sources.errors import names
from riparian.table.encoders import Number
from riparian.table.sparse import SparseColumns
from riparian.table.table import TableColumns
from riparian.theory import certificate
from riparian.theory.conditions import check_schedule
from riparian.tools import text

MOST_LABELS = 20  # shown in a list
SHAPE = ("leaves", "active", "depth", "should_splits", "must_splits")


def describe(model: LoadedModel, top: int) -> dict[str, Any]:
    """Return the full description, for JSON."""
    forest = model.forest
    stats = forest.stats()
    trees = stats.pop("trees")
    engine = forest.model_.engine
    schedule = check_schedule(engine.parameters.alpha, engine.parameters.beta)
    conditions = [{"name": c.name, "holds": c.holds, "why": c.why} for c in schedule.conditions]
    proof = certificate(forest)
    return {
        "model": model.path,
        "bytes": model.size,
        "kind": _kind(model),
        "points": stats["points"],
        "target": model.columns and model.columns.target and model.columns.target.column,
        "task": "numbers" if model.numbers else "classes",
        "classes": [] if model.numbers else forest.classes_.tolist(),
        "n_features": forest.n_features_in_,
        "feature_names": model.feature_names,
        "encoded_columns": dict(_encoded(model)),
        "columns": columns_in_words(model.columns, forest),
        "parameters": {name: str(value) for name, value in forest.get_params().items()},
        "trees": {
            name: {
                "min": min(tree[name] for tree in trees),
                "mean": mean(tree[name] for tree in trees),
                "max": max(tree[name] for tree in trees),
            }
            for name in SHAPE
        },
        "totals": stats,
        "memory": forest.memory(),
        "replacements": _replacements(model),
        "importances": _importances(model, top),
        "conditions": conditions,
        "guarantee": schedule.guarantee,
        "certificate": proof.to_dict(),
        "certificate_text": str(proof),
    }


def _replacements(model: LoadedModel) -> list[dict[str, int]] | None:
    """Return the replacements, or None if the forest does not replace trees."""
    pairs = replacements_of(model.forest)
    return None if pairs is None else [{"point": point, "tree": tree} for point, tree in pairs]


def _kind(model: LoadedModel) -> str:
    if model.learning is not None:
        return f"a checkpoint, after {model.learning.get('learned', '?'):,} rows"
    if model.forest.model_.prediction_only:
        return "a model that predicts and cannot learn any more"
    return "a model" if model.columns is not None else "a model saved from Python"


def _encoded(model: LoadedModel) -> Iterator[tuple[str, str]]:
    if isinstance(model.columns, SparseColumns):
        yield "*", "LIBSVM"
    if isinstance(model.columns, TableColumns):
        for name, encoder in model.columns.encoders.items():
            if not isinstance(encoder, Number):
                yield name, encoder.name


def _importances(model: LoadedModel, top: int) -> list[dict[str, Any]]:
    shares = model.forest.feature_importances_
    order = np.argsort(-shares, kind="stable")[:top]
    features = model.feature_names
    return [
        {"feature": features[i] if features else f"x[{i}]", "importance": float(shares[i])}
        for i in order.tolist()
        if shares[i] > 0
    ]


def facts(described: dict[str, Any]) -> dict[str, str]:
    """Return a summary of the model, for the report and the terminal."""
    labels = [str(label) for label in described["classes"]]
    words = {
        "model": f"{described['model']} ({text.size(described['bytes'])})",
        "kind": described["kind"],
        "learned": f"{described['points']:,} points",
        "target": described["target"] or "-",
        "predicts": "numbers"
        if described["task"] == "numbers"
        else f"{len(labels)} classes: {names(labels, MOST_LABELS)}",
        "features": f"{described['n_features']:,}",
        "memory": ", ".join(f"{name} {text.size(n)}" for name, n in described["memory"].items()),
    }
    budget = budget_in_words(described["totals"])
    if budget is not None:
        words["budget"] = budget
    if "trust" in described["totals"]:
        words["trust"] = trust_in_words(described["totals"]["trust"])
    if "follows" in described["totals"]:
        words["last target"] = follows_in_words(described["totals"]["follows"])
    if described["replacements"] is not None:
        replaced = [(each["point"], each["tree"]) for each in described["replacements"]]
        words["replaced"] = replacements_in_words(replaced, described["points"])
    return words


def show_all(model: LoadedModel, described: dict[str, Any]) -> None:
    """Print the description."""
    show(two_columns(facts(described)))
    if described["columns"]:
        show(two_columns(described["columns"], title="columns"))
    show(two_columns(described["parameters"], title="parameters"))
    show(
        grid(
            f"{model.forest.n_estimators} trees",
            ["", "least", "mean", "most"],
            [
                [name.replace("_", " "), f"{t['min']:,}", f"{t['mean']:,.1f}", f"{t['max']:,}"]
                for name, t in described["trees"].items()
            ],
        )
    )
    show(
        grid(
            "most important features",
            ["", "share"],
            [[row["feature"], f"{row['importance']:.1%}"] for row in described["importances"]],
        )
    )
    print("\nthe theorem, checked against this forest")
    print(described["certificate_text"])
