"""Model files: a snapshot of the forest that also says what its columns are.

`riparian.load` reads them like any snapshot, and snapshots saved from Python are models too: columns
are then known by the names of the features, or by their places alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from riparian.cli.errors import BadData, BadUsage, CommandError
from riparian.cli.features.saved import columns_from_state
from riparian.cli.features.table import Columns
from riparian.forest import OnlineForestClassifier
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.extra import from_bytes_with_extra, to_bytes_with_extra
from riparian.tools.files import write_whole

COLUMNS, LEARNING = "columns", "learning"  # what the extra part of a snapshot may hold


@dataclass(frozen=True)
class Model:
    """What a file holds."""

    path: str
    size: int  # of the file, in bytes
    forest: OnlineForestClassifier  # without the names of its features: it is fed arrays
    feature_names: list[str] | None
    columns: Columns | None  # None if it was saved from Python
    learning: dict[str, Any] | None  # what a checkpoint has in addition


def load_model(path: Path, threads: int | None = None) -> Model:
    """The model in a file; whatever is wrong with it is told as bad data."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, IsADirectoryError) as error:
        raise BadUsage(f"{path}: {error.strerror}") from None
    try:
        forest, extra = from_bytes_with_extra(data)
        columns = _columns(extra, forest)
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


def _columns(extra: dict[str, Any] | None, forest: OnlineForestClassifier) -> Columns | None:
    if extra is None or COLUMNS not in extra:
        return None
    columns = columns_from_state(extra[COLUMNS])
    if columns.n_features != forest.n_features_in_:
        raise ValueError(
            f"the columns give {columns.n_features} features, the forest has {forest.n_features_in_}"
        )
    return columns


@contextmanager
def named(forest: OnlineForestClassifier, names: list[str] | None) -> Iterator[None]:
    """The forest with the names of its features, for whoever looks at it or loads it in Python.

    While it is fed, it is without them: it would ask every array for its names.
    """
    if names is not None:
        forest.feature_names_in_ = np.array(names, dtype=object)
    try:
        yield
    finally:
        if names is not None:
            del forest.feature_names_in_


def model_bytes(
    forest: OnlineForestClassifier, columns: Columns, learning: dict[str, Any] | None = None
) -> bytes:
    """The same forest and columns give the same bytes, however many threads have learned it."""
    threads, forest.n_jobs = forest.n_jobs, None
    extra = {COLUMNS: columns.state(), **({} if learning is None else {LEARNING: learning})}
    with named(forest, columns.feature_names):
        data = to_bytes_with_extra(forest, extra)
    forest.n_jobs = threads
    return data


def write_file(path: Path, data: bytes, what: str) -> None:
    """Whole or not at all; an error says what could not be written, and why."""
    try:
        write_whole(path, data)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise CommandError(f"{path}: the {what} could not be written: {why}") from error


def check_can_write(path: Path, option: str) -> None:
    """Better to hear of it now than after hours of learning."""
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise BadUsage(f"{option} {path}: no file can be written there")
