"""Numbers (R26), also on streams that change (R27): the native engine equals the reference."""

from __future__ import annotations

import copy
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riparian import _core
from riparian.engine import native
from riparian.engine.categories import CategoryTables
from riparian.model.numbers import Numbers
from riparian.parameters.forests import (
    MEMORIES,
    AdaptiveNumberParameters,
    ChangeParameters,
    NumberParameters,
)
from riparian.parameters.schedules import Geometric
from riparian.reference import Columns, Leaf
from riparian.reference_adaptive import AdaptiveTree
from riparian.reference_adaptive_numbers import AdaptiveNumberForest
from riparian.reference_eager import EagerTree
from riparian.reference_kept import KeepingTree
from riparian.reference_numbers import NumberForest

from equivalence import Reader, bits, reference_split
from strategies import cuts, mixed_streams, streams
from strategies import parameters as any_parameters

pytestmark = pytest.mark.engine

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

WINDOWS = (0, 1, 2, 7, 30, 100, 1000)  # kept points


@st.composite
def number_parameters(draw, max_trees=3):
    plain = draw(any_parameters(max_trees, WINDOWS))
    names = {field.name for field in fields(NumberParameters)}
    values = {name: value for name, value in vars(plain).items() if name in names}
    eager = draw(st.booleans())
    intervals = draw(st.sampled_from([(), (0.9,), (0.5, 0.99)])) if eager else ()
    lag = draw(st.sampled_from([0, 0, 1, 1, 2, 30])) if eager else 0
    if values["kept_points"] == 0:
        intervals, lag = (), 0
    return NumberParameters(**values | {"eager": eager, "intervals": intervals, "lag": lag})


@st.composite
def adaptive_number_parameters(draw, max_trees=3):
    plain = draw(number_parameters(max_trees))
    own = {"eager": True, "kept_points": draw(st.sampled_from(WINDOWS[1:]))}
    delta = draw(st.sampled_from([0.01, 0.3, 0.99]))
    return AdaptiveNumberParameters(**vars(plain) | own | {"drift_confidence": delta})


def all_parameters(max_trees=3):
    return number_parameters(max_trees) | adaptive_number_parameters(max_trees)


