"""`DepthForestClassifier`: the forest of the paper over depth images (section 5.3)."""

from __future__ import annotations

from riparian.depth.pixel_forest import PixelForestClassifier
from riparian.parameters.declare import constructed, described
from riparian.parameters.forests import (
    PaperParameters,
    PaperSettings,
    SaffariParameters,
    StreamParameters,
)
from riparian.parameters.schedules import Geometric, Schedule


@constructed
class DepthForestClassifier(PixelForestClassifier, PaperSettings):
    """The forest of `riparian.OnlineForestClassifier` for pixels of depth images.

    A feature is the difference of the depths at two places near a pixel. There are infinitely many
    features, and each leaf draws its own. The default number is smaller than in the paper's
    experiment, which has 2000 candidates.

    Parameters
    ----------
    candidate_dims : float
        λ: a leaf looks for its split in `1 + Poisson(λ)` pairs of places.
    As described in `riparian.parameters.forests.PaperSettings`.
    """

    _parameters_class = PaperParameters

    n_estimators: int = described(default=25, kw_only=False)
    candidate_dims: float = described(default=200.0)
    min_gain: float = described(default=0.01)
    alpha: Schedule = described(default=Geometric(25, 1.01))
    beta: float | Schedule = described(default=4.0)
    fringe_size: int | None = described(default=40)

    def _checked_parameters(self) -> StreamParameters | SaffariParameters:
        if isinstance(self.candidate_dims, str):
            raise ValueError(
                f"candidate_dims must be a number, because there are infinitely many dimensions; "
                f"got {self.candidate_dims!r}"
            )
        return super()._checked_parameters()
