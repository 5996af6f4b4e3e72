"""Proposition diam-to-zero, against simulated thresholds and the cells of real trees."""

import numpy as np
import pytest

from riparian import OnlineForestClassifier
from riparian.parameters.schedules import Geometric
from riparian.theory import expected_side, widest_child

RUNS = 100_000


def widest(thresholds):
    return np.maximum(thresholds.max(axis=1), 1 - thresholds.min(axis=1))


def heaped(rng, ratio, shape):
    """Thresholds of density `ratio` near both ends and 1/`ratio` between: the worst there is."""
    ends = 1 / (ratio + 1)  # the width of both ends together
    u = rng.random(shape)
    near = rng.random(shape) < ends * ratio
    at_end = np.where(u < 0.5, u * ends, 1 - (1 - u) * ends)
    return np.where(near, at_end, ends / 2 + u * (1 - ends))


@pytest.mark.parametrize("m", [1, 2, 10])
def test_the_wider_child_is_as_wide_as_simulated(m):
    widths = widest(np.random.default_rng(0).random((RUNS, m)))
    assert widest_child(m) == (2 * m + 1) / (2 * m + 2)
    assert abs(widths.mean() - widest_child(m)) < 4 * widths.std() / np.sqrt(RUNS)


@pytest.mark.parametrize(("m", "ratio"), [(1, 2.0), (2, 3.0), (5, 10.0)])
def test_a_density_that_heaps_up_at_the_ends_attains_the_bound_and_breaks_the_papers(m, ratio):
    widths = widest(heaped(np.random.default_rng(0), ratio, (RUNS, m)))
    error = 4 * widths.std() / np.sqrt(RUNS)
    assert abs(widths.mean() - widest_child(m, ratio)) < error
    assert widths.mean() > widest_child(m) + error


def test_another_density_stays_below():
    # x = sqrt(1/4 + 2u) - 1/2 has the density x + 1/2 on [0, 1]: a ratio of 3.
    u = np.random.default_rng(0).random((RUNS, 4))
    widths = widest(np.sqrt(0.25 + 2 * u) - 0.5)
    assert widest_child(4) < widths.mean() < widest_child(4, 3.0)


def sides_of_middle(splits, data_seed, n_dims, rate, m):
    """The sides of the cell of the middle of the cube, in a tree that splits without looking."""
    forest = OnlineForestClassifier(
        n_estimators=1,
        candidate_dims=rate,
        split_points=m,
        min_gain=100,
        alpha=Geometric(1, 1.2),
        beta=10,
        eager=False,
        random_state=data_seed,
    )
    rng = np.random.default_rng(data_seed)
    forest.fit(rng.random((4000, n_dims)), np.zeros(4000, dtype=int))
    tree, node = forest.model_.engine.tree(0), 0
    low, high = np.zeros(n_dims), np.ones(n_dims)
    for _ in range(splits):
        if not tree.child[node]:
            break  # so small that it has not split so often yet: it will not become wider
        feature, threshold = tree.feature[node], tree.threshold[node]
        right = threshold < 0.5
        (low if right else high)[feature] = threshold
        node = tree.child[node] + right
    return high - low


@pytest.mark.engine
@pytest.mark.parametrize(("n_dims", "rate", "m"), [(1, 0.0, 1), (2, 0.0, 1), (3, 0.5, 3)])
def test_the_cells_of_real_trees_are_narrower_than_the_bound(n_dims, rate, m):
    for splits in (1, 3, 5):
        # Each tree has data of its own: trees of one forest would take the same first thresholds.
        sides = np.array([sides_of_middle(splits, seed, n_dims, rate, m) for seed in range(150)])
        bound = expected_side(splits, n_dims, rate, m)
        assert sides.mean() <= bound + 4 * sides.std() / np.sqrt(sides.size)
        if n_dims == 1 and splits == 1:  # not for nothing: the wider child is that of the middle
            assert sides.mean() > bound - 4 * sides.std() / np.sqrt(sides.size)


def test_sides_go_to_zero_with_the_splits():
    bounds = [expected_side(k, 5, 2.0, 10, density_ratio=3.0) for k in (0, 10**4, 10**5)]
    assert bounds[0] == 1 and bounds[2] < 0.1
    assert bounds == sorted(bounds, reverse=True)


def test_a_density_ratio_is_at_least_one():
    with pytest.raises(ValueError, match=r"density_ratio must be finite and >= 1, got 0\.5"):
        widest_child(3, 0.5)
