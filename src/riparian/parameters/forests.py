"""Every parameter of a forest, described once.

A field of `Parameters` or `SaffariParameters` is what an engine reads. Its description holds the rest:
the name in constructors, the kind of value, the default, the text. Constructors repeat the names, since
scikit-learn reads signatures; checks, docstrings, command-line options and the classes for River and
CapyMOA follow from here. To add a parameter, describe it here and add it to the constructors.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, replace
from typing import Any, Literal, Self

from riparian.parameters.schedules import Geometric, Schedule, resolve
from riparian.parameters.values import (
    Between,
    Bytes,
    ColumnChoice,
    Flag,
    Kind,
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

SEED = Seed()  # other libraries have their own names for it


@dataclass(frozen=True)
class Parameter:
    """What there is to say of a parameter."""

    name: str  # in constructors
    kind: Kind
    default: Any  # of the forests over rows
    help: str
    symbol: str = ""  # the paper's
    option: str = ""  # its name on the command line, where that is another

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return self.option or f"--{self.name.replace('_', '-')}"

    def text(self, none: str = "None") -> str:
        """The description in full; `none` is how the reader would choose None."""
        symbol = f"{self.symbol}: " if self.symbol else ""
        meaning = f" {none}: {self.kind.meaning}." if isinstance(self.kind, OrNone) else ""
        return f"{symbol}{self.help}{meaning}"

    def checked(self, value: Any) -> Any:
        """The value in its plain form; an error says what is wrong with it, by its public name."""
        return self.kind.checked(self.name, value)


def described(*, before: Any = MISSING, **description: Any) -> Any:
    """A field with the description of its parameter, whose name is that of the field if none is given.

    `before` is the value of forests that were saved before there was such a parameter.
    """
    return field(default=before, metadata=description)


@dataclass(frozen=True, kw_only=True)
class ForestParameters:
    """The parameters of a forest as its engine reads them: frozen, checked and resolved."""

    n_trees: int = described(
        name="n_estimators",
        kind=Whole(1, 2**20),
        default=100,
        help="The number of trees.",
        option="--trees",
    )
    seed: int = described(  # of every draw (R13)
        name="random_state",
        kind=SEED,
        default=None,
        help="The same seed and the same stream give the same forest, to the last bit, whatever the "
        "batches and the number of threads.",
        option="--seed",
    )

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
    """The description of every field, made once."""
    if cls not in _PARAMETERS:
        _PARAMETERS[cls] = {
            field.name: Parameter(**{"name": field.name, **field.metadata})
            for field in dataclasses.fields(cls)
        }
    return _PARAMETERS[cls]


_PARAMETERS: dict[type[ForestParameters], Mapping[str, Parameter]] = {}

ROOTS = {"sqrt": 1, "4sqrt": 4}  # how many square roots of the number of features each stands for
DIMS = OrWord(Number(0, 1e6), tuple(ROOTS))  # a leaf makes this many draws

MOST_CATEGORIES = 2**24 - 1  # that float32 can tell apart, with one more for all the others
MOST_KEPT = 20_000  # points, unless more are asked for
LINK_BYTES = 4  # of a kept point, in the lists of each tree

VOTING: dict[str, Any] = {
    "kind": OneOf(("average", "majority")),
    "default": "average",
    "help": 'How trees are combined: "average" takes the mean of their class shares, "majority" counts '
    "one vote per tree, as the paper does.",
}


@dataclass(frozen=True, kw_only=True)
class Parameters(ForestParameters):
    """The parameters of the paper's forest."""

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
    alpha: Schedule = described(  # noqa: RUF009, a field
        symbol="α(d)",
        kind=OfDepth(),
        default=Geometric(0.5, 1.1),
        help="each child of a leaf at depth d must hold this many estimation points.",
    )
    beta: Schedule = described(  # noqa: RUF009, a field
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
    voting: Literal["average", "majority"] = described(**VOTING)
    max_memory: int | None = described(
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
        return replace(self, kept_points=min(MOST_KEPT, fits))


def _check_streams(structure: float, ignore: float) -> None:
    if structure == 0:
        raise ValueError("structure_fraction must be > 0, or no leaf ever splits, got 0.0")
    if structure + ignore >= 1:
        raise ValueError(
            "structure_fraction + ignore_fraction must be < 1, or no point is left to predict "
            f"with, got {structure!r} + {ignore!r}"
        )


MOST_MEMORIES = 8  # of a leaf; see core/target/classes/memories.hpp


@dataclass(frozen=True, kw_only=True)
class AdaptiveParameters(Parameters):
    """The parameters of the forest for streams that change (R23)."""

    candidate_dims: float | Literal["sqrt", "4sqrt"] = described(
        symbol="λ",
        kind=DIMS,
        default="4sqrt",
        help='a leaf looks for its split in `1 + Poisson(λ)` dimensions. "sqrt" is the square root of '
        'the number of features, "4sqrt" four times that: a leaf has few points, and must find a split '
        "soon.",
    )
    min_gain: float = described(
        symbol="τ",
        kind=Number(0),
        default=0.3,
        help="a leaf splits when a valid candidate gains more than this, in bits, and among n points "
        "more than `2 log2(n + 1) / n`, which is seldom chance.",
    )
    alpha: Schedule = described(  # noqa: RUF009, a field
        symbol="α(d)",
        kind=OfDepth(),
        default=Geometric(1, 1.05),
        help="each child of a leaf at depth d must hold this many estimation points.",
    )
    kept_points: int | Literal["auto"] = described(
        symbol="W",
        kind=OrWord(Whole(1, 2**31), ("auto",)),
        default="auto",
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


@dataclass(frozen=True, kw_only=True)
class SaffariParameters(ForestParameters):
    """The parameters of Saffari's forest (R18)."""

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
    voting: Literal["average", "majority"] = described(**VOTING)


# What an estimator needs beside its engine.
OF_ESTIMATORS = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "passes",
            kind=Whole(1, 2**31),
            default=1,
            help="How often `fit` goes through the data. `partial_fit` learns what it is given, once.",
        ),
        Parameter(
            "shuffle",
            kind=Flag(),
            default=True,
            help="Whether `fit` shuffles the points before each pass: data sorted by class would ruin "
            "the forest. `partial_fit` keeps the order.",
        ),
        Parameter(
            "class_weight",
            kind=WeightsByLabel(),
            default=None,
            help="Weights by label. A label that is not named has weight 1. "
            '"balanced" gives every class the same total weight, by the frequencies seen so far.',
        ),
        Parameter(
            "n_jobs",
            kind=OrNone(Whole(-(2**15), 2**15), "one"),
            default=None,
            help="The number of threads; -1 is one per processor.",
            option="--threads",
        ),
    )
}

