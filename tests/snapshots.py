"""Open snapshots, change them, and seal them again with a correct checksum, for tests and the fuzzer."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian import (
    AdaptiveForestClassifier,
    AdaptiveForestRegressor,
    ConsistencyWarning,
    Geometric,
    OnlineForestClassifier,
    OnlineForestRegressor,
    Polynomial,
    SaffariForestClassifier,
)
from riparian.depth import DepthForestClassifier, DepthSaffariClassifier
from riparian.engine.native import ColumnEngine
from riparian.explain import Explainer
from riparian.loading import from_bytes
from riparian.snapshot import container
from riparian.snapshot.errors import SnapshotError

Arrays = dict[str, NDArray[Any]]

PLAIN = {"n_estimators": 3, "random_state": 7, "min_gain": 0.1, "split_points": 3}


def mixture(n, seed=0, n_classes=3):
    """Overlapping classes in four columns, one of them with ties and one with missing values."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, 4)) + y[:, None] * [1.5, -1.0, 0.5, 0.0]
    X[:, 2] = np.round(X[:, 2])
    X[rng.random(n) < 0.2, 3] = np.nan
    return X.astype(np.float32), y


class SparseForest(OnlineForestClassifier):
    """A forest that stores only the nonzero entries of its kept points."""

    def _empty_engine(self):
        return ColumnEngine(self._checked_parameters(), self.n_features_in_, sparse=True)


