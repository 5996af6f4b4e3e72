"""Load a forest from a file or from bytes, as an estimator."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from riparian.adaptive import AdaptiveForestClassifier, AdaptiveForestRegressor
from riparian.depth.forest import DepthForestClassifier
from riparian.depth.saffari import DepthSaffariClassifier
from riparian.forest import OnlineForestClassifier
from riparian.model.model import Model
from riparian.regressor import OnlineForestRegressor
from riparian.saffari import SaffariForestClassifier
from riparian.sklearn.base import Forest, origin_of
from riparian.snapshot.errors import SnapshotError, require
from riparian.snapshot.header import Header
from riparian.snapshot.memory import gives_memory_back
from riparian.snapshot.size import default_max_bytes
from riparian.snapshot.state import decode

# A file may name only these classes: nothing is imported because a file names it.
ESTIMATORS: dict[str, type[Forest]] = {
    cls.__name__: cls
    for cls in (
        OnlineForestClassifier,
        OnlineForestRegressor,
        AdaptiveForestClassifier,
        AdaptiveForestRegressor,
        SaffariForestClassifier,
        DepthForestClassifier,
        DepthSaffariClassifier,
    )
}


def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Any:
    """Load a forest from a file, as the class that was saved. It continues exactly where it was saved.

    A file that cannot be used raises a `SnapshotError`. Nothing in the file is executed. The forest may
    take at most `max_bytes` of memory, by default half of the machine's.

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
            raise SnapshotError(
                "size", f"the file has {asked} bytes, more than the limit of {limit}"
            )
        return from_bytes(file.read(), max_bytes=max_bytes)


@gives_memory_back
def from_bytes(data: bytes, *, max_bytes: int | None = None) -> Any:
    """Load a forest from the bytes of `to_bytes`; see `load`."""
    return from_bytes_with_extra(data, max_bytes=max_bytes)[0]


def from_bytes_with_extra(
    data: bytes, *, max_bytes: int | None = None, named: bool = True
) -> tuple[Any, dict[str, Any] | None]:
    """Return the forest, and the object that `to_bytes_with_extra` stored with it, or None.

    With `named=False` the forest takes plain arrays; otherwise it expects the names of its features.

    >>> import riparian
    >>> forest = riparian.OnlineForestClassifier(n_estimators=1).partial_fit([[0.0]], [1])
    >>> from_bytes_with_extra(to_bytes_with_extra(forest, {"unit": "metres"}))[1]
    {'unit': 'metres'}
    """
    header, engine = decode(bytes(data), max_bytes)
    return forest_of(header, Model.of_header(header, engine), named=named), header.extra


def to_bytes_with_extra(forest: Forest, extra: dict[str, Any]) -> bytes:
    """Return the forest as a snapshot, with a JSON object of the caller under the same checksum.

    The bytes do not depend on `n_jobs`: the number of threads belongs to the machine.
    """
    origin = origin_of(forest)
    if "n_jobs" in origin.estimator:
        origin = replace(origin, estimator={**origin.estimator, "n_jobs": None})
    return forest.model_.to_bytes(origin, extra=extra)


def forest_of(
    header: Header,
    model: Model,
    cls: type[Forest] | None = None,
    *,
    named: bool = True,
    **more: Any,
) -> Any:
    """Return the estimator for a model: of the saved class, or of its subclass `cls`."""
    require(
        header.part is None,
        "header",
        "expected a forest, got the checkpoint of one shard: use riparian.ray's attach, then save",
    )
    cls = ESTIMATORS[header.estimator_class] if cls is None else cls
    unknown = header.estimator.keys() - cls._get_param_names()
    if unknown:
        raise SnapshotError("header", f"{cls.__name__} has no parameters {sorted(unknown)}")
    forest = cls(**header.estimator, **more)
    try:
        forest.threads()
    except (TypeError, ValueError) as error:
        raise SnapshotError("header", str(error)) from None
    forest.adopt(model, named=named)
    return forest
