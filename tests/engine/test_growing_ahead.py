"""A tree that is rebuilt within a block (R21) skips the points before it, with the same result."""

from __future__ import annotations

import numpy as np
import pytest

from riparian.engine import native
from riparian.parameters.schedules import Geometric

from engines import parameters
from equivalence import Native, assert_same, learn_reference

pytestmark = pytest.mark.engine

N = 900


def stream(seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    X[::7, 1] = np.nan
    y = (X[:, 0] > 0).astype(int) + 2 * (rng.random(n) < 0.2)
    y[: n // 3] %= 2  # the others come late
    return X, y


def settings(**changes):
    common = {"n_trees": 3, "min_gain": 0.2, "alpha": Geometric(0.5, 1.1), "beta": 20.0}
    return parameters(**(common | {"kept_points": 10_000} | changes))


def learned(p, X, y, weights=None, size=N):
    engine = Native(p, X.shape[1])
    for first in range(0, len(X), size):
        block = slice(first, first + size)
        engine.learn(X[block], y[block], None if weights is None else weights[block])
    return engine


def state_of(engine):
    """All that can be known of it."""
    state = engine.forest.save()
    arrays = [{name: a.tobytes() for name, a in tree.items()} for tree in state.trees]
    return arrays, engine.stats()


CASES = {
    "all points kept": {},
    "points lost in the middle of a block": {"kept_points": 500},
    "a fringe of three": {"fringe_size": 3},
    "a stream that is ignored": {"ignore_fraction": 0.3},
    "a budget": {"max_memory": 3_000_000},
    "a budget that stops trees before they are due": {"max_memory": 75_000, "kept_points": 1000},
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("changes", CASES.values(), ids=CASES)
def test_a_stream_at_once_and_point_by_point_gives_the_same_trees_and_counts(changes, weighted):
    p, (X, y) = settings(**changes), stream()
    weights = np.random.default_rng(1).choice([0.3, 1.0, 2.5], N) if weighted else None
    at_once, in_pieces, alone = (learned(p, X, y, weights, size) for size in (N, 130, 1))
    assert state_of(at_once) == state_of(in_pieces) == state_of(alone)
    assert any(tree["growth"][1] > 0 for tree in at_once.forest.save().trees)
    if p.max_memory == 75_000:
        assert all(tree["stopped_at"] for tree in at_once.stats())
    if p.max_memory is None:
        assert_same(learn_reference(p, X, y, weights), at_once, X[:40])


def test_if_no_new_root_would_split_the_old_tree_has_learned_every_point():
    """The first points separate classes; all later ones are of one class and hide that."""
    X, y = stream()
    y = np.where(np.arange(N) < 40, X[:, 0] > 0, 0).astype(int)
    p = settings(n_trees=5, min_gain=0.25, alpha=Geometric(6, 1.1), beta=100.0)
    at_once, alone = learned(p, X, y), learned(p, X, y, size=1)
    assert state_of(at_once) == state_of(alone)
    assert_same(learn_reference(p, X, y), at_once, X[:40])
    grown_in_vain = [
        tree["growth"][0] > 4 * tree["growth"][1] and len(tree["child"]) > 1
        for tree in at_once.forest.save().trees
    ]
    assert any(grown_in_vain)


def test_blocks_of_wide_rows_are_longer_while_trees_are_rebuilt():
    wide = 2000
    X, y = np.zeros((70, wide), np.float32), np.arange(70) % 2
    keeping = Native(settings(kept_points=60), wide)
    forgetting = Native(settings(kept_points=0), wide)
    longer, shorter = (engine.forest._block_points() for engine in (keeping, forgetting))
    assert longer == native.GROWING_BYTES // (4 * wide) > shorter == 64
    keeping.learn(X, y)
    assert keeping.forest._block_points() == shorter
