"""The forest of the paper in plain Python: documentation that runs.

Denil, Matheson and de Freitas, *Consistency of Online Random Forests* (ICML 2013), Appendix A and the
bounded fringe, in the paper's order and words. A number such as R7 is a rule of docs/rules.md, which
decides what the paper leaves open. The native engine must equal this file to the last bit. The code is
written to be read, not to be fast.

From top to bottom: the draws, the two types of counts, a candidate split, a leaf, a tree, the forest.

>>> import numpy as np
>>> from riparian.parameters.forests import PaperParameters
>>> from riparian.parameters.schedules import Geometric
>>> one_tree = PaperParameters(
...     n_trees=1, seed=0, candidate_dims=1.0, split_points=10, min_gain=0.001,
...     alpha=Geometric(1, 1.1), beta=Geometric(1000, 1.1), structure_fraction=0.5,
...     ignore_fraction=0.0, fringe_size=None, voting="average")
>>> forest = Forest(one_tree, Columns(n_dims=1, rate=1.0))
>>> forest.learn([np.float32([v]) for v in (1, 2, 3, 4) * 10], list("aabb") * 10)
>>> forest.predict_proba(np.float32([1]))
{'a': 1.0, 'b': 0.0}
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal, Protocol

from riparian._core import entropy_term as F
from riparian.parameters.forests import StreamParameters

Label = Any  # any labels that can be sorted
Point = Any  # what the feature space takes: a row of numbers, or a pixel of an image
Feature = Hashable  # what it measures on a point: a dimension, or a pair of offsets

# ---------------------------------------------------------------------------------------------
# Randomness is a value (R13): a draw is a pure function of where it is made.
# ---------------------------------------------------------------------------------------------

WORD = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio, SplitMix64's increment

STREAM_DRAW, LEAF_DRAW, WEIGHT_DRAW, SHUFFLE_DRAW = 0, 1, 2, 3

HALVES_OF_KEY = 64  # of the categories of a column (R22)

GAUSSIAN_WIDTH = 0.8577638849607068  # sqrt(2 / e)


def mix(z: int) -> int:
    """Apply the finaliser of SplitMix64."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & WORD
    return z ^ (z >> 31)


def key(*words: int) -> int:
    """Fold the words, in order, into one word."""
    folded = 0
    for word in words:
        folded = mix((folded ^ word) + GOLDEN & WORD)
    return folded


def uniform(bits: int) -> float:
    """Return a number in [0, 1) from the top 53 bits of a word."""
    return (bits >> 11) * 2.0**-53


class Draws:
    """A SplitMix64 sequence: the draws of one leaf, one after the other."""

    def __init__(self, start: int) -> None:
        self.state = start

    def uniform(self) -> float:
        self.state = self.state + GOLDEN & WORD
        return uniform(mix(self.state))

    def below(self, n: int) -> int:
        """Return an integer from 0 to n-1."""
        return int(self.uniform() * n)

    def poisson(self, rate: float) -> int:
        """Add up draws at rate 1 and one at the rest: exp(-rate) underflows for a large rate (R2)."""
        whole = math.floor(rate)
        return sum(self._knuth(1.0) for _ in range(whole)) + self._knuth(rate - whole)

    def gaussian(self) -> float:
        """Draw from a standard Gaussian by the ratio of two uniforms (R16)."""
        while True:
            u = 1.0 - self.uniform()
            x = GAUSSIAN_WIDTH * (2.0 * self.uniform() - 1.0) / u
            if x * x <= -4.0 * math.log(u):
                return x

    def _knuth(self, rate: float) -> int:
        limit = math.exp(-rate)
        count, product = 0, self.uniform()
        while product > limit:
            count, product = count + 1, product * self.uniform()
        return count


# ---------------------------------------------------------------------------------------------
# The feature space: what can be measured on a point, and how a leaf draws what it will look at.
# ---------------------------------------------------------------------------------------------


