"""Every parameter of a forest, declared once (`riparian.parameters.declare`).

A class of settings declares parameters of constructors. Estimators inherit the settings that they have;
their constructors, docstrings and command-line options follow from these. A class of parameters is what
an engine reads: the same settings, frozen, checked and resolved. To add a parameter, declare it in a
class of settings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from riparian.parameters.declare import Parameter, constructed, declared, described, resolved
from riparian.parameters.schedules import Geometric, Schedule, resolve
from riparian.parameters.values import (
    DEPRECATED,
    Between,
    Bytes,
    ColumnChoice,
    Coverages,
    Deprecated,
    Flag,
    MultipleOrOfDepth,
    Number,
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

ROOTS = {"sqrt": 1, "2sqrt": 2, "4sqrt": 4}  # multiples of the root of the number of features
PARTS = {"third": 1 / 3, "two thirds": 2 / 3}  # parts of the number of features
DIMS = OrWord(Number(0, 1e6), (*ROOTS, *PARTS))  # a leaf makes this many draws

MOST_CATEGORIES = 2**24 - 1  # float32 can represent these codes and one for all other categories
MOST_KEPT = 20_000  # the number of kept points for "auto", if memory allows
MOST_LAG = 100_000
PAIR_BYTES = 16  # of each of the last `lag` points, for the answers that follow them (R29)
LINK_BYTES = 4  # of a kept point, in the lists of each tree

HEAD_SIZES = 1, 4, 16, 64, 256  # the votes that a cell must hold for a head to answer from it (R25)
MEMORIES = 1 / 3, 0.8, 0.95  # the factors by which the memories of a leaf fade (R27)

VOTING = OneOf(("average", "majority"))
HOW_TREES_VOTE = (
    'How the answers of trees are combined: "average" takes the mean of their class shares, "majority" '
    "counts one vote per tree, as the paper does."
)


# -- what constructors take, in their order ---------------------------------------------------------


@constructed
class TreeSettings:
    """The settings of every forest."""

    n_estimators: int = described(
        kind=Whole(1, 2**20),
        default=100,
        kw_only=False,
        help="The number of trees.",
        option="--trees",
    )


@constructed
class DepthSettings:
    """The settings of a forest over depth images."""

    offset_std: float = described(
        kind=Between(0, 1e6),
        default=75.0,
        help="The standard deviation of the offsets between compared pixels, in pixels at a depth of "
        "two metres.",
    )
    far: float = described(
        kind=Between(0, 1e6),
        default=6.0,
        help="The depth assumed outside an image and for pixels without a return, in metres.",
    )


@constructed
class StreamSettings:
    """The settings of a forest of two streams (R1 to R12)."""

    candidate_dims: float | str = described(
        symbol="λ",
        kind=DIMS,
        default="sqrt",
        help='a leaf considers `1 + Poisson(λ)` features for its split. "sqrt" is the square root of '
        'the number of features, "2sqrt" and "4sqrt" are twice and four times that; "third" and "two '
        'thirds" are shares of it.',
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
    alpha: float | Schedule = described(
        symbol="α(d)",
        kind=OfDepth(),
        default=Geometric(0.5, 1.1),
        help="each child of a leaf at depth d must hold this many estimation points. A number is the "
        "start of a schedule that grows by 1.1 per level.",
    )
    beta: float | Schedule = described(
        symbol="β(d)",
        kind=MultipleOrOfDepth(),
        default=20.0,
        help="a leaf that holds this many estimation points splits as soon as it can, however small "
        "the gain. A number is a multiple of α.",
    )
    structure_fraction: float = described(
        kind=Number(0),
        default=0.5,
        help="The share of points that a tree uses to choose splits (structure points).",
    )
    ignore_fraction: float = described(
        kind=Number(0),
        default=0.0,
        help="The share of points that a tree ignores.",
    )
    fringe_size: int | None = described(  # R12
        kind=OrNone(Whole(1, 2**63 - 1), "all of them"),
        default=None,
        help="The number of leaves of a tree that may collect split statistics at the same time. "
        "This bounds the memory.",
    )


@constructed
class VotingSettings:
    """How the trees of a forest of classes vote (R11)."""

    voting: Literal["average", "majority"] = described(
        kind=VOTING, default="average", help=HOW_TREES_VOTE
    )


@constructed
class KeepingSettings:
    """The memory of a forest of two streams, and the points that it keeps (R19 to R25)."""

    max_memory: int | str | None = described(
        kind=OrNone(Bytes(), "no bound"),
        default="512MB",
        before=None,
        help='The memory that the forest may use, such as "500MB". Each tree has an equal part. The '
        "bound limits the fringe first. When the histograms of the leaves alone fill it, trees "
        "stop growing and go on learning in the leaves that they have.",
    )
    kept_points: int | Literal["auto"] = described(  # R19
        symbol="W",
        kind=OrWord(Whole(0, 2**31), ("auto",)),
        default="auto",
        before=0,
        help="the number of recent points that the forest keeps. Young leaves choose their splits "
        'from them. 0 is the forest of the paper. "auto" is 20,000, or fewer if those would '
        "take more than an eighth of `max_memory`.",
    )
    eager: bool = described(  # R24
        kind=Flag(),
        default=True,
        before=False,
        help="While every point is kept, each point chooses splits and votes as well, and trees answer "
        "from cells of the sizes that the forest has learned to trust. It has no effect if no point is "
        "kept.",
    )


@constructed
class PaperSettings(StreamSettings, VotingSettings, KeepingSettings):
    """The settings of the paper's forest."""


