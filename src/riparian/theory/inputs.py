"""Checks of the numbers that the functions of this package receive."""

from __future__ import annotations

from typing import Any

from riparian.tools.checks import number


def probability(name: str, value: Any) -> float:
    """Check a probability: above 0, since all statements here are about sets that points fall into."""
    checked = number(name, value, at_least=0)
    if not 0 < checked <= 1:
        raise ValueError(f"{name} must be > 0 and <= 1, got {value!r}")
    return checked


def failure(name: str, value: Any) -> float:
    """δ: the probability with which a statement may fail, strictly between 0 and 1."""
    checked = probability(name, value)
    if checked == 1:
        raise ValueError(f"{name} must be < 1, got {value!r}")
    return checked


def share_of(delta: float, events: int) -> float:
    """ε = 1 - (1-δ)^(1/k): k events, each failing at most so often given those before it, all
    happen with probability 1-δ.
    """
    return float(1 - (1 - delta) ** (1 / events))