class FeatureSpace(Protocol):
    def draw(self, draws: Draws) -> Sequence[Feature]:
        """Draw the candidate dimensions of a leaf that enters the fringe."""

    def value(self, feature: Any, x: Any) -> float:
        """Return the projection of a point onto one dimension, a float32."""

    def is_categorical(self, feature: Any) -> bool:
        """Return whether the values of a feature are codes of categories (R22)."""


class Columns:
    """Axis-aligned features: dimension d of a point is its d-th coordinate."""

    def __init__(self, n_dims: int, rate: float, categorical: Iterable[int] = ()) -> None:
        self.n_dims = n_dims  # D, so far
        self.rate = rate  # λ
        self.categorical = set(categorical)  # columns

    def draw(self, draws: Draws) -> list[int]:
        """Draw min(1 + Poisson(λ), D) distinct dimensions by a partial Fisher-Yates shuffle (R2)."""
        count = min(self.how_many(draws), self.n_dims)
        dims = list(range(self.n_dims))
        for i in range(count):
            j = i + draws.below(self.n_dims - i)
            dims[i], dims[j] = dims[j], dims[i]
        return dims[:count]

    def how_many(self, draws: Draws) -> int:
        return 1 + draws.poisson(self.rate)

    def value(self, dim: int, x: Sequence[float]) -> float:
        return float(x[dim]) if dim < len(x) else math.nan  # it joined after the point (R19)

    def is_categorical(self, dim: int) -> bool:
        return dim in self.categorical


# ---------------------------------------------------------------------------------------------
# Two types of counts. A structure point may choose a split and never votes in a prediction. An
# estimation point votes in predictions, and a choice of split may only count it, never read its label.
# ---------------------------------------------------------------------------------------------


class Counts(Counter[Label]):
    """The labels of points in a cell."""

    def add(self, y: Label, copies: int) -> None:
        self[y] += copies


class StructureCounts(Counts):
    """Y^s(A): the labels of the structure points in a cell."""


class EstimationCounts(Counts):
    """Y^e(A): the labels of the estimation points in a cell."""

    def errors_per(self, lifetime: int) -> Fraction:
        """Return p̂·ê of a leaf (R12), given the estimation points of the tree in its lifetime."""
        errors = self.total() - max(self.values(), default=0)
        return Fraction(errors, lifetime) if lifetime else Fraction(0)


def scaled_gain(left: StructureCounts, right: StructureCounts) -> int:
    """Return G of R14: the gain times the number of structure points, in units of 2^-20 bits."""
    both = left + right
    return in_64_bits(
        F(both.total())
        - sum(F(n) for n in both.values())
        - F(left.total())
        + sum(F(n) for n in left.values())
        - F(right.total())
        + sum(F(n) for n in right.values())
    )


def in_64_bits(n: int) -> int:
    """Wrap n to a signed 64-bit integer. It changes nothing below 2^37 points in a leaf."""
    return (n + 2**63) % 2**64 - 2**63


def information_gain(left: StructureCounts, right: StructureCounts) -> float:
    """Return the mutual information of side and label, in bits (R7)."""
    points = left.total() + right.total()
    return float(scaled_gain(left, right)) / float(points * 2**20)


def entropy(labels: StructureCounts) -> float:
    """Return the entropy in bits, rounded as in R14: the gain of a split that separates all classes."""
    points = labels.total()
    scaled = in_64_bits(F(points) - sum(F(n) for n in labels.values()))
    return float(scaled) / float(points * 2**20)


def split_is_valid(left_points: int, right_points: int, alpha: int) -> bool:
    """Return whether both children have enough estimation points, whatever their labels (R6)."""
    return left_points >= alpha and right_points >= alpha


# ---------------------------------------------------------------------------------------------
# The target: what is predicted. Here it is classes; `riparian.reference_numbers` has numbers (R26).
# ---------------------------------------------------------------------------------------------


