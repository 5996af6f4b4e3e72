"""Input validation of the service: every value of a request is checked here, once."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from riparian.model.numbers import LARGEST as LARGEST_TARGET
from riparian.serve.items import Bad, Features, Label
from riparian.serve.options import Limits
from riparian.serve.refused import Refused, shown, some
from riparian.serve.state.classes import WHOLE

LARGEST = 3.4028235677973366e38  # numbers from here on round to an infinity of float32
MAX_WEIGHT = 2.0**20
NESTED = {dict, list}
TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)  # of valid JSON

Row = TypeVar("Row")
ReadLabel = Callable[[Any, Limits], Label]  # `class_label` or `number_label`


@dataclass(frozen=True, slots=True)
class AskRow:
    id: str | None
    features: Features


@dataclass(frozen=True, slots=True)
class TellRow:
    id: str
    label: Label


@dataclass(frozen=True, slots=True)
class TeachRow:
    id: str | None
    features: Features
    label: Label
    weight: float


def parsed(data: bytes, limits: Limits) -> Any:
    """Return the value of a JSON text. Too many values, or a key twice in one object, are refused."""
    # An upper bound: signs within texts are counted, too.
    most = 1 + sum(data.count(sign) for sign in (b",", b"[", b"{"))
    if most > limits.values:
        raise Refused(
            413, f"a body may have {limits.values} values, got up to {most}; send several"
        )
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Refused(400, f"the body must be JSON: {error}") from None
    check_keys(data, value)
    return value


def check_keys(data: bytes, value: Any) -> None:
    """Refuse an object that has a key twice: its text has more colons than the value has keys."""
    colons = data.count(b":")
    if colons == 0:
        return
    count = keys(value)
    if colons != count and TEXT.sub(b"", data).count(b":") != count:
        raise Refused(400, "an object of the body has two values for the same key; send one")


def keys(value: Any) -> int:
    """Return how many keys the objects of a JSON value have."""
    if type(value) is dict:
        return len(value) + sum([keys(v) for v in value.values() if v and type(v) in NESTED])
    return sum([keys(v) for v in value if v and type(v) in NESTED]) if type(value) is list else 0


def rows_of(
    value: Any, read: Callable[[Any, Limits], Row], limits: Limits
) -> tuple[list[Row | Bad], bool]:
    """Return the rows of a request, and whether it was a list."""
    if not isinstance(value, list):
        return [read(value, limits)], False
    if len(value) > limits.rows:
        raise Refused(413, f"a list may have {limits.rows} rows, got {len(value)}; send several")
    return [read_or_bad(row, read, limits) for row in value], True


def read_or_bad(row: Any, read: Callable[[Any, Limits], Row], limits: Limits) -> Row | Bad:
    try:
        return read(row, limits)
    except Refused as refused:
        id = row.get("id") if isinstance(row, dict) else None
        return Bad({"id": id if isinstance(id, str) else None, **refused.answer()})


# -- rows ------------------------------------------------------------------------------------------


def ask_row(row: Any, limits: Limits) -> AskRow:
    fields(row, {"id", "features"})
    return AskRow(optional_id(row, limits), features(row, limits))


def tell_row(row: Any, limits: Limits, read_label: ReadLabel) -> TellRow:
    fields(row, {"id", "label"})
    id = optional_id(row, limits)
    if id is None:
        raise Refused(422, "must be the id of a prediction, and is missing", "id")
    return TellRow(id, label(row, limits, read_label))


def teach_row(row: Any, limits: Limits, read_label: ReadLabel) -> TeachRow:
    fields(row, {"id", "features", "label", "weight"})
    return TeachRow(
        optional_id(row, limits),
        features(row, limits),
        label(row, limits, read_label),
        weight(row),
    )


# -- values ----------------------------------------------------------------------------------------


def fields(row: Any, known: set[str]) -> None:
    if not isinstance(row, dict):
        raise Refused(422, f"a row must be an object with {some(sorted(known))}, got {kind(row)}")
    for name in row:
        if name not in known:
            raise Refused(422, f"unknown field; expected one of {some(sorted(known))}", name)


def optional_id(row: dict[str, Any], limits: Limits) -> str | None:
    id = row.get("id")
    return None if id is None else text(id, "id", limits)


def text(value: Any, field: str, limits: Limits) -> str:
    if not isinstance(value, str):
        raise Refused(422, f"must be a string, got {kind(value)}", field)
    if not 0 < len(value) <= limits.text:
        raise Refused(422, f"must have 1 to {limits.text} characters, got {len(value)}", field)
    if "\0" in value:
        raise Refused(422, "must not contain the character 0", field)
    return value


def features(row: dict[str, Any], limits: Limits) -> Features:
    given = row.get("features")
    if not isinstance(given, dict):
        raise Refused(422, f"must be an object, got {kind(given)}", "features")
    if not 0 < len(given) <= limits.features:
        raise Refused(
            422, f"must have 1 to {limits.features} features, got {len(given)}", "features"
        )
    for name, value in given.items():
        # Most values pass the cheapest check.
        if type(value) is not float or not -LARGEST < value < LARGEST:
            check_value(name, value, limits)
        if not 0 < len(name) <= limits.text or "\0" in name:
            text(name, "features", limits)
    return given


def check_value(name: str, value: Any, limits: Limits) -> None:
    """Check a value by itself; the catalogue knows whether its feature takes numbers or texts."""
    field = f"features.{name}"
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        if len(value) > limits.value:
            raise Refused(
                422, f"must have at most {limits.value} characters, got {len(value)}", field
            )
        return
    if not isinstance(value, int | float):
        raise Refused(422, f"must be a number, a text or null, got {kind(value)}", field)
    if not -LARGEST < value < LARGEST:
        raise Refused(422, f"must be finite and fit float32, got {shown(value)}", field)


def label(row: dict[str, Any], limits: Limits, read_label: ReadLabel) -> Label:
    if "label" not in row:
        raise Refused(422, "is missing", "label")
    return read_label(row["label"], limits)


def class_label(value: Any, limits: Limits) -> Label:
    """Return the label of a service for classes."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value not in WHOLE:
            raise Refused(422, f"must fit 64 bits, got {value}", "label")
        return value
    if isinstance(value, float):
        if not value.is_integer():
            raise Refused(
                422,
                f"must be an integral class label, got {value}; a service that is started with "
                "--task numbers predicts numbers",
                "label",
            )
        return value + 0.0  # -0.0 is 0.0
    if isinstance(value, str):
        return text(value, "label", limits)
    raise Refused(422, f"must be a string, a number or a boolean, got {kind(value)}", "label")


def number_label(value: Any, limits: Limits) -> Label:
    """Return the label of a service for numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused(
            422,
            f"must be a number, got {kind(value)}; a service that is started with --task classes "
            "predicts classes",
            "label",
        )
    if not abs(value) <= LARGEST_TARGET:
        raise Refused(422, f"must be a finite number of at most 2^500, got {shown(value)}", "label")
    return value + 0.0  # -0.0 is 0.0


def weight(row: dict[str, Any]) -> float:
    value = row.get("weight", 1.0)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused(422, f"must be a number, got {kind(value)}", "weight")
    if not 0 < value <= MAX_WEIGHT:
        raise Refused(422, f"must be above 0 and at most 2^20, got {value}", "weight")
    return float(value)


def kind(value: Any) -> str:
    """Return a value of JSON for a message.

    >>> kind({}), kind(None), kind("a"), kind(1)
    ('an object', 'null', "'a'", '1')
    """
    match value:
        case None:
            return "null"
        case dict():
            return "an object"
        case list():
            return "a list"
    return shown(value)
