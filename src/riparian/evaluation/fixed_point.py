"""Sums that do not depend on the order or the batches of what is added."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

UNIT = 2**32  # one, in the sums of losses and confidences

SMALLEST = 1074  # every finite number is a whole multiple of 2^-1074


def units(values: NDArray[np.float64]) -> int:
    """Return the sum of the values in units, each rounded by itself."""
    return int(np.rint(values * UNIT).astype(np.int64).sum())


def ratio(over: int, under: int) -> float:
    """Return the quotient, or nan if it is undefined."""
    return over / under if under else math.nan


def or_none(value: float) -> float | None:
    """Return a number for JSON, or None if it is undefined or beyond all floats."""
    return value if math.isfinite(value) else None


def exact_sum(values: NDArray[np.float64]) -> int:
    """Return the sum of finite numbers in units of 2^-1074, without rounding.

    >>> as_fraction(exact_sum(np.array([1e300, 0.25, -1e300])))
    Fraction(1, 4)
    """
    mantissa, exponent = np.frexp(values)
    return _sum_of(mantissa, exponent, SMALLEST)


def exact_sum_of_squares(values: NDArray[np.float64]) -> int:
    """Return the sum of the squares in units of 2^-2148. Each is rounded by itself, none overflows.

    >>> Fraction(exact_sum_of_squares(np.array([1e300, 3.0])) % 2**2200, 2 ** (2 * SMALLEST))
    Fraction(9, 1)
    """
    mantissa, exponent = np.frexp(values)
    return _sum_of(mantissa * mantissa, 2 * exponent, 2 * SMALLEST)


def _sum_of(mantissa: NDArray[np.float64], exponent: NDArray[np.int32], bits: int) -> int:
    """Return the sum of mantissa * 2^exponent, in units of 2^-bits."""
    whole = np.ldexp(mantissa, 53).astype(np.int64)  # values are whole * 2^(exponent - 53)
    total = 0
    for each in np.unique(exponent).tolist():
        some = whole[exponent == each]
        high, low = int((some >> 27).sum()), int((some & (2**27 - 1)).sum())
        total += _shifted((high << 27) + low, each - 53 + bits)
    return total


def exact(value: float) -> int:
    """Return one finite number in these units.

    >>> exact(-0.75) == exact_sum(np.array([-0.75]))
    True
    """
    numerator, denominator = value.as_integer_ratio()  # a power of two
    return numerator << (SMALLEST + 1 - denominator.bit_length())


def _shifted(number: int, bits: int) -> int:
    # A number below the normal ones has trailing zeros where it is shifted to the right.
    return number << bits if bits >= 0 else number >> -bits


def root(square: Fraction) -> float:
    """Return the square root, even if the square is too large for a float.

    >>> root(Fraction(10) ** 400) == 1e200, root(Fraction(0))
    (True, 0.0)
    """
    half = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(square / Fraction(4) ** half), half)


def as_fraction(total: int) -> Fraction:
    """Return the number that a sum of `exact_sum` stands for."""
    return Fraction(total, 2**SMALLEST)
