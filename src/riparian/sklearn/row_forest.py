"""Estimators over the rows of a matrix.

Input is validated once, here, and the whole batch before its first point is learned.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from riparian import _core
from riparian.engine import native
from riparian.engine.categories import CategoryTables, MixedRows, Value, bytes_of_tables
from riparian.model.kept import KeptPoints, kept_points
from riparian.model.model import Model
from riparian.model.numbers import Numbers, checked_numbers
from riparian.model.rows import Rows, as_rows
from riparian.model.tables import (
    FROM_DTYPE,
    Frame,
    check_no_time,
    chosen_columns,
    frame_of,
    is_records,
    mixed_rows,
    not_a_number,
    raw_columns_of,
)
from riparian.model.target import Target
from riparian.model.weights import Weights, checked_weights
from riparian.parameters.forests import OF_ROWS, CategorySettings, ColumnSettings
from riparian.sklearn.base import Forest, ForestClassifier, unchanged_if_refused
from riparian.sklearn.frames import with_names
from riparian.sklearn.progress import Callback, CallbackSupportMixin, with_callbacks
from riparian.table.cells import Listed
from riparian.table.raw import RawColumns

if TYPE_CHECKING:
    from riparian.report import Report
    from riparian.theory.certificate import Certificate

Prepare = Callable[[NDArray[Any]], None]

# `as_rows` checks the rest: NaN is a missing value, and sparse rows stay sparse.
SKLEARN_CHECKS = {"dtype": "numeric", "ensure_all_finite": False, "accept_sparse": "csr"}


class RowForest(ColumnSettings, CategorySettings, CallbackSupportMixin, Forest):
    """The base of estimators over rows, with any target: scikit-learn's conventions."""

    _sparse: bool  # whether the first batch was: kept points are then stored without zeros (R19)
    _categorical: list[int]  # the categorical columns of the first batch (R22)

    def _empty_engine(self) -> native.ColumnEngine:
        parameters = self._checked_parameters()
        most = OF_ROWS["max_categories"].checked(self.max_categories)
        tables = None
        if self._categorical:
            max_bytes = bytes_of_tables(parameters.max_memory)
            tables = CategoryTables.empty(self._categorical, most, max_bytes)
        return native.ColumnEngine(
            parameters, self.n_features_in_, sparse=self._sparse, categories=tables
        )

    def adopt(self, model: Model, *, named: bool = True) -> None:
        super().adopt(model)
        self.n_features_in_, self._categorical = model.engine.n_dims, [*model.categories]
        self._raw_columns = model.raw_columns if named else None
        if named and model.feature_names is not None:
            self.feature_names_in_ = np.array(model.feature_names, dtype=object)

    # -- learning ---------------------------------------------------------------------------------

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        callback: Callback | None = None,
    ) -> Self:
        """Discard what was learned, and learn a data set in `passes` shuffled passes.

        `callback(rows learned, rows in total)` is called from time to time. If it returns a true
        value, learning stops.
        """
        passes = self._checked_passes()
        with unchanged_if_refused(self):
            rows, labels = self._checked_batch(X, y, first=True, at_least=1)
            weights = checked_weights(sample_weight, len(labels))
            self._start_passes(labels, weights, passes)

        hook_data = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        self._learn_passes(rows, labels, weights, passes, callback, hook_data)
        return self

    def _next_batch(
        self, X: Any, y: Any, sample_weight: Any, prepare: Prepare
    ) -> tuple[Rows, NDArray[Any], Weights | None]:
        """Check a batch, and let `prepare` start the forest if it is the first, and check labels."""
        if self._started():
            self.model_.check_can_learn()
        with unchanged_if_refused(self):
            first = not self._started()
            rows, labels = self._checked_batch(X, y, first=first, at_least=0)
            weights = checked_weights(sample_weight, len(labels))
            prepare(labels)
        return rows, labels, weights

    def _learn_lone(self, X: Any, y: Any) -> bool:
        """Learn a single plain row of a known class, or return False if it is anything else.

        For single rows, the checks of a batch would take most of the time.
        """
        if not self._started():
            return False
        model = self.model_
        if model.prediction_only or not model.class_weights.all_one:
            return False
        engine = model.engine
        if type(engine) is not native.ColumnEngine or not _is_lone(X, y):
            return False
        if not self._is_plain(X, False, 1) or _core.any_infinite(X):
            return False
        label = model.target.number(y)
        if label is None:
            return False
        if self.n_jobs is not None:
            self.threads()  # raises if the parameter has become invalid
        with engine.learning:
            engine.learn_one(X, label)
        return True

    # -- predicting -------------------------------------------------------------------------------

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        points = self.checked_points(X)
        return self.model_.predict(points, self.threads())

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the leaf of each row in each tree, as a number of a node in order of creation."""
        points = self.checked_points(X)
        return self.model_.apply(points)

    # -- looking inside ---------------------------------------------------------------------------

    @property
    def categories_(self) -> dict[Any, list[Value]]:
        """The categories of each categorical feature, in the order of arrival (R22)."""
        if not self._started():
            raise AttributeError("categories_: this forest has not learned anything yet")
        names = getattr(self, "feature_names_in_", None)
        return {
            column if names is None else names[column]: list(table.values)
            for column, table in self.model_.categories.items()
        }

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each feature in the total of gain times structure points over all splits.

        It uses the structure stream alone, and is always up to date; all are zero before the first
        split. A gain measured on a few points is biased upward, so with a small α, features of pure
        noise get a share, too.
        """
        check_is_fitted(self)
        return self.model_.importances()

    @property
    def kept_points_(self) -> KeptPoints:
        """A copy of the points that the forest keeps (R19), by time: `X`, `y` and `sample_weight`.

        There are none if `kept_points` is 0 or the forest only predicts. `X` is sparse if the first
        batch was; a feature that was added later is NaN in older rows. A category is given by its
        code, the index into `categories_` (R22).
        """
        check_is_fitted(self)
        return kept_points(self.model_)

    def decision_path(self, X: ArrayLike) -> tuple[Any, NDArray[np.int64]]:
        """Return the nodes that each row passes in all trees; see `riparian.inspection`."""
        from riparian.inspection import decision_path  # here: learning needs none of it

        return decision_path(self, X)

    # -- elsewhere --------------------------------------------------------------------------------

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the current forest for prediction without riparian; the suffix gives the format.

        The suffix is `.onnx`, `.treelite`, or `.h` for a C header; see `riparian.export`.
        """
        from riparian.export import export  # here: learning needs none of it

        export(self, path)

    def to_shap(self) -> dict[str, Any]:
        """Return the forest for the `shap` package: `shap.TreeExplainer(forest.to_shap())`."""
        from riparian.explain import to_shap  # here: learning needs none of it

        return to_shap(self)

    # -- checking input ---------------------------------------------------------------------------------

    def _checked_batch(
        self, X: Any, y: Any, *, first: bool, at_least: int
    ) -> tuple[Rows, NDArray[Any]]:
        X = self._checked_rows(X, reset=first, at_least=at_least, learn=True)
        y = self._checked_labels(y)
        if X.shape[0] != len(y):
            check_consistent_length(X, y)
        if first:
            self._sparse = issparse(X)
        if isinstance(X, MixedRows):
            tables = (
                CategoryTables.empty(self._categorical, self.max_categories)
                if first
                else self.model_.engine.categories
            )
            assert tables is not None
            tables.check(X)
            tables.check_room(X)
        return X, y

    def checked_points(self, X: Any) -> Rows:
        """Return X for the engine: rows of float32, with codes for categories (R22)."""
        if not self._started():
            check_is_fitted(self)
        return self.model_.codes(self._checked_rows(X, reset=False, at_least=0))

    def _checked_rows(self, X: Any, *, reset: bool, at_least: int, learn: bool = False) -> Rows:
        if self._is_plain(X, reset, at_least):
            if reset:
                self.n_features_in_, self._categorical, self._raw_columns = X.shape[1], [], None
            return as_rows(X)
        if isinstance(X, MixedRows):
            return self._checked_mixed_rows(X, reset)
        if is_records(X):
            return self._checked_records(X, reset, at_least)
        frame = frame_of(X)
        if reset:
            self._categorical = self._chosen_columns(X, frame)
            self._raw_columns = None
            if frame is not None:
                given = self.categorical_features
                self._raw_columns = raw_columns_of(frame, self._categorical, given)
        if frame is not None and self._raw_columns is not None:
            raw = self._raw_columns
            if reset or not self._has_features(frame, raw):
                return self._checked_raw(frame, raw, reset, at_least, learn)
        if frame is not None:
            check_no_time(frame)
        if self._categorical if reset else self.model_.categories:
            return self._checked_table(X, frame, reset, at_least)
        try:
            rows = validate_data(
                self, with_names(X), reset=reset, ensure_min_samples=at_least, **SKLEARN_CHECKS
            )
        except OverflowError:
            raise ValueError(
                "X must contain numbers that fit float32, got one that does not fit float64"
            ) from None
        except ValueError as error:
            texts = "could not convert string to float", "arrays of bytes/strings"
            if any(words in str(error) for words in texts):
                raise ValueError(not_a_number(X, frame)) from None
            raise
        return as_rows(rows)

    def _has_features(self, frame: Frame, raw: RawColumns) -> bool:
        """Return whether a frame has the features, with the parts of dates, instead of the columns."""
        return frame.names == raw.feature_names != [*raw.encoders]

    def _checked_raw(
        self, frame: Frame, raw: RawColumns, reset: bool, at_least: int, learn: bool
    ) -> Rows:
        """Return the rows of a table as it is: columns are matched by name, in any order."""
        _check_samples(frame.shape[0], at_least)
        raw.check_all(frame.names)
        raw.check_known(frame.names)
        if learn:
            raw = self._raw_columns = raw.followed(frame.find)
        if reset:
            self._categorical = raw.categorical
            self.n_features_in_ = raw.n_features
            self.feature_names_in_ = np.array(raw.feature_names, dtype=object)
        return raw.rows(frame.find, frame.shape[0])

    def _checked_records(self, X: Sequence[Mapping[str, Any]], reset: bool, at_least: int) -> Rows:
        """Return the rows of a list of dicts. A column that a row does not have is missing."""
        if reset:
            raise ValueError(
                "the first rows must come as a frame or an array, got a list of dicts; "
                "riparian.river has forests that learn dicts"
            )
        _check_samples(len(X), at_least)
        raw = self._raw_columns
        if raw is None:
            names = getattr(self, "feature_names_in_", None)
            if names is None:
                raise ValueError(
                    "X must be an array: this forest has no names of features, got dicts"
                )
            raw = RawColumns.of_features([*names], self.model_.categories)
        raw.check_known(dict.fromkeys(name for row in X for name in row))
        return raw.rows(lambda name: Listed([row.get(name) for row in X]), len(X))

    def _chosen_columns(self, X: Any, frame: Frame | None) -> list[int]:
        """Return the categorical columns of a first batch."""
        given = self.categorical_features
        if given is None or (isinstance(given, str) and given == FROM_DTYPE and frame is None):
            return []
        names = None if frame is None else frame.names
        width = frame.shape[1] if frame is not None else _width(X)
        chosen = chosen_columns(given, frame, names, width)
        if chosen and issparse(X):
            raise ValueError(
                "categorical_features must be 'from_dtype' or None if X is sparse, got "
                f"{given!r}; make X dense"
            )
        return chosen

    def _checked_table(self, X: Any, frame: Frame | None, reset: bool, at_least: int) -> MixedRows:
        """Return the rows for a forest with categorical features."""
        columns = self._categorical if reset else list(self.model_.categories)
        checks = {"reset": reset, "ensure_min_samples": at_least, "ensure_all_finite": False}
        if frame is None:
            if issparse(X):
                raise ValueError("X must be dense if a feature is categorical, got a sparse matrix")
            if not isinstance(X, np.ndarray):
                X = np.array(X, dtype=object)  # otherwise numbers among texts become texts
            X = validate_data(self, X, dtype=None, **checks)
        else:
            validate_data(self, with_names(X), reset=reset, skip_check_array=True)
            _check_samples(frame.shape[0], at_least)
        return mixed_rows(X, columns, getattr(self, "feature_names_in_", None))

    def _checked_mixed_rows(self, rows: MixedRows, reset: bool) -> MixedRows:
        """Check rows that the caller has already divided into numbers and categories."""
        if reset:
            self.n_features_in_, self._raw_columns = rows.shape[1], None
            self._categorical = chosen_columns(
                self.categorical_features, None, None, self.n_features_in_
            )
        columns = self._categorical if reset else self.model_.categories
        assert rows.shape[1] == self.n_features_in_
        assert {*rows.coded} == {*columns}
        return rows

    def _is_plain(self, X: Any, reset: bool, at_least: int) -> bool:
        """Return whether X is an array of numbers of the right width.

        Then scikit-learn has nothing to check. Its checks would take most of the time for single rows.
        """
        return (
            type(X) is np.ndarray
            and X.dtype.kind in "fiub"
            and X.ndim == 2
            and X.shape[0] >= at_least
            and (X.shape[1] > 0 if reset else X.shape[1] == self.n_features_in_)
            and not hasattr(self, "feature_names_in_")
            and self._has_no_categories(reset)
        )

    def _has_no_categories(self, reset: bool) -> bool:
        if not reset:
            return self.model_.engine.categories is None
        given = self.categorical_features
        return given is None or (isinstance(given, str) and given == FROM_DTYPE)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class RowForestClassifier(RowForest, ForestClassifier):
    """The base of classifiers over rows."""

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the next points of the stream, in their order.

        `classes` lists all labels: any other label is an error from then on. Without it, a new label
        adds a class.
        """
        if classes is None and sample_weight is None and self._learn_lone(X, y):
            return self
        self._learn(*self._next_batch(X, y, sample_weight, self._preparing(classes)))
        return self

    def predict_then_learn(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Learn the next points of the stream, and return what was predicted for each just before.

        This is test-then-train: the probabilities, and the forest, are those of `predict_proba` and
        `partial_fit` for one row after the other, to the last bit, at little more than the cost of
        learning. Columns are `classes_` after the batch. A class that was not known yet has
        probability 0; a row is 0 if none was known. A row of weight 0 is predicted and not learned.
        Parameters are those of `partial_fit`.
        """
        batch = self._next_batch(X, y, sample_weight, self._preparing(classes))
        return self._predict_then_learn(*batch)

    def _preparing(self, classes: Any) -> Prepare:
        return lambda labels: self._prepare(labels, classes)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row, the first in `classes_` in a tie."""
        return super().predict(X)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class, in the order of `classes_` (R11)."""
        points = self.checked_points(X)
        return self.model_.predict_proba(points, self.threads())[0]

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`; -inf for a class of probability 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict_trees(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the answer of each tree: an index into `classes_`, or -1 if the tree abstains."""
        points = self.checked_points(X)
        return self.model_.predict_trees(points)


class RowForestRegressor(RegressorMixin, RowForest):
    """The base of regressors over rows (R26)."""

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn the next points of the stream, in their order."""
        if sample_weight is None and self._learn_lone(X, y):
            return self
        self._learn(*self._next_batch(X, y, sample_weight, self._prepare))
        return self

    def predict_then_learn(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Learn the next points of the stream, and return what was predicted for each just before.

        This is test-then-train: the numbers, and the forest, are those of `predict` and
        `partial_fit` for one row after the other, to the last bit, at little more than the cost of
        learning. The prediction before the first point is 0. A row of weight 0 is predicted and not
        learned.
        """
        return self._predict_then_learn(*self._next_batch(X, y, sample_weight, self._prepare))

    def give_intervals_then_learn(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Do what `predict_then_learn` does, and return the intervals of each row just before, too.

        For each row and each of the coverages in `intervals` there are two ends, those of
        `predict_interval`. By these the forest has judged how wide the next ones must be (R28).
        """
        batch = self._next_batch(X, y, sample_weight, self._prepare)
        return self.model_.give_intervals_then_learn(*batch, self.threads())

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the number of each row."""
        return super().predict(X)

    def predict_quantiles(self, X: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
        """Return quantiles of the target of each row: a row per row of X, a column per number in q.

        They are quantiles of the targets of the kept points near a row (R28), and no coverage is
        promised. They do not fall as q grows. They are NaN if no tree has a point there.
        """
        points = self.checked_points(X)
        return self.model_.predict_quantiles(points, q, self.threads())

    def predict_interval(self, X: ArrayLike, coverage: float = 0.9) -> NDArray[np.float64]:
        """Return the ends of an interval around the target of each row, in two columns.

        `coverage` is one of `intervals`. Along the stream the forest learns how wide the intervals must
        be, so that they hold this share of the targets (R28). An interval is (-inf, inf) as long as
        nothing is known.
        """
        points = self.checked_points(X)
        return self.model_.predict_interval(points, coverage, self.threads())

    def predict_trees(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the answer of each tree; NaN if it abstains."""
        points = self.checked_points(X)
        target = self.model_.target
        assert isinstance(target, Numbers)
        return target.with_origin(self.model_.predict_trees(points))

    def _checked_labels(self, y: Any) -> NDArray[Any]:
        if y is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None")
        return checked_numbers(y)

    def _target_of(self, labels: NDArray[Any]) -> Target:
        return Numbers()

    def _prepare(self, labels: NDArray[Any]) -> None:
        """Start if this is the first batch."""
        if not self._started():
            self._start(Numbers())
        self.threads()


class TwoStreamForest(RowForest):
    """The base of forests that a theorem is about: there is a certificate of it, and a report."""

    def certificate(self, X: ArrayLike | None = None) -> Certificate:
        """Check the theorem against this forest; see `riparian.theory`.

        The certificate lists the conditions of the theorem, how far they are seen to hold at the points
        X (or over the leaves), and what must be assumed: for numbers, also that targets are bounded.
        """
        from riparian.theory.certificate import certificate  # here: learning needs none of it

        return certificate(self, X)

    def report(
        self, X: ArrayLike | None = None, y: ArrayLike | None = None, *, title: str | None = None
    ) -> Report:
        """Return a report on this forest; `write` it to a file, or show it in a notebook.

        X and y may hold rows that were not learned, to test the forest on. The report then has scores;
        for classes, mistakes and the accuracy that is lost without each feature; for numbers,
        predictions against true numbers. It needs plotly.
        """
        from riparian.report.of_forest import report  # here: learning needs none of it

        return report(self, X, y, title=title)


def _check_samples(rows: int, at_least: int) -> None:
    if rows < at_least:
        raise ValueError(
            f"Found array with {rows} sample(s) while a minimum of {at_least} is required."
        )


def _is_lone(X: Any, y: Any) -> bool:
    """Return whether X and y are one row of float32 and its label, ready for the engine."""
    return (
        type(X) is np.ndarray
        and type(y) is np.ndarray
        and y.shape == (1,)
        and X.shape[:1] == (1,)
        and X.dtype == np.float32
        and X.flags.c_contiguous
    )


def _width(X: Any) -> int:
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    return int(shape[1]) if len(shape) == 2 else 0
