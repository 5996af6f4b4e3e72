"""`riparian.river`: the forests as River models, for which a point is a dict."""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from riparian.model.intervals import place_of_coverage
from riparian.model.named import Label, NamedClasses, NamedNumbers
from riparian.model.named_rows import Frame, Key
from riparian.model.weights import as_weights
from riparian.parameters.declare import constructed, described
from riparian.parameters.forests import (
    OF_ESTIMATORS,
    OF_ROWS,
    SEED,
    AdaptiveNumberParameters,
    AdaptiveNumberSettings,
    AdaptiveParameters,
    AdaptiveSettings,
    CategorySettings,
    NumberParameters,
    NumberSettings,
    PaperParameters,
    PaperSettings,
    StreamParameters,
    TreeSettings,
    defaults,
)
from riparian.parameters.values import OfDepth, OrNone, Whole
from riparian.tools.optional import missing

try:
    import narwhals.stable.v2 as nw
    from narwhals.stable.v2.typing import IntoDataFrame, IntoSeries
    from river import base, conf
except ModuleNotFoundError as error:
    raise missing("river", needed_by="riparian.river", extra="river") from error


Named = TypeVar("Named", NamedClasses, NamedNumbers)


@constructed
class _Forest(TreeSettings, Generic[Named]):
    """A forest that learns points with named features, whatever it predicts."""

    _parameters_class: ClassVar[type[StreamParameters]]
    _model_class: type[Named]
    max_categories: int | None

    # River requires defaults that are plain values.
    alpha: Any = described(
        kind=OrNone(OfDepth(), "the default of the same forest in `riparian`"),
        default=None,
        help="each child of a leaf at depth d must hold this many estimation points.",
    )
    seed: int | None = described(
        kind=OrNone(Whole(0, 2**64 - 1), "a random one"),
        default=None,
        help="The same seed and the same stream give the same forest, to the last bit.",
    )
    n_jobs: int | None = described(
        default=None,
        kind=OF_ESTIMATORS["n_jobs"].kind,
        help="The number of threads for mini-batches; -1 is one per processor.",
    )

    def __post_init__(self) -> None:
        self._parameters = self._parameters_class.of(
            self,
            seed=secrets.randbits(64) if self.seed is None else SEED.checked("seed", self.seed),
            alpha=defaults(self._parameters_class)["alpha"] if self.alpha is None else self.alpha,
        )
        self._most = OF_ROWS["max_categories"].checked(self.max_categories)
        self._workers = int(effective_n_jobs(OF_ESTIMATORS["n_jobs"].checked(self.n_jobs)))
        self._forest: Named | None = None  # until the first point brings the features

    # -- learning ---------------------------------------------------------------------------------

    def learn_one(self, x: dict[Key, Any], y: Label, w: float = 1.0) -> None:
        """Learn a point, given its features, its label or target, and its weight.

        Each tree rounds the weight to a whole number at random: up with the probability of its
        fraction. A row of weight 0 is not learned.
        """
        if w != 1.0:
            w = float(as_weights("w", w, rows=1)[0])
            if w == 0.0:
                return
        learning = self._forest or self._model_class(self._parameters, x, self._most)
        learning.learn_one(x, y, w)
        self._forest = learning

    def learn_many(self, X: IntoDataFrame, y: IntoSeries, w: float | IntoSeries = 1.0) -> None:
        """Learn the rows of a frame, in their order.

        The result is exactly that of `learn_one` for one row after the other. A column of the frame is
        a feature, and an empty cell is a missing value. The frame may be any that narwhals supports:
        pandas, polars, pyarrow. `w` is one weight for all rows, or one per row.
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
        learning = self._forest or self._model_class(self._parameters, frame.columns, self._most)
        learning.learn_many(frame, labels, weights, self._workers)
        self._forest = learning

    # -- what River requires ----------------------------------------------------------------------

    @property
    def _raw_memory_usage(self) -> int:
        """Add the memory of the core: River counts only Python objects."""
        held = int(super()._raw_memory_usage)  # type: ignore[misc]
        return held if self._forest is None else held + self._forest.bytes_held()


class _Replacing(_Forest[Named]):
    """A forest that replaces trees."""

    @property
    def replacements_(self) -> list[tuple[int, int]]:
        return [] if self._forest is None else self._forest.engine.replacements()


@constructed
class OnlineForestClassifier(
    _Forest[NamedClasses], PaperSettings, CategorySettings, base.MiniBatchClassifier
):
    """A random forest that learns a stream point by point and converges to the best classifier.

    The forest of Denil, Matheson and de Freitas, *Consistency of Online Random Forests* (ICML 2013):
    `riparian.OnlineForestClassifier` with River's interface. Given the same points, both are the same
    forest, to the last bit.

    A new feature may appear at any time; leaves that start to look for a split after that use it.
    Several features that appear at once are added in sorted order. A feature that a point does not
    have, or that is None or NaN, is missing, and a missing value goes right at a split. Predictions
    ignore features that were never learned. A new label may appear at any time, too.

    Features are numbers (including bools) or text. Text makes a feature categorical: its splits test
    whether a value equals a category, and a category that was never learned goes right. A feature
    must not change from numbers to text, or from text to numbers.

    Parameters
    ----------
    As described in `riparian.parameters.forests.PaperSettings`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from riparian.river import OnlineForestClassifier
    >>> model = OnlineForestClassifier(n_estimators=10, seed=1)
    >>> model.predict_one({"x": 1.0}) is None  # nothing is learned yet
    True
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 90.71%
    """

    _parameters_class: ClassVar[type[StreamParameters]] = PaperParameters
    _model_class = NamedClasses

    # -- predicting -------------------------------------------------------------------------------

    def predict_proba_one(self, x: dict[Key, Any]) -> dict[Label, float]:  # type: ignore[override]
        """Return the probability of each label seen so far, sorted; empty before the first point."""
        if self._forest is None:
            return {}
        proba, classes = self._forest.predict_proba_one(x)
        return dict(zip(classes, _adding_up(proba), strict=True))

    def predict_one(self, x: dict[Key, Any]) -> Label | None:  # type: ignore[override]
        """Return the most probable label, the smallest in a tie; None before the first point."""
        if self._forest is None:
            return None
        return self._forest.predict_one(x)

    def predict_proba_many(self, X: IntoDataFrame) -> Any:
        """Return the probabilities of each row, with one column per label.

        Column names are the labels if the frame is from pandas; other frames need strings.
        """
        frame = _frame(X)
        proba, classes = self._predict_proba_many(frame)
        proba = np.array([_adding_up(row) for row in proba.tolist()]).reshape(proba.shape)
        names = classes if frame.implementation.is_pandas_like() else map(str, classes)
        columns = dict(zip(names, proba.T, strict=True))
        return _like(frame, nw.from_dict(columns, backend=frame.implementation))

    def predict_many(self, X: IntoDataFrame) -> Any:
        """Return the most probable label of each row, as a series."""
        frame = _frame(X)
        proba, classes = self._predict_proba_many(frame)
        chosen = [classes[i] for i in proba.argmax(axis=1)] if classes else [None] * len(frame)
        series = nw.new_series(None, chosen, backend=frame.implementation)  # type: ignore[arg-type]
        return _like(frame, series)

    def _predict_proba_many(self, frame: Frame) -> tuple[NDArray[np.float64], list[Label]]:
        if self._forest is None:
            return np.empty((len(frame), 0)), []
        return self._forest.predict_proba_many(frame, self._workers)

    @property
    def _multiclass(self) -> bool:
        return True


@constructed
class AdaptiveForestClassifier(AdaptiveSettings, OnlineForestClassifier, _Replacing[NamedClasses]):
    """A forest for streams whose classes change over time.

    `riparian.AdaptiveForestClassifier` with River's interface: leaves favour recent points, and a tree
    whose error rises is replaced by an empty one. Given the same points, both are the same forest, to
    the last bit. Features and labels are as in `OnlineForestClassifier`.

    Parameters
    ----------
    As described in `riparian.parameters.forests.AdaptiveSettings`.

    Attributes
    ----------
    replacements_ : list of (int, int)
        Each replacement of a tree: the number of the point, from 0, and the number of the tree.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river.datasets import synth
    >>> from riparian.river import AdaptiveForestClassifier
    >>> before, after = (synth.Agrawal(classification_function=i, seed=1) for i in (0, 2))
    >>> stream = synth.ConceptDriftStream(before, after, seed=1, position=2000, width=50)
    >>> model = AdaptiveForestClassifier(n_estimators=10, seed=1)
    >>> score = evaluate.progressive_val_score(stream.take(4000), model, metrics.Accuracy())
    >>> score.get() > 0.85, any(point > 2000 for point, tree in model.replacements_)
    (True, True)
    """

    _parameters_class = AdaptiveParameters


@constructed
class OnlineForestRegressor(
    _Forest[NamedNumbers], NumberSettings, CategorySettings, base.MiniBatchRegressor
):
    """A random forest that learns to predict numbers from a stream, point by point.

    `riparian.OnlineForestRegressor` with River's interface. Given the same points, both are the same
    forest, to the last bit. Features are as in `OnlineForestClassifier`.

    Parameters
    ----------
    As described in `riparian.parameters.forests.NumberSettings`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from riparian.river import OnlineForestRegressor
    >>> model = OnlineForestRegressor(n_estimators=10, seed=1)
    >>> model.predict_one({"x": 1.0})  # nothing is learned yet
    0.0
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.3329

    With `intervals`, it learns how wide an interval must be:

    >>> from river import stats
    >>> model, held = OnlineForestRegressor(n_estimators=10, seed=1, intervals=(0.9,)), stats.Mean()
    >>> for x, y in datasets.TrumpApproval():
    ...     held.update(y in model.predict_one(x, with_interval=True))
    ...     model.learn_one(x, y)
    >>> round(held.get(), 2)
    0.9
    """

    # River has no parameters that are empty tuples.
    intervals: Sequence[float] | None = described(default=None)  # type: ignore[assignment]

    _parameters: NumberParameters
    _parameters_class: ClassVar[type[StreamParameters]] = NumberParameters
    _model_class = NamedNumbers

    def predict_one(  # type: ignore[override]
        self, x: dict[Key, Any], *, with_interval: bool = False
    ) -> float | conf.interval.Interval:
        """Return the predicted number; 0 before the first point.

        `with_interval` returns an interval instead, as River's `conf` does: that of the first
        coverage in `intervals`.
        """
        if with_interval:
            return self.predict_interval_one(x)
        return 0.0 if self._forest is None else self._forest.predict_one(x)

    def predict_interval_one(
        self, x: dict[Key, Any], coverage: float | None = None
    ) -> conf.interval.Interval:
        """Return an interval around the target that holds this share of all targets (R28).

        `coverage` is one of `intervals`; None: the first of them. Before the first point, the interval
        is all numbers.
        """
        learned = self._parameters.intervals
        if coverage is None:
            coverage = next(iter(learned), 0.9)
        place_of_coverage(coverage, learned)
        ends = (-math.inf, math.inf)
        if self._forest is not None:
            ends = self._forest.predict_interval_one(x, coverage)
        return conf.interval.Interval(*ends)

    def predict_many(self, X: IntoDataFrame) -> Any:
        """Return the predicted number of each row, as a series."""
        frame = _frame(X)
        if self._forest is None:
            numbers = np.zeros(len(frame))
        else:
            numbers = self._forest.predict_many(frame, self._workers)
        series = nw.new_series("", numbers, backend=frame.implementation)
        return _like(frame, series)


@constructed
class AdaptiveForestRegressor(
    AdaptiveNumberSettings, OnlineForestRegressor, _Replacing[NamedNumbers]
):
    """A forest that predicts numbers on streams that change over time.

    `riparian.AdaptiveForestRegressor` with River's interface: leaves favour recent points, and a tree
    whose error rises is replaced by an empty one. Given the same points, both are the same forest, to
    the last bit. Features are as in `OnlineForestClassifier`.

    Its answers are for the next point, since they follow the last target; use `lag=0` for others.

    Parameters
    ----------
    As described in `riparian.parameters.forests.AdaptiveNumberSettings`.

    Attributes
    ----------
    replacements_ : list of (int, int)
        Each replacement of a tree: the number of the point, from 0, and the number of the tree.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river.datasets import synth
    >>> from riparian.river import AdaptiveForestRegressor
    >>> stream = synth.FriedmanDrift(drift_type="gra", position=(1000, 2000), seed=1)
    >>> model = AdaptiveForestRegressor(n_estimators=10, seed=1)
    >>> score = evaluate.progressive_val_score(stream.take(3000), model, metrics.R2())
    >>> score.get() > 0.6
    True
    """

    _parameters_class = AdaptiveNumberParameters


def _frame(X: IntoDataFrame) -> Frame:
    return nw.from_native(X, eager_only=True)


def _like(frame: Frame, answer: Any) -> Any:
    """Return the answer in the user's frame library, with the index of the frame if it has one."""
    native_answer = answer.to_native()
    index = nw.maybe_get_index(frame)
    if index is not None:
        native_answer.index = index
    return native_answer


def _adding_up(proba: list[float]) -> list[float]:
    """Return probabilities that add up to 1 as River tests it; R25 rounds shares to 2^-28."""
    total = math.fsum(proba)
    return proba if math.isclose(total, 1.0) else [each / total for each in proba]
