"""Saffari's forest (R18) in plain Python, from the parts of `riparian.reference`.

A. Saffari, C. Leistner, J. Santner, M. Godec and H. Bischof, *On-line Random Forests* (2009). Where
the paper's forest sends a point to one of two streams, this one uses every point that a tree takes
both to choose splits and to predict. The rest is shared: draws, feature space, candidates,
leaves. The native engine must equal this file to the last bit.

>>> import numpy as np
>>> from riparian.reference import Columns
>>> one_tree = SaffariParameters(
...     n_trees=1, seed=0, candidate_dims=1, split_points=10, thresholds="points", min_gain=0.1,
...     min_samples=10, max_depth=None, replacement_rate=None, voting="average")
>>> forest = SaffariForest(one_tree, FixedColumns(n_dims=1, candidates=1))
>>> forest.learn([np.float32([v]) for v in (1, 2, 3, 4) * 10], list("aabb") * 10)
>>> forest.predict(np.float32([1]))
'a'
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from riparian.parameters.forests import SaffariParameters
from riparian.reference import (
    STREAM_DRAW,
    CandidateSplit,
    Columns,
    Draws,
    FeatureSpace,
    Forest,
    Label,
    Leaf,
    Point,
    Tree,
    key,
)

THRESHOLD_DRAW = 3  # of a tree
REPLACEMENT_DRAW = 4  # of the forest


class FixedColumns(Columns):
    """Columns of which a leaf draws a fixed number, or all if there are fewer."""

    def __init__(self, n_dims: int, candidates: int, categorical: Iterable[int] = ()) -> None:
        super().__init__(n_dims, rate=math.nan, categorical=categorical)
        self.candidates = candidates

    def how_many(self, draws: Draws) -> int:
        return self.candidates


class SaffariTree(Tree):
    parameters: SaffariParameters  # type: ignore[assignment]

    def __init__(
        self, number: int, planted: int, parameters: SaffariParameters, space: FeatureSpace
    ) -> None:
        self.planted = planted  # points that the forest had received before
        self.left_out = self.left_out_errors = 0
        super().__init__(number, parameters, space)  # type: ignore[arg-type]

    # -- receiving a point --------------------------------------------------------------------

    def receive(self, t: int, x: Point, y: Label, weight: float) -> None:
        """Take a point Poisson(1) times, as a weight, or leave it out."""
        copies = self.round_weight(t, weight)
        if copies == 0:
            return
        draws = Draws(key(self.parameters.seed, self.number, STREAM_DRAW, t))
        taken = copies * draws.poisson(1.0)
        if taken > 0:
            self.take(x, y, taken)
        else:
            self.leave_out(x, y, copies)

    def take(self, x: Point, y: Label, copies: int) -> None:
        self.estimation_points += copies
        leaf = self.leaf_of(x)
        leaf.estimation[y] += copies
        if not leaf.active:
            return
        leaf.received += copies
        if leaf.split_points < self.parameters.split_points:
            self.create_candidate_splits(leaf, x, self.estimation_points)
        if not self.collects(leaf):
            for split in leaf.candidates:  # one stream: what chooses a split also predicts
                split.structure[self.side(split, x)][y] += copies
                split.estimation[self.side(split, x)][y] += copies
        if self.can_split(leaf) and self.should_split(leaf):
            self.should_splits += 1
            self.split(leaf)

    def leave_out(self, x: Point, y: Label, copies: int) -> None:
        """Test the tree on a point that it does not take, if trees may be replaced."""
        self.ignored_points += copies
        counts = self.leaf_of(x).estimation
        if self.parameters.replacement_rate is None or counts.total() == 0:
            return
        self.left_out += copies
        classes = sorted(counts)
        answer = max(classes, key=lambda k: counts[k])  # the first, so the smallest, of equals
        self.left_out_errors += copies * (answer != y)

    # -- thresholds ---------------------------------------------------------------------------

    def create_candidate_splits(self, leaf: Leaf, x: Point, born: int) -> None:
        super().create_candidate_splits(leaf, x, born)
        if self.parameters.thresholds == "range" and not self.collects(leaf):
            self.spread_thresholds(leaf)

    def collects(self, leaf: Leaf) -> bool:
        """Return whether a leaf still collects the values that give the range of its thresholds."""
        p = self.parameters
        return p.thresholds == "range" and leaf.split_points < p.split_points

    def spread_thresholds(self, leaf: Leaf) -> None:
        draws = Draws(key(self.parameters.seed, self.number, THRESHOLD_DRAW, leaf.number))
        for d in range(len(leaf.dims)):
            if self.space.is_categorical(leaf.dims[d]):
                continue  # R22: candidates keep their categories
            splits: list[CandidateSplit] = leaf.candidates[d :: len(leaf.dims)]
            values = [split.threshold for split in splits if not math.isnan(split.threshold)]
            low, high = (min(values), max(values)) if values else (math.nan, math.nan)
            for split in splits:
                split.threshold = float(np.float32(low + draws.uniform() * (high - low)))

    # -- when to split ------------------------------------------------------------------------

    def can_split(self, leaf: Leaf) -> bool:
        enough = leaf.estimation.total() >= self.parameters.min_samples
        return enough and not self.collects(leaf)

    def valid_splits(self, leaf: Leaf) -> list[CandidateSplit]:
        return leaf.candidates

    def fill_fringe(self) -> None:
        """Make every leaf active that may split."""
        deepest = self.parameters.max_depth
        may = [leaf for leaf in self.inactive if deepest is None or leaf.depth < deepest]
        for leaf in may:
            self.inactive.remove(leaf)
            self.fringe.append(leaf)
            self.enter_fringe(leaf)


class SaffariForest(Forest):
    parameters: SaffariParameters  # type: ignore[assignment]
    trees: list[SaffariTree]  # type: ignore[assignment]

    def __init__(
        self, parameters: SaffariParameters, space: FeatureSpace, classes: Iterable[Label] = ()
    ) -> None:
        super().__init__(parameters, space, classes)  # type: ignore[arg-type]

    def new_tree(self, number: int) -> SaffariTree:
        return SaffariTree(number, self.points, self.parameters, self.space)

    def learn_one(self, x: Point, y: Label, weight: float = 1.0) -> None:
        super().learn_one(x, y, weight)
        if self.parameters.replacement_rate is not None:
            self.replace_one(1 / self.parameters.replacement_rate)

    def replace_one(self, age: float) -> None:
        """Draw one of the old trees, and replace it with the probability of its out-of-bag error."""
        old = [tree for tree in self.trees if self.points - tree.planted > age]
        if not old:
            return
        draws = Draws(key(self.parameters.seed, REPLACEMENT_DRAW, self.points - 1))
        tree = old[draws.below(len(old))]
        error = tree.left_out_errors / tree.left_out if tree.left_out else 0.0
        if draws.uniform() < error:
            # A number that no tree has had, so that its draws are new.
            new = self.new_tree(tree.number + len(self.trees))
            self.trees[self.trees.index(tree)] = new