@constructed
class NumberSettings(StreamSettings, KeepingSettings):
    """The settings of the forest for numbers (R26)."""

    candidate_dims: float | str = described(default="two thirds")
    min_gain: float = described(
        default=0.05,
        help="once points are lost, a leaf splits when a valid candidate explains more than this share "
        "of the variance of its structure points.",
    )
    eager: bool = described(default=True)
    intervals: Sequence[float] = described(  # R28
        kind=Coverages(),
        default=(),
        before=(),
        help="The coverages of the intervals that the forest learns to give, such as 0.9: the share of "
        "targets inside, along the whole stream. With one, learning takes up to 1.2 times as long.",
        option="--interval",
    )
    lag: int = described(  # R29
        kind=Whole(0, MOST_LAG),
        default=0,
        before=0,
        help="How many points after the last learned one a predicted point comes. Answers then follow "
        "the last targets, as far as that has helped. 0: an answer is for any point, and follows none.",
    )


@constructed
class ChangeSettings:
    """The additional and different settings of a forest for streams that change (R27)."""

    kept_points: int | Literal["auto"] = described(
        kind=OrWord(Whole(1, 2**31), ("auto",)),
        default="auto",
        before=MISSING,
        help="the number of recent points that the forest keeps. While all points of a tree are kept, "
        "each of them chooses splits and votes as well; later it has one of these roles. "
        '"auto" is 20,000, or fewer if those would take more than an eighth of `max_memory`.',
    )
    eager: bool = described(
        default=True,
        before=True,
        help="Trees of this forest are always eager at first: the only value is True.",
    )
    drift_confidence: float = described(
        symbol="δ",
        kind=Between(0, 1),
        default=0.1,
        help="the confidence of the ADWIN that replaces a tree when its error rises. A smaller value "
        "gives fewer false alarms, and detects real changes later.",
    )


