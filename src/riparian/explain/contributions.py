"""TreeSHAP: what each feature adds to a prediction; the contributions add up to it.

The core (`core/explain`) computes them, over the trees as they were when the explainer was made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riparian import _core
from riparian.explain.sample import kept_sample
from riparian.model.ensemble import Ensemble, ensemble_of
from riparian.model.rows import dense
from riparian.tools.checks import whole

if TYPE_CHECKING:
    from riparian.sklearn.row_forest import RowForest

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Contributions:
    """What the features of some rows add to the probabilities, or to the predicted numbers.

    For every row and class, `base + values.sum(axis=1)` is the probability; of a forest of numbers, it
    is the number of every row.
    """

    values: Floats  # (rows, features, classes); of one class, and of numbers: (rows, features)
    base: Floats | float  # (classes,); of one class, and of numbers: a number
    classes: NDArray[Any] | None  # of the last axis; of one class: that one; of numbers: None
    feature_names: list[str] | None

    @property
    def predictions(self) -> Floats:
        """The sum of the contributions: the probabilities, or the predicted numbers."""
        sums: Floats = self.base + self.values.sum(axis=1)
        return sums

    @property
    def probabilities(self) -> Floats:
        """The predictions of a forest of classes, under their name in riparian 0.2."""
        return self.predictions


class Explainer:
    """Explain the predictions of a forest, as it is now, by the contributions of its features.

    Parameters
    ----------
    forest : OnlineForestClassifier, OnlineForestRegressor or SaffariForestClassifier
        A forest over rows. What it learns later does not change the explainer.
    background : array-like, "kept" or None
        None: path-dependent contributions. A feature that is not known goes both ways, as often as
        the estimation points of the tree did; `base` is the mean answer over those. Else rows to
        compare with: interventional contributions. A feature that is not known has the values it
        has there; `base` is the mean answer over the background. "kept": the points that the
        forest keeps (`kept_points_`), with their weights.
    background_size : int
        For "kept": use at most this many points, evenly spaced. The time grows with their number; a
        hundred are often enough.

    Examples
    --------
    >>> from riparian import OnlineForestClassifier
    >>> from riparian.streams import GaussianMixture
    >>> X, y = GaussianMixture.paper().sample(2000, random_state=0)
    >>> forest = OnlineForestClassifier(10, random_state=0).fit(X, y)
    >>> found = Explainer(forest).contributions([[2.0, 2.0]], label=0)
    >>> found.values.shape, bool(abs(found.values[0, 0]) > abs(found.values[0, 1]))
    ((1, 2), True)
    >>> bool(np.isclose(found.predictions[0], forest.predict_proba([[2.0, 2.0]])[0, 0]))
    True
    """

    def __init__(
        self,
        forest: RowForest,
        background: ArrayLike | Literal["kept"] | None = None,
        *,
        background_size: int = 1000,
    ) -> None:
        size = whole("background_size", background_size, at_least=1, at_most=2**31)
        self._forest = forest
        self._ensemble = ensemble_of(forest, "an explanation")
        self._trees: tuple[int | None, _core.PlainTrees] | None = None
        self._background: NDArray[np.float32] | None = None
        self._weights: Floats | None = None  # of the background; None: all 1
        if isinstance(background, str):
            self._background, self._weights = _kept(forest, background, size)
        elif background is not None:
            self._background = self._checked(background)
            if len(self._background) == 0:
                raise ValueError("background must hold at least one row, got none")

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes of the forest; None if it predicts numbers."""
        return self._ensemble.classes

    def contributions(self, X: ArrayLike, label: Any = None) -> Contributions:
        """Return what each feature adds to the probability of each class, or of one; or to the number.

        `label` names one of the classes: that takes less time and memory. Rows are shared out among
        the threads of the forest (`n_jobs`).
        """
        rows = self._checked(X)
        ensemble, workers = self._ensemble, self._forest.threads()
        classes = ensemble.classes
        chosen = None if label is None else self._number_of(label)
        alone = chosen is not None or classes is None
        trees = self._trees_of(chosen)
        if self._background is None:
            values, base = trees.path_dependent(rows, workers), mean_of(ensemble, chosen)
        else:
            values = trees.interventional(rows, self._background, self._weights, workers)
            base = np.average(trees.answer(self._background), axis=0, weights=self._weights)
            base = base + ensemble.offset
        return Contributions(
            values=values[:, :, 0] if alone else values,
            base=float(base[0]) if alone else base,
            classes=classes if classes is None or chosen is None else classes[chosen],
            feature_names=ensemble.feature_names,
        )

    def _trees_of(self, chosen: int | None) -> _core.PlainTrees:
        """Made once for questions about the same class: rows often come one by one."""
        if self._trees is None or self._trees[0] != chosen:
            self._trees = (chosen, plain_trees(self._ensemble, chosen))
        return self._trees[1]

    def _checked(self, X: Any) -> NDArray[np.float32]:
        return dense(self._forest.checked_points(X))

    def _number_of(self, label: Any) -> int:
        if self._ensemble.classes is None:
            raise ValueError(f"label must be None for a forest of numbers, got {label!r}")
        labels = self._ensemble.classes.tolist()
        if label not in labels:
            raise ValueError(f"label must be one of the classes, {labels!r}, got {label!r}")
        return int(labels.index(label))


