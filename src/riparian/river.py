"""`riparian.river`: the forests as River classifiers, for which a point is a dict."""

from __future__ import annotations

import secrets
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from riparian.model.named import Label, NamedModel
from riparian.model.named_rows import Frame, Key
from riparian.model.weights import as_weights
from riparian.parameters.declare import constructed, described
from riparian.parameters.forests import (
    OF_ESTIMATORS,
    OF_ROWS,
    SEED,
    AdaptiveParameters,
    AdaptiveSettings,
    CategorySettings,
    PaperParameters,
    PaperSettings,
    TreeSettings,
    defaults,
)
from riparian.parameters.schedules import Schedule
from riparian.tools.optional import missing

try:
    import narwhals.stable.v2 as nw
    from narwhals.stable.v2.typing import IntoDataFrame, IntoSeries
    from river import base
except ModuleNotFoundError as error:
    raise missing("river", needed_by="riparian.river", extra="river") from error


@constructed
class OnlineForestClassifier(
    TreeSettings, PaperSettings, CategorySettings, base.MiniBatchClassifier
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
    alpha : Geometric, Polynomial or None
        α(d): each child of a leaf at depth d must hold this many estimation points. None is the
        default of `riparian.OnlineForestClassifier`.
    seed : int or None
        The same seed and the same stream give the same forest, to the last bit.
    n_jobs : int or None
        The number of threads for mini-batches; -1 is one per processor. None: one.
    As described in `riparian.parameters.forests.PaperSettings`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from riparian.river import OnlineForestClassifier
    >>> model = OnlineForestClassifier(n_estimators=10, seed=1)
    >>> model.predict_one({"x": 1.0}) is None  # nothing is learned yet
    True
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 91.19%
    """

    _parameters_class: ClassVar[type[PaperParameters]] = PaperParameters

    # River requires defaults that are plain values.
    alpha: Schedule | None = described(default=None)  # type: ignore[assignment]
    seed: int | None = described(default=None)
    n_jobs: int | None = described(default=None)

    def __post_init__(self) -> None:
        self._parameters = self._parameters_class.of(
            self,
            seed=secrets.randbits(64) if self.seed is None else SEED.checked("seed", self.seed),
            alpha=defaults(self._parameters_class)["alpha"] if self.alpha is None else self.alpha,
        )
        self._most = OF_ROWS["max_categories"].checked(self.max_categories)
        self._workers = int(effective_n_jobs(OF_ESTIMATORS["n_jobs"].checked(self.n_jobs)))
        self._forest: NamedModel | None = None  # until the first point brings the features

    # -- learning ---------------------------------------------------------------------------------

    def learn_one(self, x: dict[Key, Any], y: Label, w: float = 1.0) -> None:
        """Learn a point, given its features, its label and its weight.

        Each tree rounds the weight to a whole number at random: up with the probability of its
        fraction. A row of weight 0 is not learned.
        """
        if w != 1.0:
            w = float(as_weights("w", w, rows=1)[0])
            if w == 0.0:
                return
        learning = self._forest or NamedModel(self._parameters, x, self._most)
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
        learning = self._forest or NamedModel(self._parameters, frame.columns, self._most)
        learning.learn_many(frame, labels, weights, self._workers)
        self._forest = learning

    # -- predicting -------------------------------------------------------------------------------

    def predict_proba_one(self, x: dict[Key, Any]) -> dict[Label, float]:  # type: ignore[override]
        """Return the probability of each label seen so far, sorted; empty before the first point."""
        if self._forest is None:
            return {}
        proba, classes = self._forest.predict_proba_one(x)
        return dict(zip(classes, proba, strict=True))

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

    # -- what River asks -------------------------------------------------------------------------

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def _raw_memory_usage(self) -> int:
        """Add the memory of the core: River counts only Python objects."""
        held = int(super()._raw_memory_usage)
        return held if self._forest is None else held + self._forest.bytes_held()


@constructed
class AdaptiveForestClassifier(AdaptiveSettings, OnlineForestClassifier):
    """A forest for streams whose classes change over time.

    `riparian.AdaptiveForestClassifier` with River's interface: leaves favour recent points, and a tree
    whose error rises is replaced by an empty one. Given the same points, both are the same forest, to
    the last bit. Features and labels are as in `OnlineForestClassifier`.

    Parameters
    ----------
    alpha : Geometric, Polynomial or None
        α(d): each child of a leaf at depth d must hold this many estimation points. None is the
        default of `riparian.AdaptiveForestClassifier`.
    seed : int or None
        The same seed and the same stream give the same forest, to the last bit.
    n_jobs : int or None
        The number of threads for mini-batches; -1 is one per processor. None: one.
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

    alpha: Schedule | None = described(default=None)  # type: ignore[assignment]

    @property
    def replacements_(self) -> list[tuple[int, int]]:
        return [] if self._forest is None else self._forest.engine.replacements()


def _frame(X: IntoDataFrame) -> Frame:
    return nw.from_native(X, eager_only=True)


def _like(frame: Frame, answer: Any) -> Any:
    """Return the answer in the user's frame library, with the index of the frame if it has one."""
    native_answer = answer.to_native()
    index = nw.maybe_get_index(frame)
    if index is not None:
        native_answer.index = index
    return native_answer
