"""The forest that is eager, then honest (R24), and learns which cells to trust (R25), in plain Python.

Read `riparian.reference_kept` first: this module is made of its parts. While every point of the stream
is kept, a point has both roles in a tree: it chooses splits and it votes. When the first point is lost,
trees become honest: from then on a point has the one role that its coin gives it. A tree can answer
from its leaf or from a larger cell above it. The forest learns from its own predictions which size of
cell to trust. The native engine must equal this file to the last bit; only exp is that of the engine.

With `eager=False`, or if no point is kept, this is the forest of `riparian.reference_kept`.

>>> import numpy as np
>>> from riparian.parameters.forests import PaperParameters
>>> from riparian.parameters.schedules import Geometric
>>> from riparian.reference import Columns
>>> one_tree = PaperParameters(
...     n_trees=1, seed=0, candidate_dims=1.0, split_points=10, min_gain=0.1,
...     alpha=Geometric(1, 1.1), beta=Geometric(20, 1.1), structure_fraction=0.5,
...     ignore_fraction=0.0, fringe_size=None, voting="average", kept_points=100)
>>> forest = EagerForest(one_tree, Columns(n_dims=1, rate=1.0))
>>> forest.learn([np.float32([v]) for v in (1, 2, 3, 4)] * 4, list("aabb") * 4)
>>> forest.predict(np.float32([1]))
'a'
>>> forest.trust[1] > forest.trust[256]
True
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Protocol

from riparian._core import exp_of_negative
from riparian.parameters.forests import StreamParameters
from riparian.reference import (
    CandidateSplit,
    EstimationCounts,
    Feature,
    FeatureSpace,
    Label,
    Leaf,
    Point,
    Split,
    StructureCounts,
    Target,
    Tree,
    vote,
)
from riparian.reference_kept import (
    Arrival,
    KeepingForest,
    KeepingTree,
    KeptPoint,
    KeptPoints,
    weight_of,
)

SIZES = 1, 4, 16, 64, 256  # k_j: the votes that a cell must hold for head j to answer from it
FADING = 0.999  # γ, and that of the scores of a tree
SHARE = 2**28  # the units of a share
WEIGHT = 2**12  # the units of a weight; a product of the two has the units of R11


# ---------------------------------------------------------------------------------------------
# Eager points are a third type of points: only they may both choose a split and vote.
# ---------------------------------------------------------------------------------------------


class EagerCounts(StructureCounts, EstimationCounts):
    """The labels of the eager points in a cell."""


class EagerTarget(Target):
    """Classes that eager points count, and the answers of heads (R25)."""

    def eager_sides(self) -> tuple[Any, Any]:
        return EagerCounts(), EagerCounts()

    def votes(self, counts: Any, points: int = 0, eager: int = 0) -> Votes:
        return Votes(counts, points, eager)

    def faded_score(self, score: float, share: int, y: Label) -> float:
        """Return the score of a head of a tree after a point."""
        return faded(score, share / SHARE)

    def new_trust(self) -> Trust:
        return Trust()


class EagerCandidate(CandidateSplit):
    """A candidate of an eager leaf. It is valid if there are enough points on both sides."""

    target: EagerTarget

    def __init__(
        self, feature: Feature, threshold: float, born: int, target: EagerTarget | None = None
    ) -> None:
        super().__init__(feature, threshold, born, EagerTarget() if target is None else target)
        self.eager = self.target.eager_sides()
        self.structure = self.estimation = self.eager
        self.points = [0, 0]  # whatever their weights

    def count(self, side: int, point: Arrival) -> None:
        self.eager[side].add(point.y, point.copies)
        self.points[side] += 1

    def is_valid(self, alpha: int) -> bool:
        return min(self.points) >= alpha


# ---------------------------------------------------------------------------------------------
# The votes in a node, and the heads that answer from them (R25).
# ---------------------------------------------------------------------------------------------


class Head(Protocol):
    """Something that gives each class a share."""

    def share(self, y: Label) -> int:
        """Return the share of a class, in units of 2^-28, rounded half to even."""


class Votes:
    """The votes in a node, from which it answers. Inner nodes have votes, too."""

    def __init__(self, counts: Any, points: int = 0, eager: int = 0) -> None:
        self.counts = counts  # by weight; of a leaf, its own histogram
        self.points = points  # by number, whatever their weights
        self.eager = eager  # the weight of eager votes, or an upper bound of it

    def add(self, point: Arrival, eager: bool) -> None:
        self.counts.add(point.y, point.copies)
        self.points += 1
        self.eager += point.copies * eager

    def share(self, y: Label) -> int:
        """Return the share of a class, in units of 2^-28, rounded half to even."""
        share: float = self.counts[y] / self.counts.total()
        return round(share * SHARE)

    def eager_share(self) -> Fraction:
        return Fraction(self.eager, max(1, self.counts.total()))


def faded(evidence: float, share: float, fading: float = FADING) -> float:
    """Return the evidence for a head after a point, given the share that it gave to the true class."""
    return fading * evidence - 2.0 * ((1.0 - share) * (1.0 - share))


class Trust:
    """T_j, and with it w_j, of the forest."""

    def __init__(self, heads: int = len(SIZES), fading: float = FADING) -> None:
        self.evidence = [0.0] * heads
        self.fading = fading  # γ

    def judge(self, sums: Sequence[int], voters: int, y: Label = None) -> None:
        """Update T by the sums, for each head, of the shares that the voters give to the class y."""
        if voters > 0:
            self.evidence = [
                faded(mine, total / (voters * SHARE), self.fading)
                for mine, total in zip(self.evidence, sums, strict=True)
            ]

    def weights(self) -> list[int]:
        """Return softmax(T) in units of 2^-12; the largest takes the remainder."""
        best = max(self.evidence)
        exponentials = [exp_of_negative(mine - best) for mine in self.evidence]
        total = 0.0
        for each in exponentials:
            total += each
        weights = [round(each / total * WEIGHT) for each in exponentials]
        weights[self.evidence.index(best)] += WEIGHT - sum(weights)
        return weights


# ---------------------------------------------------------------------------------------------
# The tree
# ---------------------------------------------------------------------------------------------


class EagerTree(KeepingTree):
    target: EagerTarget

    def __init__(
        self,
        number: int,
        parameters: StreamParameters,
        space: FeatureSpace,
        kept: KeptPoints,
        target: EagerTarget | None = None,
    ) -> None:
        self.floor = 1  # points on either side of an eager split
        self.scores = [0.0] * len(SIZES)  # s_j: how well each head has done while eager
        self.structure_votes = 0  # the weight of structure points that have voted, while eager
        self.first_honest = 0  # T: the number of the first point that is learned honestly
        self.eager_nodes = 0  # nodes that existed at the turn; 0 before it
        self.seen = max(0, kept.received - 1)  # points of the stream before the next one
        super().__init__(
            number, parameters, space, kept, EagerTarget() if target is None else target
        )

    def plant(self, root: Leaf) -> None:
        self.votes = {
            root.number: self.target.votes(root.estimation)
        }  # of every node, by its number
        self.eager_counted: dict[int, int] = {}  # eager weight that a leaf's candidates began with
        super().plant(root)

    def is_eager(self) -> bool:
        return self.kept.holds(self.planted)

    def voted(self) -> int:
        return self.estimation_points + self.structure_votes

    # -- receiving a point --------------------------------------------------------------------

    def receive(self, t: int, x: Point, y: Label, weight: float) -> None:
        self.seen = t + 1
        point, stream = Arrival(t, x, y, self.round_weight(t, weight)), self.stream(t)
        if self.is_eager() and point.copies > 0 and stream != "ignored":
            self.receive_eagerly(point, is_structure=stream == "structure")
        else:
            super().receive(t, x, y, weight)

    def receive_eagerly(self, point: Arrival, *, is_structure: bool) -> None:
        """Learn a point in both roles. Its coin (R1) only chooses its list; lists are read together."""
        if is_structure:
            self.structure_points += point.copies
            self.structure_votes += point.copies
        else:
            self.estimation_points += point.copies
        self.structure_arrivals += 1  # every eager point counts, whatever its coin
        if self.is_due() and self.rebuild():
            return
        leaf = self.leaf_of(point.x)
        lists = self.lists[leaf.number]
        (lists.structure if is_structure else lists.estimation).append(point)
        self.vote(leaf, point)
        if self.is_young(leaf):
            self.look(leaf)
        self.let_all_look_that_entered()

    def vote(self, leaf: Leaf, point: Arrival) -> None:
        for node in self.path(point.x):
            self.votes[node.number].add(point, self.is_eager())

    def path(self, x: Point) -> Iterator[Split | Leaf]:
        """Yield the nodes from the root to the leaf of a point."""
        node = self.root
        yield node
        while isinstance(node, Split):
            node = node.children[self.side(node, x)]
            yield node

    # -- an eager leaf looks ----------------------------------------------------------------------

    def look(self, leaf: Leaf) -> None:
        if not self.is_eager() or self.can_look(leaf):
            super().look(leaf)

    def can_look(self, leaf: Leaf) -> bool:
        points = self.choosing_points(leaf)
        enough = max(2, 2 * self.floor, self.next_look[leaf.number])
        return len(points) >= enough and len({point.y for point in points}) > 1

    def choosing_points(self, leaf: Leaf) -> list[Arrival]:
        if not self.is_eager():
            return super().choosing_points(leaf)
        lists = self.lists[leaf.number]
        return sorted(lists.structure + lists.estimation, key=lambda point: point.t)

    def n_arrivals(self, leaf: Leaf) -> int:
        return len(self.choosing_points(leaf))

    def look_can_succeed(self, leaf: Leaf) -> bool:
        return self.is_eager() or super().look_can_succeed(leaf)

    def new_candidate(self, feature: Feature, threshold: float, born: int) -> CandidateSplit:
        kind = EagerCandidate if self.is_eager() else CandidateSplit
        return kind(feature, threshold, born, self.target)

    def count_listed(self, leaf: Leaf, split: CandidateSplit) -> None:
        if not isinstance(split, EagerCandidate):
            super().count_listed(leaf, split)
            return
        for point in self.choosing_points(leaf):
            split.count(self.side(split, point.x), point)

    def select_candidates(self, leaf: Leaf) -> None:
        super().select_candidates(leaf)
        self.eager_counted[leaf.number] = self.eager_weight(self.lists[leaf.number].estimation)

    def eager_weight(self, points: Iterable[Arrival]) -> int:
        return weight_of(p for p in points if self.is_eager() or p.t < self.first_honest)

    def alpha(self, leaf: Leaf) -> int:
        return self.floor if self.is_eager() else super().alpha(leaf)

    def min_gain(self, leaf: Leaf) -> float:
        """Return no bound while eager: the best valid candidate is taken whatever its gain."""
        return -math.inf if self.is_eager() else super().min_gain(leaf)

    def born_of_children(self, leaf: Leaf) -> int:
        """Return E0, so that E - E0 is the weight of all votes (eager) or of the kept ones (honest)."""
        return 0 if self.is_eager() else self.structure_votes + super().born_of_children(leaf)

    def replace(self, leaf: Leaf, split: Split) -> None:
        """Keep the votes in the node. A child has those of its list, or the counts of a settled leaf."""
        above, was_young = self.votes[leaf.number], self.is_young(leaf)
        eager_counted = self.eager_counted.pop(leaf.number)
        super().replace(leaf, split)
        for child in split.children:
            assert isinstance(child, Leaf)
            if was_young:
                self.votes[child.number] = self.votes_of_list(child)
            else:
                total = child.estimation.total()  # candidates count weights
                points, eager = min(above.points, total), min(eager_counted, total)
                self.votes[child.number] = self.target.votes(child.estimation, points, eager)

    def votes_of_list(self, child: Leaf) -> Votes:
        voters = self.listed_voters(child)
        return self.target.votes(child.estimation, len(voters), self.eager_weight(voters))

    def listed_voters(self, leaf: Leaf) -> list[Arrival]:
        return self.choosing_points(leaf) if self.is_eager() else super().listed_voters(leaf)

    # -- regrowth (R21) -------------------------------------------------------------------------

    def splits_without_gain(self) -> bool:
        return True  # every eager leaf does

    def rebuild(self) -> bool:
        floor, self.floor = self.floor, max(1, self.best_head() // 16)
        has_split = super().rebuild()
        if not has_split:
            self.floor = floor
        return has_split

    def best_head(self) -> int:
        """Return the size of the cells from which this tree answers best, the smaller among equals."""
        return SIZES[self.scores.index(max(self.scores))]

    def has_vote(self, stream: str) -> bool:
        return True  # all kept points are eager ones

    # -- the turn ---------------------------------------------------------------------------------

    def lose(self, point: KeptPoint) -> None:
        if point.t == self.planted:
            self.turn()
        super().lose(point)

    def turn(self) -> None:
        """Limit depths to ⌈log2 W⌉: eager trees can be so deep that α would never be reached."""
        self.eager_nodes = self.n_nodes
        self.first_honest = self.seen
        deepest = (self.first_honest - self.planted - 1).bit_length()
        for node in self.nodes():
            if isinstance(node, Leaf):
                node.depth = min(node.depth, deepest)

    def eager_shares(self) -> dict[int, Fraction]:
        """Return the share of eager votes in each leaf, by its number: exact, or an upper bound."""
        leaves = [node for node in self.nodes() if isinstance(node, Leaf)]
        return {leaf.number: self.votes[leaf.number].eager_share() for leaf in leaves}

    # -- predicting ---------------------------------------------------------------------------------

    def heads(self, x: Point) -> Sequence[Head]:
        """Return, for each size, the deepest node on the path of x with that many votes, or the root."""
        path = [self.votes[node.number] for node in self.path(x)]
        return [
            next((votes for votes in reversed(path) if votes.points >= size), path[0])
            for size in SIZES
        ]

    def abstains(self) -> bool:
        return self.votes[0].points == 0

    def judge(self, x: Point, y: Label) -> list[int]:
        """Return the share that each head gives to the class y, before the point is learned."""
        shares = [head.share(y) for head in self.heads(x)]
        if self.is_eager():
            self.scores = [
                self.target.faded_score(mine, share, y)
                for mine, share in zip(self.scores, shares, strict=False)  # those by size
            ]
        return shares

    def mixed_answer(
        self, x: Point, classes: Sequence[Label], weights: Sequence[int]
    ) -> list[int] | None:
        """Return Σ w_j·share_j, which is in units of 2^-40 without rounding again."""
        if self.abstains():
            return None
        heads = list(zip(weights, self.heads(x), strict=True))
        shares = [sum(weight * head.share(y) for weight, head in heads) for y in classes]
        return vote(shares) if self.parameters.majority else shares


# ---------------------------------------------------------------------------------------------
# The forest
# ---------------------------------------------------------------------------------------------


class EagerForest(KeepingForest):
    target: EagerTarget
    heads: Sequence[float] = SIZES  # their names

    def __init__(
        self,
        parameters: StreamParameters,
        space: FeatureSpace,
        classes: Iterable[Label] = (),
        *,
        eager: bool = True,
    ) -> None:
        self.eager = eager and parameters.kept_points != 0
        self.again = False  # the points have been learned before
        super().__init__(parameters, space, classes)
        self.evidence = self.target.new_trust()

    def new_target(self) -> EagerTarget:
        return EagerTarget()

    def new_tree(self, number: int) -> KeepingTree:
        if not self.eager:
            return super().new_tree(number)
        return EagerTree(number, self.parameters, self.space, self.kept, self.target)

    @property
    def trust(self) -> dict[float, float]:
        """Return the weight of each head, by its name."""
        weights = self.evidence.weights()
        return {name: weight / WEIGHT for name, weight in zip(self.heads, weights, strict=True)}

    def learn(
        self,
        points: Sequence[Point],
        labels: Sequence[Label],
        weights: Sequence[float] | None = None,
        *,
        again: bool = False,
    ) -> None:
        """Learn points; `again` means a pass after the first, in which points cannot judge."""
        self.again = again
        super().learn(points, labels, weights)
        self.again = False

    def learn_one(self, x: Point, y: Label, weight: float = 1.0) -> None:
        if not self.again:
            self.evidence.judge(*self.judge(x, y), y)
        super().learn_one(x, y, weight)

    def judge(self, x: Point, y: Label) -> tuple[list[int], int]:
        """Return the sum of the shares of the class y for each head, and the number of voters."""
        judged = [tree.judge(x, y) for tree in self.voting_trees()]
        return [sum(shares) for shares in zip(*judged, strict=True)], len(judged)

    def voting_trees(self) -> list[EagerTree]:
        return [t for t in self.trees if isinstance(t, EagerTree) and not t.abstains()]

    def answer(self, tree: Tree, x: Point) -> list[int] | None:
        if not isinstance(tree, EagerTree):
            return super().answer(tree, x)
        return tree.mixed_answer(x, self.classes, self.evidence.weights())

    def largest_eager_share(self) -> Fraction:
        """Return the largest share of eager votes in any leaf. It goes to 0 as honest points arrive."""
        trees = [tree for tree in self.trees if isinstance(tree, EagerTree)]
        return max(
            (share for t in trees for share in t.eager_shares().values()), default=Fraction(0)
        )
