"""When a cell splits, and splits again (propositions will-split and infinite-splits)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from riparian.parameters.schedules import Schedule
from riparian.theory.inputs import failure, probability, share_of
from riparian.theory.streams import points_for
from riparian.tools.checks import whole


@dataclass(frozen=True)
class Waits:
    """The three waits of a cell, each in points of the whole stream."""

    candidate: int  # until a structure point makes a candidate split
    points: int  # until both its children hold β(d) estimation points
    split: int  # until the next structure point, which checks that

    @property
    def total(self) -> int:
        return self.candidate + self.points + self.split


def will_split(
    left: float,
    right: float,
    beta: int,
    delta: float,
    *,
    structure_fraction: float = 0.5,
    estimation_fraction: float = 0.5,
    sharp: bool = False,
) -> Waits:
    """Return after how many points an active cell has split, with probability 1-δ (will-split).

    `left` and `right` are the measures μ(A') and μ(A'') of the two children of one candidate split,
    `beta` is β(d) at the depth of the cell. Something else may split the cell earlier, never later.

    The paper counts structure and estimation points, given to which stream each goes; its N^s and N^e
    are what this gives for fractions of 1. Here a point is one of the stream that all share: it is a
    structure point inside A with probability `structure_fraction`·μ(A). `sharp` is that of `points_for`.

    Two remarks on the proof. It waits for β(d) points in each child, where max(α(d), β(d)/2) would do.
    And it follows a single candidate, while R8 draws new ones when 2β(d) estimation points have left
    none of them valid: then it starts again, as often as `attempt_succeeds` fails.

    >>> will_split(0.1, 0.2, beta=50, delta=0.05)
    Waits(candidate=363, points=3817, split=363)
    >>> will_split(0.1, 0.2, beta=50, delta=0.05, sharp=True)
    Waits(candidate=26, points=1359, split=26)
    """
    left, right = probability("left", left), probability("right", right)
    measure = probability("left + right", left + right)
    structure = probability("structure_fraction", structure_fraction)
    estimation = probability("estimation_fraction", estimation_fraction)
    beta = whole("beta", beta, 1, 2**63)
    each = share_of(failure("delta", delta), 3)
    structure_wait = points_for(1, structure * measure, each, sharp=sharp)
    # Each child may fail with half of what the middle wait may.
    estimation_wait = points_for(beta, estimation * min(left, right), each / 2, sharp=sharp)
    return Waits(structure_wait, estimation_wait, structure_wait)


def infinite_splits(
    cells: Sequence[tuple[float, float]],
    beta: Schedule,
    delta: float,
    *,
    structure_fraction: float = 0.5,
    estimation_fraction: float = 0.5,
    sharp: bool = False,
) -> list[Waits]:
    """Return the waits for K successive splits, all over with probability 1-δ (infinite-splits).

    `cells` are the measures of the two children, from the root on: those of the candidate split that
    is waited for in the cell which contains a point x when it has been split 0, 1, 2, ... times.

    The paper takes the next wait given the time of the last split alone, and says that an earlier one
    could only help. The measure of the next cell is random and may go with that time, so the argument
    wants the measures given too, as here. They are positive with probability 1, which is all it needs.

    >>> from riparian.parameters.schedules import Geometric
    >>> halves = [(0.5, 0.5), (0.25, 0.25)]
    >>> [waits.total for waits in infinite_splits(halves, Geometric(20, 1.5), 0.1, sharp=True)]
    [134, 379]
    """
    each = share_of(failure("delta", delta), max(1, len(cells)))
    return [
        will_split(
            left,
            right,
            beta.at(depth),
            each,
            structure_fraction=structure_fraction,
            estimation_fraction=estimation_fraction,
            sharp=sharp,
        )
        for depth, (left, right) in enumerate(cells)
    ]


def attempt_succeeds(received: int, alpha: int) -> float:
    """P(a candidate split is valid once its leaf has received this many estimation points since).

    Not in the paper, whose proof would wait for any candidate however lopsided; R8 waits for 2β(d)
    points and draws again. The threshold and the points that come after it are exchangeable, so, in
    a density, its rank among them is uniform: α points lie on either side with probability
    (n - 2α + 1)/(n + 1), whatever the cell. At n = 2β that is more than 1 - 2α/(2β+1), and never 0,
    so every leaf still splits, and a redraw is rare where β is many times α.

    >>> attempt_succeeds(40, alpha=1)
    0.9512195121951219
    """
    received = whole("received", received, 0, 2**63)
    alpha = whole("alpha", alpha, 1, 2**63)
    return max(0, received - 2 * alpha + 1) / (received + 1)
