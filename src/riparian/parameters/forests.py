"""Every parameter of a forest, declared once (`riparian.parameters.declare`).

A class of settings declares what constructors take. Estimators inherit the settings that they have:
their constructors, docstrings and command-line options follow. A class of parameters is what an engine
reads: the same settings, frozen, checked and resolved. To add a parameter, declare it in a class of
settings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from riparian.parameters.declare import Parameter, constructed, declared, described, resolved
from riparian.parameters.schedules import Geometric, Schedule, resolve
from riparian.parameters.values import (
    Between,
    Bytes,
    ColumnChoice,
    Flag,
    MultipleOrOfDepth,
    Number,
    Numbers,
    OfDepth,
    OneOf,
    OrNone,
    OrWord,
    Seed,
    WeightsByLabel,
    Whole,
)

if TYPE_CHECKING:  # `riparian --help` needs no numpy
    import numpy as np
    from numpy.typing import ArrayLike

SEED = Seed()  # other libraries have their own names for it

ROOTS = {"sqrt": 1, "4sqrt": 4}  # how many square roots of the number of features each stands for
DIMS = OrWord(Number(0, 1e6), tuple(ROOTS))  # a leaf makes this many draws

MOST_CATEGORIES = 2**24 - 1  # that float32 can tell apart, with one more for all the others
MOST_KEPT = 20_000  # points, unless more are asked for
LINK_BYTES = 4  # of a kept point, in the lists of each tree

MOST_MEMORIES = 8  # of a leaf; see core/drift/memories.hpp

VOTING = OneOf(("average", "majority"))
HOW_TREES_VOTE = (
    'How trees are combined: "average" takes the mean of their class shares, "majority" counts one vote '
    "per tree, as the paper does."
)


# -- what constructors take, in their order ---------------------------------------------------------


@constructed
class TreeSettings:
    """What every forest has."""

    n_estimators: int = described(
        kind=Whole(1, 2**20),
        default=100,
        kw_only=False,
        help="The number of trees.",
        option="--trees",
    )


@constructed
class DepthSettings:
    """What a forest over depth images has."""

    offset_std: float = described(
        kind=Between(0, 1e6),
        default=75.0,
        help="The standard deviation of the offsets at which a leaf looks, in pixels at a depth of "
        "two metres.",
    )
    far: float = described(
        kind=Between(0, 1e6),
        default=6.0,
        help="The depth of what lies outside an image and of pixels without a return, in metres.",
    )


@constructed
class PaperSettings:
    """What the paper's forest has."""

    candidate_dims: float | Literal["sqrt", "4sqrt"] = described(
        symbol="λ",
        kind=DIMS,
        default="sqrt",
        help='a leaf looks for its split in `1 + Poisson(λ)` dimensions. "sqrt" is the square root of '
        'the number of features, "4sqrt" four times that.',
    )
    split_points: int = described(
        symbol="m",
        kind=Whole(1, 2**16),
        default=10,
        help="a leaf chooses among thresholds taken from its first m structure points.",
    )
    min_gain: float = described(
        symbol="τ",
        kind=Number(0),
        default=0.3,
        help="a leaf splits when a valid candidate gains more than this, in bits.",
    )
    alpha: Schedule = described(
        symbol="α(d)",
        kind=OfDepth(),
        default=Geometric(0.5, 1.1),
        help="each child of a leaf at depth d must hold this many estimation points.",
    )
    beta: float | Schedule = described(
        symbol="β(d)",
        kind=MultipleOrOfDepth(),
        default=20.0,
        help="a leaf that holds this many estimation points splits as soon as it can, whatever the "
        "gain. A number is a multiple of α.",
    )
    structure_fraction: float = described(
        kind=Number(0),
        default=0.5,
        help="The share of points that a tree uses as structure points.",
    )
    ignore_fraction: float = described(
        kind=Number(0),
        default=0.0,
        help="The share of points that a tree ignores.",
    )
    fringe_size: int | None = described(  # R12
        kind=OrNone(Whole(1, 2**63 - 1), "all of them"),
        default=None,
        help="How many leaves of a tree may collect split statistics at the same time. This bounds "
        "the memory.",
    )
    voting: Literal["average", "majority"] = described(
        kind=VOTING, default="average", help=HOW_TREES_VOTE
    )
    max_memory: int | str | None = described(
        kind=OrNone(Bytes(), "no bound"),
        default="512MB",
        before=None,
        help='A bound on the bytes that the forest holds, such as "500MB". Each tree has an equal part. '
        "It limits the fringe first. When the histograms of the leaves alone fill it, trees stop "
        "growing and go on learning in the leaves they have.",
    )
    kept_points: int | Literal["auto"] = described(  # R19
        symbol="W",
        kind=OrWord(Whole(0, 2**31), ("auto",)),
        default="auto",
        before=0,
        help="how many recent points the forest keeps, to choose the first splits of a leaf from. 0 is "
        'the forest of the paper. "auto" is 20,000, or what fits an eighth of `max_memory`.',
    )
    eager: bool = described(  # R24
        kind=Flag(),
        default=False,
        before=False,
        help="While every point is kept, each point chooses splits and votes as well, and trees answer "
        "from cells of the sizes that the forest has learned to trust. It has no effect if no point is "
        "kept.",
    )


