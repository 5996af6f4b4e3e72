"""A colour for each class, paler where the class is less certain; numbers have one, pale where small."""

from __future__ import annotations

import colorsys

import numpy as np
from numpy.typing import NDArray

from riparian.inspection.view import TreeView

# Most colour-blind readers can distinguish those at the beginning of the list.
FEW = (
    "#4477aa", "#ee7733", "#228833", "#aa3377", "#ccaa22",
    "#33bbcc", "#cc3344", "#8877cc", "#885533", "#99aa55",
)  # fmt: skip
NO_CLASS = np.array([0.93, 0.93, 0.93])
PALEST, FULLEST = 0.12, 0.72  # of a class's colour in a shade: black text must stay legible on it


def class_colours(n_classes: int) -> NDArray[np.float64]:
    """One colour (red, green, blue from 0 to 1) for each class."""
    if n_classes <= len(FEW):
        return np.array([rgb(colour) for colour in FEW[:n_classes]]).reshape(-1, 3)
    hues = np.arange(n_classes) / n_classes
    lightness = np.resize([0.42, 0.66, 0.54], n_classes)  # neighbours in hue differ in this
    return np.array([colorsys.hls_to_rgb(*hl, 0.62) for hl in zip(hues, lightness, strict=True)])


def shades(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The colour of the likeliest class in each row, full where it is certain, pale where even.

    A row holds the share of each class; one of zeros has no class.
    """
    n_classes = shares.shape[-1]
    if n_classes == 0:
        return np.broadcast_to(NO_CLASS, (*shares.shape[:-1], 3)).copy()
    largest = shares.max(axis=-1)
    even = 1 / n_classes if n_classes > 1 else 0.0
    strength = np.clip((largest - even) / (1 - even), 0, 1)
    amount = (PALEST + (FULLEST - PALEST) * strength)[..., None]
    colour = class_colours(n_classes)[shares.argmax(axis=-1)]
    return np.where(largest[..., None] > 0, 1 - amount * (1 - colour), NO_CLASS)


def shades_of_numbers(numbers: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """The first colour, pale for the lowest number and full for the highest."""
    place = np.clip((numbers - low) / ((high - low) or 1.0), 0, 1)
    amount = (PALEST + (FULLEST - PALEST) * place)[..., None]
    colours: NDArray[np.float64] = 1 - amount * (1 - class_colours(1)[0])
    return colours


def shades_of_nodes(view: TreeView) -> NDArray[np.float64]:
    """The colour of each node of a tree: by its classes, or by its mean."""
    if len(view.means) == 0:
        return shades(shares_of(view.counts))
    return shades_of_numbers(view.means, *range_of(view.means))


def range_of(numbers: NDArray[np.float64]) -> tuple[float, float]:
    return float(numbers.min()), float(numbers.max())


def shares_of(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """η: the share of each class in a row of counts; zeros where there is no point."""
    totals = counts.sum(axis=-1, keepdims=True)
    return np.asarray(counts / np.maximum(totals, 1), dtype=np.float64)


def rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def hexadecimal(colour: NDArray[np.float64]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)
