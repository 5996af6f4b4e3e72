"""The way back: from a file or from bytes to a forest."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from riparian.adaptive import AdaptiveForestClassifier
from riparian.depth.forest import DepthForestClassifier
from riparian.depth.saffari import DepthSaffariClassifier
from riparian.forest import OnlineForestClassifier
from riparian.saffari import SaffariForestClassifier
from riparian.sklearn.base import ForestClassifier
from riparian.snapshot.errors import SnapshotError, require
from riparian.snapshot.header import Header, Rows
from riparian.snapshot.memory import gives_memory_back
from riparian.snapshot.size import default_max_bytes
from riparian.snapshot.state import decode

# A name in a file is one of these, or an error: nothing is imported because a file says so.
ESTIMATORS: dict[str, type[ForestClassifier]] = {
    cls.__name__: cls
    for cls in (
        OnlineForestClassifier,
        AdaptiveForestClassifier,
        SaffariForestClassifier,
        DepthForestClassifier,
        DepthSaffariClassifier,
    )
}


def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Any:
    """The forest that was saved to a file: it goes on as if it had never been away.

    It is of the class that was saved.

    Whatever is wrong with the file is told by a `SnapshotError`. Nothing in it is run. It may ask
    for `max_bytes` of memory at most, by default half of what the machine has.

    >>> import os, tempfile, riparian
    >>> forest = riparian.OnlineForestClassifier(n_estimators=3, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "forest.riparian")
    ...     forest.partial_fit([[0.0], [1.0]] * 50, ["no", "yes"] * 50).save(path)
    ...     riparian.load(path).predict([[1.0]])
    array(['yes'], dtype='<U3')
    """
    with open(path, "rb") as file:
        asked = os.fstat(file.fileno()).st_size
        limit = default_max_bytes() if max_bytes is None else max_bytes
        if asked > limit:
            raise SnapshotError("size", f"the file has {asked} bytes, more than {limit}")
        return from_bytes(file.read(), max_bytes=max_bytes)


@gives_memory_back
def from_bytes(data: bytes, *, max_bytes: int | None = None) -> Any:
    """The forest that `to_bytes` made into bytes; otherwise as `load`."""
    return forest_of(*decode(bytes(data), max_bytes))


def forest_of(
    header: Header, engine: Any, cls: type[ForestClassifier] | None = None, **more: Any
) -> Any:
    """The estimator around an engine that came back: of the saved class, or of one derived from it."""
    require(
        header.part is None,
        "header",
        "this is the checkpoint of one shard, not a forest: use riparian.ray's attach, and save",
    )
    cls = ESTIMATORS[header.estimator_class] if cls is None else cls
    unknown = header.estimator.keys() - cls._get_param_names()
    if unknown:
        raise SnapshotError("header", f"{cls.__name__} has no parameters {sorted(unknown)}")
    forest = cls(**header.estimator, **more)
    try:
        forest._workers()
    except (TypeError, ValueError) as error:
        raise SnapshotError("header", str(error)) from None
    if isinstance(header.space, Rows):
        forest.n_features_in_ = header.space.n_features
        forest._categorical = [] if header.categories is None else header.categories.columns
        if header.space.feature_names is not None:
            forest.feature_names_in_ = np.array(header.space.feature_names, dtype=object)
    forest._class_weights = header.class_weights
    forest._history = header.history
    forest._prediction_only = header.prediction_only
    forest._adopt(engine, header.labels)
    return forest
