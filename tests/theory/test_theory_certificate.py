"""The certificate of a live forest, against what can be counted by hand in its trees."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from riparian import OnlineForestClassifier, OnlineForestRegressor, from_bytes
from riparian.inspection import tree_view
from riparian.parameters.schedules import Geometric, Polynomial
from riparian.reference import Columns
from riparian.reference_eager import EagerForest
from riparian.snapshot.header import History
from riparian.streams import GaussianMixture
from riparian.theory import certificate, max_path, max_splits
from riparian.theory.cells import diameters, ranges_of_points, ranges_of_thresholds
from riparian.theory.sizes import QUANTILES, weighted_quantiles

from engines import Reference, parameters

pytestmark = pytest.mark.engine

MIXTURE = GaussianMixture.paper()


def grown(points=3000, seed=0, **settings):
    X, y = MIXTURE.sample(points, seed)
    defaults = {"kept_points": 0, "max_memory": None, "eager": False}
    chosen = {"n_estimators": 4, "random_state": 0, **defaults, **settings}
    return OnlineForestClassifier(**chosen).partial_fit(X, y), X


def departure(result, name):
    return next(d for d in result.departures if d.name == name)


# -- cells ----------------------------------------------------------------------------------------


def boxes(view, low, high):
    """The lower and upper corner of each leaf's cell, one node after the other."""
    corners, boxes = {0: (low, high)}, {}
    for node in view.preorder():
        lower, upper = corners.pop(node)
        if view.is_leaf[node]:
            boxes[node] = lower, upper
            continue
        for child, corner, bound in (
            (view.left[node], 1, np.minimum),
            (view.right[node], 0, np.maximum),
        ):
            box = [lower.copy(), upper.copy()]
            f = view.feature[node]
            # The threshold bounds one side of the child, as far as it lies within the range.
            box[corner][f] = bound(box[corner][f], view.threshold[node])
            corners[int(child)] = box[0], box[1]
    return boxes


@pytest.mark.parametrize(("n_dims", "shrink"), [(1, 1.0), (3, 1.0), (3, 0.5), (40, 1.0)])
def test_diameters_are_those_of_the_boxes(n_dims, shrink):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, n_dims)) * np.arange(1, n_dims + 1)
    forest = OnlineForestClassifier(2, beta=2, random_state=0).fit(X, rng.integers(3, size=2000))
    low, high = X.min(axis=0) * shrink, X.max(axis=0) * shrink
    measured = diameters(forest.model_.engine.tree(1), ranges_of_points(low, high))
    expected = boxes(tree_view(forest, 1), low, high)
    assert len(expected) > 50
    for leaf, (lower, upper) in expected.items():
        sides = np.maximum(upper - lower, 0) / (high - low)
        # A cell outside the range has no width in it.
        sides = np.where((lower > high) | (upper < low), 0.0, sides)
        assert measured[leaf] == pytest.approx(np.linalg.norm(sides) / math.sqrt(n_dims), abs=1e-6)


def test_a_feature_that_does_not_vary_in_X_is_no_dimension():
    forest, X = grown()
    same = np.column_stack([X[:, 0], np.full(len(X), 3.0)])
    ranges = ranges_of_points(same.min(axis=0), same.max(axis=0))
    measured = diameters(forest.model_.engine.tree(0), ranges)
    assert measured.max() == 1 and measured.min() < 0.1
    everywhere_same = certificate(forest, X[:1])
    assert everywhere_same.cells.diameters == (0.0,) * len(QUANTILES)


def test_a_feature_of_unknown_range_counts_as_never_cut():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(500, 7.0), rng.random(500)])
    forest = OnlineForestClassifier(1, random_state=0).fit(X, (X[:, 1] > 0.5).astype(int))
    tree = forest.model_.engine.tree(0)
    assert len(tree.child) > 1
    measured = diameters(tree, ranges_of_thresholds(tree, 2))
    assert measured[0] == 1
    assert measured.min() >= math.sqrt(1 / 2)