@constructed
class AdaptiveSettings(ChangeSettings):
    """The settings of the forest of classes for streams that change."""

    candidate_dims: float | str = described(
        default="2sqrt",
        help='a leaf considers `1 + Poisson(λ)` features for its split. "sqrt" is the square root of '
        'the number of features, "2sqrt" and "4sqrt" are twice and four times that: after a change a '
        "leaf has few points, and must find a good split among them.",
    )
    leaf_points: Any = described(
        kind=Deprecated("0.3", "a leaf uses all its points that are kept, `kept_points` at most"),
        default=DEPRECATED,
        help="It has no effect: a leaf uses all its points that are kept.",
    )
    memories: Any = described(
        kind=Deprecated("0.3", "memories have the factors 1/3, 0.8 and 0.95"),
        default=DEPRECATED,
        help="It has no effect: memories have the factors 1/3, 0.8 and 0.95.",
    )
    fading: Any = described(
        kind=Deprecated("0.3", "the forest trusts cells and memories by its last predictions"),
        default=DEPRECATED,
        help="It has no effect: the forest trusts cells and memories by its last predictions, with the "
        "factor 0.995.",
    )


@constructed
class AdaptiveNumberSettings(ChangeSettings):
    """The settings of the forest of numbers for streams that change."""

    lag: int = described(default=1)


@constructed
class SaffariSettings:
    """The settings of Saffari's forest (R18)."""

    candidate_dims: int = described(
        kind=Whole(1, 10**6),
        default=10,
        help="The number of features that a leaf considers for its split; all if there are fewer.",
    )
    split_points: int = described(
        kind=Whole(1, 2**16),
        default=10,
        help="The number of thresholds per feature.",
    )
    thresholds: Literal["points", "range"] = described(
        kind=OneOf(("points", "range")),
        default="points",
        help='Where thresholds come from: "points" uses the values of the first points in a leaf, '
        '"range" draws numbers uniformly from the range of these values.',
    )
    min_gain: float = described(
        kind=Number(0),
        default=0.1,
        help="A leaf splits when a candidate gains more than this, in bits, and the leaf holds at "
        "least `min_samples` points.",
    )
    min_samples: int = described(
        kind=Whole(1, 2**60),
        default=50,
        help="The number of points that a leaf must hold to split. A point counts as often as the "
        "tree took it, and points inherited from the parent count, too.",
    )
    max_depth: int | None = described(
        kind=OrNone(Whole(0, 2**31), "no bound"),
        default=None,
        help="The largest depth of a leaf. Leaves there keep no candidates, which bounds the memory.",
    )
    replacement_rate: float | None = described(
        symbol="γ",
        kind=OrNone(Number(1e-15, 1), "never"),
        default=None,
        help="at each point, one of the trees older than 1/γ points is drawn at random. It is "
        "replaced by a new tree with a probability equal to its error on the points that it did "
        "not take. With this setting, trees learn one after the other.",
    )
    voting: Literal["average", "majority"] = described(
        kind=VOTING, default="average", help=HOW_TREES_VOTE
    )


@constructed
class ColumnSettings:
    """The settings of a forest that takes whole tables (R22)."""

    categorical_features: ArrayLike | Literal["from_dtype"] | None = described(
        kind=ColumnChoice(),
        default="from_dtype",
        help="Which columns are categorical: their splits test whether a value equals a category. "
        '"from_dtype" uses the columns of text, bools or a categorical type in a frame of '
        "pandas, polars or pyarrow, except texts that are dates, which become numbers. Otherwise "
        "pass a mask, indices or names. None: no column is categorical.",
    )


@constructed
class CategorySettings:
    """The settings of a forest that assigns codes to categories (R22)."""

    max_categories: int | None = described(
        kind=OrNone(Whole(1, MOST_CATEGORIES), "no bound; more than 2^24 - 1 are an error"),
        default=100_000,
        help="The number of categories of a column that have a code of their own. Those that arrive "
        "later share one. All categories together take at most an eighth of `max_memory`.",
    )


@constructed
class PassSettings:
    """How `fit` goes through a data set."""

    passes: int = described(
        kind=Whole(1, 2**31),
        default=1,
        help="The number of times that `fit` learns the data. `partial_fit` learns each row once.",
    )
    shuffle: bool = described(
        kind=Flag(),
        default=True,
        help="Whether `fit` shuffles the points before each pass. Without this, data sorted by class "
        "gives a useless forest. `partial_fit` keeps the order.",
    )


