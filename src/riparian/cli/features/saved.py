"""What a model file tells of its columns, checked: a file may say anything."""

from __future__ import annotations

from typing import Any

from riparian.cli.features import encoders
from riparian.cli.features.encoders import Encoder
from riparian.cli.features.sparse import SparseColumns
from riparian.cli.features.table import Columns, TableColumns
from riparian.cli.features.target import FAMILIES, Target
from riparian.cli.sources.libsvm import LABEL


def columns_from_state(state: Any) -> Columns:
    """What a model file tells of its columns; a ValueError if that cannot be."""
    match state:
        case {"kind": "table", "target": [str(column), str(family)], "columns": list(columns)}:
            if family in FAMILIES:
                target = Target(column, family)  # type: ignore[arg-type]
                encoders = dict(_encoder(found) for found in columns)
                if len(encoders) == len(columns):
                    return TableColumns(target, encoders)
        case {"kind": "sparse", "width": int(width), "zero_based": bool(zero_based)}:
            if 1 <= width < 2**31:
                return SparseColumns(Target(LABEL, "int"), width, zero_based)
    raise ValueError(f"columns cannot be like {str(state)[:100]}")


def _encoder(found: Any) -> tuple[str, Encoder]:
    match found:
        case [str(name), str(kind), dict(state)]:
            return name, encoders.from_state(kind, state)
    raise ValueError(f"a column cannot be like {str(found)[:100]}")
