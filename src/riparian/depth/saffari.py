"""`DepthSaffariClassifier`: Saffari's forest over depth images, for comparison (section 5.3)."""

from __future__ import annotations

from riparian.depth.pixel_forest import PixelForestClassifier
from riparian.parameters.declare import constructed, described
from riparian.parameters.forests import SaffariParameters, SaffariSettings


@constructed
class DepthSaffariClassifier(PixelForestClassifier, SaffariSettings):
    """The forest of `riparian.SaffariForestClassifier` for pixels of depth images.

    Parameters
    ----------
    candidate_dims : int
        The number of pairs of places among which a leaf looks for its split.
    As described in `riparian.parameters.forests.SaffariSettings`.
    """

    _parameters_class = SaffariParameters

    n_estimators: int = described(default=25, kw_only=False)
    candidate_dims: int = described(default=200)
    min_gain: float = described(default=0.01)
    min_samples: int = described(default=25)
    max_depth: int | None = described(default=8)
