"""What all forests share: an engine, labels, weights, and copies of themselves.

What a point is, a row of a matrix or a pixel of an image, is for the subclasses to say and to check
(`riparian.sklearn.row_forest`, `riparian.depth.pixel_forest`).
"""

from __future__ import annotations

import copy
import os
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d

from riparian.engine import native
from riparian.engine.draws import shuffled
from riparian.engine.rules import TREE_BYTES
from riparian.model.classes import Labels, distinct, family
from riparian.model.history import History
from riparian.model.weights import ClassWeights, Weights, product
from riparian.parameters.forests import (
    OF_ESTIMATORS,
    FitSettings,
    Parameters,
    SaffariParameters,
    TreeSettings,
)
from riparian.sklearn.progress import Callback, Progress
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.save import to_bytes
from riparian.tools.files import write_whole

STEP_POINTS = 4096  # `fit` reports progress after this many points, or a hundredth of all


class ForestClassifier(TreeSettings, FitSettings, ClassifierMixin, BaseEstimator):
    """A forest that learns a stream, whatever its points are and whatever its rule."""

    _parameters_class: ClassVar[type[Parameters] | type[SaffariParameters]]  # they name the rule
    _history = History()  # not known, unless it started here
    _why_not_plain: str | None = None  # why its trees cannot be plain ones (model/ensemble.py)
    _prediction_only = False  # came back from a snapshot without what learning needs

    @abstractmethod
    def _empty_engine(self) -> native.Engine:
        """An engine of the parameters that this forest was made with, once they are checked."""

    @abstractmethod
    def _blocks(self, points: Any) -> Iterator[tuple[slice, Any]]:
        """The points as the engine takes them, block by block."""

    # -- learning ---------------------------------------------------------------------------------

    def _started(self) -> bool:
        return hasattr(self, "_engine_and_labels")

    def _start(self, labels: Labels) -> None:
        """Begin an empty forest. Parameters that change later wait for the next start."""
        self._workers()
        self._class_weights = ClassWeights(self.class_weight)
        self._prediction_only = False
        self._history = History.new()
        self._adopt(self._empty_engine(), labels)

    def _adopt(self, engine: Any, labels: Labels) -> None:
        """Make an engine and its labels ours, both at once: another thread may read."""
        engine.set_classes(labels.rank(), len(labels.classes))
        self._engine_and_labels = (engine, labels)

    @property
    def _native(self) -> Any:
        return self._engine_and_labels[0]

    @property
    def _labels(self) -> Labels:
        return self._engine_and_labels[1]

    def _learn(self, points: Any, y: NDArray[Any], weights: Weights | None) -> None:
        rows = len(y)
        if weights is not None:
            points, y, weights = _with_weight(points, y, weights)
        with self._native.learning:
            before = len(self._labels.arrived)
            arrivals = self._labels.join(y)
            if len(self._labels.arrived) > before:
                self._native.set_classes(self._labels.rank(), len(self._labels.classes))
            weights = product(weights, self._class_weights.of(arrivals, self._labels.arrived))
            if weights is not None:
                points, arrivals, weights = _with_weight(points, arrivals, weights)
                self._history = self._history.with_weights(weights)
            self._feed(points, arrivals, weights, rows)

    def _feed(
        self, points: Any, arrivals: NDArray[np.uint32], weights: Weights | None, rows: int
    ) -> None:
        """Give the engine the points that `rows` rows of the stream have come to."""
        if type(points) is np.ndarray:  # one block
            self._native.learn(points, arrivals, weights, self._workers())
            return
        for some, block in self._blocks(points):
            weight = None if weights is None else weights[some]
            self._native.learn(block, arrivals[some], weight, self._workers())

    def _checked_parameters(self) -> Parameters | SaffariParameters:
        return self._parameters_class.of(self, seed=self._seed())

    def _seed(self) -> Any:
        given: Any = self.random_state
        # scikit-learn takes the module np.random for its own state.
        if given is None or given is np.random or isinstance(given, np.random.RandomState):
            return int(check_random_state(given).randint(2**31))
        return given

    def _workers(self) -> int:
        given = self.n_jobs
        if type(given) is int and given == 1:  # what joblib would say, many times as fast
            return 1
        return int(effective_n_jobs(OF_ESTIMATORS["n_jobs"].checked(given)))

    def _prepare(self, labels: NDArray[Any], classes: Any) -> None:
        """Start, if this is the first batch, and check its labels. `classes` may name all of them."""
        if not self._started():
            self._start(Labels(None if classes is None else checked_classes(classes)))
        elif classes is not None:
            self._labels.check_same(checked_classes(classes))
        self._labels.check(labels)
        self._workers()

    def _start_passes(self, labels: NDArray[Any], weights: Weights | None, passes: int) -> None:
        if weights is not None and not weights.any():
            raise ValueError("sample_weight must not be zero for all points")
        self._start(Labels(np.unique(labels), open=True))
        self._history = replace(self._history, passes=passes)

    def _checked_passes(self) -> int:
        OF_ESTIMATORS["shuffle"].checked(self.shuffle)
        return int(OF_ESTIMATORS["passes"].checked(self.passes))

    def _learn_passes(
        self,
        points: Any,
        labels: NDArray[Any],
        weights: Weights | None,
        passes: int,
        callback: Callback | None,
        hook_data: dict[str, Any],
    ) -> None:
        """Learn finitely many points, several times. `hook_data` is for scikit-learn's callbacks."""
        n = len(labels)
        step = max(STEP_POINTS, -(-n * passes // 100))
        progress = Progress(self, passes * -(-n // step), n * passes, callback, hook_data)
        for order in self._orders(passes, n):
            for first in range(0, n, step):
                rows = order[first : first + step]
                self._learn(points[rows], labels[rows], None if weights is None else weights[rows])
                if progress.step(len(rows)):
                    progress.end()
                    return
        progress.end()

    def _orders(self, passes: int, points: int) -> Iterator[NDArray[np.intp]]:
        seed = self._native.parameters.seed
        for number in range(passes):
            yield shuffled(seed, number, points) if self.shuffle else np.arange(points)

    def _check_can_learn(self) -> None:
        if self._prediction_only:
            raise SnapshotError(
                "prediction_only",
                "this forest was saved with prediction_only=True, so it cannot go on learning; load "
                "a snapshot saved without it, or start over with fit",
            )

    # -- predicting -------------------------------------------------------------------------------

    @property
    def classes_(self) -> NDArray[Any]:
        if not self._started():
            raise AttributeError("classes_: this forest has not learned anything yet")
        return self._labels.classes

    def _proba(self, points: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Probabilities and their classes, both as of the same point of the stream."""
        (engine, labels), workers = self._engine_and_labels, self._workers()
        if len(labels.classes) == 0:
            raise ValueError("no class is known yet: learn a point, or give classes= first")
        proba = self._stack(points, lambda block: engine.predict_proba(block, workers))
        return proba, labels.classes_when(proba.shape[1])

    def _most_probable(self, points: Any) -> NDArray[Any]:
        proba, classes = self._proba(points)
        labels: NDArray[Any] = classes[proba.argmax(axis=1)]
        return labels

    def _stack(self, points: Any, answer: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
        if type(points) is np.ndarray:
            return answer(points)  # one block
        while True:
            answers = [answer(block) for _, block in self._blocks(points)]
            if len({part.shape[1] for part in answers}) == 1:  # no class joined in between
                return answers[0] if len(answers) == 1 else np.concatenate(answers)

    # -- looking inside ---------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """What the forest has become, in total and per tree.

        `splits` that it chose (`should_splits`) or had to make (`must_splits`); `leaves`, how
        many of them are `active`, and of those how many are `young` (they look among kept points,
        R20), `pure` (only one class so far) or `stuck` (their candidates had to be drawn again, R8);
        the largest `depth`; points by stream; `activations` of inactive leaves and `refreshes` they
        cost (R12), like splits since the tree was last grown anew (R21); with `max_memory`,
        `evictions` from the fringe and, for each tree, `stopped_at`: the number of points after which
        it stopped growing, 0 while it grows; in total, how many have. `budget_binds` once a leaf was
        evicted or a tree has stopped: until then, `max_memory` has cost nothing but places in the
        fringe. `bytes` of the trees, by kind.
        """
        check_is_fitted(self)
        trees = [_with_sums(tree) for tree in self._native.core.stats()]
        total: dict[str, Any] = {name: sum(map(itemgetter(name), trees)) for name in trees[0]}
        total["depth"] = max(tree["depth"] for tree in trees)
        total["stopped"] = sum(tree["stopped_at"] > 0 for tree in trees)
        del total["stopped_at"]
        total["budget_binds"] = total["evictions"] > 0 or total["stopped"] > 0
        return {"points": self._native.core.points, **total, "trees": trees}

    def memory(self) -> dict[str, int]:
        """The bytes that the forest holds, by kind, and their sum.

        By a formula that depends on the forest alone (see DESIGN.md): `nodes`, the leaves with
        their `histograms`, the `fringe`, which is what active leaves collect, the `kept` points
        (R19) and the `lists` that the trees have of them; with categorical columns, the tables of
        `categories` (R22). Of depth images, `kept` is what they and
        their images take at this moment.
        """
        return self._memory_of(self._sizes())

    def _sizes(self) -> dict[str, int]:
        """Of `stats`, leaves and bytes: these the trees know without a look at every leaf."""
        check_is_fitted(self)
        sizes: dict[str, int] = self._native.core.sizes()
        return sizes

    def _memory_of(self, sizes: dict[str, int]) -> dict[str, int]:
        engine = self._native
        kinds = {"nodes": "node_bytes", "histograms": "leaf_bytes", "fringe": "fringe_bytes"}
        held = {name: sizes[kind] for name, kind in kinds.items()}
        held["nodes"] += len(engine.trees) * TREE_BYTES
        held |= {"kept": engine.kept_bytes(), "lists": engine.list_bytes()}
        if engine.categories is not None:
            held["categories"] = engine.categories.bytes
        return {**held, "total": sum(held.values())}

    # -- snapshots --------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, prediction_only: bool = False) -> None:
        """Save the forest to a file, from which `riparian.load` brings it back.

        After a crash at any moment there is the old file or the new one, whole. With
        `prediction_only` the file is much smaller, and what comes back predicts the same but
        cannot learn.
        """
        write_whole(path, self.to_bytes(prediction_only=prediction_only))

    def to_bytes(self, *, prediction_only: bool = False) -> bytes:
        """What `save` writes; `riparian.from_bytes` reads it."""
        return to_bytes(self, prediction_only=prediction_only)

    # -- copies -----------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds arrays and parameters; the engine derives the rest again."""
        state = dict(super().__getstate__())
        if self._started():
            with self._native.learning:
                engine, labels = state.pop("_engine_and_labels")
                state["_saved"] = (engine.__reduce__(), copy.copy(labels))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_saved", None)
        super().__setstate__(state)
        if saved is None:
            return
        (restored, arrays), labels = saved
        self._adopt(restored(*arrays), labels)

    def __sklearn_is_fitted__(self) -> bool:
        return self._started()


class unchanged_if_refused:
    """A refused batch leaves no trace, not even the number of features that it had."""

    def __init__(self, forest: ForestClassifier) -> None:
        self.forest, self.before = forest, dict(forest.__dict__)

    def __enter__(self) -> None:
        pass

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            self.forest.__dict__ = self.before


def _with_weight(
    points: Any, y: NDArray[Any], weights: Weights
) -> tuple[Any, NDArray[Any], Weights]:
    """R13: a point without weight is not a point of the stream."""
    there = weights > 0
    return (points, y, weights) if there.all() else (points[there], y[there], weights[there])


def checked_labels(y: Any, name: str) -> NDArray[Any]:
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None")
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU":
        return y
    if getattr(getattr(y, "dtype", None), "kind", None) == "O":
        family(np.ravel(y))
    y = check_array(y, ensure_2d=False, dtype=None, ensure_min_samples=0, input_name="y")
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    # scikit-learn's own check of targets warns of many classes in few rows; batches are like that.
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        fraction = labels[labels != np.floor(labels)][0]
        raise ValueError(f"Unknown label type: continuous. y must hold classes, got {fraction}")
    return labels


def checked_classes(classes: Any) -> NDArray[Any]:
    unique = distinct(checked_labels(classes, name="classes"))
    if len(unique) == 0:
        raise ValueError("classes must name at least one label, got none")
    return unique


def _with_sums(tree: dict[str, int]) -> dict[str, int]:
    tree["splits"] = tree["should_splits"] + tree["must_splits"]
    tree["bytes"] = tree["node_bytes"] + tree["leaf_bytes"] + tree["fringe_bytes"]
    return tree
