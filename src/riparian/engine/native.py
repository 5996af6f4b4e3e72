"""The native engine, driven from Python: the fast twin of `riparian.reference`.

Everything here is checked already (see `riparian.forest`): this module feeds the core in blocks, and
tells it what it cannot know by itself: the classes, the schedules, λ.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riparian import _core
from riparian.engine.forks import survive_forks
from riparian.estimator.parameters import Parameters, SaffariParameters

Arrays = dict[str, NDArray[Any]]


class State(NamedTuple):
    """What an engine has learned: with its parameters and classes, all that it is."""

    points: int  # received
    trees: list[Arrays]  # named in core/state.hpp


CACHE_BYTES = 2**18  # rows of a block, read once for every tree, should stay in the second cache

DEPTH_DIMS = 2**31  # of depth images: as good as infinitely many

TREE_BYTES = 512  # of a tree: what the system adds to its few blocks

# For each level that a branch gains there must come a structure point (a candidate), an estimation
# point for either child, and another structure point.
POINTS_PER_LEVEL = 4


def cut(fraction: float) -> int:
    """The first of the 2^53 uniforms that is not below a fraction: u < fraction, in integers."""
    return math.ceil(fraction * 2**53)


def core_rate(rate: float) -> _core.Rate:
    whole = math.floor(rate)
    return _core.Rate(whole, math.exp(-1.0), math.exp(-(rate - whole)))


def core_settings(p: Parameters | SaffariParameters, budget: int | None) -> _core.Settings:
    shared: dict[str, Any] = {
        "seed": p.seed,
        "split_points": p.split_points,
        "min_gain": p.min_gain,
    }
    if isinstance(p, SaffariParameters):
        return _core.one_stream(
            **shared,
            min_samples=p.min_samples,
            max_depth=p.max_depth,
            range_thresholds=p.thresholds == "range",
            replace_after=None
            if p.replacement_rate is None
            else math.floor(1 / p.replacement_rate),
            bagging=core_rate(1.0),
        )
    return _core.two_streams(
        **shared,
        structure_cut=cut(p.structure_fraction),
        ignore_cut=cut(p.structure_fraction + p.ignore_fraction),
        fringe_size=p.fringe_size,
        budget=budget,
    )


def core_candidates(p: Parameters | SaffariParameters, n_dims: int) -> _core.HowMany:
    """How many candidate dimensions a leaf draws: 1 + Poisson(λ), or in Saffari's forest a number."""
    if isinstance(p, SaffariParameters):
        return _core.exactly(p.candidate_dims)
    return _core.one_and_poisson(core_rate(p.rate(n_dims)))


