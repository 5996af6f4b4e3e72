"""The way back: from a file or from bytes to a forest."""

from __future__ import annotations

import os

import numpy as np

from riparian.engine import native
from riparian.forest import OnlineForestClassifier
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.header import Header
from riparian.snapshot.size import default_max_bytes
from riparian.snapshot.state import decode


def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> OnlineForestClassifier:
    """The forest that was saved to a file: it goes on as if it had never been away.

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


def from_bytes(data: bytes, *, max_bytes: int | None = None) -> OnlineForestClassifier:
    """The forest that `to_bytes` made into bytes; otherwise as `load`."""
    return forest_of(*decode(bytes(data), max_bytes))


def forest_of(header: Header, engine: native.ColumnEngine) -> OnlineForestClassifier:
    """The estimator around an engine that came back."""
    unknown = header.estimator.keys() - OnlineForestClassifier._get_param_names()
    if unknown:
        raise SnapshotError("header", f"estimator has no parameters {sorted(unknown)}")
    forest = OnlineForestClassifier(**header.estimator)
    try:
        forest._workers()
    except (TypeError, ValueError) as error:
        raise SnapshotError("header", str(error)) from None
    forest.n_features_in_ = header.n_features
    if header.feature_names is not None:
        forest.feature_names_in_ = np.array(header.feature_names, dtype=object)
    forest._class_weights = header.class_weights
    forest._history = header.history
    forest._prediction_only = header.prediction_only
    forest._adopt(engine, header.labels)
    return forest
