"""Depth images and pixels at the door: checked once, before anything is learned of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from riparian.engine.native import Pixels
from riparian.tools.checks import whole


def checked_pixels(depth: Any, pixels: Any, far: float) -> Pixels:
    """Pixels to predict: one that has no return is as far away as can be."""
    images = checked_images(depth)
    places = checked_places(pixels, images.shape)
    return Pixels(with_far(images, far), places)


def checked_pixels_to_learn(depth: Any, pixels: Any, far: float) -> Pixels:
    """Pixels to learn have a return: what they show would not be known otherwise."""
    images = checked_images(depth)
    places = checked_places(pixels, images.shape)
    z = images[places[:, 0], places[:, 1], places[:, 2]]
    nowhere = ~(z > 0)
    if nowhere.any():
        i = int(np.argmax(nowhere))
        image, row, column = places[i].tolist()
        raise ValueError(
            f"pixels to learn must have a return, but pixel {i} (image {image}, row {row}, "
            f"column {column}) has the depth {z[i]}"
        )
    return Pixels(with_far(images, far), places)


def checked_images(depth: Any) -> NDArray[np.float32]:
    """Images of one size, in metres. 0 and NaN stand for no return."""
    try:
        found = np.asarray(depth)
    except ValueError:
        raise ValueError("depth must hold images of one size, got different ones") from None
    if found.dtype == object:
        raise ValueError("depth must hold images of one size, got different ones")
    if found.dtype.kind not in "fiu":
        raise TypeError(f"depth must hold numbers of metres, got {found.dtype}")
    if found.ndim != 3 or 0 in found.shape[1:]:
        raise ValueError(f"depth must have the shape (images, height, width), got {found.shape}")
    if max(found.shape[1:]) > 2**20:
        raise ValueError(f"depth images must have at most 2^20 rows and columns, got {found.shape}")
    with np.errstate(over="ignore"):
        images = np.ascontiguousarray(found, dtype=np.float32)
    wrong = np.isinf(images) | (images < 0)
    if wrong.any():
        image, row, column = np.argwhere(wrong)[0].tolist()
        raise ValueError(
            "depth must be finite and not negative (0 or NaN: no return), got "
            f"{found[image, row, column]} at image {image}, row {row}, column {column}"
        )
    return images


def checked_places(pixels: Any, shape: tuple[int, ...]) -> NDArray[np.int32]:
    """Rows of image, row and column, all inside."""
    found = np.asarray(pixels)
    if found.ndim != 2 or found.shape[1] != 3:
        raise ValueError(
            f"pixels must have the shape (pixels, 3), rows of image, row and column, "
            f"got {found.shape}"
        )
    if found.dtype.kind not in "iu" and found.size:
        raise TypeError(f"pixels must be whole numbers, got {found.dtype}")
    outside = (found < 0) | (found >= np.array(shape, dtype=np.int64))
    if outside.any():
        i = int(np.argmax(outside.any(axis=1)))
        raise ValueError(
            f"pixels must lie in the images, whose shape is {shape}, but pixel {i} is "
            f"{found[i].tolist()}"
        )
    return np.ascontiguousarray(found, dtype=np.int32)


def with_far(images: NDArray[np.float32], far: float) -> NDArray[np.float32]:
    """R16: where there is no return, the far depth is read."""
    missing = ~(images > 0)
    return np.where(missing, np.float32(far), images) if missing.any() else images


def every_pixel(height: int, width: int, image: int = 0) -> NDArray[np.int32]:
    """All pixels of an image, row by row."""
    rows, columns = np.divmod(np.arange(height * width, dtype=np.int32), np.int32(width))
    return np.stack([np.full_like(rows, image), rows, columns], axis=1)


def sample_pixels(
    labels: ArrayLike,
    per_class: int = 50,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Pixels to learn, and their labels: `per_class` of each class in each image, or all there are.

    `labels` has the shape (images, height, width). They are drawn without replacement, and those of
    an image come in random order, one image after the other.

    >>> import numpy as np
    >>> pixels, found = sample_pixels(np.eye(4, dtype=int)[None], per_class=3, random_state=0)
    >>> sorted(found.tolist())
    [0, 0, 0, 1, 1, 1]
    """
    images = np.asarray(labels)
    if images.ndim != 3:
        raise ValueError(f"labels must have the shape (images, height, width), got {images.shape}")
    whole("per_class", per_class, at_least=1, at_most=2**31)
    rng = check_random_state(random_state)
    drawn = [_sample(image.ravel(), per_class, rng) for image in images]
    flat = np.concatenate([np.zeros(0, dtype=np.intp), *drawn])
    image = np.repeat(np.arange(len(images)), [len(some) for some in drawn])
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
