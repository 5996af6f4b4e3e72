"""The tables of categories in a snapshot (R22), and whether every code has a category.

The header says which columns are categorical and how many categories each has. The categories
themselves, column by column in the order of their codes, are one JSON list in an array of bytes, since
they may be too many for a header.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.engine.categories import (
    CategoryTables,
    Table,
    bytes_of_tables,
    checked_value,
    kind_of,
)
from riparian.engine.halves import LAST
from riparian.engine.trees import Arrays, Field, TreeArrays
from riparian.snapshot.container import read_list
from riparian.snapshot.errors import SnapshotError, every, require
from riparian.snapshot.header import Categories, Header

NAME = "category_values"
FIELDS = (Field(NAME, "uint8", "byte"),)

VALUE_BYTES = 256  # a value of the list takes at most this much memory besides its text


def header_of(tables: CategoryTables | None) -> Categories | None:
    if tables is None:
        return None
    columns = sorted(tables.tables)
    mine = [tables.tables[column] for column in columns]
    return Categories(columns, [len(t) for t in mine], [t.full for t in mine], tables.most)


def join(tables: CategoryTables | None) -> Arrays:
    if tables is None:
        return {}
    values = [value for column in sorted(tables.tables) for value in tables.tables[column].values]
    return {NAME: np.frombuffer(json.dumps(values).encode("ascii"), dtype=np.uint8)}


def empty(about: Header) -> CategoryTables | None:
    """Return empty tables for the categorical columns."""
    given = about.categories
    if given is None:
        return None
    return CategoryTables.empty(
        given.columns, given.most, bytes_of_tables(about.parameters.max_memory)
    )


def read(stored: Arrays, about: Header, max_bytes: int) -> tuple[CategoryTables | None, Arrays]:
    """Return the tables, and the other arrays. The snapshot of a shard has no categories."""
    others = {name: array for name, array in stored.items() if name != NAME}
    given = about.categories
    if given is None or (about.part is not None and NAME not in stored):
        return empty(about), {**others, **{n: stored[n] for n in (NAME,) if n in stored}}
    require(NAME in stored, "arrays", f"the array {NAME!r} is missing")
    text = stored[NAME]
    require(text.dtype == np.uint8, "arrays", f"{NAME} must be of type uint8, got {text.dtype}")
    asked = len(text) + (1 + int(np.count_nonzero(text == ord(",")))) * VALUE_BYTES
    require(asked <= max_bytes, "size", f"{NAME} needs {asked} bytes, more than {max_bytes}")
    values = _values(text)
    sizes = given.sizes
    fits = len(values) == sum(sizes)
    require(fits, "arrays", f"{NAME} must hold {sum(sizes)} categories, got {len(values)}")
    tables, first = {}, 0
    for column, size, full in zip(given.columns, sizes, given.full, strict=True):
        tables[column] = _table(values[first : first + size], full)
        first += size
    return CategoryTables(tables, given.most, bytes_of_tables(about.parameters.max_memory)), others


def _values(text: NDArray[np.uint8]) -> list[Any]:
    try:
        decoded = text.tobytes().decode("ascii")
    except UnicodeDecodeError:
        raise SnapshotError("arrays", f"{NAME} must be ASCII") from None
    values = read_list(decoded, NAME)
    for value in values:
        plain = isinstance(value, str | bool | int | float)
        try:
            same = plain and type(checked_value(NAME, value)) is type(value)
        except ValueError as error:
            raise SnapshotError("arrays", str(error)[:500]) from None
        require(same, "arrays", f"{NAME} must hold categories as riparian writes them")
    return values


def _table(values: list[Any], full: bool) -> Table:
    kinds = {kind_of(value) for value in values}
    require(len(kinds) <= 1, "arrays", f"{NAME} must hold texts or numbers per column, not both")
    try:
        return Table(values, full=full)
    except ValueError as error:
        raise SnapshotError("arrays", f"{NAME}: {error}") from None


def check(tables: CategoryTables | None, arrays: Arrays, kept: Arrays, about: Header) -> None:
    """Check that every code in the arrays is that of a category, of all others, or NaN, or a half."""
    if tables is None or about.categories is None or about.part is not None:
        return
    trees = TreeArrays.end_to_end(arrays)
    categorical = np.array(about.categories.columns, dtype=np.int64)
    n_codes = np.array([tables.tables[c].n_codes for c in about.categories.columns])

    def check_codes(
        name: str, columns: NDArray[Any], codes: NDArray[Any], *, halves: bool = False
    ) -> None:
        place = np.searchsorted(categorical, columns).clip(max=len(categorical) - 1)
        in_range = (codes >= 0) & (codes < n_codes[place])
        if halves:
            in_range |= (codes < 0) & (codes >= LAST)
        there = np.isnan(codes) | (in_range & (codes % 1 == 0))
        what = "the code of a category, or a half" if halves else "the code of a category"
        every(there | (categorical[place] != columns), f"{name} must be {what}")

    inner = ~trees.is_leaf
    columns = trees.feature[inner].astype(np.int64)
    check_codes("threshold", columns, trees.threshold[inner], halves=True)
    points = np.repeat(trees.split_points, trees.dims).astype(np.int64)
    candidates = np.repeat(trees.candidate_dims.astype(np.int64), points)
    check_codes("split_threshold", candidates, trees.split_threshold)
    rows = kept.get("kept_rows", np.zeros(0, np.float32)).reshape(-1, about.n_dims)
    for column in about.categories.columns:
        check_codes("kept_rows", np.full(len(rows), column), rows[:, column])
