"""Depth, truth, prediction and confidence side by side (left half of fig:kinect-example)."""

from __future__ import annotations

from typing import Any

import numpy as np

from riparian.depth.body import COLOURS, draw_depth, draw_legend, draw_parts
from riparian.experiments.output.figures import STYLE
from riparian.experiments.studies.kinect.output.examples import Shown
from riparian.experiments.studies.kinect.output.framing import frame_body
from riparian.tools.optional import matplotlib

TITLES = ("depth", "truth", "prediction", "confidence")
ACROSS = 2.5  # inches of a picture


def draw_predictions(shown: Shown, title: str) -> Any:
    """A row for each picture. Confidence is shown where there is a body."""
    count = len(shown.depth)
    size = (ACROSS * len(TITLES) + 0.7, ACROSS * count + 1.6)
    with matplotlib("pyplot").rc_context({**STYLE, "axes.grid": False}):
        figure = matplotlib("figure").Figure(figsize=size, layout="constrained")
        figure.suptitle(title, fontsize=11)
        places = figure.subplots(count, len(TITLES), squeeze=False)
        for ax, name in zip(places[0], TITLES, strict=True):
            ax.set_title(name, fontsize=10)
        for i, (depth, truth, prediction, confidence) in enumerate(places):
            draw_depth(depth, shown.depth[i])
            draw_parts(truth, shown.truth[i])
            draw_parts(prediction, shown.prediction[i])
            shades = _draw_confidence(confidence, shown, i)
            for ax in places[i]:
                frame_body(ax, shown.truth[i])
        figure.colorbar(shades, ax=places[:, -1], shrink=0.8, pad=0.03)
        draw_legend(figure)
    return figure


def _draw_confidence(ax: Any, shown: Shown, i: int) -> Any:
    """The background is easy, and so sure that nothing else would stand out beside it."""
    on_body = np.ma.masked_where(shown.truth[i] == 0, shown.confidence[i])
    shades = matplotlib("pyplot").get_cmap("viridis").with_extremes(bad=tuple(COLOURS[0]))
    ax.set_axis_off()
    return ax.imshow(on_body, vmin=0, vmax=1, cmap=shades, interpolation="nearest")
