"""The native engine: the core, driven from Python. It equals `riparian.reference` and is fast.

The model has checked all input. This module passes points to the core in blocks, and gives it the
classes, the schedules and λ.
"""

from __future__ import annotations

import copy
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian import _core
from riparian.engine.categories import CategoryTables
from riparian.engine.engine import Correction, State
from riparian.engine.forks import survive_forks
from riparian.engine.rules import Eager, Rule, rule_of
from riparian.engine.trees import Arrays, Tree
from riparian.parameters.forests import (
    LINK_BYTES,
    ChangeParameters,
    ForestParameters,
    SaffariParameters,
    StreamParameters,
)

LOG = logging.getLogger("riparian")


AnyParameters = StreamParameters | SaffariParameters

CACHE_BYTES = 2**18  # rows of a block, read once for every tree, should stay in the second cache

# When a tree is rebuilt, earlier points of the same block are skipped, so long blocks save work.
GROWING_BYTES = 2**22

DEPTH_DIMS = 2**31  # the dimensions of depth images, which are infinitely many

SPARSE_COLUMNS = 256  # the budget counts at most this many columns of a sparse row

PIXEL_BYTES = 64  # of a kept pixel, without its image

# A branch gains a level by at least a structure point (a candidate), an estimation point for either
# child, and another structure point.
POINTS_PER_LEVEL = 4

WEIGHT = 2**12  # the units of a head's weight (R25)


def trust_of(parameters: ForestParameters, weights: Sequence[int]) -> dict[float, float]:
    """Return the weight of each head: a size of cell (R25), or the factor of a memory (R27)."""
    return {head: w / WEIGHT for head, w in zip(parameters.heads, weights, strict=True)}


