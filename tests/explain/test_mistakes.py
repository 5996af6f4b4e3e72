"""The mistakes that a forest was surest of."""

from __future__ import annotations

import base64
import json
import zlib
from unittest import mock

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from riparian.explain import RowSample, SurestMistakes
from riparian.explain import mistakes as mistakes_module

CLASSES = ["ash", "elm", "oak"]


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).astype(np.float32)
    proba = rng.dirichlet([1, 1, 1], n).round(2)
    return X, rng.choice([*CLASSES, "yew"], n), proba


def test_they_are_the_wrong_ones_with_the_largest_probability():
    X, y, proba = rows()
    surest = SurestMistakes(most=7)
    surest.update(X, y, proba, CLASSES)
    predicted = np.array(CLASSES)[proba.argmax(axis=1)]
    wrong = [i for i in np.argsort(-proba.max(axis=1), kind="stable") if predicted[i] != y[i]]
    by_rank = sorted(wrong, key=lambda i: sum(y[j] == y[i] for j in wrong[: wrong.index(i)]))
    assert {mistake.row - 1 for mistake in surest.mistakes} == {*by_rank[:7]}
    probabilities = [mistake.probability for mistake in surest.mistakes]
    assert probabilities == sorted(probabilities, reverse=True)
    for mistake in surest.mistakes:
        i = mistake.row - 1
        assert (mistake.truth, mistake.predicted) == (y[i], predicted[i])
        assert mistake.probability == proba[i].max()
        of_truth = proba[i, CLASSES.index(y[i])] if y[i] in CLASSES else 0.0
        assert mistake.of_truth == of_truth
        assert np.array_equal(mistake.x, X[i])


def test_mistakes_of_a_rare_class_are_kept_among_surer_ones_of_a_frequent_class():
    surest = SurestMistakes(most=4)
    for i in range(50):
        rare = i % 10 == 0
        proba = [[0.6, 0.4]] if rare else [[0.01 * (i % 9), 1 - 0.01 * (i % 9)]]
        surest.update([[float(i)]], ["oak" if rare else "elm"], proba, ["elm", "oak"])
    assert sorted(mistake.truth for mistake in surest.mistakes) == ["elm", "elm", "oak", "oak"]
    assert [mistake.row for mistake in surest.mistakes] == [10, 19, 1, 11]


def test_neither_batches_nor_sparse_rows_change_them():
    X, y, proba = rows()
    whole, parts = SurestMistakes(), SurestMistakes()
    whole.update(X, y, proba, CLASSES)
    for first, last in ((0, 3), (3, 3), (3, 200), (200, 300)):
        part = slice(first, last)
        parts.update(csr_matrix(X[part]), y[part], proba[part], CLASSES)
    assert [m.row for m in parts.mistakes] == [m.row for m in whole.mistakes]
    assert all(
        np.array_equal(a.x, b.x) for a, b in zip(parts.mistakes, whole.mistakes, strict=True)
    )


def test_while_a_forest_learns_the_mistakes_of_its_first_rows_are_left_out():
    X, y, proba = rows(1000)
    proba[:200, 0], proba[:200, 1:] = 1.0, 0.0  # sure, because it knows nothing
    whole, parts, early = (
        SurestMistakes(learning=True),
        SurestMistakes(learning=True),
        SurestMistakes(),
    )
    whole.update(X, y, proba, CLASSES)
    early.update(X, y, proba, CLASSES)
    for first in range(0, 1000, 70):
        part = slice(first, first + 70)
        parts.update(X[part], y[part], proba[part], CLASSES)
        parts = SurestMistakes.from_state(json.loads(json.dumps(parts.state())))
    assert early.mistakes[0].row <= 63 < min(m.row for m in whole.mistakes)
    late = SurestMistakes()
    late.pass_over(63)  # 1000 rows end in the stretch from 512, which is the last of four from 64
    late.update(X[63:], y[63:], proba[63:], CLASSES)
    by_row = [(m.row, m.truth) for m in late.mistakes]
    assert [(m.row, m.truth) for m in whole.mistakes] == by_row
    assert [(m.row, m.truth) for m in parts.mistakes] == by_row
    assert len(parts.kept) <= 4 * parts.most


def test_a_forest_without_mistakes_has_none():
    surest = SurestMistakes()
    surest.update(np.eye(2), ["ash", "elm"], np.eye(2), ["ash", "elm"])
    assert surest.mistakes == []


def test_they_go_on_from_their_state_and_count_rows_that_were_passed_over():
    surest = SurestMistakes(most=2)
    surest.pass_over(10)
    X, proba = np.array([[1.0, np.nan], [2.0, 0.0]]), [[0.2, 0.8], [0.9, 0.1]]
    surest.update(X, ["elm", "oak"], proba, ["elm", "oak"])
    again = SurestMistakes.from_state(json.loads(json.dumps(surest.state())))
    again.update(X[:1], ["elm"], [[0.05, 0.95]], ["elm", "oak"])
    assert [(m.row, m.truth, m.predicted, m.probability) for m in again.mistakes] == [
        (13, "elm", "oak", 0.95),
        (12, "oak", "elm", 0.9),
    ]
    np.testing.assert_array_equal(again.mistakes[0].x, np.float32([1, np.nan]))


def test_a_state_that_decompresses_to_more_than_rows_can_hold_is_refused():
    bomb = base64.b64encode(zlib.compress(bytes(2**20), 9)).decode()
    sample = RowSample(size=10)
    sample.update(rows(5)[0])
    for name in ("words", "rows"):
        with pytest.raises(ValueError, match="of compressed numbers, got more"):
            RowSample.from_state({**sample.state(), name: bomb})
    X, y, proba = rows()
    surest = SurestMistakes()
    surest.update(X, y, proba, CLASSES)
    state = surest.state()
    state["mistakes"] = [{**mistake, "x": bomb} for mistake in state["mistakes"]]
    with (
        mock.patch.object(mistakes_module, "MOST_BYTES", 3 * 2**20),
        pytest.raises(ValueError, match="of compressed numbers, got more"),
    ):
        SurestMistakes.from_state(state)
