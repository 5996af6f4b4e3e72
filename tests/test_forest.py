"""The estimator: what a user who has a stream and knows scikit-learn can rely on."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.metrics import accuracy_score

from riparian import Geometric, OnlineForestClassifier
from riparian.reference import SHUFFLE_DRAW, Draws, key

from engines import Reference, drawn_by, histogram, leaf_of, mixture, parameters, trees_of

pytestmark = pytest.mark.engine

X, Y = mixture(1200, seed=5)
X_TEST, Y_TEST = mixture(200, seed=6)


SETTINGS = {  # spelled out, so that better defaults change no test
    "n_estimators": 5,
    "candidate_dims": "sqrt",
    "min_gain": 0.01,
    "alpha": Geometric(1, 1.05),
    "beta": 100,
    "kept_points": 0,
    "max_memory": None,
    "random_state": 0,
}


def forest(**changes):
    return OnlineForestClassifier(**(SETTINGS | changes))


def state(forest):
    return forest.stats()["points"], forest.classes_.tolist(), trees_of(forest)


@pytest.fixture(scope="module")
def grown():
    return forest().partial_fit(X, Y)


# -- predictions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("voting", ["average", "majority"])
def test_predict_is_the_argmax_of_predict_proba(voting):
    f = forest(voting=voting).partial_fit(X, Y)
    proba = f.predict_proba(X_TEST)
    np.testing.assert_array_equal(f.predict(X_TEST), f.classes_[proba.argmax(axis=1)])


@pytest.mark.parametrize("voting", ["average", "majority"])
def test_probabilities_are_probabilities(voting):
    proba = forest(voting=voting).partial_fit(X, Y).predict_proba(X_TEST)
    assert (proba.shape, proba.dtype) == ((200, 5), np.float64)
    assert np.all((proba >= 0) & (proba <= 1))
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)


def test_the_forest_has_learned_something(grown):
    assert grown.score(X_TEST, Y_TEST) > 0.5  # the commonest class is a third


def test_log_probabilities_are_the_logarithms(grown):
    proba, log_proba = grown.predict_proba(X_TEST), grown.predict_log_proba(X_TEST)
    assert np.any(proba == 0)
    np.testing.assert_array_equal(np.exp(log_proba)[proba == 0], 0)
    np.testing.assert_array_equal(log_proba[proba > 0], np.log(proba[proba > 0]))


def test_score_is_the_accuracy(grown):
    assert grown.score(X_TEST, Y_TEST) == accuracy_score(Y_TEST, grown.predict(X_TEST))


def test_majority_is_the_share_of_the_trees(grown):
    f = forest(voting="majority").partial_fit(X, Y)
    answers = f.predict_trees(X_TEST)
    shares = np.stack([(answers == k).mean(axis=1) for k in range(5)], axis=1)
    np.testing.assert_array_equal(f.predict_proba(X_TEST), shares)
    np.testing.assert_array_equal(answers, grown.predict_trees(X_TEST))  # voting grows no tree


def test_average_is_the_mean_of_the_class_shares_in_the_leaves(grown):
    total = np.zeros((200, 5), dtype=np.int64)  # in units of 2^-40 (R11)
    for tree, reached in zip(trees_of(grown), grown.apply(X_TEST).T, strict=True):
        counts = [[histogram(tree[leaf]).get(k, 0) for k in range(5)] for leaf in reached]
        shares = counts / np.sum(counts, axis=1, keepdims=True)
        total += np.rint(shares * 2**40).astype(np.int64)
    np.testing.assert_array_equal(grown.predict_proba(X_TEST), total / (5 * 2**40))


def test_apply_follows_the_splits_to_a_leaf(grown):
    reached = grown.apply(X_TEST)
    assert (reached.shape, reached.dtype) == ((200, 5), np.int64)
    for i, tree in enumerate(trees_of(grown)):
        assert reached[:, i].tolist() == [leaf_of(tree, x) for x in X_TEST]


def test_a_tree_without_an_estimation_point_abstains():
    f = forest(n_estimators=40).partial_fit(X[:1], Y[:1])
    answers = f.predict_trees(X[:1])
    assert set(answers[0]) == {-1, 0}
    assert f.predict_proba(X[:1]).tolist() == [[1.0]]


def test_when_all_trees_abstain_every_class_is_as_likely():
    f = forest().partial_fit(X[:0], Y[:0], classes=[3, 1, 2])
    assert f.predict_proba(X[:2]).tolist() == [[1 / 3] * 3] * 2
    assert f.predict(X[:2]).tolist() == [1, 1]


def test_a_missing_value_is_learned_and_goes_right():
    f = forest(candidate_dims=0.0).partial_fit(np.full((1, 1), 1.0), [0])
    rng = np.random.default_rng(0)
    seen = np.where(rng.random(2000) < 0.5, np.nan, 1.0)[:, None]
    f.partial_fit(seen, np.isnan(seen[:, 0]).astype(int))
    assert f.predict([[1.0], [np.nan]]).tolist() == [0, 1]


# -- one stream, one forest (R13) -----------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_threads_and_batches_make_no_difference(grown, n_jobs):
    f = forest(n_jobs=n_jobs)
    for cut in (slice(0, 1), slice(1, 700), slice(700, 1200)):
        f.partial_fit(X[cut], Y[cut])
    assert state(f) == state(grown)
    np.testing.assert_array_equal(f.predict_proba(X_TEST), grown.predict_proba(X_TEST))


def test_a_batch_of_one_row_gives_the_same_prediction_as_a_large_one(grown):
    one_by_one = np.vstack([grown.predict_proba(x[None]) for x in X_TEST[:20]])
    np.testing.assert_array_equal(one_by_one, grown.predict_proba(X_TEST)[:20])


def test_the_layout_and_type_of_the_matrix_make_no_difference(grown):
    for same in (X.astype(np.float64), np.asfortranarray(X), X.tolist(), np.hstack([X, X])[:, :2]):
        assert state(forest().partial_fit(same, Y)) == state(grown)


def test_the_forest_is_that_of_the_reference():
    f = forest(candidate_dims=1.0, min_gain=0.001, alpha=Geometric(1, 1.1), beta=1000)
    f.partial_fit(X[:300], Y[:300])
    twin = Reference(parameters(n_trees=5), 2)
    twin.learn(X[:300], Y[:300])
    assert f.predict_proba(X_TEST).tolist() == twin.predict_proba(X_TEST)


def test_seeds_make_forests():
    same = [state(forest(random_state=s).partial_fit(X, Y)) for s in (0, np.int64(0))]
    assert same[0] == same[1]
    assert state(forest(random_state=1).partial_fit(X, Y)) != same[0]


def test_every_tree_is_its_own(grown):
    trees = trees_of(grown)
    assert all(tree != trees[0] for tree in trees[1:])


def test_a_random_state_gives_the_seed_and_moves_on():
    made = np.random.RandomState(7)
    first, second = (forest(random_state=made).partial_fit(X, Y) for _ in range(2))
    again = forest(random_state=np.random.RandomState(7)).partial_fit(X, Y)
    assert state(first) == state(again) != state(second)


def test_without_a_seed_every_forest_is_new():
    first, second = (forest(random_state=None).partial_fit(X, Y) for _ in range(2))
    assert state(first) != state(second)


# -- fit ------------------------------------------------------------------------------------------


def test_fit_without_shuffling_is_partial_fit_pass_by_pass():
    fitted = forest(passes=2, shuffle=False).fit(X, Y)
    streamed = forest().partial_fit(X, Y, classes=np.unique(Y)).partial_fit(X, Y)
    assert state(fitted) == state(streamed)


def order_of_pass(seed, n, rows):
    """R13: the rows of a pass in the order of a word each, drawn for that pass."""
    draws = Draws(key(seed, SHUFFLE_DRAW, n))
    return np.argsort([draws.uniform() for _ in range(rows)], kind="stable")


def test_a_shuffled_pass_is_partial_fit_in_its_order():
    fitted = forest(passes=2, random_state=3).fit(X, Y)
    streamed = forest(random_state=3)
    for n in (0, 1):
        order = order_of_pass(3, n, len(X))
        streamed.partial_fit(X[order], Y[order], classes=np.unique(Y))
    assert state(fitted) == state(streamed)


def test_every_pass_and_every_seed_has_an_order_of_its_own():
    orders = {tuple(order_of_pass(seed, n, 50)) for seed in (0, 1) for n in (0, 1)}
    assert len(orders) == 4
    assert all(sorted(order) == list(range(50)) for order in orders)


def test_shuffling_saves_data_sorted_by_class():
    order = np.argsort(Y, kind="stable")
    sorted_, shuffled = (
        forest(shuffle=shuffle).fit(X[order], Y[order]).score(X_TEST, Y_TEST)
        for shuffle in (False, True)
    )
    assert shuffled > sorted_ + 0.05


def test_fit_starts_again():
    f = forest().partial_fit(X[:, :1], np.where(Y, "a", "b"))
    assert state(f.fit(X, Y)) == state(forest().fit(X, Y))
    assert f.n_features_in_ == 2
    assert f.classes_.tolist() == [0, 1, 2, 3, 4]


def test_partial_fit_continues_from_fit():
    f = forest().fit(X[:600], Y[:600])
    f.partial_fit(X[600:], Y[600:])
    assert f.stats()["points"] == 1200


def test_learning_returns_the_forest():
    f = forest()
    assert f.fit(X, Y) is f
    assert f.partial_fit(X, Y) is f


# -- weights (R17) --------------------------------------------------------------------------------


def test_weights_of_one_are_no_weights(grown):
    assert state(forest().partial_fit(X, Y, sample_weight=np.ones(1200))) == state(grown)


def test_a_point_of_no_weight_was_never_there():
    there = np.arange(1200) % 4 > 0
    weighted = forest().partial_fit(X, Y, sample_weight=there)
    assert state(weighted) == state(forest().partial_fit(X[there], Y[there]))


def test_a_label_of_no_weight_does_not_join():
    weights = np.where(Y == 4, 0.0, 1.0)
    assert forest().partial_fit(X, Y, sample_weight=weights).classes_.tolist() == [0, 1, 2, 3]


def test_a_weight_counts_its_copies():
    tripled = forest().partial_fit(X, Y, sample_weight=np.full(1200, 3)).stats()
    assert tripled["structure_points"] + tripled["estimation_points"] == 3 * 1200 * 5
    assert tripled["points"] == 1200


def test_fit_takes_the_weights_along_when_it_shuffles():
    there = np.arange(1200) % 2 > 0
    f = forest().fit(X, Y, sample_weight=np.where(there, 1e6, 0))
    for tree in f.stats()["trees"]:
        assert tree["structure_points"] + tree["estimation_points"] == 600 * 10**6


# -- labels (R17) ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [
        np.array([0, 1, 2, 3, 4]),
        np.array([-5, 7, 100, -200, 3]),
        np.array([3, 250, 1, 7, 0], dtype=np.uint8),
        np.array(["ash", "oak", "fir", "yew", "elm"]),
        np.array(["ash", "oak", "fir", "yew", "elm"], dtype=object),
        np.array([False, True, True, False, True]),
        np.array([2.0, 4.0, 8.0, 0.0, -1.0]),
    ],
    ids=["int", "any int", "uint8", "str", "object", "bool", "float"],
)
def test_labels_of_every_kind_come_back_as_they_went_in(names):
    f = forest().partial_fit(X, names[Y])
    assert f.classes_.dtype == names.dtype
    assert f.classes_.tolist() == sorted(set(names.tolist()))
    answers = f.predict(X_TEST)
    assert answers.dtype == names.dtype
    assert f.score(X_TEST, names[Y_TEST]) > 0.5


def test_the_names_of_the_classes_change_no_answer(grown):
    names = np.array(["e", "a", "d", "b", "c"])
    renamed = forest().partial_fit(X, names[Y])
    np.testing.assert_array_equal(
        renamed.predict_proba(X_TEST)[:, np.argsort(np.argsort(names))],
        grown.predict_proba(X_TEST),
    )


def test_a_late_class_joins_in_its_place():
    f = forest().partial_fit(X[Y != 2], Y[Y != 2])
    assert f.classes_.tolist() == [0, 1, 3, 4]
    before, leaves = f.predict_proba(X_TEST), f.apply(X_TEST)
    f.partial_fit(X_TEST[:1].repeat(50, axis=0), np.full(50, 2))
    after = f.predict_proba(X_TEST)
    assert f.classes_.tolist() == [0, 1, 2, 3, 4]
    assert after[0, 2] > 0
    elsewhere = np.all(leaves != leaves[0], axis=1)
    assert np.any(elsewhere)
    np.testing.assert_array_equal(after[elsewhere][:, [0, 1, 3, 4]], before[elsewhere])
    assert np.all(after[elsewhere][:, 2] == 0)


def test_a_class_that_was_given_but_never_came_has_no_probability(grown):
    f = forest().partial_fit(X, Y, classes=[-1, 0, 1, 2, 3, 4, 9])
    proba = f.predict_proba(X_TEST)
    assert f.classes_.tolist() == [-1, 0, 1, 2, 3, 4, 9]
    np.testing.assert_array_equal(proba[:, 1:-1], grown.predict_proba(X_TEST))
    assert np.all(proba[:, [0, -1]] == 0)


def test_classes_given_in_any_order_are_sorted():
    assert forest().partial_fit(X, Y, classes=[4, 0, 3, 1, 2, 0]).classes_.tolist() == [
        0,
        1,
        2,
        3,
        4,
    ]


def test_the_same_classes_may_be_given_again():
    f = forest().partial_fit(X, Y, classes=range(5)).partial_fit(X, Y, classes=[4, 3, 2, 1, 0])
    assert f.stats()["points"] == 2400


@pytest.mark.parametrize("voting", ["average", "majority"])
@pytest.mark.parametrize("labels", [["b", "a"], ["a", "b"]])
def test_ties_go_to_the_first_of_the_sorted_classes_in_any_order_of_arrival(voting, labels):
    f = forest(n_estimators=1, voting=voting, structure_fraction=1e-300)
    f.partial_fit([[0.0], [0.0]], labels)
    assert f.predict([[0.0]]).tolist() == ["a"]
    assert f.predict_trees([[0.0]]).tolist() == [[0]]


def test_one_class_is_enough():
    f = forest().partial_fit(X, np.zeros(1200, dtype=int))
    assert f.predict_proba(X_TEST).tolist() == [[1.0]] * 200


# -- parameters -----------------------------------------------------------------------------------


def test_parameters_are_read_and_set_as_scikit_learn_requires():
    f = forest(alpha=Geometric(2, 1.3), fringe_size=7)
    assert clone(f).get_params() == f.get_params()
    assert f.set_params(min_gain=0.5).min_gain == 0.5


def test_the_parameters_of_a_forest_that_has_started_are_settled():
    f = forest().partial_fit(X[:600], Y[:600])
    f.set_params(min_gain=100, voting="majority", n_estimators=1, random_state=9, fringe_size=1)
    f.partial_fit(X[600:], Y[600:])
    untouched = forest().partial_fit(X, Y)
    assert state(f) == state(untouched)
    np.testing.assert_array_equal(f.predict_proba(X_TEST), untouched.predict_proba(X_TEST))


def test_they_count_from_the_next_fit():
    f = forest().partial_fit(X, Y).set_params(n_estimators=2, random_state=9).fit(X, Y)
    assert state(f) == state(forest(n_estimators=2, random_state=9).fit(X, Y))


def test_the_number_of_threads_may_change_at_any_time(grown):
    f = forest().partial_fit(X[:600], Y[:600]).set_params(n_jobs=2)
    assert state(f.partial_fit(X[600:], Y[600:])) == state(grown)


def test_learning_leaves_the_parameters_alone():
    f = forest(random_state=3)
    before = f.get_params()
    assert f.fit(X, Y).get_params() == before


def test_more_candidate_dimensions_are_drawn_on_request():
    def mean_dims(rate):
        f = forest(candidate_dims=rate, n_estimators=50).partial_fit(np.ones((1, 100)), [0])
        return np.mean([len(drawn_by(tree[0])) for tree in trees_of(f)])

    assert mean_dims(0.0) == 1
    assert 9 < mean_dims("sqrt") < 13
    assert 37 < mean_dims("4sqrt") < 45
    assert 47 < mean_dims(50.0) < 55


# -- stats ----------------------------------------------------------------------------------------

KEYS = {
    "structure_points", "estimation_points", "ignored_points", "should_splits", "must_splits",
    "splits", "leaves", "active", "pure", "stuck", "depth", "activations", "refreshes",
    "node_bytes", "leaf_bytes", "fringe_bytes", "bytes",
}  # fmt: skip


@pytest.mark.parametrize("fringe_size", [None, 1, 6])
def test_stats_are_consistent(fringe_size):
    f = forest(fringe_size=fringe_size, ignore_fraction=0.2, beta=4).partial_fit(X, Y)
    stats = f.stats()
    assert stats.keys() >= KEYS | {"points", "trees"}
    assert all(tree.keys() >= KEYS for tree in stats["trees"])
    assert stats["points"] == 1200
    for tree in stats["trees"]:
        streams = ("structure_points", "estimation_points", "ignored_points")
        assert sum(tree[stream] for stream in streams) == 1200
        assert tree["splits"] == tree["should_splits"] + tree["must_splits"] > 0
        assert tree["leaves"] == tree["splits"] + 1
        assert tree["pure"] <= tree["active"] <= tree["leaves"]
        assert tree["stuck"] <= tree["active"]
        assert tree["active"] == min(tree["leaves"], fringe_size or tree["leaves"])
        assert np.log2(tree["leaves"]) <= tree["depth"] <= tree["splits"]
        assert tree["bytes"] == tree["node_bytes"] + tree["leaf_bytes"] + tree["fringe_bytes"]
        assert min(tree["node_bytes"], tree["leaf_bytes"], tree["fringe_bytes"]) > 0
    for name in KEYS - {"depth"}:
        assert stats[name] == sum(tree[name] for tree in stats["trees"])
    assert stats["depth"] == max(tree["depth"] for tree in stats["trees"])


def test_must_splits_are_distinguished_from_should_splits():
    forced = forest(min_gain=50, beta=2).partial_fit(X, Y).stats()
    chosen = forest(min_gain=0.0, beta=1e9).partial_fit(X, Y).stats()
    assert forced["should_splits"] == chosen["must_splits"] == 0
    assert min(forced["must_splits"], chosen["should_splits"]) > 0


def test_a_leaf_of_one_class_is_pure_and_one_of_ties_is_stuck():
    same = np.ones((1200, 2))
    stats = forest(beta=4).partial_fit(same, np.zeros(1200, dtype=int)).stats()
    assert (stats["leaves"], stats["active"], stats["pure"], stats["stuck"]) == (5, 5, 5, 5)
    mixed = forest(beta=4).partial_fit(same, Y).stats()
    assert (mixed["leaves"], mixed["pure"], mixed["stuck"]) == (5, 0, 5)


def test_an_inactive_leaf_that_takes_a_place_is_an_activation():
    stats = forest(fringe_size=1).partial_fit(X, Y).stats()
    assert stats["activations"] == stats["splits"]
    assert stats["refreshes"] >= 0


def test_a_smaller_fringe_takes_less_memory():
    small, large = (forest(fringe_size=size).partial_fit(X, Y).stats() for size in (2, None))
    assert small["fringe_bytes"] < large["fringe_bytes"] / 4


def test_a_forest_that_has_started_knows_nothing():
    stats = forest().partial_fit(X[:0], Y[:0], classes=[0, 1]).stats()
    assert (stats["points"], stats["leaves"], stats["active"], stats["depth"]) == (0, 5, 5, 0)


# -- kept points ----------------------------------------------------------------------------------


def reference_of(f, weights=None, rows=X, labels=Y):
    twin = Reference(f.model_.engine.parameters, rows.shape[1])
    twin.learn(rows, labels, weights)
    return twin


@pytest.mark.parametrize("kept_points", [1, 200, 5000])
def test_a_forest_with_kept_points_is_that_of_the_reference(kept_points):
    f = forest(n_estimators=2, kept_points=kept_points).partial_fit(X, Y)
    twin = reference_of(f)
    assert trees_of(f) == [twin.tree(0), twin.tree(1)]
    assert f.predict_proba(X_TEST).tolist() == twin.predict_proba(X_TEST)


def test_with_weights_and_late_classes_it_is_too():
    weights = np.random.default_rng(0).choice([0.0, 0.4, 1.0, 3.0], len(X))
    order = np.argsort(Y, kind="stable")  # so that classes come one after the other
    f = forest(n_estimators=2, kept_points=300)
    for rows in np.array_split(order, 7):
        f.partial_fit(X[rows], Y[rows], sample_weight=weights[rows])
    heavy = order[weights[order] > 0]
    twin = reference_of(f, weights[heavy], X[heavy], Y[heavy])
    assert trees_of(f) == [twin.tree(0), twin.tree(1)]
    assert f.predict_proba(X_TEST).tolist() == twin.predict_proba(X_TEST)


def test_fit_keeps_points_over_its_passes():
    f = forest(n_estimators=2, kept_points=2000, passes=2, shuffle=False).fit(X, Y)
    twin = reference_of(f, rows=np.concatenate([X, X]), labels=np.concatenate([Y, Y]))
    assert trees_of(f) == [twin.tree(0), twin.tree(1)]
    assert f.fit(X, Y).memory()["kept"] == 2000 * (4 * 2 + 16)  # it starts from nothing


@pytest.mark.parametrize("kept_points", [100, 5000])
@pytest.mark.parametrize("sparse_from", [0, 1])
def test_sparse_rows_are_kept_as_they_are_and_mean_the_same(kept_points, sparse_from):
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((1000, 30)) < 0.1, rng.normal(size=(1000, 30)), 0)
    rows[rng.random(rows.shape) < 0.01] = np.nan
    labels = (np.nansum(rows[:, :5], axis=1) > 0).astype(int)
    dense = forest(kept_points=kept_points).partial_fit(rows, labels)
    mixed = forest(kept_points=kept_points)
    for i, part in enumerate(np.array_split(np.arange(1000), 4)):
        batch = rows[part] if i < sparse_from else csr_matrix(rows[part])
        mixed.partial_fit(batch, labels[part])
    assert mixed.model_.engine.sparse == (sparse_from == 0)
    assert trees_of(mixed) == trees_of(dense)
    for other in (copy.deepcopy(mixed), pickle.loads(pickle.dumps(mixed))):
        assert other.model_.engine.sparse == mixed.model_.engine.sparse
        other.partial_fit(rows[:200], labels[:200])
        assert trees_of(other) == trees_of(
            copy.deepcopy(dense).partial_fit(rows[:200], labels[:200])
        )


def test_a_sparse_row_is_charged_for_256_columns_at_most():
    wide = csr_matrix((1, 100_000))
    f = forest(kept_points="auto", max_memory="512MB").partial_fit(wide, [0])
    assert f.model_.engine.parameters.kept_points == 20_000
    assert f.memory()["kept"] == 4 * 256 + 16
    dense = forest(kept_points="auto", max_memory="512MB").partial_fit(wide.toarray(), [0])
    assert dense.model_.engine.parameters.kept_points == 512_000_000 // 8 // (400_000 + 16 + 4 * 5)


@pytest.mark.parametrize("kept_points", [50, 700, 5000])
def test_a_copy_of_a_forest_with_kept_points_continues_as_the_original_would(kept_points):
    f = forest(kept_points=kept_points).partial_fit(X[:600], Y[:600])
    for other in (copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert state(other) == state(f)
        assert other.memory() == f.memory()
        other.partial_fit(X[600:], Y[600:])
        assert state(other) == state(copy.deepcopy(f).partial_fit(X[600:], Y[600:]))


def test_young_leaves_are_counted_and_settle_when_their_points_are_lost():
    f = forest(kept_points=300).partial_fit(X[:300], Y[:300])
    early = f.stats()
    assert early["young"] == early["active"] == early["leaves"]
    late = f.partial_fit(X[300:], Y[300:]).stats()
    assert 0 < late["young"] < late["active"]
    assert forest(kept_points=0).partial_fit(X, Y).stats()["young"] == 0


def test_a_refused_number_of_kept_points_leaves_no_forest():
    f = forest(kept_points=100_000, max_memory="1MB")
    with pytest.raises(ValueError, match=r"kept_points must be at most \d+ for 5 trees"):
        f.partial_fit(X, Y)
    assert not hasattr(f, "classes_") and not hasattr(f, "n_features_in_")
