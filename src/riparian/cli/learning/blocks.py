"""Cut points and labels into blocks of a chosen size, and shuffle them within windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from riparian.engine.categories import Coded, MixedRows, Value
from riparian.engine.draws import shuffled
from riparian.table.columns import Points

Piece = tuple[Points, NDArray[Any]]  # points and their labels


def rechunk(pieces: Iterable[Piece], rows: int, first_rows: int = 0) -> Iterator[Piece]:
    """Yield the same rows, `rows` at a time; the first block may have `first_rows`, the last fewer.

    >>> pieces = [(np.zeros((3, 1)), np.array([0, 1, 2])), (np.zeros((4, 1)), np.array([3, 4, 5, 6]))]
    >>> [y.tolist() for X, y in rechunk(pieces, 2)]
    [[0, 1], [2, 3], [4, 5], [6]]
    >>> [y.tolist() for X, y in rechunk(pieces, 2, first_rows=5)]
    [[0, 1, 2, 3, 4], [5, 6]]
    """
    held: list[Piece] = []
    n = 0
    wanted = first_rows or rows
    for X, y in pieces:
        first = 0
        while n + len(y) - first >= wanted:
            last = first + wanted - n
            yield _stacked([*held, (X[first:last], y[first:last])])
            held, n, first, wanted = [], 0, last, rows
        if first < len(y):
            held.append((X[first:], y[first:]))
            n += len(y) - first
    if held:
        yield _stacked(held)


def shuffled_windows(
    pieces: Iterable[Piece], rows: int, seed: int, number_of_pass: int, start: int
) -> Iterator[Piece]:
    """Yield shuffled rows from row `start` of the result on; `pieces` begin with its window.

    The order of a window is a function of the seed, the pass and the number of the window (R13).
    A window that holds all rows has the order of `fit`.
    """
    first = start // rows
    for window, (X, y) in enumerate(rechunk(pieces, rows), start=first):
        order = shuffled(seed, number_of_pass + (window << 32), len(y))
        if window == first:
            order = order[start % rows :]
        if len(order):
            yield X[order], y[order]


def _stacked(pieces: list[Piece]) -> Piece:
    if len(pieces) == 1:
        return pieces[0]
    all_X, all_y = zip(*pieces, strict=True)
    return _stacked_points(all_X), np.concatenate(all_y)


def _stacked_points(all_X: Sequence[Points]) -> Points:
    if isinstance(all_X[0], MixedRows):
        coded = {column: _joined([X.coded[column] for X in all_X]) for column in all_X[0].coded}
        return MixedRows(np.concatenate([X.numbers for X in all_X]), coded)
    stack = sparse.vstack if sparse.issparse(all_X[0]) else np.concatenate
    return stack(all_X)


def _joined(pieces: Sequence[Coded]) -> Coded:
    """Concatenate coded columns; equal values get the same code."""
    place: dict[Value, int] = {}
    which = []
    for piece in pieces:
        own = [place.setdefault(value, len(place)) for value in piece.values]
        which.append(np.array([*own, -1], dtype=np.intp)[piece.which])
    return Coded(pieces[0].name, [*place], np.concatenate(which))