@constructed
class ClassWeightSettings:
    """The weights of classes."""

    class_weight: dict[Any, float] | Literal["balanced"] | None = described(
        kind=WeightsByLabel(),
        default=None,
        help="The weight of each class, by label. A label that is not named has weight 1. "
        '"balanced" gives every class the same total weight, by the frequencies seen so far.',
    )


@constructed
class FitSettings(PassSettings):
    """The settings of an estimator in the form of scikit-learn."""

    random_state: int | np.random.RandomState | None = described(
        kind=SEED,
        default=None,
        help="The seed. The same seed and the same stream give the same forest, to the last bit, "
        "whatever the batches and the number of threads.",
        option="--seed",
    )
    n_jobs: int | None = described(
        kind=OrNone(Whole(-(2**15), 2**15), "one"),
        default=None,
        help="The number of threads; -1 is one per processor.",
        option="--threads",
    )


OF_ESTIMATORS = declared(FitSettings) | declared(ClassWeightSettings)
OF_ROWS = declared(ColumnSettings) | declared(CategorySettings)
OF_DEPTH = declared(DepthSettings)


# -- what engines read -----------------------------------------------------------------------------


class NoSettings:
    """Settings that only some forests have, with their values in all others."""

    max_memory: int | None = None
    kept_points: int | Literal["auto"] = 0
    intervals: Sequence[float] = ()
    lag: int = 0


