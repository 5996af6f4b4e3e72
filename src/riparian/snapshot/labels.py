"""The target of a forest and the weights of its classes, as plain state and as fields of a header."""

from __future__ import annotations

import re
import reprlib
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian import _core
from riparian.parameters.forests import OF_ESTIMATORS
from riparian.snapshot.errors import require
from riparian.snapshot.fields import MOST_POINTS, bad, typed, whole, whole_list
from riparian.snapshot.values import LABELS, label_of, read_labels_of, read_value, value_of
from riparian.tools.checks import LABEL_FAMILIES, label_family


@dataclass(frozen=True)
class ClassesState:
    """The classes of a forest. A class is given by its index in `classes`."""

    classes: NDArray[Any]  # the labels, sorted
    closed: bool  # whether no other label may join
    known: list[int]  # before the first point, ascending
    arrived: list[int]  # in order of arrival


@dataclass(frozen=True)
class NumbersState:
    """The target of a forest of numbers (R26)."""

    origin: float | None  # the first target; None before it
    scale: int  # of the largest difference from it, as `_core.scale_of` gives it


NUMBERS = "number"  # what a header has in place of the type of labels


@dataclass(frozen=True)
class WeightsState:
    """The weights of the classes."""

    given: Any  # None, "balanced" or a dict
    seen: list[int]  # if balanced: points by class, in order of arrival


# An array of texts has the width of the longest it might hold. If that is a lot more than its labels
# need, they are stored as objects: a few labels in a file must not claim gigabytes.
SPARE_BYTES, SPARE_FACTOR = 2**20, 16


def _may_claim(dtype: np.dtype[Any], labels: list[Any]) -> bool:
    if dtype.kind not in "US":
        return True
    needed = sum(4 * len(label) for label in labels)
    return len(labels) * dtype.itemsize <= max(SPARE_BYTES, SPARE_FACTOR * needed)


def write_labels(state: ClassesState | NumbersState) -> dict[str, Any]:
    if isinstance(state, NumbersState):
        return {"kind": NUMBERS, "origin": state.origin, "scale": state.scale}
    classes, dtype = state.classes, state.classes.dtype
    kind = label_family(classes) if len(classes) else "float"
    require(
        kind in LABELS and not (dtype.kind == "f" and dtype.itemsize > 8),
        "header",
        f"labels of type {kind} ({dtype}) cannot be saved",
    )
    return {
        "kind": kind,
        "dtype": dtype.str if _may_claim(dtype, classes.tolist()) else "|O",
        "closed": state.closed,
        "classes": [label_of("labels", label)[1] for label in classes.tolist()],
        "known": state.known,
        "arrived": state.arrived,
    }


def read_numbers(stored: dict[str, Any]) -> NumbersState:
    """Return the target of a forest of numbers."""
    known = {"kind", "origin", "scale"}
    require(stored.keys() == known, "header", f"labels must have exactly {sorted(known)}")
    require(stored["kind"] == NUMBERS, "header", "labels must be numbers in a forest of numbers")
    scale, origin = whole(stored, "scale", at_least=0, at_most=_core.most_scale), stored["origin"]
    good = origin is None or (type(origin) is float and abs(origin) <= 2.0**500)
    require(good, "header", "labels: origin must be null or a number of at most 2^500")
    require(origin is not None or scale == 0, "header", "labels: a scale needs an origin")
    return NumbersState(origin, scale)


def read_labels(stored: dict[str, Any], max_bytes: int) -> ClassesState:
    classes = _read_classes(stored, max_bytes)
    closed = typed(stored, "closed", bool)
    known = whole_list(stored, "known", at_most=len(classes) - 1)
    arrived = whole_list(stored, "arrived", at_most=len(classes) - 1)
    for name, places in (("known", known), ("arrived", arrived)):
        require(len(set(places)) == len(places), "header", f"{name} must name each class once")
    require(known == sorted(known), "header", "known must name classes in their order")
    require(
        len({*known, *arrived}) == len(classes) and not (closed and len(known) < len(classes)),
        "header",
        "every class must have been known beforehand, or have arrived where that is possible",
    )
    require(known or not closed, "header", "if no other class may join, at least one must be known")
    return ClassesState(classes, closed, known, arrived)


def _read_classes(stored: dict[str, Any], max_bytes: int) -> NDArray[Any]:
    kind, dtype = typed(stored, "kind", str), _read_dtype(typed(stored, "dtype", str))
    require(kind in LABELS, "header", f"labels have an unknown type, {reprlib.repr(kind)}")
    values = read_labels_of(kind, typed(stored, "classes", list))
    require(len(values) * dtype.itemsize <= max_bytes, "size", "the labels need too much memory")
    require(
        dtype.kind == "O" or LABEL_FAMILIES[dtype.kind] == kind,
        "header",
        f"{kind} labels cannot have the dtype {dtype.str}",
    )
    require(
        dtype.kind == "O" or _may_claim(dtype, values),
        "size",
        f"{len(values)} labels do not need the dtype {dtype.str}; expected a narrower one",
    )
    try:
        classes = np.array(values, dtype=dtype)
    except (ValueError, OverflowError):
        raise bad(f"labels do not fit their dtype {dtype.str}") from None
    same = classes.dtype == dtype or not values
    require(same and classes.tolist() == values, "header", f"labels do not fit {dtype.str}")
    ordered = all(a < b for a, b in pairwise(values))
    require(ordered, "header", "classes must be sorted and distinct")
    return classes


def _read_dtype(text: str) -> np.dtype[Any]:
    known = re.fullmatch(r"[<>|][biuUS][0-9]{1,9}|[<>]f[248]|\|O", text)
    try:
        require(known, "header", f"labels cannot have the dtype {reprlib.repr(text)}")
        return np.dtype(text)
    except TypeError:
        raise bad(f"labels cannot have the dtype {text}") from None


def write_class_weights(state: WeightsState) -> dict[str, Any]:
    return {"given": value_of("class_weight", state.given), "seen": state.seen}


def read_class_weights(
    stored: dict[str, Any], classes: ClassesState | NumbersState
) -> WeightsState:
    require("given" in stored, "header", "class_weights must have the field given")
    try:
        given = OF_ESTIMATORS["class_weight"].checked(read_value("class_weights", stored["given"]))
    except (TypeError, ValueError, OverflowError) as error:
        raise bad(str(error)) from None
    seen = whole_list(stored, "seen", at_most=MOST_POINTS)
    # A batch without rows adds an entry for one class.
    arrived = len(classes.arrived) if isinstance(classes, ClassesState) else 0
    most = max(1, arrived) if isinstance(given, str) else 0
    of_classes = given is None or isinstance(classes, ClassesState)
    require(of_classes, "header", "class_weights must be null in a forest of numbers")
    require(
        len(seen) <= most and sum(seen) <= MOST_POINTS,
        "header",
        "class_weights must have seen points of the classes that have arrived, if balanced",
    )
    return WeightsState(given, seen)