# What a forest over rows needs beside (R22).
OF_ROWS = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "categorical_features",
            kind=ColumnChoice(),
            default="from_dtype",
            help="Which columns are categorical: their splits ask whether a value equals a category. "
            '"from_dtype" takes the columns of text, of bools and of a categorical type that a frame of '
            "pandas, polars or pyarrow has. Otherwise a mask, indices or names. None: no column is.",
        ),
        Parameter(
            "max_categories",
            kind=OrNone(Whole(1, MOST_CATEGORIES), "no bound but 2^24, beyond which is an error"),
            default=100_000,
            help="How many categories of a column are told apart. Those that come later count as one. "
            "All categories together take an eighth of `max_memory` at most.",
        ),
    )
}

# What a forest over depth images needs beside.
OF_DEPTH = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "offset_std",
            kind=Between(0, 1e6),
            default=75.0,
            help="The standard deviation of the offsets at which a leaf looks, in pixels at a depth of "
            "two metres.",
        ),
        Parameter(
            "far",
            kind=Between(0, 1e6),
            default=6.0,
            help="The depth of what lies outside an image and of pixels without a return, in metres.",
        ),
    )
}


def constructor_parameters(cls: type[ForestParameters]) -> dict[str, Parameter]:
    """The parameters of an estimator, by their names in its constructor."""
    return {parameter.name: parameter for parameter in parameters_of(cls).values()} | OF_ESTIMATORS


def defaults(cls: type[ForestParameters]) -> dict[str, Any]:
    """By the names that a constructor has."""
    parameters = constructor_parameters(cls) | OF_ROWS
    return {name: parameter.default for name, parameter in parameters.items()}


DEFAULT = defaults(Parameters)
ADAPTIVE_DEFAULT = defaults(AdaptiveParameters)
