"""The base of all estimators: the model, its start, passes over data, snapshots and copies.

Subclasses define what a point is, a row of a matrix or a pixel of an image, and validate it
(`riparian.sklearn.row_forest`, `riparian.depth.pixel_forest`).
"""

from __future__ import annotations

import copy
import os
from abc import abstractmethod
from itertools import product
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from riparian.engine import native
from riparian.engine.draws import shuffled
from riparian.model.classes import Classes, checked_classes, checked_labels
from riparian.model.decision import Decision
from riparian.model.model import Model, Origin
from riparian.model.target import Target
from riparian.model.trust import follows_in_words, trust_in_words
from riparian.model.weights import ClassWeights, Weights
from riparian.parameters.forests import (
    OF_ESTIMATORS,
    OF_ROWS,
    ClassWeightSettings,
    FitSettings,
    SaffariParameters,
    StreamParameters,
    TreeSettings,
)
from riparian.sklearn.progress import Callback, Progress
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.header import CLASSES
from riparian.table.raw import RawColumns
from riparian.tools.files import write_whole
from riparian.tools.notebook import table
from riparian.tools.text import count, shortened, size

MOST_SHOWN = 60  # characters of the classes in a notebook

STEP_POINTS = 4096  # `fit` reports progress after this many points, or a hundredth of all