def test_candidates_widen_the_range_of_the_thresholds():
    forest, X = grown(fringe_size=5)
    tree = forest.model_.engine.tree(0)
    ranges = ranges_of_thresholds(tree, 2)
    inner = tree.child > 0
    for f in range(2):
        cuts = tree.threshold[inner & (tree.feature == f)]
        assert X[:, f].min() <= ranges.low[f] <= cuts.min()
        assert cuts.max() <= ranges.high[f] <= X[:, f].max()
    assert (ranges.width > 0).all()


def test_a_split_that_sends_half_of_the_categories_left_cuts_no_interval():
    """The diameter is that of the tree without such splits: their children are as wide as they are."""
    rng = np.random.default_rng(0)
    X = np.floor(rng.random((900, 2)) * [60, 7]).astype(np.float32)
    X[:60, 0] = np.arange(60)
    y = (X[:, 0] * 7 % 11 > 5) ^ (X[:, 1] > 3)
    forest = OnlineForestClassifier(3, categorical_features=[0], random_state=0).partial_fit(X, y)
    for i in range(3):
        tree = forest.model_.engine.tree(i)
        halves = (tree.feature == 0) & (tree.threshold < 0)
        assert halves.sum() > 3
        plain = replace(tree, threshold=np.where(halves, np.float32("nan"), tree.threshold))
        measured = diameters(plain, ranges_of_points(np.zeros(2), np.array([59.0, 6.0])))
        assert np.isfinite(measured).all() and (measured >= 0).all() and (measured <= 1).all()
        for node in np.flatnonzero(halves):
            child = int(tree.child[node])
            assert measured[child] == measured[child + 1] == measured[node]
    sizes = certificate(forest).cells.diameters
    assert all(0 <= size <= 1 for size in sizes)


# -- sizes ----------------------------------------------------------------------------------------


def test_points_and_splits_are_those_of_the_leaves_that_X_reaches():
    forest, _ = grown()
    some = MIXTURE.sample(500, 9)[0]
    cells = certificate(forest, some).cells
    views = [tree_view(forest, i) for i in range(4)]
    leaves = forest.apply(some)
    points = np.concatenate([views[i].points[leaves[:, i]] for i in range(4)])
    splits = np.concatenate([views[i].depth[leaves[:, i]] for i in range(4)])
    assert cells.points == tuple(np.quantile(points, QUANTILES, method="inverted_cdf"))
    assert dict(cells.split_at_least) == {
        k: np.mean(splits >= k) for k in (1, 2, 4, 8, 16) if k <= splits.max()
    }


def test_without_X_a_leaf_counts_as_often_as_it_has_points():
    forest, _ = grown()
    views = [tree_view(forest, i) for i in range(4)]
    points = np.concatenate([v.points[v.is_leaf] for v in views])
    repeated = np.repeat(points, points)
    cells = certificate(forest).cells
    assert cells.points == tuple(np.quantile(repeated, QUANTILES, method="inverted_cdf"))
    assert "each as often as it has estimation points" in cells.over


def test_weighted_quantiles_are_those_of_values_repeated():
    rng = np.random.default_rng(0)
    for _ in range(50):
        values, weights = rng.normal(size=20), rng.integers(0, 4, 20)
        weights[0] += 1
        repeated = np.repeat(values, weights)
        expected = tuple(np.quantile(repeated, QUANTILES, method="inverted_cdf"))
        assert weighted_quantiles(values, weights.astype(float)) == expected


def test_cells_shrink_and_fill_along_the_stream():
    some = MIXTURE.sample(1000, 9)[0]
    early, late = (certificate(grown(n)[0], some).cells for n in (1000, 50_000))
    median = QUANTILES.index(0.5)
    assert late.diameters[median] < early.diameters[median]
    assert late.points[median] > early.points[median]
    assert dict(late.split_at_least)[8] > dict(early.split_at_least).get(8, 0.0)


