"""The header: everything about a forest that is not an array of its trees, as JSON and back.

It holds only numbers, texts, lists and objects. Reading checks it field by field, so that the result is
one that a forest could have written.
"""

from __future__ import annotations

import functools
import json
import reprlib
import warnings
from dataclasses import MISSING, asdict, dataclass, field, fields
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import numpy as np

from riparian import _core
from riparian.engine.native import DEPTH_DIMS
from riparian.parameters.forests import (
    MOST_CATEGORIES,
    OF_DEPTH,
    AdaptiveNumberParameters,
    AdaptiveParameters,
    ChangeParameters,
    NumberParameters,
    PaperParameters,
    SaffariParameters,
    StreamParameters,
    parameters_of,
)
from riparian.parameters.schedules import ConsistencyWarning
from riparian.snapshot.errors import SnapshotError, require
from riparian.snapshot.fields import MOST_POINTS, at, bad, typed, whole, whole_list
from riparian.snapshot.labels import (
    ClassesState,
    NumbersState,
    WeightsState,
    read_class_weights,
    read_labels,
    read_numbers,
    write_class_weights,
    write_labels,
)
from riparian.snapshot.values import read_value, value_of

FORMAT = 3  # the latest that can be read
FORMAT_BEFORE_EAGER = 2  # what forests without eager trees are written as
# Parameters that format 2 does not have, and their values then.
LATER: dict[str, Any] = {"eager": False, "intervals": (), "lag": 0}
OLDEST_CLASS = "OnlineForestClassifier"  # the only one that format 1 has


@dataclass(frozen=True)
class ForestKind:
    """The parameters and the points of an estimator's class, which decide what its arrays are."""

    parameters: type[StreamParameters] | type[SaffariParameters]
    depth: bool = False  # pixels of depth images, not rows of a matrix


# Every class that can be saved, by the name that a snapshot has for it.
CLASSES = {
    "OnlineForestClassifier": ForestKind(PaperParameters),
    "OnlineForestRegressor": ForestKind(NumberParameters),
    "AdaptiveForestClassifier": ForestKind(AdaptiveParameters),
    "AdaptiveForestRegressor": ForestKind(AdaptiveNumberParameters),
    "SaffariForestClassifier": ForestKind(SaffariParameters),
    "DepthForestClassifier": ForestKind(PaperParameters, depth=True),
    "DepthSaffariClassifier": ForestKind(SaffariParameters, depth=True),
}

MOST_COLUMNS = 2**31 - 1  # the core marks categorical columns by the top bit of their number
MOST_CHARACTERS = 2**26  # the container takes no header of more than 100 MB


@dataclass(frozen=True)
class Categories:
    """The description of the tables of categories (R22); their values are in an array."""

    columns: list[int]  # that are categorical, ascending
    sizes: list[int]  # of their tables
    full: list[bool]  # whether a category arrived that had no place
    most: int | None  # of a table


@dataclass(frozen=True)
class Rows:
    """The points of a forest over the columns of a matrix."""

    n_features: int
    feature_names: list[str] | None
    sparse: bool  # whether only the nonzero entries of kept rows are stored
    categories: Categories | None = None


@dataclass(frozen=True)
class DepthImages:
    """The points of a forest over depth images (R16), as the engine was started."""

    offset_std: float
    far: float


@dataclass(frozen=True)
class History:
    """What a forest has learned that the theorem does not cover.

    None means unknown: older snapshots do not store it.
    """

    weighted: bool | None = None  # some point had a weight other than 1
    passes: int | None = None  # how often `fit` went through the same points


