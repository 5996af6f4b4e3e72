"""Forests over the rows of a matrix: the door between the user and the engine.

Input is hostile until checked, once, here: a batch is checked whole before its first point is learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from riparian import native
from riparian.base import (
    ForestClassifier,
    checked_classes,
    checked_labels,
    unchanged_if_refused,
)
from riparian.labels import Labels
from riparian.parameters import Parameters, SaffariParameters, whole
from riparian.progress import Callback, CallbackSupportMixin, Progress, with_callbacks
from riparian.rows import Rows, as_rows, blocks, with_names
from riparian.shuffle import shuffled
from riparian.weights import checked_weights

# What `as_rows` checks better than scikit-learn would: NaN is welcome, and sparse rows stay sparse.
OURS = {"dtype": "numeric", "ensure_all_finite": False, "accept_sparse": "csr"}

STEP_ROWS = 4096  # `fit` tells of its progress after this many rows, or a hundredth of them


class RowForestClassifier(CallbackSupportMixin, ForestClassifier):
    """What forests over the columns of a matrix share: scikit-learn's conventions."""

    passes: int
    shuffle: bool

    def _checked_parameters(self) -> Parameters | SaffariParameters:
        """The parameters, checked and resolved."""
        raise NotImplementedError

    def _empty_engine(self) -> native.Forest:
        return native.Forest(self._checked_parameters(), self.n_features_in_)

    def _blocks(self, points: Rows) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        return blocks(points)

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
        """Learn a finite data set from nothing, in `passes` shuffled passes.

        `callback(rows learned, rows in all)` is called now and then; if it returns something true,
        learning stops there.
        """
        passes = whole("passes", self.passes, at_least=1, at_most=2**31)
        if not isinstance(self.shuffle, bool | np.bool_):
            raise TypeError(f"shuffle must be True or False, got {self.shuffle!r}")
        with unchanged_if_refused(self):
            rows, labels = self._checked_batch(X, y, first=True, at_least=1)
            weights = checked_weights(sample_weight, len(labels))
            if weights is not None and not weights.any():
                raise ValueError("sample_weight must not be zero for all rows")
            self._start(Labels(np.unique(labels), open=True))
            self._history = replace(self._history, passes=passes)

        n = len(labels)
        step = max(STEP_ROWS, -(-n * passes // 100))
        told = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        progress = Progress(self, passes * -(-n // step), n * passes, callback, told)
        for order in self._orders(passes, n):
            for first in range(0, n, step):
                some = order[first : first + step]
                self._learn(rows[some], labels[some], None if weights is None else weights[some])
                if progress.step(len(some)):
                    progress.end()
                    return self
        progress.end()
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the next points of the stream, in their order.

        `classes` names all labels there will ever be: any other is an error from then on. Without
        it, a label never seen before simply joins.
        """
        first = not self._started()
        self._check_can_learn()
        with unchanged_if_refused(self):
            rows, labels = self._checked_batch(X, y, first=first, at_least=0)
            weights = checked_weights(sample_weight, len(labels))
            if first:
                known = None if classes is None else checked_classes(classes)
                self._start(Labels(known))
            elif classes is not None:
                self._labels.check_same(checked_classes(classes))
            self._labels.check(labels)
            self._workers()
        self._learn(rows, labels, weights)
        return self

    def _orders(self, passes: int, rows: int) -> Iterator[NDArray[np.intp]]:
        for n in range(passes):
            yield (
                shuffled(self._native.parameters.seed, n, rows) if self.shuffle else np.arange(rows)
            )

    # -- predicting -------------------------------------------------------------------------------

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The probability of each class, in the order of `classes_` (R11)."""
        return self._proba(self._checked_points(X))[0]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class with the largest probability, the first in `classes_` among equals."""
        return self._most_probable(self._checked_points(X))

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The logarithm of `predict_proba`; -inf for a class that no tree has seen there."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict_trees(self, X: ArrayLike) -> NDArray[np.int64]:
        """What each tree answers: an index into `classes_`, -1 where a tree abstains."""
        return self._stack(self._checked_points(X), self._native.predict_trees)

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """The leaf of each point in each tree: the number of its node, in order of creation."""
        return self._stack(self._checked_points(X), self._native.apply)

    # -- looking inside ---------------------------------------------------------------------------

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Gain times structure points of all splits in a feature, as a share of all splits'.

        It is learned from the structure stream alone and follows the stream as it grows. Zeros
        before the first split. A gain among a handful of points is biased upward, so with a small
        α features of pure noise get a share too.
        """
        check_is_fitted(self)
        gains = self._native.core.importance().astype(np.float64)
        importances = np.zeros(self._native.n_dims)
        importances[: len(gains)] = np.maximum(gains, 0)  # R14 may leave a few units below zero
        total = importances.sum()
        return importances / total if total > 0 else importances

    def decision_path(self, X: ArrayLike) -> tuple[Any, NDArray[np.int64]]:
        """The nodes that each point passes, in all trees: see `riparian.inspection`."""
        from riparian.inspection import decision_path  # which needs this module

        return decision_path(self, X)

    # -- the door ---------------------------------------------------------------------------------

    def _checked_batch(
        self, X: Any, y: Any, *, first: bool, at_least: int
    ) -> tuple[Rows, NDArray[Any]]:
        X = self._checked_rows(X, reset=first, at_least=at_least)
        y = checked_labels(y, name=type(self).__name__)
        check_consistent_length(X, y)
        return X, y

    def _checked_points(self, X: Any) -> Rows:
        check_is_fitted(self)
        return self._checked_rows(X, reset=False, at_least=0)

    def _checked_rows(self, X: Any, *, reset: bool, at_least: int) -> Rows:
        if not reset and self._is_plain(X):
            return as_rows(X)
        try:
            rows = validate_data(
                self, with_names(X), reset=reset, ensure_min_samples=at_least, **OURS
            )
        except OverflowError:
            raise ValueError(
                "X must hold numbers that fit float32, got one beyond float64"
            ) from None
        return as_rows(rows)

    def _is_plain(self, X: Any) -> bool:
        """An array of numbers of the right width: nothing is left for scikit-learn to check.

        It is what a stream consists of, row by row, where its checks would cost most.
        """
        return (
            type(X) is np.ndarray
            and X.dtype.kind in "fiub"
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
