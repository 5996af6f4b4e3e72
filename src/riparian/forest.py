"""`OnlineForestClassifier`: the door between the user and the engine.

Input is hostile until checked, once, here: a batch is checked whole before its first point is learned.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from riparian import _core, native
from riparian.labels import Labels, family
from riparian.parameters import check_parameters, whole
from riparian.progress import Callback, CallbackSupportMixin, Progress, with_callbacks
from riparian.reference import GOLDEN, SHUFFLE_DRAW, key
from riparian.rows import Rows, as_rows, blocks, with_names
from riparian.schedule import Geometric, Schedule
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.files import write_whole
from riparian.snapshot.header import Header
from riparian.snapshot.state import encode
from riparian.weights import ClassWeights, Weights, checked_weights, product

# What `as_rows` checks better than scikit-learn would: NaN is welcome, and sparse rows stay sparse.
OURS = {"dtype": "numeric", "ensure_all_finite": False, "accept_sparse": "csr"}

STEP_ROWS = 4096  # `fit` tells of its progress after this many rows, or a hundredth of them


class OnlineForestClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """A random forest that learns a stream point by point and converges to the best classifier.

    Each tree sends every point to one of two streams at random: structure points decide where the
    tree splits, estimation points what it predicts. The forest is that of Denil, Matheson and
    de Freitas, *Consistency of Online Random Forests* (ICML 2013); the symbols are theirs.

    Parameters
    ----------
    n_estimators : int
        The number of trees.
    candidate_dims : float or "sqrt"
        λ: a leaf looks for its split in `1 + Poisson(λ)` dimensions; "sqrt" is the square root of
        the number of features.
    split_points : int
        m: a leaf takes the thresholds it will choose from from its first m structure points.
    min_gain : float
        τ: a leaf splits when a valid candidate has gained more than this, in bits.
    alpha : Geometric or Polynomial
        α(d): estimation points that each child of a leaf at depth d must hold.
    beta : float, Geometric or Polynomial
        β(d): a leaf that holds this many estimation points splits as soon as it can, whatever the
        gain. A number is a multiple of α.
    structure_fraction, ignore_fraction : float
        The share of points that a tree uses as structure points, and that it leaves out.
    fringe_size : int or None
        How many leaves of a tree may collect split statistics at the same time; this bounds the
        memory. None: all of them.
    max_memory : int, str or None
        A bound on the bytes that the forest holds, such as "500MB". Each tree has its equal part.
        It limits the fringe first; when even the leaves' histograms fill it, trees stop to grow and
        go on learning in the leaves they have (`stats()` says since when).
    voting : "average" or "majority"
        How trees are combined: by the mean of their class shares, or by one vote each, as in the
        paper.
    passes : int
        How often `fit` goes through the data. `partial_fit` learns what it is given, once.
    shuffle : bool
        Whether `fit` shuffles each pass: data sorted by class would ruin it. `partial_fit` keeps
        the order.
    class_weight : dict, "balanced" or None
        Weights by label; a label that is not named has weight 1. "balanced" gives every class the
        same weight in all, by the frequencies seen so far.
    random_state : int, RandomState or None
        The same seed and the same stream give the same forest, to the last bit, whatever the
        batches and the number of threads.
    n_jobs : int or None
        Threads: None is 1, -1 is all processors.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted. A label that appears later joins them, unless `classes` was given.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, where X came with names.

    Examples
    --------
    >>> from riparian import OnlineForestClassifier
    >>> from riparian.streams import GaussianMixture
    >>> mixture = GaussianMixture.paper()
    >>> forest = OnlineForestClassifier(n_estimators=10, random_state=0)
    >>> for batch in range(10):
    ...     X, y = mixture.sample(500, random_state=batch)
    ...     forest = forest.partial_fit(X, y)
    >>> forest.predict([[2.0, 2.0], [8.0, 0.0]])
    array([0, 3])
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        candidate_dims: float | Literal["sqrt"] = "sqrt",
        split_points: int = 10,
        min_gain: float = 0.5,
        alpha: Schedule = Geometric(1, 1.05),  # noqa: B008, frozen
        beta: float | Schedule = 20.0,
        structure_fraction: float = 0.5,
        ignore_fraction: float = 0.0,
        fringe_size: int | None = None,
        max_memory: int | str | None = None,
        voting: Literal["average", "majority"] = "average",
        passes: int = 1,
        shuffle: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        random_state: int | np.random.RandomState | None = None,
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
        self.max_memory = max_memory
        self.voting = voting
        self.passes = passes
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

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
        with _unchanged_if_refused(self):
            rows, labels = self._checked_batch(X, y, first=True, at_least=1)
            weights = checked_weights(sample_weight, len(labels))
            if weights is not None and not weights.any():
                raise ValueError("sample_weight must not be zero for all rows")
            self._start(rows.shape[1], Labels(np.unique(labels), open=True))

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
        if self._prediction_only:
            raise SnapshotError(
                "prediction_only",
                "this forest was saved with prediction_only=True, so it cannot learn on; load a "
                "snapshot saved without it, or start anew with fit",
            )
        with _unchanged_if_refused(self):
            rows, labels = self._checked_batch(X, y, first=first, at_least=0)
            weights = checked_weights(sample_weight, len(labels))
            if first:
                known = None if classes is None else _checked_classes(classes)
                self._start(rows.shape[1], Labels(known))
            elif classes is not None:
                self._labels.check_same(_checked_classes(classes))
            self._labels.check(labels)
            self._workers()
        self._learn(rows, labels, weights)
        return self

    def _started(self) -> bool:
        return hasattr(self, "_grown")

    def _start(self, n_features: int, labels: Labels) -> None:
        """An empty forest. The parameters count from here; later changes wait for the next start."""
        parameters = check_parameters(
            n_trees=self.n_estimators,
            seed=self._seed(),
            candidate_dims=self.candidate_dims,
            split_points=self.split_points,
            min_gain=self.min_gain,
            alpha=self.alpha,
            beta=self.beta,
            structure_fraction=self.structure_fraction,
            ignore_fraction=self.ignore_fraction,
            fringe_size=self.fringe_size,
            voting=self.voting,
            max_memory=self.max_memory,
        )
        self._workers()
        self._class_weights = ClassWeights(self.class_weight)
        self._prediction_only = False
        self._grow(native.Forest(parameters, n_features), labels)

    def _grow(self, engine: native.Forest, labels: Labels) -> None:
        """Take an engine and its labels for our own, both at once: another thread may read."""
        engine.set_classes(labels.rank(), len(labels.classes))
        self._grown = (engine, labels)

    @property
    def _native(self) -> native.Forest:
        return self._grown[0]

    @property
    def _labels(self) -> Labels:
        return self._grown[1]

    def _learn(self, X: Rows, y: NDArray[Any], weights: Weights | None) -> None:
        if weights is not None:
            X, y, weights = _of_weight(X, y, weights)
        with self._native.learning:
            before = len(self._labels.arrived)
            arrivals = self._labels.join(y)
            if len(self._labels.arrived) > before:
                self._native.set_classes(self._labels.rank(), len(self._labels.classes))
            weights = product(weights, self._class_weights.of(arrivals, self._labels.arrived))
            if weights is not None:
                X, arrivals, weights = _of_weight(X, arrivals, weights)
            for some, block in blocks(X):
                weight = None if weights is None else weights[some]
                self._native.learn(block, arrivals[some], weight, self._workers())

    def _seed(self) -> int:
        given: Any = self.random_state
        # scikit-learn takes the module np.random for its own state.
        if given is None or given is np.random or isinstance(given, np.random.RandomState):
            return int(check_random_state(given).randint(2**31))
        return whole("random_state", given, at_least=0, at_most=2**64 - 1)

    def _workers(self) -> int:
        if self.n_jobs is not None:
            whole("n_jobs", self.n_jobs, at_least=-(2**15), at_most=2**15)
        return int(effective_n_jobs(self.n_jobs))

    def _orders(self, passes: int, rows: int) -> Iterator[NDArray[np.intp]]:
        for n in range(passes):
            yield (
                shuffled(self._native.parameters.seed, n, rows) if self.shuffle else np.arange(rows)
            )

    # -- predicting -------------------------------------------------------------------------------

    @property
    def classes_(self) -> NDArray[Any]:
        if not self._started():
            raise AttributeError("classes_: this forest has not learned anything yet")
        return self._labels.classes

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The probability of each class, in the order of `classes_` (R11)."""
        return self._proba(X)[0]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class with the largest probability, the first in `classes_` among equals."""
        proba, classes = self._proba(X)
        labels: NDArray[Any] = classes[np.argmax(proba, axis=1)]
        return labels

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The logarithm of `predict_proba`; -inf for a class that no tree has seen there."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict_trees(self, X: ArrayLike) -> NDArray[np.int64]:
        """What each tree answers: an index into `classes_`, -1 where a tree abstains."""
        return _stack(self._checked_points(X), self._native.core.predict_trees)

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """The leaf of each point in each tree: the number of its node, in order of creation."""
        return _stack(self._checked_points(X), self._native.core.apply)

    def _proba(self, X: ArrayLike) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Probabilities and the classes they are of: both as of the same point of the stream."""
        rows = self._checked_points(X)
        (engine, labels), workers = self._grown, self._workers()
        if len(labels.classes) == 0:
            raise ValueError("no class is known yet: learn a point, or give classes= first")
        proba = _stack(rows, lambda block: engine.predict_proba(block, workers))
        return proba, labels.classes_when(proba.shape[1])

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

    def stats(self) -> dict[str, Any]:
        """What the forest has become, in all and per tree.

        `splits` that it chose (`should_splits`) and was forced to (`must_splits`); `leaves`, how
        many of them are `active`, and of those how many are `pure` (only one class so far) or
        `stuck` (their candidates had to be drawn again, R8); the largest `depth`; points by stream;
        `activations` of inactive leaves and `refreshes` they cost (R12); with `max_memory`,
        `evictions` from the fringe and, for each tree, `stopped_at`: the number of points after
        which it stopped to grow, 0 while it grows; in all, how many have. `bytes` held, by kind.
        """
        check_is_fitted(self)
        trees = [_with_sums(tree) for tree in self._native.core.stats()]
        total: dict[str, Any] = {name: sum(tree[name] for tree in trees) for name in trees[0]}
        total["depth"] = max(tree["depth"] for tree in trees)
        total["stopped"] = sum(tree["stopped_at"] > 0 for tree in trees)
        del total["stopped_at"]
        return {"points": self._native.core.points, **total, "trees": trees}

    def memory(self) -> dict[str, int]:
        """The bytes that the forest holds, by kind, and their sum.

        By a formula that depends on the forest alone (see DESIGN.md): `nodes`, the leaves with
        their `histograms`, and the `fringe`, which is what active leaves collect.
        """
        stats = self.stats()
        kinds = {"nodes": "node_bytes", "histograms": "leaf_bytes", "fringe": "fringe_bytes"}
        held = {name: int(stats[kind]) for name, kind in kinds.items()}
        held["nodes"] += len(stats["trees"]) * (_core.tree_bytes + native.TREE_BYTES)
        return {**held, "total": sum(held.values())}

    # -- the door ---------------------------------------------------------------------------------

    def _checked_batch(
        self, X: Any, y: Any, *, first: bool, at_least: int
    ) -> tuple[Rows, NDArray[Any]]:
        X = self._checked_rows(X, reset=first, at_least=at_least)
        y = _checked_labels(y, name=type(self).__name__)
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

    def decision_path(self, X: ArrayLike) -> tuple[Any, NDArray[np.int64]]:
        """The nodes that each point passes, in all trees: see `riparian.inspection`."""
        from riparian.inspection import decision_path  # which needs this module

        return decision_path(self, X)

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

    # -- copies -----------------------------------------------------------------------------------

    _prediction_only = False  # came back from a snapshot without what learning needs

    def save(self, path: str | os.PathLike[str], *, prediction_only: bool = False) -> None:
        """Save the forest to a file, from which `riparian.load` brings it back.

        A crash at any moment leaves the file that was there or the new one, whole. With
        `prediction_only` the file is much smaller, and what comes back predicts the same but
        cannot learn.
        """
        write_whole(path, self.to_bytes(prediction_only=prediction_only))

    def to_bytes(self, *, prediction_only: bool = False) -> bytes:
        """What `save` writes; `riparian.from_bytes` reads it."""
        check_is_fitted(self)
        self._workers()
        chosen = self.get_params(deep=False)
        if not isinstance(self.random_state, Integral):
            chosen["random_state"] = None  # the engine has the seed that was drawn
        names = getattr(self, "feature_names_in_", None)
        engine, labels = self._grown
        with engine.learning:
            points, trees = engine.save()
            header = Header(
                prediction_only=prediction_only or self._prediction_only,
                estimator=chosen,
                parameters=engine.parameters,
                n_features=engine.n_dims,
                feature_names=None if names is None else names.tolist(),
                points=points,
                labels=copy.copy(labels),
                class_weights=copy.copy(self._class_weights),
            )
        return encode(header, trees)

    @classmethod
    def _from_snapshot(cls, header: Header, engine: native.Forest) -> Self:
        unknown = header.estimator.keys() - cls._get_param_names()
        if unknown:
            raise SnapshotError("header", f"estimator has no parameters {sorted(unknown)}")
        forest = cls(**header.estimator)
        try:
            forest._workers()
        except (TypeError, ValueError) as error:
            raise SnapshotError("header", str(error)) from None
        forest.n_features_in_ = header.n_features
        if header.feature_names is not None:
            forest.feature_names_in_ = np.array(header.feature_names, dtype=object)
        forest._class_weights = header.class_weights
        forest._prediction_only = header.prediction_only
        forest._grow(engine, header.labels)
        return forest

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds arrays and parameters; what the engine derives from them is made again."""
        state = dict(super().__getstate__())
        if self._started():
            with self._native.learning:
                engine, labels = state.pop("_grown")
                state["_saved"] = (
                    engine.parameters, engine.n_dims, copy.copy(labels), *engine.save()
                )  # fmt: skip
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_saved", None)
        super().__setstate__(state)
        if saved is None:
            return
        parameters, n_dims, labels, points, trees = saved
        engine = native.Forest(parameters, n_dims)
        engine.restore(points, trees)
        self._grow(engine, labels)

    def __sklearn_is_fitted__(self) -> bool:
        return self._started()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


