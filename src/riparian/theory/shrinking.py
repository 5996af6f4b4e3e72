"""How the cell of a point shrinks with its splits (proposition diam-to-zero)."""

from __future__ import annotations

import math

from riparian.tools.checks import number, whole


def widest_child(split_points: int, density_ratio: float = 1.0) -> float:
    """E[V*]: how wide the wider child of a side of width 1 may be, at the worst of m thresholds.

    The paper has (2m+1)/(2m+2), for thresholds that are uniform on the side, "without loss of
    generality". There is a loss: a density that varies by a factor `density_ratio` r = sup f / inf f
    may heap the thresholds up at the ends, and mapping it to the uniform one maps widths to something
    else. Then E[V*] is at most

        1 - [ (1 - q)/r + r·q ] / (2(m+1)),   q = (1+r)^-(m+1),

    which a density of r near both ends and 1/r between them attains, and which is the paper's at r = 1.

    >>> widest_child(10)
    0.9545454545454546
    >>> round(widest_child(10, density_ratio=4), 4)
    0.9886
    """
    m = whole("split_points", split_points, 1, 2**63)
    r = number("density_ratio", density_ratio, at_least=1)
    q = (1 + r) ** -(m + 1)
    return 1 - ((1 - q) / r + r * q) / (2 * (m + 1))


def expected_side(
    splits: int,
    n_dims: int,
    candidate_dims: float,
    split_points: int,
    density_ratio: float = 1.0,
) -> float:
    """A bound on the expected side of a cell in any one dimension, after K splits (diam-to-zero).

    In units of the side at the start. A split cuts a given dimension at least when that is the only
    candidate, which has probability e^-λ/D, so each factor is 1 - e^-λ/D·(1 - E[V*]); at a density
    ratio of 1 that is the paper's 1 - e^-λ/(2D(m+1)). In one dimension nothing else can be drawn, and
    e^-λ is 1.

    R8 may draw candidates again, and an attempt with more dimensions is likelier to be the last. That
    divides e^-λ/D by m(1+λ) at most (uniform thresholds): a looser bound, which still goes to 0.

    >>> round(expected_side(100, n_dims=2, candidate_dims=1.0, split_points=10), 4)
    0.4319
    """
    n_dims, rate = whole("n_dims", n_dims, 1, 2**63), number("candidate_dims", candidate_dims, 0)
    only_candidate = 1.0 if n_dims == 1 else math.exp(-rate) / n_dims
    cut = only_candidate * (1 - widest_child(split_points, density_ratio))
    return float((1 - cut) ** whole("splits", splits, 0, 2**63))