class Target:
    """What a leaf counts of its labels, what a split gains, and what a leaf answers."""

    # Left and right child of a candidate; and the counts of one cell.
    def structure_sides(self) -> tuple[Any, Any]:
        return StructureCounts(), StructureCounts()

    def estimation_sides(self) -> tuple[Any, Any]:
        return EstimationCounts(), EstimationCounts()

    def structure(self) -> Any:
        return StructureCounts()

    def estimation(self) -> Any:
        return EstimationCounts()

    def gain(self, left: Any, right: Any) -> float:
        """Return the gain of a split, which τ is compared with."""
        return information_gain(left, right)

    def worth(self, left: Any, right: Any) -> float:
        """Return what the best split has most of (R9): of classes, the gain."""
        return information_gain(left, right)

    def importance(self, left: Any, right: Any) -> Any:
        """Return what a split adds to the importance of its dimension."""
        return scaled_gain(left, right)

    def most_gain(self, labels: Any) -> float:
        """Return a bound on the gain of any split of these points."""
        return entropy(labels)

    def answer(self, estimation: Any, classes: Sequence[Label], *, majority: bool) -> list[int]:
        """Return what a leaf answers, in units of 2^-40 (R11)."""
        counts = [estimation[k] for k in classes]
        return vote(counts) if majority else shares(counts)


# ---------------------------------------------------------------------------------------------
# A candidate split, and a leaf with its candidates.
# ---------------------------------------------------------------------------------------------


class CandidateSplit:
    """A dimension and a threshold, category or half, with the counts of its two children (R5)."""

    def __init__(
        self, feature: Feature, threshold: float, born: int, target: Target | None = None
    ) -> None:
        self.feature = feature
        self.threshold = threshold
        self.born = born  # estimation points the tree had received when this was created
        self.target = Target() if target is None else target
        self.structure = self.target.structure_sides()  # left and right child
        self.estimation = self.target.estimation_sides()

    def is_valid(self, alpha: int) -> bool:
        left, right = self.estimation
        return split_is_valid(left.total(), right.total(), alpha)

    def gain(self) -> float:
        return self.target.gain(*self.structure)

    def worth(self) -> float:
        return self.target.worth(*self.structure)


def goes_right(value: float, threshold: float) -> bool:
    """R4: `<=` goes left, everything else right, so a missing value (NaN) goes right at every split."""
    return not value <= threshold


def differs(value: float, category: float) -> bool:
    """R22: a value that equals the category goes left, everything else right, missing values included.

    A number below zero is not a category but a half: -(1 + 64·key + b) stands for half b of a key,
    which sends the codes left whose hash has bit b.
    """
    if category < 0:
        half_key, b = divmod(-1 - int(category), HALVES_OF_KEY)
        return math.isnan(value) or not key(2**24 * half_key + int(value)) >> b & 1
    return value != category


class Leaf:
    def __init__(self, number: int, depth: int, estimation: Any, born: int) -> None:
        self.number = number  # of its node, in order of creation
        self.depth = depth
        self.estimation = estimation
        self.born = born  # E0: estimation points the tree had received when its lifetime began
        self.active = False

    def enter_fringe(self) -> None:
        self.active = True
        self.attempt = 0  # how often candidates were drawn of which none became valid (R8)
        self.select_dims(())

    def select_dims(self, dims: Sequence[Feature]) -> None:
        """Start with these candidate dimensions, without candidates."""
        self.dims = dims
        self.split_points = 0
        self.candidates: list[CandidateSplit] = []  # by split point, then as dimensions were drawn
        self.received = 0  # estimation points since the candidates were drawn

    def s_hat(self, received: int) -> Any:
        """Return the most that splitting this leaf can save, p̂·ê (R12); `received` is the tree's E."""
        return self.estimation.errors_per(received - self.born)


class Split:
    """An inner node."""

    def __init__(
        self, number: int, feature: Feature, threshold: float, left: Leaf, right: Leaf
    ) -> None:
        self.number = number
        self.feature = feature
        self.threshold = threshold
        self.children: list[Split | Leaf] = [left, right]


