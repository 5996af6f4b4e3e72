"""How many points of a stream there are, in all and in a cell (lemmas big-parts and binomial).

R1 sends each point to a stream by a uniform of its own, so the number of points of stream k among n
is Binomial(n, p_k). Given to which stream each point went (a *partitioning sequence*), the number of
them that fall into a fixed cell A is Binomial(n_k, μ(A)). Both lemmas are about the same tail.

The proof fixes the partitioning sequence first: given it, the partition (from structure points) and
the estimates (from estimation points) are independent. Proposition condition-on-full-measure takes
the condition away again: what holds for every sequence in which both streams go on forever holds
without it, because by big-parts such sequences have probability 1. R1 is what the code has to do for
that: the draw of a point looks at nothing but its place in the stream (R13).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import stats

from riparian.theory.inputs import failure, probability
from riparian.tools.checks import whole


@dataclass(frozen=True)
class Tail:
    """A probability, and the paper's bound on it."""

    exact: float
    bound: float


def binomial_tail(n: int, measure: float) -> Tail:
    """P(N <= n·μ/2) for N points of n in a cell of measure μ, at most exp(-n·μ²/2).

    Lemma binomial, from Hoeffding's inequality; with p_k for μ, the quantitative side of lemma
    big-parts, which says that every stream goes on forever.

    >>> tail = binomial_tail(100, 0.2)
    >>> round(tail.exact, 4), round(tail.bound, 4)
    (0.0057, 0.1353)
    """
    n, measure = whole("n", n, 0, 2**63), probability("measure", measure)
    return Tail(
        exact=float(stats.binom.cdf(math.floor(n * measure / 2), n, measure)),
        bound=math.exp(-n * measure**2 / 2),
    )


def points_for(received: int, measure: float, delta: float, *, sharp: bool = False) -> int:
    """Return after how many points a cell has received `received` of them, with probability 1-δ.

    (2/μ)·max(received, log(1/δ)/μ), as proposition will-split has it from lemma binomial. `sharp`
    gives the smallest number that is enough, a quantile of the negative binomial distribution: the
    paper's is of the order 1/μ² where 1/μ would do.

    >>> points_for(10, 0.01, 0.05)
    59915
    >>> points_for(10, 0.01, 0.05, sharp=True)
    1568
    """
    received = whole("received", received, 1, 2**63)
    measure, delta = probability("measure", measure), failure("delta", delta)
    if sharp:
        # scipy counts the points outside the cell until this many have come inside.
        return received + int(stats.nbinom.ppf(1 - delta, received, measure))
    return math.ceil(2 / measure * max(received, math.log(1 / delta) / measure))
