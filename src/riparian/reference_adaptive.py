"""The forest for streams that change (R27), in plain Python.

Read `riparian.reference_eager` first: this module is made of its parts. Each tree has its own points,
from the one that it began with: it is eager while all of them are kept, and honest afterwards. Besides
the cells of several sizes, a leaf answers from memories: histograms of its votes that fade, each at its
own rate. If the error of a tree rises, by an ADWIN of its own, an empty tree replaces it. Trees do not
depend on each other. The native engine must equal this file to the last bit; only exp and ADWIN are
those of the engine.

>>> import numpy as np
>>> from riparian.parameters.schedules import Geometric
>>> from riparian.reference import Columns
>>> from riparian.parameters.forests import MEMORIES, AdaptiveParameters
>>> one_tree = AdaptiveParameters(
...     n_trees=1, seed=0, candidate_dims=1.0, split_points=10, min_gain=0.1,
...     alpha=Geometric(1, 1.1), beta=Geometric(20, 1.1), structure_fraction=0.5,
...     ignore_fraction=0.0, fringe_size=None, voting="average", kept_points=100,
...     drift_confidence=0.01)
>>> forest = AdaptiveForest(one_tree, Columns(n_dims=1, rate=1.0))
>>> x = [np.float32([v]) for v in (1, 2, 3, 4) * 64]
>>> forest.learn(x, list("aabb") * 64)
>>> forest.learn(x, list("bbaa") * 64)
>>> forest.replacements
[(288, 0)]
>>> forest.predict(np.float32([1]))
'b'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from riparian._core import Adwin
from riparian.parameters.forests import MEMORIES, AdaptiveParameters, ChangeParameters
from riparian.reference import FeatureSpace, Label, Leaf, Point, Split
from riparian.reference_eager import SHARE, SIZES, EagerForest, EagerTarget, EagerTree, Head, Trust
from riparian.reference_kept import Arrival, KeptPoints

HEADS = (*SIZES, *MEMORIES)  # their names
FADING = 0.995  # γ
NOTHING = np.float32(2.0**-60)  # smaller values become 0: the smallest numbers would never fade


# ---------------------------------------------------------------------------------------------
# What depends on what is predicted. For numbers, see `riparian.reference_adaptive_numbers`.
# ---------------------------------------------------------------------------------------------


class Memory(Head, Protocol):
    """The last votes of a leaf, which fade with each new one."""

    def add(self, y: Label, copies: int) -> None: ...

    def empty(self) -> bool: ...


class Errors(Protocol):
    """The size of the errors of a tree."""

    def scaled(self, error: float) -> float:
        """Return one more error as a number from 0 to 1, for the detector."""


class ChangeTarget(Protocol):
    def memory(self, factor: float) -> Memory: ...

    def errors(self) -> Errors: ...

    def error(self, share: int, y: Label) -> float:
        """Return how far a head was off that gave this share."""


class ClassMemory:
    """F_j: a histogram of the votes in a leaf, in float32."""

    def __init__(self, factor: float, arrived: list[Label]) -> None:
        self.factor = np.float32(factor)
        self.arrived = arrived  # the classes of the stream so far, in order of arrival
        self.values: dict[Label, np.float32] = {}

    def add(self, y: Label, copies: int) -> None:
        for label, value in self.values.items():
            faded = value * self.factor
            self.values[label] = np.float32(0) if faded < NOTHING else faded
        self.values[y] = self.values.get(y, np.float32(0)) + np.float32(copies)

    def empty(self) -> bool:
        return not self.values

    def share(self, y: Label) -> int:
        """Return the share of a class, in units of 2^-28, rounded half to even."""
        total = 0.0
        for label in self.arrived:
            total += float(self.values.get(label, 0.0))
        return round(float(self.values.get(y, 0.0)) / total * SHARE)


class ClassErrors:
    """Errors that are from 0 to 1 as they are."""

    def scaled(self, error: float) -> float:
        return error


class AdaptiveTarget(EagerTarget):
    """Classes, and the trust in cells and memories."""

    def __init__(self) -> None:
        self.arrived: list[Label] = []  # in this order

    def new_trust(self) -> Trust:
        return Trust(len(HEADS), FADING)

    def memory(self, factor: float) -> ClassMemory:
        return ClassMemory(factor, self.arrived)

    def errors(self) -> ClassErrors:
        return ClassErrors()

    def error(self, share: int, y: Label) -> float:
        return 1.0 - share / SHARE


# ---------------------------------------------------------------------------------------------
# The tree
# ---------------------------------------------------------------------------------------------


class AdaptiveTree(EagerTree):
    parameters: ChangeParameters
    target: Any  # an `EagerTarget` that is a `ChangeTarget` as well

    def __init__(
        self,
        number: int,
        parameters: ChangeParameters,
        space: FeatureSpace,
        kept: KeptPoints,
        target: Any,
    ) -> None:
        self.detector = Adwin(parameters.drift_confidence)
        self.errors: Errors = target.errors()
        self.leaf_error: float | None = None  # at the arriving point, if it judged the tree
        super().__init__(number, parameters, space, kept, target)

    def plant(self, root: Leaf) -> None:
        self.memories = {root.number: self.empty_memories()}  # of every leaf, by its number
        super().plant(root)

    def empty_memories(self) -> list[Memory]:
        return [self.target.memory(factor) for factor in MEMORIES]

    def judge(self, x: Point, y: Label) -> list[int]:
        """Test the tree on a point before it is learned."""
        shares = super().judge(x, y)
        self.leaf_error = self.target.error(shares[0], y)
        return shares

    def error_has_risen(self) -> bool:
        """Give the detector the error of the leaf, and return whether errors have risen."""
        if self.leaf_error is None:
            return False
        return self.detector.add(self.errors.scaled(self.leaf_error)) > 0

    def vote(self, leaf: Leaf, point: Arrival) -> None:
        super().vote(leaf, point)
        for memory in self.memories[leaf.number]:
            memory.add(point.y, point.copies)

    def replace(self, leaf: Leaf, split: Split) -> None:
        """Let a child remember the points of its list that vote, as if they had arrived there."""
        super().replace(leaf, split)
        del self.memories[leaf.number]
        for child in split.children:
            assert isinstance(child, Leaf)
            memories = self.empty_memories()
            for point in self.listed_voters(child):
                for memory in memories:
                    memory.add(point.y, point.copies)
            self.memories[child.number] = memories

    def heads(self, x: Point) -> Sequence[Head]:
        """Return the heads by size and the memories; without votes in the leaf, they answer alike."""
        smallest, *larger = super().heads(x)
        memories = self.memories[self.leaf_of(x).number]
        remembered = [smallest] * len(memories) if memories[0].empty() else memories
        return [smallest, *larger, *remembered]


# ---------------------------------------------------------------------------------------------
# The forest
# ---------------------------------------------------------------------------------------------


class ChangeForest(EagerForest):
    """The forest for streams that change, whatever it predicts."""

    parameters: ChangeParameters
    trees: list[AdaptiveTree]  # type: ignore[assignment]
    heads = HEADS

    def __init__(self, parameters: ChangeParameters, space: FeatureSpace, **others: Any) -> None:
        self.replacements: list[tuple[int, int]] = []  # point and tree
        super().__init__(parameters, space, **others)

    def new_tree(self, number: int) -> AdaptiveTree:
        return AdaptiveTree(number, self.parameters, self.space, self.kept, self.target)

    def judge(self, x: Point, y: Label) -> tuple[list[int], int]:
        for tree in self.trees:
            tree.leaf_error = None
        return super().judge(x, y)

    def receive(self, tree: AdaptiveTree, x: Point, y: Label, weight: float) -> None:  # type: ignore[override]
        is_tested = tree.round_weight(self.points, weight) > 0 and not self.again
        if is_tested and tree.error_has_risen():
            tree = self.replaced(tree)
        super().receive(tree, x, y, weight)

    def replaced(self, tree: AdaptiveTree) -> AdaptiveTree:
        """Put an empty tree in the place of this one, which draws as no tree has drawn before."""
        place = self.trees.index(tree)
        self.trees[place] = self.new_tree(tree.number + self.parameters.n_trees)
        self.replacements.append((self.points, place))
        return self.trees[place]


class AdaptiveForest(ChangeForest):
    """The forest of classes."""

    parameters: AdaptiveParameters
    target: AdaptiveTarget

    def new_target(self) -> AdaptiveTarget:
        return AdaptiveTarget()

    def meet(self, y: Label) -> None:
        if y not in self.target.arrived:
            self.target.arrived.append(y)
        super().meet(y)
