"""A forest as bytes, and back: header, arrays and container put together."""

from __future__ import annotations

from dataclasses import replace

from riparian.engine import native
from riparian.snapshot import arrays, container, header, size
from riparian.snapshot.check import check
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.header import Header


def encode(about: Header, trees: list[native.Arrays]) -> bytes:
    """The same forest gives the same bytes."""
    return container.pack(header.write(about), arrays.join(trees, about.prediction_only))


def decode(data: bytes, max_bytes: int | None) -> tuple[Header, native.Forest]:
    """What the bytes say, and the engine; all is checked before the engine is made."""
    limit = size.default_max_bytes() if max_bytes is None else max_bytes
    text, found = container.unpack(data)
    header.check_format(container.read_json(text, "header"))
    found = container.check_digest(text, found)
    about = header.read(text, limit)
    size.check_arrays_size(found, limit)
    wide = arrays.widen(found, about.prediction_only)
    lengths = arrays.measure(wide, about.parameters.n_trees, about.parameters.split_points)
    whole = check(wide, lengths, about)
    size.check_core_size(whole, about, limit)
    return about, revive(about, arrays.split(whole, lengths))


def revive(about: Header, trees: list[native.Arrays]) -> native.Forest:
    """The engine with these trees.

    Those that it starts with would draw candidates for every root, only to be replaced: with one
    dimension to draw from, they cost next to nothing.
    """
    try:
        forest = native.Forest(replace(about.parameters, candidate_dims=0.0), 1)
        forest.restore(about.points, trees)
    except (ValueError, MemoryError) as error:
        raise SnapshotError("size", f"the forest cannot be held in memory: {error}") from None
    forest.parameters = about.parameters
    forest.set_dims(about.n_features)
    forest.set_classes(about.labels.rank(), len(about.labels.classes))
    return forest
