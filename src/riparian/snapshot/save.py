"""The way out: from a forest to bytes."""

from __future__ import annotations

import copy
from numbers import Integral
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from riparian.snapshot.header import Header
from riparian.snapshot.state import encode

if TYPE_CHECKING:
    from riparian.forest import OnlineForestClassifier


def to_bytes(
    forest: OnlineForestClassifier,
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
    names = getattr(forest, "feature_names_in_", None)
    engine, labels = forest._engine_and_labels
    with engine.learning:
        points, trees = engine.save()
        header = Header(
            prediction_only=prediction_only or forest._prediction_only,
            estimator=chosen,
            parameters=engine.parameters,
            n_features=engine.n_dims,
            feature_names=None if names is None else names.tolist(),
            points=points,
            labels=copy.copy(labels),
            class_weights=copy.copy(forest._class_weights),
            history=forest._history,
            extra=extra,
        )
    return encode(header, trees)
