"""α(d) and β(d): the numbers of estimation points that govern splits at depth d (R15).

α(d) is the number that each child must hold before a split is valid; β(d) is the number at which a leaf
must split. The paper needs α to grow to infinity, d/α(d) -> 0 and β >= α. An α above β is an
error here; an α that breaks one of the other conditions gives a `ConsistencyWarning` that names the
lost guarantee.

Both engines read the integers made here, so they cannot round differently.
"""

from __future__ import annotations

import math
import sys
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Self, TypeGuard

from riparian.tools.checks import is_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEVER = 2**63 - 1
"""The integer of a schedule that has overflowed: more points than any stream has."""

# Deeper than any tree. Two schedules that only cross beyond this depth do not cross.
_DEEPEST = 2**62


class ConsistencyWarning(UserWarning):
    """A warning that the forest learns without one of the paper's guarantees."""


class Schedule(ABC):
    """A number of points for each depth, which never falls as the depth grows.

    There are no other schedules than `Geometric` and `Polynomial`: whether β stays above α at every
    depth is decided by analysis, which depends on their form.
    """

    @abstractmethod
    def __call__(self, depth: int) -> float:
        """Return the value at a depth (0 is the root), or infinity if it overflows."""

    @property
    @abstractmethod
    def growth(self) -> tuple[int, float]:
        """Return how fast the schedule grows. Of two, the larger one ends above the other."""

    @property
    def unbounded(self) -> bool:
        """Return whether the schedule grows to infinity with the depth."""
        return self.growth > _NO_GROWTH

    @property
    def outgrows_depth(self) -> bool:
        """Return whether d / schedule(d) goes to 0."""
        return self.growth > (1, 1.0)

    @abstractmethod
    def times(self, factor: float) -> Self:
        """Return the same schedule, `factor` times as high."""

    def at(self, depth: int) -> int:
        """Return the value at a depth, rounded up and so at least 1, or `NEVER` if it overflows."""
        return _ceil(self(depth))

    def integers(self, depths: int) -> NDArray[np.uint64]:
        """Return what `at` gives for depths 0, 1, ..., depths - 1.

        >>> Geometric(1, 1.5).integers(4).tolist()
        [1, 2, 3, 4]
        """
        return _integers(self, depths)


@dataclass(frozen=True)
class Geometric(Schedule):
    """start · rate^d, the form of the paper's experiments.

    >>> alpha = Geometric(start=1, rate=1.1)
    >>> alpha(0), round(alpha(10), 3)
    (1.0, 2.594)

    A start below 1 keeps α at 1 for the first few depths.

    >>> Geometric(start=0.4, rate=1.5).integers(6).tolist()
    [1, 1, 1, 2, 3, 4]
    """

    start: float  # the value at the root, above 0
    rate: float  # the factor from one depth to the next, >= 1

    def __post_init__(self) -> None:
        _normalise_start(self)
        _normalise(self, "rate", at_least=1)

    def __call__(self, depth: int) -> float:
        return self.start * _power(self.rate, depth)

    @property
    def growth(self) -> tuple[int, float]:
        return (2, self.rate) if self.rate > 1 else _NO_GROWTH

    def times(self, factor: float) -> Self:
        return type(self)(_product(factor, self.start), self.rate)


@dataclass(frozen=True)
class Polynomial(Schedule):
    """start · (1 + d)^power.

    >>> Polynomial(start=2, power=2).integers(4).tolist()
    [2, 8, 18, 32]
    """

    start: float  # the value at the root, above 0
    power: float  # >= 0; the paper's conditions require more than 1

    def __post_init__(self) -> None:
        _normalise_start(self)
        _normalise(self, "power", at_least=0)

    def __call__(self, depth: int) -> float:
        return self.start * _power(1.0 + depth, self.power)

    @property
    def growth(self) -> tuple[int, float]:
        return (1, self.power) if self.power > 0 else _NO_GROWTH

    def times(self, factor: float) -> Self:
        return type(self)(_product(factor, self.start), self.power)


_NO_GROWTH = (0, 0.0)  # a constant, whichever of the two forms it is written in


@lru_cache(maxsize=64)
def _integers(schedule: Schedule, depths: int) -> NDArray[np.uint64]:
    """Return the integers. They are cached, since forests share schedules, and so read-only."""
    import numpy as np  # here, since `riparian --help` needs none

    values = np.full(depths, NEVER, dtype=np.uint64)
    for depth in range(depths):
        value = schedule.at(depth)
        if value == NEVER:
            break  # at every greater depth too
        values[depth] = value
    values.flags.writeable = False
    return values


RATE = 1.1  # of α, if only its start is given


