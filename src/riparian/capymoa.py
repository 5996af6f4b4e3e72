"""`riparian.capymoa`: the forests as learners of CapyMOA.

A schema gives the attributes and the classes in advance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from riparian.engine import native
from riparian.engine.categories import CategoryTables, Table, bytes_of_tables
from riparian.model.classes import Classes
from riparian.model.model import Model
from riparian.model.numbers import Numbers, as_number
from riparian.model.rows import as_rows
from riparian.model.target import Target
from riparian.parameters.declare import constructed, declared, described
from riparian.parameters.forests import (
    SEED,
    AdaptiveNumberParameters,
    AdaptiveNumberSettings,
    AdaptiveParameters,
    AdaptiveSettings,
    NumberParameters,
    NumberSettings,
    PaperParameters,
    PaperSettings,
    StreamParameters,
    TreeSettings,
)
from riparian.parameters.values import Unchecked, Whole
from riparian.tools.optional import missing

try:
    from capymoa.base import Classifier, Regressor
except ModuleNotFoundError as error:
    raise missing("capymoa", needed_by="riparian.capymoa", extra="capymoa") from error

if TYPE_CHECKING:
    from capymoa.core import Instance, LabeledInstance, RegressionInstance
    from capymoa.stream import Schema


def _attributes(schema: Schema) -> list[str]:
    """Return the names of all attributes but the class, in the order of an instance's values."""
    header = schema.get_moa_header()
    others = (i for i in range(header.numAttributes()) if i != header.classIndex())
    return [str(header.attribute(i).name()) for i in others]


class _SchemaOfStream(Unchecked):
    words = "capymoa.stream.Schema"


@constructed
class _Forest(TreeSettings):
    """A forest that learns the instances of a schema, whatever it predicts."""

    _parameters_class: ClassVar[type[StreamParameters]]

    schema: Schema = described(
        kw_only=False,
        kind=_SchemaOfStream(),
        help="The attributes of the stream, and what it predicts.",
    )
    random_seed: int = described(
        default=1,
        kw_only=False,
        kind=Whole(0, 2**64 - 1),
        help="The same seed and the same stream give the same forest, to the last bit.",
    )
    n_estimators: int = described(default=100, kw_only=True)

    def _start(self, target: Target) -> None:
        # For CapyMOA's `get_params`, which otherwise collects them only if the class has an `__init__`.
        self._params = {name: getattr(self, name) for name in declared(type(self))}
        parameters = self._parameters_class.of(
            self, seed=SEED.checked("random_seed", self.random_seed)
        )
        self.categories_ = {name: [*v] for name, v in self.schema.get_nominal_attributes().items()}
        tables = {
            column: Table(self.categories_[name])
            for column, name in enumerate(_attributes(self.schema))
            if name in self.categories_
        }
        max_bytes = bytes_of_tables(parameters.max_memory)
        engine = native.ColumnEngine(
            parameters,
            self.schema.get_num_attributes(),
            categories=CategoryTables(tables, None, max_bytes) if tables else None,
        )
        self.model_ = Model(engine, target)

    @property
    def _columns(self) -> native.ColumnEngine:
        engine = self.model_.engine
        assert isinstance(engine, native.ColumnEngine)
        return engine

    def _row(self, instance: Instance) -> NDArray[np.float32]:
        x: NDArray[Any] = instance.x
        n_dims = self._columns.n_dims
        if x.shape != (n_dims,):
            raise ValueError(f"x must have shape ({n_dims},), got {x.shape}")
        row: NDArray[np.float32] = as_rows(x[np.newaxis])
        return row


class _Replacing(_Forest):
    """A forest that replaces trees."""

    @property
    def replacements_(self) -> list[tuple[int, int]]:
        return self.model_.engine.replacements()