def _kept(forest: RowForest, background: str, size: int) -> tuple[NDArray[np.float32], Floats]:
    if background != "kept":
        raise ValueError(f'background must be rows, "kept" or None, got {background!r}')
    rows, weights = kept_sample(forest, size)
    if len(rows) == 0:
        raise ValueError(
            'background="kept" needs a forest that keeps points, and this one has none: '
            "give rows as the background"
        )
    return rows, weights


def plain_trees(ensemble: Ensemble, chosen: int | None) -> _core.PlainTrees:
    """Return the trees for the core, with the values of all outputs or of one class."""
    values, classes = _values(ensemble), ensemble.share_class
    leaf = np.repeat(np.arange(len(ensemble.leaf)), ensemble.n_shares)
    if chosen is not None:
        of_it = classes == chosen
        leaf, values, classes = leaf[of_it], values[of_it], np.zeros_like(classes[of_it])
    lengths = np.bincount(leaf, minlength=len(ensemble.leaf))
    return _core.PlainTrees(
        root=ensemble.root,
        feature=ensemble.feature,
        threshold=ensemble.threshold,
        equals=ensemble.equals,
        left=ensemble.left,
        weight=ensemble.node_weight,
        leaf_number=ensemble.leaf_number,
        value_begin=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        value_class=np.ascontiguousarray(classes),
        value=np.ascontiguousarray(values),
        n_features=ensemble.n_features,
        n_classes=ensemble.n_outputs if chosen is None else 1,
    )


def _values(ensemble: Ensemble) -> Floats:
    """Return, for each share, its part of the prediction of the forest, without the offset."""
    return ensemble.share / ensemble.n_trees * ensemble.unit


def mean_of(ensemble: Ensemble, chosen: int | None) -> Floats:
    """Return the mean prediction over the estimation points of each tree."""
    if ensemble.abstains:
        mean: Any = ensemble.leaf_values()[0]
    else:
        sizes = [nodes.stop - nodes.start for nodes in ensemble.nodes]
        in_tree = np.repeat(ensemble.node_weight[ensemble.root], sizes)[ensemble.leaf]
        part = np.repeat(ensemble.weight / in_tree, ensemble.n_shares)
        mean = np.bincount(
            ensemble.share_class, part * _values(ensemble), minlength=ensemble.n_outputs
        )
    means: Floats = ensemble.offset + (mean if chosen is None else mean[chosen : chosen + 1])
    return means
