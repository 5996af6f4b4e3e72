"""What has happened to a forest that the theorem does not cover."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class History:
    """None means unknown: older snapshots do not say."""

    weighted: bool | None = None  # some point had a weight other than 1
    passes: int | None = None  # how often `fit` went through the same points

    @classmethod
    def new(cls, passes: int = 1) -> History:
        return cls(weighted=False, passes=passes)

    def with_weights(self, weights: NDArray[np.float64]) -> History:
        if self.weighted or (weights == 1).all():
            return self
        return replace(self, weighted=True)
