"""`riparian.river.OnlineForestClassifier`: the forest as a River classifier.

A point is a dict here, and its features come and go. The engine wants rows of a matrix, so this
module gives every feature a column when it is first learned, and keeps it.
"""

from __future__ import annotations

import copy
import secrets
from collections.abc import Iterable, Mapping, Set
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from joblib import effective_n_jobs
from narwhals.stable.v2.typing import IntoDataFrame, IntoSeries
from numpy.typing import NDArray
from river import base

from riparian.engine import native
from riparian.estimator.categories import (
    CategoryTables,
    MixedRows,
    Table,
    Value,
    bytes_of_tables,
    is_missing,
)
from riparian.estimator.docstrings import documented
from riparian.estimator.labels import FAMILIES, Labels
from riparian.estimator.parameters import DEFAULT, OF_ESTIMATORS, OF_ROWS, SEED, Parameters
from riparian.estimator.schedules import Schedule
from riparian.estimator.weights import as_weights
from riparian.river_rows import (
    Columns,
    Frame,
    Key,
    Row,
    check_text,
    in_order,
    not_a_number,
    split_frame,
    texts_of,
)

Label = Any  # bool, int, float or str


@documented
class OnlineForestClassifier(base.MiniBatchClassifier):
    """A random forest that learns a stream point by point and converges to the best classifier.

    The forest of Denil, Matheson and de Freitas, *Consistency of Online Random Forests* (ICML 2013):
    `riparian.OnlineForestClassifier` with River's interface. Given the same points, both are the same
    forest, to the last bit.

    A feature that appears later becomes a column, and leaves that start looking for a split from
    then on use it; several that appear at once join in sorted order. A feature that a point does
    not have, or that is None or NaN, is missing: at a split it goes right. Features that were never
    learned do not count in a prediction. A new label simply joins.

    Features are numbers (bools are) or text. Text makes a feature categorical: its splits ask whether
    a value equals a category, and one that was never learned goes right. A feature that was a number
    must stay one, and text must stay text.

    Parameters
    ----------
    alpha : Geometric, Polynomial or None
        α(d): each child of a leaf at depth d must hold this many estimation points. None is the
        default of `riparian.OnlineForestClassifier`.
    seed : int or None
        The same seed and the same stream give the same forest, to the last bit.
    n_jobs : int or None
        The number of threads for mini-batches; -1 is one per processor. None: one.
    As described in `riparian.estimator.parameters.Parameters`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from riparian.river import OnlineForestClassifier
    >>> model = OnlineForestClassifier(n_estimators=10, seed=1)
    >>> model.predict_one({"x": 1.0}) is None  # nothing was learned yet
    True
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 91.19%
    """

    def __init__(
        self,
        n_estimators: int = DEFAULT["n_estimators"],
        *,
        candidate_dims: float | Literal["sqrt"] = DEFAULT["candidate_dims"],
        split_points: int = DEFAULT["split_points"],
        min_gain: float = DEFAULT["min_gain"],
        alpha: Schedule | None = None,  # River wants defaults that are plain values
        beta: float | Schedule = DEFAULT["beta"],
        structure_fraction: float = DEFAULT["structure_fraction"],
        ignore_fraction: float = DEFAULT["ignore_fraction"],
        fringe_size: int | None = DEFAULT["fringe_size"],
        kept_points: int | Literal["auto"] = DEFAULT["kept_points"],
        max_memory: int | str | None = DEFAULT["max_memory"],
        voting: Literal["average", "majority"] = DEFAULT["voting"],
        max_categories: int | None = DEFAULT["max_categories"],
        seed: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.candidate_dims = candidate_dims
        self.split_points = split_points
        self.min_gain = min_gain
        self.alpha = alpha
        self.beta = beta
        self.structure_fraction = structure_fraction
        self.ignore_fraction = ignore_fraction
        self.fringe_size = fringe_size
        self.kept_points = kept_points
        self.max_memory = max_memory
        self.voting = voting
        self.max_categories = max_categories
        self.seed = seed
        self.n_jobs = n_jobs
        self._parameters = Parameters.of(
            self,
            seed=secrets.randbits(64) if seed is None else SEED.checked("seed", seed),
            alpha=DEFAULT["alpha"] if alpha is None else alpha,
        )
        self._most = OF_ROWS["max_categories"].checked(max_categories)
        self._workers = int(effective_n_jobs(OF_ESTIMATORS["n_jobs"].checked(n_jobs)))
        self._forest: NamedForest | None = None  # until the first point brings the features

    # -- learning ---------------------------------------------------------------------------------

    def learn_one(self, x: dict[Key, Any], y: Label, w: float = 1.0) -> None:
        """Learn a point: its features, its label and its weight.

        Each tree rounds the weight to a whole number, up with the probability of its fraction. A
        point of weight 0 is not learned at all.
        """
        if w != 1.0:
            w = float(as_weights("w", w, rows=1)[0])
            if w == 0.0:
                return
        learning = self._forest or NamedForest(self._parameters, x, self._most)
        learning.learn_one(x, y, w)
        self._forest = learning

    def learn_many(self, X: IntoDataFrame, y: IntoSeries, w: float | IntoSeries = 1.0) -> None:
        """Learn the rows of a frame, in their order.

        It is the same, to the last bit, as `learn_one` with one row after the other: a column of
        the frame is a feature of every row, an empty cell a missing value. Any frame that narwhals
        supports will do: pandas, polars, pyarrow. There may be one weight for all rows, or one per row.
        """
        frame, labels = _frame(X), nw.from_native(y, series_only=True).to_list()
        if len(labels) != len(frame):
            raise ValueError(f"y must have {len(frame)} labels, one per row, got {len(labels)}")
        weights = as_weights("w", w, len(frame))
        if not weights.all():
            kept = np.flatnonzero(weights)
            frame, weights = frame[kept], weights[kept]
            labels = [labels[i] for i in kept]
        if len(frame) == 0:
            return
        learning = self._forest or NamedForest(self._parameters, frame.columns, self._most)
        learning.learn_many(frame, labels, weights, self._workers)
        self._forest = learning

    # -- predicting -------------------------------------------------------------------------------

    def predict_proba_one(self, x: dict[Key, Any]) -> dict[Label, float]:  # type: ignore[override]
        """The probability of each label met so far, in sorted order; none before the first point."""
        if self._forest is None:
            return {}
        proba, classes = self._forest.predict_proba_one(x)
        return dict(zip(classes, proba, strict=True))

    def predict_one(self, x: dict[Key, Any]) -> Label | None:  # type: ignore[override]
        """The likeliest label, the smallest among equals; None before the first point."""
        if self._forest is None:
            return None
        proba, classes = self._forest.predict_proba_one(x)
        return classes[proba.index(max(proba))]

    def predict_proba_many(self, X: IntoDataFrame) -> Any:
        """`predict_proba_one` for each row: a column for each label.

        Column names are the labels if the frame is from pandas; other frames need strings.
        """
        frame = _frame(X)
        proba, classes = self._predict_proba_many(frame)
        names = classes if frame.implementation.is_pandas_like() else map(str, classes)
        columns = dict(zip(names, proba.T, strict=True))
        return _like(frame, nw.from_dict(columns, backend=frame.implementation))

    def predict_many(self, X: IntoDataFrame) -> Any:
        """`predict_one` for each row, as a series."""
        frame = _frame(X)
        proba, classes = self._predict_proba_many(frame)
        chosen = [classes[i] for i in proba.argmax(axis=1)] if classes else [None] * len(frame)
        series = nw.new_series(None, chosen, backend=frame.implementation)  # type: ignore[arg-type]
        return _like(frame, series)

    def _predict_proba_many(self, frame: Frame) -> tuple[NDArray[np.float64], list[Label]]:
        if self._forest is None:
            return np.empty((len(frame), 0)), []
        return self._forest.predict_proba_many(frame, self._workers)

    # -- what River asks -------------------------------------------------------------------------

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def _raw_memory_usage(self) -> int:
        """River counts Python's objects; what the core holds is not among them."""
        held = int(super()._raw_memory_usage)
        return held if self._forest is None else held + self._forest.bytes_held()


class NamedForest:
    """The engine, with names for its columns and labels for its classes.

    Other threads may predict while one learns.
    """

    def __init__(self, parameters: Parameters, keys: Iterable[Key], most: int | None) -> None:
        self.columns: Columns = {key: column for column, key in enumerate(in_order(keys))}
        self.undecided: set[Key] = {*self.columns}  # features that have had no value yet
        self.categorical: set[Key] = set()  # those that are text
        self.most = most  # categories of each
        self.max_bytes = bytes_of_tables(parameters.max_memory)  # of all categories
        self.row = Row(self.columns)
        self.engine = native.ColumnEngine(parameters, len(self.columns))
        self.labels = Labels(None)
        self.classes: list[Label] = []  # the labels in the public order
        # Of each label, in order of arrival. To a dict True and 1 are one key: with their types,
        # they are two, and `Labels` can object.
        self.numbers: dict[tuple[type, Label], int] = {}

    # Under the lock, rows have the columns that the trees know, and all agree on the classes.
    # When learning, everything that can fail comes before the first change.

    def learn_one(self, x: Mapping[Key, Any], y: Label, weight: float) -> None:
        with self.engine.learning:
            columns = self.columns_with(x.keys())
            row = self.row if columns is self.columns else Row(columns)
            point, texts = self.read(x, row)
            for key in texts:
                self.check_may_be_text(key, texts[key])
            number = self.numbers.get((type(y), y))
            if number is None:
                number = self.join([y])[0]
            self.widen(columns, texts)
            if texts:
                values: dict[int, Value] = {columns[key]: text for key, text in texts.items()}
                self.tables.join_row(point[0], values)
            if self.undecided:
                self.undecided -= {key for key, value in x.items() if not is_missing(value)}
            self.engine.learn_one(point, number, weight)

    def learn_many(
        self,
        frame: Frame,
        labels: list[Label],
        weights: NDArray[np.float64],
        workers: int,
    ) -> None:
        with self.engine.learning:
            columns = self.columns_with(set(frame.columns))
            rows, texts = split_frame(frame, columns, self.categorical, self.check_may_be_text)
            mixed = MixedRows(rows, {columns[key]: coded for key, coded in texts.items()})
            self.check_room(mixed)
            numbers = np.array(self.join(labels), dtype=np.uint32)
            self.widen(columns, texts)
            if texts:
                rows = self.tables.join(mixed)
            if self.undecided:
                there = np.flatnonzero((~np.isnan(rows)).any(axis=0)).tolist()
                self.undecided -= {key for key in frame.columns if columns[key] in there}
            self.engine.learn(rows, numbers, weights, workers)

    def predict_proba_one(self, x: Mapping[Key, Any]) -> tuple[list[float], list[Label]]:
        with self.engine.learning:
            point, texts = self.read(x, self.row)
            for key, text in texts.items():
                self.check_may_be_text(key, text)
                if key in self.categorical:
                    column = self.columns[key]
                    point[0, column] = self.tables.tables[column].code(text)
            return self.engine.predict_proba(point, 1)[0].tolist(), self.classes

    def predict_proba_many(
        self, frame: Frame, workers: int
    ) -> tuple[NDArray[np.float64], list[Label]]:
        with self.engine.learning:
            known = self.columns
            rows, texts = split_frame(frame, known, self.categorical, self.check_may_be_text)
            for key in texts.keys() & self.categorical:
                rows[:, known[key]] = self.tables.tables[known[key]].codes(texts[key])
            return self.engine.predict_proba(rows, workers), self.classes

    # -- features that are text (R22) -------------------------------------------------------------

    @property
    def tables(self) -> CategoryTables:
        """Of categories; there is a feature that is text."""
        assert self.engine.categories is not None
        return self.engine.categories

    def read(self, x: Mapping[Key, Any], row: Row) -> tuple[NDArray[np.float32], dict[Key, str]]:
        """The numbers of a point as a row, and its texts."""
        if not self.categorical:
            try:
                return row.write(x), {}
            except TypeError:
                if not texts_of(x, row.columns):
                    raise
        texts = texts_of(x, row.columns)
        for key in self.categorical & x.keys():
            check_text(key, x[key])
        others = {k: v for k, v in x.items() if k not in texts and k not in self.categorical}
        return row.write(others), texts

    def check_may_be_text(self, key: Key, text: Any) -> None:
        """A feature that has had a number stays one."""
        if key in self.columns and key not in self.categorical and key not in self.undecided:
            raise not_a_number(key, text)

    def check_room(self, rows: MixedRows) -> None:
        if self.most is None:
            known = {} if self.engine.categories is None else self.tables.tables
            new = {column: Table() for column in rows.coded if column not in known}
            CategoryTables({**known, **new}, most=None).check_room(rows)

    def columns_with(self, keys: Set[Key]) -> Columns:
        """The columns, with those that new keys are to have."""
        if keys <= self.columns.keys():
            return self.columns
        new = in_order(keys - self.columns.keys())
        return {**self.columns, **{key: len(self.columns) + i for i, key in enumerate(new)}}

    def widen(self, columns: Columns, texts: Iterable[Key]) -> None:
        """New features get their columns, and those that are text for the first time their tables."""
        new_texts = {key for key in texts if key not in self.categorical}
        if new_texts and self.engine.categories is None:
            self.engine.categories = CategoryTables.empty((), self.most, self.max_bytes)
        if new_texts & self.columns.keys():
            known = new_texts & self.columns.keys()
            self.engine.become_categorical(sorted(columns[key] for key in known))
        if len(columns) > len(self.columns):
            joining = columns.keys() - self.columns.keys()
            if new_texts & joining:
                self.tables.add(columns[key] for key in new_texts & joining)
            self.undecided |= joining
            self.columns, self.row = columns, Row(columns)
            self.engine.set_dims(len(columns))
        self.categorical |= new_texts
        self.undecided -= new_texts

    def join(self, labels: list[Label]) -> list[int]:
        """The number of each label; new ones join, all of them or, if one is bad, none."""
        pairs = [(type(label), label) for label in labels]
        new = dict.fromkeys(pair for pair in pairs if pair not in self.numbers)
        if new:
            joined = copy.copy(self.labels)
            self.numbers |= {pair: int(joined.join(_as_array(pair[1]))[0]) for pair in new}
            self.labels, self.classes = joined, joined.classes.tolist()
            self.engine.set_classes(joined.rank(), len(joined.classes))
        return [self.numbers[pair] for pair in pairs]

    def bytes_held(self) -> int:
        """By the trees, the kept points and the lists of them."""
        kinds = ("node_bytes", "leaf_bytes", "fringe_bytes")
        trees = sum(tree[kind] for tree in self.engine.core.stats() for kind in kinds)
        return trees + self.engine.kept_bytes() + self.engine.list_bytes()


def _as_array(label: Label) -> NDArray[Any]:
    array = np.array([label.item() if isinstance(label, np.generic) else label])
    if array.shape != (1,) or array.dtype.kind not in FAMILIES or label != label:
        raise ValueError(f"y must be a bool, an int, a float or a str, got {label!r}")
    return array


def _frame(X: IntoDataFrame) -> Frame:
    return nw.from_native(X, eager_only=True)


def _like(frame: Frame, answer: Any) -> Any:
    """The answer in the frame library of the user, with the same index if there is one."""
    native_answer = answer.to_native()
    index = nw.maybe_get_index(frame)
    if index is not None:
        native_answer.index = index
    return native_answer
