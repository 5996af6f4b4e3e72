"""The forest that keeps its last points (R19 to R21), in plain Python: what goes beyond the paper.

Read `riparian.reference` first: this module is made of its parts. The paper's forest forgets a point as
soon as it is counted, and starts every leaf from nothing. This one keeps its last W points, and a leaf
lists those that are in its cell. A young leaf looks among them for a split. Once one of them is lost
it settles, and counts as in the paper. While no point of the stream is lost, a tree is rebuilt
each time its points have doubled. With W = 0 it is the paper's forest, node for node. The native engine
must equal this file to the last bit.

The two streams stay apart as before: structure points choose the splits, estimation points predict, and
the choice of a split may only use the number of estimation points, not their labels.

>>> import numpy as np
>>> from riparian.parameters.schedules import Geometric
>>> from riparian.reference import Columns
>>> from riparian.parameters.forests import PaperParameters
>>> one_tree = PaperParameters(
...     n_trees=1, seed=0, candidate_dims=1.0, split_points=10, min_gain=0.1,
...     alpha=Geometric(1, 1.1), beta=Geometric(20, 1.1), structure_fraction=0.5,
...     ignore_fraction=0.0, fringe_size=None, voting="average", kept_points=100)
>>> forest = KeepingForest(one_tree, Columns(n_dims=1, rate=1.0))
>>> forest.learn([np.float32([v]) for v in (1, 2, 3, 4) * 4], list("aabb") * 4)
>>> forest.predict_proba(np.float32([1]))
{'a': 1.0, 'b': 0.0}
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from riparian.parameters.forests import StreamParameters
from riparian.reference import (
    HALVES_OF_KEY,
    CandidateSplit,
    Draws,
    Feature,
    FeatureSpace,
    Forest,
    Label,
    Leaf,
    Point,
    Split,
    Target,
    Tree,
    key,
    uniform,
)

BOUND_DRAW = 5  # of a tree


# ---------------------------------------------------------------------------------------------
# The kept points, once for all trees (R19).
# ---------------------------------------------------------------------------------------------


class KeptPoint(NamedTuple):
    t: int  # its number in the stream
    x: Point
    y: Label
    weight: float


class KeptPoints:
    """The last W points."""

    def __init__(self, size: int) -> None:
        self.size = size  # W
        self.received = 0  # points of the stream, the arriving one included
        self.points: deque[KeptPoint] = deque()

    def receive(self, x: Point, y: Label, weight: float) -> list[KeptPoint]:
        """Keep the arriving point, and return the point that is lost for it, if there is one."""
        self.points.append(KeptPoint(self.received, x, y, weight))
        self.received += 1
        return self.lose()

    def shrink(self, size: int) -> list[KeptPoint]:
        """Reduce W, and return the points that are lost."""
        self.size = size
        return self.lose()

    def lose(self) -> list[KeptPoint]:
        lost = []
        while self.points and not self.holds(self.points[0].t):
            lost.append(self.points.popleft())
        return lost

    def holds(self, t: int) -> bool:
        return t >= self.received - self.size


# ---------------------------------------------------------------------------------------------
# The lists of a leaf.
# ---------------------------------------------------------------------------------------------


class Arrival(NamedTuple):
    """A point as one tree has received it. Its stream and weight follow from its number (R13)."""

    t: int
    x: Point
    y: Label
    copies: int


class Lists:
    """The points in the cell of a leaf, in order of time, by stream."""

    def __init__(self) -> None:
        self.structure: list[Arrival] = []
        self.estimation: list[Arrival] = []

    def has_lost(self, kept: KeptPoints) -> bool:
        """Return whether a listed point is lost. It is enough to check the oldest of each stream."""
        streams = self.structure, self.estimation
        return any(points and not kept.holds(points[0].t) for points in streams)

    def drop_lost(self, kept: KeptPoints) -> None:
        self.structure = [point for point in self.structure if kept.holds(point.t)]
        self.estimation = [point for point in self.estimation if kept.holds(point.t)]


def weight_of(points: Iterable[Arrival]) -> int:
    return sum(point.copies for point in points)


# ---------------------------------------------------------------------------------------------
# The tree
# ---------------------------------------------------------------------------------------------


class KeepingTree(Tree):
    def __init__(
        self,
        number: int,
        parameters: StreamParameters,
        space: FeatureSpace,
        kept: KeptPoints,
        target: Target | None = None,
    ) -> None:
        self.kept = kept  # shared by all trees
        self.planted = max(0, kept.received - 1)  # the first point that the tree receives
        self.lost_estimation_points = 0  # their weight: received, and no longer kept
        self.structure_arrivals = 0
        self.growth = 0  # g of R21: structure arrivals when the tree was rebuilt, 0 at first
        self.bound = 0  # structure arrivals at which to rebuild it; 0 until the root has split
        super().__init__(number, parameters, space, target)
        self.let_all_look_that_entered()  # the root, at an empty list

    def plant(self, root: Leaf) -> None:
        self.lists = {root.number: Lists()}  # of every leaf, active or not, by its number
        self.next_look: dict[int, int] = {}  # young leaves: at how many listed structure points
        self.entered: list[Leaf] = []  # leaves that are new in the fringe and have not looked yet
        super().plant(root)

    # -- receiving a point --------------------------------------------------------------------

    def receive_estimation(self, x: Point, y: Label, copies: int) -> None:
        self.estimation_points += copies
        leaf = self.leaf_of(x)
        point = self.arrival(x, y, copies)
        self.vote(leaf, point)
        self.lists[leaf.number].estimation.append(point)
        if self.is_settled(leaf):
            self.count_estimation(leaf, x, y, copies)

    def receive_structure(self, x: Point, y: Label, copies: int) -> None:
        self.structure_points += copies
        self.structure_arrivals += 1
        if self.is_due() and self.rebuild():
            return
        leaf = self.leaf_of(x)
        lists = self.lists[leaf.number]
        lists.structure.append(self.arrival(x, y, copies))
        if self.is_settled(leaf):
            self.count_structure(leaf, x, y, copies)
            self.check(leaf)
        elif self.is_young(leaf) and lists.has_lost(self.kept):
            self.settle(leaf)
            self.check(leaf)
        elif self.is_young(leaf) and len(lists.structure) >= self.next_look[leaf.number]:
            self.look(leaf)
        self.let_all_look_that_entered()

    def arrival(self, x: Point, y: Label, copies: int) -> Arrival:
        """Return the arriving point, the last that the forest has received, as a leaf lists it."""
        return Arrival(self.kept.received - 1, x, y, copies)

    def vote(self, leaf: Leaf, point: Arrival) -> None:
        """Let a point in the cell of a leaf take part in its predictions."""
        leaf.estimation.add(point.y, point.copies)

    def lose(self, point: KeptPoint) -> None:
        """Note that a point is lost. Young leaves still list it, which shows them that they lost one."""
        if point.t >= self.planted and self.stream(point.t) == "estimation":
            self.lost_estimation_points += self.round_weight(point.t, point.weight)

    # -- a young leaf looks, a settled leaf counts (R20) -----------------------------------------

    def enter_fringe(self, leaf: Leaf) -> None:
        if self.kept.size == 0:  # the paper's forest: a leaf settles as it enters
            super().enter_fringe(leaf)
            return
        leaf.enter_fringe()
        self.lists[leaf.number].drop_lost(self.kept)
        self.next_look[leaf.number] = 1
        self.entered.append(leaf)

    def is_young(self, leaf: Leaf) -> bool:
        return leaf.number in self.next_look

    def is_settled(self, leaf: Leaf) -> bool:
        return leaf.active and not self.is_young(leaf)

    def look(self, leaf: Leaf) -> None:
        """Split a young leaf if it can and should or must, by candidates from its list."""
        n = self.n_arrivals(leaf)
        if self.look_can_succeed(leaf):
            self.select_candidates(leaf)
            self.add_halves(leaf)
            if self.can_split(leaf):
                self.check(leaf)
            else:
                leaf.attempt += 1
            leaf.select_dims(())  # the next look draws again
        if self.is_young(leaf):  # it has not split
            self.next_look[leaf.number] = max(n + 1, (13 * n + 9) // 10)

    def n_arrivals(self, leaf: Leaf) -> int:
        """Return the number of structure points in a young leaf, inherited ones included."""
        return len(self.lists[leaf.number].structure)

    def look_can_succeed(self, leaf: Leaf) -> bool:
        """Return whether there are enough points, and a split that separates all classes would do."""
        lists = self.lists[leaf.number]
        if len(lists.structure) < 2 or weight_of(lists.estimation) < 2 * self.alpha(leaf):
            return False
        labels = self.target.structure()
        for point in lists.structure:
            labels.add(point.y, point.copies)
        return self.must_split(leaf) or self.target.most_gain(labels) > self.min_gain(leaf)

    def let_all_look_that_entered(self) -> None:
        """Let new leaves of the fringe look in order of node number, each as deep as it can.

        Leaves that enter on the way look before those that were already waiting.
        """
        stack: list[Leaf] = []
        while stack or self.entered:
            # Not in the order in which they entered: that follows ŝ, and labels must not number nodes.
            stack += sorted(self.entered, key=lambda leaf: -leaf.number)
            self.entered = []
            self.look(stack.pop())

    def settle(self, leaf: Leaf) -> None:
        """Give a leaf candidates that stay, and count from now on."""
        del self.next_look[leaf.number]
        self.select_candidates(leaf)
        leaf.received = weight_of(self.lists[leaf.number].estimation)  # R8

    def select_candidates(self, leaf: Leaf) -> None:
        """Draw candidates from a list: dimensions as in R2, thresholds from at most m of its points."""
        lists = self.lists[leaf.number]
        lists.drop_lost(self.kept)
        draws = self.draws(leaf)
        leaf.select_dims(self.draw_dims(draws))
        points = self.choosing_points(leaf)
        for i in range(min(self.parameters.split_points, len(points))):
            j = i + draws.below(len(points) - i)
            points[i], points[j] = points[j], points[i]
            self.create_candidate_splits(leaf, points[i].x, born=self.born_of_children(leaf))
        for split in leaf.candidates:
            self.count_listed(leaf, split)

    def choosing_points(self, leaf: Leaf) -> list[Arrival]:
        """Return a new list of the listed points whose values may become thresholds."""
        return list(self.lists[leaf.number].structure)

    def count_listed(self, leaf: Leaf, split: CandidateSplit) -> None:
        lists = self.lists[leaf.number]
        for point in lists.structure:
            split.structure[self.side(split, point.x)].add(point.y, point.copies)
        for point in lists.estimation:
            split.estimation[self.side(split, point.x)].add(point.y, point.copies)

    def add_halves(self, leaf: Leaf) -> None:
        """Add halves of all categories to the candidates of a look, if there are many (R22)."""
        born = self.born_of_children(leaf)
        how_many = {feature: self.n_halves(leaf, feature) for feature in leaf.dims}
        for b in range(HALVES_OF_KEY):
            for feature in leaf.dims:
                if b < how_many[feature]:
                    assert isinstance(feature, int), "only columns are categorical"
                    half_key = key(*self.place_of_draws(leaf), 2**63 + feature) >> 46
                    half = self.new_candidate(feature, -1 - (HALVES_OF_KEY * half_key + b), born)
                    self.count_listed(leaf, half)
                    leaf.candidates.append(half)

    def n_halves(self, leaf: Leaf, feature: Feature) -> int:
        """Return the number of halves: four for each split point with a code of 32 or more."""
        if not self.space.is_categorical(feature):
            return 0
        late = [c for c in leaf.candidates if c.feature == feature and c.threshold >= 32]
        return min(4 * len(late), HALVES_OF_KEY)

    def draw_dims(self, draws: Draws) -> Sequence[Feature]:
        return self.space.draw(draws)

    def born_of_children(self, leaf: Leaf) -> int:
        """Return E0 of children and candidates that count all kept points."""
        return self.lost_estimation_points

    def place_of_draws(self, leaf: Leaf) -> tuple[int, ...]:
        place = super().place_of_draws(leaf)
        return (*place, self.growth) if self.growth else place

    def replace(self, leaf: Leaf, split: Split) -> None:
        """Replace a leaf by a split, and divide its list among the children.

        The children of a young leaf start with the votes on their lists.
        """
        was_young = self.is_young(leaf)
        if leaf is self.root and self.growth == 0:
            self.bound = self.first_bound()
        super().replace(leaf, split)
        self.next_look.pop(leaf.number, None)
        lists = self.lists.pop(leaf.number)
        lists.drop_lost(self.kept)
        children = Lists(), Lists()
        for point in lists.structure:
            children[self.side(split, point.x)].structure.append(point)
        for point in lists.estimation:
            children[self.side(split, point.x)].estimation.append(point)
        for child, mine in zip(split.children, children, strict=True):
            self.lists[child.number] = mine
            if was_young:
                assert isinstance(child, Leaf)
                child.estimation = self.target.estimation()
                for point in self.listed_voters(child):
                    child.estimation.add(point.y, point.copies)

    def listed_voters(self, leaf: Leaf) -> list[Arrival]:
        """Return the listed points that vote, in order of time."""
        return self.lists[leaf.number].estimation

    # -- regrowth (R21) ------------------------------------------------------------------------

    def is_due(self) -> bool:
        """Return whether to rebuild the tree: its points have doubled, and all of them are kept."""
        return (
            self.kept.holds(self.planted)
            and self.splits_without_gain()
            and isinstance(self.root, Split)
            and self.structure_arrivals >= self.bound
        )

    def splits_without_gain(self) -> bool:
        """Return whether β lets leaves split without gain.

        Otherwise trees would shrink when they are rebuilt, since gains among more points are smaller.
        """
        p = self.parameters
        return p.beta.at(0) <= 100 * p.alpha.at(0)

    def first_bound(self) -> int:
        """Return two to four times the current arrivals, at random, so that trees take turns."""
        u = uniform(key(self.parameters.seed, self.number, BOUND_DRAW, 0))
        n = self.structure_arrivals
        return 2 * n + math.floor(2 * n * u)

    def rebuild(self) -> bool:
        """Build the tree again from all kept points, or keep it if the new root does not split."""
        old = vars(self).copy()
        self.growth = self.structure_arrivals
        root = Leaf(number=0, depth=0, estimation=self.target.estimation(), born=0)
        self.plant(root)
        self.list_all(root)
        self.let_all_look_that_entered()
        has_split = isinstance(self.root, Split)
        if not has_split:
            vars(self).update(old)
        self.bound = 2 * self.structure_arrivals
        return has_split

    def list_all(self, root: Leaf) -> None:
        lists = self.lists[root.number]
        for t, x, y, weight in self.kept.points:
            if t < self.planted:
                continue
            point, stream = Arrival(t, x, y, self.round_weight(t, weight)), self.stream(t)
            if point.copies == 0 or stream == "ignored":
                continue
            (lists.structure if stream == "structure" else lists.estimation).append(point)
            if self.has_vote(stream):
                self.vote(root, point)

    def has_vote(self, stream: str) -> bool:
        """Return whether points of a stream vote."""
        return stream == "estimation"


# ---------------------------------------------------------------------------------------------
# The forest
# ---------------------------------------------------------------------------------------------


class KeepingForest(Forest):
    trees: list[KeepingTree]  # type: ignore[assignment]

    def __init__(
        self, parameters: StreamParameters, space: FeatureSpace, classes: Iterable[Label] = ()
    ) -> None:
        assert parameters.kept_points != "auto"
        self.kept = KeptPoints(parameters.kept_points)
        super().__init__(parameters, space, classes)

    def new_tree(self, number: int) -> KeepingTree:
        return KeepingTree(number, self.parameters, self.space, self.kept, self.target)

    def keep_last(self, size: int) -> None:
        """Reduce W (R19)."""
        self.lose(self.kept.shrink(size))

    def lose(self, points: list[KeptPoint]) -> None:
        for lost in points:
            for tree in self.trees:
                tree.lose(lost)

    def learn_one(self, x: Point, y: Label, weight: float = 1.0) -> None:
        self.lose(self.kept.receive(x, y, weight))
        super().learn_one(x, y, weight)
