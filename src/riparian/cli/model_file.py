"""Model files: a snapshot of a forest with a description of its columns.

`riparian.load` reads them like any snapshot. The command line also takes snapshots saved from Python. It
then matches columns by the names of the features or, if there are none, by position.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riparian.forest import OnlineForestClassifier
from riparian.loading import from_bytes_with_extra, to_bytes_with_extra
from riparian.regressor import OnlineForestRegressor
from riparian.snapshot.errors import SnapshotError
from riparian.sources.errors import BadData, BadUsage
from riparian.table.columns import ColumnPlan
from riparian.table.raw import COLUMNS
from riparian.table.saved import columns_of
from riparian.table.table import TableColumns

LEARNING = "learning"  # the key, next to COLUMNS, of what only a checkpoint holds


@dataclass(frozen=True)
class LoadedModel:
    """The content of a model file."""

    path: str
    size: int  # of the file, in bytes
    forest: Any  # takes plain arrays
    columns: ColumnPlan | None  # None if the file was saved from Python
    learning: dict[str, Any] | None  # None unless the file is a checkpoint

    @property
    def numbers(self) -> bool:
        """Return whether it predicts numbers, not classes."""
        return isinstance(self.forest, OnlineForestRegressor)

    @property
    def feature_names(self) -> list[str] | None:
        names: list[str] | None = self.forest.model_.feature_names
        return names

    @property
    def n_features(self) -> int:
        return int(self.forest.n_features_in_)


def load_model(path: Path, threads: int | None = None) -> LoadedModel:
    """Load a model file. A damaged file is bad data."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, IsADirectoryError) as error:
        raise BadUsage(f"{path}: {error.strerror}") from None
    try:
        forest, extra = from_bytes_with_extra(data, named=False)
        if not isinstance(forest, OnlineForestClassifier | OnlineForestRegressor):
            raise ValueError(
                "expected an OnlineForestClassifier, OnlineForestRegressor, AdaptiveForestClassifier "
                f"or AdaptiveForestRegressor, got a {type(forest).__name__}; use it from Python"
            )
        columns = columns_of(extra, forest.model_)
    except (SnapshotError, ValueError) as error:
        raise BadData(str(error), file=str(path)) from None
    if threads is not None:
        forest.n_jobs = threads
    return LoadedModel(
        path=str(path),
        size=len(data),
        forest=forest,
        columns=columns,
        learning=None if extra is None else extra.get(LEARNING),
    )


def model_bytes(
    forest: OnlineForestClassifier, columns: ColumnPlan, learning: dict[str, Any] | None = None
) -> bytes:
    """Return the bytes of a model file."""
    forest.model_.feature_names = columns.feature_names
    forest.model_.raw_columns = columns.raw if isinstance(columns, TableColumns) else None
    extra = {COLUMNS: columns.state(), **({} if learning is None else {LEARNING: learning})}
    return to_bytes_with_extra(forest, extra)
