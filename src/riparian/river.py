"""`riparian.river.OnlineForestClassifier`: the forest as a River classifier.

A point is a dict here, and its features come and go. The engine wants rows of a matrix, so this
module gives every feature a column when it is first learned, and keeps it.
"""

from __future__ import annotations

import copy
import math
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
from riparian.estimator.docstrings import documented
from riparian.estimator.labels import FAMILIES, Labels
from riparian.estimator.parameters import DEFAULT, OF_ESTIMATORS, SEED, Parameters
from riparian.estimator.schedules import Schedule
from riparian.estimator.weights import as_weights

Key = Any  # the name of a feature: anything that can be a key of a dict
Label = Any  # bool, int, float or str
Frame = nw.DataFrame[Any]
Columns = Mapping[Key, int]  # the column of each feature, in the order in which they joined


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

    Features must be numbers (bools are): put `preprocessing.OneHotEncoder` or the like before the
    forest where they are not.

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
        self.seed = seed
        self.n_jobs = n_jobs
        self._parameters = Parameters.of(
            self,
            seed=secrets.randbits(64) if seed is None else SEED.checked("seed", seed),
            alpha=DEFAULT["alpha"] if alpha is None else alpha,
        )
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
        learning = self._forest or NamedForest(self._parameters, x)
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
        learning = self._forest or NamedForest(self._parameters, frame.columns)
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

    def __init__(self, parameters: Parameters, keys: Iterable[Key]) -> None:
        self.columns: Columns = {key: column for column, key in enumerate(in_order(keys))}
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
            point = row.write(x)
            number = self.numbers.get((type(y), y))
            if number is None:
                number = self.join([y])[0]
            self.widen(columns)
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
            rows = rows_of(frame, columns)
            numbers = np.array(self.join(labels), dtype=np.uint32)
            self.widen(columns)
            self.engine.learn(rows, numbers, weights, workers)

    def predict_proba_one(self, x: Mapping[Key, Any]) -> tuple[list[float], list[Label]]:
        with self.engine.learning:
            proba = self.engine.predict_proba(self.row.write(x), 1)
            return proba[0].tolist(), self.classes

    def predict_proba_many(
        self, frame: Frame, workers: int
    ) -> tuple[NDArray[np.float64], list[Label]]:
        with self.engine.learning:
            proba = self.engine.predict_proba(rows_of(frame, self.columns), workers)
            return proba, self.classes

    def columns_with(self, keys: Set[Key]) -> Columns:
        """The columns, with those that new keys are to have."""
        if keys <= self.columns.keys():
            return self.columns
        new = in_order(keys - self.columns.keys())
        return {**self.columns, **{key: len(self.columns) + i for i, key in enumerate(new)}}

    def widen(self, columns: Columns) -> None:
        if len(columns) > len(self.columns):
            self.columns, self.row = columns, Row(columns)
            self.engine.set_dims(len(columns))

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


def in_order(keys: Iterable[Key]) -> list[Key]:
    """Sorted; keys of several types, which cannot be, by type and by their repr."""
    keys = list(keys)
    try:
        return sorted(keys)
    except TypeError:
        return sorted(keys, key=lambda key: (type(key).__name__, repr(key)))


class Row:
    """A point as the engine takes it: one row, which the next point overwrites.

    Making a new array takes as long as a tree takes to learn the point.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.matrix = np.empty((1, width(columns)), dtype=np.float32)
        self.cells = self.matrix[0].data  # takes numbers only, where numpy would read "1.5" as one

    def __reduce__(self) -> tuple[Any, ...]:
        return Row, (self.columns,)

    def write(self, x: Mapping[Key, Any]) -> NDArray[np.float32]:
        """Features without a column are left out; columns without a feature are missing."""
        columns, cells = self.columns, self.cells
        self.matrix.fill(np.nan)
        key = value = None
        try:
            for key, value in x.items():
                if value is not None and key in columns:
                    cells[columns[key]] = value
        except TypeError:
            raise TypeError(f"feature {key!r} must be a number or None, got {value!r}") from None
        except (ValueError, OverflowError):
            raise _does_not_fit(key, value) from None
        if True in np.isinf(self.matrix).tobytes():  # R4; .any() would take twice as long
            key = next(key for key, column in columns.items() if math.isinf(cells[column]))
            raise _does_not_fit(key, x[key])
        return self.matrix


def width(columns: Columns) -> int:
    """The width of a row: the engine may read its first cell even if there is no feature yet."""
    return max(1, len(columns))


def rows_of(frame: Frame, columns: Columns) -> NDArray[np.float32]:
    """The rows of a frame as the engine takes them; each is what `Row` would hold."""
    rows = np.full((len(frame), width(columns)), np.nan, dtype=np.float32)
    for series in frame.iter_columns():
        if series.name in columns:
            rows[:, columns[series.name]] = _column_of(series)
    return rows


def _column_of(series: Any) -> NDArray[np.float32]:
    if series.dtype == nw.Boolean:  # as numbers, or pandas would have its own idea of missing
        return _numbers_of(series.cast(nw.Int8))
    return _numbers_of(series) if series.dtype.is_numeric() else _cells_of(series)


def _numbers_of(series: Any) -> NDArray[np.float32]:
    # By way of float64, like every Python number, so that large integers are rounded the same.
    numbers: NDArray[np.float64] = np.asarray(series.to_numpy(), dtype=np.float64)
    with np.errstate(over="ignore"):
        cells: NDArray[np.float32] = numbers.astype(np.float32)
    if np.isinf(cells).any():
        raise _does_not_fit(series.name, float(numbers[np.isinf(cells)][0]))
    return cells


def _cells_of(series: Any) -> NDArray[np.float32]:
    """A column that may hold anything, one cell after the other."""
    cell = Row({series.name: 0})
    cells = [cell.write({series.name: value})[0, 0] for value in series.to_list()]
    return np.array(cells, dtype=np.float32)


def _does_not_fit(key: Key, value: Any) -> ValueError:
    return ValueError(f"feature {key!r} must be finite and fit float32, got {value!r}")


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
