"""The model: a forest that learns a stream, with its classes, weights, history and features.

Adapters (scikit-learn, River, CapyMOA, the command line, the service, Ray) check input in their own
terms and pass it on. The model does the rest: it numbers labels, weights points, keeps its history,
learns, answers, and saves itself as a snapshot.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
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
from riparian.model import in_turn
from riparian.model.classes import Classes
from riparian.model.decision import DECISION, Decision, decision_of
from riparian.model.in_turn import RowsInTurn
from riparian.model.intervals import (
    check_has_neighbours,
    checked_quantiles,
    place_of_coverage,
)
from riparian.model.numbers import Numbers
from riparian.model.target import Target
from riparian.model.trust import follows_of
from riparian.model.weights import ClassWeights, Weights, product
from riparian.parameters.forests import PAIR_BYTES
from riparian.snapshot import categories
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.header import DepthImages, Header, History, Rows
from riparian.snapshot.labels import NumbersState
from riparian.snapshot.memory import gives_memory_back
from riparian.snapshot.state import encode
from riparian.table.encoders import EncodedBefore
from riparian.table.raw import COLUMNS, RawColumns
from riparian.tools.signals import HandlersWait


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
        target: Target,
        class_weights: ClassWeights | None = None,
        *,
        feature_names: Sequence[str] | None = None,
        raw_columns: RawColumns | None = None,
        history: History | None = None,
        prediction_only: bool = False,
        frozen: bool = False,
        decision: Decision | None = None,
    ) -> None:
        self.engine = engine
        self.target = target
        self.class_weights = ClassWeights(None) if class_weights is None else class_weights
        self.feature_names = None if feature_names is None else list(feature_names)
        self.raw_columns = raw_columns  # how columns become features; None: each is one
        self.history = History(weighted=False, passes=1) if history is None else history
        self.prediction_only = prediction_only  # loaded without the state that learning needs
        self.frozen = frozen  # converted from riparian 0.2, whose rules it cannot follow any more
        self.decision = decision  # which class is predicted; None: the most probable
        self._tell_target()

    # -- learning ---------------------------------------------------------------------------------

    def check_can_learn(self) -> None:
        if self.frozen:
            raise SnapshotError(
                "prediction_only",
                "this forest for streams that change was saved by riparian 0.2, whose rules (R23) have "
                "been replaced, so it predicts and cannot learn; learn a new AdaptiveForestClassifier "
                "from recent rows, or go on with riparian 0.2",
            )
        if self.prediction_only:
            raise SnapshotError(
                "prediction_only",
                "this forest was saved with prediction_only=True, so it cannot learn; load a snapshot "
                "that was saved without it, or start again with fit",
            )

    def learn(self, points: Any, y: NDArray[Any], weights: Weights | None, workers: int) -> None:
        """Learn points in their order. Points and labels have been checked (`Classes.check`)."""
        with self.whole_batch():
            learned, labels, weights = self._arrive(y, weights)
            points = points if learned.all() else points[learned]
            if isinstance(points, MixedRows):  # R22: only what is learned joins the categories
                points = self._tables.join(points)
            self._feed(points, labels, weights, len(y), workers)

    def predict_then_learn(
        self, points: Any, y: NDArray[Any], weights: Weights | None, workers: int
    ) -> NDArray[np.float64]:
        """Learn points in their order, and return the answer to each just before it was learned.

        The bits are those of `predict_proba` (of numbers: `predict`) and `learn` for one point after
        the other. Columns are the classes after the batch; a class that was not known yet has
        probability 0, and a row is 0 if none was known.
        """
        return self._learn_in_turn(points, y, weights, workers, n_intervals=0)[0]

    def give_intervals_then_learn(
        self, points: Any, y: NDArray[Any], weights: Weights | None, workers: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same, and both ends of each interval just before: rows x coverages x ends (R28)."""
        answers, ends = self._learn_in_turn(points, y, weights, workers, len(self.coverages))
        return answers, self._numbers.intervals(ends.reshape(len(ends), len(self.coverages), 2))

    @property
    def coverages(self) -> tuple[float, ...]:
        """The coverages of the intervals that the forest learns to give (R28)."""
        return tuple(self.engine.parameters.intervals)

    def _learn_in_turn(
        self, points: Any, y: NDArray[Any], weights: Weights | None, workers: int, n_intervals: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the answers, and the ends of the intervals as the engine has them."""
        with self.whole_batch():
            before = copy.copy(self.target)
            joins = np.ones(len(y), dtype=bool) if weights is None else weights > 0
            learned, labels, weights = self._arrive(y, weights)
            rows = in_turn.unchanged(points, len(y))
            if isinstance(points, MixedRows):
                rows = in_turn.joined_in_turn(self._tables, points, learned)
            outputs = self.target.outputs
            columns = np.empty((len(y), outputs + 2 * n_intervals))
            self._answer_in_turn(rows, learned, labels, weights, workers, columns)
        answers, ends = columns[:, :outputs], columns[:, outputs:]
        return self.target.answers_in_turn(before, answers, y, joins), ends

    def _answer_in_turn(
        self,
        rows: RowsInTurn,
        learned: NDArray[np.bool_],
        labels: NDArray[Any],
        weights: Weights | None,
        workers: int,
        answers: NDArray[np.float64],
    ) -> None:
        """Answer and learn rows; all that they bring with them has joined.

        `answers` is filled. If it has more columns than the target, they are for intervals.
        """
        engine = self.engine
        assert isinstance(engine, native.NativeEngine)
        n_intervals = (answers.shape[1] - self.target.outputs) // 2
        learn = engine.give_intervals_then_learn if n_intervals else engine.predict_then_learn
        # Of a row, among those that are learned.
        place: NDArray[np.intp] = np.cumsum(learned) - learned
        kinds = np.where(learned, 1 + rows.differ, 0)
        for kind, first, last in in_turn.runs(kinds, alone=2):
            here, fed = slice(first, last), slice(place[first], place[first] + last - first)
            number, weight = labels[fed], None if weights is None else weights[fed]
            if kind == 1:
                for some, block in native.blocks(rows.learned[here]):
                    its_weight = None if weight is None else weight[some]
                    answers[here][some] = learn(block, number[some], its_weight, workers)
                continue
            for some, block in native.blocks(rows.tested[here]):
                ends = [engine.predict_interval(block, i, workers) for i in range(n_intervals)]
                answer = self.target.answers(engine, block, workers)
                answers[here][some] = np.hstack([answer, *ends]) if ends else answer
            if kind == 2:
                self._feed(rows.learned[here], number, weight, 1, workers)

    def _arrive(
        self, y: NDArray[Any], weights: Weights | None
    ) -> tuple[NDArray[np.bool_], NDArray[Any], Weights | None]:
        """Add the labels of a batch. Return which rows are learned, their labels and weights.

        Rows of weight 0 are no points of the stream (R13).
        """
        learned = np.ones(len(y), dtype=bool) if weights is None else weights > 0
        own = None if weights is None else weights[learned]
        labels = self.join(lambda: self.target.join(y if weights is None else y[learned]))
        weights = product(own, self._weights_of(labels))
        if weights is not None:
            positive = weights > 0
            learned[learned] = positive
            labels, weights = labels[positive], weights[positive]
            self._note_weights(weights)
        return learned, labels, weights

    def _weights_of(self, labels: NDArray[Any]) -> Weights | None:
        """Return the weights of the classes of a batch; None if all are 1."""
        if self.class_weights.all_one:
            return None
        assert isinstance(self.target, Classes)
        return self.class_weights.of(labels, self.target.arrived)

    @contextmanager
    def whole_batch(self) -> Iterator[None]:
        """Hold the lock of learning for a batch, which is learned as a whole or not at all.

        Signal handlers wait until it is learned, since they may raise an exception. If it fails after
        something has changed, most likely for lack of memory, the model cannot be used any more.
        """
        engine = self.engine
        if not isinstance(engine, native.NativeEngine):  # shards recover by themselves
            with engine.learning:
                yield
            return
        with engine.learning, HandlersWait():
            before = self._standing()
            try:
                yield
            except BaseException:
                if engine.whole and self._standing() != before:
                    engine.give_up()
                raise

    def _standing(self) -> tuple[Any, ...]:
        """Return a value that changes as soon as a part of a batch has been learned."""
        tables = self.engine.categories
        joined = (0, 0) if tables is None else (len(tables.tables), tables.bytes)
        seen = int(self.class_weights.seen.sum())
        return (
            self.engine.points,
            self.engine.n_dims,
            self.target.standing(),
            seen,
            self.history,
            *joined,
        )

    def _feed(
        self,
        points: Any,
        labels: NDArray[Any],
        weights: Weights | None,
        rows: int,
        workers: int,
    ) -> None:
        """Give the engine the points among the next `rows` rows of the stream."""
        assert isinstance(self.engine, native.NativeEngine)
        for some, block in native.blocks(points):
            weight = None if weights is None else weights[some]
            self.engine.learn(block, labels[some], weight, workers)

    def join(self, numbers: Callable[[], Any]) -> Any:
        """Take labels by `numbers()`, under the lock, and tell the engine if the target has changed."""
        before = self.target.standing()
        answer = numbers()
        if self.target.standing() != before:
            self._tell_target()
        return answer

    def _tell_target(self) -> None:
        self.target.tell(self.engine)

    @property
    def class_target(self) -> Classes:
        """Return the target of a classifier."""
        if not isinstance(self.target, Classes):
            raise TypeError("expected a forest of classes, got a forest of numbers")
        return self.target

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

    def shown(self, feature: int, value: float) -> str | None:
        """Return a value of a feature as text if it is a date or a time of day, otherwise None."""
        return None if self.raw_columns is None else self.raw_columns.shown(feature, value)

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
            max_bytes = bytes_of_tables(engine.parameters.max_memory)
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
        proba = self._answers(points, workers)
        return proba, self.class_target.classes_when(proba.shape[1])

    def predict(self, points: Any, workers: int) -> NDArray[Any]:
        """Return the class of each point: by the decision, or the most probable; or its number."""
        if self.decision is None:
            return self.target.predicted(self._answers(points, workers))
        return self.decision.labels(*self.predict_proba(points, workers))

    def predict_quantiles(self, points: Any, q: Any, workers: int) -> NDArray[np.float64]:
        """Return a row of quantiles of the targets near each point (R28), in the order of `q`."""
        numbers, quantiles = self._numbers, checked_quantiles(q)
        engine, order = self._engine_of_neighbours(), np.argsort(quantiles)
        ascending = np.ascontiguousarray(quantiles[order])
        rows = self._stack(points, lambda p: engine.predict_quantiles(p, ascending, workers))
        in_order = np.empty_like(rows)
        in_order[:, order] = rows
        return numbers.with_origin(in_order)

    def predict_interval(self, points: Any, coverage: Any, workers: int) -> NDArray[np.float64]:
        """Return both ends of the interval of each point that shall hold `coverage` of the targets."""
        numbers, engine = self._numbers, self._engine_of_neighbours()
        place = place_of_coverage(coverage, engine.parameters.intervals)
        ends = self._stack(points, lambda some: engine.predict_interval(some, place, workers))
        return numbers.intervals(ends)

    @property
    def _numbers(self) -> Numbers:
        if not isinstance(self.target, Numbers):
            raise TypeError(
                "quantiles and intervals need a forest of numbers, got a forest of classes"
            )
        return self.target

    def _engine_of_neighbours(self) -> Any:
        if not isinstance(self.engine, native.NativeEngine):
            raise TypeError("quantiles and intervals need all trees in this process, got shards")
        check_has_neighbours(self.engine.parameters, prediction_only=self.prediction_only)
        return self.engine

    def _answers(self, points: Any, workers: int) -> NDArray[np.float64]:
        if self.target.outputs == 0:
            raise ValueError("no class is known yet; learn a point, or pass classes= first")
        return self._stack(points, lambda some: self.target.answers(self.engine, some, workers))

    def predict_trees(self, points: Any) -> NDArray[Any]:
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
        correction = self.engine.correction()
        if correction is not None:
            total["follows"] = follows_of(correction)
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
        if engine.parameters.lag:
            held["following"] = PAIR_BYTES * engine.parameters.lag
        if engine.categories is not None:
            held["categories"] = engine.categories.bytes
        return {**held, "total": sum(held.values())}

    def importances(self) -> NDArray[np.float64]:
        """Return the share of each column in the gain of all splits; zeros before the first split."""
        gains = self.engine.importance().astype(np.float64)
        importances = np.zeros(self.engine.n_dims)
        # R14 may leave a few units below zero, and very large numbers may have overflown (R26).
        importances[: len(gains)] = np.clip(gains, 0, np.finfo(np.float64).max / max(len(gains), 1))
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
            extra=self._extra() or None,
            frozen=self.frozen,
        )

    def _extra(self) -> dict[str, Any]:
        """Return what a snapshot stores besides the forest."""
        columns = {} if self.raw_columns is None else {COLUMNS: self.raw_columns.state()}
        return columns | ({} if self.decision is None else {DECISION: self.decision.state()})

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
        if header.extra is not None:
            extra = {**header.extra, **(extra or {})}
        return encode(replace(header, prediction_only=only, extra=extra), state, tables)

    @classmethod
    def of_header(cls, header: Header, engine: Engine) -> Model:
        """Return the model of an engine that was loaded from a snapshot."""
        names = header.space.feature_names if isinstance(header.space, Rows) else None
        columns = _columns_of(header, engine)
        target = _target_of(header)
        known = target.classes.tolist() if isinstance(target, Classes) else []
        return cls(
            engine,
            target,
            ClassWeights.of_state(header.class_weights),
            feature_names=names,
            raw_columns=columns,
            history=header.history,
            prediction_only=header.prediction_only,
            frozen=header.frozen,
            decision=decision_of(header.extra, known) if known else None,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Pickle arrays and parameters as of one point; the engine derives the rest again."""
        with self.engine.learning:
            target = copy.copy(self.target)
            return {**self.__dict__, "target": target, "engine": self.engine.__reduce__()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        restored, arguments = state["engine"]
        self.__dict__ = {**state, "engine": restored(*arguments)}
        self._tell_target()


def _columns_of(header: Header, engine: Engine) -> RawColumns | None:
    """Return the columns that a snapshot describes, or None if each is a feature as it is."""
    state = (header.extra or {}).get(COLUMNS)
    if not isinstance(state, dict) or not isinstance(header.space, Rows):  # or what a user stored
        return None
    try:
        columns = RawColumns.from_state(state)
        if columns is not None:
            tables = engine.categories
            columns.check_fits(engine.n_dims, () if tables is None else tables.tables)
    except EncodedBefore:  # the forest itself can be used
        return None
    except ValueError as error:
        raise SnapshotError("header", str(error)) from None
    return columns


class HasModel(Protocol):
    """A forest in any form that has started."""

    @property
    def model_(self) -> Model: ...


def model_of(forest: HasModel) -> Model:
    """Return the model of a forest, or raise scikit-learn's error if it has not started."""
    if not hasattr(forest, "model_"):
        check_is_fitted(forest)
    return forest.model_


def _target_of(header: Header) -> Target:
    if isinstance(header.labels, NumbersState):
        return Numbers.of_state(header.labels)
    return Classes.of_state(header.labels)


def _with_sums(tree: dict[str, int]) -> dict[str, int]:
    del tree["classes"]  # the same in every tree, and of numbers it is the scale (R26)
    tree["splits"] = tree["should_splits"] + tree["must_splits"]
    tree["bytes"] = tree["node_bytes"] + tree["leaf_bytes"] + tree["fringe_bytes"]
    return tree
