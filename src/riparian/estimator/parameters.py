"""What a forest is told before the first point: one frozen value, the same for both engines."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, cast

from riparian.estimator.schedules import Schedule, resolve


@dataclass(frozen=True)
class Parameters:
    """The parameters of a forest, checked and resolved. The paper's symbol stands behind each."""

    n_trees: int
    seed: int  # of every draw (R13)
    candidate_dims: float | Literal["sqrt"]  # λ
    split_points: int  # m
    min_gain: float  # τ, in bits
    alpha: Schedule  # α(d)
    beta: Schedule  # β(d)
    structure_fraction: float
    ignore_fraction: float
    fringe_size: int | None  # active leaves per tree (R12)
    voting: Literal["average", "majority"]
    max_memory: int | None = None  # bytes, of all trees together

    def rate(self, n_dims: int) -> float:
        """λ, where it may depend on the number of dimensions there are by now (R2)."""
        return math.sqrt(n_dims) if self.candidate_dims == "sqrt" else self.candidate_dims


@dataclass(frozen=True)
class SaffariParameters:
    """The parameters of Saffari's forest (R18), checked."""

    n_trees: int
    seed: int
    candidate_dims: int  # in which a leaf looks
    split_points: int  # thresholds in each
    thresholds: Literal["points", "range"]  # the first points, or uniform in their range
    min_gain: float  # in bits
    min_samples: int  # weight that a leaf needs to split
    max_depth: int | None
    replacement_rate: float | None  # γ: a tree of more than 1/γ points may be replaced
    voting: Literal["average", "majority"]


def check_saffari_parameters(
    *,
    n_trees: Any,
    seed: Any,
    candidate_dims: Any,
    split_points: Any,
    thresholds: Any,
    min_gain: Any,
    min_samples: Any,
    max_depth: Any,
    replacement_rate: Any,
    voting: Any,
) -> SaffariParameters:
    return SaffariParameters(
        n_trees=whole("n_estimators", n_trees, at_least=1, at_most=2**20),
        seed=whole("random_state", seed, at_least=0, at_most=2**64 - 1),
        candidate_dims=whole("candidate_dims", candidate_dims, at_least=1, at_most=10**6),
        split_points=whole("split_points", split_points, at_least=1, at_most=2**16),
        thresholds=_thresholds(thresholds),
        min_gain=number("min_gain", min_gain, at_least=0),
        min_samples=whole("min_samples", min_samples, at_least=1, at_most=2**60),
        max_depth=None if max_depth is None else whole("max_depth", max_depth, 0, 2**31),
        replacement_rate=None if replacement_rate is None else _share(replacement_rate),
        voting=_voting(voting),
    )


def _thresholds(value: Any) -> Literal["points", "range"]:
    if not isinstance(value, str) or value not in ("points", "range"):
        raise ValueError(f"thresholds must be 'points' or 'range', got {value!r}")
    return cast(Literal["points", "range"], value)


def _share(value: Any) -> float:
    share = number("replacement_rate", value, at_least=0)
    if not 1e-15 <= share <= 1:
        raise ValueError(f"replacement_rate must be from 1e-15 to 1, or None, got {value!r}")
    return share


def check_parameters(
    *,
    n_trees: Any,
    seed: Any,
    candidate_dims: Any,
    split_points: Any,
    min_gain: Any,
    alpha: Any,
    beta: Any,
    structure_fraction: Any,
    ignore_fraction: Any,
    fringe_size: Any,
    voting: Any,
    max_memory: Any = None,
) -> Parameters:
    """The one place where parameters are checked: an error names the value and what was expected."""
    alpha, beta = resolve(alpha, beta)
    fractions = _fractions(structure_fraction, ignore_fraction)
    return Parameters(
        n_trees=whole("n_estimators", n_trees, at_least=1, at_most=2**20),
        seed=whole("random_state", seed, at_least=0, at_most=2**64 - 1),
        candidate_dims=_rate(candidate_dims),
        split_points=whole("split_points", split_points, at_least=1, at_most=2**16),
        min_gain=number("min_gain", min_gain, at_least=0),
        alpha=alpha,
        beta=beta,
        structure_fraction=fractions[0],
        ignore_fraction=fractions[1],
        fringe_size=(
            None if fringe_size is None else whole("fringe_size", fringe_size, 1, 2**63 - 1)
        ),
        voting=_voting(voting),
        max_memory=None if max_memory is None else _memory(max_memory),
    )


def whole(name: str, value: Any, at_least: int, at_most: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if not at_least <= int(value) <= at_most:
        raise ValueError(f"{name} must be from {at_least} to {at_most}, got {value!r}")
    return int(value)


def number(name: str, value: Any, at_least: float) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not (math.isfinite(value) and float(value) >= at_least):
        raise ValueError(f"{name} must be finite and >= {at_least}, got {value!r}")
    return float(value)


def _rate(value: Any) -> float | Literal["sqrt"]:
    if isinstance(value, str) and value == "sqrt":
        return "sqrt"
    if isinstance(value, str):
        raise ValueError(f"candidate_dims must be a number or 'sqrt', got {value!r}")
    rate = number("candidate_dims", value, at_least=0)
    if rate > 1e6:  # a leaf makes this many draws
        raise ValueError(f"candidate_dims must be at most 1000000, got {value!r}")
    return rate


def _fractions(structure: Any, ignore: Any) -> tuple[float, float]:
    structure = number("structure_fraction", structure, at_least=0)
    ignore = number("ignore_fraction", ignore, at_least=0)
    if structure == 0:
        raise ValueError("structure_fraction must be > 0, or no leaf ever splits, got 0.0")
    if structure + ignore >= 1:
        raise ValueError(
            "structure_fraction + ignore_fraction must be < 1, or no point is left to predict "
            f"with, got {structure!r} + {ignore!r}"
        )
    return structure, ignore


UNITS = {
    unit: base**power
    for power, letter in enumerate("KMGT", start=1)
    for unit, base in ((f"{letter}B", 1000), (f"{letter}IB", 1024))
} | {"B": 1, "": 1}


def _memory(value: Any) -> int:
    """Bytes, as a number or as text such as "500MB" or "1.5 GiB"."""
    if not isinstance(value, str):
        return whole("max_memory", value, at_least=1, at_most=2**60)
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", value)
    unit = UNITS.get(found[2].upper()) if found else None
    if found is None or unit is None:
        raise ValueError(
            f"max_memory must be a number of bytes or like '500MB' or '2GiB', got {value!r}"
        )
    return whole("max_memory", int(float(found[1]) * unit), at_least=1, at_most=2**60)


def _voting(value: Any) -> Literal["average", "majority"]:
    if not isinstance(value, str) or value not in ("average", "majority"):
        raise ValueError(f"voting must be 'average' or 'majority', got {value!r}")
    return cast(Literal["average", "majority"], value)