@dataclass(frozen=True)
class Header:
    """The contents of a snapshot besides its arrays."""

    estimator_class: str  # one of CLASSES
    prediction_only: bool
    estimator: dict[str, Any]  # the parameters that the estimator was made with, by name
    parameters: StreamParameters | SaffariParameters  # those that the engine was started with
    space: Rows | DepthImages
    points: int  # received by the forest: the next one is number `points` (R13)
    labels: ClassesState | NumbersState
    class_weights: WeightsState
    history: History = field(default_factory=History)
    extra: dict[str, Any] | None = None  # what a program stores with it
    part: range | None = None  # its trees, if they are only a part of the forest
    format: int = FORMAT  # of the file that it comes from
    frozen: bool = False  # converted from a forest whose rules are gone (R23): it cannot learn

    @property
    def eager(self) -> bool:
        """Eager, then honest (R24), with heads (R25)."""
        return len(self.parameters.heads) > 0

    @property
    def trust_width(self) -> int:
        """Return how many numbers T is: one per head, and of numbers two more for σ² (R26)."""
        return len(self.parameters.heads) + 2 * self.numbers

    @property
    def least_trust(self) -> int:
        """Return how many numbers T is with the sums of R29, before the first point."""
        return self.trust_width + _core.following_sums * (self.parameters.lag > 0)

    @property
    def trees(self) -> range:
        """Return the numbers of its trees."""
        return range(self.parameters.n_trees) if self.part is None else self.part

    @property
    def arrived(self) -> int:
        """Return the number of classes that have arrived; 0 of numbers."""
        return len(self.labels.arrived) if isinstance(self.labels, ClassesState) else 0

    @property
    def numbers(self) -> bool:
        """Return whether the target is numbers (R26)."""
        return isinstance(self.labels, NumbersState)

    @property
    def one_stream(self) -> bool:
        """Return whether it is Saffari's forest (R18)."""
        return isinstance(self.parameters, SaffariParameters)

    @property
    def adaptive(self) -> bool:
        """Return whether it is a forest for streams that change (R27)."""
        return isinstance(self.parameters, ChangeParameters)

    @property
    def depth(self) -> bool:
        """Return whether points are pixels of depth images."""
        return isinstance(self.space, DepthImages)

    @property
    def sparse(self) -> bool:
        return isinstance(self.space, Rows) and self.space.sparse

    @property
    def categories(self) -> Categories | None:
        return self.space.categories if isinstance(self.space, Rows) else None

    @property
    def n_dims(self) -> int:
        """Return the number of dimensions from which a leaf draws its candidates."""
        return self.space.n_features if isinstance(self.space, Rows) else DEPTH_DIMS

    @property
    def kept_points(self) -> int:
        """Return W (R19)."""
        kept = self.parameters.kept_points
        assert isinstance(kept, int)
        return kept


@functools.cache
def library() -> str:
    """Return the version of riparian. The lookup takes longer than the rest of a small header."""
    return version("riparian")


def write(header: Header) -> str:
    engine, space = header.parameters, header.space
    columns = space if isinstance(space, Rows) else None
    estimator = _write_values(header.estimator)
    parameters = _write_values({f.name: getattr(engine, f.name) for f in fields(engine)})
    later = (estimator | parameters).keys() & LATER.keys()
    fields_ = {
        "format": FORMAT if header.numbers or later else FORMAT_BEFORE_EAGER,
        "library": library(),
        "class": header.estimator_class,
        "prediction_only": header.prediction_only,
        "estimator": estimator,
        "engine": parameters,
        "n_features": columns and columns.n_features,
        "feature_names": columns and columns.feature_names,
        "sparse": columns and columns.sparse,
        "depth": None if isinstance(space, Rows) else asdict(space),
        "points": header.points,
        "labels": write_labels(header.labels),
        "class_weights": write_class_weights(header.class_weights),
        "history": asdict(header.history),
    }
    if header.categories is not None:
        fields_["categories"] = asdict(header.categories)
    if header.frozen:
        fields_["frozen"] = True
    if header.part is not None:
        fields_["part"] = [header.part.start, header.part.stop]
    try:
        text = json.dumps(fields_, allow_nan=False)
    except ValueError as error:
        raise SnapshotError("header", f"a parameter cannot be saved: {error}") from None
    return text if header.extra is None else _with_extra(fields_, header.extra)


