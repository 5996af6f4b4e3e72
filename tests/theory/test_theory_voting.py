"""Proposition multi-biau, against simulated votes of trees that go together or do not."""

import numpy as np
import pytest

from riparian.theory import vote_bound

RUNS = 50_000


def forest_answers(tree_answers, n_classes):
    """The class with the most votes of each row, the first among equals."""
    votes = [(tree_answers == k).sum(axis=1) for k in range(n_classes)]
    return np.argmax(votes, axis=0)


@pytest.mark.parametrize("together", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("wrong", "n_trees", "n_classes"), [(0.1, 3, 2), (0.05, 9, 4)])
def test_a_forest_answers_a_class_no_more_often_than_the_bound(together, wrong, n_trees, n_classes):
    rng = np.random.default_rng(0)
    others = np.full(n_classes - 1, (1 - wrong) / (n_classes - 1))
    shape = (RUNS, n_trees)
    alone = rng.choice(n_classes, shape, p=[wrong, *others])
    shared = rng.choice(n_classes, (RUNS, 1), p=[wrong, *others])
    answers = np.where(rng.random((RUNS, 1)) < together, shared, alone)
    frequency = np.mean(forest_answers(answers, n_classes) == 0)
    assert frequency <= vote_bound(wrong, n_trees)
    assert frequency <= vote_bound(wrong, n_trees, n_classes) + 0.01


def test_trees_that_err_in_turn_attain_the_bound():
    # Class 0 wins ties; with two trees one vote is enough, and they never err together.
    u = np.random.default_rng(0).random(RUNS)
    answers = np.column_stack([u >= 0.2, (u < 0.2) | (u >= 0.4)]).astype(int)
    assert abs(np.mean(forest_answers(answers, 2) == 0) - vote_bound(0.2, 2)) < 0.01


def test_the_bound_by_classes_does_not_grow_with_the_forest():
    assert vote_bound(0.01, 10**6) == 1
    assert vote_bound(0.01, 10**6, n_classes=5) == pytest.approx(0.05)
    assert vote_bound(0.01, 2, n_classes=5) == 0.02
