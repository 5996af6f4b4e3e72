"""The native engine from Python: blocks, schedules, kernels, new columns, and the boundary."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import riparian
from riparian import _core
from riparian.engine import native
from riparian.engine.rules import TREE_BYTES, core_rate, cut
from riparian.parameters.schedules import Geometric
from riparian.parameters.values import MAX_WEIGHT

from engines import (
    NEVER,
    Native,
    Reference,
    learned,
    leaves,
    mixture,
    parameters,
    splits,
    stream_of,
)

pytestmark = pytest.mark.engine


def engine(p, n_dims=2):
    forest = native.ColumnEngine(p, n_dims)
    forest.set_classes(np.arange(5), 5)
    return forest


def arrays(n, seed=0):
    X, y = mixture(n, seed)
    return X, y.astype(np.uint32)


# -- streams and rates ----------------------------------------------------------------------------


@pytest.mark.parametrize("fraction", [0.5, 0.3, 1 / 3, 1e-300, 1 - 2**-53, 0.1 + 0.2])
def test_a_cut_separates_the_uniforms_below_a_fraction_from_the_others(fraction):
    place = cut(fraction)
    assert (place - 1) * 2.0**-53 < fraction
    assert not place * 2.0**-53 < fraction


@pytest.mark.parametrize("rate", [0.0, 0.5, 1.0, 3.7, 2000.0])
def test_the_root_draws_the_dimensions_of_the_reference(rate):
    for seed in range(5):
        p = parameters(seed=seed, candidate_dims=rate)
        native_root = Native(p, 3000).tree()[0]
        assert native_root == Reference(p, 3000).tree()[0]


def test_a_rate_is_its_whole_part_and_the_rest():
    assert isinstance(core_rate(2.5), _core.Rate)


# -- blocks ---------------------------------------------------------------------------------------


def test_a_batch_is_cut_into_blocks_that_change_nothing():
    X, y = arrays(2 * _core.block + 7)
    p = parameters(n_trees=2, min_gain=0.05, beta=8)
    whole, pieces = engine(p), engine(p)
    whole.learn(X, y, None, workers=1)
    for first in range(0, len(X), 1000):
        pieces.learn(X[first : first + 1000], y[first : first + 1000], None, workers=2)
    assert whole.core.points == pieces.core.points == len(X)
    X_test, _ = arrays(500, seed=1)
    np.testing.assert_array_equal(
        whole.predict_proba(X_test, workers=1), pieces.predict_proba(X_test, workers=1)
    )
    assert whole.core.stats() == pieces.core.stats()


def test_sizes_are_what_the_stats_of_all_trees_add_up_to():
    X, y = arrays(2000)
    forest = engine(parameters(n_trees=3, min_gain=0.05, beta=8, fringe_size=20))
    forest.learn(X, y, None, workers=1)
    sizes, stats = forest.core.sizes(), forest.core.stats()
    assert sizes == {name: sum(tree[name] for tree in stats) for name in sizes}
    assert min(sizes.values()) > 0
    kinds = ("node_bytes", "leaf_bytes", "fringe_bytes")
    assert forest.core.largest_tree() == max(sum(tree[kind] for kind in kinds) for tree in stats)


def test_many_predictions_are_made_in_blocks_that_change_nothing():
    X, y = arrays(2 * _core.block + 7)
    forest = engine(parameters(n_trees=3))
    forest.learn(X[:500], y[:500], None, workers=1)
    whole = forest.predict_proba(X, workers=2)
    pieces = [forest.predict_proba(X[i : i + 999], workers=1) for i in range(0, len(X), 999)]
    np.testing.assert_array_equal(whole, np.vstack(pieces))
    assert forest.core.apply(X).shape == forest.core.predict_trees(X).shape == (len(X), 3)


def test_a_wide_matrix_has_shorter_blocks():
    narrow, wide = (native.ColumnEngine(parameters(), dims)._block_points() for dims in (2, 10**6))
    assert wide < narrow <= _core.block
    assert wide >= 1


def test_a_block_that_is_too_long_is_an_internal_error():
    X, y = arrays(_core.block + 1)
    with pytest.raises(RuntimeError, match="at most 4096 points"):
        engine(parameters()).core.learn(X, y, None, 1, len(X))


def test_the_length_of_the_blocks_of_the_core_makes_no_difference():
    """The core cuts them apart: with their weights, and whatever remains at the end."""
    X, y = arrays(1000)
    weights = np.linspace(0.5, 3, len(X))
    whole, pieces = engine(parameters(n_trees=3)), engine(parameters(n_trees=3))
    for forest, block_points in ((whole, len(X)), (pieces, 64)):
        forest._reach(len(X))
        forest.core.learn(X, y, weights, 1, block_points)
    assert whole.core.points == pieces.core.points == len(X)
    assert whole.core.stats() == pieces.core.stats()
    np.testing.assert_array_equal(
        whole.predict_proba(X, workers=1), pieces.predict_proba(X, workers=1)
    )


# -- schedules ------------------------------------------------------------------------------------


A_LEVEL = [("structure", 0.0), ("estimation", 0.0), ("estimation", 0.5), ("structure", 0.5)]


def deep_parameters():
    """One point a side is enough at any depth, and the root gets what it needs at once."""
    needed = [stream for stream, _ in A_LEVEL]
    seed = next(s for s in range(99) if stream_of(parameters(seed=s), 0, 4).tolist() == needed)
    p = parameters(seed=seed, candidate_dims=0.0, split_points=1)
    return replace(p, alpha=Geometric(1, 1), beta=Geometric(1, 1))


DEEP = deep_parameters()


def deepening(n):
    """A stream that gives the deepest leaf, which is the rightmost, just what it needs to split.

    At level k that is a threshold at k, an estimation point on either side, and a structure point.
    A point that is sent to another stream than the one needed is put far to the left.
    """
    X, level, step = np.full((n, 1), -1, dtype=np.float32), 0, 0
    for t, stream in enumerate(stream_of(DEEP, 0, n)):
        if stream == A_LEVEL[step][0]:
            X[t] = level + A_LEVEL[step][1]
            step += 1
        if step == len(A_LEVEL):
            level, step = level + 1, 0
    return X, np.arange(n) % 2, level


def test_schedules_reach_as_deep_as_any_tree_can_grow():
    X, y, level = deepening(2000)
    deep = Native(DEEP, 1)
    for first, last in ((0, 1), (1, 2), (2, 40), (40, 2000)):
        deep.learn(X[first:last], y[first:last])
    assert deep.stats()[0]["depth"] == level > 200
    assert splits(deep.tree()) == splits(learned(Reference, DEEP, X, y).tree())


@pytest.mark.parametrize("rows", [1, 2, 3, 64])
def test_small_batches_never_outrun_the_schedules(rows):
    X, y, level = deepening(600)
    pieces = Native(DEEP, 1)
    for first in range(0, 600, rows):
        pieces.learn(X[first : first + rows], y[first : first + rows])
        assert pieces.forest.depths > pieces.forest.core.depth
    assert pieces.forest.core.depth == level
    assert pieces.tree() == learned(Native, DEEP, X, y).tree()


def test_a_schedule_that_overflows_means_never():
    p = parameters(alpha=Geometric(1, 1e200), beta=1e300, min_gain=0.0)
    X, y = mixture(400)
    tree = learned(Native, p, X, y).tree()
    assert max(leaf[1] for leaf in leaves(tree).values()) == 1
    assert tree == learned(Reference, p, X, y).tree()


# -- columns that join ----------------------------------------------------------------------------


def test_leaves_that_enter_later_may_look_at_columns_that_have_joined():
    p = parameters(candidate_dims=50.0)
    forest = engine(p, n_dims=1)
    X, y = arrays(400)
    forest.learn(X[:200, :1].copy(), y[:200], None, workers=1)
    before = forest.tree(0)
    forest.set_dims(2)
    forest.learn(X[200:], y[200:], None, workers=1)
    after = forest.tree(0)
    assert set(before.feature.tolist()) == {0}
    assert set(after.feature.tolist()) == {0, 1}
    inner = before.child > 0
    np.testing.assert_array_equal(after.feature[: len(inner)][inner], 0)


# -- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1.0, 255.0, 256.0, 65536.0, 2.0**20])
def test_counters_widen_and_never_wrap(weight):
    X, y = mixture(300)
    p = parameters(min_gain=0.05, beta=float(300 * weight))
    same = np.full(300, weight)
    fast, slow = Native(p, 2), Reference(p, 2)
    fast.learn(X, y, same)
    slow.learn(X, y, same)
    assert fast.tree() == slow.tree()


def test_the_engines_agree_on_the_largest_weights_that_validation_allows():
    X, y = mixture(800)
    p = parameters(min_gain=9, beta=float(150 * MAX_WEIGHT), candidate_dims=5.0)
    heavy = np.full(800, MAX_WEIGHT)
    fast, slow = Native(p, 2), Reference(p, 2)
    fast.learn(X, y, heavy)
    slow.learn(X, y, heavy)
    assert fast.tree() == slow.tree()


# -- kernels --------------------------------------------------------------------------------------


@pytest.fixture
def each_kernel():
    names = _core.kernel_names()
    yield names
    _core.use_kernels(names[-1])


def test_every_instruction_set_predicts_the_same_bits(each_kernel):
    X, y = arrays(600)
    answers = []
    for name in each_kernel:
        _core.use_kernels(name)
        forest = engine(parameters(n_trees=3, candidate_dims=5.0))
        forest.learn(X, y, None, workers=1)
        answers.append(forest.predict_proba(X, workers=1).tolist())
    assert all(answer == answers[0] for answer in answers)


def odd_values(rng, shape):
    """Ties, zeros of both signs, the smallest and largest numbers there are, missing values."""
    tiny, largest = np.float32(1e-45), np.finfo(np.float32).max
    values = np.array([-largest, -1, -tiny, -0.0, 0.0, tiny, 1, largest, np.nan], dtype=np.float32)
    X = rng.normal(size=shape).astype(np.float32)
    odd = rng.random(shape) < 0.5
    X[odd] = rng.choice(values, odd.sum())
    return X


@pytest.mark.parametrize("voting", ["average", "majority"])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 7, 8, 11, 12, 26])
def test_many_points_are_answered_like_each_alone(each_kernel, n_classes, voting):
    """Of many, rows become keys and leaves answer once (core/predicting); of one, they do not."""
    rng = np.random.default_rng(n_classes)
    X = odd_values(rng, (500, 11))
    y = ((X[:, 0] <= 0) + rng.integers(n_classes - 1, size=500)).astype(np.uint32)
    p = parameters(n_trees=3, candidate_dims=3.0, voting=voting)
    for name in each_kernel:
        _core.use_kernels(name)
        forest = native.ColumnEngine(p, 11)
        forest.set_classes(rng.permutation(n_classes), n_classes)
        forest.learn(X, y, None, workers=1)
        leaves_of_a_tree = max(tree["leaves"] for tree in forest.core.stats())
        assert 2 < leaves_of_a_tree <= 497 // 2
        together = forest.predict_proba(X[:497], workers=1)
        alone = [forest.predict_proba(X[i : i + 1], workers=1)[0] for i in range(497)]
        assert together.tolist() == [row.tolist() for row in alone]


@pytest.mark.parametrize("n_dims", [11, 200])
@pytest.mark.parametrize("noise", [0.0, 0.5, 1.0])
def test_rows_that_stop_above_their_leaf_are_answered_like_each_alone(each_kernel, noise, n_dims):
    """The noisier the labels, the larger the cells that are trusted, and the higher a row stops.

    Wide rows are not made into keys. Every instruction set learns the same forest.
    """
    rng = np.random.default_rng(0)
    X = odd_values(rng, (1200, n_dims))
    y = np.where(rng.random(1200) < noise, rng.integers(5, size=1200), X[:, 0] <= 0)
    p = parameters(n_trees=2, candidate_dims=3.0, kept_points=2000, eager=True)
    answers, trusts = [], []
    for name in each_kernel:
        _core.use_kernels(name)
        forest = native.ColumnEngine(p, n_dims)
        forest.set_classes(np.arange(5), 5)
        forest.learn(X, y.astype(np.uint32), None, workers=1)
        together = forest.predict_proba(X, workers=1)
        alone = [forest.predict_proba(X[i : i + 1], workers=1)[0].tolist() for i in range(300)]
        assert together[:300].tolist() == alone
        answers.append(together.tolist())
        trusts.append(forest.trust())
    assert all(answer == answers[0] for answer in answers)
    assert noise < 1.0 or trusts[0][1] < 0.5


def test_keys_are_not_made_of_rows_too_wide_for_few_trees():
    rng = np.random.default_rng(0)
    X = odd_values(rng, (300, 80))
    y = (X[:, 0] <= 0).astype(np.uint32)
    forest = native.ColumnEngine(parameters(n_trees=2, candidate_dims=60.0), 80)
    forest.set_classes(np.arange(2), 2)
    forest.learn(X, y, None, workers=1)
    together = forest.predict_proba(X, workers=1)
    alone = [forest.predict_proba(X[i : i + 1], workers=1)[0].tolist() for i in range(300)]
    assert together.tolist() == alone


@pytest.mark.parametrize("split_points", [1, 7, 8, 9, 16, 17, 40])
@pytest.mark.parametrize("n_dims", [1, 8, 9])
def test_every_instruction_set_counts_the_same_in_every_shape(each_kernel, split_points, n_dims):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, n_dims)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(3, size=150)
    p = parameters(candidate_dims=50.0, split_points=split_points, min_gain=9, beta=NEVER)
    trees = []
    for name in each_kernel:
        _core.use_kernels(name)
        trees.append(learned(Native, p, X, y).tree())
    assert all(tree == trees[0] for tree in trees)


def test_there_is_always_a_kernel_that_runs_anywhere(each_kernel):
    assert len(each_kernel) >= 1
    assert each_kernel[0] == "baseline"


# -- the boundary ---------------------------------------------------------------------------------

STUB = Path(riparian.__file__).with_name("_core.pyi")


def public(names):
    return {name for name in names if not name.startswith("_") or name == "__init__"}


def stubbed():
    """What the stub promises: its names, and for each class and function the parameters."""
    names, members, classes = set(), {}, {}
    for node in ast.parse(STUB.read_text("utf-8")).body:
        if isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
            members[node.name] = parameter_names(node)
        elif isinstance(node, ast.ClassDef):
            classes[node.name] = node
    for name, node in classes.items():
        if name.startswith("_"):  # what several share
            continue
        names.add(name)
        family = with_bases(node, classes)
        for member in [m for c in family for m in c.body if isinstance(m, ast.FunctionDef)]:
            is_property = any(
                isinstance(d, ast.Name) and d.id == "property" for d in member.decorator_list
            )
            members[f"{name}.{member.name}"] = None if is_property else parameter_names(member)
    return names, members


def with_bases(node, classes):
    return [node, *(each for base in node.bases for each in with_bases(classes[base.id], classes))]


def parameter_names(function):
    return [argument.arg for argument in function.args.args if argument.arg != "self"]


def real():
    """What the module has, from the signatures in its docstrings."""
    names, members = public(vars(_core)), {}
    for name in names:
        value = getattr(_core, name)
        if inspect.isclass(value):
            for member in public(vars(value)):
                attribute = vars(value)[member]
                is_property = isinstance(attribute, property) or not callable(attribute)
                if attribute.__doc__ == object.__init__.__doc__:  # Python does not make these
                    continue
                members[f"{name}.{member}"] = None if is_property else signature(attribute)
        elif callable(value):
            members[name] = signature(value)
    return names, members


def signature(function):
    first = function.__doc__.splitlines()[0]
    inside = re.fullmatch(r"\w+\((.*)\)( -> .*)?", first)[1]
    depth, words = 0, [""]
    for letter in inside:
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            words.append("")
        else:
            words[-1] += letter
    names = [word.split(":")[0].split("=")[0].strip() for word in words]
    return [word for word in names if word not in ("", "self", "/", "*")]


def test_the_stub_names_what_the_module_has_and_nothing_else():
    assert stubbed()[0] == real()[0]
    assert stubbed()[1].keys() == real()[1].keys()


def test_the_stub_names_the_parameters_as_the_module_does():
    promised, actual = stubbed()[1], real()[1]
    assert promised == actual


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.ones((5, 2)), np.zeros(5, dtype=np.uint32)),
        (np.asfortranarray(np.ones((5, 2), dtype=np.float32)), np.zeros(5, dtype=np.uint32)),
        (np.ones((5, 2), dtype=np.float32), np.zeros(5, dtype=np.float64)),
        (np.ones(5, dtype=np.float32), np.zeros(5, dtype=np.uint32)),
    ],
    ids=["float64", "column by column", "labels that are no numbers", "no matrix"],
)
def test_arrays_of_another_kind_do_not_cross_the_boundary_unseen(X, y):
    # They are turned away or made into the right kind, never read as what they are not.
    forest = engine(parameters())
    forest._reach(10)
    try:
        forest.core.learn(X, y, None, 1, len(X))
    except TypeError:
        assert forest.core.points == 0
    else:
        assert forest.core.points == 5


@pytest.mark.parametrize("voting", ["average", "majority"])
def test_the_parts_of_a_forest_are_its_trees_and_their_sums_add_up(voting):
    p = parameters(n_trees=5, voting=voting)
    X, y = mixture(600)
    whole = learned(Native, p, X, y)
    sums, voters = 0, 0
    for trees in (range(0, 2), range(2, 3), range(3, 5)):
        part = Native(p, X.shape[1], trees=trees)
        part.learn(X, y)
        assert [part.tree(i) for i in range(len(trees))] == [whole.tree(i) for i in trees]
        more_sums, more_voters = part.forest.predict_sums(X, workers=1)
        sums, voters = sums + more_sums, voters + more_voters
    shares = sums / (voters.astype(np.int64) * _core.whole_share)[:, np.newaxis]
    np.testing.assert_array_equal(shares, whole.forest.predict_proba(X, workers=2))


def test_an_empty_tree_fits_the_memory_that_is_set_aside_for_it():
    assert _core.tree_bytes + 512 <= TREE_BYTES