class Engine(ABC):
    """A forest in the core, labels being numbered in the order of their arrival.

    It starts empty, or where another has saved its state. What a point is, and so which forest of
    the core it is, its children say.
    """

    def __init__(self, parameters: Parameters | SaffariParameters, state: State | None) -> None:
        self.parameters = parameters
        settings = core_settings(parameters, self.budget())
        if state is None:
            self.core = self._core_class()(parameters.n_trees, settings, self._space())
        else:
            self.core = self._core_class().from_state(settings, self._space(), *state)
        self.depths = 0  # that the core has schedules for
        self.learning = threading.Lock()  # for who feeds it: one batch after the other
        survive_forks(self)
        self.classes: tuple[list[int], int] = ([], 0)  # what the core was told of them

    @abstractmethod
    def _core_class(self) -> type[_core._Forest]:
        """The forest of the core for such points and parameters."""

    @abstractmethod
    def _space(self) -> Any:
        """What can be measured on a point, as the core knows it."""

    @abstractmethod
    def _core_points(self, points: Any) -> Any:
        """Points as the core takes them."""

    @abstractmethod
    def _block_points(self) -> int:
        """How many of them are learned at a time."""

    def set_classes(self, rank: NDArray[np.intp], n_classes: int) -> None:
        """`rank`: the place of each class that has arrived among the `n_classes` public ones."""
        self.classes = (rank.tolist(), n_classes)
        self.core.set_classes(*self.classes)

    def learn(
        self,
        points: Any,
        y: NDArray[np.uint32],
        weights: NDArray[np.float64] | None,
        workers: int,
    ) -> None:
        size = self._block_points()
        for first in range(0, len(points), size):
            block = slice(first, first + size)
            most = min(size, len(points) - first)
            self._reach(self.core.depth + most // POINTS_PER_LEVEL + 2)
            self.core.learn(
                self._core_points(points[block]),
                y[block],
                None if weights is None else weights[block],
                workers,
            )

    def predict_proba(self, points: Any, workers: int) -> NDArray[np.float64]:
        majority = self.parameters.voting == "majority"
        return self.core.predict_proba(self._core_points(points), majority, workers)

    def predict_trees(self, points: Any) -> NDArray[np.int64]:
        return self.core.predict_trees(self._core_points(points))

    def apply(self, points: Any) -> NDArray[np.int64]:
        return self.core.apply(self._core_points(points))

    def tree(self, i: int) -> Arrays:
        """One tree as flat arrays (named in core/state.hpp)."""
        return self.core.tree(i)

    def save(self) -> State:
        return State(*self.core.save())

    def budget(self) -> int | None:
        """The equal part of each tree, less what the tree is before it holds anything."""
        p = self.parameters
        if isinstance(p, SaffariParameters) or p.max_memory is None:
            return None
        return max(0, p.max_memory // p.n_trees - _core.tree_bytes - TREE_BYTES)

    def _check_budget(self, what: str) -> None:
        budget = self.budget()
        if budget is None:
            return
        p = self.parameters
        assert isinstance(p, Parameters)
        kinds = ("node_bytes", "leaf_bytes", "fringe_bytes")
        needed = max(sum(tree[kind] for kind in kinds) for tree in self.core.stats())
        if needed > budget:
            # Twice what the root needs: it has to keep something, too.
            least = p.n_trees * (2 * needed + _core.tree_bytes + TREE_BYTES)
            raise ValueError(
                f"max_memory must be at least {least} bytes for {p.n_trees} trees "
                f"of {what}, got {p.max_memory}"
            )

    def _reach(self, depths: int) -> None:
        """Keep the schedules ahead of the trees."""
        p = self.parameters
        if isinstance(p, SaffariParameters) or depths <= self.depths:
            return
        self.depths = depths + depths // 2
        alpha, beta = (schedule.integers(self.depths) for schedule in (p.alpha, p.beta))
        self.core.set_schedules(alpha.tolist(), beta.tolist())


class Forest(Engine):
    """A forest over the columns of a matrix."""

    def __init__(
        self,
        parameters: Parameters | SaffariParameters,
        n_dims: int,
        state: State | None = None,
    ) -> None:
        self.n_dims = n_dims
        super().__init__(parameters, state)
        if state is None:
            self._check_budget(f"{n_dims} dimensions")
        self._label = np.zeros(1, dtype=np.uint32)  # of the one point of `learn_one`

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is made from the arrays of the trees; what the core derives, it derives again."""
        return _restored, (Forest, (self.parameters, self.n_dims, self.save()), self.classes)

    def set_dims(self, n_dims: int) -> None:
        """Columns have joined: leaves that enter the fringe from now on may look at them (R2)."""
        self.n_dims = n_dims
        self.core.set_space(self._space())

    def learn_one(self, row: NDArray[np.float32], y: int, weight: float = 1.0) -> None:
        """`learn` for a single row, without what only a block needs; the same to the last bit.

        One thread at a time.
        """
        self._reach(self.core.depth + 2)
        self._label[0] = y
        weights = None if weight == 1.0 else np.array([weight])
        self.core.learn(row, self._label, weights, 1)

    def _core_class(self) -> type[_core._Forest]:
        saffari = isinstance(self.parameters, SaffariParameters)
        return _core.ColumnSaffari if saffari else _core.ColumnForest

    def _space(self) -> _core.Columns:
        return _core.Columns(self.n_dims, core_candidates(self.parameters, self.n_dims))

    def _core_points(self, points: NDArray[np.float32]) -> NDArray[np.float32]:
        return points

    def _block_points(self) -> int:
        return max(64, min(_core.block, CACHE_BYTES // (4 * max(1, self.n_dims))))


@dataclass(frozen=True)
class Pixels:
    """Pixels of images of one size: rows of image, row and column."""

    images: NDArray[np.float32]  # every depth positive and finite
    pixels: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, some: Any) -> Pixels:
        return Pixels(self.images, np.ascontiguousarray(self.pixels[some]))


class DepthForest(Engine):
    """A forest over the differences of depths (R16)."""

    def __init__(
        self,
        parameters: Parameters | SaffariParameters,
        offset_std: float,
        far: float,
        state: State | None = None,
    ) -> None:
        self.offset_std, self.far = offset_std, far
        super().__init__(parameters, state)
        if state is None:
            self._check_budget("depth differences")

    def __reduce__(self) -> tuple[Any, ...]:
        made_of = (self.parameters, self.offset_std, self.far, self.save())
        return _restored, (DepthForest, made_of, self.classes)

    def _core_class(self) -> type[_core._Forest]:
        saffari = isinstance(self.parameters, SaffariParameters)
        return _core.DepthSaffari if saffari else _core.DepthForest

    def _space(self) -> _core.DepthDifferences:
        return _core.DepthDifferences(self.offset_std, core_candidates(self.parameters, DEPTH_DIMS))

    def _core_points(self, points: Pixels) -> _core.Pixels:
        return _core.Pixels(points.images, points.pixels, self.far)

    def _block_points(self) -> int:
        return _core.block


def _restored(
    Kind: type[Engine], made_of: tuple[Any, ...], classes: tuple[list[int], int]
) -> Engine:
    engine = Kind(*made_of)
    engine.set_classes(np.array(classes[0], dtype=np.intp), classes[1])
    return engine