@constructed
class AdaptiveSettings:
    """What the forest for streams that change has besides (R23), and what is different in it."""

    candidate_dims: float | Literal["sqrt", "4sqrt"] = described(
        default="4sqrt",
        help='a leaf looks for its split in `1 + Poisson(λ)` dimensions. "sqrt" is the square root of '
        'the number of features, "4sqrt" four times that: a leaf has few points, and must find a split '
        "soon.",
    )
    min_gain: float = described(
        default=0.3,
        help="a leaf splits when a valid candidate gains more than this, in bits, and among n points "
        "more than `2 log2(n + 1) / n`, which is seldom chance.",
    )
    alpha: Schedule = described(default=Geometric(1, 1.05))
    kept_points: int | Literal["auto"] = described(
        kind=OrWord(Whole(1, 2**31), ("auto",)),
        default="auto",
        before=MISSING,
        help="how many recent points the forest keeps, to choose the splits of a leaf from. "
        '"auto" is 20,000, or what fits an eighth of `max_memory`.',
    )
    drift_confidence: float = described(
        symbol="δ",
        kind=Between(0, 1),
        default=0.01,
        help="a tree is replaced when its error has risen, by an ADWIN of this confidence. The smaller, "
        "the fewer false alarms, and the later the true ones.",
    )
    leaf_points: int = described(
        kind=Whole(2, 2**20),
        default=24,
        help="A leaf chooses its split among its last structure points, and starts its children with "
        "its last estimation points: this many of each.",
    )
    memories: tuple[float, ...] = described(
        kind=Numbers(0, 1, MOST_MEMORIES),
        default=(1 / 3, 0.8, 0.95, 1.0),
        help="A leaf predicts by several histograms. Each fades by its factor with every point, so "
        "that 1 remembers all of them and 0.8 about five.",
    )
    fading: float = described(
        kind=Number(0, 1),
        default=0.98,
        help="A tree weights these histograms by how well each has predicted its structure points. "
        "What is known of that fades by this factor with every point.",
    )


@constructed
class SaffariSettings:
    """What Saffari's forest has (R18)."""

    candidate_dims: int = described(
        kind=Whole(1, 10**6),
        default=10,
        help="The number of dimensions in which a leaf looks for its split; all, where there are fewer.",
    )
    split_points: int = described(
        kind=Whole(1, 2**16),
        default=10,
        help="The number of thresholds per dimension.",
    )
    thresholds: Literal["points", "range"] = described(
        kind=OneOf(("points", "range")),
        default="points",
        help="What the thresholds are: the values of the first points that a leaf sees, or numbers "
        "drawn uniformly from the range of these values.",
    )
    min_gain: float = described(
        kind=Number(0),
        default=0.1,
        help="A leaf splits when a candidate gains more than this, in bits, and the leaf holds "
        "`min_samples`.",
    )
    min_samples: int = described(
        kind=Whole(1, 2**60),
        default=50,
        help="How many points a leaf must hold to split. A point counts as often as the tree took it, "
        "and the points inherited from the parent count too.",
    )
    max_depth: int | None = described(
        kind=OrNone(Whole(0, 2**31), "no bound"),
        default=None,
        help="Leaves at this depth do not split. They keep no candidates, which bounds the memory.",
    )
    replacement_rate: float | None = described(
        symbol="γ",
        kind=OrNone(Number(1e-15, 1), "never"),
        default=None,
        help="at each point, one tree of more than 1/γ points, drawn at random, is replaced by a new "
        "one with the probability of its error on the points that it was not given. Trees then "
        "learn one after the other.",
    )
    voting: Literal["average", "majority"] = described(
        kind=VOTING, default="average", help=HOW_TREES_VOTE
    )


@constructed
class ColumnSettings:
    """What a forest over the columns of a table has, if it is given whole tables (R22)."""

    categorical_features: ArrayLike | Literal["from_dtype"] | None = described(
        kind=ColumnChoice(),
        default="from_dtype",
        help="Which columns are categorical: their splits ask whether a value equals a category. "
        '"from_dtype" takes the columns of text, of bools and of a categorical type that a frame of '
        "pandas, polars or pyarrow has. Otherwise a mask, indices or names. None: no column is.",
    )


@constructed
class CategorySettings:
    """What a forest has that gives categories their numbers (R22)."""

    max_categories: int | None = described(
        kind=OrNone(Whole(1, MOST_CATEGORIES), "no bound but 2^24, beyond which is an error"),
        default=100_000,
        help="How many categories of a column are told apart. Those that come later count as one. "
        "All categories together take an eighth of `max_memory` at most.",
    )


