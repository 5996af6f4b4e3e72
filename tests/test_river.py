"""The forests in River: its own checks, features that come and go, and the same forests."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
import threading
from types import MappingProxyType

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from river import checks, compose, datasets, evaluate, metrics, preprocessing, stream

import riparian
from riparian import Geometric, Polynomial, reference
from riparian.parameters.schedules import ConsistencyWarning
from riparian.river import AdaptiveForestClassifier, OnlineForestClassifier

from engines import mixture
from equivalence import native_tree, reference_forest, reference_tree, summing_to_1

pytestmark = pytest.mark.engine

thorough = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def forest(**changes):
    return OnlineForestClassifier(**({"n_estimators": 5, "seed": 0} | changes))


def records(frame):
    return frame.to_dict("records") if len(frame.columns) else [{}] * len(frame)


def learned(points, **changes):
    model = forest(**changes)
    for point in points:
        model.learn_one(*point)
    return model


def trees(model):
    engine, labels = model._forest.engine, model._forest.target
    arrays = engine.save()[1]
    return [native_tree(tree, labels.arrived, engine.parameters.split_points) for tree in arrays]


def state(model):
    """Return everything that a forest has learned, as a value."""
    if model._forest is None:
        return None
    named = model._forest
    return named.engine.core.points, dict(named.columns), named.classes, trees(model)


X, Y = mixture(1500)
NAMES = ("x", "y")
POINTS = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
LABELS = Y.tolist()


# -- River's own checks ---------------------------------------------------------------------------

CHECKED = {
    "unseeded": OnlineForestClassifier(n_estimators=10),
    "bounded": OnlineForestClassifier(n_estimators=10, fringe_size=5, voting="majority", seed=1),
    "adaptive": AdaptiveForestClassifier(n_estimators=5, seed=1),
}


@pytest.mark.parametrize(
    ("model", "check"),
    [
        pytest.param(model, check, id=f"{name}-{check.__name__}")
        for name, model in CHECKED.items()
        for check in checks.yield_checks(model)
    ],
)
def test_river_checks(model, check):
    check(model.clone())


def test_no_check_of_river_is_skipped():
    assert forest()._unit_test_skips() == set()


# -- the same forest as ever ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"voting": "majority"},
        {"fringe_size": 3},
        {"alpha": Polynomial(2, 1.5), "beta": 8, "candidate_dims": 0.5, "split_points": 3},
        {"structure_fraction": 0.3, "ignore_fraction": 0.2, "min_gain": 0.1},
        {"kept_points": 400},
        {"kept_points": "auto", "max_memory": "300kB"},
    ],
    ids=lambda changes: "-".join(changes) or "defaults",
)
def test_it_equals_the_scikit_learn_estimator_to_the_last_bit(changes):
    model = learned(zip(POINTS, LABELS, strict=True), **changes)
    twin = riparian.OnlineForestClassifier(5, random_state=0, **changes).partial_fit(X, Y)
    answers = [list(model.predict_proba_one(x).values()) for x in POINTS[:200]]
    assert answers == summing_to_1(twin.predict_proba(X[:200]))
    assert [model.predict_one(x) for x in POINTS[:200]] == twin.predict(X[:200]).tolist()
    twin_trees = [
        native_tree(tree, twin.model_.target.arrived, twin.split_points)
        for tree in twin.model_.engine.save()[1]
    ]
    assert trees(model) == twin_trees


def test_an_adaptive_forest_equals_the_scikit_learn_estimator_to_the_last_bit():
    turned = ((X[:, 0] > 5) ^ (np.arange(len(X)) >= 700)).astype(int)  # two classes change places
    model = AdaptiveForestClassifier(n_estimators=5, seed=0, kept_points=300)
    assert model.replacements_ == []
    for x, y in zip(POINTS, turned.tolist(), strict=True):
        model.learn_one(x, y)
    twin = riparian.AdaptiveForestClassifier(5, random_state=0, kept_points=300).partial_fit(
        X, turned
    )
    answers = [list(model.predict_proba_one(x).values()) for x in POINTS[:200]]
    assert answers == twin.predict_proba(X[:200]).tolist()
    assert model.replacements_ == twin.replacements_
    assert min(point for point, _ in model.replacements_) > 700


def test_an_adaptive_forest_learns_frames_and_a_copy_continues():
    model = AdaptiveForestClassifier(n_estimators=3, seed=0)
    batched = model.clone()
    for x, y in zip(POINTS[:600], LABELS[:600], strict=True):
        model.learn_one(x, y)
    batched.learn_many(pd.DataFrame(POINTS[:600]), pd.Series(LABELS[:600]))
    copied = pickle.loads(pickle.dumps(batched))
    for x, y in zip(POINTS[600:900], LABELS[600:900], strict=True):
        assert copied.predict_proba_one(x) == model.predict_proba_one(x)
        model.learn_one(x, y)
        copied.learn_one(x, y)


def test_bad_parameters_of_an_adaptive_forest_are_refused_at_once_and_by_name():
    with pytest.raises(ValueError, match="drift_confidence must be"):
        AdaptiveForestClassifier(drift_confidence=2.0)


def test_it_equals_the_scikit_learn_estimator_on_weights_and_missing_values():
    rng = np.random.default_rng(0)
    weights = rng.choice([0.0, 0.3, 1.0, 2.5], len(X))
    holes = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    twin = riparian.OnlineForestClassifier(5, random_state=0).partial_fit(
        holes, Y, sample_weight=weights
    )
    points = [dict(zip(NAMES, row, strict=True)) for row in holes.tolist()]
    model = learned(zip(points, LABELS, weights.tolist(), strict=True))
    answers = [list(model.predict_proba_one(x).values()) for x in points[:200]]
    assert answers == summing_to_1(twin.predict_proba(holes[:200]))


FORESTS = pytest.mark.parametrize(
    ("forest_class", "twin"),
    [
        (OnlineForestClassifier, riparian.OnlineForestClassifier),
        (AdaptiveForestClassifier, riparian.AdaptiveForestClassifier),
    ],
)


@FORESTS
def test_its_defaults_are_those_of_the_scikit_learn_estimator(forest_class, twin):
    ours = inspect.signature(forest_class).parameters
    theirs = inspect.signature(twin).parameters
    shared = set(ours) & set(theirs) - {"alpha"}  # None here: River requires plain values
    assert len(shared) >= 10
    assert {name: ours[name].default for name in shared} == {
        name: theirs[name].default for name in shared
    }
    assert forest_class()._parameters.alpha == theirs["alpha"].default


@FORESTS
def test_every_parameter_of_the_scikit_learn_estimator_is_here_but_those_of_fit(forest_class, twin):
    theirs = set(inspect.signature(twin).parameters)
    of_fit = {"passes", "shuffle", "class_weight", "categorical_features"}
    renamed = {"random_state"}
    assert set(inspect.signature(forest_class).parameters) == (theirs - of_fit - renamed | {"seed"})


# -- features come and go -------------------------------------------------------------------------


@st.composite
def changing_streams(draw):
    """Points that have some of up to six features, more of them as time goes by."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    keys = draw(st.permutations(["a", "b", "c", 1, 2, ("d", 3)]))
    points = []
    for t in range(draw(st.integers(1, 250))):
        known = keys[: 1 + t // draw(st.shared(st.sampled_from([10, 30, 60]), key="pace"))]
        there = [key for key in known if rng.random() < 0.8]
        values = np.round(rng.normal(size=len(there)), 1).astype(np.float32).tolist()
        label = int(sum(values) > 0) if rng.random() < 0.8 else int(rng.integers(3))
        points.append(
            (dict(zip(there, values, strict=True)), label, float(rng.choice([1, 1, 0.5])))
        )
    return points


@thorough
@given(
    changing_streams(),
    st.integers(0, 1000),
    st.sampled_from([None, 2]),
    st.sampled_from([0, 1, 40, 1000]),
)
def test_it_equals_the_reference_while_features_come_and_go(points, seed, fringe_size, kept_points):
    model = forest(
        n_estimators=2, seed=seed, beta=8, min_gain=0.05, fringe_size=fringe_size,
        kept_points=kept_points, max_memory=None,
    )  # fmt: skip
    space = reference.Columns(n_dims=0, rate=0.0)
    twin = None
    columns = []  # in the order of joining
    for x, y, w in points:
        model.learn_one(x, y, w)
        new = [key for key in x if key not in columns]
        columns += sorted(new, key=lambda key: (type(key).__name__, repr(key)))
        space.n_dims, space.rate = len(columns), model._parameters.rate(len(columns))
        twin = twin or reference_forest(model._parameters, space)
        row = np.array([x.get(key, np.nan) for key in columns], dtype=np.float32)
        twin.learn_one(row, y, w)
        expected = twin.predict_proba(row)
        (adding_up,) = summing_to_1(np.array([list(expected.values())]))
        assert model.predict_proba_one(x) == dict(zip(expected, adding_up, strict=True))
    assert list(model._forest.columns) == columns
    assert trees(model) == [reference_tree(tree) for tree in twin.trees]


def test_new_features_of_one_point_join_in_sorted_order():
    model = learned([({"b": 1, "d": 1}, 0), ({"d": 1, "c": 1, "b": 1, "a": 1}, 0)])
    assert list(model._forest.columns) == ["b", "d", "a", "c"]


def test_features_of_several_types_join_by_type_and_the_order_in_a_point_does_not_matter():
    keys = ["b", 2, ("t", 1), 1, "a", None]
    there = [learned([(dict.fromkeys(some, 1.0), 0)]) for some in (keys, keys[::-1])]
    assert list(there[0]._forest.columns) == [None, 1, 2, "a", "b", ("t", 1)]
    assert state(there[0]) == state(there[1])


def test_leaves_that_entered_the_fringe_before_a_feature_joined_do_not_look_at_it():
    before = [({"a": float(i % 2)}, 0) for i in range(50)]  # one class: the root does not split
    after = [({"a": 0.0, "b": float(i % 2)}, i % 2) for i in range(2000)]
    model = learned(before, beta=1000.0, kept_points=0)
    roots = [tree[0] for tree in trees(model)]
    for point in after:
        model.learn_one(*point)
    for root, tree in zip(roots, trees(model), strict=True):
        assert root[0] == "leaf" and root[7] == [0]
        assert tree[0][:2] == ("split", 0) or tree[0][7] == [0]
    assert any(node[:2] == ("split", 1) for tree in trees(model) for node in tree.values())


def test_a_plain_dict_is_read_at_once_and_any_other_mapping_cell_by_cell_alike():
    plain, other = forest(kept_points=0), forest(kept_points=0)
    for x, label in zip(POINTS[:400], LABELS, strict=False):
        mapping = MappingProxyType(x)
        assert plain.predict_proba_one(x) == other.predict_proba_one(mapping)
        plain.learn_one(x, label)
        other.learn_one(mapping, label)
    assert state(plain) == state(other)


@pytest.mark.parametrize("voting", ["average", "majority"])
def test_the_prediction_is_the_first_of_the_most_probable_labels(voting):
    model = forest(n_estimators=4, voting=voting)
    for x, label in zip(POINTS[:300], LABELS, strict=False):
        proba = model.predict_proba_one(x)
        assert model.predict_one(x) == (max(proba, key=proba.get) if proba else None)
        model.learn_one(x, label)


def test_probabilities_of_an_eager_forest_add_up_to_1():
    """As River tests it: to nine digits. Shares of R25 are rounded to 2^-28, of five classes here."""
    model, points = forest(n_estimators=3), [dict(enumerate(row)) for row in X.tolist()[:300]]
    for x, label in zip(points, LABELS, strict=False):
        model.learn_one(x, label)
        assert math.isclose(sum(model.predict_proba_one(x).values()), 1.0)
    many = model.predict_proba_many(pd.DataFrame(points))
    assert many.to_dict("records") == [model.predict_proba_one(x) for x in points]


@pytest.mark.parametrize("absent", [{}, {"y": None}, {"y": math.nan}, {"y": np.float32("nan")}])
def test_absent_none_and_nan_are_all_missing(absent):
    twin = learned(({"x": x["x"], "y": math.nan}, y) for x, y in zip(POINTS, LABELS, strict=True))
    model = forest()
    model.learn_one({"x": POINTS[0]["x"], "y": math.nan}, LABELS[0])
    for x, y in zip(POINTS[1:], LABELS[1:], strict=True):
        model.learn_one({"x": x["x"], **absent}, y)
    assert state(model) == state(twin)
    assert model.predict_proba_one({"x": 5, **absent}) == twin.predict_proba_one({"x": 5})


def test_features_never_learned_play_no_part_in_a_prediction():
    model = learned(zip(POINTS, LABELS, strict=True))
    before = state(model)
    for x in POINTS[:20]:
        assert model.predict_proba_one({**x, "z": 1, "name": "text"}) == model.predict_proba_one(x)
    assert state(model) == before


@pytest.mark.parametrize("kept_points", [0, 100])
@pytest.mark.parametrize("copied", [lambda model: model, copy.deepcopy])
def test_points_without_any_feature_are_learned_and_features_may_follow(copied, kept_points):
    model = copied(learned([({}, "a")] * 20 + [({}, "b")] * 2, kept_points=kept_points))
    assert model.predict_one({}) == "a"
    for i in range(3000):
        model.learn_one({"x": float(i % 2)}, "ab"[i % 2])
    assert [model.predict_one({"x": 0.0}), model.predict_one({"x": 1.0})] == ["a", "b"]


@pytest.mark.parametrize(
    "value", [True, np.bool_(True), 1, np.int8(1), 1.0, np.float32(1), np.float64(1)], ids=repr
)
def test_any_kind_of_number_is_a_feature(value):
    model = learned([({"x": 0}, 0), ({"x": value}, 1)] * 50)
    assert state(model) == state(learned([({"x": 0.0}, 0), ({"x": 1.0}, 1)] * 50))


# -- labels ---------------------------------------------------------------------------------------


def test_before_the_first_point_nothing_is_predicted():
    frame = pd.DataFrame({"x": [1.0, 2.0]}, index=[7, 9])
    assert forest().predict_one({"x": 1.0}) is None
    assert forest().predict_proba_one({"x": 1.0}) == {}
    assert forest().predict_many(frame).to_dict() == {7: None, 9: None}
    assert forest().predict_proba_many(frame).shape == (2, 0)


def test_a_label_that_arrives_late_joins_in_sorted_order():
    points = [({"x": float(i)}, "n" if i < 40 else "abz"[i % 3]) for i in range(100)]
    model = learned(points[:40])
    assert model.predict_proba_one({"x": 1}) == {"n": 1.0}
    for point in points[40:]:
        model.learn_one(*point)
    assert list(model.predict_proba_one({"x": 1})) == ["a", "b", "n", "z"]


@pytest.mark.parametrize("numpy", [np.bool_, np.int64, np.str_, np.float64])
def test_labels_of_numpy_come_back_as_those_of_python(numpy):
    model = learned([({"x": 0.0}, numpy(0)), ({"x": 1.0}, numpy(1))] * 50)
    plain = learned([({"x": 0.0}, numpy(0).item()), ({"x": 1.0}, numpy(1).item())] * 50)
    assert state(model) == state(plain)
    assert type(model.predict_one({"x": 0})) is type(numpy(0).item())


# -- what is refused, and leaves no trace ---------------------------------------------------------

REFUSED = {
    "known": (({"x": "red"}, 0), TypeError, "feature 'x' must be a number .*'red'"),
    "complex": (({"x": 1j}, 0), TypeError, "feature 'x' must be a number"),
    "array": (({"x": np.zeros(2)}, 0), TypeError, "feature 'x' must be a number"),
    "infinite": (({"x": math.inf}, 0), ValueError, "feature 'x' must be finite .*got inf"),
    "large": (({"x": 1.0, "new": -1e39}, 0), ValueError, "feature 'new' .*float32, got -1e\\+39"),
    "huge": (({"x": 10**400}, 0), ValueError, "feature 'x' must be finite and fit float32"),
    "no label": (({"new": 1.0}, None), ValueError, "y must be .*got None"),
    "nan label": (({"new": 1.0}, math.nan), ValueError, "y must be .*got nan"),
    "tuple label": (({"new": 1.0}, (1, 2)), ValueError, "y must be .*got \\(1, 2\\)"),
    "list label": (({"new": 1.0}, [1]), TypeError, "unhashable"),
    "other label": (({"new": 1.0}, "a"), ValueError, "labels of type int, got str"),
    "bool label": (({"new": 1.0}, True), ValueError, "labels of type int, got bool"),
    "negative weight": (({"new": 1.0}, 2, -1), ValueError, "w must be from 0 .*got -1.0"),
    "nan weight": (({"new": 1.0}, 2, math.nan), ValueError, "w must be from 0 .*got nan"),
    "infinite weight": (({"new": 1.0}, 2, math.inf), ValueError, "w must be from 0 .*got inf"),
    "text weight": (({"new": 1.0}, 2, "heavy"), ValueError, "w must"),
}  # fmt: skip


def refused(cases):
    return pytest.mark.parametrize(("point", "error", "message"), cases.values(), ids=cases.keys())


@refused(REFUSED)
def test_a_bad_point_is_refused_and_leaves_no_trace(point, error, message):
    model = learned([({"x": 1.0}, 0), ({"x": 2.0}, 1)])
    before = state(model)
    with pytest.raises(error, match=message):
        model.learn_one(*point)
    assert state(model) == before


@refused({name: case for name, case in REFUSED.items() if name != "list label"})
def test_a_batch_with_a_bad_point_is_refused_as_a_whole(point, error, message):
    x, y, w = (*point, 1.0)[:3]
    model = learned([({"x": 1.0}, 0), ({"x": 2.0}, 1)])
    before = state(model)
    frame = pd.DataFrame({key: pd.Series([0.0, value], dtype=object) for key, value in x.items()})
    with pytest.raises(error, match=message):
        model.learn_many(frame, pd.Series([3, y], dtype=object), pd.Series([1.0, w]))
    assert state(model) == before


@pytest.mark.parametrize("point", [({"x": 1j}, 0), ({"x": "red"}, None)])
def test_a_bad_first_point_leaves_the_forest_empty(point):
    model = forest()
    with pytest.raises((TypeError, ValueError)):
        model.learn_one(*point)
    assert model._forest is None
    model.learn_one({"y": 1.0}, "a")
    assert model.predict_proba_one({}) == {"a": 1.0}


@pytest.mark.parametrize("x", [{"x": "red"}, {"x": math.inf}])
def test_a_bad_point_is_not_predicted(x):
    model = learned([({"x": 1.0}, 0)])
    with pytest.raises((TypeError, ValueError), match="feature 'x'"):
        model.predict_one(x)


def test_a_point_of_no_weight_leaves_no_trace():
    model = learned([({"x": 1.0}, "a", 0)])
    assert model.predict_one({"x": 1.0}) is None
    model = learned([({"x": 1.0}, "a"), ({"x": 2.0, "new": 1.0}, "b", 0.0)])
    assert state(model) == state(learned([({"x": 1.0}, "a")]))


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_estimators", 0), ("seed", -1), ("seed", "a"), ("min_gain", -1), ("voting", "loud"),
     ("alpha", "loud"), ("n_jobs", 0.5)],
)  # fmt: skip
def test_bad_parameters_are_refused_at_once_and_by_name(name, value):
    with pytest.raises((TypeError, ValueError), match=f"^{name} must be"):
        OnlineForestClassifier(**{name: value})


