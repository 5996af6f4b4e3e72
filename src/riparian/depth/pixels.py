"""Validate depth images and pixels, once, before anything is learned from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from riparian.engine.native import Pixels
from riparian.tools.checks import whole


def checked_pixels(depth: Any, pixels: Any, far: float) -> Pixels:
    """Return valid pixels to predict. A pixel without a return has the far depth."""
    images = checked_images(depth)
    places = checked_places(pixels, images.shape)
    return Pixels(with_far(images, far), places)


def checked_pixels_to_learn(depth: Any, pixels: Any, far: float) -> Pixels:
    """Return valid pixels to learn. They must have a return: otherwise they have no true class."""
    images = checked_images(depth)
    places = checked_places(pixels, images.shape)
    z = images[places[:, 0], places[:, 1], places[:, 2]]
    without_return = ~(z > 0)
    if without_return.any():
        i = int(np.argmax(without_return))
        image, row, column = places[i].tolist()
        raise ValueError(
            f"pixels to learn must have a return, but pixel {i} (image {image}, row {row}, "
            f"column {column}) has the depth {z[i]}"
        )
    return Pixels(with_far(images, far), places)


def checked_images(depth: Any) -> NDArray[np.float32]:
    """Return valid images of one size, in metres. 0 and NaN mean no return."""
    try:
        given = np.asarray(depth)
    except ValueError:
        raise ValueError("depth must hold images of one size, got different ones") from None
    if given.dtype == object:
        raise ValueError("depth must hold images of one size, got different ones")
    if given.dtype.kind not in "fiu":
        raise TypeError(f"depth must be numbers, in metres, got {given.dtype}")
    if given.ndim != 3 or 0 in given.shape[1:]:
        raise ValueError(f"depth must have the shape (images, height, width), got {given.shape}")
    if max(given.shape[1:]) > 2**20:
        raise ValueError(f"depth images must have at most 2^20 rows and columns, got {given.shape}")
    with np.errstate(over="ignore"):
        images = np.ascontiguousarray(given, dtype=np.float32)
    wrong = np.isinf(images) | (images < 0)
    if wrong.any():
        image, row, column = np.argwhere(wrong)[0].tolist()
        raise ValueError(
            "depth must be finite and not negative (0 or NaN: no return), got "
            f"{given[image, row, column]} at image {image}, row {row}, column {column}"
        )
    return images


def checked_places(pixels: Any, shape: tuple[int, ...]) -> NDArray[np.int32]:
    """Return valid rows of image, row and column, all inside the images."""
    places = np.asarray(pixels)
    if places.ndim != 2 or places.shape[1] != 3:
        raise ValueError(
            f"pixels must have the shape (pixels, 3), rows of image, row and column, "
            f"got {places.shape}"
        )
    if places.dtype.kind not in "iu" and places.size:
        raise TypeError(f"pixels must be whole numbers, got {places.dtype}")
    outside = (places < 0) | (places >= np.array(shape, dtype=np.int64))
    if outside.any():
        i = int(np.argmax(outside.any(axis=1)))
        raise ValueError(
            f"pixels must lie in the images, whose shape is {shape}, but pixel {i} is "
            f"{places[i].tolist()}"
        )
    return np.ascontiguousarray(places, dtype=np.int32)


def with_far(images: NDArray[np.float32], far: float) -> NDArray[np.float32]:
    """Replace no return by the far depth (R16)."""
    missing = ~(images > 0)
    return np.where(missing, np.float32(far), images) if missing.any() else images


def every_pixel(height: int, width: int, image: int = 0) -> NDArray[np.int32]:
    """Return all pixels of an image, row by row."""
    rows, columns = np.divmod(np.arange(height * width, dtype=np.int32), np.int32(width))
    return np.stack([np.full_like(rows, image), rows, columns], axis=1)


def sample_pixels(
    labels: ArrayLike,
    per_class: int = 50,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Draw pixels to learn, with labels: at most `per_class` of each class per image.

    `labels` has the shape (images, height, width). Pixels are drawn without replacement. Images
    keep their order; within an image the order is random.

    >>> import numpy as np
    >>> pixels, sampled = sample_pixels(np.eye(4, dtype=int)[None], per_class=3, random_state=0)
    >>> sorted(sampled.tolist())
    [0, 0, 0, 1, 1, 1]
    """
    images = np.asarray(labels)
    if images.ndim != 3:
        raise ValueError(f"labels must have the shape (images, height, width), got {images.shape}")
    whole("per_class", per_class, at_least=1, at_most=2**31)
    rng = check_random_state(random_state)
    drawn = [_sample(image.ravel(), per_class, rng) for image in images]
    flat = np.concatenate([np.zeros(0, dtype=np.intp), *drawn])
    image = np.repeat(np.arange(len(images)), [len(places) for places in drawn])
    row, column = np.divmod(flat, max(1, images.shape[2]))
    pixels = np.stack([image, row, column], axis=1).astype(np.int32)
    return pixels, images[image, row, column]


def _sample(labels: NDArray[Any], per_class: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    order = rng.permutation(len(labels))
    shuffled = labels[order]
    grouped = np.argsort(shuffled, kind="stable")  # each class, in random order
    _, starts, counts = np.unique(shuffled[grouped], return_index=True, return_counts=True)
    within = np.arange(len(labels)) - np.repeat(starts, counts)
    chosen = grouped[within < per_class]
    picked: NDArray[np.intp] = order[chosen]
    return rng.permutation(picked)
