"""A forest as bytes, and back: header, arrays and container put together."""

from __future__ import annotations

from riparian.engine import native
from riparian.engine.trees import Arrays
from riparian.snapshot import arrays, container, header, size
from riparian.snapshot.check import check
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.header import Header


def encode(about: Header, trees: list[Arrays]) -> bytes:
    """The same forest gives the same bytes."""
    return container.pack(header.write(about), arrays.join(trees, about.prediction_only))


def decode(data: bytes, max_bytes: int | None) -> tuple[Header, native.ColumnEngine]:
    """What the bytes say, and the engine; all is checked before the engine is made."""
    limit = size.default_max_bytes() if max_bytes is None else max_bytes
    text, stored = container.unpack(data)
    header.check_format(container.read_json(text, "header"))
    stored = container.check_digest(text, stored)
    about = header.read(text, limit)
    size.check_arrays_size(stored, limit)
    wide = arrays.widen(stored, about.prediction_only)
    lengths = arrays.measure(wide, about.parameters.n_trees, about.parameters.split_points)
    whole = check(wide, lengths, about)
    size.check_core_size(whole, about, limit)
    size.check_budget(about)
    state = native.State(about.points, arrays.split(whole, lengths))
    try:
        return about, native.ColumnEngine(about.parameters, about.n_features, state)
    except MemoryError as error:
        raise SnapshotError("size", f"the forest cannot be held in memory: {error}") from None
