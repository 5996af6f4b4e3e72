"""Describe each column in one line: before learning, in the report, and for a model."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from riparian.cli.errors import say
from riparian.cli.features.choosing import Chosen
from riparian.forest import OnlineForestClassifier
from riparian.sources.errors import names
from riparian.table.columns import ColumnPlan
from riparian.table.encoders import Number
from riparian.table.sparse import SparseColumns
from riparian.table.table import TableColumns
from riparian.tools import text

MOST_NUMBERS = 40  # numeric columns with a line each; the others share one

FAMILIES = {"str": "text", "int": "whole numbers", "bool": "true or false", "float": "numbers",
            "number": "numbers to predict"}  # fmt: skip


def show_decisions(chosen: Chosen, file: str, *, quiet: bool) -> None:
    """Print, before anything is learned, the type of each column and what may be a mistake."""
    about = {name: decision.about for name, decision in chosen.decisions.items() if decision.about}
    if chosen.why and chosen.columns.target is not None:
        about[chosen.columns.target.column] = chosen.why
    if chosen.decisions and not quiet:
        lines = _in_words(chosen.columns, about)
        named = {name or "''": words for name, words in lines.items()}
        width = min(30, max(len(name) for name in named))
        say(f"columns of {file}:")
        for name, words in named.items():
            say(f"  {name:{width}}  {words}")
    for name, decision in chosen.decisions.items():
        if decision.warning is not None:
            say(f"warning: column {name!r} {decision.warning}")
    for warning in chosen.warnings:
        say(f"warning: {warning}")


def warn_of_classes(option: str, named: Iterable[Any], known: Collection[Any]) -> None:
    """Warn of a class that no row has had: most likely it is misspelt."""
    for label in named:
        if known and label not in known:
            hint = text.suggestion(str(label), map(str, known))
            say(
                f"warning: {option}: no row so far has the class {label!r}"
                + (hint or f"; the classes are {names(sorted(map(repr, known)), most=10)}")
            )


def columns_in_words(columns: ColumnPlan | None, forest: OnlineForestClassifier) -> dict[str, str]:
    """Describe each column for a forest that has learned."""
    return _in_words(columns, _categories(columns, forest))


def _in_words(columns: ColumnPlan | None, about: dict[str, str]) -> dict[str, str]:
    """Describe each column; in a wide table, one line covers the remaining numeric columns."""
    if isinstance(columns, SparseColumns):
        return {"*": f"LIBSVM: {columns.width:,} numbers, zero where a row omits them"}
    if not isinstance(columns, TableColumns):
        return {}
    numbers = [name for name, encoder in columns.encoders.items() if type(encoder) is Number]
    summed = {*numbers[MOST_NUMBERS:]} if len(numbers) > MOST_NUMBERS + 1 else set()
    lines = {
        name: ", ".join(filter(None, [encoder.words, about.get(name)]))
        for name, encoder in columns.encoders.items()
        if name not in summed
    }
    if summed:
        lines[f"{len(summed):,} more columns"] = "numbers"
    if columns.target is not None:
        kind = f"the target: {FAMILIES[columns.target.family]}"
        lines[columns.target.column] = "; it ".join(
            filter(None, [kind, about.get(columns.target.column)])
        )
    return lines | dict.fromkeys(columns.ignored, "left out")


def _categories(columns: ColumnPlan | None, forest: OnlineForestClassifier) -> dict[str, str]:
    """Describe in words how many values of each categorical column the forest has learned."""
    tables = forest.model_.categories
    names = columns.feature_names if isinstance(columns, TableColumns) else []
    return {
        name: f"{text.count(len(tables[i]))} values" + (", and others" if tables[i].full else "")
        for i, name in enumerate(names)
        if i in tables
    }
