"""Read and check the columns that a model file describes: a file may hold anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riparian.sources.libsvm import LABEL
from riparian.table.columns import ColumnPlan
from riparian.table.raw import COLUMNS, RawColumns
from riparian.table.sparse import SparseColumns
from riparian.table.table import TableColumns
from riparian.table.target import FAMILIES, Target

if TYPE_CHECKING:
    from riparian.model.model import Model


def columns_of(extra: dict[str, Any] | None, model: Model) -> ColumnPlan | None:
    """Return how to read the columns of a model from files, or None if it was saved from Python."""
    if model.raw_columns is not None:
        return table_columns(model.raw_columns.for_tables(model.categories, as_it_is=False))
    if extra is None or COLUMNS not in extra:
        return None
    columns = columns_from_state(extra[COLUMNS])
    if columns.n_features != model.engine.n_dims:
        raise ValueError(
            f"the columns give {columns.n_features} features, but the forest has "
            f"{model.engine.n_dims}"
        )
    return columns


def columns_from_state(state: Any) -> ColumnPlan:
    """Return the columns that a model file describes, or raise a ValueError."""
    raw = RawColumns.from_state(state)
    if raw is not None:
        return table_columns(raw)
    match state:
        case {"width": int(width), "zero_based": bool(zero_based)} if 1 <= width < 2**31:
            return SparseColumns(Target(LABEL, "int"), width, zero_based)
    raise ValueError(f"not a description of columns: {str(state)[:100]}")


def table_columns(raw: RawColumns) -> TableColumns:
    if raw.target is None:
        return TableColumns(None, raw.encoders, raw.ignored)
    column, family = raw.target
    if family not in FAMILIES:
        raise ValueError(f"not a description of a target: {family!r}")
    return TableColumns(Target(column, family), raw.encoders, raw.ignored)  # type: ignore[arg-type]
