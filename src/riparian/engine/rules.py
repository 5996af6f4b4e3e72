"""The rules of splitting, in the form that the core takes.

There are five: the paper's two streams without kept points, with kept points, eager at first, and for
streams that change; and Saffari's one stream.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

from riparian import _core
from riparian.parameters.forests import (
    LINK_BYTES,
    PAIR_BYTES,
    ChangeParameters,
    NumberParameters,
    SaffariParameters,
    StreamParameters,
)

# The size of an empty tree: the object, and the overhead of its few blocks. Which forest grows within a
# budget depends on it, so the number stays although the object has become smaller.
TREE_BYTES = 1976


def cut(fraction: float) -> int:
    """Return the first of the 2^53 uniforms that is not below a fraction: u < fraction, in integers."""
    return math.ceil(fraction * 2**53)


def core_rate(rate: float) -> _core.Rate:
    whole = math.floor(rate)
    return _core.Rate(whole, math.exp(-1.0), math.exp(-(rate - whole)))


class Rule(ABC):
    """The parameters of a forest as the core takes them, and the classes of the core to use."""

    reserved = 0  # bytes of `max_memory` that are set aside for tables of categories (R22)

    numbers = False  # whether the target is numbers (R26), not classes
    columns: type[_core._Forest]  # a forest over the columns of a matrix
    depth: type[_core._Forest]  # a forest over depth images

    @abstractmethod
    def settings(self) -> Any:
        """Return the parameters of the rule, as the core takes them."""

    @abstractmethod
    def candidates(self, n_dims: int) -> _core.HowMany:
        """Return how many candidate dimensions a leaf draws."""

    def budget(self) -> int | None:
        """Return the bytes that a tree may hold, or None without a bound."""
        return None

    def kept(self, points: int) -> int:
        """Return how many points the forest keeps when it has received `points` (R19)."""
        return 0

    def grows_ahead(self, points: int) -> bool:
        """Return whether trees that have received `points` may be rebuilt by the next ones (R21)."""
        return False

    @abstractmethod
    def check_budget(self, needed: int, what: str) -> None:
        """Raise an error if a tree that needs this many bytes before the first point cannot grow."""

    def tell_budget(self, core: Any) -> None:
        """Give the core its budget again after it has changed."""
        budget = self.budget()
        if budget is not None:
            core.set_budget(budget)

    @abstractmethod
    def tell_schedules(self, core: Any, depths: int) -> None:
        """Give the core α and β for this many depths, if the rule has them."""


class TwoStreams(Rule):
    """The paper's rule."""

    columns, depth = _core.ColumnForest, _core.DepthForest

    def __init__(self, parameters: StreamParameters) -> None:
        self.parameters = parameters

    def settings(self) -> _core.TwoStreamsSettings:
        p = self.parameters
        return _core.two_streams(
            seed=p.seed,
            split_points=p.split_points,
            min_gain=p.min_gain,
            structure_cut=cut(p.structure_fraction),
            ignore_cut=cut(p.structure_fraction + p.ignore_fraction),
            fringe_size=p.fringe_size,
            budget=self.budget(),
        )

    def candidates(self, n_dims: int) -> _core.HowMany:
        """R2: 1 + Poisson(λ)."""
        return _core.one_and_poisson(core_rate(self.parameters.rate(n_dims)))

    def budget(self) -> int | None:
        """Return the equal part of each tree, minus the size of an empty tree."""
        p = self.parameters
        if p.max_memory is None:
            return None
        return max(0, (p.max_memory - self.reserved) // p.n_trees - TREE_BYTES)

    def check_budget(self, needed: int, what: str) -> None:
        p, budget = self.parameters, self.budget()
        if budget is None or needed <= budget:
            return
        least = self._with_reserve(self._least(needed))
        raise ValueError(
            f"max_memory must be at least {least} bytes for {p.n_trees} trees "
            f"of {what}, got {p.max_memory}"
        )

    def _least(self, needed: int) -> int:
        """Return twice the bytes that the trees need, since the roots must keep something, too."""
        return self.parameters.n_trees * (2 * needed + TREE_BYTES)

    def _with_reserve(self, size: int) -> int:
        """Return the total that leaves `size` bytes after the reserve of an eighth, if there is one."""
        return -(-size * 8 // 7) if self.reserved else size

    def tell_schedules(self, core: Any, depths: int) -> None:
        p = self.parameters
        alpha, beta = (schedule.integers(depths) for schedule in (p.alpha, p.beta))
        core.set_schedules(alpha, beta)


class Keeping(TwoStreams):
    """The paper's rule with kept points (R19 to R21)."""

    columns, depth = _core.ColumnKeeping, _core.DepthKeeping  # type: ignore[assignment]

    def __init__(self, parameters: StreamParameters, point_bytes: int, sparse: bool) -> None:
        super().__init__(parameters)
        assert parameters.kept_points != "auto"
        self.kept_points: int = parameters.kept_points
        self.lag = parameters.lag  # of answers that follow the last targets (R29)
        self.point_bytes = point_bytes  # of a kept point, once for all trees
        self.sparse = sparse

    def settings(self) -> _core.KeepingSettings:  # type: ignore[override]
        return _core.keeping(
            two_streams=super().settings(),
            kept_points=self.kept_points,
            sparse=self.sparse,
            regrows=self.regrows(),
        )

    def regrows(self) -> bool:
        """Return whether trees are rebuilt. Trees that split by gain alone would shrink (R21)."""
        p = self.parameters
        return p.beta.at(0) <= 100 * p.alpha.at(0)

    def budget(self) -> int | None:
        """Return the equal part of each tree of what the kept points leave, minus its lists."""
        p, kept = self.parameters, self.kept_points
        if p.max_memory is None:
            return None
        shared = self.reserved + self.following_bytes() + kept * self.point_bytes
        left = max(0, p.max_memory - shared) // p.n_trees
        return max(0, left - kept * LINK_BYTES - TREE_BYTES)

    def following_bytes(self) -> int:
        """Return the size of the last targets and their answers (R29)."""
        return PAIR_BYTES * self.lag

    def kept(self, points: int) -> int:
        return min(points, self.kept_points)

    def grows_ahead(self, points: int) -> bool:
        return points < self.kept_points and self.regrows()

    def check_budget(self, needed: int, what: str) -> None:
        p, budget = self.parameters, self.budget()
        if budget is None or needed <= budget:
            return
        assert p.max_memory is not None
        each = self.point_bytes + LINK_BYTES * p.n_trees
        shared = self.reserved + self.following_bytes()
        fits = (p.max_memory - shared - super()._least(needed)) // each
        no_more_than_auto = self.kept_points * each <= p.max_memory // 8
        if fits <= 0 or no_more_than_auto:
            return super().check_budget(needed, what)
        raise ValueError(
            f"kept_points must be at most {fits} for {p.n_trees} trees of {what} "
            f"in max_memory={p.max_memory}, got {self.kept_points}"
        )

    def _least(self, needed: int) -> int:
        each = self.point_bytes + LINK_BYTES * self.parameters.n_trees
        return super()._least(needed) + self.following_bytes() + self.kept_points * each


class Eager(Keeping):
    """Eager while every point is kept, then honest (R24), with heads that the forest trusts (R25)."""

    columns, depth = _core.ColumnEager, _core.DepthEager  # type: ignore[assignment]

    def settings(self) -> _core.EagerSettings:  # type: ignore[override]
        return _core.eager(
            two_streams=TwoStreams.settings(self),
            kept_points=self.kept_points,
            sparse=self.sparse,
            coverages=self.coverages(),
            lag=self.lag,
        )

    def coverages(self) -> list[float]:
        """Return the coverages of the intervals that the forest learns (R28)."""
        p = self.parameters
        return [*p.intervals] if isinstance(p, NumberParameters) else []

    def grows_ahead(self, points: int) -> bool:
        """No point is passed over: each judges the tree as it is when the point arrives."""
        return False


class Adaptive(Eager):
    """The rule for streams that change (R27): eager trees that are replaced."""

    columns = _core.ColumnAdaptive  # type: ignore[assignment]
    parameters: ChangeParameters

    def settings(self) -> _core.AdaptiveSettings:  # type: ignore[override]
        p = self.parameters
        return _core.adaptive(
            two_streams=TwoStreams.settings(self),
            kept_points=self.kept_points,
            sparse=self.sparse,
            coverages=self.coverages(),
            lag=self.lag,
            n_trees=p.n_trees,
            drift_confidence=p.drift_confidence,
        )


class OneStream(Rule):
    """Saffari's rule (R18)."""

    columns, depth = _core.ColumnSaffari, _core.DepthSaffari

    def __init__(self, parameters: SaffariParameters) -> None:
        self.parameters = parameters

    def settings(self) -> _core.OneStreamSettings:
        p = self.parameters
        rate = p.replacement_rate
        return _core.one_stream(
            seed=p.seed,
            split_points=p.split_points,
            min_gain=p.min_gain,
            min_samples=p.min_samples,
            max_depth=p.max_depth,
            range_thresholds=p.thresholds == "range",
            replace_after=None if rate is None else math.floor(1 / rate),
            bagging=core_rate(1.0),
        )

    def candidates(self, n_dims: int) -> _core.HowMany:
        return _core.exactly(self.parameters.candidate_dims)

    def check_budget(self, needed: int, what: str) -> None:
        """Do nothing: this rule has no budget."""

    def tell_schedules(self, core: Any, depths: int) -> None:
        """Do nothing: this rule has no schedules."""


class TwoStreamsOfNumbers(TwoStreams):
    """The paper's rule for numbers."""

    numbers, columns = True, _core.ColumnNumbers  # type: ignore[assignment]


class KeepingOfNumbers(Keeping):
    """The rule with kept points for numbers."""

    numbers, columns = True, _core.ColumnKeepingNumbers  # type: ignore[assignment]


class EagerOfNumbers(Eager):
    """The rule that is eager, then honest, for numbers."""

    numbers, columns = True, _core.ColumnEagerNumbers  # type: ignore[assignment]


class AdaptiveOfNumbers(Adaptive):
    """The rule for streams that change, for numbers."""

    numbers, columns = True, _core.ColumnAdaptiveNumbers  # type: ignore[assignment]


def rule_of(
    parameters: StreamParameters | SaffariParameters, point_bytes: int, sparse: bool = False
) -> Rule:
    """Return the rule for these parameters.

    `point_bytes` is the size of a kept point; `sparse` says whether only its nonzero values are stored.
    """
    if isinstance(parameters, SaffariParameters):
        return OneStream(parameters)
    numbers = isinstance(parameters, NumberParameters)
    if isinstance(parameters, ChangeParameters):
        return (AdaptiveOfNumbers if numbers else Adaptive)(parameters, point_bytes, sparse)
    if parameters.kept_points == 0:
        return (TwoStreamsOfNumbers if numbers else TwoStreams)(parameters)
    if parameters.eager:
        return (EagerOfNumbers if numbers else Eager)(parameters, point_bytes, sparse)
    return (KeepingOfNumbers if numbers else Keeping)(parameters, point_bytes, sparse)