def images(n, seed=0):
    """Depth images of two sizes, pixels of them and their labels, image by image."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        depth = rng.uniform(1, 4, size=(1, 6 + i % 2, 5)).astype(np.float32)
        depth[0, :, 2] = 0  # no return
        pixels = np.stack([0 * np.arange(20), rng.integers(6, size=20), rng.integers(2, size=20)])
        pixels = pixels.T.astype(np.int32)
        yield depth, pixels, (depth[0, pixels[:, 1], pixels[:, 2]] > 2.5).astype(int) + (i > 5)


PLAIN_DEPTH = {"n_estimators": 2, "random_state": 7, "candidate_dims": 6, "split_points": 3,
               "offset_std": 4.0, "min_gain": 0.05}  # fmt: skip


def learned_pixels(n=10, cls=DepthForestClassifier, **changes):
    """A forest that has seen pixels of `n` images."""
    if cls is DepthForestClassifier:
        changes = {"alpha": Geometric(2, 1.1), "fringe_size": 6, "eager": False} | changes
    forest = cls(**(PLAIN_DEPTH | changes))
    for depth, pixels, labels in images(n):
        forest.partial_fit(depth, pixels, labels)
    return forest


def learned(
    n=400,
    names=None,
    late=None,
    flips=None,
    weights=None,
    fit=False,
    cls=OnlineForestClassifier,
    **changes,
):
    """A forest that has seen `n` points, after the first `late` of them with one class more.

    After every `flips` of them, the classes change places.
    """
    if cls in (DepthForestClassifier, DepthSaffariClassifier):
        return learned_pixels(n, cls, **changes)
    X, y = mixture(n)
    if late is not None:
        y = np.where(np.arange(n) < late, y % 2, y)
    if flips is not None:
        y = (y + np.arange(n) // flips) % 3
    y = y if names is None else np.array(names)[y]
    if cls is not SaffariForestClassifier:
        changes = {
            "kept_points": 0,
            "max_memory": None,
            "eager": issubclass(cls, (AdaptiveForestClassifier, OnlineForestRegressor)),
        } | changes
    forest = cls(**(PLAIN | changes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsistencyWarning)
        if fit:
            return forest.fit(X, y, sample_weight=weights)
        return forest.partial_fit(X, y, sample_weight=weights)


# Forests of every kind: what a snapshot can hold is somewhere in here.
KINDS = {
    "default": {},
    "one point": {"n": 1},
    "no points": {"n": 0},
    "full fringe and a late class": {"fringe_size": 3, "late": 200},
    "fringe of one": {"fringe_size": 1, "candidate_dims": 0.0},
    "memory budget": {"n": 1500, "max_memory": 40_000},
    "memory budget that stops trees": {"n": 3000, "max_memory": 20_000},
    "memory budget and fringe": {"n": 1500, "max_memory": 60_000, "fringe_size": 4},
    "names": {"names": ["oak", "ash", "elm"], "fit": True, "passes": 2},
    "balanced": {"class_weight": "balanced", "ignore_fraction": 0.2},
    "weights by class": {"class_weight": {0: 0.5, 1: 2.75}, "voting": "majority"},
    "sums kept": {"min_gain": 5.0, "alpha": Geometric(1, 1.1), "beta": Geometric(150, 1.2)},
    "drawn again": {"beta": 2, "alpha": Polynomial(4, 1.5), "candidate_dims": 0.0, "min_gain": 9.0},
    "many candidates": {"split_points": 33, "candidate_dims": 30.0, "alpha": Geometric(8, 1.1)},
    "constant alpha": {"alpha": Geometric(1, 1), "beta": 1},
    "heavy points": {"weights": np.linspace(0, 300, 400)},
    "all points kept": {"kept_points": 1000},
    "young and settled leaves": {"kept_points": 90, "alpha": Geometric(4, 1.1)},
    "points kept, no points": {"n": 0, "kept_points": 10},
    "points kept, one point": {"n": 1, "kept_points": 10},
    "one point kept": {"kept_points": 1},
    "points kept, fringe and a late class": {"kept_points": 120, "fringe_size": 3, "late": 200},
    "points kept, memory budget": {"n": 1500, "kept_points": 200, "max_memory": 100_000},
    "points kept, trees that stop": {"n": 2000, "kept_points": 300, "max_memory": 35_000},
    "points kept, weights": {"kept_points": 150, "weights": np.linspace(0, 3, 400)},
    "points kept, balanced": {"kept_points": 150, "class_weight": "balanced",
                              "ignore_fraction": 0.2},
    "points kept, drawn again": {"kept_points": 60, "beta": 2, "alpha": Polynomial(4, 1.5),
                                 "candidate_dims": 0.0, "min_gain": 9.0},
    "sparse points kept": {"cls": SparseForest, "kept_points": 130},
    "eager": {"eager": True, "kept_points": 1000, "late": 200},
    "eager, no points": {"eager": True, "kept_points": 10, "n": 0},
    "eager, one point": {"eager": True, "kept_points": 10, "n": 1},
    "eager, then honest": {"eager": True, "kept_points": 90, "alpha": Geometric(4, 1.1)},
    "eager, then honest, weights and a fringe": {"eager": True, "kept_points": 120, "fringe_size": 3,
                                                 "weights": np.linspace(0, 3, 400)},
    "eager, memory budget": {"eager": True, "n": 1500, "kept_points": 200, "max_memory": 100_000},
    "adaptive": {"cls": AdaptiveForestClassifier, "kept_points": 1000, "late": 200},
    "adaptive, trees replaced": {"cls": AdaptiveForestClassifier, "kept_points": 300, "n": 700,
                                 "drift_confidence": 0.999, "flips": 150},
    "adaptive, no points": {"cls": AdaptiveForestClassifier, "kept_points": 10, "n": 0},
    "adaptive, one point": {"cls": AdaptiveForestClassifier, "kept_points": 10, "n": 1},
    "adaptive, weights and a fringe": {"cls": AdaptiveForestClassifier, "kept_points": 60,
                                       "fringe_size": 3, "weights": np.linspace(0, 3, 400),
                                       "flips": 100},
    "adaptive, memory budget": {"cls": AdaptiveForestClassifier, "kept_points": 200, "n": 1500,
                                "max_memory": 60_000, "flips": 500},
    "Saffari": {"cls": SaffariForestClassifier},
    "Saffari, ranges": {"cls": SaffariForestClassifier, "thresholds": "range", "min_samples": 20},
    "Saffari, trees replaced": {"cls": SaffariForestClassifier, "replacement_rate": 0.005},
    "categories": {"categorical_features": [2]},
    "categories, points kept": {"categorical_features": [2, 3], "kept_points": 150},
    "categories, some put together": {"categorical_features": [2], "max_categories": 3,
                                      "kept_points": 90, "alpha": Geometric(4, 1.1)},
    "categories, halves of many": {"categorical_features": [0, 1], "kept_points": 1000},
    "adaptive, halves of many": {"cls": AdaptiveForestClassifier, "categorical_features": [0, 1],
                                 "kept_points": 300, "flips": 150},
    "categories, memory budget": {"categorical_features": [1, 2], "n": 1500, "max_memory": 60_000},
    "Saffari, categories": {"cls": SaffariForestClassifier, "categorical_features": [2],
                            "max_categories": None, "thresholds": "range", "min_samples": 20},
    "Saffari, bounded depth": {"cls": SaffariForestClassifier, "max_depth": 2, "min_gain": 0.0},
}  # fmt: skip

# With numbers as targets (R26).
NUMBER_KINDS = {
    "numbers, paper": {"cls": OnlineForestRegressor},
    "numbers, no points": {"cls": OnlineForestRegressor, "n": 0},
    "numbers, weights and a fringe": {"cls": OnlineForestRegressor, "fringe_size": 3,
                                      "weights": np.linspace(0, 3, 400)},
    "numbers, points kept": {"cls": OnlineForestRegressor, "kept_points": 90, "eager": False,
                             "alpha": Geometric(4, 1.1)},
    "numbers, eager": {"cls": OnlineForestRegressor, "kept_points": 1000},
    "numbers, eager, no points": {"cls": OnlineForestRegressor, "kept_points": 10, "n": 0},
    "numbers, eager, then honest": {"cls": OnlineForestRegressor, "kept_points": 90,
                                    "fringe_size": 3, "alpha": Geometric(4, 1.1)},
    "numbers, memory budget": {"cls": OnlineForestRegressor, "n": 1500, "kept_points": 200,
                               "max_memory": 100_000},
    "numbers, intervals": {"cls": OnlineForestRegressor, "kept_points": 150, "intervals": (0.5, 0.9)},
    "numbers, adaptive": {"cls": AdaptiveForestRegressor, "kept_points": 150, "flips": 90,
                          "weights": np.linspace(0, 3, 400)},
    "numbers that follow the last target": {"cls": AdaptiveForestRegressor, "kept_points": 150,
                                            "lag": 5, "intervals": (0.9,)},
    "numbers, adaptive, no points": {"cls": AdaptiveForestRegressor, "kept_points": 10, "n": 0},
    "numbers, adaptive, fringe and budget": {"cls": AdaptiveForestRegressor, "n": 1500,
                                             "flips": 500, "kept_points": 200, "fringe_size": 3,
                                             "max_memory": 100_000},
}  # fmt: skip

# And over depth images.
DEPTH_KINDS = {
    "depth": {"cls": DepthForestClassifier, "n": 10, "kept_points": 0},
    "depth, pixels kept": {"cls": DepthForestClassifier, "n": 10, "kept_points": 500},
    "depth, pixels kept and lost": {"cls": DepthForestClassifier, "n": 10, "kept_points": 70},
    "depth, eager, then honest": {
        "cls": DepthForestClassifier,
        "n": 10,
        "kept_points": 70,
        "eager": True,
    },
    "depth, one image": {"cls": DepthForestClassifier, "n": 1, "kept_points": 30},
    "depth, Saffari": {"cls": DepthSaffariClassifier, "n": 10, "max_depth": 3},
}


def opened(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a snapshot, which the caller may change."""
    text, arrays = container.unpack(data)
    return json.loads(text), {
        name: a.copy() for name, a in container.check_digest(text, arrays).items()
    }