@st.composite
def targets(draw, y):
    """Targets that go with labels: whole numbers, noise, constants, and very different sizes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["labels", "noisy", "constant", "sizes", "million"]))
    if kind == "constant":
        return np.full(len(y), 0.1)
    y = y.astype(np.float64)
    for place in draw(st.lists(st.integers(0, len(y)), max_size=2)):  # the stream changes
        y[place:] = y[place:].max(initial=0) * 3 - y[place:]
    if kind == "labels":
        return y
    if kind == "sizes":
        return rng.normal(size=len(y)) * 10.0 ** rng.integers(-6, 7, size=len(y))
    return y + rng.normal(size=len(y)) + 1e6 * (kind == "million")


class Native:
    """The native engine with targets, fed in any batches."""

    def __init__(self, parameters, n_dims, categorical=(), trees=None):
        tables = CategoryTables.empty(categorical, most=None)
        self.engine = native.ColumnEngine(
            parameters, n_dims, trees=trees, categories=tables if tables.tables else None
        )
        self.target = Numbers()

    def learn(self, X, y, weights=None, workers=1):
        if weights is not None:
            there = weights > 0
            X, y, weights = X[there], y[there], weights[there]
        numbers = self.target.join(y)
        self.engine.learn(np.ascontiguousarray(X), numbers, weights, workers)

    def predict(self, X):
        means = self.engine.predict_means(np.ascontiguousarray(X), 1)[:, 0]
        return self.target.with_origin(means).tolist()

    def reborn(self):
        other = copy.copy(self)
        other.engine = copy.copy(self.engine)
        assert other.engine.sizes() == self.engine.sizes()
        return other


def double(value):
    """Return the bits of a float64, the same for all NaN."""
    return np.float64(value).view(np.uint64).item() if value == value else None


def sums_of(counts):
    return counts.n, double(counts.sum), double(counts.squares)


def reference_tree(tree):
    return {
        node.number: reference_leaf(node) if isinstance(node, Leaf) else reference_split(node)
        for node in tree.nodes()
    }


def reference_leaf(leaf):
    mine = (*sums_of(leaf.estimation), double(leaf.estimation.same))
    shared = (leaf.depth, leaf.born, mine, leaf.active)
    if not leaf.active:
        return ("leaf", *shared)
    candidates = [
        (
            c.feature,
            bits(c.threshold),
            c.born,
            (c.structure[0].n, double(c.structure[0].sum)),
            sums_of(c.structure[0].everyone),
            sums_of(c.estimation[0]),
            sums_of(c.estimation[0].everyone),
        )
        for c in leaf.candidates
    ]
    return ("leaf", *shared, leaf.attempt, leaf.received, list(leaf.dims), candidates)


def native_tree(arrays):
    nodes = {
        number: ("split", int(arrays["feature"][number]), bits(arrays["threshold"][number]), child)
        for number, child in enumerate(arrays["child"].tolist())
        if child
    }
    active = native_candidates(arrays)
    for i, number in enumerate(arrays["leaf_node"].tolist()):
        spared = int(arrays["spared_levels"][i]) if len(arrays["spared_levels"]) else 0
        sums = (
            int(arrays["leaf_weight"][i]),
            *(double(arrays[name][i]) for name in ("leaf_sum", "leaf_squares", "leaf_same")),
        )
        shared = (
            int(arrays["leaf_depth"][i]) - spared,
            int(arrays["leaf_born"][i]),
            sums,
            bool(arrays["leaf_active"][i]),
        )
        nodes[number] = ("leaf", *shared, *(next(active) if shared[-1] else ()))
    return nodes


def native_candidates(arrays):
    read = {name: Reader(array) for name, array in arrays.items()}
    for i in range(len(arrays["dims"])):
        dims, points = int(arrays["dims"][i]), int(arrays["split_points"][i])
        drawn = read["candidate_dims"].take(dims).tolist()
        born = read["split_point_born"].take(points).tolist()
        thresholds = read["split_threshold"].take(dims * points)
        tables = {}
        for stream in ("structure", "estimation"):
            for name in ("weight", "sum", "squares"):
                rows = 1 if (stream, name) == ("structure", "squares") else dims + 1
                taken = read[f"{stream}_{name}"].take(rows * points)
                tables[stream, name] = taken.reshape(rows, points)

        def sums(stream, d, j, names=("weight", "sum", "squares"), tables=tables):
            weight, *others = (tables[stream, name][d, j] for name in names)
            return (int(weight), *(double(other) for other in others))

        candidates = [
            (
                drawn[d],
                bits(thresholds[d * points + j]),
                born[j],
                sums("structure", d, j, ("weight", "sum")),
                sums("structure", -1, j),
                sums("estimation", d, j),
                sums("estimation", -1, j),
            )
            for j in range(points)
            for d in range(dims)
        ]
        yield int(arrays["attempt"][i]), int(arrays["received"][i]), drawn, candidates


def assert_same(forest, mine, X):
    """Check that nodes, sums, candidates, trust and predictions agree to the bit."""
    engine = mine.engine
    for i, (tree, stats) in enumerate(zip(forest.trees, engine.stats(), strict=True)):
        arrays = engine.core.tree(i)
        assert native_tree(arrays) == reference_tree(tree)
        importance = {d: v for d, v in enumerate(arrays["saved_error"].tolist()) if v}
        assert importance == {d: v for d, v in tree.importance.items() if v}
        for name in ("structure_points", "estimation_points", "ignored_points",
                     "should_splits", "must_splits"):  # fmt: skip
            assert stats[name] == getattr(tree, name), name
        assert stats["active"] == len(tree.fringe)
        if isinstance(tree, KeepingTree) and forest.parameters.kept_points:
            growth = [tree.structure_arrivals, tree.growth, tree.bound]
            assert arrays["growth"].tolist() == growth
        if isinstance(tree, EagerTree):
            assert_same_votes(tree, arrays)
        if isinstance(tree, AdaptiveTree):
            assert native_adaptation(arrays) == reference_adaptation(tree)
    if isinstance(forest, AdaptiveNumberForest):
        assert engine.replacements() == forest.replacements
    if forest.eager:
        trust = forest.evidence
        expected = [*trust.evidence, trust.errors, trust.judged, *following_of(forest)]
        assert engine.kept()["trust"].tolist() == expected
        assert engine.trust() == forest.trust
        if forest.points:
            assert_same_intervals(forest, mine, X[:10])
    assert mine.target.scale == forest.target.scale.exponent + 900
    if forest.points and len(X):
        assert mine.predict(X) == [forest.predict(x) for x in X]


def following_of(forest):
    """Return what follows the last target (R29), as the core saves it."""
    if forest.following is None:
        return []
    return [*forest.following.sums, *(part for pair in forest.following.pairs for part in pair)]


def assert_same_intervals(forest, mine, X):
    """Check that levels, intervals and quantiles agree to the bit (R28)."""
    levels = [level.level for level in forest.levels.values()]
    assert not levels or mine.engine.kept()["levels"].tolist() == levels
    points, qs = np.ascontiguousarray(X), [0.0, 0.05, 0.5, 0.5, 0.9, 1.0]
    quantiles = mine.target.with_origin(mine.engine.predict_quantiles(points, np.array(qs), 2))
    expected = [forest.predict_quantiles(x, qs) for x in X]
    np.testing.assert_array_equal(quantiles, np.reshape(expected, quantiles.shape))
    for place, coverage in enumerate(forest.levels):
        ends = mine.target.with_origin(mine.engine.predict_interval(points, place, 1))
        expected = [forest.predict_interval(x, coverage) for x in X]
        np.testing.assert_array_equal(ends, np.reshape(expected, ends.shape))


def assert_same_votes(tree, arrays):
    nodes = range(tree.n_nodes)
    assert arrays["votes"].tolist() == [tree.votes[number].points for number in nodes]
    inner = np.flatnonzero(arrays["child"]).tolist()
    mine = zip(arrays["inner_weight"].tolist(), map(double, arrays["inner_sum"]), strict=True)
    assert list(mine) == [sums_of(tree.votes[number].counts)[:2] for number in inner]
    if tree.is_eager():
        assert arrays["scores"].tolist() == tree.scores
        assert arrays["eager"].tolist()[:2] == [tree.structure_votes, tree.floor]


def reference_adaptation(tree):
    memories = {
        number: [(double(memory.weight), double(memory.sum)) for memory in mine]
        for number, mine in sorted(tree.memories.items())
    }
    window = [tree.detector.total, tree.detector.variance]
    return memories, window, [tree.errors.squared, tree.errors.number]


def native_adaptation(arrays):
    weight, total = (
        arrays[name].reshape(-1, len(MEMORIES)) for name in ("memory_weight", "memory_sum")
    )
    memories = {
        node: [(double(n), double(s)) for n, s in zip(*mine, strict=True)]
        for node, *mine in zip(arrays["leaf_node"].tolist(), weight, total, strict=True)
    }
    return memories, arrays["window_sums"].tolist(), arrays["errors"].tolist()


def both(parameters, X, categorical=()):
    space = Columns(X.shape[1], parameters.rate(X.shape[1]), categorical)
    reference = AdaptiveNumberForest if isinstance(parameters, ChangeParameters) else NumberForest
    return reference(parameters, space), Native(parameters, X.shape[1], categorical)


@quick
@given(all_parameters(), streams(), st.data())
def test_engines_agree_whatever_the_batches_threads_and_reloads(parameters, stream, data):
    X, labels = stream
    y = data.draw(targets(labels))
    forest, engine = both(parameters, X)
    forest.learn(X, y.tolist())
    for first, last in data.draw(cuts(len(X))):
        engine.learn(X[first:last], y[first:last], workers=data.draw(st.integers(1, 4)))
        if data.draw(st.booleans()):
            engine = engine.reborn()
    assert_same(forest, engine, X[:20])


@quick
@given(all_parameters(max_trees=2), streams(), st.data())
def test_engines_agree_on_weights(parameters, stream, data):
    X, labels = stream
    y = data.draw(targets(labels))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    weights = rng.random(len(X)) * data.draw(st.sampled_from([1.0, 3.0, 300.0]))
    weights[rng.random(len(X)) < 0.1] = 0.0
    forest, engine = both(parameters, X)
    forest.learn(X, y.tolist(), weights.tolist())
    for first, last in data.draw(cuts(len(X))):
        engine.learn(X[first:last], y[first:last], weights[first:last])
        engine = engine.reborn()
    assert_same(forest, engine, X[:20])


@quick
@given(all_parameters(max_trees=2), mixed_streams(), st.data())
def test_engines_agree_on_categories(parameters, stream, data):
    X, labels, categorical = stream
    y = data.draw(targets(labels))
    forest, engine = both(parameters, X, categorical)
    forest.learn(X, y.tolist())
    for first, last in data.draw(cuts(len(X))):
        engine.learn(X[first:last], y[first:last])
    assert_same(forest, engine, X[:20])


TURNING = NumberParameters(
    n_trees=3, seed=5, candidate_dims="two thirds", split_points=10, min_gain=0.1,
    alpha=Geometric(1, 1.1), beta=Geometric(20, 1.1), structure_fraction=0.5,
    ignore_fraction=0.1, fringe_size=None, max_memory=None, kept_points=250, eager=True,
    intervals=(0.9, 0.5),
)  # fmt: skip


CHANGING = AdaptiveNumberParameters(**vars(TURNING) | {"drift_confidence": 0.1, "lag": 1})


def noisy(n=700):
    """Missing values, noise, and a target that becomes larger."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    y = 50 + X[:, 0] * 3 + X[:, 1] ** 2 + rng.normal(size=n) * 0.3
    y[n // 3 :][X[n // 3 :, 2] > 1] += 100
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"fringe_size": 5},
        {"kept_points": 2000},
        {"kept_points": 37},
        {"kept_points": 0, "intervals": ()},
        {"eager": False, "intervals": ()},
        {"eager": False, "fringe_size": 7, "intervals": ()},
        {"beta": Geometric(1e300, 2)},
        {"min_gain": 0.0, "alpha": Geometric(3, 1.5)},
        {"split_points": 40, "candidate_dims": 4.0},
        {"lag": 1},
        {"lag": 24, "intervals": ()},
    ],
)
def test_engines_agree_from_the_first_point_to_long_after_the_turn(changes):
    X, y = noisy()
    parameters = NumberParameters(**vars(TURNING) | changes)
    forest, engine = both(parameters, X)
    for first in range(0, len(X), 175):
        some = slice(first, first + 250)
        forest.learn(X[some], y[some].tolist())
        engine.learn(X[some], y[some], workers=2)
        engine = engine.reborn()
        assert_same(forest, engine, X[:3])
    assert_same(forest, engine, X[:30])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"fringe_size": 5},
        {"kept_points": 2000},
        {"kept_points": 37},
        {"drift_confidence": 0.99},
        {"lag": 0},
        {"lag": 20},
        {"ignore_fraction": 0.0, "min_gain": 0.0},
    ],
)
def test_engines_agree_on_a_stream_that_changes_while_trees_turn_and_are_replaced(changes):
    X, y = noisy(1200)
    y[600:] = 60 - 2 * y[600:]
    weights = np.random.default_rng(2).choice([0.0, 0.4, 1.0, 2.5], len(X))
    forest, engine = both(AdaptiveNumberParameters(**vars(CHANGING) | changes), X)
    for first in range(0, len(X), 150):
        some = slice(first, first + 150)
        forest.learn(X[some], y[some].tolist(), weights[some].tolist())
        engine.learn(X[some], y[some], weights[some], workers=2)
        engine = engine.reborn()
        assert_same(forest, engine, X[:3])
    assert_same(forest, engine, X[:30])
    assert {tree for _, tree in forest.replacements} == {0, 1, 2}


