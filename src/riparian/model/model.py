"""The model: a forest that learns a stream, with its classes, weights, history and features.

Adapters (scikit-learn, River, CapyMOA, the command line, the service, Ray) check input in their own
terms and pass it on. The model does the rest: it numbers labels, weights points, keeps its history,
learns, answers, and saves itself as a snapshot.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from riparian.engine import native
from riparian.engine.categories import CategoryTables, MixedRows, Table, bytes_of_tables
from riparian.engine.engine import Engine, State
from riparian.engine.rules import TREE_BYTES
from riparian.model.classes import Classes
from riparian.model.weights import ClassWeights, Weights, product
from riparian.snapshot import categories
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.header import DepthImages, Header, History, Rows
from riparian.snapshot.memory import gives_memory_back
from riparian.snapshot.state import encode


@dataclass(frozen=True)
class Origin:
    """The estimator that a snapshot of the model is loaded as."""

    estimator_class: str  # a name in `riparian.snapshot.header.CLASSES`
    estimator: dict[str, Any]  # the parameters of its constructor


class Model:
    """A forest, its classes and their weights, its history, and the names of its features.

    One thread learns at a time (`engine.learning`), and any number of threads may predict meanwhile.
    """

    def __init__(
        self,
        engine: Engine,
        target: Classes,
        class_weights: ClassWeights | None = None,
        *,
        feature_names: Sequence[str] | None = None,
        history: History | None = None,
        prediction_only: bool = False,
    ) -> None:
        self.engine = engine
        self.target = target
        self.class_weights = ClassWeights(None) if class_weights is None else class_weights
        self.feature_names = None if feature_names is None else list(feature_names)
        self.history = History(weighted=False, passes=1) if history is None else history
        self.prediction_only = prediction_only  # loaded without the state that learning needs
        self._set_classes()

    # -- learning ---------------------------------------------------------------------------------

    def check_can_learn(self) -> None:
        if self.prediction_only:
            raise SnapshotError(
                "prediction_only",
                "this forest was saved with prediction_only=True, so it cannot learn; load a snapshot "
                "that was saved without it, or start again with fit",
            )

    def learn(self, points: Any, y: NDArray[Any], weights: Weights | None, workers: int) -> None:
        """Learn points in their order. Points and labels have been checked (`Classes.check`)."""
        rows = len(y)
        if weights is not None:
            points, y, weights = _with_weight(points, y, weights)
        with self.engine.learning:
            arrivals = self.join(lambda: self.target.join(y))
            weights = product(weights, self.class_weights.of(arrivals, self.target.arrived))
            if weights is not None:
                points, arrivals, weights = _with_weight(points, arrivals, weights)
                self._note_weights(weights)
            if isinstance(points, MixedRows):  # R22: only what is learned joins the categories
                points = self._tables.join(points)
            self._feed(points, arrivals, weights, rows, workers)

    def _feed(
        self,
        points: Any,
        arrivals: NDArray[np.uint32],
        weights: Weights | None,
        rows: int,
        workers: int,
    ) -> None:
        """Give the engine the points among the next `rows` rows of the stream."""
        assert isinstance(self.engine, native.NativeEngine)
        for some, block in native.blocks(points):
            weight = None if weights is None else weights[some]
            self.engine.learn(block, arrivals[some], weight, workers)

    def join(self, numbers: Callable[[], Any]) -> Any:
        """Number labels by `numbers()`, under the lock, and pass new classes to the engine."""
        before = len(self.target.arrived)
        answer = numbers()
        if len(self.target.arrived) > before:
            self._set_classes()
        return answer

    def _set_classes(self) -> None:
        self.engine.set_classes(self.target.rank(), len(self.target.classes))

    def _note_weights(self, weights: Weights) -> None:
        if not self.history.weighted and not (weights == 1).all():
            self.history = replace(self.history, weighted=True)

    def set_passes(self, passes: int) -> None:
        """Record how often the same points were learned: the theorem covers one pass."""
        self.history = replace(self.history, passes=passes)

    def set_judging(self, judging: bool) -> None:
        """Whether points judge the heads of the trees before they are learned (R25)."""
        self.engine.set_judging(judging)

    # -- features ---------------------------------------------------------------------------------

    @property
    def categories(self) -> dict[int, Table]:
        """Return the table of each categorical column, by its number (R22)."""
        tables = self.engine.categories
        return {} if tables is None else dict(sorted(tables.tables.items()))

    def codes(self, rows: Any) -> Any:
        """Return rows with codes; NaN, which goes right, for categories never learned (R22)."""
        if not isinstance(rows, MixedRows):
            return rows
        self._tables.check(rows)
        return self._tables.codes(rows)

    @property
    def _tables(self) -> CategoryTables:
        tables = self.engine.categories
        assert tables is not None, "mixed rows have categorical columns"
        return tables

    def widen(self, width: int, categorical: Iterable[int], max_categories: int | None) -> None:
        """Add columns at the right, up to `width`; the caller holds the lock of learning (R2).

        The columns in `categorical` have had no value yet; some of them may have joined before.
        """
        engine, columns = self.engine, sorted(categorical)
        assert isinstance(engine, native.ColumnEngine)
        if columns and engine.categories is None:
            max_bytes = bytes_of_tables(getattr(engine.parameters, "max_memory", None))
            engine.categories = CategoryTables.empty((), max_categories, max_bytes)
        known = [column for column in columns if column < engine.n_dims]
        if known:
            engine.become_categorical(known)
        if width > engine.n_dims:
            if engine.categories is not None:
                engine.categories.add(columns[len(known) :])
            engine.set_dims(width)

    # -- predicting -------------------------------------------------------------------------------

    def predict_proba(self, points: Any, workers: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return probabilities and their classes, both as of the same point of the stream."""
        if len(self.target.classes) == 0:
            raise ValueError("no class is known yet; learn a point, or pass classes= first")
        proba = self._stack(points, lambda block: self.engine.predict_proba(block, workers))
        return proba, self.target.classes_when(proba.shape[1])

    def predict(self, points: Any, workers: int) -> NDArray[Any]:
        """Return the most probable class of each point, the first among equals."""
        proba, classes = self.predict_proba(points, workers)
        labels: NDArray[Any] = classes[proba.argmax(axis=1)]
        return labels

    def predict_trees(self, points: Any) -> NDArray[np.int64]:
        return self._stack(points, self.engine.predict_trees)

    def apply(self, points: Any) -> NDArray[np.int64]:
        return self._stack(points, self.engine.apply)

    def _stack(self, points: Any, answer: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
        points = self.codes(points)
        if type(points) is np.ndarray:
            return answer(points)  # one block
        while True:
            answers = [answer(block) for _, block in native.blocks(points)]
            if len({part.shape[1] for part in answers}) == 1:  # no class joined in between
                return answers[0] if len(answers) == 1 else np.concatenate(answers)

    # -- inspection -------------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """Return counts, in total and per tree."""
        trees = [_with_sums(tree) for tree in self.engine.stats()]
        total: dict[str, Any] = {name: sum(map(itemgetter(name), trees)) for name in trees[0]}
        total["depth"] = max(tree["depth"] for tree in trees)
        total["stopped"] = sum(tree["stopped_at"] > 0 for tree in trees)
        del total["stopped_at"]
        total["budget_binds"] = total["evictions"] > 0 or total["stopped"] > 0
        trust = self.engine.trust()
        if trust is not None:
            total["trust"] = trust
        return {"points": self.engine.points, **total, "trees": trees}

    def memory(self) -> dict[str, int]:
        """Return bytes by what holds them, and their sum."""
        return self.memory_of(self.engine.sizes())

    def memory_of(self, sizes: dict[str, int]) -> dict[str, int]:
        """Return `memory()` for sizes that the caller already has."""
        engine = self.engine
        kinds = {"nodes": "node_bytes", "histograms": "leaf_bytes", "fringe": "fringe_bytes"}
        held = {name: sizes[kind] for name, kind in kinds.items()}
        held["nodes"] += len(engine.trees) * TREE_BYTES
        held |= {"kept": engine.kept_bytes(), "lists": engine.list_bytes()}
        if engine.categories is not None:
            held["categories"] = engine.categories.bytes
        return {**held, "total": sum(held.values())}

    def importances(self) -> NDArray[np.float64]:
        """Return the share of each column in the gain of all splits; zeros before the first split."""
        gains = self.engine.importance().astype(np.float64)
        importances = np.zeros(self.engine.n_dims)
        importances[: len(gains)] = np.maximum(gains, 0)  # R14 may leave a few units below zero
        total = importances.sum()
        return importances / total if total > 0 else importances

    # -- as a snapshot ----------------------------------------------------------------------------

    def header(self, origin: Origin, points: int) -> Header:
        """Return the header of a snapshot after `points` points. The caller keeps batches away."""
        return Header(
            estimator_class=origin.estimator_class,
            prediction_only=self.prediction_only,
            estimator=origin.estimator,
            parameters=self.engine.parameters,
            space=self._space(),
            points=points,
            labels=self.target.state(),
            class_weights=self.class_weights.state(),
            history=self.history,
        )

    def _space(self) -> Rows | DepthImages:
        engine = self.engine
        if isinstance(engine, native.DepthEngine):
            return DepthImages(engine.offset_std, engine.far)
        tables = categories.header_of(engine.categories)
        return Rows(engine.n_dims, self.feature_names, engine.sparse, tables)

    def saved(self, origin: Origin) -> tuple[Header, State, CategoryTables | None]:
        """Return the parts of a snapshot, as of one point of the stream."""
        with self.engine.learning:
            state = self.engine.save()
            return self.header(origin, state.points), state, copy.copy(self.engine.categories)

    @gives_memory_back
    def to_bytes(
        self,
        origin: Origin,
        *,
        prediction_only: bool = False,
        extra: dict[str, Any] | None = None,
    ) -> bytes:
        """Return the model as a snapshot. `extra` is any JSON object to store with it."""
        header, state, tables = self.saved(origin)
        only = prediction_only or header.prediction_only
        return encode(replace(header, prediction_only=only, extra=extra), state, tables)

    @classmethod
    def of_header(cls, header: Header, engine: Engine) -> Model:
        """Return the model of an engine that was loaded from a snapshot."""
        names = header.space.feature_names if isinstance(header.space, Rows) else None
        return cls(
            engine,
            Classes.of_state(header.labels),
            ClassWeights.of_state(header.class_weights),
            feature_names=names,
            history=header.history,
            prediction_only=header.prediction_only,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Pickle arrays and parameters as of one point; the engine derives the rest again."""
        with self.engine.learning:
            target = copy.copy(self.target)
            return {**self.__dict__, "target": target, "engine": self.engine.__reduce__()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        restored, arguments = state["engine"]
        self.__dict__ = {**state, "engine": restored(*arguments)}
        self._set_classes()


class HasModel(Protocol):
    """A forest in any form that has started."""

    @property
    def model_(self) -> Model: ...


def model_of(forest: HasModel) -> Model:
    """Return the model of a forest, or raise scikit-learn's error if it has not started."""
    if not hasattr(forest, "model_"):
        check_is_fitted(forest)
    return forest.model_


def _with_weight(
    points: Any, y: NDArray[Any], weights: Weights
) -> tuple[Any, NDArray[Any], Weights]:
    """Drop rows of weight 0, which are no points of the stream (R13)."""
    positive = weights > 0
    if positive.all():
        return points, y, weights
    return points[positive], y[positive], weights[positive]


def _with_sums(tree: dict[str, int]) -> dict[str, int]:
    tree["splits"] = tree["should_splits"] + tree["must_splits"]
    tree["bytes"] = tree["node_bytes"] + tree["leaf_bytes"] + tree["fringe_bytes"]
    return tree
