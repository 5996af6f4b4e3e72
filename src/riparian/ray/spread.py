"""Forests over rows with their trees in shards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from riparian.loading import forest_of
from riparian.model.classes import Classes
from riparian.model.model import Model, Origin
from riparian.model.target import Target
from riparian.model.weights import ClassWeights, Weights
from riparian.parameters.declare import constructed, described
from riparian.parameters.forests import OF_ESTIMATORS, SaffariParameters
from riparian.ray import cluster
from riparian.ray.dataset import tables
from riparian.ray.errors import CheckpointError
from riparian.ray.folder import Folder
from riparian.ray.plan import OPTIONS, Options, Plan, ShardSettings
from riparian.ray.shards import Shards, pattern_of
from riparian.ray.starting import find
from riparian.sklearn.base import origin_of, saved_class
from riparian.sklearn.row_forest import RowForest
from riparian.snapshot import container
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.header import CLASSES, Header, read
from riparian.snapshot.size import default_max_bytes
from riparian.snapshot.state import engine_of

Class = TypeVar("Class", bound=type)

SPREAD: dict[str, type[Spread]] = {}  # by the name of the class that they spread


class ShardedModel(Model):
    """A model whose engine is `Shards`: it sends every batch with the header after that batch."""

    engine: Shards
    origin: Origin  # the estimator's, as of the last batch

    def _feed(
        self,
        points: Any,
        arrivals: NDArray[Any],
        weights: Weights | None,
        rows: int,
        workers: int,
    ) -> None:
        if rows > 0:
            header = self.header(self.origin, self.engine.points)
            self.engine.send(points, arrivals, weights, rows, header, workers)

    def predict_then_learn(
        self, points: Any, y: NDArray[Any], weights: Weights | None, workers: int
    ) -> NDArray[np.float64]:
        """Ask the shards about each row, then let them learn it: exact, and slow."""
        ask = self._probabilities if isinstance(self.target, Classes) else self.predict
        answers: list[Any] = []
        for i in range(len(y)):
            row = slice(i, i + 1)
            answers.append(ask(points[row], workers))
            self.learn(points[row], y[row], None if weights is None else weights[row], workers)
        if not isinstance(self.target, Classes):
            return np.array([number for [number] in answers])
        classes = self.target.classes
        out = np.zeros((len(y), len(classes)))
        for i, (known, proba) in enumerate(answers):
            out[i, np.searchsorted(classes, known)] = proba
        return out

    def _probabilities(self, point: Any, workers: int) -> tuple[NDArray[Any], Any]:
        """Return the classes that are known, and the probability of each for a single point."""
        known = self.class_target.classes
        return known, self.predict_proba(point, workers)[0][0] if len(known) else []


@constructed
class Spread(ShardSettings, RowForest):
    """The base of forests in shards. They inherit input validation and snapshots from the forest."""

    n_jobs: int | None = described(
        default=None,
        help="The number of threads of each shard; -1 means one per processor of its node.",
    )

    model_: ShardedModel
    answers_in_turn = False  # each row would be a question to all shards

    # -- starting and ending ----------------------------------------------------------------------

    def _empty_engine(self) -> Any:
        """Check the parameters; `_start` starts the shards."""
        cluster.join()
        empty = super()._empty_engine()
        coverages = empty.parameters.intervals
        if coverages:
            raise ValueError(
                f"intervals must be () for a forest in shards, got {coverages!r}: their levels need all "
                "trees; leave it out, or learn in a single process"
            )
        one_tree = type(empty)(**{**empty.arguments(), "trees": range(1)})
        options = Options(**{name: getattr(self, name) for name in OPTIONS})
        return Shards(one_tree, Plan.of(options, empty.parameters.n_trees))

    def _new_model(self, target: Target, weights: ClassWeights) -> Model:
        names = getattr(self, "feature_names_in_", None)
        raw, engine = self._raw_columns, self._empty_engine()
        return ShardedModel(engine, target, weights, feature_names=names, raw_columns=raw)

    def _start(self, target: Target) -> None:
        before = self.model_.engine if self._started() else None
        super()._start(target)
        if before is not None:
            before.shutdown(keep_checkpoints=False)
        self.model_.engine.start(self.model_.header(origin_of(self), 0))

    @classmethod
    def from_forest(cls, forest: RowForest, n_shards: int | None = None, **options: Any) -> Any:
        """Spread a forest over shards; the given one does not change.

        `options` are `name`, `checkpoint_dir`, `checkpoint_every` and `in_flight`. The number of the
        next row is the number of points that the forest has learned. If it has not learned any, the
        shards start with the first batch.
        """
        cls = spread_class(saved_class(forest).__name__)
        if not forest.__sklearn_is_fitted__():
            chosen = {**forest.get_params(deep=False), "n_shards": n_shards, **options}
            return cls(**chosen)
        header, state, tables = forest.model_.saved(origin_of(forest))
        cluster.join()
        plan = Plan.of(Options(n_shards=n_shards, **options), header.parameters.n_trees)
        shards = Shards(pattern_of(header, tables), plan)
        shards.start(header)
        rows = forest.points_ if isinstance(forest, Spread) else state.points
        shards.adopt(header, state, rows)
        model = ShardedModel.of_header(header, shards)
        named = hasattr(forest, "feature_names_in_")
        return forest_of(header, model, cls, named=named, **vars(plan.options))

    def gather(self) -> Any:
        """Return the same forest in this process, as the class that was spread."""
        check_is_fitted(self)
        header, state, tables = self.model_.saved(origin_of(self))
        model = Model.of_header(header, engine_of(header, state, tables))
        return forest_of(header, model, named=hasattr(self, "feature_names_in_"))

    @classmethod
    def attach(cls, name: str) -> Any:
        """Continue with a named forest on this cluster, after the program that started it has ended.

        `points_` is the smallest number of rows that any shard has learned: send the stream again from
        there, in batches of any size. Shards skip the rows that they have learned already.
        """
        cluster.join()
        started, plan, header = find(OPTIONS["name"].checked(name))
        shards = Shards(pattern_of(header), plan)
        shards.connect(started)
        return cls._gone_on(shards)

    @classmethod
    def from_checkpoints(cls, checkpoint_dir: Any, name: str, **options: Any) -> Any:
        """Continue with a forest from its checkpoints, after its cluster has ended.

        `points_` is as after `attach`. The number of shards stays the same. `options` are
        `checkpoint_every` and `in_flight`.
        """
        cluster.join()
        asked = Options(name=name, checkpoint_dir=checkpoint_dir, **options)
        plan = Plan.of(replace(asked, n_shards=1), n_trees=1)
        assert plan.folder is not None
        header, n_shards = _saved_in(plan.folder)
        shards = Shards(pattern_of(header), replace(plan, n_shards=n_shards, options=asked))
        shards.start(header, restored=True)
        return cls._gone_on(shards)

    @classmethod
    def _gone_on(cls, shards: Shards) -> Any:
        header = shards.go_on()
        model = ShardedModel.of_header(header, shards)
        return forest_of(
            header, model, spread_class(header.estimator_class), **vars(shards.plan.options)
        )

    def shutdown(self, *, keep_checkpoints: bool = False) -> None:
        """End the shards. Unsaved trees are lost, unless the checkpoints are kept.

        A forest without a name also ends with the program, or when nothing refers to it.
        """
        if self._started():
            self.model_.engine.shutdown(keep_checkpoints=keep_checkpoints)

    # -- learning ---------------------------------------------------------------------------------

    @property
    def points_(self) -> int:
        """The number of rows given so far, which is the number of the next row.

        After `attach` and `from_checkpoints`, it is the smallest number that any shard has learned.
        """
        if not self._started():
            raise AttributeError("points_: this forest has not learned anything yet")
        return int(self.model_.engine.rows)

    def _learn(self, points: Any, y: NDArray[Any], weights: Weights | None) -> None:
        self._get_ready()
        super()._learn(points, y, weights)

    def _predict_then_learn(
        self, points: Any, y: NDArray[Any], weights: Weights | None
    ) -> NDArray[np.float64]:
        self._get_ready()
        return super()._predict_then_learn(points, y, weights)

    def _get_ready(self) -> None:
        self.model_.engine.check_checkpoints()  # before the labels of a batch join
        self.model_.origin = origin_of(self)

    def _learn_passes(self, *args: Any) -> None:
        super()._learn_passes(*args)
        self.model_.engine.wait()

    def learn_dataset(
        self,
        dataset: Any,
        label: str,
        *,
        sample_weight: str | None = None,
        classes: Any = None,
        batch_rows: int = 50_000,
        start: int | None = None,
    ) -> Self:
        """Learn the rows of a `ray.data.Dataset` in their order, without loading all of them.

        Parameters
        ----------
        dataset : ray.data.Dataset
            The features are its columns other than `label` and `sample_weight`.
        label : str
            The column of the labels.
        sample_weight : str
            The column of the weights, if there is one.
        classes : array
            All labels, as in `partial_fit` of a classifier.
        batch_rows : int
            The number of rows per batch.
        start : int
            The number in the stream of the first row of the data set; by default, the next number.
            Rows before `points_` are skipped: 0 continues with a data set after `attach`.
        """
        given = {} if classes is None else {"classes": classes}
        for table in tables(dataset, batch_rows, self._rows_to_skip(start)):
            y = table.column(label).to_numpy()
            weights = None if sample_weight is None else table.column(sample_weight).to_numpy()
            others = [name for name in (label, sample_weight) if name is not None]
            X = table.drop_columns(others)
            self.partial_fit(X, _plain(y), sample_weight=weights, **given)
        if self._started():
            self.model_.engine.wait()
        return self

    def _rows_to_skip(self, start: int | None) -> int:
        there = self.points_ if self._started() else 0
        if start is None:
            return 0
        if start > there:
            raise ValueError(
                f"start must be at most points_, {there}, got {start}: rows would be missing"
            )
        return there - start

    def wait(self) -> Self:
        """Wait until every shard has learned all rows given so far.

        `partial_fit` returns while up to `in_flight` batches are in flight. You need not wait before
        you predict: a shard answers after it has learned the earlier rows.
        """
        self.model_.engine.wait()
        return self

    def checkpoint(self) -> Self:
        """Wait, and write a checkpoint of every shard now."""
        if self.model_.engine.folder is None:
            raise CheckpointError("checkpoint needs a checkpoint_dir, and this forest has none")
        self.model_.engine.checkpoint()
        return self

    def threads(self) -> int:
        """Return the number of threads of each shard; -1 means one per processor of its node."""
        n_jobs = OF_ESTIMATORS["n_jobs"].checked(self.n_jobs)
        return 1 if n_jobs is None else int(n_jobs)

    # -- looking inside ---------------------------------------------------------------------------

    def shards(self) -> list[dict[str, Any]]:
        """Return the known progress of each shard, without waiting for it.

        Per shard: its number, its `trees`, its `node` and `pid`, the `rows` that it has learned, the
        rows in its last `checkpoint` (None without checkpoints), and how often it was restarted.
        """
        return self.model_.engine.shards()

    def __getstate__(self) -> dict[str, Any]:
        if self._started():
            raise TypeError(
                "a forest in shards cannot be pickled or copied: use save and riparian.load, or "
                "give it a name and use attach"
            )
        return dict(super().__getstate__())


def spread_class(name: str) -> type[Spread]:
    """Return the class that spreads forests of the class of this name."""
    if CLASSES[name].parameters is SaffariParameters:
        raise TypeError(
            f"a {name} cannot be spread over shards: which tree it replaces depends on all trees (R18)"
        )
    if name not in SPREAD:
        raise TypeError(f"only forests over rows can be spread over shards, got a {name}")
    return SPREAD[name]


def spreads(Forest: type[RowForest]) -> Callable[[Class], Class]:
    """Register the class that spreads forests of another one; a class decorator."""

    def decorate(cls: Class) -> Class:
        SPREAD[Forest.__name__] = cls
        return cls

    return decorate


def _saved_in(folder: Folder) -> tuple[Header, int]:
    """Return the header of a checkpoint, and the number of shards."""
    checkpoints, n_shards = folder.checkpoints(), folder.n_shards()
    if n_shards is None:
        raise CheckpointError(f"there are no checkpoints in {folder}")
    missing = sorted({*range(n_shards)} - checkpoints.keys())
    if missing:
        raise CheckpointError(f"{folder} has no checkpoint of shard {missing[0]} of {n_shards}")
    error: SnapshotError | None = None
    for name in checkpoints[0]:
        try:
            text, stored = container.unpack(folder.read(name))
            container.check_digest(text, stored)
            about = container.read_json(text, "header")
            return replace(read(about, default_max_bytes()), part=None, extra=None), n_shards
        except SnapshotError as damaged:
            error = damaged
    raise CheckpointError(f"no complete checkpoint of shard 0 in {folder}: {error}")


def _plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Convert texts to numpy's type, as if they came from a list."""
    return np.array(labels.tolist()) if labels.dtype.kind == "O" else labels
