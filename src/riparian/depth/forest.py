"""`DepthForestClassifier`: the forest of the paper over depth images (section 5.3)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from riparian.depth.pixel_forest import PixelForestClassifier
from riparian.parameters.docstrings import documented
from riparian.parameters.forests import Parameters, SaffariParameters
from riparian.parameters.schedules import Geometric, Schedule


@documented
class DepthForestClassifier(PixelForestClassifier):
    """The forest of `riparian.OnlineForestClassifier`, a point being a pixel of a depth image.

    A leaf looks for its split among differences of depth at two places near a pixel. There are
    infinitely many of them, and each leaf draws its own. The defaults are smaller than in the
    paper's experiment, which has 2000 candidates.

    Parameters
    ----------
    candidate_dims : float
        λ: a leaf looks for its split in `1 + Poisson(λ)` pairs of places.
    As described in `riparian.parameters.forests.Parameters`.
    """

    _parameters_class = Parameters

    def __init__(
        self,
        n_estimators: int = 25,
        *,
        candidate_dims: float = 200.0,
        offset_std: float = 75.0,
        far: float = 6.0,
        split_points: int = 10,
        min_gain: float = 0.01,
        alpha: Schedule = Geometric(25, 1.01),  # noqa: B008, frozen
        beta: float | Schedule = 4.0,
        structure_fraction: float = 0.5,
        ignore_fraction: float = 0.0,
        fringe_size: int | None = 40,
        kept_points: int | Literal["auto"] = "auto",
        max_memory: int | str | None = "512MB",
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
        self.min_gain = min_gain
        self.alpha = alpha
        self.beta = beta
        self.structure_fraction = structure_fraction
        self.ignore_fraction = ignore_fraction
        self.fringe_size = fringe_size
        self.kept_points = kept_points
        self.max_memory = max_memory
        self.voting = voting
        self.passes = passes
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _checked_parameters(self) -> Parameters | SaffariParameters:
        if isinstance(self.candidate_dims, str):
            raise ValueError(
                f"candidate_dims must be a number, since there are infinitely many dimensions, "
                f"got {self.candidate_dims!r}"
            )
        return super()._checked_parameters()