# -- growth and fringe ----------------------------------------------------------------------------


def test_growth_is_that_of_the_tree_nearest_to_its_bound():
    forest, _ = grown(alpha=Geometric(2, 1.2), beta=1, min_gain=0)
    result = certificate(forest)
    alpha = forest.alpha
    shares = [
        tree["splits"] / max_splits(tree["estimation_points"], alpha)
        for tree in forest.stats()["trees"]
    ]
    growth = result.growth
    assert growth.splits / growth.most_splits == max(shares) <= 1
    assert growth.depth == tree_view(forest, growth.tree).depth.max()
    assert growth.depth <= growth.most_depth == max_path(growth.estimation_points, alpha)
    assert result.spare_points == 0


def test_the_oldest_waiting_leaf_is_that_of_the_reference():
    X, y = MIXTURE.sample(400, 0)
    settings = {"fringe_size": 2, "alpha": Geometric(2, 1.1), "beta": 4}
    engine = Reference(parameters(n_trees=3, seed=5, candidate_dims=1.0, **settings), 2)
    engine.learn(X, y)
    forest = OnlineForestClassifier(
        3, random_state=5, candidate_dims=1.0, min_gain=0.001, kept_points=0, **settings
    ).partial_fit(X, y)
    waiting = [
        (tree.estimation_points - leaf.born, tree.number, leaf.number, leaf)
        for tree in engine.forest.trees
        for leaf in tree.inactive
        if leaf.s_hat(tree.estimation_points) > 0
    ]
    fringe = certificate(forest).fringe
    assert fringe.waiting == len(waiting) > 2
    assert fringe.inactive == sum(len(tree.inactive) for tree in engine.forest.trees)
    age = max(entry[0] for entry in waiting)
    assert fringe.oldest.age == age
    assert (fringe.oldest.tree, fringe.oldest.node) in [w[1:3] for w in waiting if w[0] == age]
    leaf = next(w[3] for w in waiting if w[1:3] == (fringe.oldest.tree, fringe.oldest.node))
    received = engine.forest.trees[fringe.oldest.tree].estimation_points
    assert fringe.oldest.s_hat == pytest.approx(float(leaf.s_hat(received)))


def test_leaves_wait_for_numbers_of_every_size():
    X, y = MIXTURE.sample(400, 0)

    def fringe(unit):
        forest = OnlineForestRegressor(
            3, random_state=5, kept_points=0, max_memory=None, fringe_size=2, beta=4
        )
        return certificate(forest.partial_fit(X, unit * (y + X[:, 0].astype(np.float64)))).fringe

    usual = fringe(1.0)
    assert usual.waiting > 2
    assert usual.oldest.s_hat > 0
    for unit in (2.0**-40, 2.0**300):
        other = fringe(unit)
        assert other.waiting == usual.waiting
        assert other.oldest == replace(usual.oldest, s_hat=usual.oldest.s_hat * unit**2)


def test_no_leaf_waits_where_all_leaves_are_active():
    fringe = certificate(grown()[0]).fringe
    assert (fringe.size, fringe.inactive, fringe.waiting, fringe.oldest) == (None, 0, 0, None)


# -- departures and the verdict -------------------------------------------------------------------


def test_votes_and_one_unweighted_pass_are_the_theorems():
    forest, _ = grown(voting="majority")
    result = certificate(forest)
    assert not any(d.found for d in result.departures)
    assert result.verdict == "Consistent if the assumptions hold."


