"""Shapes of JSON values: what a file that a program continues from may contain."""

from __future__ import annotations

import reprlib
from typing import Any

COUNT = range(2**62)  # a number of rows, classes or bytes
Shape = Any


class Either:
    """One of several shapes."""

    def __init__(self, *shapes: Shape) -> None:
        self.shapes = shapes


# JSON has whole numbers of any size: these fit the types of numpy.
LABEL = Either(str, bool, range(-(2**63), 2**64), float)
NUMBER = Either(range(-(2**1023), 2**1023), float)


def shaped(name: str, value: Any, shape: Shape) -> Any:
    """Return a JSON value that has a shape, or raise a ValueError that names the part that has not.

    A shape is None, a type, a range of whole numbers, `Either`, a list (of any number of values of one
    shape), a tuple (of as many values), an object with at least these keys, or, with the key `str`, with
    any keys.

    >>> shaped("point", {"x": 1, "y": [0.5]}, {"x": COUNT, "y": [float]})
    {'x': 1, 'y': [0.5]}
    >>> shaped("point", {"x": 1, "y": [0.5, None]}, {"x": COUNT, "y": [float]})
    Traceback (most recent call last):
    ...
    ValueError: point.y[1]: expected a value of type float, got None
    """
    fault = _fault(name, value, shape)
    if fault is not None:
        raise ValueError(fault)
    return value


def _fault(name: str, value: Any, shape: Shape) -> str | None:
    """Return a description of the part that does not have the shape, or None."""
    match shape:
        case Either():
            faults = [_fault(name, value, one) for one in shape.shapes]
            return None if None in faults else faults[-1]
        case range():
            fits = type(value) is int and value in shape
            wanted = f"a whole number from {shape.start} to {shape.stop - 1}"
        case list():
            if type(value) is list:
                return _first(_fault(f"{name}[{i}]", one, shape[0]) for i, one in enumerate(value))
            fits, wanted = False, "a list"
        case tuple():
            if type(value) is list and len(value) == len(shape):
                pairs = zip(value, shape, strict=True)
                return _first(_fault(f"{name}[{i}]", *pair) for i, pair in enumerate(pairs))
            fits, wanted = False, f"a list of {len(shape)} values"
        case dict():
            if type(value) is dict and (str in shape or shape.keys() <= value.keys()):
                of_key = shape if str not in shape else dict.fromkeys(value, shape[str])
                return _first(_fault(f"{name}.{key}", value[key], of_key[key]) for key in of_key)
            keys = ", ".join(key for key in shape if isinstance(key, str))
            fits, wanted = False, f"an object with {keys}" if keys else "an object"
        case None:
            fits, wanted = value is None, "null"
        case _:
            fits, wanted = type(value) is shape, f"a value of type {shape.__name__}"
    return None if fits else f"{name}: expected {wanted}, got {reprlib.repr(value)}"


def _first(faults: Any) -> str | None:
    return next((fault for fault in faults if fault is not None), None)