def test_a_schedule_that_loses_a_guarantee_warns_once():
    with pytest.warns(ConsistencyWarning, match="constant"):
        model = forest(alpha=Geometric(2, 1))
    model.learn_one({"x": 1.0}, 0)


# -- mini-batches ---------------------------------------------------------------------------------


@thorough
@given(changing_streams(), st.integers(5, 60))
def test_learn_many_equals_looping_learn_one_to_the_last_bit(points, rows):
    one, many = forest(n_estimators=2), forest(n_estimators=2)
    for first in range(0, len(points), rows):
        batch = points[first : first + rows]
        frame = pd.DataFrame([x for x, _, _ in batch])  # what a row does not have is NaN
        labels = pd.Series([y for _, y, _ in batch])
        weights = pd.Series([max(w - 0.5, 0) for _, _, w in batch])
        many.learn_many(frame, labels, weights)
        for x, y, w in zip(records(frame), labels, weights, strict=True):
            one.learn_one(x, y, w)
    assert state(many) == state(one)
    if state(many):
        answers = [one.predict_proba_one(x) for x in records(frame)]
        assert records(many.predict_proba_many(frame)) == answers
        assert many.predict_many(frame).tolist() == [max(a, key=a.get) for a in answers]


def test_threads_do_not_change_a_forest():
    frame, labels = pd.DataFrame(POINTS), pd.Series(LABELS)
    one, many = forest(n_estimators=20), forest(n_estimators=20, n_jobs=2)
    one.learn_many(frame, labels)
    many.learn_many(frame, labels)
    assert state(one) == state(many)