def _write_values(parameters: dict[str, Any]) -> dict[str, Any]:
    """Write what was added after format 2 only where it differs from the earlier behaviour."""
    return {
        name: value_of(name, value)
        for name, value in parameters.items()
        if name not in LATER or not np.array_equal(value, LATER[name])
    }


def _with_extra(fields_: dict[str, Any], extra: dict[str, Any]) -> str:
    try:
        text = json.dumps({**fields_, "extra": extra}, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SnapshotError("header", f"extra cannot be saved: {error}") from None
    require(
        len(text) <= MOST_CHARACTERS,
        "header",
        f"extra is too long: the header may have {MOST_CHARACTERS} characters, got {len(text)}",
    )
    return text


def read(stored: dict[str, Any], max_bytes: int) -> Header:
    """Return the header that a snapshot has as JSON."""
    check_format(stored)
    if stored["format"] == 1:
        stored = {**stored, "class": OLDEST_CLASS, "sparse": False, "depth": None}
    name = _read_class(stored)
    stored_labels = typed(stored, "labels", dict)
    numbers = issubclass(CLASSES[name].parameters, NumberParameters)
    labels = read_numbers(stored_labels) if numbers else read_labels(stored_labels, max_bytes)
    parameters = _read_engine(CLASSES[name].parameters, typed(stored, "engine", dict))
    return Header(
        estimator_class=name,
        prediction_only=typed(stored, "prediction_only", bool),
        estimator=_read_estimator(type(parameters), typed(stored, "estimator", dict)),
        parameters=parameters,
        space=_read_depth(stored) if CLASSES[name].depth else _read_rows(stored),
        points=whole(stored, "points", at_least=0, at_most=MOST_POINTS),
        labels=labels,
        class_weights=read_class_weights(typed(stored, "class_weights", dict), labels),
        history=_read_history(stored),
        extra=typed(stored, "extra", dict) if "extra" in stored else None,
        part=_read_part(stored, parameters.n_trees) if "part" in stored else None,
        format=stored["format"],
        frozen="frozen" in stored and typed(stored, "frozen", bool),
    )


def check_format(stored: dict[str, Any]) -> None:
    """Raise an error for a later format. This precedes the checksum, which may change with it."""
    number = whole(stored, "format", at_least=1, at_most=2**31)
    require(
        number <= FORMAT,
        "version",
        f"the snapshot has format {number}, written by riparian "
        f"{typed(stored, 'library', str)[:50]}; riparian {library()} "
        f"reads formats up to {FORMAT}: install a later version",
    )


def _read_class(stored: dict[str, Any]) -> str:
    name: str = typed(stored, "class", str)
    require(
        name in CLASSES,
        "header",
        f"the snapshot has class {reprlib.repr(name)}, which riparian {library()} "
        f"does not know; expected one of {', '.join(CLASSES)}",
    )
    return name


# -- the parameters of the estimator and of the engine -----------------------------------------------


def _read_estimator(
    cls: type[StreamParameters] | type[SaffariParameters], stored: dict[str, Any]
) -> dict[str, Any]:
    """Return the parameters. One that did not exist yet has its old behaviour, not today's default."""
    described = parameters_of(cls)
    before = {described[f.name].name: f.default for f in fields(cls) if f.default is not MISSING}
    return {**before, **{name: read_value(name, value) for name, value in stored.items()}}


def _read_engine(
    cls: type[StreamParameters] | type[SaffariParameters], stored: dict[str, Any]
) -> StreamParameters | SaffariParameters:
    known = {f.name for f in fields(cls)}
    needed = {f.name for f in fields(cls) if f.default is MISSING}
    require(
        needed <= stored.keys() <= known,
        "header",
        f"engine must name {sorted(needed)}, got {reprlib.repr(sorted(stored))}",
    )
    values = {name: read_value(name, value) for name, value in stored.items()}
    require(values.get("kept_points") != "auto", "header", "engine: kept_points must be a number")
    try:
        with warnings.catch_warnings():  # the warning was given when the forest was started
            warnings.simplefilter("ignore", ConsistencyWarning)
            return cls.checked(**values)
    except (TypeError, ValueError, OverflowError) as error:
        raise bad(f"engine: {error}") from None


# -- points ------------------------------------------------------------------------------------------


def _read_rows(stored: dict[str, Any]) -> Rows:
    n_features = whole(stored, "n_features", at_least=1, at_most=MOST_COLUMNS)
    require(at(stored, "depth") is None, "header", "depth must be null in a forest over columns")
    names, sparse = _read_names(stored, n_features), typed(stored, "sparse", bool)
    return Rows(n_features, names, sparse, _read_categories(stored, n_features, sparse))


def _read_categories(stored: dict[str, Any], n_features: int, sparse: bool) -> Categories | None:
    if "categories" not in stored:
        return None
    given = typed(stored, "categories", dict)
    known = {f.name for f in fields(Categories)}
    require(given.keys() == known, "header", f"categories must have exactly {sorted(known)}")
    columns = whole_list(given, "columns", at_most=n_features - 1)
    every_once = all(a < b for a, b in pairwise(columns)) and columns
    require(every_once, "header", "categories: columns must ascend, and there must be at least one")
    require(not sparse, "header", "categories: kept rows must not be sparse")
    most = None if given["most"] is None else whole(given, "most", 1, MOST_CATEGORIES)
    sizes = whole_list(given, "sizes", at_most=MOST_CATEGORIES if most is None else most)
    full = typed(given, "full", list)
    require(
        len(sizes) == len(full) == len(columns) and all(type(f) is bool for f in full),
        "header",
        "categories: sizes and full must have one entry per column",
    )
    return Categories(columns, sizes, full, most)


def _read_depth(stored: dict[str, Any]) -> DepthImages:
    for name in ("n_features", "feature_names", "sparse"):
        nothing = at(stored, name) is None
        require(nothing, "header", f"{name} must be null in a forest over depth images")
    given = typed(stored, "depth", dict)
    require(
        given.keys() == OF_DEPTH.keys(), "header", f"depth must have exactly {sorted(OF_DEPTH)}"
    )
    try:
        values = {name: OF_DEPTH[name].checked(value) for name, value in given.items()}
    except (TypeError, ValueError, OverflowError) as error:
        raise bad(f"depth: {error}") from None
    far = values["far"]
    single = float(np.float32(far)) == far
    require(single, "header", f"depth: far must be a number of single precision, got {far!r}")
    return DepthImages(**values)


def _read_names(stored: dict[str, Any], n_features: int) -> list[str] | None:
    names = at(stored, "feature_names")
    if names is None:
        return None
    good = isinstance(names, list) and all(isinstance(name, str) for name in names)
    require(good and len(names) == n_features, "header", "feature_names must name every feature")
    return list(names)


def _read_history(stored: dict[str, Any]) -> History:
    """Read the history, which the first snapshots do not have: theirs is unknown."""
    if "history" not in stored:
        return History()
    history = typed(stored, "history", dict)
    known = {"weighted", "passes"}
    require(history.keys() == known, "header", f"history must have exactly {sorted(known)}")
    weighted = None if history["weighted"] is None else typed(history, "weighted", bool)
    passes = None if history["passes"] is None else whole(history, "passes", 1, 2**31)
    return History(weighted=weighted, passes=passes)


def _read_part(stored: dict[str, Any], n_trees: int) -> range:
    ends = whole_list(stored, "part", at_most=n_trees)
    good = len(ends) == 2 and ends[0] < ends[1]
    require(
        good,
        "header",
        f"part must be the first of its trees and one more than the last, got {ends}",
    )
    return range(*ends)
