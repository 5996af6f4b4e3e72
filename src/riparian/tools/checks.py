"""Checks of values from outside: an error names the value and what was expected."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Labels can be sorted only within one of these families; numpy would mix them silently.
LABEL_FAMILIES = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "str", "S": "bytes"}


def whole(name: str, value: Any, at_least: int, at_most: int) -> int:
    """Return a whole number within its bounds as an int, or raise an error that names it.

    >>> whole("n_trees", 0, at_least=1, at_most=9)
    Traceback (most recent call last):
    ...
    ValueError: n_trees must be from 1 to 9, got 0
    """
    if type(value) is not int and (not isinstance(value, Integral) or isinstance(value, bool)):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if not at_least <= int(value) <= at_most:
        raise ValueError(f"{name} must be from {at_least} to {at_most}, got {value!r}")
    return int(value)


def number(name: str, value: Any, at_least: float, at_most: float = math.inf) -> float:
    """Return a finite number within its bounds as a float, or raise an error that names it.

    >>> number("min_gain", -1, at_least=0)
    Traceback (most recent call last):
    ...
    ValueError: min_gain must be finite and >= 0, got -1
    """
    if not is_number(value):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if math.isfinite(value) and at_least <= float(value) <= at_most:
        return float(value)
    if at_most == math.inf:
        raise ValueError(f"{name} must be finite and >= {at_least}, got {value!r}")
    raise ValueError(f"{name} must be from {at_least:.15g} to {at_most:.15g}, got {value!r}")


def is_number(value: object) -> bool:
    """Return whether the value is a real number of any type."""
    if type(value) in (float, int):  # isinstance with an abstract class takes far longer
        return True
    return isinstance(value, Real) and not isinstance(value, bool)


def label_family(labels: NDArray[Any]) -> str:
    """Return the type that all labels of an array have."""
    if labels.dtype.kind == "O":
        names = sorted({type(label).__name__ for label in labels.tolist()})
        if len(names) != 1:
            raise ValueError(f"labels must all be of one type, got {', '.join(names)}")
        return names[0]
    try:
        return LABEL_FAMILIES[labels.dtype.kind]
    except KeyError:
        raise ValueError(f"labels must be numbers, strings or bools, got {labels.dtype}") from None