class Forest(TreeSettings, FitSettings, BaseEstimator):
    """A forest that learns a stream, with any type of point, any rule and any target.

    `model_` exists after the start (`riparian.model.model.Model`).
    """

    model_: Model
    # How the columns of a frame become features, if one of them gives several; None otherwise.
    _raw_columns: RawColumns | None = None

    # Whether `predict_then_learn` costs little more than learning, so that evaluations use it.
    answers_in_turn: ClassVar[bool] = True

    # These name the rule.
    _parameters_class: ClassVar[type[StreamParameters] | type[SaffariParameters]]

    @abstractmethod
    def _empty_engine(self) -> native.NativeEngine:
        """Check the parameters, and return an empty engine with them."""

    @abstractmethod
    def _checked_labels(self, y: Any) -> NDArray[Any]:
        """Return labels as an array, or raise an error."""

    @abstractmethod
    def _target_of(self, labels: NDArray[Any]) -> Target:
        """Return the target for a data set with these labels."""

    def _class_weights(self) -> ClassWeights:
        return ClassWeights(None)

    # -- learning ---------------------------------------------------------------------------------

    def _started(self) -> bool:
        return hasattr(self, "model_")

    def _start(self, target: Target) -> None:
        """Start an empty forest. Parameters that change later take effect at the next start."""
        self.threads()
        self.model_ = self._new_model(target, self._class_weights())

    def _new_model(self, target: Target, weights: ClassWeights) -> Model:
        names = getattr(self, "feature_names_in_", None)
        raw = self._raw_columns
        return Model(self._empty_engine(), target, weights, feature_names=names, raw_columns=raw)

    def adopt(self, model: Model, *, named: bool = True) -> None:
        """Continue with a model that has learned elsewhere.

        If not `named`, the forest takes plain arrays, even if the model has names of features.
        """
        self.model_ = model

    def _checked_parameters(self) -> StreamParameters | SaffariParameters:
        return self._parameters_class.of(self, seed=self._seed())

    def _seed(self) -> Any:
        given: Any = self.random_state
        # For scikit-learn, the module np.random means numpy's global state.
        if given is None or given is np.random or isinstance(given, np.random.RandomState):
            return int(check_random_state(given).randint(2**31))
        return given

    def threads(self) -> int:
        """Return the number of threads that `n_jobs` means on this machine."""
        given = self.n_jobs
        if type(given) is int and given == 1:  # as joblib would return, many times faster
            return 1
        return int(effective_n_jobs(OF_ESTIMATORS["n_jobs"].checked(given)))

    def _learn(self, points: Any, y: NDArray[Any], weights: Weights | None) -> None:
        self.model_.raw_columns = self._raw_columns or self.model_.raw_columns
        self.model_.learn(points, y, weights, self.threads())

    def _predict_then_learn(
        self, points: Any, y: NDArray[Any], weights: Weights | None
    ) -> NDArray[np.float64]:
        return self.model_.predict_then_learn(points, y, weights, self.threads())

    def _start_passes(self, labels: NDArray[Any], weights: Weights | None, passes: int) -> None:
        if weights is not None and not weights.any():
            raise ValueError("sample_weight must not be zero for all points")
        self._start(self._target_of(labels))
        self.model_.set_passes(passes)

    def _checked_passes(self) -> int:
        OF_ESTIMATORS["shuffle"].checked(self.shuffle)
        return int(OF_ESTIMATORS["passes"].checked(self.passes))

    def _learn_passes(
        self,
        points: Any,
        labels: NDArray[Any],
        weights: Weights | None,
        passes: int,
        callback: Callback | None,
        hook_data: dict[str, Any],
    ) -> None:
        """Learn a data set in passes. `hook_data` is for scikit-learn's callbacks."""
        n = len(labels)
        step = max(STEP_POINTS, -(-n * passes // 100))
        progress = Progress(self, passes * -(-n // step), n * passes, callback, hook_data)
        try:
            for number, first in product(range(passes), range(0, n, step)):
                if first == 0:
                    order = self._order(number, n)
                    self.model_.set_judging(number == 0)  # R24: points learned before cannot judge
                rows = order[first : first + step]
                self._learn(points[rows], labels[rows], None if weights is None else weights[rows])
                if progress.step(len(rows)):
                    break
        finally:
            self.model_.set_judging(True)
        progress.end()

    def _order(self, number: int, points: int) -> NDArray[np.intp]:
        """The order of a pass (R13)."""
        seed = self.model_.engine.parameters.seed
        return shuffled(seed, number, points) if self.shuffle else np.arange(points)

    # -- predicting -------------------------------------------------------------------------------

    @property
    def trust_(self) -> dict[float, float]:
        """The weight of each head in an answer, in trees that were eager at first only.

        A head of R25 is named by its size, in points; a memory of R27 by its factor, which is below 1.
        """
        trust = self.model_.engine.trust() if self._started() else None
        if trust is None:
            raise AttributeError("trust_: only a forest with eager=True that has learned has it")
        return trust

    # -- in a notebook ----------------------------------------------------------------------------

    def _repr_html_inner(self) -> str:
        shown: str = super()._repr_html_inner()
        return shown + self._learned_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in shown:
            shown["text/html"] += self._learned_html()
        return shown

    def _learned_html(self) -> str:
        """What the forest has learned, below scikit-learn's diagram of its parameters."""
        if not self._started():
            return ""
        stats = self.stats()
        trust = {} if "trust" not in stats else {"trust": trust_in_words(stats["trust"])}
        if "follows" in stats:
            trust["last target"] = follows_in_words(stats["follows"])
        return table("What it has learned", {
            "points": count(stats["points"]),
            **self._learned_labels(),
            "trees": count(len(stats["trees"])),
            "leaves": count(stats["leaves"]),
            "memory": size(self.memory()["total"]),
            **trust,
        })  # fmt: skip

    def _learned_labels(self) -> dict[str, str]:
        """Return the facts about the target."""
        return {}

    # -- looking inside ---------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """Return statistics of the forest, in total and per tree.

        They are the number of `splits`, chosen (`should_splits`) or forced (`must_splits`); of
        `leaves`, of `active` leaves, and of active leaves that are `young` (they look among kept
        points, R20), `pure` (one class so far) or `stuck` (their candidates had to be drawn again,
        R8); the largest `depth`; the points by stream; the `activations` of inactive leaves and the
        `refreshes` these cost (R12). Splits, activations and refreshes count since the tree was last
        rebuilt (R21). With `max_memory`, `evictions` counts leaves evicted from the fringe, and
        `stopped_at` is, per tree, the number of points after which it stopped growing, 0 while it
        grows, and in total the number of trees that stopped. `budget_binds` is true once a leaf was
        evicted or a tree has stopped: until then, `max_memory` has only reduced the fringe. `bytes`
        is the size of the trees, by kind. Where answers follow the last target (`lag` above 0, R29),
        `follows` says how much of an answer that target is (`last_target`), and how much of the last
        error joins it (`last_error`).
        """
        check_is_fitted(self)
        return self.model_.stats()

    def memory(self) -> dict[str, int]:
        """Return the bytes that the forest uses, by kind, and their sum.

        They follow a formula that depends on the forest alone (see DESIGN.md): `nodes`; the
        `histograms` of leaves; the `fringe`, which is what active leaves collect; the `kept` points
        (R19) and the `lists` of them in the trees; with categorical features, the tables of
        `categories` (R22); with `lag`, the last targets that answers are `following` (R29). For depth
        images, `kept` is the current size of the kept pixels and their images.
        """
        check_is_fitted(self)
        return self.model_.memory()

    # -- snapshots --------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, prediction_only: bool = False) -> None:
        """Save the forest to a file, which `riparian.load` reads.

        After a crash at any moment, either the old or the new file exists, and it is complete. With
        `prediction_only`, the file is much smaller; the loaded forest predicts the same but cannot
        learn.
        """
        write_whole(path, self.to_bytes(prediction_only=prediction_only))

    def to_bytes(self, *, prediction_only: bool = False) -> bytes:
        """Return the bytes that `save` writes; `riparian.from_bytes` reads them."""
        return to_bytes(self, prediction_only=prediction_only)

    def __copy__(self) -> Self:
        """Copy the model as well, so that the two forests learn independently."""
        given: Any = self.__getstate__()
        state = dict(given)
        if self._started():
            state["model_"] = copy.copy(self.model_)
        other = type(self).__new__(type(self))
        other.__setstate__(state)
        return other

    def __sklearn_is_fitted__(self) -> bool:
        return self._started()


class ForestClassifier(ClassWeightSettings, ClassifierMixin, Forest):
    """A forest whose target is classes."""

    def _checked_labels(self, y: Any) -> NDArray[Any]:
        return checked_labels(y, name=type(self).__name__)

    def _target_of(self, labels: NDArray[Any]) -> Target:
        return Classes(np.unique(labels), open=True)

    def _class_weights(self) -> ClassWeights:
        return ClassWeights(self.class_weight)

    def _prepare(self, labels: NDArray[Any], classes: Any) -> None:
        """Start if this is the first batch, and check its labels. `classes` may list all of them."""
        if not self._started():
            self._start(Classes(None if classes is None else checked_classes(classes)))
        elif classes is not None:
            self.model_.class_target.check_same(checked_classes(classes))
        self.model_.target.check(labels)
        self.threads()

    @property
    def classes_(self) -> NDArray[Any]:
        if not self._started():
            raise AttributeError("classes_: this forest has not learned anything yet")
        return self.model_.class_target.classes

    def _learned_labels(self) -> dict[str, str]:
        classes = [str(label) for label in self.classes_]
        return {"classes": shortened(", ".join(classes), MOST_SHOWN) or "none"}

    # -- the decision -----------------------------------------------------------------------------

    @property
    def decision_(self) -> Decision | None:
        """Which class `predict` returns: the most probable one if this is None, as it is at first.

        With a `riparian.evaluation.Decision`, a class is predicted where its probability reaches a
        threshold. It is saved with the forest and changes neither learning nor probabilities.

        >>> from riparian import OnlineForestClassifier
        >>> from riparian.evaluation import Decision
        >>> forest = OnlineForestClassifier(3, random_state=0)
        >>> forest = forest.partial_fit([[0.0]] * 40, ["no", "no", "no", "yes"] * 10)
        >>> forest.predict([[0.0]]).tolist()
        ['no']
        >>> forest.decision_ = Decision("yes", 0.1)
        >>> forest.predict([[0.0]]).tolist()
        ['yes']
        """
        check_is_fitted(self)
        return self.model_.decision

    @decision_.setter
    def decision_(self, decision: Decision | None) -> None:
        check_is_fitted(self)
        if decision is not None:
            classes = self.model_.class_target.classes.tolist()
            decision = Decision.checked(decision.label, decision.threshold, classes)
        self.model_.decision = decision


# -- as a snapshot -----------------------------------------------------------------------------------


def to_bytes(
    forest: Forest,
    *,
    prediction_only: bool = False,
    extra: dict[str, Any] | None = None,
) -> bytes:
    """Return the forest as a snapshot; `extra` is an object of the caller."""
    check_is_fitted(forest)
    forest.threads()
    return forest.model_.to_bytes(origin_of(forest), prediction_only=prediction_only, extra=extra)


def origin_of(forest: Forest) -> Origin:
    """Return the class and the parameters for a snapshot of this forest."""
    cls = saved_class(forest)
    names = cls._get_param_names()
    chosen = {name: value for name, value in forest.get_params(deep=False).items() if name in names}
    if not isinstance(forest.random_state, Integral):
        chosen["random_state"] = None  # the engine has the seed that was drawn
    chosen = {name: value for name, value in chosen.items() if not _is_left_out(name, value)}
    return Origin(cls.__name__, chosen)


def _is_left_out(name: str, value: Any) -> bool:
    """Return whether to omit a parameter: newer ones (R22) are written only if not the default."""
    default = OF_ROWS[name].default if name in OF_ROWS else None
    return default is not None and isinstance(value, type(default)) and bool(value == default)


def saved_class(forest: Forest) -> type[Forest]:
    """Return the class that a snapshot names: riparian's own, even for a subclass."""
    for cls in type(forest).__mro__:
        if cls.__name__ in CLASSES and cls.__module__.startswith("riparian."):
            return cls
    raise SnapshotError("header", f"a {type(forest).__name__} cannot be saved")


class unchanged_if_refused:
    """Undo the effects of a rejected batch, including its number of features."""

    def __init__(self, forest: Forest) -> None:
        self.forest, self.before = forest, dict(forest.__dict__)

    def __enter__(self) -> None:
        pass

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            self.forest.__dict__ = self.before