# ---------------------------------------------------------------------------------------------
# BuildTree
# ---------------------------------------------------------------------------------------------


class Tree:
    def __init__(
        self,
        number: int,
        parameters: StreamParameters,
        space: FeatureSpace,
        target: Target | None = None,
    ) -> None:
        self.number = number
        self.parameters = parameters
        self.space = space
        self.target = Target() if target is None else target
        self.structure_points = self.estimation_points = self.ignored_points = 0
        self.plant(Leaf(number=0, depth=0, estimation=self.target.estimation(), born=0))

    def plant(self, root: Leaf) -> None:
        self.root: Split | Leaf = root
        self.n_nodes = 1
        self.should_splits = self.must_splits = 0
        self.importance: Counter[Feature] = Counter()  # Σ G over the splits in a dimension
        self.fringe: list[Leaf] = []  # active leaves
        self.inactive: list[Leaf] = [root]
        self.fill_fringe()

    # -- receiving a point --------------------------------------------------------------------

    def receive(self, t: int, x: Point, y: Label, weight: float) -> None:
        """Learn the t-th point of the stream."""
        copies = self.round_weight(t, weight)
        if copies == 0:
            return
        stream = self.stream(t)
        if stream == "structure":
            self.receive_structure(x, y, copies)
        elif stream == "estimation":
            self.receive_estimation(x, y, copies)
        else:
            self.ignored_points += copies

    def stream(self, t: int) -> Literal["structure", "estimation", "ignored"]:
        """Return the stream of the t-th point in this tree (R1)."""
        p = self.parameters
        u = uniform(key(p.seed, self.number, STREAM_DRAW, t))
        if u < p.structure_fraction:
            return "structure"
        return "ignored" if u < p.structure_fraction + p.ignore_fraction else "estimation"

    def round_weight(self, t: int, weight: float) -> int:
        """Round a weight, up with the probability of its fraction (R17)."""
        whole = math.floor(weight)
        u = uniform(key(self.parameters.seed, self.number, WEIGHT_DRAW, t))
        return whole + (u < weight - whole)

    def receive_estimation(self, x: Point, y: Label, copies: int) -> None:
        self.estimation_points += copies
        leaf = self.leaf_of(x)
        leaf.estimation.add(y, copies)
        if leaf.active:
            self.count_estimation(leaf, x, y, copies)

    def receive_structure(self, x: Point, y: Label, copies: int) -> None:
        self.structure_points += copies
        leaf = self.leaf_of(x)
        if leaf.active:  # R6
            self.count_structure(leaf, x, y, copies)
            self.check(leaf)

    def count_estimation(self, leaf: Leaf, x: Point, y: Label, copies: int) -> None:
        leaf.received += copies
        for split in leaf.candidates:
            split.estimation[self.side(split, x)].add(y, copies)

    def count_structure(self, leaf: Leaf, x: Point, y: Label, copies: int) -> None:
        if leaf.split_points < self.parameters.split_points:
            self.create_candidate_splits(leaf, x, self.voted())
        for split in leaf.candidates:
            split.structure[self.side(split, x)].add(y, copies)

    def check(self, leaf: Leaf) -> None:
        """Split an active leaf in which a structure point has arrived, if it can and should or must."""
        if self.can_split(leaf):
            if self.should_split(leaf):
                self.should_splits += 1
                self.split(leaf)
            elif self.must_split(leaf):
                self.must_splits += 1
                self.split(leaf)
        elif leaf.received >= 2 * self.beta(leaf):  # R8: ties, most likely; try other candidates
            leaf.attempt += 1
            self.select_candidates(leaf)

    # -- candidate splits -----------------------------------------------------------------------

    def select_candidates(self, leaf: Leaf) -> None:
        """SelectCandidateSplitDimensions (R2)."""
        leaf.select_dims(self.space.draw(self.draws(leaf)))

    def draws(self, leaf: Leaf) -> Draws:
        return Draws(key(*self.place_of_draws(leaf)))

    def place_of_draws(self, leaf: Leaf) -> tuple[int, ...]:
        return self.parameters.seed, self.number, LEAF_DRAW, leaf.number, leaf.attempt

    def create_candidate_splits(self, leaf: Leaf, x: Point, born: int) -> None:
        """CreateCandidateSplit in every candidate dimension (R3)."""
        leaf.split_points += 1
        for feature in leaf.dims:
            threshold = self.space.value(feature, x)
            leaf.candidates.append(self.new_candidate(feature, threshold, born))

    def new_candidate(self, feature: Feature, threshold: float, born: int) -> CandidateSplit:
        return CandidateSplit(feature, threshold, born, self.target)

    def voted(self) -> int:
        """Return E of R12: the weight of the points that have voted in this tree."""
        return self.estimation_points

    # -- when to split ------------------------------------------------------------------------

    def alpha(self, leaf: Leaf) -> int:
        return self.parameters.alpha.at(leaf.depth)

    def beta(self, leaf: Leaf) -> int:
        return self.parameters.beta.at(leaf.depth)

    def min_gain(self, leaf: Leaf) -> float:
        return self.parameters.min_gain  # τ

    def can_split(self, leaf: Leaf) -> bool:
        return len(self.valid_splits(leaf)) > 0

    def should_split(self, leaf: Leaf) -> bool:
        return self.best_split(leaf).gain() > self.min_gain(leaf)

    def must_split(self, leaf: Leaf) -> bool:
        total: int = leaf.estimation.total()
        return total >= self.beta(leaf)

    def best_split(self, leaf: Leaf) -> CandidateSplit:
        """Return the valid candidate with the largest gain, among equals the last created (R9)."""
        best = None
        for split in self.valid_splits(leaf):
            if best is None or split.worth() >= best.worth():
                best = split
        assert best is not None, "only a leaf that can_split is split"
        return best

    def valid_splits(self, leaf: Leaf) -> list[CandidateSplit]:
        return [split for split in leaf.candidates if split.is_valid(self.alpha(leaf))]

    # -- splitting, and filling the fringe ---------------------------------------------------------

    def split(self, leaf: Leaf) -> None:
        """Split a leaf. The children start with the estimation counts of the candidate (R10)."""
        best = self.best_split(leaf)
        self.importance[best.feature] += self.target.importance(*best.structure)
        left, right = (
            Leaf(self.n_nodes + side, leaf.depth + 1, best.estimation[side].copy(), best.born)
            for side in (0, 1)
        )
        self.n_nodes += 2
        self.replace(leaf, Split(leaf.number, best.feature, best.threshold, left, right))
        self.fringe.remove(leaf)
        self.inactive += [left, right]
        self.fill_fringe()

    def fill_fringe(self) -> None:
        """Fill free places with inactive leaves, the largest ŝ first, among equals the oldest (R12)."""
        room = self.parameters.fringe_size
        while self.inactive and (room is None or len(self.fringe) < room):
            leaf = max(self.inactive, key=lambda a: (a.s_hat(self.voted()), -a.number))
            self.inactive.remove(leaf)
            self.fringe.append(leaf)
            self.enter_fringe(leaf)

    def enter_fringe(self, leaf: Leaf) -> None:
        leaf.enter_fringe()
        self.select_candidates(leaf)

    # -- routing and answering --------------------------------------------------------------------

    def side(self, split: CandidateSplit | Split, x: Point) -> int:
        value = self.space.value(split.feature, x)
        if self.space.is_categorical(split.feature):
            return int(differs(value, split.threshold))
        return int(goes_right(value, split.threshold))

    def leaf_of(self, x: Point) -> Leaf:
        node = self.root
        while isinstance(node, Split):
            node = node.children[self.side(node, x)]
        return node

    def answer(self, x: Point, classes: Sequence[Label]) -> list[int] | None:
        """Return the answer of the tree in units of 2^-40, by class; None if it abstains (R11)."""
        estimation = self.leaf_of(x).estimation
        if estimation.total() == 0:
            return None
        return self.target.answer(estimation, classes, majority=self.parameters.majority)

    def replace(self, leaf: Leaf, split: Split) -> None:
        if self.root is leaf:
            self.root = split
            return
        for node in self.nodes():
            if isinstance(node, Split) and leaf in node.children:
                node.children[node.children.index(leaf)] = split

    def nodes(self) -> Iterator[Split | Leaf]:
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            if isinstance(node, Split):
                stack += node.children