@constructed
class OnlineForestClassifier(_Forest, PaperSettings, Classifier):
    """A random forest that learns a stream point by point and converges to the best classifier.

    The forest of Denil, Matheson and de Freitas, *Consistency of Online Random Forests* (ICML 2013):
    `riparian.OnlineForestClassifier` with CapyMOA's interface. Given the same points, both are the
    same forest, to the last bit.

    A nominal attribute is a categorical feature: its splits test whether a value equals a category.
    `categories_` has the names of the values, by attribute. NaN is a missing value, which goes right at
    a split.

    Parameters
    ----------
    As described in `riparian.parameters.forests.PaperSettings`.

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

    _parameters_class: ClassVar[type[StreamParameters]] = PaperParameters

    def __post_init__(self) -> None:
        if not self.schema.is_classification():
            raise ValueError("schema must be for classification, got one for regression")
        self._start(Classes(np.arange(self.schema.get_num_classes())))
        self._numbers: dict[int, int] = {}  # the number of each class, in order of arrival

    def train(self, instance: LabeledInstance) -> None:
        """Learn an instance. It must have a class, and the class must be in the schema."""
        row = self._row(instance)
        y = instance.y_index
        if y not in self._numbers:
            self._join(y)
        self._columns.learn_one(row, self._numbers[y])

    def predict_proba(self, instance: Instance) -> NDArray[np.float64] | None:
        """Return the probability of each class of the schema; None before the first instance."""
        if not self._numbers:
            return None
        proba: NDArray[np.float64] = self.model_.predict_proba(self._row(instance), 1)[0][0]
        return proba

    def _join(self, y: int) -> None:
        target = self.model_.class_target
        if not 0 <= y < len(target.classes):
            raise ValueError(
                f"y_index must be from 0 to {len(target.classes) - 1}, got {y!r}"
                + (", which means a missing class" if y == -1 else "")
            )
        self._numbers[y] = int(self.model_.join(lambda: target.join(np.array([y])))[0])


@constructed
class AdaptiveForestClassifier(AdaptiveSettings, OnlineForestClassifier, _Replacing):
    """A forest for streams whose classes change over time.

    `riparian.AdaptiveForestClassifier` with CapyMOA's interface: leaves favour recent points, and a
    tree whose error rises is replaced by an empty one. Given the same points, both are the same forest,
    to the last bit.

    Parameters
    ----------
    As described in `riparian.parameters.forests.AdaptiveSettings`.

    Attributes
    ----------
    replacements_ : list of (int, int)
        Each replacement of a tree: the number of the point, from 0, and the number of the tree.

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


@constructed
class OnlineForestRegressor(_Forest, NumberSettings, Regressor):
    """A random forest that learns to predict numbers from a stream, point by point.

    `riparian.OnlineForestRegressor` with CapyMOA's interface. Given the same points, both are the same
    forest, to the last bit. Attributes are as in `OnlineForestClassifier`.

    Parameters
    ----------
    As described in `riparian.parameters.forests.NumberSettings`.

    Examples
    --------
    >>> import numpy as np
    >>> from capymoa.evaluation import prequential_evaluation
    >>> from capymoa.stream import NumpyStream
    >>> from riparian.capymoa import OnlineForestRegressor
    >>> X = np.random.default_rng(0).random((2000, 3))
    >>> stream = NumpyStream(X, 10 * X[:, 0], target_type="numeric")
    >>> learner = OnlineForestRegressor(stream.get_schema(), n_estimators=10)
    >>> prequential_evaluation(stream, learner).rmse() < 0.5
    True
    """

    _parameters_class: ClassVar[type[StreamParameters]] = NumberParameters

    def __post_init__(self) -> None:
        if not self.schema.is_regression():
            raise ValueError("schema must be for regression, got one for classification")
        self._start(Numbers())

    def train(self, instance: RegressionInstance) -> None:
        """Learn an instance. Its target must be a finite number."""
        row, target = self._row(instance), self.model_.target
        y = as_number(instance.y_value, "y_value")
        (label,) = self.model_.join(lambda: target.join_values([y]))
        self._columns.learn_one(row, label)

    def predict(self, instance: RegressionInstance) -> float:
        """Return the predicted number; 0 before the first instance."""
        return float(self.model_.predict(self._row(instance), 1)[0])

    def predict_interval(self, instance: RegressionInstance, coverage: float = 0.9) -> list[float]:
        """Return the lower end, the predicted number and the upper end (R28).

        This is what CapyMOA's `PredictionIntervalEvaluator` takes. `coverage` is one of `intervals`.
        """
        row = self._row(instance)
        low, high = self.model_.predict_interval(row, coverage, 1)[0].tolist()
        return [low, float(self.model_.predict(row, 1)[0]), high]


@constructed
class AdaptiveForestRegressor(AdaptiveNumberSettings, OnlineForestRegressor, _Replacing):
    """A forest that predicts numbers on streams that change over time.

    `riparian.AdaptiveForestRegressor` with CapyMOA's interface: leaves favour recent points, and a tree
    whose error rises is replaced by an empty one. Given the same points, both are the same forest, to
    the last bit. Attributes are as in `OnlineForestClassifier`.

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
    >>> import numpy as np
    >>> from capymoa.evaluation import prequential_evaluation
    >>> from capymoa.stream import NumpyStream
    >>> from riparian.capymoa import AdaptiveForestRegressor
    >>> X = np.random.default_rng(0).random((4000, 3))
    >>> y = 10 * X[:, 0]
    >>> y[2000:] = 10 - y[2000:]  # the target turns round
    >>> stream = NumpyStream(X, y, target_type="numeric")
    >>> learner = AdaptiveForestRegressor(stream.get_schema(), n_estimators=10)
    >>> results = prequential_evaluation(stream, learner, window_size=1000)
    >>> results.windowed.rmse()[-1] < 0.5
    True
    """

    _parameters_class = AdaptiveNumberParameters
