"""The columns of a model of `riparian learn`: numbers, and texts that the model reads as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riparian.serve.items import Features

if TYPE_CHECKING:
    from riparian.table.encoders import Encoder
    from riparian.table.table import TableColumns


class Dates:
    """From points to rows, with texts read as dates, times or numbers.

    Where a model has seen no date of a column, the first one of the log sets its origin.
    """

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

    def fault(self, name: str, value: str) -> str | None:
        """Why a column cannot have a text; None if it can."""
        from riparian.table.encoders import Unreadable

        encoder = self.texts[name]
        try:
            encoder.fill(texts([{name: value}], name), np.empty((1, encoder.width), np.float32))
        except Unreadable as error:
            return str(error)
        return None

    def follow(self, points: Sequence[Features]) -> None:
        """Let the first date of a column set its origin."""
        for name, encoder in self.texts.items():
            if hasattr(encoder, "follow"):
                encoder.follow(texts(points, name))

    def rows(self, points: Sequence[Features]) -> NDArray[np.float32]:
        rows = np.full((len(points), self.width), np.nan, dtype=np.float32)
        for name, encoder in self.texts.items():
            first = self.first[name]
            filled(encoder, points, name, rows[:, first : first + encoder.width])
        put_numbers(rows, points, {n: c for n, c in self.first.items() if n not in self.texts})
        return rows


def filled(
    encoder: Encoder, points: Sequence[Features], name: str, out: NDArray[np.float32]
) -> None:
    """Fill the features of a column. A text that cannot be read is left out: learning checks first."""
    from riparian.table.encoders import Unreadable

    rest = list(points)
    while True:
        try:
            encoder.fill(texts(rest, name), out)
            return
        except Unreadable as error:
            rest[error.row] = {}


def texts(points: Sequence[Features], name: str) -> Any:
    import pyarrow as pa

    values = [point.get(name) for point in points]
    return pa.array([v if isinstance(v, str) else None for v in values], pa.string())


def put_numbers(rows: NDArray[np.float32], points: Sequence[Features], columns: Any) -> None:
    """Leave out features without a column, and texts: lessons were checked before."""
    cells: Any = rows.data
    for number, point in enumerate(points):
        for name, value in point.items():
            if value is not None and name in columns and not isinstance(value, str):
                cells[number, columns[name]] = value
