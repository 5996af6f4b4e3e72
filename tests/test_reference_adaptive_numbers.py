"""Numbers in the forest for streams that change, in plain Python (R27): memories, and scaled errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riparian.parameters.forests import MEMORIES, AdaptiveNumberParameters
from riparian.parameters.schedules import Geometric
from riparian.reference import Columns, Leaf
from riparian.reference_adaptive_numbers import AdaptiveNumberForest, NumberErrors, NumberMemory
from riparian.reference_eager import SHARE
from riparian.reference_numbers import Scale

PARAMETERS = AdaptiveNumberParameters(
    n_trees=2, seed=3, candidate_dims=7.0, split_points=5, min_gain=0.05, alpha=Geometric(1, 1.1),
    beta=Geometric(10, 1.1), structure_fraction=0.5, ignore_fraction=0.1, fringe_size=None,
    max_memory=None, kept_points=300, drift_confidence=0.3,
)  # fmt: skip


def points(n=600, change=250):
    """A target that changes its sign."""
    X = np.random.default_rng(1).normal(size=(n, 4)).astype(np.float32)
    y = 50 + 3 * X[:, 0] + X[:, 1]
    y[change:] = 100 - y[change:]
    return X, y.tolist()


def forest():
    return AdaptiveNumberForest(PARAMETERS, Columns(n_dims=4, rate=7.0))


def scale_of(*targets):
    scale = Scale()
    for target in targets:
        scale.meet(target)
    return scale


# -- memories ----------------------------------------------------------------------------------------


def test_a_memory_answers_with_a_mean_that_counts_the_last_points_most():
    memory = NumberMemory(0.5, scale_of(8.0))
    for z, copies in ((8.0, 1), (4.0, 2)):
        memory.add(z, copies)
    assert (memory.weight, memory.sum) == (2.5, 12.0)
    assert memory.share(None) == round(12.0 / 2.5 / 8.0 * SHARE)


def test_a_sum_too_small_to_matter_becomes_0():
    memory = NumberMemory(0.5, scale_of(1.0))
    memory.add(1.0, 1)
    for _ in range(1000):
        memory.add(0.0, 1)
    assert memory.sum == 2.0**-1000
    memory.add(0.0, 1)
    assert memory.sum == 0.0


def test_a_leaf_remembers_its_voters_in_order():
    mine = forest()
    mine.learn(*points(200))
    for tree in mine.trees:
        for leaf in tree.nodes():
            if not isinstance(leaf, Leaf):
                continue
            for factor, memory in zip(MEMORIES, tree.memories[leaf.number], strict=True):
                replayed = NumberMemory(factor, mine.target.scale)
                for point in tree.listed_voters(leaf):
                    replayed.add(point.y, point.copies)
                assert (memory.weight, memory.sum) == (replayed.weight, replayed.sum)


# -- what the detector is given ----------------------------------------------------------------------


def test_an_error_counts_by_how_large_errors_of_the_tree_usually_are():
    errors = NumberErrors()
    for sign in (1, -1) * 5000:
        usual = errors.scaled(sign * 7.0)
    assert usual == pytest.approx(1 / 4)
    assert errors.scaled(7.0) == pytest.approx(1 / 4, rel=1e-3)
    assert errors.scaled(14.0) == pytest.approx(1 / 2, rel=1e-2)
    assert errors.scaled(1e6) == 1.0


def test_the_first_error_counts_as_a_usual_one_and_no_error_as_0():
    assert NumberErrors().scaled(-3.0) == 0.25
    errors = NumberErrors()
    assert [errors.scaled(0.0) for _ in range(8)] == [0.0] * 8
    assert errors.scaled(1e-200) == 0.0  # its square is 0
    assert errors.scaled(5.0) == pytest.approx(math.sqrt(10) / 4, rel=1e-2)


def test_the_scale_of_errors_does_not_change_when_trees_are_replaced():
    X, y = points()
    plain, scaled = forest(), forest()
    plain.learn(X, y)
    scaled.learn(X, [2.0**40 * target for target in y])
    assert plain.replacements == scaled.replacements != []


def test_a_tree_that_replaces_another_knows_nothing_of_its_errors():
    mine, replaced = forest(), 0
    for x, y in zip(*points(), strict=True):
        before = len(mine.replacements)
        mine.learn_one(x, y)
        for _, place in mine.replacements[before:]:
            tree = mine.trees[place]
            assert (tree.errors.squared, tree.errors.number, tree.detector.width) == (0.0, 0.0, 0)
            replaced += 1
    assert replaced > 0


def test_the_detector_is_given_the_error_of_the_leaf_and_not_in_a_second_pass():
    mine = forest()
    X, y = points(40)
    mine.learn(X[:39], y[:39])
    tree = mine.trees[0]
    before = tree.detector.total
    mean = mine.target.scale.number(tree.heads(X[39])[0].share(None) / SHARE)
    twin = NumberErrors()
    twin.squared, twin.number = tree.errors.squared, tree.errors.number
    mine.learn([X[39]], [y[39]])
    assert tree.detector.total == before + twin.scaled(y[39] - y[0] - mean)
    width = tree.detector.width
    mine.learn(X, y, again=True)
    assert tree.detector.width == width
