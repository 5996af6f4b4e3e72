"""The way out: from a forest to bytes."""

from __future__ import annotations

import copy
from numbers import Integral
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from riparian.engine import native
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.header import CLASSES, DepthImages, Header, Rows
from riparian.snapshot.state import encode

if TYPE_CHECKING:
    from riparian.estimator.base import ForestClassifier


def to_bytes(
    forest: ForestClassifier,
    *,
    prediction_only: bool = False,
    extra: dict[str, Any] | None = None,
) -> bytes:
    """The forest as a snapshot; `extra` is what a program keeps with it (see `extra.py`)."""
    check_is_fitted(forest)
    forest._workers()
    chosen = forest.get_params(deep=False)
    if not isinstance(forest.random_state, Integral):
        chosen["random_state"] = None  # the engine has the seed that was drawn
    engine, labels = forest._engine_and_labels
    with engine.learning:
        state = engine.save()
        header = Header(
            estimator_class=_class_name(forest),
            prediction_only=prediction_only or forest._prediction_only,
            estimator=chosen,
            parameters=engine.parameters,
            space=_space(engine, getattr(forest, "feature_names_in_", None)),
            points=state.points,
            labels=copy.copy(labels),
            class_weights=copy.copy(forest._class_weights),
            history=forest._history,
            extra=extra,
        )
    return encode(header, state)


def _class_name(forest: ForestClassifier) -> str:
    """That of our class, also if it is one that was derived from it."""
    for cls in type(forest).__mro__:
        if cls.__name__ in CLASSES and cls.__module__.startswith("riparian."):
            return cls.__name__
    raise SnapshotError("header", f"a {type(forest).__name__} cannot be saved")


def _space(engine: native.Engine, names: Any) -> Rows | DepthImages:
    if isinstance(engine, native.DepthEngine):
        return DepthImages(engine.offset_std, engine.far)
    assert isinstance(engine, native.ColumnEngine)
    return Rows(engine.n_dims, None if names is None else names.tolist(), engine.sparse)