def sealed(header: dict[str, Any], arrays: Arrays) -> bytes:
    """Return a snapshot; an infinity in the header is a number that no float64 holds."""
    return container.pack(json.dumps(header).replace("Infinity", "1e999"), arrays)


def same_forest(a: OnlineForestClassifier, b: OnlineForestClassifier) -> bool:
    """Return whether all arrays of all trees are equal, to the bit, and their sizes."""
    state_a, state_b = a.model_.engine.save(), b.model_.engine.save()
    arrays_a, arrays_b = ([*s.trees, s.kept or {}] for s in (state_a, state_b))
    same = state_a.points == state_b.points and all(
        one[name].tobytes() == other[name].tobytes()
        for one, other in zip(arrays_a, arrays_b, strict=True)
        for name in one
    )
    return same and a.memory() == b.memory() and a.to_bytes() == b.to_bytes()


# -- changes -----------------------------------------------------------------------------------------

NUMBERS = [0, 1, 2, 3, -1, 7, 8, 255, 256, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**61 - 1,
           2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30]  # fmt: skip
VALUES = [None, True, False, 0.5, 1.0, -1.5, 1e308, float("inf"), "", "sqrt", "balanced", "majority",
          "x" * 50, "Geometric", "<i8", "|O", "<U2", "\0", "\ud800", [], {}, [0], [[0]],
          {"kind": "Geometric"}]  # fmt: skip