@constructed
class FitSettings:
    """What an estimator in scikit-learn's form has."""

    passes: int = described(
        kind=Whole(1, 2**31),
        default=1,
        help="How often `fit` goes through the data. `partial_fit` learns what it is given, once.",
    )
    shuffle: bool = described(
        kind=Flag(),
        default=True,
        help="Whether `fit` shuffles the points before each pass: data sorted by class would ruin "
        "the forest. `partial_fit` keeps the order.",
    )
    class_weight: dict[Any, float] | Literal["balanced"] | None = described(
        kind=WeightsByLabel(),
        default=None,
        help="Weights by label. A label that is not named has weight 1. "
        '"balanced" gives every class the same total weight, by the frequencies seen so far.',
    )
    random_state: int | np.random.RandomState | None = described(
        kind=SEED,
        default=None,
        help="The same seed and the same stream give the same forest, to the last bit, whatever the "
        "batches and the number of threads.",
        option="--seed",
    )
    n_jobs: int | None = described(
        kind=OrNone(Whole(-(2**15), 2**15), "one"),
        default=None,
        help="The number of threads; -1 is one per processor.",
        option="--threads",
    )


OF_ESTIMATORS = declared(FitSettings)
OF_ROWS = declared(ColumnSettings) | declared(CategorySettings)
OF_DEPTH = declared(DepthSettings)


# -- what engines read -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ForestParameters:
    """The parameters of a forest as its engine reads them: frozen, checked and resolved."""

    n_trees: int
    seed: int  # of every draw (R13)

    @classmethod
    def of(cls, estimator: Any, **others: Any) -> Self:
        """The parameters of an estimator; `others` are fields that are not its attributes as such."""
        given = {
            name: getattr(estimator, parameter.name)
            for name, parameter in parameters_of(cls).items()
            if name not in others
        }
        return cls.checked(**given, **others)

    @classmethod
    def checked(cls, **given: Any) -> Self:
        """The one place where parameters are checked: an error names the value and what was expected."""
        parameters = parameters_of(cls)
        return cls(**{name: parameters[name].checked(value) for name, value in given.items()})


def parameters_of(cls: type[ForestParameters]) -> Mapping[str, Parameter]:
    """Return the description of every field, made once."""
    if cls not in _PARAMETERS:
        _PARAMETERS[cls] = {
            "n_trees": declared(TreeSettings)["n_estimators"],
            "seed": OF_ESTIMATORS["random_state"],
            **declared(cls),
        }
    return _PARAMETERS[cls]


_PARAMETERS: dict[type[ForestParameters], Mapping[str, Parameter]] = {}


@resolved()
class PaperParameters(ForestParameters, PaperSettings):
    """The parameters of the paper's forest."""

    beta: Schedule
    max_memory: int | None

    @classmethod
    def checked(cls, **given: Any) -> Self:
        alpha, beta = resolve(given["alpha"], given["beta"])
        parameters = super().checked(**given | {"alpha": alpha, "beta": beta})
        _check_streams(parameters.structure_fraction, parameters.ignore_fraction)
        return parameters

    def rate(self, n_dims: int) -> float:
        """λ, which may depend on the number of dimensions there are by now (R2)."""
        if isinstance(self.candidate_dims, str):
            return ROOTS[self.candidate_dims] * math.sqrt(n_dims)
        return self.candidate_dims

    def keeping(self, point_bytes: int) -> Self:
        """The same with a number of kept points, where that was left to us (R19).

        They take an eighth of the memory at most, with the list that every tree has of them.
        """
        if self.kept_points != "auto":
            return self
        each = point_bytes + LINK_BYTES * self.n_trees
        fits = MOST_KEPT if self.max_memory is None else self.max_memory // 8 // each
        return replace(self, **{"kept_points": min(MOST_KEPT, fits)})


def _check_streams(structure: float, ignore: float) -> None:
    if structure == 0:
        raise ValueError("structure_fraction must be > 0, or no leaf ever splits, got 0.0")
    if structure + ignore >= 1:
        raise ValueError(
            "structure_fraction + ignore_fraction must be < 1, or no point is left to predict "
            f"with, got {structure!r} + {ignore!r}"
        )


Parameters = PaperParameters  # its name before there were others


@resolved()
class AdaptiveParameters(AdaptiveSettings, PaperParameters):
    """The parameters of the forest for streams that change (R23)."""

    @classmethod
    def checked(cls, **given: Any) -> Self:
        parameters = super().checked(**given)
        if parameters.eager:
            raise ValueError(
                "eager must be False in a forest for streams that change, got True; use "
                "OnlineForestClassifier for eager trees"
            )
        return parameters


@resolved()
class SaffariParameters(ForestParameters, SaffariSettings):
    """The parameters of Saffari's forest (R18)."""


def constructor_parameters(cls: type[ForestParameters]) -> dict[str, Parameter]:
    """The parameters of an estimator, by their names in its constructor."""
    return {parameter.name: parameter for parameter in parameters_of(cls).values()} | OF_ESTIMATORS


def defaults(cls: type[ForestParameters]) -> dict[str, Any]:
    """By the names that a constructor has."""
    parameters = constructor_parameters(cls) | OF_ROWS
    return {name: parameter.default for name, parameter in parameters.items()}


DEFAULT = defaults(PaperParameters)
ADAPTIVE_DEFAULT = defaults(AdaptiveParameters)
