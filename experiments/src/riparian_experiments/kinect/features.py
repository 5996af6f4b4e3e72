"""Draw features that a tree has chosen on a depth image (right half of fig:kinect-example)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riparian.depth.reference import REFERENCE_DEPTH, moved
from riparian.tools.optional import matplotlib
from riparian_experiments.body import draw_depth
from riparian_experiments.figures import INK, STYLE
from riparian_experiments.kinect.examples import Examples, frame_body

MOST_FEATURES = 3
BOXES = ("#d62728", "white")  # as in the paper: the first place minus the second

Place = NDArray[np.int64]  # row and column


class Feature(NamedTuple):
    """The two places in the picture that a feature reads for a pixel, and their depths."""

    places: NDArray[np.int64]  # (2, 2)
    depths: NDArray[np.float32]

    @property
    def value(self) -> float:
        return float(self.depths[0] - self.depths[1])


def places_of(pixel: Place, z: np.float32, offsets: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the two places of a feature: the more distant the pixel, the closer they are to it (R16).

    >>> offsets = np.array([-5, 0, 0, 7], dtype=np.float32)
    >>> places_of(np.array([10, 10]), np.float32(4), offsets).tolist()
    [[8, 10], [10, 13]]
    """
    scale = REFERENCE_DEPTH / z
    by = [moved(float(offset), scale) for offset in offsets]
    return np.asarray(pixel + np.array(by, dtype=np.int64).reshape(2, 2))


def draw_features(examples: Examples) -> Any:
    """Draw the first features of the first tree that are not 0 at a pixel in the middle of the body.

    The cross marks the pixel. The feature is the depth in the red box minus that in the white one.
    """
    depth, parts = examples.depth[0], examples.truth[0]
    pixel = _middle(parts)
    chosen = telling_features(depth, pixel, examples.offsets)[:MOST_FEATURES]
    columns = max(1, len(chosen))
    with matplotlib("pyplot").rc_context({**STYLE, "axes.grid": False}):
        figure = matplotlib("figure").Figure(figsize=(3.6 * columns, 4.0), layout="constrained")
        for ax, feature in zip(figure.subplots(1, columns, squeeze=False)[0], chosen, strict=False):
            draw_depth(ax, depth)
            frame_body(ax, parts)
            _draw_feature(ax, pixel, feature)
    return figure


def telling_features(
    depth: NDArray[np.float32], pixel: Place, offsets: NDArray[np.float32]
) -> list[Feature]:
    """Return features with both places in the picture, at different depths."""
    features = []
    for pair in offsets:
        places = places_of(pixel, depth[tuple(pixel)], pair)
        if (places >= 0).all() and (places < depth.shape).all():
            feature = Feature(places, depth[tuple(places.T)])
            if feature.value != 0:
                features.append(feature)
    return features


def _draw_feature(ax: Any, pixel: Place, feature: Feature) -> None:
    for (row, column), colour in zip(feature.places, BOXES, strict=True):
        ax.plot([pixel[1], column], [pixel[0], row], color=INK, linewidth=0.9, zorder=2)
        for edge, width in ((INK, 4.5), (colour, 2.5)):  # visible on light and on dark
            ax.plot(
                column, row, marker="s", markersize=12, markerfacecolor="none",
                markeredgecolor=edge, markeredgewidth=width, zorder=3,
            )  # fmt: skip
    ax.plot(*pixel[::-1], marker="x", color=INK, markersize=9, markeredgewidth=2.5, zorder=4)
    first, second = feature.depths
    title = f"{first:.2f} m - {second:.2f} m = {feature.value:+.2f} m"
    ax.set_title(title.replace("-", "−"), fontsize=10)


def _middle(parts: NDArray[np.uint8]) -> Place:
    """Return the body pixel nearest to the middle of the body."""
    body = np.argwhere(parts)
    away = ((body - body.mean(axis=0)) ** 2).sum(axis=1)
    return np.asarray(body[int(np.argmin(away))])
