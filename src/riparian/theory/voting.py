"""From the trees to the forest (proposition multi-biau).

It rests on proposition multiclass: a tree answers argmax_k η^k(x) from one histogram a leaf (R11),
and that histogram is the estimate of every two-class problem "k or not" at once, so if each of these
is consistent, so is the tree. In numbers, what a classifier loses at x against Bayes is at most
Σ_k |η_t^k(x) - η^k(x)|. The same holds for the mean of the trees' η, which is `voting="average"`: a mean
of consistent estimates is a consistent estimate, so averaging is covered too, although the paper
speaks of votes.
"""

from __future__ import annotations

from riparian.tools.checks import number, whole


def vote_bound(wrong: float, n_trees: int, n_classes: int | None = None) -> float:
    """A bound on P(the forest answers k) where one tree answers k with probability `wrong`.

    M·P(g = k), as at least one of M trees has to vote for k; the trees need not be independent
    (multi-biau). The bound grows with the forest, although its errors do not: among C classes
    the winner has at least M/C votes, so that C·P(g = k) holds as well. Given `n_classes`, the smaller
    of both.

    >>> vote_bound(0.01, n_trees=50)
    0.5
    >>> vote_bound(0.01, n_trees=50, n_classes=3)
    0.03
    """
    wrong = number("wrong", wrong, at_least=0)
    factor = whole("n_trees", n_trees, 1, 2**63)
    if n_classes is not None:
        factor = min(factor, whole("n_classes", n_classes, 1, 2**63))
    return min(1.0, factor * wrong)
