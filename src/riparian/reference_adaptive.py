"""The forest for streams that change (R23), in plain Python.

Read `riparian.reference_kept` first: this module is made of its parts. Its trees forget. A leaf lists
only its last points, and never settles. It has several memories of its estimation points, each of which
fades at its own rate, and the tree trusts the memories that have recently predicted its structure
points best. A tree is rebuilt from its points while all of them are kept. If the error of a tree rises,
by an ADWIN of its own, an empty tree replaces it. Trees do not depend on each other. The native engine
must equal this file to the last bit; only ln, exp and ADWIN are those of the engine.

>>> import numpy as np
>>> from riparian.parameters.schedules import Geometric
>>> from riparian.reference import Columns
>>> from riparian.parameters.forests import AdaptiveParameters
>>> one_tree = AdaptiveParameters(
...     n_trees=1, seed=0, candidate_dims=1.0, split_points=10, min_gain=0.1,
...     alpha=Geometric(1, 1.1), beta=Geometric(20, 1.1), structure_fraction=0.5,
...     ignore_fraction=0.0, fringe_size=None, voting="average", kept_points=100,
...     drift_confidence=0.01, leaf_points=24, memories=(0.5, 1.0), fading=0.98)
>>> forest = AdaptiveForest(one_tree, Columns(n_dims=1, rate=1.0))
>>> x = [np.float32([v]) for v in (1, 2, 3, 4) * 64]
>>> forest.learn(x, list("aabb") * 64)
>>> forest.learn(x, list("bbaa") * 64)
>>> forest.replacements
[(287, 0)]
>>> forest.predict(np.float32([1]))
'b'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from riparian._core import Adwin, exp_of_negative, ln
from riparian.parameters.forests import AdaptiveParameters
from riparian.reference import (
    WHOLE,
    Draws,
    Feature,
    FeatureSpace,
    Label,
    Leaf,
    Point,
    Split,
    vote,
)
from riparian.reference_kept import Arrival, KeepingForest, KeepingTree, KeptPoints, weight_of

LN2 = 0.6931471805599453
NOTHING = np.float32(2.0**-60)  # smaller values become 0: the smallest numbers would never fade

# ---------------------------------------------------------------------------------------------
# The memories of a leaf, and how far the tree trusts each of them.
# ---------------------------------------------------------------------------------------------


class Memory:
    """F_j: a histogram of the estimation points of a leaf that fades with each of them, in float32."""

    def __init__(self, factor: float) -> None:
        self.factor = np.float32(factor)
        self.values: dict[Label, np.float32] = {}

    def add(self, y: Label, copies: int) -> None:
        for label, value in self.values.items():
            faded = value * self.factor
            self.values[label] = np.float32(0) if faded < NOTHING else faded
        self.values[y] = self.values.get(y, np.float32(0)) + np.float32(copies)

    def of(self, y: Label) -> float:
        return float(self.values.get(y, 0.0))

    def sum(self, arrived: Sequence[Label]) -> float:
        total = 0.0
        for y in arrived:
            total += self.of(y)
        return total


class Trust:
    """L_j, and with it w_j, of one tree."""

    def __init__(self, memories: int, fading: float) -> None:
        self.fading = fading
        self.evidence = [0.0] * memories

    def judge(self, memories: list[Memory], y: Label, arrived: Sequence[Label]) -> None:
        """Judge the memories of a leaf by a structure point of class y that has arrived there."""
        for j, memory in enumerate(memories):
            share = (memory.of(y) + 0.1) / (memory.sum(arrived) + 0.1 * len(arrived))
            self.evidence[j] = self.fading * self.evidence[j] + ln(share)

    def weights(self) -> list[float]:
        """Return softmax(L)."""
        exponentials = [exp_of_negative(mine - max(self.evidence)) for mine in self.evidence]
        total = 0.0
        for each in exponentials:
            total += each
        return [each / total for each in exponentials]

    def probability(self, memories: list[Memory], y: Label, arrived: Sequence[Label]) -> float:
        """Return q[y] = Σ_j w_j F_j[y] / ΣF_j, where each w_j / ΣF_j is computed first."""
        q = 0.0
        for weight, memory in zip(self.weights(), memories, strict=True):
            if memory.values:
                q += weight / memory.sum(arrived) * memory.of(y)
            else:
                q += weight * (1.0 / len(arrived))
        return q


# ---------------------------------------------------------------------------------------------
# The tree
# ---------------------------------------------------------------------------------------------


class AdaptiveTree(KeepingTree):
    parameters: AdaptiveParameters

    def __init__(
        self,
        number: int,
        parameters: AdaptiveParameters,
        space: FeatureSpace,
        kept: KeptPoints,
        arrived: list[Label],
    ) -> None:
        self.arrived = arrived  # the classes of the stream so far, in order of arrival
        self.growing = False  # while it is being rebuilt
        self.trust = Trust(len(parameters.memories), parameters.fading)
        self.detector = Adwin(parameters.drift_confidence)
        super().__init__(number, parameters, space, kept)
        self.planted = max(0, kept.received - 1)  # the point that it will learn first

    def plant(self, root: Leaf) -> None:
        self.memories = {root.number: self.empty_memories()}  # of every leaf, by its number
        self.arrivals = {root.number: 0}  # structure points, those inherited included
        super().plant(root)

    def empty_memories(self) -> list[Memory]:
        return [Memory(factor) for factor in self.parameters.memories]

    # -- receiving a point --------------------------------------------------------------------

    def error_has_risen(self, x: Point, y: Label) -> bool:
        """Test the tree on a point before it learns it, and return whether its error has risen."""
        memories = self.memories[self.leaf_of(x).number]
        q = self.trust.probability(memories, y, self.arrived)
        return self.detector.add(1.0 - q) > 0

    def receive_estimation(self, x: Point, y: Label, copies: int) -> None:
        self.estimation_points += copies
        leaf = self.leaf_of(x)
        leaf.estimation[y] += copies
        for memory in self.memories[leaf.number]:
            memory.add(y, copies)
        self.list_last(self.lists[leaf.number].estimation, self.arrival(x, y, copies))

    def receive_structure(self, x: Point, y: Label, copies: int) -> None:
        self.structure_points += copies
        self.structure_arrivals += 1
        leaf = self.leaf_of(x)
        self.trust.judge(self.memories[leaf.number], y, self.arrived)
        if self.is_due() and self.rebuild():
            return
        self.list_last(self.lists[leaf.number].structure, self.arrival(x, y, copies))
        self.arrivals[leaf.number] += 1
        if self.is_young(leaf) and self.arrivals[leaf.number] >= self.next_look[leaf.number]:
            self.look(leaf)
        self.let_all_look_that_entered()

    def list_last(self, points: list[Arrival], point: Arrival) -> None:
        points.append(point)
        del points[: -self.parameters.leaf_points]

    # -- regrowth (R21) -------------------------------------------------------------------------

    def rebuild(self) -> bool:
        self.growing = True
        has_split = super().rebuild()
        self.growing = False
        return has_split

    def list_all(self, root: Leaf) -> None:
        super().list_all(root)
        self.inherit(root)

    def shorten_lists(self, leaf: Leaf) -> None:
        """Drop all but the last points. In a rebuild, a leaf lists all points until it has looked."""
        lists = self.lists[leaf.number]
        del lists.structure[: -self.parameters.leaf_points]
        del lists.estimation[: -self.parameters.leaf_points]

    # -- a leaf looks ---------------------------------------------------------------------------

    def look(self, leaf: Leaf) -> None:
        self.lists[leaf.number].drop_lost(self.kept)
        super().look(leaf)
        if self.is_young(leaf):  # it has not split
            self.shorten_lists(leaf)

    def draw_dims(self, draws: Draws) -> Sequence[Feature]:
        """Draw; use a quarter in a rebuild: among many points, trees would be too similar."""
        dims = super().draw_dims(draws)
        return dims[: 1 + (len(dims) + 3) // 4] if self.growing else dims

    def min_gain(self, leaf: Leaf) -> float:
        """Ask for more gain among few points: a leaf that looks repeatedly finds some by chance."""
        if self.growing:  # each looks once
            return super().min_gain(leaf)
        n = len(self.lists[leaf.number].structure)
        return max(self.parameters.min_gain, 2.0 * (ln(n + 1.0) / LN2) / n)

    def n_arrivals(self, leaf: Leaf) -> int:
        return self.arrivals[leaf.number]

    def born_of_children(self, leaf: Leaf) -> int:
        """Estimate when the oldest listed point arrived, as if points had arrived evenly."""
        listed = weight_of(self.lists[leaf.number].estimation)
        lifetime = self.estimation_points - leaf.born
        part = int(float(lifetime) * (float(listed) / float(leaf.estimation.total())))
        return self.estimation_points - min(lifetime, max(listed, part))

    def split(self, leaf: Leaf) -> None:
        super().split(leaf)
        for waiting in self.inactive:
            self.shorten_lists(waiting)

    def replace(self, leaf: Leaf, split: Split) -> None:
        super().replace(leaf, split)
        del self.memories[leaf.number], self.arrivals[leaf.number]
        for child in split.children:
            assert isinstance(child, Leaf)
            self.inherit(child)

    def inherit(self, leaf: Leaf) -> None:
        """Add the listed points to the memories of a new leaf, as if they had arrived there."""
        lists, memories = self.lists[leaf.number], self.empty_memories()
        for point in lists.estimation:
            for memory in memories:
                memory.add(point.y, point.copies)
        self.memories[leaf.number] = memories
        self.arrivals[leaf.number] = len(lists.structure)

    # -- predicting ---------------------------------------------------------------------------------

    def answer(self, x: Point, classes: Sequence[Label]) -> list[int] | None:
        leaf = self.leaf_of(x)
        if leaf.estimation.total() == 0:
            return None
        memories = self.memories[leaf.number]
        q = [self.trust.probability(memories, y, self.arrived) for y in classes]
        shares = [round(each * WHOLE) for each in q]
        return vote(shares) if self.parameters.voting == "majority" else shares


# ---------------------------------------------------------------------------------------------
# The forest
# ---------------------------------------------------------------------------------------------


class AdaptiveForest(KeepingForest):
    parameters: AdaptiveParameters
    trees: list[AdaptiveTree]  # type: ignore[assignment]

    def __init__(
        self, parameters: AdaptiveParameters, space: FeatureSpace, classes: Iterable[Label] = ()
    ) -> None:
        self.arrived: list[Label] = []
        self.replacements: list[tuple[int, int]] = []  # point and tree
        super().__init__(parameters, space, classes)

    def new_tree(self, number: int) -> AdaptiveTree:
        return AdaptiveTree(number, self.parameters, self.space, self.kept, self.arrived)

    def learn_one(self, x: Point, y: Label, weight: float = 1.0) -> None:
        if y not in self.arrived:
            self.arrived.append(y)
        super().learn_one(x, y, weight)

    def receive(self, tree: AdaptiveTree, x: Point, y: Label, weight: float) -> None:  # type: ignore[override]
        if tree.round_weight(self.points, weight) > 0 and tree.error_has_risen(x, y):
            place = self.trees.index(tree)
            tree = self.new_tree(tree.number + self.parameters.n_trees)
            self.trees[place] = tree
            self.replacements.append((self.points, place))
        super().receive(tree, x, y, weight)