def test_engines_agree_on_a_feature_that_comes_late():
    X, y = noisy(800)
    y[400:] += 10 * np.nan_to_num(X[400:, 3])
    forest, engine = both(CHANGING, X[:, :3])
    forest.learn(X[:350, :3], y[:350].tolist())
    engine.learn(X[:350, :3], y[:350])
    forest.space.n_dims, forest.space.rate = 4, CHANGING.rate(4)
    engine.engine.set_dims(4)
    forest.learn(X[350:], y[350:].tolist())
    engine.learn(X[350:], y[350:])
    assert_same(forest, engine, X[:30])


def test_a_target_that_stays_0_leaves_no_slow_numbers_in_memories():
    X, y = noisy(1)
    forest, engine = both(CHANGING, X)
    X = X.repeat(1500, axis=0)
    y = np.zeros(len(X))
    y[1] = 2.0**-900
    forest.learn(X, y.tolist())
    engine.learn(X, y)
    assert_same(forest, engine, X[:1])
    sums = engine.engine.core.tree(0)["memory_sum"]
    assert (sums[:2] == 0).all() and 2.0**-1000 <= sums[2] < 2.0**-940


def test_a_shard_of_an_adaptive_forest_has_the_trees_of_the_whole_one():
    X, y = noisy(900)
    y[450:] = -y[450:]
    whole, shard = Native(CHANGING, 4), Native(CHANGING, 4, trees=range(1, 3))
    whole.learn(X, y)
    shard.engine.report()
    shard.learn(X, y)
    assert shard.engine.take_reported().shape == (900, 9)
    mine = [native_tree(shard.engine.core.tree(i)) for i in (0, 1)]
    assert mine == [native_tree(whole.engine.core.tree(i)) for i in (1, 2)]
    replacements = [pair for pair in whole.engine.replacements() if pair[1] in (1, 2)]
    assert shard.engine.replacements() == replacements != []


