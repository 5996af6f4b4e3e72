"""A batch for a model that answers each row just before it learns the row.

A batch is learned as a whole, so its classes and categories join at once. The answer to a row must
not depend on those that join with it or after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riparian.engine.categories import CategoryTables, MixedRows

Flags = NDArray[np.bool_]


class RowsInTurn(NamedTuple):
    """The rows of a batch as they are tested, as they are learned, and where these differ."""

    tested: Any
    learned: Any
    differ: Flags  # a category joins with this row (R22), so it is missing when the row is tested


def unchanged(points: Any, rows: int) -> RowsInTurn:
    return RowsInTurn(points, points, np.zeros(rows, dtype=bool))


def joined_in_turn(tables: CategoryTables, rows: MixedRows, learned: Flags) -> RowsInTurn:
    """Let the categories of the rows that are learned join, and return all rows with codes."""
    before = {column: tables.tables[column].n_codes for column in rows.coded}
    tables.join(rows[learned])
    coded = tables.codes(rows)
    tested = coded.copy()
    for column, n_codes in before.items():
        joined = np.where(learned & ~np.isnan(coded[:, column]), coded[:, column], -1.0)
        known = np.maximum.accumulate(np.concatenate([[n_codes - 1.0], joined]))[:-1]
        tested[coded[:, column] > known, column] = np.nan
    differ: Flags = np.any(np.isnan(tested) & ~np.isnan(coded), axis=1)
    return RowsInTurn(tested, coded, differ)


def runs(kinds: NDArray[np.int64], alone: int) -> Iterator[tuple[int, int, int]]:
    """Yield runs of rows of the same kind: the kind, the first row, and the one after the last.

    >>> list(runs(np.array([1, 1, 0, 2, 2]), alone=2))
    [(1, 0, 2), (0, 2, 3), (2, 3, 4), (2, 4, 5)]
    """
    cuts = np.flatnonzero((np.diff(kinds) != 0) | (kinds[1:] == alone)) + 1
    ends = [0, *cuts.tolist(), len(kinds)]
    for first, last in pairwise(ends):
        if first < last:
            yield int(kinds[first]), first, last


def of_known_classes(answers: NDArray[np.float64], joined: NDArray[np.intp]) -> NDArray[np.float64]:
    """Correct the rows in which all trees abstain: the classes known by then have the same probability.

    `joined` has for each class the row with which it joined, or -1 if it was known before. An engine
    returns zeros for such a row, or the same probability for all classes of the batch.
    """
    n = np.arange(len(answers))
    abstained = ~answers.any(axis=1)
    for column in np.flatnonzero(joined >= 0):
        abstained |= (n <= joined[column]) & (answers[:, column] > 0)
    known = joined < n[abstained, None]
    answers[abstained] = known / np.maximum(1, known.sum(axis=1, keepdims=True))
    return answers
