"""Types of values of a parameter: how each is checked, and its name in documentation."""

from __future__ import annotations

import math
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from riparian.tools.checks import number, whole
from riparian.tools.text import suggestion

MAX_WEIGHT = 2.0**20  # of one point


class ValueType(ABC):
    """A type of values of a parameter."""

    @property
    @abstractmethod
    def words(self) -> str:
        """Return the type, as a docstring names it."""

    @abstractmethod
    def checked(self, name: str, value: Any) -> Any:
        """Return the value in its plain form, or raise an error that names the parameter."""


class Unchecked(ValueType):
    """A value that another module or library checks."""

    words = "object"

    def checked(self, name: str, value: Any) -> Any:
        return value


@dataclass(frozen=True)
class Whole(ValueType):
    at_least: int
    at_most: int

    words = "int"

    def checked(self, name: str, value: Any) -> int:
        return whole(name, value, self.at_least, self.at_most)


@dataclass(frozen=True)
class Number(ValueType):
    at_least: float
    at_most: float = math.inf

    words = "float"

    def checked(self, name: str, value: Any) -> float:
        return number(name, value, self.at_least, self.at_most)


@dataclass(frozen=True)
class Between(ValueType):
    """A number above one bound and below the other."""

    above: float
    below: float

    words = "float"

    def checked(self, name: str, value: Any) -> float:
        between = number(name, value, self.above, self.below)
        if not self.above < between < self.below:
            raise ValueError(
                f"{name} must be above {self.above:.15g} and below {self.below:.15g}, got {value!r}"
            )
        return between


def _is_bool_of_numpy(value: Any) -> bool:
    import numpy as np  # here, since `riparian --help` needs none

    return isinstance(value, np.bool_)


class Flag(ValueType):
    words = "bool"

    def checked(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool) and not _is_bool_of_numpy(value):
            raise TypeError(f"{name} must be True or False, got {value!r}")
        return bool(value)


@dataclass(frozen=True)
class OneOf(ValueType):
    """One of a few words."""

    choices: tuple[str, ...]

    @property
    def words(self) -> str:
        return " or ".join(f'"{choice}"' for choice in self.choices)

    def checked(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in self.choices:
            expected = " or ".join(repr(choice) for choice in self.choices)
            hint = suggestion(value, self.choices) if isinstance(value, str) else ""
            raise ValueError(f"{name} must be {expected}, got {value!r}{hint}")
        return str(value)


@dataclass(frozen=True)
class OrWord(ValueType):
    """A number, or one of a few words that stand for one."""

    kind: Whole | Number
    choices: tuple[str, ...]

    @property
    def words(self) -> str:
        return " or ".join([self.kind.words, *(f'"{choice}"' for choice in self.choices)])

    def checked(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            if value not in self.choices:
                expected = " or ".join(["a number", *map(repr, self.choices)])
                raise ValueError(f"{name} must be {expected}, got {value!r}")
            return str(value)
        return self.kind.checked(name, value)


@dataclass(frozen=True)
class OrNone(ValueType):
    """A value, or None; `meaning` says what None stands for."""

    kind: ValueType
    meaning: str

    @property
    def words(self) -> str:
        return f"{self.kind.words} or None"

    def checked(self, name: str, value: Any) -> Any:
        return None if value is None else self.kind.checked(name, value)


UNITS = {
    unit: base**power
    for power, letter in enumerate("KMGT", start=1)
    for unit, base in ((f"{letter}B", 1000), (f"{letter}IB", 1024))
} | {"B": 1, "": 1}


SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")


class Bytes(ValueType):
    """A size in bytes, as a number or as text such as "500MB" or "1.5 GiB"."""

    words = "int, str"

    def checked(self, name: str, value: Any) -> int:
        size = self._parsed(name, value) if isinstance(value, str) else value
        return whole(name, size, at_least=1, at_most=2**60)

    def _parsed(self, name: str, text: str) -> int:
        parts = SIZE.fullmatch(text)
        unit = UNITS.get(parts[2].upper()) if parts else None
        if parts is None or unit is None:
            raise ValueError(
                f"{name} must be a number of bytes or a text such as '500MB' or '2GiB', got {text!r}"
            )
        return int(float(parts[1]) * unit)


DEPRECATED = "deprecated"  # the default of a parameter that has no effect any more


@dataclass(frozen=True)
class Deprecated(ValueType):
    """A parameter that has no effect any more; any other value than the default gives a warning."""

    since: str  # the version
    instead: str  # what replaces it, or why nothing does

    words = "deprecated"

    def checked(self, name: str, value: Any) -> str:
        if not (isinstance(value, str) and value == DEPRECATED):
            warnings.warn(
                f"{name} has no effect since riparian {self.since} and will be removed: "
                f"{self.instead}; leave it out",
                FutureWarning,
                stacklevel=2,
            )
        return DEPRECATED


class OfDepth(Unchecked):
    """A schedule, or a number: its start. `schedules.resolve` checks α and β together."""

    words = "Geometric, Polynomial or float"


class MultipleOrOfDepth(OfDepth):
    """A schedule, or a number: the multiple of another schedule."""

    words = "float, Geometric or Polynomial"


class Seed(ValueType):
    """The seed of an engine. An estimator may be given a source of seeds instead."""

    words = "int, RandomState or None"

    def checked(self, name: str, value: Any) -> int:
        return whole(name, value, at_least=0, at_most=2**64 - 1)


class ColumnChoice(Unchecked):
    """A choice of columns. Columns are not known beforehand; `tables.chosen_columns` checks it."""

    words = '"from_dtype", array-like or None'


class Coverages(ValueType):
    """Shares of targets that intervals shall hold, each above 0 and below 1; None: no share."""

    words = "sequence of float"

    def checked(self, name: str, value: Any) -> tuple[float, ...]:
        if value is None:
            return ()
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            raise TypeError(
                f"{name} must be a sequence of coverages, such as (0.9,), got {value!r}"
            )
        given = tuple(value)
        for each in given:
            if not (isinstance(each, Real) and 0 < float(each) < 1):
                raise ValueError(
                    f"{name} must hold coverages above 0 and below 1, such as 0.9, got {each!r}"
                )
        coverages = tuple(map(float, given))
        if len({*coverages}) < len(coverages):
            raise ValueError(f"{name} must name each coverage once, got {value!r}")
        return coverages


def coverage(name: str, value: Any) -> float:
    """Return the share of targets that an interval shall hold, or raise an error."""
    return Between(0, 1).checked(name, value)


class WeightsByLabel(ValueType):
    """Weights of classes. The labels are not known beforehand, so any label may be named."""

    words = 'dict, "balanced" or None'

    def checked(self, name: str, value: Any) -> Any:
        if value is None or (isinstance(value, str) and value == "balanced"):
            return value
        if not isinstance(value, Mapping):
            raise ValueError(f"{name} must be a dict, 'balanced' or None, got {value!r}")
        for label, weight in value.items():
            if not (isinstance(weight, Real) and 0 <= float(weight) <= MAX_WEIGHT):
                raise ValueError(
                    f"{name} must hold numbers from 0 to 2^20, got {weight!r} for {label!r}"
                )
        return {label: float(weight) for label, weight in value.items()}