# What loading does not judge: any of these numbers may be anything, as far as it is safe.
UNJUDGED = ("totals", "growth", "bag", "window", "window_sums", "bucket_row", "bucket_total",
            "bucket_variance", "replaced", "importance", "threshold", "leaf_born", "histogram",
            "memory", "memory_classes", "memory_weight", "memory_sum", "errors", "key_over",
            "key_under", "next_look", "had_lost", "attempt", "received", "planned", "summed",
            "candidate_dims", "split_point_born", "split_threshold", "structure_label",
            "structure_bits", "structure_count", "estimation_label", "estimation_bits",
            "estimation_count", "kept_label", "kept_weight", "kept_rows", "eager", "scores",
            "votes", "inner_histogram", "eager_votes", "spared_levels", "eager_counted", "trust",
            "saved_error", "inner_weight", "inner_sum", "leaf_weight", "leaf_sum", "leaf_squares",
            "leaf_same", "waiting_error", "structure_weight", "structure_sum", "structure_squares",
            "estimation_weight", "estimation_sum", "estimation_squares")  # fmt: skip


def changed(random: Random, header: dict[str, Any], arrays: Arrays) -> bytes:
    """Return the snapshot with one to four changes and a correct checksum."""
    header, arrays = json.loads(json.dumps(header)), dict(arrays)
    for _ in range(1 + random.randrange(4)):
        if random.randrange(4) == 0:
            change_header(random, header)
        else:
            change_arrays(random, arrays)
    return sealed(header, arrays)


def forged(random: Random, header: dict[str, Any], arrays: Arrays) -> bytes:
    """Return the snapshot with other numbers where loading does not check them: most of these load."""
    arrays = dict(arrays)
    for _ in range(1 + random.randrange(4)):
        change_unjudged(random, arrays)
    return sealed(header, arrays)


def change_unjudged(random: Random, arrays: Arrays) -> None:
    """Change some or all numbers of an array, but not lengths and links."""
    names = [name for name in UNJUDGED if len(arrays.get(name, ()))]
    if not names:
        return
    name = random.choice(names)
    array = arrays[name]
    n = random.choice([1, 2, len(array)])
    for _ in range(min(n, 64)):
        array = change_elements(random, array, 5 + random.randrange(11))
    if n == len(array) and array.dtype.kind != "f":
        array = np.resize(array[random.randrange(len(array)) :], len(array))
    arrays[name] = array


