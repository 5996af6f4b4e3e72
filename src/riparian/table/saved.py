"""Read and check the columns that a model file describes: a file may hold anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riparian.sources.libsvm import LABEL
from riparian.table.columns import ColumnPlan
from riparian.table.encoders import Encoder, from_state
from riparian.table.sparse import SparseColumns
from riparian.table.table import TableColumns
from riparian.table.target import FAMILIES, Target
from riparian.table.times import time_from_state

if TYPE_CHECKING:
    from riparian.forest import OnlineForestClassifier

COLUMNS = "columns"  # the key in the extra part of a snapshot


def columns_of(extra: dict[str, Any] | None, forest: OnlineForestClassifier) -> ColumnPlan | None:
    """Return the columns of a model file, or None if it was saved from Python."""
    if extra is None or COLUMNS not in extra:
        return None
    columns = columns_from_state(extra[COLUMNS])
    if columns.n_features != forest.n_features_in_:
        raise ValueError(
            f"the columns give {columns.n_features} features, but the forest has "
            f"{forest.n_features_in_}"
        )
    known = sorted(forest.model_.categories)
    if columns.categorical != known:
        raise ValueError(
            f"the columns have the categorical features {columns.categorical}, but the forest has "
            f"{known}"
        )
    return columns


def columns_from_state(state: Any) -> ColumnPlan:
    """Return the columns that a model file describes, or raise a ValueError."""
    match state:
        case {"kind": "table", "target": [str(column), str(family)], "columns": list(columns)}:
            if family in FAMILIES:
                target = Target(column, family)  # type: ignore[arg-type]
                encoders = dict(_encoder(column) for column in columns)
                if len(encoders) == len(columns):
                    return TableColumns(target, encoders, _ignored(state))
        case {"kind": "sparse", "width": int(width), "zero_based": bool(zero_based)}:
            if 1 <= width < 2**31:
                return SparseColumns(Target(LABEL, "int"), width, zero_based)
    raise ValueError(f"not a description of columns: {str(state)[:100]}")


def _encoder(state: Any) -> tuple[str, Encoder]:
    match state:
        case [str(name), str(kind), dict(encoder)]:
            return name, time_from_state(kind, encoder) or from_state(kind, encoder)
    raise ValueError(f"not a description of a column: {str(state)[:100]}")


def _ignored(state: dict[str, Any]) -> tuple[str, ...]:
    ignored = state.get("ignored", [])  # earlier versions did not store this
    if isinstance(ignored, list) and all(isinstance(name, str) for name in ignored):
        return tuple(ignored)
    raise ValueError(f"not a description of columns left out: {str(ignored)[:100]}")
