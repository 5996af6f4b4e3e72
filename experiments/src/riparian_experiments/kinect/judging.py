"""Measure the accuracy of a forest on every pixel of the test pictures that shows a body."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian_experiments.body import PART_NAMES
from riparian_experiments.body.rendering import Picture
from riparian_experiments.kinect.stream import body_pixels

BODY_PARTS = PART_NAMES[1:]


def confusion(forest: Any, pictures: Iterable[Picture]) -> NDArray[np.int64]:
    """Count the body pixels of each part (row) that the forest predicts as each class (column).

    It may predict any of the 20 classes, including the background.
    """
    classes = len(PART_NAMES)
    confused = np.zeros((classes, classes), dtype=np.int64)
    for depth, parts in pictures:
        depth, pixels, truth = body_pixels(depth, parts)
        answer = forest.predict(depth, pixels)
        pairs = truth.astype(np.int64) * classes + answer
        confused += np.bincount(pairs, minlength=classes**2).reshape(classes, classes)
    return confused


def accuracies(confused: NDArray[np.int64]) -> dict[str, float]:
    """Return the accuracy over all pixels (the paper's measure), per part, and the mean over parts.

    A part that no picture shows has the accuracy NaN, which the mean ignores.

    >>> confused = np.zeros((20, 20), dtype=np.int64)
    >>> confused[1, 1], confused[2, 2], confused[2, 0] = 6, 1, 1
    >>> shares = accuracies(confused)
    >>> shares["accuracy"], shares["part_mean"], shares["head"], shares["chest left"]
    (0.875, 0.75, 1.0, 0.5)
    """
    right, pixels = np.diag(confused)[1:], confused.sum(axis=1)[1:]
    with np.errstate(invalid="ignore"):
        share = right / pixels
    return {
        "accuracy": float(right.sum() / pixels.sum()),
        "part_mean": float(np.nanmean(share)),
        **dict(zip(BODY_PARTS, share.tolist(), strict=True)),
    }
