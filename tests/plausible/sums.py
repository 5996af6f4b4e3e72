"""Whether the sums of forests of numbers (R26) are such that learning could have led to them.

No target is beyond B, so no sum is beyond that many times B, up to rounding.
"""

from __future__ import annotations

import numpy as np

from plausible.errors import every
from riparian import _core

ROUNDING = 1e-6  # of a sum of very many float64, as a part of it
MOST_LOSS = 1000.0  # of a head, at one point
FADING = {True: 0.995, False: 0.999}  # of trust, whether the forest is for streams that change


def largest_targets(trees):
    """Return B of each tree, which is 2^(k - 900)."""
    return np.exp2(trees.totals.classes.astype(np.float64) - 900)


def check_sums(trees, lengths, header):
    totals = trees.totals
    every(totals.classes == header.labels.scale, "totals: the scale must be that of the stream")
    most = (totals.structure_points + totals.estimation_points).astype(np.float64)
    check_leaf_sums(trees, lengths, most)
    check_inner_sums(trees, lengths, most)
    check_saved(trees, lengths, most)


def check_leaf_sums(trees, lengths, most):
    weight, total = trees.leaf_weight.astype(np.float64), trees.leaf_sum
    squares, same = trees.leaf_squares, trees.leaf_same
    none = weight == 0
    every((total == 0)[none] & (squares == 0)[none], "leaf_sum must be 0 without votes")
    every(np.isnan(same[none]), "leaf_same must be NaN without votes")
    # The right side of a split is a difference: its rounding is that of the whole.
    bound = np.repeat(largest_targets(trees), lengths.leaves)
    rounding = ROUNDING * np.repeat(most, lengths.leaves) * bound
    every(np.abs(total) <= weight * bound + rounding, "leaf_sum must be that of targets")
    with np.errstate(over="ignore", invalid="ignore"):  # squares may have overflown
        beyond = squares > weight * bound * bound + rounding * bound
        every(~beyond, "leaf_squares must be that of targets")
        few = squares < total * (total / np.maximum(weight, 1)) - rounding * bound
        every(~few, "leaf_squares must not be less than those of the mean")
    known = ~np.isnan(same)
    every((np.abs(same) <= bound)[known], "leaf_same must be a target")
    close = np.abs(total - weight * same) <= rounding
    every(close[known], "leaf_sum must be that of equal targets where leaf_same is one")


def check_inner_sums(trees, lengths, most):
    weight, total = trees.inner_weight.astype(np.float64), trees.inner_sum
    every((total == 0)[weight == 0], "inner_sum must be 0 without votes")
    inner = lengths.leaves - 1 if len(weight) else np.zeros_like(lengths.leaves)
    bound = np.repeat(largest_targets(trees), inner)
    rounding = ROUNDING * np.repeat(most, inner) * bound
    every(np.abs(total) <= weight * bound + rounding, "inner_sum must be that of targets")


def check_saved(trees, lengths, most):
    """Check that splits save no more than the squared error of the points that they have seen."""
    columns = lengths.arrays["saved_error"]
    tree = np.repeat(np.arange(len(columns)), columns)
    saved = np.bincount(tree, weights=trees.saved_error, minlength=len(columns))
    splits = (lengths.nodes - 1) // 2
    with np.errstate(over="ignore"):
        error = most * largest_targets(trees) ** 2 * (1 + ROUNDING)
    every((splits > 0) | (saved == 0), "saved_error must be 0 without splits")
    every((saved <= splits * error) | (splits == 0), "saved_error must be that of splits")


def check_waiting(trees, leaves):
    """Check that a key is at least ŝ, and was ŝ at some time (R12)."""
    waits = trees.leaf_active == 0
    errors = leaves.errors[waits]
    age = leaves.estimation_points[leaves.tree[waits]] - trees.leaf_born[waits]
    least = errors / np.maximum(age, 1).astype(np.float64) * (1 - ROUNDING)
    every(trees.waiting_error >= least, "waiting_error must be at least ŝ of its leaf")
    most = errors * (1 + ROUNDING)
    every(trees.waiting_error <= most, "waiting_error must not be above the errors of its leaf")


# -- heads (R25) -------------------------------------------------------------------------------------


def check_heads(trees, trust, header):
    """Check scores and trust: an answer and a target are within B, and so differ by 2B at most."""
    with np.errstate(over="ignore"):
        error = (2 * largest_targets(trees)) ** 2 * (1 + ROUNDING)
    scores = trees.scores.reshape(len(error), -1)
    every(scores >= -1000 * error[:, None], "scores must be those of errors that fade")
    *evidence, smallest, judged = trust[: header.trust_width]
    points = 1 / (1 - FADING[header.adaptive]) * (1 + ROUNDING)
    every(np.array(evidence) >= -MOST_LOSS * points, "trust must be that of losses that fade")
    every(0 <= judged <= points, "trust: the number of errors must fade")
    every(0 <= smallest <= judged * error.max(), "trust: errors must be those of targets")


def check_following(trust, header):
    """Check that the sums of R29 are those of products, and pairs are there once they are known."""
    x1x1, x1x2, x2x2, x1e, x2e, ee, n = trust[header.trust_width :][: _core.following_sums]
    every(0 <= n <= 1000 * (1 + ROUNDING), "trust: the number of products must fade")
    every(min(x1x1, x2x2, ee) >= 0, "trust: squares must not be below 0")
    for product, *squares in ((x1x2, x1x1, x2x2), (x1e, x1x1, ee), (x2e, x2x2, ee)):
        most = np.sqrt(squares[0]) * np.sqrt(squares[1]) * (1 + ROUNDING)
        every(abs(product) <= most, "trust: products must be those of the squares")
    all_pairs = len(trust) - header.least_trust == 2 * header.parameters.lag
    every(n == 0 or all_pairs, "trust: products need the pairs that they are of")


# -- candidates --------------------------------------------------------------------------------------


class CandidateSums:
    """What candidates have counted of numbers: weights and sums, in place of rows of counts."""

    def check_plausible(self):
        super().check_plausible()
        # B of each active leaf: the scale is where the number of classes would be.
        largest = np.exp2(self.n_classes - 900.0)
        bound = np.repeat(largest, (self.dims + 1) * self.split_points) * (1 + ROUNDING)
        for stream in self.streams:
            weight, total = (getattr(self.trees, f"{stream}_{name}") for name in ("weight", "sum"))
            every(np.abs(total) <= weight * bound, f"{stream}_sum must be that of targets")
        with np.errstate(over="ignore"):  # squares may have overflown
            most = self.trees.estimation_weight * bound * bound
        every(self.trees.estimation_squares <= most, "estimation_squares must be that of targets")

    def check_shape(self, shape):
        structure, estimation = (
            self.check_sums(stream, shape)[:, -1] for stream in ("structure", "estimation")
        )
        every((structure >= 1).all(axis=1), "structure_weight: a split point without its own point")
        most = self.most_structure(shape.leaves)
        every(structure[:, 0] <= most, "structure_weight: more points than the tree has received")
        self.check_counts(shape.leaves, estimation[:, 0], "estimation_weight")
        age = self.now[shape.leaves, None] - shape.born
        good = (estimation <= age).all(axis=1)
        every(good, "estimation_weight: more points than since split_point_born")
