"""The way out: from a forest to bytes."""

from __future__ import annotations

import copy
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from riparian.engine import native
from riparian.parameters.forests import OF_ROWS
from riparian.snapshot import categories
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.header import CLASSES, DepthImages, Header, Rows
from riparian.snapshot.memory import gives_memory_back
from riparian.snapshot.state import encode

if TYPE_CHECKING:
    from riparian.sklearn.base import ForestClassifier


@gives_memory_back
def to_bytes(
    forest: ForestClassifier,
    *,
    prediction_only: bool = False,
    extra: dict[str, Any] | None = None,
) -> bytes:
    """The forest as a snapshot; `extra` is what a program keeps with it (see `extra.py`)."""
    check_is_fitted(forest)
    forest._workers()
    with forest._native.learning:
        state = forest._native.save()
        header = header_of(forest, state.points)
        tables = copy.copy(getattr(forest._native, "categories", None))
    header = replace(header, prediction_only=prediction_only or header.prediction_only, extra=extra)
    return encode(header, state, tables)


def header_of(forest: ForestClassifier, points: int) -> Header:
    """What a snapshot says of a forest that has received so many points; no batch may come meanwhile."""
    cls = saved_class(forest)
    names = cls._get_param_names()
    chosen = {name: value for name, value in forest.get_params(deep=False).items() if name in names}
    if not isinstance(forest.random_state, Integral):
        chosen["random_state"] = None  # the engine has the seed that was drawn
    chosen = {name: value for name, value in chosen.items() if not _is_left_out(name, value)}
    engine, labels = forest._engine_and_labels
    return Header(
        estimator_class=cls.__name__,
        prediction_only=forest._prediction_only,
        estimator=chosen,
        parameters=engine.parameters,
        space=_space(engine, getattr(forest, "feature_names_in_", None)),
        points=points,
        labels=copy.copy(labels),
        class_weights=copy.copy(forest._class_weights),
        history=forest._history,
    )


def _is_left_out(name: str, value: Any) -> bool:
    """What joined after the format (R22) is written only where it is not the default."""
    default = OF_ROWS[name].default if name in OF_ROWS else None
    return default is not None and isinstance(value, type(default)) and bool(value == default)


def saved_class(forest: ForestClassifier) -> type[ForestClassifier]:
    """Our class that a snapshot names, also for one that was derived from it."""
    for cls in type(forest).__mro__:
        if cls.__name__ in CLASSES and cls.__module__.startswith("riparian."):
            return cls
    raise SnapshotError("header", f"a {type(forest).__name__} cannot be saved")


def _space(engine: Any, names: Any) -> Rows | DepthImages:
    if isinstance(engine, native.DepthEngine):
        return DepthImages(engine.offset_std, engine.far)
    return Rows(
        engine.n_dims,
        None if names is None else names.tolist(),
        engine.sparse,
        categories.header_of(getattr(engine, "categories", None)),
    )
