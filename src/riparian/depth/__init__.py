"""Forests over depth images: they predict a class for every pixel, from nearby depths (R16).

>>> import numpy as np
>>> from riparian.depth import DepthForestClassifier, sample_pixels
>>> parts = np.zeros((60, 80), dtype=np.uint8)
>>> parts[20:40, 30:50] = 1  # a box 2 m away, in front of a wall
>>> depth = np.where(parts == 1, 2.0, 4.0).astype(np.float32)
>>> pixels, labels = sample_pixels(parts[None], random_state=0)
>>> forest = DepthForestClassifier(n_estimators=3, candidate_dims=20, random_state=0)
>>> forest.partial_fit(depth[None], pixels, labels).predict_image(depth).shape
(60, 80)
"""

from riparian.depth.forest import DepthForestClassifier
from riparian.depth.pixels import sample_pixels
from riparian.depth.saffari import DepthSaffariClassifier

__all__ = ["DepthForestClassifier", "DepthSaffariClassifier", "sample_pixels"]
