"""Quantiles and intervals of a forest for numbers (R28)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.parameters.values import coverage as checked_coverage


def checked_quantiles(q: Any) -> NDArray[np.float64]:
    """Return quantiles as an array, or raise an error that names the first that is none."""
    try:
        quantiles = np.atleast_1d(np.asarray(q, dtype=np.float64))
    except (TypeError, ValueError):
        quantiles = np.full(1, np.nan)
    if quantiles.ndim != 1 or not ((quantiles >= 0) & (quantiles <= 1)).all():
        raise ValueError(f"q must hold numbers from 0 to 1, such as [0.05, 0.5, 0.95], got {q!r}")
    return quantiles


def check_has_neighbours(parameters: Any, *, prediction_only: bool) -> None:
    """Raise an error if the forest has no kept points whose targets could say how sure it is."""
    if not parameters.heads:
        raise ValueError(
            "quantiles and intervals come from the targets of kept points near a row, so they need a "
            f"forest with kept_points above 0 and eager=True, got kept_points={parameters.kept_points} "
            f"and eager={parameters.eager}"
        )
    if prediction_only:
        raise ValueError(
            "this forest was saved with prediction_only=True, without its kept points, and quantiles "
            "and intervals come from these; load a snapshot that was saved without it"
        )


def place_of_coverage(coverage: Any, learned: Sequence[float]) -> int:
    """Return the place of a coverage among those that a forest has learned, or raise an error."""
    coverage = checked_coverage("coverage", coverage)
    if coverage not in learned:
        known = ", ".join(map(repr, learned)) or "none"
        raise ValueError(
            f"coverage must be one that the forest has learned along the stream ({known}), got "
            f"{coverage!r}; make the forest with intervals=({coverage!r},), or use predict_quantiles, "
            "which promises no coverage"
        )
    return learned.index(coverage)
