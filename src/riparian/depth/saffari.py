"""`DepthSaffariClassifier`: Saffari's forest over depth images, to compare with (section 5.3)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from riparian.depth.pixel_forest import PixelForestClassifier
from riparian.parameters.docstrings import documented
from riparian.parameters.forests import SaffariParameters


@documented
class DepthSaffariClassifier(PixelForestClassifier):
    """The forest of `riparian.SaffariForestClassifier`, a point being a pixel of a depth image.

    Parameters
    ----------
    candidate_dims : int
        The number of pairs of places among which a leaf looks for its split.
    As described in `riparian.parameters.forests.SaffariParameters`.
    """

    _parameters_class = SaffariParameters

    def __init__(
        self,
        n_estimators: int = 25,
        *,
        candidate_dims: int = 200,
        offset_std: float = 75.0,
        far: float = 6.0,
        split_points: int = 10,
        thresholds: Literal["points", "range"] = "points",
        min_gain: float = 0.01,
        min_samples: int = 25,
        max_depth: int | None = 8,
        replacement_rate: float | None = None,
        voting: Literal["average", "majority"] = "average",
        passes: int = 1,
        shuffle: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.candidate_dims = candidate_dims
        self.offset_std = offset_std
        self.far = far
        self.split_points = split_points
        self.thresholds = thresholds
        self.min_gain = min_gain
        self.min_samples = min_samples
        self.max_depth = max_depth
        self.replacement_rate = replacement_rate
        self.voting = voting
        self.passes = passes
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