MIXED = pd.DataFrame(
    {
        "int": np.arange(200) % 7,
        "large": 2**60 + 2**34 * np.arange(200),
        "bool": np.arange(200) % 3 == 0,
        "float": np.where(np.arange(200) % 5, np.sqrt(np.arange(200)), np.nan),
        "object": pd.Series([None if i % 4 else i / 7 for i in range(200)], dtype=object),
    }
)
FRAMES = {
    "pandas": MIXED,
    "pandas nullable": MIXED.astype({"int": "Int64", "float": "Float64", "bool": "boolean"}),
    "pandas arrow": MIXED.convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame(MIXED.to_dict("list"), strict=False),
    "pyarrow": pa.table(MIXED.to_dict("list")),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_frames_of_every_make_teach_the_same(frame):
    labels = ["red" if i % 7 > 3 else "blue" for i in range(200)]
    model = forest()
    model.learn_many(frame, pl.Series(labels))
    twin = learned(zip(MIXED.to_dict("records"), labels, strict=True))
    assert state(model) == state(twin)
    chosen, proba = model.predict_many(frame), model.predict_proba_many(frame)
    assert type(proba) is type(frame)
    plain = proba.to_pydict() if isinstance(proba, pa.Table) else proba.to_dict()
    assert list(plain) == ["blue", "red"]
    expected = [twin.predict_proba_one(x) for x in MIXED.to_dict("records")]
    for label, column in plain.items():
        column = column.values() if isinstance(column, dict) else column
        assert list(column) == [answer[label] for answer in expected]
    chosen = chosen.to_pylist() if isinstance(chosen, pa.ChunkedArray) else list(chosen)
    assert chosen == [twin.predict_one(x) for x in MIXED.to_dict("records")]


def test_the_index_of_a_pandas_frame_is_kept():
    frame = pd.DataFrame(POINTS[:50], index=range(100, 150))
    model = forest()
    model.learn_many(frame, pd.Series(LABELS[:50]))
    assert model.predict_many(frame).index.equals(frame.index)
    assert model.predict_proba_many(frame).index.equals(frame.index)


def test_an_empty_frame_teaches_nothing():
    model = forest()
    model.learn_many(pd.DataFrame({"x": []}), pd.Series([], dtype=int))
    assert model._forest is None


def test_labels_and_weights_must_be_as_many_as_the_rows():
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    with pytest.raises(ValueError, match="y must have 2 labels"):
        forest().learn_many(frame, pd.Series([1]))
    with pytest.raises(ValueError, match="w must have shape"):
        forest().learn_many(frame, pd.Series([1, 0]), pd.Series([1.0]))


# -- in River -------------------------------------------------------------------------------------


def test_progressive_validation_learns_something():
    metric = metrics.Accuracy()
    evaluate.progressive_val_score(datasets.Phishing(), forest(n_estimators=20), metric)
    assert metric.get() > 0.8  # the commonest class is 0.56


def test_progressive_validation_passes_weights_on():
    points = list(zip(POINTS[:300], LABELS[:300], strict=True))
    model = forest()
    weighted = [(x, y, {"w": 2.0}) for x, y in points]
    evaluate.progressive_val_score(weighted, model, metrics.Accuracy())
    assert state(model) == state(learned((x, y, 2.0) for x, y in points))
    assert state(model) != state(learned(points))


def test_it_runs_at_the_end_of_a_pipeline_of_transformers():
    rows = [
        {"size": float(i % 11), "colour": "red" if i % 3 else "blue", "day": f"d{i // 100}"}
        for i in range(600)
    ]
    labels = [row["colour"] == "red" and row["size"] > 5 for row in rows]
    model = (
        compose.Select("size") | preprocessing.StandardScaler()
    ) + (
        compose.Select("colour", "day") | preprocessing.OneHotEncoder()
    ) | forest(n_estimators=20)  # fmt: skip
    metric = evaluate.progressive_val_score(
        list(zip(rows, labels, strict=True)), model, metrics.Accuracy()
    )
    assert metric.get() > 0.9
    columns = model["OnlineForestClassifier"]._forest.columns
    assert {"size", "colour_red", "colour_blue", "day_d0", "day_d5"} <= set(columns)


def test_it_learns_mini_batches_in_a_pipeline():
    model = preprocessing.StandardScaler() | forest()
    frame, labels = pd.DataFrame(POINTS), pd.Series(LABELS)
    for first in range(0, len(frame), 500):
        model.learn_many(frame[first : first + 500], labels[first : first + 500])
    assert (model.predict_many(frame) == labels).mean() > 0.6


# -- copies, seeds, memory, threads ---------------------------------------------------------------


@pytest.mark.parametrize(
    "copied",
    [
        lambda model: pickle.loads(pickle.dumps(model)),
        copy.deepcopy,
        lambda model: model.clone(include_attributes=True),
    ],
    ids=["pickle", "deepcopy", "clone"],
)
@pytest.mark.parametrize("kept_points", [0, 300, 2000])
def test_a_copy_continues_as_the_original_would_have(copied, kept_points):
    points = list(zip(POINTS, LABELS, strict=True))
    model = learned(points[:700], seed=None, kept_points=kept_points)
    other = copied(model)
    assert state(other) == state(model)
    for x, y in points[700:]:
        other.learn_one({**x, "new": x["x"]}, y + 1)
    assert state(model) == state(copied(model))  # the original has not moved
    for x, y in points[700:]:
        model.learn_one({**x, "new": x["x"]}, y + 1)
    assert state(other) == state(model)


def test_a_clone_has_learned_nothing():
    assert learned([({"x": 1.0}, 0)]).clone().predict_one({"x": 1.0}) is None


def test_two_forests_without_a_seed_are_not_alike():
    points = list(zip(POINTS, LABELS, strict=True))
    assert state(learned(points, seed=None)) != state(learned(points, seed=None))


def test_the_trees_are_part_of_the_memory_that_river_reports():
    model = forest()
    empty = model._raw_memory_usage
    for x, y in stream.iter_frame(pd.DataFrame(POINTS), pd.Series(LABELS)):
        model.learn_one(x, y)
    assert model._raw_memory_usage - empty > model._forest.bytes_held() > 10_000


def test_kept_points_are_part_of_it_too():
    model = learned([({"x": 1.0}, 0)] * 500, kept_points=400)
    kinds = ("node_bytes", "leaf_bytes", "fringe_bytes")
    stats = model._forest.engine.core.stats()
    trees = sum(tree[kind] for tree in stats for kind in kinds)
    assert model._forest.bytes_held() == trees + 400 * (4 + 16 + 4 * 5)


def test_features_that_join_late_take_room_from_the_trees():
    model = forest(kept_points=1000, max_memory="2MB")
    rng = np.random.default_rng(0)
    for t in range(600):
        known = 3 if t < 500 else 90
        x = {str(i): float(value) for i, value in enumerate(rng.normal(size=known))}
        model.learn_one(x, int(x["0"] > 0))
        if t == 499:
            before = model._forest.engine.rule.budget()
    assert before - model._forest.engine.rule.budget() == 1000 * 4 * 87 // 5
    assert model._forest.bytes_held() < 2e6


def test_kept_points_that_do_not_fit_are_refused_at_the_first_point():
    model = forest(kept_points=10**6, max_memory="1MB")
    with pytest.raises(ValueError, match="kept_points must be at most"):
        model.learn_one({"x": 1.0}, 0)
    assert state(model) is None


def test_one_thread_may_learn_new_features_and_labels_while_others_predict():
    model = learned([({"0": 0.0}, "0")])
    done, answers = threading.Event(), []

    def ask():
        while not done.is_set():
            proba = model.predict_proba_one({str(i): 1.0 for i in range(100)})
            answers.append(sum(proba.values()))

    askers = [threading.Thread(target=ask) for _ in range(2)]
    for asker in askers:
        asker.start()
    try:
        for i in range(2000):
            model.learn_one({str(j): float(i % (j + 2)) for j in range(i // 20 + 1)}, str(i % 20))
    finally:
        done.set()
        for asker in askers:
            asker.join()
    assert answers and all(math.isclose(total, 1.0) for total in answers)
