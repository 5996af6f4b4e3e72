"""Labels that come late: rows wait in order, and are learned just before it can be known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from riparian import OnlineForestClassifier
from riparian.late_labels import LateLabels

from engines import mixture

X, Y = mixture(120)


class Log:
    """A forest that writes down what it is given."""

    def __init__(self):
        self.rows = []

    def partial_fit(self, X, y, classes=None):
        assert len(y) == np.shape(X)[0]
        self.rows += list(y)


def learned_before(row, delay, block):
    """MOA's rule, written out: which rows are learned when the block that begins with `row` comes."""
    log, late = Log(), LateLabels(delay)
    for first in range(0, row, block):
        rows = range(first, first + block)
        late.add([[0.0]] * block, list(rows))
        late.learn_due(log)
    return log.rows, len(late)


@pytest.mark.parametrize("delay", [0, 1, 2, 5, 12, 13, 50])
@pytest.mark.parametrize("block", [1, 4, 12])
def test_a_row_is_learned_before_the_row_that_is_delay_rows_later(delay, block):
    rows, waiting = learned_before(24, delay, block)
    assert rows == [j for j in range(24) if j + max(delay, 1) <= 24]
    assert waiting == 24 - len(rows)


@given(st.lists(st.integers(0, 120), max_size=8), st.integers(0, 150))
@settings(max_examples=30, deadline=None)
def test_in_the_end_the_forest_is_that_of_the_stream_without_a_delay(cuts, delay):
    forest, late = OnlineForestClassifier(2, random_state=0), LateLabels(delay)
    ends = [0, *sorted(cuts), 120]
    for first, last in pairwise(ends):
        late.add(X[first:last], Y[first:last])
        late.learn_due(forest)
    late.learn_rest(forest)
    assert len(late) == 0
    assert (
        forest.to_bytes() == OnlineForestClassifier(2, random_state=0).partial_fit(X, Y).to_bytes()
    )


@pytest.mark.parametrize(
    "form", [np.asarray, np.ndarray.tolist, sparse.csr_matrix, pd.DataFrame], ids=str
)
def test_rows_of_any_form_are_divided(form):
    whole, late = OnlineForestClassifier(2, random_state=0), LateLabels(delay=51)
    forest = OnlineForestClassifier(2, random_state=0)
    late.add(form(X), pd.Series(Y))
    late.learn_due(forest)
    whole.partial_fit(form(X[:70]), Y[:70])
    assert len(late) == 50
    assert forest.to_bytes() == whole.to_bytes()


def test_rows_without_labels_are_refused_and_do_not_wait():
    late = LateLabels(3)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        late.add([[1.0], [2.0]], [0])
    assert len(late) == 0


def test_a_delay_is_not_negative():
    with pytest.raises(ValueError, match="delay must be >= 0, got -1"):
        LateLabels(-1)


def test_rows_that_the_forest_refuses_are_dropped_and_the_stream_continues():
    forest, late = OnlineForestClassifier(2, random_state=0), LateLabels(2)
    late.add([[1.0], [np.inf]], [0, 1])
    late.learn_due(forest)
    late.add([[2.0]], [1])
    with pytest.raises(ValueError, match="infinity"):
        late.learn_due(forest)
    late.learn_rest(forest)
    assert forest.stats()["points"] == 2 and len(late) == 0


def test_rows_that_are_known_by_their_number_must_come_again():
    late = LateLabels(4)
    late.absent = 3
    with pytest.raises(
        ValueError, match="3 earlier rows must be given again first: pass them to wait_again"
    ):
        late.add([[1.0]], [0])
    with pytest.raises(ValueError, match="expected all 3 rows that wait, got 2"):
        late.add_again([[1.0], [2.0]], [0, 1])
    late.add_again([[1.0], [2.0], [3.0]], [0, 1, 0])
    log = Log()
    late.learn_rest(log)
    assert log.rows == [0, 1, 0]
