"""The theorem checked against a live forest: what the forest shows, and what must be assumed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from riparian.engine.native import blocks
from riparian.model.numbers import Numbers
from riparian.model.rows import Rows
from riparian.parameters.forests import ChangeParameters, PaperParameters
from riparian.parameters.schedules import Schedule
from riparian.theory.cells import Ranges, ranges_of_points
from riparian.theory.census import TreeCensus, census_of
from riparian.theory.conditions import ScheduleCheck, check_schedule
from riparian.theory.counting import least_points, max_path, max_splits
from riparian.theory.departures import BUDGET, Departure, departures_of
from riparian.theory.sizes import CellSizes, sizes_at_points, sizes_over_leaves
from riparian.theory.table import Row, as_text, rows_of

if TYPE_CHECKING:
    from riparian.forest import OnlineForestClassifier


@dataclass(frozen=True)
class Assumption:
    """What the theorem requires of the data; it cannot be checked from inside a forest."""

    name: str
    note: str


ASSUMPTIONS = (
    Assumption("iid points", "they are independent and have one distribution, without drift"),
    Assumption("a density", "bounded from above, and from below where there are points at all"),
)


BOUNDED = Assumption("bounded targets", "the mean of a cell needs them to converge (R26)")


@dataclass(frozen=True)
class Growth:
    """Splits against what the estimation points allow (upper-bound-K): of the tree nearest to it.

    In an eager forest (R24), splits and depth count from the turn.
    """

    tree: int
    estimation_points: int
    splits: int  # K
    most_splits: int  # `max_splits`
    depth: int
    most_depth: int  # `max_path`


@dataclass(frozen=True)
class Waiting:
    """The oldest of the inactive leaves that splitting might improve, those with ŝ > 0."""

    tree: int
    node: int
    age: int  # E - E0: estimation points the tree has received in its lifetime
    s_hat: float


@dataclass(frozen=True)
class Fringe:
    """The leaves that wait for a place in the fringe."""

    size: int | None
    inactive: int  # leaves, of all trees
    waiting: int  # those of them with ŝ > 0
    oldest: Waiting | None


@dataclass(frozen=True)
class EagerVotes:
    """The share of eager votes in a leaf (R24): exact, or an upper bound. It must go to 0."""

    turn: int  # W: the points before this one chose splits and voted
    turned: bool  # whether trees are honest
    honest_trees: int  # all of them or none, unless trees turn one by one
    one_by_one: bool  # R27: each tree turns after W points of its own
    largest: float  # of all leaves that hold votes
    mean: float


@dataclass(frozen=True)
class Certificate:
    """The result of `certificate`. `print` it, or take `rows()` or `to_dict()`.

    A forest that was converted from riparian 0.2 holds answers instead of counts. So it has no growth,
    no spare points, no cells and no eager votes: these are None.
    """

    schedule: ScheduleCheck
    growth: Growth | None
    # The least N^e - α(K-1) of any leaf, of those that were made since the turn (R24) if there was one:
    # never below 0 (n-to-infty)
    spare_points: int | None
    cells: CellSizes | None
    fringe: Fringe | None  # None: the forest was loaded to predict only, and has none
    assumptions: tuple[Assumption, ...]
    departures: tuple[Departure, ...]
    verdict: str  # what follows, in a sentence
    replacements: tuple[tuple[int, int], ...] = ()  # R27: point and tree, of trees replaced
    eager: EagerVotes | None = None  # None: the forest is not eager

    @property
    def outside(self) -> list[str]:
        """The departures because of which the theorem does not cover the forest."""
        return [each.name for each in self.departures if each.found and each.breaks]

    def rows(self) -> list[Row]:
        """Return section, quantity, value and note of every line."""
        return rows_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    def __str__(self) -> str:
        return as_text(self.rows())


def certificate(forest: OnlineForestClassifier, X: ArrayLike | None = None) -> Certificate:
    """Check the theorem against a fitted forest, of classes or of numbers.

    With X, cells are those of its points, and diameters are within the range of X. Without, each
    leaf counts as often as it has estimation points, and diameters are within the range of the
    thresholds of its tree: values of structure points, so somewhat narrower than the data.

    >>> from riparian import OnlineForestClassifier
    >>> from riparian.streams import GaussianMixture
    >>> X, y = GaussianMixture.paper().sample(5000, random_state=0)
    >>> checked = certificate(OnlineForestClassifier(10, random_state=0).partial_fit(X, y), X)
    >>> checked.schedule.consistent, checked.growth.splits <= checked.growth.most_splits
    (True, True)
    >>> [row for row in checked.rows() if row[1] == "averaging instead of votes"]
    [('departures', 'averaging instead of votes', 'yes', \
'a mean of consistent estimates is consistent (multiclass)')]
    """
    check_is_fitted(forest)
    rows = None if X is None else _at_least_one(forest.checked_points(X))
    ranges = None if rows is None else _ranges(rows)
    engine = forest.model_.engine
    p = engine.parameters
    with engine.learning:  # between two batches, like a copy
        leaf = None if rows is None else forest.apply(rows)
        categorical = [] if engine.categories is None else [*engine.categories.tables]
        eager = engine.trust() is not None
        trees = [
            census_of(engine.tree(i), engine.n_dims, ranges, categorical, eager)
            for i in range(p.n_trees)
        ]
    numbers = isinstance(forest.model_.target, Numbers)
    counted = not forest.model_.frozen
    check = check_schedule(p.alpha, p.beta)
    redrawn = None if forest.model_.prediction_only else sum(tree.redrawn for tree in trees)
    departures = departures_of(forest, [tree.totals for tree in trees], redrawn)
    fringe = None if forest.model_.prediction_only else _fringe(trees, p.fringe_size)
    # A budget bounds the fringe before it evicts any leaf.
    bounded = p.fringe_size is not None or (
        p.max_memory is not None and fringe is not None and fringe.inactive > 0
    )
    return Certificate(
        schedule=check,
        growth=_growth(trees, p.alpha, kept=p.kept_points > 0) if counted else None,
        spare_points=min(_spare_points(tree, p.alpha) for tree in trees) if counted else None,
        cells=_cells(trees, leaf) if counted else None,
        fringe=fringe,
        assumptions=(*ASSUMPTIONS, BOUNDED) if numbers else ASSUMPTIONS,
        departures=departures,
        verdict=_verdict(check, departures, bounded),
        replacements=tuple(engine.replacements()),
        eager=_eager_votes(trees, p) if eager and counted else None,
    )


def _cells(trees: Sequence[TreeCensus], leaf: NDArray[Any] | None) -> CellSizes:
    return sizes_over_leaves(trees) if leaf is None else sizes_at_points(trees, leaf)


def _eager_votes(trees: Sequence[TreeCensus], p: PaperParameters) -> EagerVotes:
    assert isinstance(p.kept_points, int)
    honest = sum(len(tree.turn.leaves) > 0 for tree in trees)
    votes = np.concatenate([tree.points for tree in trees])
    eager = np.concatenate([tree.turn.eager_votes for tree in trees])
    shares = eager[votes > 0] / votes[votes > 0]
    largest, mean = (shares.max(), shares.mean()) if len(shares) else (0.0, 0.0)
    return EagerVotes(
        p.kept_points,
        honest == len(trees),
        honest,
        isinstance(p, ChangeParameters),
        float(largest),
        float(mean),
    )


def _at_least_one(rows: Rows) -> Rows:
    if rows.shape[0] == 0:
        raise ValueError("X must hold at least one point, got none")
    return rows


def _ranges(rows: Rows) -> Ranges:
    low, high = np.full(rows.shape[1], np.inf), np.full(rows.shape[1], -np.inf)
    for _, block in blocks(rows):
        # fmin and fmax pass over a missing value.
        low = np.fmin(low, np.fmin.reduce(block, axis=0))
        high = np.fmax(high, np.fmax.reduce(block, axis=0))
    return ranges_of_points(low, high)


def _growth(trees: Sequence[TreeCensus], alpha: Schedule, kept: bool) -> Growth:
    def nearness(growth: Growth) -> tuple[float, int]:
        return growth.splits / max(1, growth.most_splits), growth.splits

    return max((_growth_of(i, tree, alpha, kept) for i, tree in enumerate(trees)), key=nearness)


def _growth_of(number: int, tree: TreeCensus, alpha: Schedule, kept: bool) -> Growth:
    points, turn = tree.totals.estimation_points, tree.turn
    has_turned = len(turn.leaves) > 0
    start = int(np.argmax(turn.leaves > 0)) if has_turned else 0  # of the leaf nearest to the root
    return Growth(
        tree=number,
        estimation_points=points,
        splits=len(tree.node) - int(turn.leaves.sum()) if has_turned else 0,
        most_splits=max_splits(points, alpha, kept=kept, leaves=turn.leaves.tolist()),
        depth=int(turn.splits.max()),
        most_depth=max_path(points, alpha, kept=kept, start=start) if has_turned else 0,
    )


def _spare_points(tree: TreeCensus, alpha: Schedule) -> int:
    turn = tree.turn
    least = np.array([least_points(k, alpha) for k in range(int(turn.depth.max()) + 1)])
    return int((tree.points - np.where(turn.splits > 0, least[turn.depth], 0)).min())


def _fringe(trees: Sequence[TreeCensus], size: int | None) -> Fringe:
    oldest = [leaf for i, tree in enumerate(trees) if (leaf := _oldest(i, tree)) is not None]
    return Fringe(
        size=size,
        inactive=sum(int(tree.inactive.sum()) for tree in trees),
        waiting=sum(int(tree.waiting.sum()) for tree in trees),
        oldest=max(oldest, key=lambda leaf: leaf.age, default=None),
    )


def _oldest(number: int, tree: TreeCensus) -> Waiting | None:
    waiting = np.flatnonzero(tree.waiting)
    if len(waiting) == 0:
        return None
    leaf = waiting[np.argmax(tree.age[waiting])]
    age = int(tree.age[leaf])  # not 0: the points that a leaf predicts wrongly came in its lifetime
    return Waiting(number, int(tree.node[leaf]), age, float(tree.errors[leaf] / age))


def _verdict(check: ScheduleCheck, departures: Sequence[Departure], bounded: bool) -> str:
    if not (check.consistent if bounded else check.consistent_unbounded):
        return check.guarantee
    outside = [d.name for d in departures if d.found and d.breaks]
    unknown = [d.name for d in departures if d.found is None and d.breaks]
    if outside:
        return f"The theorem does not cover this forest: {', '.join(outside)}."
    by = ", by the paper's extension to a bounded fringe," if bounded else ""
    asked = "".join(f" and without {name}" for name in unknown)
    budget = any(d.found for d in departures if d.name == BUDGET)
    so_far = f"; {BUDGET} has had no effect yet" if budget else ""
    return f"Consistent{by} if the assumptions hold{asked}{so_far}."