class NativeEngine(ABC):
    """A forest in the core: the `Engine` of a single process.

    It starts empty, or from the saved state of another engine. Subclasses define what a point is, and
    so which forest of the core they use.
    """

    def __init__(self, parameters: AnyParameters, state: State | None, trees: range | None) -> None:
        """Start an engine with some trees of a larger forest, by number; None: with all trees."""
        if isinstance(parameters, StreamParameters):
            parameters = parameters.keeping(self.point_bytes())
        self.parameters = parameters
        self.majority = parameters.majority
        self.rule = self._rule()
        self.trees = range(parameters.n_trees) if trees is None else trees
        first, settings, space = self.trees.start, self.rule.settings(), self._space()
        if state is None:
            self.core = self._core_class()(len(self.trees), first, settings, space)
        else:
            self.core = self._core_class().from_state(first, settings, space, *state)
        self.depths = 0  # the core has schedules for this many
        self.room = 0  # this many further points cannot outgrow them
        self.learning = threading.Lock()  # held by the caller that learns: batches are whole
        survive_forks(self)
        self.classes: tuple[list[int], int] = ([], 0)  # the arguments of the last `set_classes`

    n_dims: int  # the number of dimensions from which a leaf draws its candidates
    sparse: bool = False  # whether only the nonzero values of a kept point are stored
    categories: CategoryTables | None = None  # of the categorical columns (R22)

    def _rule(self) -> Rule:
        rule = rule_of(self.parameters, self.point_bytes(), self.sparse)
        rule.reserved = (self.categories and self.categories.max_bytes) or 0
        return rule

    @abstractmethod
    def point_bytes(self) -> int:
        """Return the size of a kept point, as the budget counts it."""

    @abstractmethod
    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the constructor, without the state."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Make a copy from the arrays of the trees; the core derives the rest again."""
        return _restored, (type(self), self.arguments(), self.save(), self.classes)

    @abstractmethod
    def _core_class(self) -> type[_core._Forest]:
        """Return the class of the core for such points and parameters."""

    @abstractmethod
    def _space(self) -> Any:
        """Return the feature space of the core."""

    @abstractmethod
    def _core_points(self, points: Any) -> Any:
        """Return the points in the form that the core takes."""

    @abstractmethod
    def _block_points(self) -> int:
        """Return how many points are learned at a time."""

    def set_classes(self, rank: NDArray[np.intp], n_classes: int) -> None:
        """Set the place of each class that has arrived (`rank`) among the `n_classes` public ones."""
        self.classes = (rank.tolist(), n_classes)
        self._tell_classes()

    def _tell_classes(self) -> None:
        core: Any = self.core
        if not self.rule.numbers:
            core.set_classes(*self.classes)

    def learn(
        self,
        points: Any,
        y: NDArray[Any],
        weights: NDArray[np.float64] | None,
        workers: int,
    ) -> None:
        """Learn a batch. If that fails with a part of it learned, the engine cannot be used any more."""
        with self._all_or_unusable():
            for some in self._blocks(points, y, weights):
                self._learn_some(*some, workers)

    def predict_then_learn(
        self,
        points: Any,
        y: NDArray[Any],
        weights: NDArray[np.float64] | None,
        workers: int,
    ) -> NDArray[np.float64]:
        """Learn a batch, and return the answer to each point just before it was learned.

        The bits are those of `predict_proba` and `learn` for one point after the other, except that a
        row is zero if all trees abstain: the caller knows how many classes were known then.
        """
        answers = [np.empty((0, 1 if self.rule.numbers else self.classes[1]))]
        with self._all_or_unusable():
            for some in self._blocks(points, y, weights):
                answers.append(self._answer_some(*some, workers))
        return np.concatenate(answers)

    def give_intervals_then_learn(
        self,
        points: Any,
        y: NDArray[Any],
        weights: NDArray[np.float64] | None,
        workers: int,
    ) -> NDArray[np.float64]:
        """The same, with both ends of the interval of each coverage after the answer, in columns (R28).

        They are those by which the point was judged.
        """
        core: Any = self.core
        core.give_intervals()
        try:
            answers = self.predict_then_learn(points, y, weights, workers)
        finally:
            given = core.take_given()
        return np.hstack([answers, given])

    @contextmanager
    def _all_or_unusable(self) -> Iterator[None]:
        before = self.core.points
        try:
            yield
        except BaseException:
            if self.whole and self.core.points != before:
                self.give_up()
            raise

    @property
    def whole(self) -> bool:
        """Return whether the engine holds whole batches; if not, every call raises an error."""
        return self.core.whole

    def give_up(self) -> None:
        """Let every later call raise an error, since the engine holds part of a batch."""
        self.core.give_up()

    def _blocks(
        self, points: Any, y: NDArray[Any], weights: NDArray[np.float64] | None
    ) -> Iterator[tuple[Any, NDArray[Any], NDArray[np.float64] | None]]:
        if 0 < len(points) <= _core.block:  # a cut would copy pixels
            yield points, y, weights
            return
        for first in range(0, len(points), _core.block):
            some = slice(first, first + _core.block)
            yield points[some], y[some], None if weights is None else weights[some]

    def _learn_some(
        self,
        points: Any,
        y: NDArray[Any],
        weights: NDArray[np.float64] | None,
        workers: int,
    ) -> None:
        """Learn a block. It is small, so the schedules for all depths that it can reach are short."""
        self._reach(len(points))
        self.core.learn(self._core_points(points), y, weights, workers, self._block_points())
        self._tell(len(points))

    def _answer_some(
        self,
        points: Any,
        y: NDArray[Any],
        weights: NDArray[np.float64] | None,
        workers: int,
    ) -> NDArray[np.float64]:
        """Learn a block, and return the answers."""
        self._reach(len(points))
        core: Any = self.core
        answers: NDArray[np.float64] = core.predict_then_learn(
            self._core_points(points), y, weights, *self._voting(), workers, self._block_points()
        )
        self._tell(len(points))
        return answers

    def _voting(self) -> tuple[bool, ...]:
        """Return how trees vote, as the core takes it: trees of numbers do not (R26)."""
        return () if self.rule.numbers else (self.majority,)

    def predict_proba(self, points: Any, workers: int) -> NDArray[np.float64]:
        core: Any = self.core
        proba: NDArray[np.float64] = core.predict_proba(
            self._core_points(points), self.majority, workers
        )
        return proba

    def predict_means(self, points: Any, workers: int) -> NDArray[np.float64]:
        """Return a column of means, each minus the first target of the stream (R26)."""
        core: Any = self.core
        means: NDArray[np.float64] = core.predict(self._core_points(points), workers)
        return means

    def predict_quantiles(
        self, points: Any, quantiles: NDArray[np.float64], workers: int
    ) -> NDArray[np.float64]:
        """R28: a row of quantiles, which ascend, per point, each less the first target of the stream."""
        core: Any = self.core
        rows: NDArray[np.float64] = core.predict_quantiles(
            self._core_points(points), quantiles, workers
        )
        return rows

    def predict_interval(self, points: Any, level: int, workers: int) -> NDArray[np.float64]:
        """R28: both ends of the interval of a coverage, which is given by its place."""
        core: Any = self.core
        ends: NDArray[np.float64] = core.predict_interval(self._core_points(points), level, workers)
        return ends

    def predict_sums(
        self, points: Any, workers: int
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """Return sums of shares in units of 2^-40, and the number of voters: R11 before the division.

        The sums of the parts of a forest add up to those of the whole.
        """
        core: Any = self.core
        sums: tuple[NDArray[np.int64], NDArray[np.uint32]] = core.predict_sums(
            self._core_points(points), *self._voting(), workers
        )
        return sums

    def predict_trees(self, points: Any) -> NDArray[Any]:
        return self.core.predict_trees(self._core_points(points))

    def apply(self, points: Any) -> NDArray[np.int64]:
        return self.core.apply(self._core_points(points))

    def replacements(self) -> list[tuple[int, int]]:
        """Return the points at which a tree was replaced, each with the place of the tree (R27)."""
        if not isinstance(self.parameters, ChangeParameters):
            return []
        core: Any = self.core
        of_trees = zip(self.trees, core.replacements(), strict=True)
        return sorted((point, tree) for tree, points in of_trees for point in points)

    def _tell(self, points: int) -> None:
        """Log the trees that were replaced at the last `points` points."""
        if not isinstance(self.parameters, ChangeParameters) or not LOG.isEnabledFor(logging.INFO):
            return
        first = self.core.points - points
        for point, tree in self.replacements():
            if point >= first:
                LOG.info("point %d: tree %d is replaced, since its error has risen", point, tree)

    def trust(self) -> dict[float, float] | None:
        """R25: the weight of each head in an answer; None if trees have no heads."""
        if not self.parameters.heads:
            return None
        core: Any = self.core
        return trust_of(self.parameters, core.trust())

    def correction(self) -> Correction | None:
        """R29: how answers follow the last learned point; None if they do not."""
        core: Any = self.core
        parts = core.correction() if self.parameters.lag > 0 else None
        return None if parts is None else Correction(*parts)

    def set_judging(self, judging: bool) -> None:
        """R25: points that were learned before must not judge the heads."""
        if isinstance(self.rule, Eager):
            core: Any = self.core
            core.set_judging(judging)

    # R25, if the trees are a part of a forest: T is that of the forest, and is set by the caller.

    def report(self) -> None:
        """Record from now on the answers of the trees to each point before they learn it."""
        if isinstance(self.rule, Eager):
            core: Any = self.core
            core.report()

    def take_reported(self) -> NDArray[np.int64] | None:
        """Return these answers, per point, since the last call; None if trees have no heads."""
        if not isinstance(self.rule, Eager):
            return None
        core: Any = self.core
        reported: NDArray[np.int64] = core.take_reported()
        return reported

    def set_evidence(self, evidence: Sequence[float]) -> None:
        """Use these T for answers."""
        core: Any = self.core
        core.set_evidence([*evidence])

    def kept_bytes(self) -> int:
        """Return the size of the kept points, as the budget counts them (R19)."""
        return self.rule.kept(self.core.points) * self.point_bytes()

    def list_bytes(self) -> int:
        """Return the size of the lists that the trees have of them."""
        return self.rule.kept(self.core.points) * LINK_BYTES * len(self.trees)

    @property
    def points(self) -> int:
        return self.core.points

    def stats(self) -> list[dict[str, int]]:
        return self.core.stats()

    def sizes(self) -> dict[str, int]:
        return self.core.sizes()

    def importance(self) -> NDArray[np.int64]:
        return self.core.importance()

    def tree(self, i: int) -> Tree:
        return Tree.of(self.core.tree(i))

    def leaf_answers(self, i: int, nodes: NDArray[Any], n_classes: int) -> Any:
        core: Any = self.core
        return core.leaf_answers(i, nodes, n_classes)

    def kept(self) -> Arrays | None:
        return self.core.shared()

    def kept_values(self, feature: int, draws: NDArray[np.uint64]) -> NDArray[np.float32]:
        core: Any = self.core
        values: NDArray[np.float32] = core.kept_values(feature, draws)
        return values

    def save(self) -> State:
        return State(*self.core.save())

    def _check_budget(self, what: str) -> None:
        self.rule.check_budget(self.core.largest_tree(), what)

    def _reach(self, points: int) -> None:
        """Make the schedules long enough for trees that are about to learn this many points."""
        if points <= self.room:  # saves a call to the trees for each single point
            self.room -= points
            return
        # A leaf may split as often as it lists estimation points before another point arrives.
        looking = self.rule.kept(self.core.points + points)
        depths = self.core.depth + points // POINTS_PER_LEVEL + 2 + looking
        if depths > self.depths:
            more = depths + depths // 2
            self.rule.tell_schedules(self.core, more)
            self.depths = more  # once the core has them
        if not looking:  # in the last block a branch may have gained one level more than its points
            self.room = POINTS_PER_LEVEL * max(0, self.depths - depths - 1)


class ColumnEngine(NativeEngine):
    """A forest over the columns of a matrix."""

    def __init__(
        self,
        parameters: AnyParameters,
        n_dims: int,
        state: State | None = None,
        trees: range | None = None,
        sparse: bool = False,
        categories: CategoryTables | None = None,
    ) -> None:
        self.n_dims, self.sparse, self.categories = n_dims, sparse, categories
        super().__init__(parameters, state, trees)
        if state is None:
            self._check_budget(f"{n_dims} dimensions")

    def arguments(self) -> dict[str, Any]:
        return {
            "parameters": self.parameters,
            "n_dims": self.n_dims,
            "trees": self.trees,
            "sparse": self.sparse,
            "categories": copy.copy(self.categories),
        }

    def point_bytes(self, n_dims: int | None = None) -> int:
        columns = self.n_dims if n_dims is None else n_dims
        return 4 * (min(columns, SPARSE_COLUMNS) if self.sparse else columns) + 16

    def set_dims(self, n_dims: int) -> None:
        """Add columns: leaves that enter the fringe from now on may draw them (R2).

        The caller has added those that are categorical to `categories` (R22).
        """
        if isinstance(self.parameters, StreamParameters):
            self.keep_last(self.parameters.still_kept(self.point_bytes(n_dims)))
        self.n_dims = n_dims
        self.core.set_space(self._space())
        self.rule = self._rule()
        self.rule.tell_budget(self.core)

    def keep_last(self, kept_points: int) -> None:
        """Keep fewer points from now on, at least 1: W falls, and the oldest are lost (R19)."""
        assert isinstance(self.parameters, StreamParameters)
        if kept_points == self.parameters.kept_points:
            return
        self.parameters = replace(self.parameters, **{"kept_points": kept_points})
        self._make_again()

    def become_categorical(self, columns: Iterable[int]) -> None:
        """Make columns categorical that have had no value yet (R22).

        The core must read its candidates in another way, so it is made again from its arrays.
        """
        assert self.categories is not None
        self.categories.add(columns)
        self._make_again()

    def _make_again(self) -> None:
        """Make the core from its own arrays, with other settings."""
        self.rule = self._rule()
        settings, space = self.rule.settings(), self._space()
        self.core = self._core_class().from_state(self.trees.start, settings, space, *self.save())
        self._tell_classes()
        self.depths = self.room = 0

    def learn_one(self, row: NDArray[np.float32], y: float, weight: float = 1.0) -> None:
        """Learn a single row, with less overhead than `learn` and the same result to the last bit.

        Only one thread may call it at a time.
        """
        self._reach(1)
        self.core.learn_one(row, y, weight)
        self._tell(1)

    def mean_of_one(self, row: NDArray[np.float32]) -> float:
        """Return `predict_means` for a single row."""
        core: Any = self.core
        return float(core.predict_one(row))

    def predict_one(self, row: NDArray[np.float32]) -> list[float]:
        """Return `predict_proba` for a single row."""
        core: Any = self.core
        proba: list[float] = core.predict_one(row, self.majority)
        return proba

    def most_probable(self, row: NDArray[np.float32]) -> int:
        """Return the public index of the most probable class, the first among equals."""
        core: Any = self.core
        return int(core.most_probable(row, self.majority))

    def _core_class(self) -> type[_core._Forest]:
        return self.rule.columns

    def _space(self) -> _core.Columns:
        categorical = [] if self.categories is None else sorted(self.categories.tables)
        return _core.Columns(self.n_dims, self.rule.candidates(self.n_dims), categorical)

    def _core_points(self, points: NDArray[np.float32]) -> NDArray[np.float32]:
        return points

    def _block_points(self) -> int:
        size = GROWING_BYTES if self.rule.grows_ahead(self.core.points) else CACHE_BYTES
        return max(64, min(_core.block, size // (4 * max(1, self.n_dims))))


@dataclass(frozen=True)
class Pixels:
    """Pixels of images of one size: rows of image, row and column."""

    images: NDArray[np.float32]  # every depth positive and finite
    pixels: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, rows: Any) -> Pixels:
        return Pixels(self.images, np.ascontiguousarray(self.pixels[rows]))


DENSE_BYTES = 2**24  # at most this much of a sparse matrix is made dense at a time


def blocks(points: Any) -> Iterator[tuple[slice, Any]]:
    """Yield points as an engine takes them: all at once, or some rows of a sparse matrix at a time."""
    if isinstance(points, np.ndarray):
        yield slice(0, len(points)), np.ascontiguousarray(points)
    elif isinstance(points, Pixels):
        yield slice(0, len(points)), points
    else:
        rows = max(1, DENSE_BYTES // (4 * points.shape[1]))
        for first in range(0, max(1, points.shape[0]), rows):
            block = slice(first, first + rows)
            yield block, points[block].toarray()


class DepthEngine(NativeEngine):
    """A forest over the differences of depths (R16)."""

    n_dims = DEPTH_DIMS

    def __init__(
        self,
        parameters: AnyParameters,
        offset_std: float,
        far: float,
        state: State | None = None,
        trees: range | None = None,
    ) -> None:
        self.offset_std, self.far = offset_std, far
        super().__init__(parameters, state, trees)
        if state is None:
            self._check_budget("depth differences")

    def arguments(self) -> dict[str, Any]:
        return {
            "parameters": self.parameters,
            "offset_std": self.offset_std,
            "far": self.far,
            "trees": self.trees,
        }

    def point_bytes(self) -> int:
        return PIXEL_BYTES

    def kept_bytes(self) -> int:
        """Return the size with the images, which are most of it and do not count in the budget."""
        return self.core.shared_bytes()

    def _core_class(self) -> type[_core._Forest]:
        return self.rule.depth

    def _space(self) -> _core.DepthDifferences:
        return _core.DepthDifferences(self.offset_std, self.rule.candidates(DEPTH_DIMS))

    def _core_points(self, points: Pixels) -> _core.Pixels:
        return _core.Pixels(points.images, points.pixels, self.far)

    def _block_points(self) -> int:
        return _core.block


def _restored(
    cls: type[NativeEngine],
    made_of: dict[str, Any],
    state: State,
    classes: tuple[list[int], int],
) -> NativeEngine:
    engine = cls(**made_of, state=state)
    engine.set_classes(np.array(classes[0], dtype=np.intp), classes[1])
    return engine