# ---------------------------------------------------------------------------------------------
# Prediction (R11): the answers of trees are integers, whose sums do not depend on their order.
# ---------------------------------------------------------------------------------------------

WHOLE = 2**40


def shares(counts: Sequence[int]) -> list[int]:
    """Return η^k(x) of each class, in units of 2^-40, rounded half to even."""
    return [round(count / sum(counts) * WHOLE) for count in counts]


def vote(counts: Sequence[int]) -> list[int]:
    """Vote for g(x) = argmax_k η^k(x), ties to the smallest index."""
    return [WHOLE * (k == counts.index(max(counts))) for k in range(len(counts))]


# ---------------------------------------------------------------------------------------------
# The forest
# ---------------------------------------------------------------------------------------------


class Forest:
    """Trees built in parallel, each in isolation from the others.

    `classes` holds the labels that have arrived so far, sorted; you can pass labels that are known
    beforehand.
    """

    def __init__(
        self, parameters: StreamParameters, space: FeatureSpace, classes: Iterable[Label] = ()
    ) -> None:
        self.parameters = parameters
        self.space = space
        self.target = self.new_target()
        self.classes = sorted(classes)
        self.points = 0  # t: points of positive weight received
        self.trees = [self.new_tree(number) for number in range(parameters.n_trees)]

    def new_target(self) -> Target:
        return Target()

    def new_tree(self, number: int) -> Tree:
        return Tree(number, self.parameters, self.space, self.target)

    def learn(
        self,
        points: Sequence[Point],
        labels: Sequence[Label],
        weights: Sequence[float] | None = None,
    ) -> None:
        if weights is None:
            weights = [1.0] * len(labels)
        for x, y, weight in zip(points, labels, weights, strict=True):
            if weight > 0:
                self.learn_one(x, y, weight)

    def learn_one(self, x: Point, y: Label, weight: float = 1.0) -> None:
        self.meet(y)
        for tree in list(self.trees):
            self.receive(tree, x, y, weight)
        self.points += 1

    def meet(self, y: Label) -> None:
        """Take note of a label that arrives."""
        if y not in self.classes:
            self.classes = sorted([*self.classes, y])

    def receive(self, tree: Tree, x: Point, y: Label, weight: float) -> None:
        tree.receive(self.points, x, y, weight)

    def answer(self, tree: Tree, x: Point) -> list[int] | None:
        return tree.answer(x, self.classes)

    def sum_answers(self, x: Point) -> tuple[list[int], int]:
        """Return the sum of the answers of the trees, by class, and how many did not abstain."""
        total = [0 for _ in self.classes]
        voters = 0
        for tree in self.trees:
            answer = self.answer(tree, x)
            if answer is None:
                continue
            voters += 1
            total = [a + b for a, b in zip(total, answer, strict=True)]
        return total, voters

    def predict_proba(self, x: Point) -> dict[Label, float]:
        total, voters = self.sum_answers(x)
        if voters == 0:
            return {k: 1.0 / len(self.classes) for k in self.classes}
        return {
            k: float(n) / float(voters * WHOLE) for k, n in zip(self.classes, total, strict=True)
        }

    def predict(self, x: Point) -> Label:
        proba = self.predict_proba(x)
        return max(self.classes, key=lambda k: proba[k])  # the first, so the smallest, of equals