def test_passes_and_weights_are_reported():
    X, y = MIXTURE.sample(500, 0)
    twice = OnlineForestClassifier(2, passes=2, random_state=0).fit(X, y)
    assert departure(certificate(twice), "several passes").found
    weighted = OnlineForestClassifier(2, random_state=0).fit(X, y, sample_weight=y + 0.5)
    assert departure(certificate(weighted), "weights other than one").found
    once = OnlineForestClassifier(2, random_state=0).fit(X, y, sample_weight=np.ones(500))
    assert certificate(once).verdict.startswith("Consistent")
    for forest in (twice, weighted):
        assert certificate(forest).verdict.startswith("The theorem does not cover this forest")


def test_a_certificate_names_what_the_forest_has_not_recorded():
    forest, _ = grown()
    forest.model_.history = History()  # as from a snapshot that does not say
    result = certificate(forest)
    assert departure(result, "several passes").found is None
    assert departure(result, "weights other than one").found is None
    assert result.verdict == (
        "Consistent if the assumptions hold and without several passes "
        "and without weights other than one."
    )


@pytest.mark.parametrize(
    ("settings", "name", "breaks"),
    [
        ({"class_weight": "balanced"}, "class weights", True),
        ({"max_memory": 20_000, "points": 30_000}, "a budget that stopped growth", True),
        ({"max_memory": 50_000_000}, "a budget of memory", False),
        ({"kept_points": 500}, "kept points", False),
        ({"fringe_size": 7}, "a bounded fringe", False),
        ({"voting": "average"}, "averaging instead of votes", False),
        ({"ignore_fraction": 0.2}, "an ignored stream", False),
    ],
)
def test_a_setting_that_departs_from_the_theorem_is_detected(settings, name, breaks):
    forest, _ = grown(**settings)
    result = certificate(forest)
    assert departure(result, name).found
    assert departure(result, name).breaks == breaks
    assert result.verdict.startswith("The theorem does not cover") == breaks
    assert not departure(certificate(grown(voting="majority")[0]), name).found


def test_evictions_are_found():
    forest, _ = grown(points=30_000, max_memory=60_000, n_estimators=1)
    evicted = departure(certificate(forest), "leaves put out of the fringe")
    assert evicted.found and evicted.note.startswith(f"{forest.stats()['evictions']} for want")


def test_ties_are_found_where_leaves_drew_again():
    X = np.random.default_rng(0).integers(2, size=(3000, 2)).astype(float)
    forest = OnlineForestClassifier(3, kept_points=0, random_state=0)
    forest.partial_fit(X, X[:, 0].astype(int))
    ties = departure(certificate(forest), "ties")
    assert ties.found and f"{forest.stats()['stuck']} active leaves" in ties.note


@pytest.mark.filterwarnings("ignore::riparian.parameters.schedules.ConsistencyWarning")
@pytest.mark.parametrize(
    ("alpha", "fringe_size", "verdict"),
    [
        (Geometric(5, 1), None, "No guarantee"),
        (Polynomial(5, 1), None, "Consistent if the assumptions hold"),
        (Polynomial(5, 1), 3, "The forest is consistent if its fringe is not bounded"),
        (Geometric(5, 1.1), 3, "Consistent, by the paper's extension to a bounded fringe,"),
    ],
)
def test_the_verdict_knows_the_fringe(alpha, fringe_size, verdict):
    forest, _ = grown(alpha=alpha, fringe_size=fringe_size)
    assert certificate(forest).verdict.startswith(verdict)


def test_a_budget_has_not_bound_until_it_evicts_a_leaf_or_stops_a_tree():
    early, _ = grown(points=300, max_memory=300_000)
    assert not early.stats()["budget_binds"]
    result = certificate(early)
    assert departure(result, "a budget of memory").note.startswith("not bound yet")
    assert result.verdict == (
        "Consistent if the assumptions hold; a budget of memory has had no effect yet."
    )
    late, _ = grown(points=30_000, max_memory=300_000)
    assert late.stats()["budget_binds"]
    bound = certificate(late)
    assert departure(bound, "a budget of memory").note.startswith("it binds")
    assert bound.verdict.startswith("The theorem does not cover this forest: ")


