"""Values of a header: numbers, texts, lists, schedules and weights by label, as JSON and back."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any

import numpy as np

from riparian.parameters.schedules import Geometric, Polynomial, Schedule
from riparian.snapshot.errors import SnapshotError, require
from riparian.snapshot.fields import bad, typed

SCHEDULES: dict[str, type[Geometric] | type[Polynomial]] = {
    "Geometric": Geometric,
    "Polynomial": Polynomial,
}
LABELS: dict[str, type] = {"bool": bool, "int": int, "float": float, "str": str, "bytes": bytes}


def value_of(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Schedule):
        return {"kind": type(value).__name__, **asdict(value)}  # type: ignore[call-overload]
    if isinstance(value, list | tuple | np.ndarray):
        kind = "tuple" if isinstance(value, tuple) else "list"
        listed = value.tolist() if isinstance(value, np.ndarray) else value
        return {"kind": kind, "values": [_element(name, each) for each in listed]}
    if isinstance(value, Mapping):
        pairs = [[label_of(name, k), value_of(name, weight)] for k, weight in value.items()]
        return {"kind": "dict", "pairs": pairs}
    raise SnapshotError("header", f"{name}={reprlib.repr(value)} cannot be saved")


def read_value(name: str, value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    require(isinstance(value, dict), "header", f"{name} must be a value, not a list")
    kind = typed(value, "kind", str)
    if kind in ("list", "tuple"):
        elements = [_element(name, each) for each in typed(value, "values", list)]
        return elements if kind == "list" else tuple(elements)
    if kind == "dict":
        return _read_mapping(name, typed(value, "pairs", list))
    require(kind in SCHEDULES, "header", f"{name} has an unknown kind: {reprlib.repr(kind)}")
    try:
        return SCHEDULES[kind](**{k: v for k, v in value.items() if k != "kind"})
    except (TypeError, ValueError, OverflowError) as error:
        raise bad(f"{name}: {error}") from None


def _element(name: str, value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    plain = value is None or isinstance(value, bool | int | float | str)
    require(plain, "header", f"{name} must hold plain values, got {reprlib.repr(value)}")
    return value


def _read_mapping(name: str, pairs: list[Any]) -> dict[Any, Any]:
    for pair in pairs:
        require(
            isinstance(pair, list) and len(pair) == 2 and not isinstance(pair[1], list | dict),
            "header",
            f"{name} must hold pairs of a label and a weight, got {reprlib.repr(pair)}",
        )
    return {read_label(name, label): weight for label, weight in pairs}


def label_of(name: str, label: Any) -> list[Any]:
    """Return a label with its type: as keys of a JSON object, 1, True and 1.0 would become texts."""
    label = label.item() if isinstance(label, np.generic) else label
    kind = type(label).__name__
    require(kind in LABELS, "header", f"{name} must name labels, got {reprlib.repr(label)}")
    return [kind, label.decode("latin-1") if kind == "bytes" else label]


def read_label(name: str, pair: Any) -> Any:
    good = isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)
    require(good, "header", f"{name} must name labels, got {reprlib.repr(pair)}")
    kind, label = pair
    require(kind in LABELS, "header", f"{name} has a label of unknown type {reprlib.repr(kind)}")
    return read_labels_of(kind, [label])[0]


def read_labels_of(kind: str, stored: list[Any]) -> list[Any]:
    in_json = str if kind == "bytes" else LABELS[kind]
    for label in stored:
        require(type(label) is in_json, "header", f"{reprlib.repr(label)} is not a {kind} label")
    if kind != "bytes":
        return stored
    try:
        return [label.encode("latin-1") for label in stored]
    except UnicodeEncodeError:
        raise bad("a bytes label holds a character beyond latin-1") from None
