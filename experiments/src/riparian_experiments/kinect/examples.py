"""Save the predictions of a forest on whole pictures, to draw them after the forest is gone."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riparian.tools.files import write_whole
from riparian.tools.optional import matplotlib
from riparian_experiments.body import COLOURS, draw_depth, draw_legend, draw_parts
from riparian_experiments.body.rendering import Picture
from riparian_experiments.figures import STYLE

MOST_EXAMPLES = 4  # pictures


class Examples(NamedTuple):
    """The first test pictures as a forest sees them, and features that its trees have chosen."""

    depth: NDArray[np.float32]  # (pictures, height, width)
    truth: NDArray[np.uint8]
    prediction: NDArray[np.uint8]
    confidence: NDArray[np.float32]  # the probability of what is predicted
    offsets: NDArray[np.float32]  # (features, 4): row and column of two offsets, of the first tree


def save_examples(file: Path, forest: Any, pictures: Sequence[Picture]) -> None:
    first = [pictures[i] for i in range(min(MOST_EXAMPLES, len(pictures)))]
    proba = [forest.predict_image_proba(depth) for depth, _ in first]
    examples = Examples(
        depth=np.stack([depth for depth, _ in first]),
        truth=np.stack([parts for _, parts in first]),
        prediction=np.stack([p.argmax(axis=-1).astype(np.uint8) for p in proba]),
        confidence=np.stack([p.max(axis=-1).astype(np.float32) for p in proba]),
        offsets=forest.offsets(0),
    )
    data = io.BytesIO()
    np.savez_compressed(data, **examples._asdict())
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, data.getvalue())


def read_examples(file: Path) -> Examples:
    with np.load(file, allow_pickle=False) as arrays:
        return Examples(*(arrays[name] for name in Examples._fields))


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
    """Draw the confidence on the body only: on the background it is so high that it would dominate."""
    on_body = np.ma.masked_where(examples.truth[i] == 0, examples.confidence[i])
    shades = matplotlib("pyplot").get_cmap("viridis").with_extremes(bad=tuple(COLOURS[0]))
    ax.set_axis_off()
    return ax.imshow(on_body, vmin=0, vmax=1, cmap=shades, interpolation="nearest")


MARGIN = 0.15  # of the height of the body


def frame_body(ax: Any, parts: NDArray[np.uint8]) -> None:
    """Show a square around the body; the area outside the picture stays empty."""
    rows, columns = np.nonzero(parts)
    middle = (rows.min() + rows.max()) / 2, (columns.min() + columns.max()) / 2
    half = (0.5 + MARGIN) * max(int(np.ptp(rows)), int(np.ptp(columns)), 1)
    ax.set_ylim(middle[0] + half, middle[0] - half)
    ax.set_xlim(middle[1] - half, middle[1] + half)