@pytest.fixture(params=_core.kernel_names())
def each_instruction_set(request):
    before = _core.kernel_names()[-1]
    _core.use_kernels(request.param)
    yield
    _core.use_kernels(before)


@pytest.mark.usefixtures("each_instruction_set")
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"eager": False, "kept_points": 300, "intervals": ()},
        {"kept_points": 0, "intervals": ()},
    ],
)
def test_every_instruction_set_gives_the_same_bits(changes):
    X, y = noisy(700)
    weights = np.random.default_rng(1).integers(1, 4, size=len(X)).astype(np.float64)
    forest, engine = both(NumberParameters(**vars(TURNING) | changes), X)
    forest.learn(X, y.tolist(), weights.tolist())
    engine.learn(X, y, weights)
    assert_same(forest, engine, X[:50])


@pytest.mark.usefixtures("each_instruction_set")
@pytest.mark.parametrize("split_points", [1, 3, 10, 40])
def test_every_instruction_set_chooses_the_same_of_splits_that_save_as_much(split_points):
    X, y = noisy(300)
    X = np.hstack([X.round(1)] * 3)  # so a split in one column is one in its copies
    changes = {"split_points": split_points, "candidate_dims": 11.0, "kept_points": 2000}
    forest, engine = both(NumberParameters(**vars(TURNING) | changes), X)
    forest.learn(X, y.tolist())
    engine.learn(X, y)
    assert_same(forest, engine, X[:50])