def resolve(alpha: Schedule | float, beta: Schedule | float) -> tuple[Schedule, Schedule]:
    """Return α and β as two checked schedules; β may be given as a multiple of α.

    >>> resolve(Geometric(1, 1.1), 1000)
    (Geometric(start=1.0, rate=1.1), Geometric(start=1000.0, rate=1.1))
    >>> resolve(2, 10)
    (Geometric(start=2.0, rate=1.1), Geometric(start=20.0, rate=1.1))
    >>> resolve(Geometric(2, 1.1), Geometric(1, 1.1))
    Traceback (most recent call last):
    ...
    ValueError: beta must be >= alpha at every depth, got 1.0 < 2.0 at depth 0
    """
    alpha, beta = as_schedules(alpha, beta)
    fault = fault_in_order(alpha, beta)
    if fault is not None:
        raise ValueError(f"beta must be >= alpha at every depth, got {fault}")
    _warn_if_weak(alpha)
    return alpha, beta


def as_schedules(alpha: Schedule | float, beta: Schedule | float) -> tuple[Schedule, Schedule]:
    """Return α and β as two schedules, whether or not the theorem covers them.

    A number for α is the start of a geometric schedule.
    """
    if is_number(alpha):
        alpha = Geometric(_number("alpha", alpha, at_least=0), RATE)
    if not _is_schedule(alpha):
        raise TypeError(f"alpha must be a number, a Geometric or a Polynomial, got {alpha!r}")
    return alpha, beta if _is_schedule(beta) else _multiple(alpha, beta)


def _multiple(alpha: Schedule, factor: object) -> Schedule:
    if not is_number(factor):
        raise TypeError(f"beta must be a number, a Geometric or a Polynomial, got {factor!r}")
    return alpha.times(_number("beta", factor, at_least=1))


def fault_in_order(alpha: Schedule, beta: Schedule) -> str | None:
    """Describe how β falls below α at some depth; return None if it never does.

    >>> fault_in_order(Geometric(2, 1.1), Geometric(1, 1.1))
    '1.0 < 2.0 at depth 0'
    """
    if beta.growth < alpha.growth:
        return f"{beta!r}, which grows more slowly than {alpha!r}"
    for depth in _closest_depths(alpha, beta):
        if beta(depth) < alpha(depth):
            return f"{beta(depth)!r} < {alpha(depth)!r} at depth {depth}"
    return None


def _closest_depths(alpha: Schedule, beta: Schedule) -> list[int]:
    """Return the depths at which β/α can be least, if β grows no more slowly than α.

    Within one form the ratio never falls, so this is the root. A geometric β over a polynomial α
    has log(β/α) = d·log(rate) - power·log(1 + d) + constant: convex, and least where
    1 + d = power / log(rate).
    """
    if not (isinstance(alpha, Polynomial) and isinstance(beta, Geometric) and beta.rate > 1):
        return [0]
    least = int(min(max(alpha.power / math.log(beta.rate) - 1, 0), _DEEPEST))
    # Both may have overflowed there and compare equal. That takes a power of several hundred (or a β
    # that is never at any depth), so α has overflowed by depth 2, and depths 1 and 2 show it.
    return [0, 1, 2, least, least + 1]


def _warn_if_weak(alpha: Schedule) -> None:
    if not alpha.unbounded:
        lost = (
            "is constant: the estimation points of a leaf, N^e(A_t(X)), need not grow to infinity, "
            "so the forest is not guaranteed to be consistent"
        )
    elif not alpha.outgrows_depth:
        lost = (
            "grows too slowly: d/alpha(d) does not go to 0, so with a bounded fringe a leaf is not "
            "guaranteed to become active, and the forest not to be consistent"
        )
    else:
        return
    warnings.warn(f"{alpha!r} as alpha {lost}", ConsistencyWarning, stacklevel=3)


def _product(factor: float, start: float) -> float:
    # A start must be finite; the largest float also means never.
    return min(factor * start, sys.float_info.max)


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf


def _ceil(value: float) -> int:
    return math.ceil(value) if value < NEVER else NEVER


def _is_schedule(value: object) -> TypeGuard[Geometric | Polynomial]:
    return isinstance(value, Geometric | Polynomial)


def _normalise_start(schedule: Geometric | Polynomial) -> None:
    """Check that a start is above 0. It may be below 1, since α is rounded up (R15)."""
    _normalise(schedule, "start", at_least=-math.inf)
    if schedule.start <= 0:
        raise ValueError(f"start must be > 0, got {schedule.start!r}")


def _normalise(schedule: Schedule, name: str, *, at_least: float) -> None:
    """Check a field and store it as a Python float, so that its given type does not matter."""
    value = _number(name, getattr(schedule, name), at_least=at_least)
    object.__setattr__(schedule, name, value)


def _number(name: str, value: object, *, at_least: float) -> float:
    if not is_number(value):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    if number < at_least:
        raise ValueError(f"{name} must be >= {at_least}, got {value!r}")
    return number
