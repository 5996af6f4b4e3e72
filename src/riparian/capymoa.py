"""`riparian.capymoa`: the forests as CapyMOA classifiers.

A schema says beforehand how many attributes there are, and which classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from riparian.engine import native
from riparian.engine.categories import CategoryTables, Table, bytes_of_tables
from riparian.model.classes import Classes
from riparian.model.model import Model
from riparian.model.rows import as_rows
from riparian.parameters.docstrings import documented
from riparian.parameters.forests import (
    ADAPTIVE_DEFAULT,
    DEFAULT,
    SEED,
    AdaptiveParameters,
    Parameters,
)
from riparian.parameters.schedules import Schedule
from riparian.tools.optional import missing

try:
    from capymoa.base import Classifier
except ModuleNotFoundError as error:
    raise missing("capymoa", needed_by="riparian.capymoa", extra="capymoa") from error

if TYPE_CHECKING:
    from capymoa.core import Instance, LabeledInstance
    from capymoa.stream import Schema


def _attributes(schema: Schema) -> list[str]:
    """The names of all attributes but the class, in the order of the values of an instance."""
    header = schema.get_moa_header()
    others = (i for i in range(header.numAttributes()) if i != header.classIndex())
    return [str(header.attribute(i).name()) for i in others]


@documented
class OnlineForestClassifier(Classifier):
    """A random forest that learns a stream point by point and converges to the best classifier.

    The forest of Denil, Matheson and de Freitas, *Consistency of Online Random Forests* (ICML 2013):
    `riparian.OnlineForestClassifier` with CapyMOA's interface. Given the same points, both are the
    same forest, to the last bit.

    A nominal attribute is a categorical column: its splits ask whether a value equals a category.
    `categories_` has the names of the values, by attribute. NaN is a missing value: at a split it goes
    right.

    Parameters
    ----------
    schema : capymoa.stream.Schema
        The attributes and the classes of the stream.
    random_seed : int
        The same seed and the same stream give the same forest, to the last bit.
    As described in `riparian.parameters.forests.Parameters`.

    Examples
    --------
    >>> import numpy as np
    >>> from capymoa.evaluation import prequential_evaluation
    >>> from capymoa.stream import NumpyStream
    >>> from riparian.capymoa import OnlineForestClassifier
    >>> from riparian.streams import GaussianMixture
    >>> stream = NumpyStream(*GaussianMixture.paper().sample(2000, random_state=0))
    >>> learner = OnlineForestClassifier(stream.get_schema(), n_estimators=10)
    >>> results = prequential_evaluation(stream, learner)
    >>> results.learner, results.accuracy() > 60  # the best possible is about 67
    ('OnlineForestClassifier', True)
    """

    _parameters_class: type[Parameters] = Parameters

    def __init__(
        self,
        schema: Schema,
        random_seed: int = 1,
        *,
        n_estimators: int = DEFAULT["n_estimators"],
        candidate_dims: float | Literal["sqrt", "4sqrt"] = DEFAULT["candidate_dims"],
        split_points: int = DEFAULT["split_points"],
        min_gain: float = DEFAULT["min_gain"],
        alpha: Schedule = DEFAULT["alpha"],
        beta: float | Schedule = DEFAULT["beta"],
        structure_fraction: float = DEFAULT["structure_fraction"],
        ignore_fraction: float = DEFAULT["ignore_fraction"],
        fringe_size: int | None = DEFAULT["fringe_size"],
        kept_points: int | Literal["auto"] = DEFAULT["kept_points"],
        max_memory: int | str | None = DEFAULT["max_memory"],
        voting: Literal["average", "majority"] = DEFAULT["voting"],
    ) -> None:
        super().__init__(schema, random_seed)
        if not schema.is_classification():
            raise ValueError("schema must be of a classification task, got one of regression")
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
        parameters = self._parameters_class.of(self, seed=SEED.checked("random_seed", random_seed))
        self.categories_ = {name: [*v] for name, v in schema.get_nominal_attributes().items()}
        tables = {
            column: Table(self.categories_[name])
            for column, name in enumerate(_attributes(schema))
            if name in self.categories_
        }
        max_bytes = bytes_of_tables(parameters.max_memory)
        engine = native.ColumnEngine(
            parameters,
            schema.get_num_attributes(),
            categories=CategoryTables(tables, None, max_bytes) if tables else None,
        )
        self.model_ = Model(engine, Classes(np.arange(schema.get_num_classes())))
        self._numbers: dict[int, int] = {}  # of each class, in order of arrival

    def train(self, instance: LabeledInstance) -> None:
        """Learn an instance. One without a class is an error, and so is a class not in the schema."""
        row = self._row(instance)
        y = instance.y_index
        if y not in self._numbers:
            self._join(y)
        engine = self.model_.engine
        assert isinstance(engine, native.ColumnEngine)
        engine.learn_one(row, self._numbers[y])

    def predict_proba(self, instance: Instance) -> NDArray[np.float64] | None:
        """The probability of each class of the schema; None before the first instance."""
        if not self._numbers:
            return None
        proba: NDArray[np.float64] = self.model_.predict_proba(self._row(instance), 1)[0][0]
        return proba

    def _join(self, y: int) -> None:
        target = self.model_.target
        if not 0 <= y < len(target.classes):
            raise ValueError(
                f"y_index must be from 0 to {len(target.classes) - 1}, got {y!r}"
                + (", which stands for a missing class" if y == -1 else "")
            )
        self._numbers[y] = int(self.model_.join(lambda: target.join(np.array([y])))[0])

    def _row(self, instance: Instance) -> NDArray[np.float32]:
        x: NDArray[Any] = instance.x
        n_dims = self.model_.engine.n_dims
        if x.shape != (n_dims,):
            raise ValueError(f"x must have shape ({n_dims},), got {x.shape}")
        row: NDArray[np.float32] = as_rows(x[np.newaxis])
        return row


@documented
class AdaptiveForestClassifier(OnlineForestClassifier):
    """A forest that follows a stream whose classes change their ways.

    `riparian.AdaptiveForestClassifier` with CapyMOA's interface: leaves remember the last points best,
    and a tree whose error rises is replaced by an empty one. Given the same points, both are the
    same forest, to the last bit.

    Parameters
    ----------
    schema : capymoa.stream.Schema
        The attributes and the classes of the stream.
    random_seed : int
        The same seed and the same stream give the same forest, to the last bit.
    As described in `riparian.parameters.forests.AdaptiveParameters`.

    Attributes
    ----------
    replacements_ : list of (int, int)
        The points, counted from 0, at which a tree was replaced, and the place of the tree.

    Examples
    --------
    >>> from capymoa.evaluation import prequential_evaluation
    >>> from capymoa.stream import NumpyStream
    >>> from riparian.capymoa import AdaptiveForestClassifier
    >>> from riparian.streams import GaussianMixture
    >>> X, y = GaussianMixture.paper().sample(4000, random_state=0)
    >>> y[2000:] = 4 - y[2000:]  # every class becomes another
    >>> stream = NumpyStream(X, y)
    >>> learner = AdaptiveForestClassifier(stream.get_schema(), n_estimators=10)
    >>> results = prequential_evaluation(stream, learner, window_size=1000)
    >>> results.windowed.accuracy()[-1] > 60  # the best possible is about 67
    True
    """

    _parameters_class = AdaptiveParameters

    def __init__(
        self,
        schema: Schema,
        random_seed: int = 1,
        *,
        n_estimators: int = ADAPTIVE_DEFAULT["n_estimators"],
        candidate_dims: float | Literal["sqrt", "4sqrt"] = ADAPTIVE_DEFAULT["candidate_dims"],
        split_points: int = ADAPTIVE_DEFAULT["split_points"],
        min_gain: float = ADAPTIVE_DEFAULT["min_gain"],
        alpha: Schedule = ADAPTIVE_DEFAULT["alpha"],
        beta: float | Schedule = ADAPTIVE_DEFAULT["beta"],
        structure_fraction: float = ADAPTIVE_DEFAULT["structure_fraction"],
        ignore_fraction: float = ADAPTIVE_DEFAULT["ignore_fraction"],
        fringe_size: int | None = ADAPTIVE_DEFAULT["fringe_size"],
        kept_points: int | Literal["auto"] = ADAPTIVE_DEFAULT["kept_points"],
        max_memory: int | str | None = ADAPTIVE_DEFAULT["max_memory"],
        drift_confidence: float = ADAPTIVE_DEFAULT["drift_confidence"],
        leaf_points: int = ADAPTIVE_DEFAULT["leaf_points"],
        memories: tuple[float, ...] = ADAPTIVE_DEFAULT["memories"],
        fading: float = ADAPTIVE_DEFAULT["fading"],
        voting: Literal["average", "majority"] = ADAPTIVE_DEFAULT["voting"],
    ) -> None:
        self.drift_confidence = drift_confidence
        self.leaf_points = leaf_points
        self.memories = memories
        self.fading = fading
        super().__init__(
            schema,
            random_seed,
            n_estimators=n_estimators,
            candidate_dims=candidate_dims,
            split_points=split_points,
            min_gain=min_gain,
            alpha=alpha,
            beta=beta,
            structure_fraction=structure_fraction,
            ignore_fraction=ignore_fraction,
            fringe_size=fringe_size,
            kept_points=kept_points,
            max_memory=max_memory,
            voting=voting,
        )

    @property
    def replacements_(self) -> list[tuple[int, int]]:
        return self.model_.engine.replacements()
