"""The forest for numbers (R26) in plain Python: the forests of the other modules with another target.

Read `riparian.reference_eager` first. A leaf holds sums instead of class counts, and answers with a
mean. All numbers below are float64, and each operation is rounded once. The native engine must equal
this file to the last bit.

>>> from riparian.parameters.forests import NumberParameters
>>> from riparian.parameters.schedules import Geometric
>>> from riparian.reference import Columns
>>> one_tree = NumberParameters(
...     n_trees=1, seed=0, candidate_dims=1.0, split_points=10, min_gain=0.1,
...     alpha=Geometric(1, 1.1), beta=Geometric(20, 1.1), structure_fraction=0.5,
...     ignore_fraction=0.0, fringe_size=None, max_memory=None, kept_points=100, eager=True)
>>> forest = NumberForest(one_tree, Columns(n_dims=1, rate=1.0))
>>> forest.learn([[v] for v in (1.0, 2.0, 3.0, 4.0) * 4], [10.0, 10.0, 30.0, 30.0] * 4)
>>> forest.predict([1.0]), forest.predict([4.0])
(10.0, 30.0)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from riparian.parameters.forests import NumberParameters
from riparian.reference import WHOLE, FeatureSpace, Label, Point
from riparian.reference_eager import FADING, SHARE, SIZES, EagerForest, EagerTarget, Trust, Votes
from riparian.reference_following import Following
from riparian.reference_intervals import Distribution, Level

LEAST_SCALE = -900  # B is at least 2^-900
MOST_LOSS = 1000.0  # of a head at one point


# ---------------------------------------------------------------------------------------------
# The sums of a cell, and of the two sides of a candidate.
# ---------------------------------------------------------------------------------------------


def squared_error(n: int, total: float, squares: float) -> float:
    """Return n·variance: 0 where rounding leaves less."""
    error = squares - total * (total / float(n)) if n else 0.0
    return error if error > 0.0 else 0.0


class Sums:
    """n, Σz and Σz² of the points in a cell, in the order in which they were added."""

    def __init__(self) -> None:
        self.n = 0
        self.sum = 0.0
        self.squares = 0.0
        self.same = math.nan  # the target of all of them; NaN if they differ, or if that is unknown

    def add(self, z: float, copies: int) -> None:
        self.same = z if self.n == 0 or self.same == z else math.nan
        weighted = float(copies) * z
        self.n += copies
        self.sum += weighted
        self.squares += weighted * z

    def total(self) -> int:
        return self.n

    def mean(self) -> float:
        return self.sum / float(self.n)

    def errors(self) -> float:
        """Return the squared error of the mean. Equal targets have none, whatever rounding did."""
        return 0.0 if self.same == self.same else squared_error(self.n, self.sum, self.squares)

    def errors_per(self, lifetime: int) -> float:
        return self.errors() / float(lifetime) if lifetime else 0.0


class Right:
    """The right side of a candidate: all its points minus those on the left, always."""

    def __init__(self, everyone: Sums, left: Sums) -> None:
        self.everyone = everyone
        self.left = left

    def add(self, z: float, copies: int) -> None:
        self.everyone.add(z, copies)

    def total(self) -> int:
        return self.everyone.n - self.left.n

    def copy(self) -> Sums:
        child = Sums()
        child.n = self.total()
        child.sum = self.everyone.sum - self.left.sum
        child.squares = self.everyone.squares - self.left.squares
        return child


class Left(Sums):
    """The left side of a candidate."""

    def __init__(self, everyone: Sums) -> None:
        super().__init__()
        self.everyone = everyone

    def add(self, z: float, copies: int) -> None:
        super().add(z, copies)
        self.everyone.add(z, copies)

    def copy(self) -> Sums:
        child = Sums()
        child.n, child.sum, child.squares = self.n, self.sum, self.squares
        return child


def sides() -> tuple[Left, Right]:
    everyone = Sums()
    left = Left(everyone)
    return left, Right(everyone, left)


def saved_error(left: Left) -> float:
    """Return what the means of two sides save of the squared error: n_L·n_R/n · (mean_L - mean_R)²."""
    everyone = left.everyone
    n, left_n = float(everyone.n), float(left.n)
    right_n = n - left_n
    if left_n == 0.0 or right_n == 0.0:
        return 0.0
    difference = left.sum / left_n - (everyone.sum - left.sum) / right_n
    return left_n * right_n / n * (difference * difference)


# ---------------------------------------------------------------------------------------------
# The target
# ---------------------------------------------------------------------------------------------


class Scale:
    """B = 2^e, the smallest power of two (from 2^-900 on) that is at least every |z| so far."""

    def __init__(self) -> None:
        self.exponent = LEAST_SCALE

    def meet(self, z: float) -> None:
        if z:
            fraction, exponent = math.frexp(abs(z))  # |z| = fraction·2^exponent, from 1/2 below 1
            self.exponent = max(self.exponent, exponent - (fraction == 0.5))

    def units(self, number: float, bits: int) -> int:
        """Return a number in units of 2^-bits·B, rounded half to even."""
        most = 1 << bits
        units = round(math.ldexp(number, bits - self.exponent))
        return max(-most, min(most, units))

    def number(self, units: float) -> float:
        return math.ldexp(units, self.exponent)


class NumberVotes(Votes):
    """The votes in a node, which answers with their mean."""

    def __init__(self, counts: Sums, points: int, eager: int, scale: Scale) -> None:
        super().__init__(counts, points, eager)
        self.scale = scale

    def share(self, y: Label) -> int:
        mean: float = self.counts.mean()
        return self.scale.units(mean, 28)


class NumberTrust(Trust):
    """T_j and σ², the discounted mean of the smallest squared error among the heads."""

    def __init__(self, scale: Scale, heads: int = len(SIZES), fading: float = FADING) -> None:
        super().__init__(heads, fading)
        self.scale = scale
        self.errors = self.judged = 0.0  # the discounted sum of these errors, and of ones

    def error(self) -> float:
        """Return the root of σ²; 0 before the first point."""
        return math.sqrt(self.errors / self.judged) if self.judged else 0.0

    def judge(self, sums: Sequence[int], voters: int, y: Label = None) -> None:
        if voters == 0:
            return
        squared = []
        for total in sums:
            error = y - self.scale.number(total / (voters * SHARE))
            squared.append(error * error)
        self.errors = self.fading * self.errors + min(squared)
        self.judged = self.fading * self.judged + 1.0
        twice = 2.0 * (self.errors / self.judged)
        self.evidence = [
            self.fading * mine - loss(error, twice)
            for mine, error in zip(self.evidence, squared, strict=True)
        ]


def loss(squared: float, twice: float) -> float:
    """Return the loss of a head, given 2σ², which may be 0."""
    if squared == 0.0:
        return 0.0
    return min(squared / twice, MOST_LOSS) if twice else MOST_LOSS


class NumberTarget(EagerTarget):
    def __init__(self) -> None:
        self.scale = Scale()

    def structure_sides(self) -> tuple[Any, Any]:
        return sides()

    def estimation_sides(self) -> tuple[Any, Any]:
        return sides()

    def eager_sides(self) -> tuple[Any, Any]:
        return sides()

    def structure(self) -> Sums:
        return Sums()

    def estimation(self) -> Sums:
        return Sums()

    def gain(self, left: Left, right: Right) -> float:
        """Return the share of the squared error that a split saves."""
        everyone = left.everyone
        error = squared_error(everyone.n, everyone.sum, everyone.squares)
        return saved_error(left) / error if error > 0.0 else 0.0

    def worth(self, left: Left, right: Right) -> float:
        return saved_error(left)

    def importance(self, left: Left, right: Right) -> float:
        return saved_error(left)

    def most_gain(self, labels: Sums) -> float:
        return 1.0 if squared_error(labels.n, labels.sum, labels.squares) > 0.0 else 0.0

    def answer(self, estimation: Sums, classes: Sequence[Label], *, majority: bool) -> list[int]:
        return [self.scale.units(estimation.mean(), 40)]

    def votes(self, counts: Sums, points: int = 0, eager: int = 0) -> NumberVotes:
        return NumberVotes(counts, points, eager, self.scale)

    def faded_score(self, score: float, share: int, y: Label) -> float:
        error = self.error(share, y)
        return FADING * score - error * error

    def error(self, share: int, y: Label) -> float:
        """Return how far a head of a tree was off that gave this share."""
        return float(y - self.scale.number(share / SHARE))

    def new_trust(self) -> NumberTrust:
        return NumberTrust(self.scale)


# ---------------------------------------------------------------------------------------------
# The forest
# ---------------------------------------------------------------------------------------------


class NumberForest(EagerForest):
    """The forest for numbers, in all modes: `eager`, kept points, and the paper's rule."""

    target: NumberTarget
    evidence: NumberTrust

    def __init__(self, parameters: NumberParameters, space: FeatureSpace) -> None:
        self.origin: float | None = None  # y₀, the first target of the stream
        self.levels = {coverage: Level(coverage) for coverage in parameters.intervals}  # R28
        self.following = Following(parameters.lag) if parameters.lag else None  # R29
        super().__init__(parameters, space, eager=parameters.eager)
        self.classes = [None]  # an answer is one number

    def new_target(self) -> NumberTarget:
        return NumberTarget()

    def learn_one(self, x: Point, y: Label, weight: float = 1.0) -> None:
        if self.origin is None:
            self.origin = float(y)
        z = float(y) - self.origin + 0.0
        plain = None if self.again or self.following is None else self.plain_answer(x)
        if not self.again and self.levels:
            distribution = self.distribution(x)
            for level in self.levels.values():
                level.judge(distribution, z, self.evidence.error())
        super().learn_one(x, z, weight)
        if plain is not None and self.following is not None:
            self.following.judge(z, plain)

    def meet(self, y: Label) -> None:
        self.target.scale.meet(y)

    def predict(self, x: Point) -> float:
        """Return the mean of the trees' answers, which may follow the last target; y₀ if all abstain."""
        assert self.origin is not None, "a forest predicts once it has learned a point"
        plain = self.plain_answer(x)
        if plain is None:
            return self.origin
        answer = plain if self.following is None else self.following.answer(plain)
        return answer + self.origin

    def plain_answer(self, x: Point) -> float | None:
        """Return the mean of the trees' answers, less y₀; None if all abstain."""
        (total,), voters = self.sum_answers(x)
        if voters == 0:
            return None
        return self.target.scale.number(float(total) / float(voters * WHOLE))

    # -- how sure (R28) -----------------------------------------------------------------------------

    def distribution(self, x: Point) -> Distribution:
        """Return the targets near x, moved with the answer if it follows the last target (R29)."""
        distribution = Distribution.near(x, self.voting_trees())
        plain = None if self.following is None else self.plain_answer(x)
        if self.following is None or plain is None:
            return distribution
        answer, spread = self.following.answer(plain), self.following.spread()
        return distribution.moved(lambda target: answer + spread * (target - plain))

    def predict_quantiles(self, x: Point, qs: Sequence[float]) -> list[float]:
        assert self.origin is not None, "a forest predicts once it has learned a point"
        distribution = self.distribution(x)
        return [distribution.quantile(q) + self.origin for q in qs]

    def predict_interval(self, x: Point, coverage: float) -> tuple[float, float]:
        assert self.origin is not None, "a forest predicts once it has learned a point"
        low, high = self.levels[coverage].interval(self.distribution(x), self.evidence.error())
        return low + self.origin, high + self.origin
