"""What holds of every eager tree (R24, R25), checked from the stream alone, and trees that break it.

`check_tree` derives from the points that a forest has received who may vote where, and compares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from riparian.reference import EstimationCounts, Leaf
from riparian.reference_eager import SIZES, EagerForest, EagerTree, Votes
from riparian.reference_kept import Arrival


class Received(NamedTuple):
    """A point of the stream, with what a tree makes of it."""

    point: Arrival
    stream: str


def received_by(tree: EagerTree, stream: Sequence[tuple[Any, Any, float]]) -> list[Received]:
    """The points that the tree has taken, from the whole stream in order."""
    points = [
        Received(Arrival(t, x, y, tree.round_weight(t, weight)), tree.stream(t))
        for t, (x, y, weight) in enumerate(stream)
    ]
    return [each for each in points if each.point.copies > 0 and each.stream != "ignored"]


def check_tree(
    tree: EagerTree, stream: Sequence[tuple[Any, Any, float]], made_eagerly: int | None = None
) -> None:
    """Check the votes, lists and heads of a tree that has received this stream.

    Nodes with a number below `made_eagerly` existed at the turn; None: there was no turn yet.
    """
    taken = received_by(tree, stream)
    w = tree.kept.size
    is_honest = len(stream) > w
    assert is_honest == (made_eagerly is not None)
    voters = {number: [] for number in tree.votes}  # the points that may vote, by node
    for point, role in taken:
        for node in tree.path(point.x):
            if role == "estimation" or (point.t < w and made_before_turn(node, made_eagerly)):
                voters[node.number].append(point)
    for node in tree.nodes():
        exact = made_before_turn(node, made_eagerly)
        check_votes(tree.votes[node.number], voters[node.number], w, exact=exact)
    assert tree.voted() == tree.votes[0].counts.total(), "E counts the votes of the tree"
    check_lists(tree, taken)
    for point, _ in taken:
        check_heads(tree, point.x)


def made_before_turn(node: Any, made_eagerly: int | None) -> bool:
    return made_eagerly is None or node.number < made_eagerly


def check_votes(votes: Votes, voters: list[Arrival], w: int, *, exact: bool) -> None:
    """No point votes twice, none that may not: a node made after the turn has lost some voters."""
    weights: Counter[Any] = Counter()
    for point in voters:
        weights[point.y] += point.copies
    eager = sum(point.copies for point in voters if point.t < w)
    if exact:
        assert votes.counts == weights, "a node that existed at the turn has all its votes"
        assert votes.points == len(voters)
        assert votes.eager == eager
    assert votes.counts <= weights, "each vote is of a point that may vote, once"
    if all(point.copies == 1 for point in voters):
        assert votes.points == votes.counts.total()
    assert votes.points <= votes.counts.total()
    honest = sum(point.copies for point in voters) - eager
    assert votes.counts.total() - honest <= votes.eager <= votes.counts.total()


def check_lists(tree: EagerTree, taken: list[Received]) -> None:
    """Each kept point is listed once, in its leaf, by its role."""
    expected = {
        (tree.leaf_of(point.x).number, role, point.t)
        for point, role in taken
        if tree.kept.holds(point.t)
    }
    listed = [
        (number, role, point.t)
        for number, lists in tree.lists.items()
        for role, points in (("structure", lists.structure), ("estimation", lists.estimation))
        for point in points
        if tree.kept.holds(point.t)
    ]
    assert sorted(listed) == sorted(expected)


def check_heads(tree: EagerTree, x: Any) -> None:
    """Heads nest, and each answers from the deepest node that is large enough."""
    path = [tree.votes[node.number] for node in tree.path(x)]
    sizes = [votes.points for votes in path]
    assert sizes == sorted(sizes, reverse=True), "votes never increase down a path"
    leaf = tree.votes[tree.leaf_of(x).number]
    for size, head in zip(SIZES, tree.heads(x), strict=True):
        large = [votes for votes in path if votes.points >= size]
        assert head is (large[-1] if large else path[0])
        assert leaf.points < size or head is leaf, "a leaf with enough votes answers itself"


class Recorder:
    """A forest, the stream that it was given, and how many nodes each tree had at the turn."""

    def __init__(self, forest: EagerForest) -> None:
        self.forest = forest
        self.stream: list[tuple[Any, Any, float]] = []
        self.made_eagerly: list[int] | None = None

    def learn(self, points: Any, labels: Any, weights: Any = None) -> None:
        weights = [1.0] * len(labels) if weights is None else weights
        for x, y, weight in zip(points, labels, weights, strict=True):
            if weight > 0 and len(self.stream) == self.forest.kept.size:
                self.made_eagerly = [tree.n_nodes for tree in self.forest.trees]
            self.forest.learn([x], [y], [weight])
            if weight > 0:
                self.stream.append((x, y, weight))

    def check(self) -> None:
        for i, tree in enumerate(self.forest.trees):
            made = None if self.made_eagerly is None else self.made_eagerly[i]
            check_tree(tree, self.stream, made)


# -- broken trees, each in one way -----------------------------------------------------------------


class EagerForTooLong(EagerTree):
    """A tree whose points have both roles even after a point was lost."""

    def is_eager(self) -> bool:
        return self.kept.received <= self.kept.size + 20


class StructureVotesLater(EagerTree):
    """Its structure points vote in the children of splits that were made after the turn."""

    def votes_of_list(self, child: Leaf) -> Votes:
        lists = self.lists[child.number]
        counts = child.estimation
        for point in lists.structure if not self.is_eager() else ():
            counts[point.y] += point.copies
        return Votes(counts, len(lists.estimation) + len(lists.structure), 0)


class HonestStructureVotes(EagerTree):
    """Its structure points vote where they arrive after the turn."""

    def receive_structure(self, x: Any, y: Any, copies: int) -> None:
        self.vote(self.leaf_of(x), self.arrival(x, y, copies))
        super().receive_structure(x, y, copies)


class HeadsIgnoreTheLeaf(EagerTree):
    """Its heads answer from the parent of the leaf at best."""

    def heads(self, x: Any) -> list[Votes]:
        path = [self.votes[node.number] for node in self.path(x)][:-1] or [self.votes[0]]
        return [
            next((votes for votes in reversed(path) if votes.points >= size), path[0])
            for size in SIZES
        ]


class VotesTwice(EagerTree):
    """A child of an eager split counts its points once more."""

    def votes_of_list(self, child: Leaf) -> Votes:
        votes = super().votes_of_list(child)
        child.estimation.update(EstimationCounts(child.estimation))
        return votes
