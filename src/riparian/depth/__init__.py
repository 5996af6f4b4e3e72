"""Forests over depth images: a class for every pixel, from differences of depth around it (R16).

>>> from riparian.depth import DepthForestClassifier, sample_pixels
>>> from riparian.depth.body import Pictures, RandomPoses
>>> pictures = Pictures(RandomPoses(10), size=(80, 60))
>>> forest = DepthForestClassifier(n_estimators=3, candidate_dims=20, random_state=0)
>>> for i in range(10):
...     depth, parts = pictures[i]
...     pixels, labels = sample_pixels(parts[None], random_state=i)
...     forest = forest.partial_fit(depth[None], pixels, labels)
>>> forest.predict_image(depth).shape
(60, 80)
"""

from riparian.depth.forest import DepthForestClassifier
from riparian.depth.pixels import sample_pixels
from riparian.depth.saffari import DepthSaffariClassifier

__all__ = ["DepthForestClassifier", "DepthSaffariClassifier", "sample_pixels"]