def test_a_budget_that_keeps_leaves_waiting_bounds_the_fringe():
    forest, _ = grown(points=2000, max_memory=300_000, kept_points=500)
    assert forest.stats()["active"] < forest.stats()["leaves"]
    assert not forest.stats()["budget_binds"]
    assert certificate(forest).verdict.startswith(
        "Consistent, by the paper's extension to a bounded fringe,"
    )


# -- kept points ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kept_points", [1, 50, 500, 10_000])
@pytest.mark.parametrize("fringe_size", [None, 6])
def test_a_forest_with_kept_points_has_a_certificate(kept_points, fringe_size):
    forest, X = grown(kept_points=kept_points, fringe_size=fringe_size)
    result = certificate(forest, X)
    assert f"W = {kept_points:,}" in departure(result, "kept points").note
    assert result.verdict.startswith("Consistent")
    assert result.spare_points >= 0  # every leaf holds what n-to-infty requires
    assert result.growth.splits <= result.growth.most_splits
    assert result.growth.depth <= result.growth.most_depth
    assert math.isfinite(certificate(forest).cells.diameters[-1])
    json.dumps(result.to_dict(), allow_nan=False)


def test_kept_points_may_count_for_more_splits_than_the_paper_allows():
    """Or the bound would be that of the paper: `max_splits` halves what a split takes."""
    X, y = MIXTURE.sample(60, 0)
    trees = OnlineForestClassifier(
        50, eager=False, kept_points=100, alpha=Geometric(1, 1.01), beta=1, random_state=0
    )
    result = certificate(trees.partial_fit(X, y)).growth
    alpha = Geometric(1, 1.01)
    assert max_splits(result.estimation_points, alpha) < result.splits <= result.most_splits
    assert result.most_splits == max_splits(result.estimation_points, alpha, kept=True)
    assert result.most_depth == max_path(result.estimation_points, alpha, kept=True)


def test_looks_that_found_nothing_are_not_taken_for_ties():
    forest, _ = grown(kept_points=1000, alpha=Geometric(20, 1.05), beta=1)
    ties = departure(certificate(forest), "ties")
    assert ties.found is None and "drew again" in ties.note


# -- as a table, as a dict ------------------------------------------------------------------------


def test_it_is_a_table_and_a_dict_that_json_takes():
    result = certificate(grown(fringe_size=5)[0])
    rows = result.rows()
    assert all(len(row) == 4 and all(isinstance(text, str) for text in row) for row in rows)
    sections = list(dict.fromkeys(row[0] for row in rows))
    assert sections == [
        "theorem", "conditions", "growth", "cells", "fringe", "assumptions", "departures"
    ]  # fmt: skip
    lines = str(result).splitlines()
    assert len(lines) == len(rows) + len(sections)
    value_ends = {line.index("yes") + 3 for line in lines if line.startswith("  α")}
    assert len(value_ends) == 1
    as_dict = result.to_dict()
    assert json.loads(json.dumps(as_dict, allow_nan=False)) == as_dict
    assert as_dict["growth"]["splits"] == result.growth.splits


def test_a_forest_that_only_predicts_leaves_out_its_fringe():
    forest, X = grown(fringe_size=5)
    lean = from_bytes(forest.to_bytes(prediction_only=True))
    result = certificate(lean, X)
    assert result.fringe is None
    assert departure(result, "ties").found is None
    assert "fringe" not in {row[0] for row in result.rows()}
    assert result.growth == certificate(forest).growth
    assert result.cells == certificate(forest, X).cells
    assert math.isfinite(certificate(lean).cells.diameters[-1])


# -- odd forests and odd points -------------------------------------------------------------------


def test_a_forest_that_has_seen_nothing_has_a_certificate():
    forest = OnlineForestClassifier(2).partial_fit(np.zeros((0, 3)), [], classes=[0, 1])
    result = certificate(forest)
    assert result.growth.splits == result.growth.most_splits == 0
    assert result.cells.points[-1] == 0
    assert result.cells.diameters == (1.0,) * len(QUANTILES)
    assert str(certificate(forest, [[1.0, 2.0, 3.0]]))