@pytest.mark.parametrize("kept_points", [2000, 90])
@pytest.mark.parametrize(
    "targets_of",
    [
        lambda y: y,
        lambda y: y.round(-1),  # many are equal
        lambda y: np.where(y > 50, 7.0, y),  # nearly all are, so cells list many
        lambda y: y * 10.0 ** np.where(np.arange(len(y)) % 9, 0, 140),  # a few are far away
        lambda y: y * 1e-310,
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_quantiles_among_many_neighbours_are_exact(targets_of, weighted, kept_points):
    X, y = noisy(200)
    y = targets_of(y)
    weights = np.random.default_rng(1).integers(1, 4, size=len(X)).astype(np.float64)
    changes = {"n_trees": 9, "kept_points": kept_points, "min_gain": 0.0}
    forest, engine = both(NumberParameters(**vars(TURNING) | changes), X)
    forest.learn(X, y.tolist(), weights.tolist() if weighted else None)
    engine.learn(X, y, weights if weighted else None)
    for rows in (X[:3], X):  # each by itself, and many that share cells
        assert_same_intervals(forest, engine, rows)


@pytest.mark.parametrize("parameters", [TURNING, CHANGING])
def test_passes_after_the_first_do_not_judge(parameters):
    X, y = noisy(300)
    forest, engine = both(parameters, X)
    for again in (False, True, False):
        forest.learn(X, y.tolist(), again=again)
        engine.engine.set_judging(not again)
        engine.learn(X, y)
    assert_same(forest, engine, X[:20])


@pytest.mark.parametrize("parameters", [TURNING, CHANGING, replace(TURNING, lag=3)])
def test_parts_of_a_forest_report_what_gives_the_trust_of_the_whole(parameters):
    X, y = noisy(600)
    whole = Native(parameters, X.shape[1])
    whole.learn(X, y)
    parts = [Native(parameters, X.shape[1], trees=range(i, i + 1)) for i in range(3)]
    sums = 0
    for part in parts:
        part.engine.report()
        part.learn(X, y)
        sums = sums + part.engine.take_reported()
    numbers = y - y[0]
    width, n_heads = len(parameters.heads) + 2, len(parameters.heads)
    nothing = [0.0] * (width + _core.following_sums * (parameters.lag > 0))
    evidence = _core.judged_numbers(nothing, sums, numbers, 0, parameters.lag)
    assert evidence == whole.engine.kept()["trust"].tolist()
    weights = [weight * 2**12 for weight in whole.engine.trust().values()]
    assert _core.weights_of(evidence, n_heads) == weights
    correction = whole.engine.correction()
    if correction is not None:
        assert _core.correction_of(evidence[width:], parameters.lag) == tuple(correction)
    answers = 0
    for part in parts:
        part.engine.set_evidence(evidence)
        answers = answers + part.engine.core.predict_sums(X[:50], 1)[0]
    assert (answers == whole.engine.core.predict_sums(X[:50], 1)[0]).all()


@pytest.mark.parametrize(
    "parameters",
    [
        TURNING,
        NumberParameters(**vars(TURNING) | {"kept_points": 0}),
        NumberParameters(**vars(TURNING) | {"eager": False}),
        CHANGING,
    ],
    ids=["eager", "paper", "honest", "adaptive"],
)
def test_answers_just_before_learning_are_those_of_one_by_one(parameters):
    X, y = noisy(500)
    together, alone = (Native(parameters, X.shape[1]) for _ in range(2))
    together.engine._reach(len(X))
    numbers = together.target.join(y)
    answers = together.engine.core.predict_then_learn(X, numbers, None, 2, 4096)[:, 0]
    expected = []
    for i in range(len(X)):
        expected.append(float(alone.engine.predict_means(X[i : i + 1], 1)[0, 0]))
        alone.learn(X[i : i + 1], y[i : i + 1])
    assert answers.tolist() == expected