@contextmanager
def _unchanged_if_refused(forest: OnlineForestClassifier) -> Iterator[None]:
    """What the door refuses leaves no trace: not even the number of features it would have had."""
    before = dict(forest.__dict__)
    try:
        yield
    except BaseException:
        forest.__dict__ = before
        raise


def shuffled(seed: int, n: int, rows: int) -> NDArray[np.intp]:
    """R13: the order of the n-th pass, rows sorted by a word each from a sequence of its own."""
    start = np.uint64(key(seed, SHUFFLE_DRAW, n))
    z = start + np.arange(1, rows + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.argsort(z ^ (z >> np.uint64(31)), kind="stable")


def _of_weight(X: Rows, y: NDArray[Any], weights: Weights) -> tuple[Rows, NDArray[Any], Weights]:
    """R13: a point of no weight is no point of the stream."""
    there = weights > 0
    return (X, y, weights) if there.all() else (X[there], y[there], weights[there])


def _stack(X: Rows, answer: Callable[[NDArray[np.float32]], NDArray[Any]]) -> NDArray[Any]:
    while True:
        answers = [answer(block) for _, block in blocks(X)]
        if len({part.shape[1] for part in answers}) == 1:  # no class joined meanwhile
            return answers[0] if len(answers) == 1 else np.concatenate(answers)


def _checked_labels(y: Any, name: str) -> NDArray[Any]:
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None")
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU":
        return y
    if getattr(getattr(y, "dtype", None), "kind", None) == "O":
        family(np.ravel(y))
    y = check_array(y, ensure_2d=False, dtype=None, ensure_min_samples=0, input_name="y")
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    # scikit-learn's own check of targets warns of many classes in few rows, as batches have them.
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        strange = labels[labels != np.floor(labels)][0]
        raise ValueError(f"Unknown label type: continuous. y must hold classes, got {strange}")
    return labels


def _checked_classes(classes: Any) -> NDArray[Any]:
    unique = np.unique(_checked_labels(classes, name="classes"))
    if len(unique) == 0:
        raise ValueError("classes must name at least one label, got none")
    return unique


def _with_sums(tree: dict[str, int]) -> dict[str, int]:
    return {
        **tree,
        "splits": tree["should_splits"] + tree["must_splits"],
        "bytes": tree["node_bytes"] + tree["leaf_bytes"] + tree["fringe_bytes"],
    }
