"""What a forest says of whole pictures, kept to be drawn when all is done and the forest is gone."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riparian.depth.body.picture.render import Picture
from riparian.tools.files import write_whole

MOST_SHOWN = 4  # pictures


class Shown(NamedTuple):
    """The first test pictures as a forest sees them, and features that its trees have chosen."""

    depth: NDArray[np.float32]  # (pictures, height, width)
    truth: NDArray[np.uint8]
    prediction: NDArray[np.uint8]
    confidence: NDArray[np.float32]  # the probability of what is predicted
    offsets: NDArray[np.float32]  # (features, 4): row and column of two offsets, of the first tree


def keep_shown(file: Path, forest: Any, pictures: Sequence[Picture]) -> None:
    some = [pictures[i] for i in range(min(MOST_SHOWN, len(pictures)))]
    proba = [forest.predict_image_proba(depth) for depth, _ in some]
    shown = Shown(
        depth=np.stack([depth for depth, _ in some]),
        truth=np.stack([parts for _, parts in some]),
        prediction=np.stack([p.argmax(axis=-1).astype(np.uint8) for p in proba]),
        confidence=np.stack([p.max(axis=-1).astype(np.float32) for p in proba]),
        offsets=forest.offsets(0),
    )
    data = io.BytesIO()
    np.savez_compressed(data, **shown._asdict())
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, data.getvalue())


def read_shown(file: Path) -> Shown:
    with np.load(file, allow_pickle=False) as arrays:
        return Shown(*(arrays[name] for name in Shown._fields))