@dataclass(frozen=True, kw_only=True)
class ForestParameters(NoSettings):
    """The parameters of a forest as its engine reads them: frozen, checked and resolved."""

    n_trees: int
    seed: int  # of every draw (R13)

    @property
    def majority(self) -> bool:
        """Return whether each tree has one vote (R11)."""
        return False

    @property
    def heads(self) -> tuple[float, ...]:
        """Return the names of the heads of a tree (R25, R27); () without heads."""
        return ()

    @classmethod
    def of(cls, estimator: Any, **others: Any) -> Self:
        """Return the parameters of an estimator; `others` are fields that are not its attributes."""
        given = {
            name: getattr(estimator, parameter.name)
            for name, parameter in parameters_of(cls).items()
            if name not in others
        }
        return cls.checked(**given, **others)

    @classmethod
    def checked(cls, **given: Any) -> Self:
        """Return checked parameters, or raise an error that names the value and what was expected.

        This is the only place where parameters are checked.
        """
        parameters = parameters_of(cls)
        checked = {name: parameters[name].checked(value) for name, value in given.items()}
        return cls(**{name: checked[name] for name in checked if not parameters[name].deprecated})


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
class StreamParameters(ForestParameters, StreamSettings, KeepingSettings):
    """The parameters of a forest of two streams."""

    alpha: Schedule
    beta: Schedule
    max_memory: int | None

    @classmethod
    def checked(cls, **given: Any) -> Self:
        alpha, beta = resolve(given["alpha"], given["beta"])
        parameters = super().checked(**given | {"alpha": alpha, "beta": beta})
        _check_streams(parameters.structure_fraction, parameters.ignore_fraction)
        return parameters

    def rate(self, n_dims: int) -> float:
        """Return λ, which may depend on the current number of dimensions (R2)."""
        dims = self.candidate_dims
        if not isinstance(dims, str):
            return dims
        return ROOTS[dims] * math.sqrt(n_dims) if dims in ROOTS else PARTS[dims] * n_dims

    @property
    def heads(self) -> tuple[float, ...]:
        """Return the sizes of their cells (R25)."""
        return HEAD_SIZES if self.eager and self.kept_points != 0 else ()

    def keeping(self, point_bytes: int) -> Self:
        """Return the parameters with a number of kept points in place of "auto" (R19).

        The points and the lists of all trees take at most an eighth of the memory.
        """
        if self.kept_points != "auto":
            return self
        each = point_bytes + LINK_BYTES * self.n_trees
        fits = MOST_KEPT if self.max_memory is None else self.max_memory // 8 // each
        return replace(self, **{"kept_points": min(MOST_KEPT, fits)})

    def still_kept(self, point_bytes: int) -> int:
        """Return W once a kept point takes this many bytes, which grow when columns join (R19).

        Where the points and their lists would take more than half of the memory, W falls to what an
        eighth of it can hold.
        """
        assert self.kept_points != "auto"
        each = point_bytes + LINK_BYTES * self.n_trees
        if self.max_memory is None or self.kept_points * each <= self.max_memory // 2:
            return self.kept_points
        return max(1, self.max_memory // 8 // each)


def _check_streams(structure: float, ignore: float) -> None:
    if structure == 0:
        raise ValueError("structure_fraction must be > 0, or no leaf can split, got 0.0")
    if structure + ignore >= 1:
        raise ValueError(
            "structure_fraction + ignore_fraction must be < 1, or no point is left to predict "
            f"with, got {structure!r} + {ignore!r}"
        )


@resolved()
class PaperParameters(StreamParameters, PaperSettings):
    """The parameters of the paper's forest."""

    @property
    def majority(self) -> bool:
        return self.voting == "majority"


@resolved()
class NumberParameters(NumberSettings, StreamParameters):
    """The parameters of the forest for numbers (R26)."""

    intervals: tuple[float, ...]

    @classmethod
    def checked(cls, **given: Any) -> Self:
        parameters = super().checked(**given)
        if parameters.intervals and not parameters.heads:
            raise ValueError(
                "intervals must be () if kept_points is 0 or eager is False, since then no targets are "
                f"kept for them, got {given['intervals']!r}; leave kept_points and eager out"
            )
        if parameters.lag and not parameters.heads:
            raise ValueError(
                "lag must be 0 if kept_points is 0 or eager is False, since such a forest does not "
                f"judge its answers, got {given['lag']!r}; leave kept_points and eager out"
            )
        return parameters


@resolved()
class ChangeParameters(ChangeSettings, StreamParameters):
    """The parameters of a forest for streams that change (R27), whatever it predicts."""

    @property
    def heads(self) -> tuple[float, ...]:
        """Return the sizes of cells, then the factors of memories (R27)."""
        return (*HEAD_SIZES, *MEMORIES)

    @classmethod
    def checked(cls, **given: Any) -> Self:
        parameters = super().checked(**given)
        if not parameters.eager:
            raise ValueError(
                "eager must be True in a forest for streams that change, got False; leave it out, or "
                "use an OnlineForest for trees that are honest from the first point on"
            )
        return parameters


@resolved()
class AdaptiveParameters(AdaptiveSettings, ChangeParameters, PaperParameters):
    """The parameters of the forest of classes for streams that change."""


@resolved()
class AdaptiveNumberParameters(AdaptiveNumberSettings, ChangeParameters, NumberParameters):
    """The parameters of the forest of numbers for streams that change."""


@resolved()
class SaffariParameters(ForestParameters, SaffariSettings):
    """The parameters of Saffari's forest (R18)."""

    @property
    def majority(self) -> bool:
        return self.voting == "majority"


def constructor_parameters(cls: type[ForestParameters]) -> dict[str, Parameter]:
    """Return the parameters of an estimator, by their names in its constructor."""
    return {parameter.name: parameter for parameter in parameters_of(cls).values()} | OF_ESTIMATORS


def defaults(cls: type[ForestParameters]) -> dict[str, Any]:
    """Return the defaults of an estimator, by the names in its constructor."""
    parameters = constructor_parameters(cls) | OF_ROWS
    return {name: parameter.default for name, parameter in parameters.items()}


DEFAULT = defaults(PaperParameters)
ADAPTIVE_DEFAULT = defaults(AdaptiveParameters)
NUMBER_DEFAULT = defaults(NumberParameters)
ADAPTIVE_NUMBER_DEFAULT = defaults(AdaptiveNumberParameters)
