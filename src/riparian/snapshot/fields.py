"""Fields of a header: each must exist and have its type."""

from __future__ import annotations

import reprlib
from typing import Any

from riparian.snapshot.errors import SnapshotError, require

MOST_POINTS = 2**61 - 1  # of a stream; sums of a few such numbers still fit 64 bits


def at(stored: dict[str, Any], name: str) -> Any:
    require(name in stored, "header", f"the header has no {name}")
    return stored[name]


def typed(stored: dict[str, Any], name: str, kind: type) -> Any:
    value = at(stored, name)
    require(
        type(value) is kind,
        "header",
        f"{name} must be of type {kind.__name__}, got {reprlib.repr(value)}",
    )
    return value


def whole(stored: dict[str, Any], name: str, at_least: int, at_most: int) -> int:
    value: int = typed(stored, name, int)
    require(
        at_least <= value <= at_most,
        "header",
        f"{name} must be from {at_least} to {at_most}, got {reprlib.repr(value)}",
    )
    return value


def whole_list(stored: dict[str, Any], name: str, at_most: int) -> list[int]:
    values: list[int] = typed(stored, name, list)
    good = all(type(value) is int and 0 <= value <= at_most for value in values)
    require(good, "header", f"{name} must hold integers from 0 to {at_most}")
    return values


def bad(reason: str) -> SnapshotError:
    return SnapshotError("header", reason[:500])
