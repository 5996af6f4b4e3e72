"""`riparian.capymoa`: the forests as CapyMOA classifiers.

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
from riparian.model.rows import as_rows
from riparian.parameters.declare import constructed, declared, described
from riparian.parameters.forests import (
    SEED,
    AdaptiveParameters,
    AdaptiveSettings,
    PaperParameters,
    PaperSettings,
    TreeSettings,
)
from riparian.tools.optional import missing

try:
    from capymoa.base import Classifier
except ModuleNotFoundError as error:
    raise missing("capymoa", needed_by="riparian.capymoa", extra="capymoa") from error

if TYPE_CHECKING:
    from capymoa.core import Instance, LabeledInstance
    from capymoa.stream import Schema


def _attributes(schema: Schema) -> list[str]:
    """Return the names of all attributes but the class, in the order of an instance's values."""
    header = schema.get_moa_header()
    others = (i for i in range(header.numAttributes()) if i != header.classIndex())
    return [str(header.attribute(i).name()) for i in others]


@constructed
class OnlineForestClassifier(TreeSettings, PaperSettings, Classifier):
    """A random forest that learns a stream point by point and converges to the best classifier.

    The forest of Denil, Matheson and de Freitas, *Consistency of Online Random Forests* (ICML 2013):
    `riparian.OnlineForestClassifier` with CapyMOA's interface. Given the same points, both are the
    same forest, to the last bit.

    A nominal attribute is a categorical feature: its splits test whether a value equals a category.
    `categories_` has the names of the values, by attribute. NaN is a missing value, which goes right at
    a split.

    Parameters
    ----------
    schema : capymoa.stream.Schema
        The attributes and the classes of the stream.
    random_seed : int
        The same seed and the same stream give the same forest, to the last bit.
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

    _parameters_class: ClassVar[type[PaperParameters]] = PaperParameters

    schema: Schema = described(kw_only=False)
    random_seed: int = described(default=1, kw_only=False)
    n_estimators: int = described(default=100, kw_only=True)

    def __post_init__(self) -> None:
        if not self.schema.is_classification():
            raise ValueError("schema must be for classification, got one for regression")
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
        self.model_ = Model(engine, Classes(np.arange(self.schema.get_num_classes())))
        self._numbers: dict[int, int] = {}  # the number of each class, in order of arrival

    def train(self, instance: LabeledInstance) -> None:
        """Learn an instance. It must have a class, and the class must be in the schema."""
        row = self._row(instance)
        y = instance.y_index
        if y not in self._numbers:
            self._join(y)
        engine = self.model_.engine
        assert isinstance(engine, native.ColumnEngine)
        engine.learn_one(row, self._numbers[y])

    def predict_proba(self, instance: Instance) -> NDArray[np.float64] | None:
        """Return the probability of each class of the schema; None before the first instance."""
        if not self._numbers:
            return None
        proba: NDArray[np.float64] = self.model_.predict_proba(self._row(instance), 1)[0][0]
        return proba

    def _join(self, y: int) -> None:
        target = self.model_.target
        if not 0 <= y < len(target.classes):
            raise ValueError(
                f"y_index must be from 0 to {len(target.classes) - 1}, got {y!r}"
                + (", which means a missing class" if y == -1 else "")
            )
        self._numbers[y] = int(self.model_.join(lambda: target.join(np.array([y])))[0])

    def _row(self, instance: Instance) -> NDArray[np.float32]:
        x: NDArray[Any] = instance.x
        n_dims = self.model_.engine.n_dims
        if x.shape != (n_dims,):
            raise ValueError(f"x must have shape ({n_dims},), got {x.shape}")
        row: NDArray[np.float32] = as_rows(x[np.newaxis])
        return row


@constructed
class AdaptiveForestClassifier(AdaptiveSettings, OnlineForestClassifier):
    """A forest for streams whose classes change over time.

    `riparian.AdaptiveForestClassifier` with CapyMOA's interface: leaves favour recent points, and a
    tree whose error rises is replaced by an empty one. Given the same points, both are the same forest,
    to the last bit.

    Parameters
    ----------
    schema : capymoa.stream.Schema
        The attributes and the classes of the stream.
    random_seed : int
        The same seed and the same stream give the same forest, to the last bit.
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

    @property
    def replacements_(self) -> list[tuple[int, int]]:
        return self.model_.engine.replacements()
