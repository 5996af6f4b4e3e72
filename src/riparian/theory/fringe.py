"""Why a leaf does not wait forever for a place in a bounded fringe (extension to a fixed size fringe).

The argument: a leaf that enters before an inactive leaf A0 has a larger ŝ, so it holds more of the
measure; cells shrink with every split; so only finitely many generations below the present leaves can
enter before A0. Four statements of the paper on the way are not quite right; the functions here have the
correct ones: see `shrinking_factor`, `largest_descendant`, `fringe_wait` and `rounds`.

The remark on s(A) = 0: a leaf in which every point has the same class may wait forever, as ŝ is then 0
and all others come first. That does no harm, since no subdivision of it would predict better; it only
means that the cells of such points do not shrink. R12 lets such a leaf in when no other is left, and a
certificate reports the age only of inactive leaves with ŝ > 0.

One step is open. ŝ is computed from the labels of estimation points and decides which leaf may split
next, so with a bounded fringe these labels do affect the partition, by the order in which leaves become
active.
The theorem that everything rests on (Devroye, Györfi and Lugosi, theorem 6.1) requires that they do not;
the paper does not come back to this. Without a bound on the fringe, or below it, nothing is open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from riparian.parameters.schedules import Schedule
from riparian.theory.inputs import failure, probability
from riparian.tools.checks import whole


def shrinking_factor(n_dims: int, split_points: int, *, independent: bool = True) -> float:
    """A bound on E[μ(A')]/μ(A) for a child A' of A: (2Dm+1)/(2Dm+2) of the fixed-size fringe.

    The paper takes the places of all Dm thresholds for independent. Those of one point in different
    dimensions are so only where the coordinates are (`independent`); if not, the factor may be larger,
    at most 1 - 1/(2D(m+1)).

    >>> shrinking_factor(2, 1), shrinking_factor(2, 1, independent=False)
    (0.8333333333333334, 0.875)
    """
    dims, m = _sizes(n_dims, split_points)
    return 1 - 1 / (2 * (dims * m + 1) if independent else 2 * dims * (m + 1))


def largest_descendant(
    splits: int, n_dims: int, split_points: int, delta: float, *, independent: bool = True
) -> float:
    """Return a measure that no cell exceeds, with probability 1-δ, after K splits of every cell.

    The paper uses the shrinking factor for this: Hoeffding's inequality about μ(A)·factor^K, for each
    of the 2^K descendants. But factor^K is a bound on the *mean* of μ(A^K), which itself is random, and
    the largest of 2^K exceeds it as a rule. What does shrink in all of them at once is the sum of the
    squares: a split at share U leaves U² + (1-U)² of it, at most a factor (n+1)/(n+2) on average for
    n = Dm thresholds. By Markov's inequality the largest is at most sqrt(((n+1)/(n+2))^K / δ).

    >>> round(largest_descendant(500, n_dims=2, split_points=10, delta=0.1), 6)
    2.8e-05
    """
    splits, delta = whole("splits", splits, 0, 2**63), failure("delta", delta)
    dims, m = _sizes(n_dims, split_points)
    # Logarithms, as a power of many splits underflows before its root does.
    shrunk = splits * math.log(_square_factor(dims, m, independent)) - math.log(delta)
    return min(1.0, math.exp(shrunk / 2))


def _square_factor(dims: int, m: int, independent: bool) -> float:
    """Return a bound of the share of the sum of squared measures that a split leaves on average."""
    if independent:
        return (dims * m + 1) / (dims * m + 2)
    return 1 - 1 / (dims * (m + 1)) + 1 / (dims**2 * (m + 1) * (m + 2))


@dataclass(frozen=True)
class FringeWait:
    """When an inactive leaf with s(A0) > 0 is the next to enter, with probability 1 - δ."""

    splits: int  # K: leaves this many splits below the present ones come after it
    activations: int  # at most this many leaves can enter before it: |L|·(2^K - 1)
    estimation_points: int  # that the tree must have received in its lifetime


def fringe_wait(
    s: float,
    alpha: Schedule,
    delta: float,
    *,
    n_dims: int,
    split_points: int,
    leaves: int,
    n_classes: int,
    independent: bool = True,
) -> FringeWait:
    """Return when a leaf of s(A0) = `s` comes first among the inactive leaves, with probability 1-δ.

    K is the least with

        s/2 >= largest_descendant(K) + sqrt(log(3·2^K·|L|/δ) / (2·α(K-1))),

    the second term being how far p̂ of a cell with α(K-1) estimation points may be above its measure.
    It goes to 0 because d/α(d) does. The other s/2 is for ŝ(A0), which is as near to s(A0) after
    2·log(3C/δ)/s² estimation points.

    Against the paper: `largest_descendant` takes the place of its first term, α(K-1) that of α(K) (see
    `least_points`), and C classes are in the last one, since ŝ is the least of C shares. Its bound on
    N^e(A) has a slip: the square root of log(1/γ)/(2N) belongs to the share N^e(A)/N^e, not to the
    number, and N is then not needed, since Hoeffding's inequality counts all points of a lifetime and
    not those in the cell. As in the paper the number of points is fixed; that leaves are looked at
    when others split is not accounted for.

    The numbers are finite, which is all that the proof needs: 2^K is beyond any stream.

    >>> from riparian.parameters.schedules import Geometric
    >>> wait = fringe_wait(0.2, Geometric(10, 1.5), 0.1, n_dims=1, split_points=1, leaves=10,
    ...                    n_classes=2)
    >>> wait.splits, wait.estimation_points
    (21, 205)
    """
    s, delta = probability("s", s), failure("delta", delta)
    leaves = whole("leaves", leaves, 1, 2**63)
    n_classes = whole("n_classes", n_classes, 1, 2**32)
    if not alpha.outgrows_depth:
        raise ValueError(f"alpha must outgrow the depth (d/alpha(d) -> 0), got {alpha!r}")
    splits = 1
    while _ahead(splits, alpha, delta, leaves, n_dims, split_points, independent) > s / 2:
        splits += 1
    return FringeWait(
        splits=splits,
        activations=leaves * (2**splits - 1),
        estimation_points=math.ceil(2 * math.log(3 * n_classes / delta) / s**2),
    )


def _ahead(
    splits: int,
    alpha: Schedule,
    delta: float,
    leaves: int,
    n_dims: int,
    split_points: int,
    independent: bool,
) -> float:
    """Bound p̂ of every cell after this many splits of every leaf, except with probability 2δ/3."""
    points = alpha(splits - 1)
    union = math.log(3 * leaves / delta) + splits * math.log(2)
    shrunk = largest_descendant(splits, n_dims, split_points, delta / 3, independent=independent)
    return shrunk + math.sqrt(union / (2 * points))


def rounds(splits: int, fringe_size: int) -> int:
    """Return how often a full fringe has to split until a tree has more than `splits` splits.

    ⌈(M+1)/|F|⌉, from the lemma that the number of splits goes to infinity. When all |F| active leaves
    have split there are at least |F| splits, not more, so the paper's ⌈M/|F|⌉ is one short where |F|
    divides M.

    >>> rounds(10, fringe_size=5)
    3
    """
    splits = whole("splits", splits, 0, 2**63)
    return -(-(splits + 1) // whole("fringe_size", fringe_size, 1, 2**63))


def _sizes(n_dims: int, split_points: int) -> tuple[int, int]:
    return whole("n_dims", n_dims, 1, 2**63), whole("split_points", split_points, 1, 2**63)