def test_missing_and_huge_values_are_taken():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    X[::7, 1] = np.nan
    X[:, 2] = np.where(rng.random(2000) < 0.5, -3e38, 3e38)
    X = np.column_stack([X, np.full(2000, np.nan)])
    forest = OnlineForestClassifier(3, random_state=0).fit(X, rng.integers(2, size=2000))
    for result in (certificate(forest), certificate(forest, X), certificate(forest, X[::7])):
        assert all(0 <= d <= 1 for d in result.cells.diameters)


def test_sparse_points_give_the_same_certificate_as_dense_ones():
    forest, X = grown()
    sparse = np.where(X > 4, X, 0)
    assert certificate(forest, csr_matrix(sparse)) == certificate(forest, sparse)


def test_no_points_have_no_cells():
    forest, _ = grown()
    with pytest.raises(ValueError, match="X must hold at least one point, got none"):
        certificate(forest, np.zeros((0, 2)))


# -- eager forests --------------------------------------------------------------------------------


def eager(points, **settings):
    return grown(points, **({"eager": True, "kept_points": 300} | settings))


@pytest.mark.parametrize("points", [0, 1, 300, 301, 320, 1000, 6000])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"fringe_size": 6},
        {"alpha": Geometric(3, 1.2), "beta": 10, "min_gain": 0.0},
        {"kept_points": 1},
        {"alpha": Geometric(1, 1.01), "beta": 1, "n_estimators": 20},
    ],
)
def test_the_bounds_of_an_eager_forest_count_from_the_turn(points, settings):
    forest, _ = eager(points, **settings)
    result = certificate(forest)
    growth, turn = result.growth, forest.kept_points
    assert result.eager.turned == (points > turn) and result.eager.turn == turn
    assert result.verdict.startswith("Consistent")
    assert result.spare_points >= 0
    assert 0 <= growth.splits <= growth.most_splits
    assert 0 <= growth.depth <= growth.most_depth
    if points <= turn:
        assert growth.splits == growth.most_splits == growth.depth == growth.most_depth == 0
    json.dumps(result.to_dict(), allow_nan=False)


def test_splits_since_the_turn_are_those_that_later_points_made():
    X, y = MIXTURE.sample(4000, 0)
    before, forest = (
        OnlineForestClassifier(1, eager=True, kept_points=300, random_state=0).partial_fit(
            X[:n], y[:n]
        )
        for n in (300, 4000)
    )
    nodes = len(before.model_.engine.tree(0).child)
    view = tree_view(forest, 0)
    made = int((~view.is_leaf).sum()) - (nodes - 1) // 2
    growth = certificate(forest).growth
    assert growth.splits == made > 10
    for name in ("feature", "threshold"):  # the tree at the turn is the top of the tree now
        inner = ~tree_view(before, 0).is_leaf
        then, now = getattr(tree_view(before, 0), name), getattr(view, name)
        np.testing.assert_array_equal(then[inner], now[:nodes][inner])
    deepest = 0
    for leaf in np.flatnonzero(view.is_leaf):
        path = [*path_to(view, leaf)]
        deepest = max(deepest, sum(node >= nodes for node in path))
    assert growth.depth == deepest


def path_to(view, node):
    while node >= 0:
        yield node
        node = view.parent[node]


