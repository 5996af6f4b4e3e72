"""From a file or from bytes to a forest in scikit-learn's form."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from riparian.adaptive import AdaptiveForestClassifier
from riparian.depth.forest import DepthForestClassifier
from riparian.depth.saffari import DepthSaffariClassifier
from riparian.forest import OnlineForestClassifier
from riparian.model.model import Model
from riparian.saffari import SaffariForestClassifier
from riparian.sklearn.base import ForestClassifier, origin_of
from riparian.snapshot.errors import SnapshotError, require
from riparian.snapshot.header import Header
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
    """Load a forest from a file. It goes on exactly where it was saved, as the class that was saved.

    A file that cannot be used raises a `SnapshotError`. Nothing in it is run. It may ask for
    `max_bytes` of memory at most, by default half of what the machine has.

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
    return from_bytes_with_extra(data, max_bytes=max_bytes)[0]


def from_bytes_with_extra(
    data: bytes, *, max_bytes: int | None = None, named: bool = True
) -> tuple[Any, dict[str, Any] | None]:
    """The forest, and what a program has kept with it (`to_bytes_with_extra`), if anything.

    A program that makes rows by itself loads it without names (`named=False`): otherwise the forest
    would expect them of every array.

    >>> import riparian
    >>> forest = riparian.OnlineForestClassifier(n_estimators=1).partial_fit([[0.0]], [1])
    >>> from_bytes_with_extra(to_bytes_with_extra(forest, {"unit": "metres"}))[1]
    {'unit': 'metres'}
    """
    header, engine = decode(bytes(data), max_bytes)
    return forest_of(header, Model.of_header(header, engine), named=named), header.extra


def to_bytes_with_extra(forest: ForestClassifier, extra: dict[str, Any]) -> bytes:
    """The forest as a snapshot, with any JSON object that a program keeps under the same checksum.

    It does not depend on `n_jobs`: the number of threads is a matter of the machine.
    """
    origin = origin_of(forest)
    if "n_jobs" in origin.estimator:
        origin = replace(origin, estimator={**origin.estimator, "n_jobs": None})
    return forest.model_.to_bytes(origin, extra=extra)


def forest_of(
    header: Header,
    model: Model,
    cls: type[ForestClassifier] | None = None,
    *,
    named: bool = True,
    **more: Any,
) -> Any:
    """The estimator around a model: of the saved class, or of `cls`, which derives from it."""
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
        forest.threads()
    except (TypeError, ValueError) as error:
        raise SnapshotError("header", str(error)) from None
    forest.adopt(model, named=named)
    return forest
