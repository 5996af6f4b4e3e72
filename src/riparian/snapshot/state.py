"""From a forest to bytes, and back: header, arrays and container in order."""

from __future__ import annotations

from typing import NamedTuple

from riparian.engine import native
from riparian.engine.categories import CategoryTables
from riparian.engine.engine import State
from riparian.engine.trees import Arrays
from riparian.snapshot import arrays, categories, container, forgetting, header, kept, size
from riparian.snapshot.check import check
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.header import DepthImages, Header


def encode(about: Header, state: State, tables: CategoryTables | None = None) -> bytes:
    """Return a forest as bytes. The same forest gives the same bytes."""
    stored = {**arrays.join(state.trees, about), **kept.join(state.kept, about)}
    stored |= categories.join(tables)
    return container.pack(header.write(about), stored)


class Contents(NamedTuple):
    """The contents of a snapshot, once all of them are checked."""

    about: Header
    tables: CategoryTables | None
    trees: Arrays  # of all trees, one after the other
    lengths: arrays.Lengths
    kept: Arrays


def decode(data: bytes, max_bytes: int | None) -> tuple[Header, native.NativeEngine]:
    """Return the header and the engine; everything is checked before the engine is made."""
    limit = size.default_max_bytes() if max_bytes is None else max_bytes
    contents = read(data, limit)
    return contents.about, restored(contents)


def restored(contents: Contents) -> native.NativeEngine:
    """Return the engine of checked contents."""
    about, tables, trees, lengths, points = contents
    state = State(about.points, arrays.split(trees, lengths), kept.for_core(points, about))
    try:
        return engine_of(about, state, tables)
    except MemoryError as error:
        raise SnapshotError("size", f"the forest does not fit in memory: {error}") from None


def read(data: bytes, limit: int) -> Contents:
    size.check_header_size(data, limit)
    text, stored = container.unpack(data)
    header_fields = container.read_json(text, "header")
    header.check_format(header_fields)
    stored = container.check_digest(text, stored)
    if forgetting.is_forgetting(header_fields):
        header_fields, stored = forgetting.frozen(header_fields, stored)
    about = header.read(header_fields, limit)
    size.check_arrays_size(stored, limit)
    tables, stored = categories.read(stored, about, limit)
    of_trees, points = _parted(stored)
    of_trees, points = arrays.widen(of_trees, about), kept.widen(points, about)
    trees, lengths = arrays.complete(of_trees, about)
    trees = check(trees, lengths, about)
    kept.check(points, about)
    categories.check(tables, trees, points, about)
    size.check_core_size(trees, points, about, limit)
    size.check_budget(about)
    return Contents(about, tables, trees, lengths, points)


def _parted(stored: Arrays) -> tuple[Arrays, Arrays]:
    """The arrays of the trees, and those of what the trees share."""
    shared = {f.name for f in kept.FIELDS}
    points = {name: array for name, array in stored.items() if name in shared}
    return {name: array for name, array in stored.items() if name not in points}, points


def engine_of(
    about: Header, state: State | None, tables: CategoryTables | None = None
) -> native.NativeEngine:
    """Return the engine with these trees; without a state it is empty."""
    space, trees = about.space, about.trees
    tables = categories.empty(about) if tables is None else tables
    if isinstance(space, DepthImages):
        return native.DepthEngine(about.parameters, space.offset_std, space.far, state, trees)
    return native.ColumnEngine(
        about.parameters,
        space.n_features,
        state,
        trees,
        sparse=space.sparse,
        categories=tables,
    )
