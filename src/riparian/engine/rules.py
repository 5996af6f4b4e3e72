"""The rules of splitting as the core is told them.

The paper's two streams, without kept points, with them, and for streams that change; and Saffari's one
stream.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

from riparian import _core
from riparian.parameters.forests import (
    LINK_BYTES,
    AdaptiveParameters,
    PaperParameters,
    SaffariParameters,
)

# What a tree is before it holds anything: the object, and what the system adds to its few blocks. It
# is part of what a budget means, so it stays what it is though the object has become smaller.
TREE_BYTES = 1976


def cut(fraction: float) -> int:
    """The first of the 2^53 uniforms that is not below a fraction: u < fraction, in integers."""
    return math.ceil(fraction * 2**53)


def core_rate(rate: float) -> _core.Rate:
    whole = math.floor(rate)
    return _core.Rate(whole, math.exp(-1.0), math.exp(-(rate - whole)))


class Rule(ABC):
    """What the core must know of a forest's parameters, and which of its classes it is."""

    reserved = 0  # bytes of `max_memory` that are set aside for tables of categories (R22)

    columns: type[_core._Forest]  # a forest over the columns of a matrix,
    depth: type[_core._Forest]  # and one over depth images

    @abstractmethod
    def settings(self) -> Any:
        """The parameters of the rule, as the core takes them."""

    @abstractmethod
    def candidates(self, n_dims: int) -> _core.HowMany:
        """How many candidate dimensions a leaf draws."""

    def budget(self) -> int | None:
        """Bytes that a tree may hold."""
        return None

    def kept(self, points: int) -> int:
        """How many points the forest keeps when it has received so many (R19)."""
        return 0

    def grows_ahead(self, points: int) -> bool:
        """Whether trees that have received so many points may be grown anew by the next ones (R21)."""
        return False

    @abstractmethod
    def check_budget(self, needed: int, what: str) -> None:
        """An error if a tree that needs so many bytes before the first point has no room to grow."""

    def tell_budget(self, core: Any) -> None:
        """Give the core its budget again, which has changed."""
        budget = self.budget()
        if budget is not None:
            core.set_budget(budget)

    @abstractmethod
    def tell_schedules(self, core: Any, depths: int) -> None:
        """Give the core α and β of so many depths, where the rule has them."""


class TwoStreams(Rule):
    """The paper's."""

    columns, depth = _core.ColumnForest, _core.DepthForest

    def __init__(self, parameters: PaperParameters) -> None:
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
        """The equal part of each tree, less what the tree is before it holds anything."""
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
        """Bytes for trees that need so many; twice, since the root has to keep something, too."""
        return self.parameters.n_trees * (2 * needed + TREE_BYTES)

    def _with_reserve(self, size: int) -> int:
        """The bytes of which so many are left, where an eighth is set aside."""
        return -(-size * 8 // 7) if self.reserved else size

    def tell_schedules(self, core: Any, depths: int) -> None:
        p = self.parameters
        alpha, beta = (schedule.integers(depths) for schedule in (p.alpha, p.beta))
        core.set_schedules(alpha, beta)


class Keeping(TwoStreams):
    """The paper's, with kept points (R19 to R21)."""

    columns, depth = _core.ColumnKeeping, _core.DepthKeeping  # type: ignore[assignment]

    def __init__(self, parameters: PaperParameters, point_bytes: int, sparse: bool) -> None:
        super().__init__(parameters)
        assert parameters.kept_points != "auto"
        self.kept_points: int = parameters.kept_points
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
        """R21: otherwise trees split by gain alone, and would shrink as they are grown anew."""
        p = self.parameters
        return p.beta.at(0) <= 100 * p.alpha.at(0)

    def budget(self) -> int | None:
        """The equal part of each tree of what the kept points leave, less the list of them."""
        p, kept = self.parameters, self.kept_points
        if p.max_memory is None:
            return None
        left = max(0, p.max_memory - self.reserved - kept * self.point_bytes) // p.n_trees
        return max(0, left - kept * LINK_BYTES - TREE_BYTES)

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
        fits = (p.max_memory - self.reserved - super()._least(needed)) // each
        if fits <= 0 or self.kept_points * each <= p.max_memory // 8:  # "auto", or as modest
            return super().check_budget(needed, what)
        raise ValueError(
            f"kept_points must be at most {fits} for {p.n_trees} trees of {what} "
            f"in max_memory={p.max_memory}, got {self.kept_points}"
        )

    def _least(self, needed: int) -> int:
        each = self.point_bytes + LINK_BYTES * self.parameters.n_trees
        return super()._least(needed) + self.kept_points * each


class Eager(Keeping):
    """Eager while every point is kept, then honest (R24), with heads that the forest trusts (R25)."""

    columns, depth = _core.ColumnEager, _core.DepthEager  # type: ignore[assignment]

    def settings(self) -> _core.EagerSettings:  # type: ignore[override]
        return _core.eager(
            two_streams=TwoStreams.settings(self),
            kept_points=self.kept_points,
            sparse=self.sparse,
        )

    def grows_ahead(self, points: int) -> bool:
        """No point is passed over: each judges the tree as it is when the point arrives."""
        return False


class Adaptive(Keeping):
    """For streams that change (R23): with kept points, and it forgets."""

    columns = _core.ColumnAdaptive  # type: ignore[assignment]
    parameters: AdaptiveParameters

    def grows_ahead(self, points: int) -> bool:
        """They are, but every point is tested on the tree as it is when it comes."""
        return False

    def settings(self) -> _core.AdaptiveSettings:  # type: ignore[override]
        p = self.parameters
        return _core.adaptive(
            two_streams=TwoStreams.settings(self),
            kept_points=self.kept_points,
            sparse=self.sparse,
            regrows=self.regrows(),
            n_trees=p.n_trees,
            leaf_points=p.leaf_points,
            memories=list(p.memories),
            fading=p.fading,
            drift_confidence=p.drift_confidence,
        )


class OneStream(Rule):
    """Saffari's (R18)."""

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
        """It has none."""

    def tell_schedules(self, core: Any, depths: int) -> None:
        """It has none."""


def rule_of(
    parameters: PaperParameters | SaffariParameters, point_bytes: int, sparse: bool = False
) -> Rule:
    """`point_bytes`, `sparse`: how large a kept point is, and whether only its non-zeros are kept."""
    if isinstance(parameters, SaffariParameters):
        return OneStream(parameters)
    if isinstance(parameters, AdaptiveParameters):
        return Adaptive(parameters, point_bytes, sparse)
    if parameters.kept_points == 0:
        return TwoStreams(parameters)
    if parameters.eager:
        return Eager(parameters, point_bytes, sparse)
    return Keeping(parameters, point_bytes, sparse)
