"""`riparian inspect`: what a model is, and what is known of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from statistics import mean
from typing import Annotated, Any

import numpy as np
import typer

from riparian.cli.commands.predict import ModelFile
from riparian.cli.errors import BadUsage, names, reported
from riparian.cli.features.encoders import Number
from riparian.cli.features.sparse import SparseColumns
from riparian.cli.features.table import TableColumns
from riparian.cli.model_file import Model, check_can_write, load_model, named
from riparian.cli.option_groups.common import AsJson, Html
from riparian.cli.output import words
from riparian.cli.output.tables import grid, show, two_columns

MOST_LABELS = 20  # that are listed
SHAPE = ("leaves", "active", "depth", "should_splits", "must_splits")


@reported
def inspect(
    model: ModelFile,
    tree: Annotated[
        int | None,
        typer.Option(help="Draw this tree as text, and nothing else.", min=0, metavar="N"),
    ] = None,
    max_depth: Annotated[
        int, typer.Option(help="How deep to draw it.", min=0, metavar="DEPTH")
    ] = 5,
    top: Annotated[
        int, typer.Option(help="How many of the most important features to show.", min=0)
    ] = 10,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Say what a model is: parameters, classes, trees, memory, features, and what the theorem says.

    Examples:

    ```
    riparian inspect trees.riparian
    riparian inspect trees.riparian --tree 0 --max-depth 3
    riparian inspect trees.riparian --html trees.html
    ```
    """
    if html is not None:
        check_can_write(html, "--html")
    loaded = load_model(model)
    if tree is not None and tree >= loaded.forest.n_estimators:
        raise BadUsage(f"--tree must be below {loaded.forest.n_estimators}, got {tree}")
    with named(loaded.forest, loaded.feature_names):
        found = about(loaded, top)
        if html is not None:
            from riparian.report import Report

            Report(loaded.path, loaded.forest, _facts(found)).write(html)
        drawn = None if tree is None else _drawn(loaded, tree, max_depth)
    if as_json:
        told = {**found, "html": None if html is None else str(html)}
        print(json.dumps(told if drawn is None else {**told, "tree": drawn}))
    elif drawn is not None:
        print(drawn, end="")
    else:
        _tell(loaded, found)
        if html is not None:
            show(f"report: {html}")


def about(model: Model, top: int) -> dict[str, Any]:
    """All that is told, for JSON."""
    from riparian.theory import certificate

    forest = model.forest
    stats = forest.stats()
    trees = stats.pop("trees")
    proof = certificate(forest)
    conditions = [
        {"name": c.name, "holds": c.holds, "why": c.why} for c in proof.schedule.conditions
    ]
    return {
        "model": model.path,
        "bytes": model.size,
        "kind": _kind(model),
        "points": stats["points"],
        "target": model.columns and model.columns.target and model.columns.target.column,
        "classes": forest.classes_.tolist(),
        "n_features": forest.n_features_in_,
        "feature_names": model.feature_names,
        "encoded_columns": dict(_encoded(model)),
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
        "importances": _importances(model, top),
        "conditions": conditions,
        "guarantee": proof.schedule.guarantee,
        "certificate": proof.to_dict(),
        "certificate_text": str(proof),
    }


def _kind(model: Model) -> str:
    if model.learning is not None:
        return f"a checkpoint, after {model.learning.get('learned', '?'):,} rows"
    if model.forest._prediction_only:
        return "a model that predicts and cannot learn on"
    return "a model" if model.columns is not None else "a model saved from Python"


def _encoded(model: Model) -> Iterator[tuple[str, str]]:
    if isinstance(model.columns, SparseColumns):
        yield "*", "LIBSVM"
    if isinstance(model.columns, TableColumns):
        for name, encoder in model.columns.encoders.items():
            if not isinstance(encoder, Number):
                yield name, encoder.name


def _importances(model: Model, top: int) -> list[dict[str, Any]]:
    shares = model.forest.feature_importances_
    order = np.argsort(-shares, kind="stable")[:top]
    called = model.feature_names
    return [
        {"feature": called[i] if called else f"x[{i}]", "importance": float(shares[i])}
        for i in order.tolist()
        if shares[i] > 0
    ]


def _drawn(model: Model, tree: int, max_depth: int) -> str:
    from riparian.inspection import export_text

    return export_text(model.forest, tree, max_depth=max_depth)


def _facts(found: dict[str, Any]) -> dict[str, str]:
    labels = [str(label) for label in found["classes"]]
    told = {
        "model": f"{found['model']} ({words.size(found['bytes'])})",
        "kind": found["kind"],
        "learned": f"{found['points']:,} points",
        "target": found["target"] or "-",
        "classes": f"{len(labels)}: {names(labels, MOST_LABELS)}",
        "features": f"{found['n_features']:,}",
        "memory": ", ".join(f"{name} {words.size(n)}" for name, n in found["memory"].items()),
    }
    for name, encoder in found["encoded_columns"].items():
        told[f"column {name}"] = encoder
    return told


def _tell(model: Model, found: dict[str, Any]) -> None:
    show(two_columns(_facts(found)))
    show(two_columns(found["parameters"], title="parameters"))
    show(
        grid(
            f"{model.forest.n_estimators} trees",
            ["", "least", "mean", "most"],
            [
                [name.replace("_", " "), f"{t['min']:,}", f"{t['mean']:,.1f}", f"{t['max']:,}"]
                for name, t in found["trees"].items()
            ],
        )
    )
    show(
        grid(
            "most important features",
            ["", "share"],
            [[row["feature"], f"{row['importance']:.1%}"] for row in found["importances"]],
        )
    )
    print("\nthe theorem, held against this forest")
    print(found["certificate_text"])
