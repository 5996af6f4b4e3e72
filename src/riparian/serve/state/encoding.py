"""The columns of a model of `riparian learn`: numbers, and texts as the model encodes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riparian.serve.items import Features

if TYPE_CHECKING:
    from riparian.cli.features.encoders import Encoder
    from riparian.cli.features.table import TableColumns


class Encoding:
    """From points to rows by the encoders of a model file. What they learn, they learn in log order."""

    def __init__(self, columns: TableColumns) -> None:
        self.table = columns
        self.first: dict[str, int] = {}  # of the features that a column gives
        self.texts: dict[str, Encoder] = {}
        self.width = 0
        for name, encoder in columns.encoders.items():
            self.first[name] = self.width
            self.width += encoder.width
            if encoder.name != "number":
                self.texts[name] = encoder

    def follow(self, points: Sequence[Features]) -> None:
        """Texts never seen before join, where the encoding lets them."""
        for name, encoder in self.texts.items():
            if hasattr(encoder, "follow"):
                encoder.follow(texts(points, name))

    def rows(self, points: Sequence[Features]) -> NDArray[np.float32]:
        rows = np.full((len(points), self.width), np.nan, dtype=np.float32)
        for name, encoder in self.texts.items():
            first = self.first[name]
            encoder.fill(texts(points, name), rows[:, first : first + encoder.width])
        put_numbers(rows, points, {n: c for n, c in self.first.items() if n not in self.texts})
        return rows


def texts(points: Sequence[Features], name: str) -> Any:
    import pyarrow as pa

    values = [point.get(name) for point in points]
    return pa.array([v if isinstance(v, str) else None for v in values], pa.string())


def put_numbers(rows: NDArray[np.float32], points: Sequence[Features], columns: Any) -> None:
    """A feature without a column is left out, and so is a text: whoever learns has checked."""
    cells: Any = rows.data
    for number, point in enumerate(points):
        for name, value in point.items():
            if value is not None and name in columns and not isinstance(value, str):
                cells[number, columns[name]] = value
