"""Blocks have the chosen size, and the order of a window can be resumed at any row."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from riparian.cli.learning.blocks import rechunk, shuffled_windows

CUTS = st.lists(st.integers(0, 100), max_size=6)
ROWS = st.integers(1, 120)


def pieces(cuts, start=0, make=np.asarray):
    """Return a hundred rows from `start` on in pieces, some of them empty."""
    X, y = np.arange(200, dtype=np.float32).reshape(100, 2), np.arange(100)
    ends = [start, *sorted(max(start, cut) for cut in cuts), 100]
    for i, end in enumerate(ends[1:]):
        yield make(X[ends[i] : end]), y[ends[i] : end]


def together(blocks):
    blocks = list(blocks)
    return np.concatenate([y for _, y in blocks]) if blocks else np.zeros(0, int)


@given(CUTS, ROWS, st.sampled_from([np.asarray, sparse.csr_matrix]))
def test_rows_stay_in_order_and_only_the_last_block_is_short(cuts, rows, make):
    blocks = list(rechunk(pieces(cuts, make=make), rows))
    assert together(blocks).tolist() == list(range(100))
    assert all(len(y) == rows for _, y in blocks[:-1]) and 1 <= len(blocks[-1][1]) <= rows
    for X, y in blocks:
        dense = X.toarray() if sparse.issparse(X) else X
        assert (dense[:, 0] == 2 * y).all()


@given(CUTS, ROWS, st.integers(1, 120))
def test_the_first_block_may_have_another_size(cuts, rows, first):
    blocks = list(rechunk(pieces(cuts), rows, first))
    assert together(blocks).tolist() == list(range(100))
    assert [len(y) for _, y in blocks[:-1]] == [first, *[rows] * (len(blocks) - 2)][
        : len(blocks) - 1
    ]


@given(CUTS, ROWS, st.integers(0, 99), st.integers(0, 3))
def test_windows_go_on_from_any_row(cuts, rows, start, number):
    whole = together(shuffled_windows(pieces([]), rows, 7, number, 0))
    assert sorted(whole.tolist()) == list(range(100))
    begin = start // rows * rows
    blocks = list(shuffled_windows(pieces(cuts, begin), rows, 7, number, start))
    assert together(blocks).tolist() == whole[start:].tolist()
    assert all((X[:, 0] == 2 * y).all() for X, y in blocks)


@given(ROWS)
def test_a_window_keeps_its_rows_together(rows):
    whole = together(shuffled_windows(pieces([]), rows, 7, 0, 0))
    for first in range(0, 100, rows):
        window = whole[first : first + rows]
        assert sorted(window.tolist()) == list(range(first, min(100, first + rows)))


def test_passes_and_windows_have_orders_of_their_own():
    orders = {
        tuple(together(shuffled_windows(pieces([]), 50, seed, number, 0)).tolist())
        for seed in (0, 1)
        for number in (0, 1)
    }
    assert len(orders) == 4
    first = next(iter(orders))
    assert [i - 50 for i in first[50:]] != list(first[:50])