def change_header(random: Random, header: dict[str, Any]) -> None:
    holder, key = a_place(random, header)
    what = random.randrange(5)
    other = copy.deepcopy(random.choice(VALUES + NUMBERS))  # later changes may change it
    if what == 0:
        del holder[key]
    elif what == 1 and isinstance(holder, list):
        holder.insert(key, other)
    elif what == 2 and isinstance(holder[key], int):
        holder[key] += random.choice([-1, 1])
    elif what == 3:  # a label, for example, wherever it is
        old = holder[key]
        for one, place in [*places(header)]:
            if type(one[place]) is type(old) and one[place] == old:
                one[place] = copy.deepcopy(other)
    else:
        holder[key] = other


def a_place(random: Random, value: Any) -> tuple[Any, Any]:
    """Return a container and a key: those in a long list are no more likely than one next to it."""
    while True:
        key = random.choice(list(value) if isinstance(value, dict) else range(len(value)))
        if not (isinstance(value[key], list | dict) and value[key]) or random.randrange(6) == 0:
            return value, key
        value = value[key]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in nested lists and objects, as its container and its key there."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], list | dict):
            yield from places(value[key])


def change_arrays(random: Random, arrays: Arrays) -> None:
    name = random.choice(sorted(arrays) or ["nodes"])
    array = arrays.get(name, np.zeros(0, dtype=np.uint8))
    what = random.randrange(16)
    if what == 0:
        arrays.pop(name, None)
    elif what == 1:
        with np.errstate(invalid="ignore"):
            arrays[name] = array.astype(random.choice(list(container.TYPES.values())))
    elif what == 2:
        arrays[name] = array[: random.randrange(len(array) + 1)]
    elif what == 3:
        arrays[name] = np.concatenate([array, array[: 1 + random.randrange(3)]])
    elif what == 4:
        arrays[random.choice(["nodes", "more", name])] = array
    elif len(array):
        arrays[name] = change_elements(random, array, what)


def change_elements(random: Random, array: NDArray[Any], what: int) -> NDArray[Any]:
    i, j = random.randrange(len(array)), random.randrange(len(array))
    if array.dtype.kind == "f":
        array = array.copy()
        array[i] = random.choice(
            [
                0.0,
                -0.0,
                1.5,
                np.nan,
                np.inf,
                -np.inf,
                1e-45,
                float(array[j]),
                -1.0,
                -(2.0**24),
                -(2.0**24) - 2,
                32.0,
                2.0**60,
                3e38,
                -3e38,
            ]
        )
        return array
    # A number that does not fit its narrow type is stored in a wider one, as a writer would.
    wide = array.astype(object)
    if what < 8:
        wide[i] += random.choice([-1, 1, -2, 2])
    elif what < 10:
        wide[i] = random.choice(NUMBERS)
    elif what < 12:
        wide[i], wide[j] = wide[j], wide[i]
    elif what < 14:
        wide[i] ^= 1 << random.randrange(8 * array.dtype.itemsize)
    else:
        wide[i] = wide[j]
    if array.dtype.kind == "i":
        return np.clip(wide, -(2**63), 2**63 - 1).astype(np.int64)
    wide = np.clip(wide, 0, 2**64 - 1)
    return wide.astype(np.promote_types(array.dtype, np.min_scalar_type(int(wide.max()))))


def scratched(random: Random, data: bytes) -> bytes:
    """Return the bytes with a few of them flipped, removed or added."""
    broken = bytearray(data)
    for _ in range(1 + random.randrange(3)):
        at, what = random.randrange(len(broken) + 1), random.randrange(5)
        if what == 0:
            broken = broken[:at]
        elif what == 1:
            broken[at:at] = bytes(random.randrange(256) for _ in range(1 + random.randrange(9)))
        elif what == 2:
            del broken[at : at + 1 + random.randrange(9)]
        elif at < len(broken):
            broken[at] ^= 1 << random.randrange(8)
    return bytes(broken)


