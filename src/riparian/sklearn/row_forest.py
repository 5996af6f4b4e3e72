"""Estimators over the rows of a matrix.

Input is validated once, here, and the whole batch before its first point is learned.
"""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from riparian import _core
from riparian.engine import native
from riparian.engine.categories import CategoryTables, MixedRows, Value, bytes_of_tables
from riparian.model.classes import checked_labels
from riparian.model.kept import KeptPoints, kept_points
from riparian.model.model import Model
from riparian.model.rows import Rows, as_rows
from riparian.model.tables import (
    FROM_DTYPE,
    Frame,
    check_no_time,
    chosen_columns,
    frame_of,
    mixed_rows,
)
from riparian.model.weights import checked_weights
from riparian.parameters.forests import OF_ROWS, CategorySettings, ColumnSettings
from riparian.sklearn.base import ForestClassifier, unchanged_if_refused
from riparian.sklearn.frames import with_names
from riparian.sklearn.progress import Callback, CallbackSupportMixin, with_callbacks

# `as_rows` checks the rest: NaN is a missing value, and sparse rows stay sparse.
SKLEARN_CHECKS = {"dtype": "numeric", "ensure_all_finite": False, "accept_sparse": "csr"}


class RowForestClassifier(ColumnSettings, CategorySettings, CallbackSupportMixin, ForestClassifier):
    """The base of estimators over rows: scikit-learn's conventions."""

    _sparse: bool  # whether the first batch was: kept points are then stored without zeros (R19)
    _categorical: list[int]  # the categorical columns of the first batch (R22)

    def _empty_engine(self) -> native.ColumnEngine:
        parameters = self._checked_parameters()
        most = OF_ROWS["max_categories"].checked(self.max_categories)
        tables = None
        if self._categorical:
            max_bytes = bytes_of_tables(getattr(parameters, "max_memory", None))
            tables = CategoryTables.empty(self._categorical, most, max_bytes)
        return native.ColumnEngine(
            parameters, self.n_features_in_, sparse=self._sparse, categories=tables
        )

    def adopt(self, model: Model, *, named: bool = True) -> None:
        super().adopt(model)
        self.n_features_in_, self._categorical = model.engine.n_dims, [*model.categories]
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
        if self._started():
            self.model_.check_can_learn()
        with unchanged_if_refused(self):
            first = not self._started()
            rows, labels = self._checked_batch(X, y, first=first, at_least=0)
            weights = checked_weights(sample_weight, len(labels))
            self._prepare(labels, classes)
        self._learn(rows, labels, weights)
        return self

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
        number = model.target.number(y)
        if number is None:
            return False
        if self.n_jobs is not None:
            self.threads()  # raises if the parameter has become invalid
        with engine.learning:
            engine.learn_one(X, number)
        return True

    # -- predicting -------------------------------------------------------------------------------

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class, in the order of `classes_` (R11)."""
        points = self.checked_points(X)
        return self.model_.predict_proba(points, self.threads())[0]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row, the first in `classes_` in a tie."""
        points = self.checked_points(X)
        return self.model_.predict(points, self.threads())

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`; -inf for a class of probability 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict_trees(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the answer of each tree: an index into `classes_`, or -1 if the tree abstains."""
        points = self.checked_points(X)
        return self.model_.predict_trees(points)

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
        from riparian.inspection import decision_path  # it imports this module

        return decision_path(self, X)

    # -- elsewhere --------------------------------------------------------------------------------

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the current forest for prediction without riparian; the suffix gives the format.

        The suffix is `.onnx`, `.treelite`, or `.h` for a C header; see `riparian.export`.
        """
        from riparian.export import export  # it imports this module

        export(self, path)

    def to_shap(self) -> dict[str, Any]:
        """Return the forest for the `shap` package: `shap.TreeExplainer(forest.to_shap())`."""
        from riparian.explain import to_shap  # it imports this module

        return to_shap(self)

    # -- checking input ---------------------------------------------------------------------------------

    def _checked_batch(
        self, X: Any, y: Any, *, first: bool, at_least: int
    ) -> tuple[Rows, NDArray[Any]]:
        X = self._checked_rows(X, reset=first, at_least=at_least)
        y = checked_labels(y, name=type(self).__name__)
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

    def _checked_rows(self, X: Any, *, reset: bool, at_least: int) -> Rows:
        if self._is_plain(X, reset, at_least):
            if reset:
                self.n_features_in_, self._categorical = X.shape[1], []
            return as_rows(X)
        if isinstance(X, MixedRows):
            return self._checked_mixed_rows(X, reset)
        frame = frame_of(X)
        if frame is not None:
            check_no_time(frame)
        if reset:
            self._categorical = self._chosen_columns(X, frame)
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
        return as_rows(rows)

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
            if frame.shape[0] < at_least:
                raise ValueError(
                    f"Found array with {frame.shape[0]} sample(s) while a minimum of {at_least} is "
                    "required."
                )
        return mixed_rows(X, columns, getattr(self, "feature_names_in_", None))

    def _checked_mixed_rows(self, rows: MixedRows, reset: bool) -> MixedRows:
        """Check rows that the caller has already divided into numbers and categories."""
        if reset:
            self.n_features_in_ = rows.shape[1]
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
