"""The header: everything about a forest that is not an array of its trees, as JSON and back.

Numbers, texts, lists and objects are all there is in it. What comes in is checked field by field, so
that what goes on is what a forest could have written.
"""

from __future__ import annotations

import json
import re
import reprlib
import warnings
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from importlib.metadata import version
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.engine.native import DEPTH_DIMS
from riparian.estimator.history import History
from riparian.estimator.labels import FAMILIES, Labels, family
from riparian.estimator.parameters import (
    MOST_CATEGORIES,
    OF_DEPTH,
    AdaptiveParameters,
    Parameters,
    SaffariParameters,
    parameters_of,
)
from riparian.estimator.schedules import ConsistencyWarning, Geometric, Polynomial, Schedule
from riparian.estimator.weights import ClassWeights
from riparian.snapshot.container import read_json
from riparian.snapshot.errors import SnapshotError, require

FORMAT = 2
OLDEST_CLASS = "OnlineForestClassifier"  # the only one that format 1 has


@dataclass(frozen=True)
class Kind:
    """What the arrays of an estimator's class are: which rule made them, over which points."""

    parameters: type[Parameters] | type[SaffariParameters]
    depth: bool = False  # pixels of depth images, not rows of a matrix


# Every class that can be saved, by the name that a snapshot has for it.
CLASSES = {
    "OnlineForestClassifier": Kind(Parameters),
    "AdaptiveForestClassifier": Kind(AdaptiveParameters),
    "SaffariForestClassifier": Kind(SaffariParameters),
    "DepthForestClassifier": Kind(Parameters, depth=True),
    "DepthSaffariClassifier": Kind(SaffariParameters, depth=True),
}

SCHEDULES: dict[str, type[Geometric] | type[Polynomial]] = {
    "Geometric": Geometric,
    "Polynomial": Polynomial,
}
MOST_COLUMNS = 2**31 - 1  # the core has a bit for categorical ones beside their numbers
MOST_CHARACTERS = 2**26  # the container takes no header of more than 100 MB

LABELS: dict[str, type] = {"bool": bool, "int": int, "float": float, "str": str, "bytes": bytes}

MOST_POINTS = 2**61 - 1  # of a stream; sums of a few such numbers still fit 64 bits


@dataclass(frozen=True)
class Categories:
    """What a header says of the tables of categories (R22); their values are in an array."""

    columns: list[int]  # that are categorical, ascending
    sizes: list[int]  # of their tables
    full: list[bool]  # whether a category came that found no room
    most: int | None  # of a table


@dataclass(frozen=True)
class Rows:
    """The points of a forest over the columns of a matrix."""

    n_features: int
    feature_names: list[str] | None
    sparse: bool  # whether of a kept row only what is not zero is kept
    categories: Categories | None = None


@dataclass(frozen=True)
class DepthImages:
    """The points of a forest over depth images (R16), as the engine was started."""

    offset_std: float
    far: float


@dataclass(frozen=True)
class Header:
    """What a snapshot says beside its arrays."""

    estimator_class: str  # one of CLASSES
    prediction_only: bool
    estimator: dict[str, Any]  # the parameters that the estimator was made with, by name
    parameters: Parameters | SaffariParameters  # those that the engine was started with
    space: Rows | DepthImages
    points: int  # received by the forest: the next one is number `points` (R13)
    labels: Labels
    class_weights: ClassWeights
    history: History = field(default_factory=History)
    extra: dict[str, Any] | None = None  # what a program wants to keep with it; see extra.py
    part: range | None = None  # the trees in it, where they are only some of the forest's

    @property
    def trees(self) -> range:
        """The numbers of the trees in it."""
        return range(self.parameters.n_trees) if self.part is None else self.part

    @property
    def arrived(self) -> int:
        """The number of classes that have arrived."""
        return len(self.labels.arrived)

    @property
    def one_stream(self) -> bool:
        """Saffari's forest (R18)."""
        return isinstance(self.parameters, SaffariParameters)

    @property
    def adaptive(self) -> bool:
        """For streams that change (R23)."""
        return isinstance(self.parameters, AdaptiveParameters)

    @property
    def memories(self) -> int:
        """How many memories a leaf has (R23)."""
        return len(getattr(self.parameters, "memories", ()))

    @property
    def depth(self) -> bool:
        """Whether points are pixels of depth images."""
        return isinstance(self.space, DepthImages)

    @property
    def sparse(self) -> bool:
        return isinstance(self.space, Rows) and self.space.sparse

    @property
    def categories(self) -> Categories | None:
        return self.space.categories if isinstance(self.space, Rows) else None

    @property
    def n_dims(self) -> int:
        """How many dimensions a leaf draws its candidates from."""
        return self.space.n_features if isinstance(self.space, Rows) else DEPTH_DIMS

    @property
    def kept_points(self) -> int:
        """W (R19)."""
        kept = getattr(self.parameters, "kept_points", 0)
        assert isinstance(kept, int)
        return kept

    @property
    def max_memory(self) -> int | None:
        return getattr(self.parameters, "max_memory", None)