def is_large(forest: Any) -> bool:
    """Return whether a valid forest would take too long to go on, or overflow its counts."""
    p, dims = forest.model_.engine.parameters, getattr(forest, "n_features_in_", 1)
    state = forest.model_.engine.save()
    counted = ("histogram", "structure_count", "estimation_count", "leaf_weight", "inner_weight",
               "structure_weight", "estimation_weight")  # fmt: skip
    counts = [int(tree[name].max(initial=0)) for tree in state.trees for name in counted]
    drawn = 0 if isinstance(p.candidate_dims, str) else p.candidate_dims
    return max(dims, p.split_points, drawn) > 1000 or max(state.points, *counts) > 2**59


def survive(data: bytes, max_bytes: int = 2**28) -> str:
    """Load it: it is refused, or it is a forest that predicts, explains, learns, saves and loads.

    Return in a word what happened.
    """
    try:
        forest = from_bytes(data, max_bytes=max_bytes)
    except SnapshotError as error:
        return error.case
    if is_large(forest):
        return "valid, but large"
    points = points_for(forest)
    if isinstance(forest, OnlineForestRegressor):
        return survive_numbers(forest, points)
    if len(forest.classes_):
        assert np.isfinite(forest.predict_proba(*points)).all()
    forest.predict_trees(*points)
    if hasattr(forest, "n_features_in_"):
        assert (forest.feature_importances_ >= 0).all()
        explain(forest, points[0][:3])
    forest.stats()
    if forest.model_.prediction_only:
        return "valid, predicting"
    return survive_learning(forest, points)


def survive_numbers(forest: Any, points: Any) -> str:
    assert np.isfinite(forest.predict(*points)).all()
    forest.predict_trees(*points)
    assert (forest.feature_importances_ >= 0).all()
    forest.stats()
    if forest.model_.prediction_only:
        return "valid, predicting"
    return survive_learning(forest, points)


def survive_learning(forest: Any, points: Any) -> str:
    labels = labels_for(forest)
    forest.partial_fit(*points, labels[np.arange(40) % len(labels)])
    from_bytes(forest.to_bytes(), max_bytes=2**40)
    return "valid"


def labels_for(forest: Any) -> Any:
    """Return a few labels that the forest can learn."""
    if isinstance(forest, OnlineForestRegressor):
        return np.array([0.0, -3.5, 0.125, 2.0, 7.0, 1e5, -1e-9])
    return forest.classes_ if len(forest.classes_) else np.array([0, 1])


def explain(forest: Any, X: Any) -> None:
    """Ask what each feature adds; a forest that abstains somewhere raises an error."""
    try:
        for background in (None, X):
            Explainer(forest, background=background).contributions(X)
    except ValueError as error:
        assert "abstains for some points" in str(error) or "needs a class" in str(error), error


def grow(random: Random, data: bytes) -> bytes:
    """The snapshot of the forest in the file, once it has learned batches of points at random."""
    forest = from_bytes(data)
    if forest.model_.prediction_only:
        return data
    points, classes = points_for(forest), labels_for(forest)
    for _ in range(random.randrange(1, 8)):
        rows = [random.randrange(40) for _ in range(random.randrange(1, 60))]
        labels = classes[[random.randrange(len(classes)) for _ in rows]]
        chosen = [part[rows] if len(part) == 40 else part for part in points]
        forest.partial_fit(*chosen, labels)
    data = forest.to_bytes()
    return data if random.randrange(4) else forest.to_bytes(prediction_only=True)


def points_for(forest: Any) -> tuple[Any, ...]:
    """Forty points to predict and to learn."""
    if hasattr(forest, "n_features_in_"):
        X = np.resize(mixture(40, seed=1)[0], (40, forest.n_features_in_))
        for column, known in forest.categories_.items():
            X = X.astype(object)
            X[:, column] = np.resize(np.array([*known, None, *known[:3]], dtype=object), 40)
        return (X,)
    several = list(images(2, seed=1))
    depth = np.concatenate([depth[:, :6] for depth, _, _ in several])
    pixels = np.concatenate(
        [pixels + np.array([i, 0, 0]) for i, (_, pixels, _) in enumerate(several)]
    )
    return depth, pixels.astype(np.int32)
