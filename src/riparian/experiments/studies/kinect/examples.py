"""What a forest predicts on whole pictures, kept to be drawn when the forest is gone."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riparian.depth.body.picture.render import Picture
from riparian.tools.files import write_whole

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
