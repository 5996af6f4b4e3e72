"""Model files: a snapshot of the forest that also says what its columns are.

`riparian.load` reads them like any snapshot. Snapshots saved from Python are models too: their columns
are known by the names of the features, or else by position.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from riparian.forest import OnlineForestClassifier
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.extra import from_bytes_with_extra, to_bytes_with_extra
from riparian.sources.errors import BadData, BadUsage
from riparian.table.columns import ColumnPlan
from riparian.table.saved import COLUMNS, columns_of

LEARNING = "learning"  # what the extra part of a snapshot of a checkpoint holds besides COLUMNS


@dataclass(frozen=True)
class Model:
    """The content of a file."""

    path: str
    size: int  # of the file, in bytes
    forest: OnlineForestClassifier  # without the names of its features: it is fed arrays
    feature_names: list[str] | None
    columns: ColumnPlan | None  # None if it was saved from Python
    learning: dict[str, Any] | None  # what only a checkpoint has

    @property
    def n_features(self) -> int:
        return int(self.forest.n_features_in_)


def load_model(path: Path, threads: int | None = None) -> Model:
    """The model in a file. A damaged one is bad data."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, IsADirectoryError) as error:
        raise BadUsage(f"{path}: {error.strerror}") from None
    try:
        forest, extra = from_bytes_with_extra(data)
        if not isinstance(forest, OnlineForestClassifier):
            raise ValueError(
                f"a {type(forest).__name__}: the command line works with OnlineForestClassifier and "
                "AdaptiveForestClassifier"
            )
        columns = columns_of(extra, forest)
    except (SnapshotError, ValueError) as error:
        raise BadData(str(error), file=str(path)) from None
    if threads is not None:
        forest.n_jobs = threads
    names = getattr(forest, "feature_names_in_", None)
    if names is not None:
        del forest.feature_names_in_
    return Model(
        path=str(path),
        size=len(data),
        forest=forest,
        feature_names=None if names is None else names.tolist(),
        columns=columns,
        learning=None if extra is None else extra.get(LEARNING),
    )


@contextmanager
def named(forest: OnlineForestClassifier, names: list[str] | None) -> Iterator[None]:
    """The forest with the names of its features, to be looked at, or to be loaded in Python.

    While it learns and predicts it has none: with names, it would expect them of every array.
    """
    if names is not None:
        forest.feature_names_in_ = np.array(names, dtype=object)
    try:
        yield
    finally:
        if names is not None:
            del forest.feature_names_in_


def model_bytes(
    forest: OnlineForestClassifier, columns: ColumnPlan, learning: dict[str, Any] | None = None
) -> bytes:
    """The file of a model. It does not depend on how many threads were used to learn."""
    threads, forest.n_jobs = forest.n_jobs, None
    extra = {COLUMNS: columns.state(), **({} if learning is None else {LEARNING: learning})}
    with named(forest, columns.feature_names):
        data = to_bytes_with_extra(forest, extra)
    forest.n_jobs = threads
    return data
