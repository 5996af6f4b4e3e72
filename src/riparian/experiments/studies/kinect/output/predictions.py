"""Depth, truth, prediction and confidence side by side (left half of fig:kinect-example)."""

from __future__ import annotations

from typing import Any

import numpy as np

from riparian.depth.body import COLOURS, draw_depth, draw_legend, draw_parts
from riparian.experiments.output.figures import STYLE
from riparian.experiments.studies.kinect.examples import Examples
from riparian.experiments.studies.kinect.output.framing import frame_body
from riparian.tools.optional import matplotlib

TITLES = ("depth", "truth", "prediction", "confidence")
ACROSS = 2.5  # inches of a picture


def draw_predictions(examples: Examples, title: str) -> Any:
    """One row per picture. Confidence is shown only on the body."""
    count = len(examples.depth)
    size = (ACROSS * len(TITLES) + 0.7, ACROSS * count + 1.6)
    with matplotlib("pyplot").rc_context({**STYLE, "axes.grid": False}):
        figure = matplotlib("figure").Figure(figsize=size, layout="constrained")
        figure.suptitle(title, fontsize=11)
        places = figure.subplots(count, len(TITLES), squeeze=False)
        for ax, name in zip(places[0], TITLES, strict=True):
            ax.set_title(name, fontsize=10)
        for i, (depth, truth, prediction, confidence) in enumerate(places):
            draw_depth(depth, examples.depth[i])
            draw_parts(truth, examples.truth[i])
            draw_parts(prediction, examples.prediction[i])
            shades = _draw_confidence(confidence, examples, i)
            for ax in places[i]:
                frame_body(ax, examples.truth[i])
        figure.colorbar(shades, ax=places[:, -1], shrink=0.8, pad=0.03)
        draw_legend(figure)
    return figure


def _draw_confidence(ax: Any, examples: Examples, i: int) -> Any:
    """On the body only: the forest is so sure of the background that nothing else would stand out."""
    on_body = np.ma.masked_where(examples.truth[i] == 0, examples.confidence[i])
    shades = matplotlib("pyplot").get_cmap("viridis").with_extremes(bad=tuple(COLOURS[0]))
    ax.set_axis_off()
    return ax.imshow(on_body, vmin=0, vmax=1, cmap=shades, interpolation="nearest")