def write(header: Header) -> str:
    engine, space = header.parameters, header.space
    columns = space if isinstance(space, Rows) else None
    fields_ = {
        "format": FORMAT,
        "library": version("riparian"),
        "class": header.estimator_class,
        "prediction_only": header.prediction_only,
        "estimator": {name: _value(name, value) for name, value in header.estimator.items()},
        "engine": {f.name: _value(f.name, getattr(engine, f.name)) for f in fields(engine)},
        "n_features": columns and columns.n_features,
        "feature_names": columns and columns.feature_names,
        "sparse": columns and columns.sparse,
        "depth": None if isinstance(space, Rows) else asdict(space),
        "points": header.points,
        "labels": _labels(header.labels),
        "class_weights": _class_weights(header.class_weights),
        "history": asdict(header.history),
    }
    if header.categories is not None:
        fields_["categories"] = asdict(header.categories)
    if header.part is not None:
        fields_["part"] = [header.part.start, header.part.stop]
    try:
        text = json.dumps(fields_, allow_nan=False)
    except ValueError as error:
        raise SnapshotError("header", f"a parameter cannot be saved: {error}") from None
    return text if header.extra is None else _with_extra(fields_, header.extra)


def _with_extra(fields_: dict[str, Any], extra: dict[str, Any]) -> str:
    try:
        text = json.dumps({**fields_, "extra": extra}, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SnapshotError("header", f"extra cannot be saved: {error}") from None
    require(
        len(text) <= MOST_CHARACTERS,
        "header",
        f"extra is too long: the header may have {MOST_CHARACTERS} characters, has {len(text)}",
    )
    return text


def read(text: str, max_bytes: int) -> Header:
    stored = read_json(text, "header")
    check_format(stored)
    if stored["format"] == 1:
        stored = {**stored, "class": OLDEST_CLASS, "sparse": False, "depth": None}
    name = _read_class(stored)
    labels = _read_labels(_field(stored, "labels", dict), max_bytes)
    parameters = _read_engine(CLASSES[name].parameters, _field(stored, "engine", dict))
    return Header(
        estimator_class=name,
        prediction_only=_field(stored, "prediction_only", bool),
        estimator=_read_estimator(type(parameters), _field(stored, "estimator", dict)),
        parameters=parameters,
        space=_read_depth(stored) if CLASSES[name].depth else _read_rows(stored),
        points=_whole(stored, "points", at_least=0, at_most=MOST_POINTS),
        labels=labels,
        class_weights=_read_class_weights(_field(stored, "class_weights", dict), labels),
        history=_read_history(stored),
        extra=_field(stored, "extra", dict) if "extra" in stored else None,
        part=_read_part(stored, parameters.n_trees) if "part" in stored else None,
    )


def check_format(stored: dict[str, Any]) -> None:
    """This comes before the checksum: a later format may have another one."""
    number = _whole(stored, "format", at_least=1, at_most=2**31)
    require(
        number <= FORMAT,
        "version",
        f"the snapshot has format {number}, written by riparian "
        f"{_field(stored, 'library', str)[:50]}; riparian {version('riparian')} "
        f"reads formats up to {FORMAT}: install a later version",
    )


def _read_class(stored: dict[str, Any]) -> str:
    name: str = _field(stored, "class", str)
    require(
        name in CLASSES,
        "header",
        f"the snapshot is of class {reprlib.repr(name)}, which riparian {version('riparian')} "
        f"does not know; it knows {', '.join(CLASSES)}",
    )
    return name


# -- values: numbers, texts, schedules and weights by label ------------------------------------------


def _value(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Schedule):
        return {"kind": type(value).__name__, **asdict(value)}  # type: ignore[call-overload]
    if isinstance(value, list | tuple | np.ndarray):
        kind = "tuple" if isinstance(value, tuple) else "list"
        listed = value.tolist() if isinstance(value, np.ndarray) else value
        return {"kind": kind, "values": [_element(name, each) for each in listed]}
    if isinstance(value, Mapping):
        pairs = [[_label(name, k), _value(name, weight)] for k, weight in value.items()]
        return {"kind": "dict", "pairs": pairs}
    raise SnapshotError("header", f"{name}={reprlib.repr(value)} cannot be saved")


def _read_value(name: str, value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    require(isinstance(value, dict), "header", f"{name} must be a value, not a list")
    kind = _field(value, "kind", str)
    if kind in ("list", "tuple"):
        elements = [_element(name, each) for each in _field(value, "values", list)]
        return elements if kind == "list" else tuple(elements)
    if kind == "dict":
        return _read_mapping(name, _field(value, "pairs", list))
    require(kind in SCHEDULES, "header", f"{name} is of an unknown kind: {reprlib.repr(kind)}")
    try:
        return SCHEDULES[kind](**{k: v for k, v in value.items() if k != "kind"})
    except (TypeError, ValueError, OverflowError) as error:
        raise _bad(f"{name}: {error}") from None


def _element(name: str, value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    plain = value is None or isinstance(value, bool | int | float | str)
    require(plain, "header", f"{name} must hold plain values, got {reprlib.repr(value)}")
    return value


def _read_mapping(name: str, pairs: list[Any]) -> dict[Any, Any]:
    for pair in pairs:
        require(
            isinstance(pair, list) and len(pair) == 2 and not isinstance(pair[1], list | dict),
            "header",
            f"{name} must hold pairs of a label and a weight, got {reprlib.repr(pair)}",
        )
    return {_read_label(name, label): weight for label, weight in pairs}


def _label(name: str, label: Any) -> list[Any]:
    """A label with its type: JSON would make 1, True and 1.0 of keys into texts."""
    label = label.item() if isinstance(label, np.generic) else label
    kind = type(label).__name__
    require(kind in LABELS, "header", f"{name} names {reprlib.repr(label)}, which is no label")
    return [kind, label.decode("latin-1") if kind == "bytes" else label]


def _read_label(name: str, pair: Any) -> Any:
    good = isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)
    require(good, "header", f"{name} must name labels, got {reprlib.repr(pair)}")
    kind, label = pair
    require(kind in LABELS, "header", f"{name} has a label of unknown type {reprlib.repr(kind)}")
    return _read_labels_of(kind, [label])[0]


def _read_labels_of(kind: str, stored: list[Any]) -> list[Any]:
    in_json = str if kind == "bytes" else LABELS[kind]
    for label in stored:
        require(type(label) is in_json, "header", f"{reprlib.repr(label)} is no {kind} label")
    if kind != "bytes":
        return stored
    try:
        return [label.encode("latin-1") for label in stored]
    except UnicodeEncodeError:
        raise _bad("a bytes label holds a character beyond latin-1") from None


# -- the parameters of the estimator and of the engine -----------------------------------------------


def _read_estimator(
    cls: type[Parameters] | type[SaffariParameters], stored: dict[str, Any]
) -> dict[str, Any]:
    """A parameter that was not there yet has the value that it would have had, not today's default."""
    described = parameters_of(cls)
    before = {described[f.name].name: f.default for f in fields(cls) if f.default is not MISSING}
    return {**before, **{name: _read_value(name, value) for name, value in stored.items()}}


def _read_engine(
    cls: type[Parameters] | type[SaffariParameters], stored: dict[str, Any]
) -> Parameters | SaffariParameters:
    known = {f.name for f in fields(cls)}
    needed = {f.name for f in fields(cls) if f.default is MISSING}
    require(
        needed <= stored.keys() <= known,
        "header",
        f"engine must name {sorted(needed)}, got {reprlib.repr(sorted(stored))}",
    )
    values = {name: _read_value(name, value) for name, value in stored.items()}
    require(values.get("kept_points") != "auto", "header", "engine: kept_points must be a number")
    try:
        with warnings.catch_warnings():  # whoever started the forest has been warned
            warnings.simplefilter("ignore", ConsistencyWarning)
            return cls.checked(**values)
    except (TypeError, ValueError, OverflowError) as error:
        raise _bad(f"engine: {error}") from None


# -- points ------------------------------------------------------------------------------------------


def _read_rows(stored: dict[str, Any]) -> Rows:
    n_features = _whole(stored, "n_features", at_least=1, at_most=MOST_COLUMNS)
    require(_at(stored, "depth") is None, "header", "depth must be null in a forest over columns")
    names, sparse = _read_names(stored, n_features), _field(stored, "sparse", bool)
    return Rows(n_features, names, sparse, _read_categories(stored, n_features, sparse))


def _read_categories(stored: dict[str, Any], n_features: int, sparse: bool) -> Categories | None:
    if "categories" not in stored:
        return None
    given = _field(stored, "categories", dict)
    known = {f.name for f in fields(Categories)}
    require(given.keys() == known, "header", f"categories must say {sorted(known)} and no more")
    columns = _whole_list(given, "columns", at_most=n_features - 1)
    every_once = all(a < b for a, b in pairwise(columns)) and columns
    require(every_once, "header", "categories: columns must ascend, and there must be one")
    require(not sparse, "header", "categories: kept rows must not be sparse")
    most = None if given["most"] is None else _whole(given, "most", 1, MOST_CATEGORIES)
    sizes = _whole_list(given, "sizes", at_most=MOST_CATEGORIES if most is None else most)
    full = _field(given, "full", list)
    require(
        len(sizes) == len(full) == len(columns) and all(type(f) is bool for f in full),
        "header",
        "categories: sizes and full must say one thing per column",
    )
    return Categories(columns, sizes, full, most)


def _read_depth(stored: dict[str, Any]) -> DepthImages:
    for name in ("n_features", "feature_names", "sparse"):
        nothing = _at(stored, name) is None
        require(nothing, "header", f"{name} must be null in a forest over depth images")
    given = _field(stored, "depth", dict)
    require(given.keys() == OF_DEPTH.keys(), "header", f"depth must say {sorted(OF_DEPTH)}")
    try:
        values = {name: OF_DEPTH[name].checked(value) for name, value in given.items()}
    except (TypeError, ValueError, OverflowError) as error:
        raise _bad(f"depth: {error}") from None
    far = values["far"]
    single = float(np.float32(far)) == far
    require(single, "header", f"depth: far must be a number of single precision, got {far!r}")
    return DepthImages(**values)


# -- labels and weights ------------------------------------------------------------------------------


def _labels(labels: Labels) -> dict[str, Any]:
    classes, dtype = labels.classes, labels.classes.dtype
    kind = family(classes) if len(classes) else "float"
    require(
        kind in LABELS and not (dtype.kind == "f" and dtype.itemsize > 8),
        "header",
        f"labels of type {kind} ({dtype}) cannot be saved",
    )
    place = {label: i for i, label in enumerate(classes.tolist())}
    return {
        "kind": kind,
        "dtype": dtype.str,
        "closed": labels.closed,
        "classes": [_label("labels", label)[1] for label in classes.tolist()],
        "known": [place[label] for label in labels.known.tolist()],
        "arrived": [place[label] for label in labels.arrived],
    }


def _read_labels(stored: dict[str, Any], max_bytes: int) -> Labels:
    classes = _read_classes(stored, max_bytes)
    closed = _field(stored, "closed", bool)
    known = _whole_list(stored, "known", at_most=len(classes) - 1)
    arrived = _whole_list(stored, "arrived", at_most=len(classes) - 1)
    for name, places in (("known", known), ("arrived", arrived)):
        require(len(set(places)) == len(places), "header", f"{name} must name each class once")
    require(known == sorted(known), "header", "known must name classes in their order")
    require(
        len({*known, *arrived}) == len(classes) and not (closed and len(known) < len(classes)),
        "header",
        "every class must have been known beforehand, or have arrived where that is possible",
    )
    require(
        known or not closed, "header", "where no other class may come, at least one must be known"
    )
    labels = Labels(classes[known] if known else None, open=not closed)
    labels.join(classes[arrived])
    return labels


def _read_classes(stored: dict[str, Any], max_bytes: int) -> NDArray[Any]:
    kind, dtype = _field(stored, "kind", str), _read_dtype(_field(stored, "dtype", str))
    require(kind in LABELS, "header", f"labels are of unknown type {reprlib.repr(kind)}")
    values = _read_labels_of(kind, _field(stored, "classes", list))
    require(len(values) * dtype.itemsize <= max_bytes, "size", "the labels ask for too much memory")
    require(
        dtype.kind == "O" or FAMILIES[dtype.kind] == kind,
        "header",
        f"{kind} labels cannot have the dtype {dtype.str}",
    )
    try:
        classes = np.array(values, dtype=dtype)
    except (ValueError, OverflowError):
        raise _bad(f"labels do not fit their dtype {dtype.str}") from None
    same = classes.dtype == dtype or not values
    require(same and classes.tolist() == values, "header", f"labels do not fit {dtype.str}")
    ordered = all(a < b for a, b in pairwise(values))
    require(ordered, "header", "classes must be sorted and distinct")
    return classes


def _read_dtype(text: str) -> np.dtype[Any]:
    known = re.fullmatch(r"[<>|][biuUS][0-9]{1,9}|[<>]f[248]|\|O", text)
    try:
        require(known, "header", f"labels cannot have the dtype {reprlib.repr(text)}")
        return np.dtype(text)
    except TypeError:
        raise _bad(f"labels cannot have the dtype {text}") from None


def _class_weights(weights: ClassWeights) -> dict[str, Any]:
    given = "balanced" if weights.balanced else weights.given
    return {"given": _value("class_weight", given), "seen": weights.seen.tolist()}


def _read_class_weights(stored: dict[str, Any], labels: Labels) -> ClassWeights:
    require("given" in stored, "header", "class_weights must say what was given")
    try:
        weights = ClassWeights(_read_value("class_weights", stored["given"]))
    except (TypeError, ValueError, OverflowError) as error:
        raise _bad(str(error)) from None
    seen = _whole_list(stored, "seen", at_most=MOST_POINTS)
    # A batch of no rows makes room for one class.
    most = max(1, len(labels.arrived)) if weights.balanced else 0
    require(
        len(seen) <= most and sum(seen) <= MOST_POINTS,
        "header",
        "class_weights must have seen points of the classes that have arrived, if balanced",
    )
    weights.seen = np.array(seen, dtype=np.int64)
    return weights


def _read_names(stored: dict[str, Any], n_features: int) -> list[str] | None:
    names = _at(stored, "feature_names")
    if names is None:
        return None
    good = isinstance(names, list) and all(isinstance(name, str) for name in names)
    require(good and len(names) == n_features, "header", "feature_names must name every feature")
    return list(names)


def _read_history(stored: dict[str, Any]) -> History:
    """The first snapshots have none: what they have been through is not known."""
    if "history" not in stored:
        return History()
    history = _field(stored, "history", dict)
    known = {"weighted", "passes"}
    require(history.keys() == known, "header", f"history must say {sorted(known)} and no more")
    weighted = None if history["weighted"] is None else _field(history, "weighted", bool)
    passes = None if history["passes"] is None else _whole(history, "passes", 1, 2**31)
    return History(weighted=weighted, passes=passes)


# -- fields ------------------------------------------------------------------------------------------


def _at(stored: dict[str, Any], name: str) -> Any:
    require(name in stored, "header", f"the header has no {name}")
    return stored[name]


def _field(stored: dict[str, Any], name: str, kind: type) -> Any:
    value = _at(stored, name)
    require(
        type(value) is kind,
        "header",
        f"{name} must be of type {kind.__name__}, got {reprlib.repr(value)}",
    )
    return value


def _whole(stored: dict[str, Any], name: str, at_least: int, at_most: int) -> int:
    value: int = _field(stored, name, int)
    require(
        at_least <= value <= at_most,
        "header",
        f"{name} must be from {at_least} to {at_most}, got {reprlib.repr(value)}",
    )
    return value


def _read_part(stored: dict[str, Any], n_trees: int) -> range:
    ends = _whole_list(stored, "part", at_most=n_trees)
    good = len(ends) == 2 and ends[0] < ends[1]
    require(
        good, "header", f"part must be the first and the last but one of some trees, got {ends}"
    )
    return range(*ends)


def _whole_list(stored: dict[str, Any], name: str, at_most: int) -> list[int]:
    values: list[int] = _field(stored, name, list)
    good = all(type(value) is int and 0 <= value <= at_most for value in values)
    require(good, "header", f"{name} must hold whole numbers from 0 to {at_most}")
    return values


def _bad(reason: str) -> SnapshotError:
    return SnapshotError("header", reason[:500])