def test_the_depths_of_an_eager_tree_are_at_most_those_of_a_balanced_one():
    """Deep eager leaves start at ⌈log2 W⌉: their next split takes α of that depth, no more."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.random(64))[:, np.newaxis] ** 9
    y = np.arange(64) % 2
    alpha = Geometric(2, 1.2)
    forest = OnlineForestClassifier(
        3, eager=True, kept_points=64, alpha=alpha, beta=10, random_state=0
    ).partial_fit(X, y)
    assert forest.stats()["depth"] > 6
    many = rng.random((3000, 1)) ** 9
    forest.partial_fit(many, rng.integers(2, size=3000))
    result = certificate(forest)
    assert result.growth.splits > 5
    assert result.spare_points >= 0
    assert result.growth.splits <= result.growth.most_splits
    unlimited = replace(forest.model_.engine.tree(0), spared_levels=np.zeros(1, np.uint32))
    depth, spared = unlimited.leaf_depth, forest.model_.engine.tree(0).spared_levels
    assert spared.max() > 0 and (depth - spared).max() < depth.max()


def test_the_share_of_eager_votes_is_that_of_the_leaves_and_shrinks():
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 1))
    X[:40, 0] = np.linspace(0, 1, 40)  # no cell is so small that no later point falls into it
    y = (rng.random(20_000) < X[:, 0]).astype(int)
    forest = OnlineForestClassifier(
        4, eager=True, kept_points=40, random_state=0, max_memory=None
    ).partial_fit(X[:40], y[:40])
    first = certificate(forest).eager
    assert (first.largest, first.mean, first.turned) == (1.0, 1.0, False)
    largest, mean = [1.0], [1.0]
    for start, stop in pairwise([40, 200, 1000, 5000, 20_000]):
        forest.partial_fit(X[start:stop], y[start:stop])
        votes = certificate(forest).eager
        shares = np.concatenate([tree.eager_votes / tree.leaf_points for tree in trees_of(forest)])
        assert votes.largest == shares.max() and votes.mean == pytest.approx(shares.mean())
        largest.append(votes.largest)
        mean.append(votes.mean)
    assert mean == sorted(mean, reverse=True) and mean[-1] < 0.01
    assert largest == sorted(largest, reverse=True) and largest[-1] < 0.2


def trees_of(forest):
    return [forest.model_.engine.tree(i) for i in range(forest.n_estimators)]


def test_the_largest_share_is_that_of_the_reference():
    X, y = MIXTURE.sample(500, 0)
    settings = {"alpha": Geometric(2, 1.1), "beta": 20, "min_gain": 0.1}
    reference = EagerForest(
        parameters(n_trees=2, seed=3, candidate_dims=1.0, kept_points=80, **settings),
        Columns(n_dims=2, rate=1.0),
    )
    reference.learn([np.float32(x) for x in X], y.tolist())
    forest = OnlineForestClassifier(
        2,
        random_state=3,
        candidate_dims=1.0,
        eager=True,
        kept_points=80,
        split_points=3,
        **settings,
    ).partial_fit(X, y)
    votes = certificate(forest).eager
    assert votes.largest == float(reference.largest_eager_share())


def test_an_eager_forest_that_only_predicts_has_the_same_certificate():
    forest, X = eager(2000)
    lean = from_bytes(forest.to_bytes(prediction_only=True))
    assert certificate(lean).growth == certificate(forest).growth
    assert certificate(lean).eager == certificate(forest).eager
    assert certificate(lean, X).spare_points == certificate(forest, X).spare_points


def test_an_eager_forest_is_told_as_covered_and_has_rows_of_its_own():
    result = certificate(eager(2000)[0])
    eager_points = departure(result, "eager points")
    assert eager_points.found and not eager_points.breaks
    rows = {row[1]: row for row in result.rows() if row[0] == "eager votes"}
    assert rows["largest share in a leaf"][2] == f"{result.eager.largest:.1%}"
    assert any("since the turn" in row[3] for row in result.rows() if row[0] == "growth")
    assert certificate(grown(kept_points=300)[0]).eager is None


def test_eager_without_kept_points_is_the_papers_forest():
    result = certificate(eager(1000, kept_points=0)[0])
    assert result.eager is None and not departure(result, "eager points").found
