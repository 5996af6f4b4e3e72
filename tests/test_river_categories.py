"""River's features that are text (R22): the same forest as elsewhere, and no mixing."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import riparian
from riparian import reference
from riparian.river import OnlineForestClassifier

from equivalence import Native, reference_forest, reference_tree, summing_to_1
from tables import table

pytestmark = pytest.mark.engine

quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

X, Y = table(200)
POINTS = [
    {key: None if value != value else value for key, value in row.items()}
    for row in X.astype(object).where(X.notna(), None).to_dict("records")
]
LABELS = Y.tolist()


def forest(**changes):
    return OnlineForestClassifier(**({"n_estimators": 3, "seed": 0} | changes))


def learned(points, **changes):
    model = forest(**changes)
    for point in points:
        model.learn_one(*point)
    return model


def trees(model):
    engine = Native.__new__(Native)
    engine.forest, engine.labels = model._forest.engine, model._forest.target
    return [engine.tree(i) for i in range(engine.forest.parameters.n_trees)]


def state(model):
    named = model._forest
    tables = named.engine.categories
    known = None if tables is None else {c: (t.values, t.full) for c, t in tables.tables.items()}
    return trees(model), list(named.columns), named.undecided, named.categorical, known


def test_it_equals_the_scikit_learn_estimator_to_the_last_bit():
    """Whose columns are in River's order; bools are numbers here."""
    frame = X[sorted(X)].assign(open=X["open"].astype(float))
    twin = riparian.OnlineForestClassifier(3, random_state=0).partial_fit(frame, Y)
    model = learned(zip(POINTS, LABELS, strict=True))
    engine = Native.__new__(Native)
    engine.forest, engine.labels = twin.model_.engine, twin.model_.target
    assert trees(model) == [engine.tree(i) for i in range(3)]
    tables = model._forest.engine.categories.tables
    assert {c: t.values for c, t in tables.items()} == {
        0: twin.categories_["city"],
        1: twin.categories_["kind"],
    }
    for x, row in zip(POINTS[:30], twin.predict_proba(frame[:30]).tolist(), strict=True):
        assert [*model.predict_proba_one(x).values()] == row


@st.composite
def streams_of_text(draw):
    """Features that come and go, half of them text; some are missing at first."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    keys = draw(st.permutations(["a", "b", "c", "d", "e"]))
    late = {key: int(rng.integers(60)) for key in keys}
    points = []
    for t in range(draw(st.integers(1, 120))):
        x = {}
        for key in keys[: 1 + t // 15]:
            value = chr(97 + int(rng.integers(6))) if key in "abc" else float(rng.integers(9))
            absent = t < late[key] or rng.random() < 0.2
            if absent and rng.random() < 0.5:
                continue
            x[key] = None if absent else value
        points.append((x, int(x.get("a") == "b") if rng.random() < 0.8 else int(rng.integers(3))))
    return points


@quick
@given(streams_of_text(), st.sampled_from([0, 40, 1000]))
def test_it_equals_the_reference_while_features_of_text_come_and_go(points, kept_points):
    model = forest(n_estimators=2, beta=8, min_gain=0.05, kept_points=kept_points, max_memory=None)
    space = reference.Columns(n_dims=0, rate=0.0)
    twin, columns, codes = None, [], {}
    for x, y in points:
        model.learn_one(x, y)
        columns += sorted(key for key in x if key not in columns)
        space.n_dims, space.rate = len(columns), model._parameters.rate(len(columns))
        row = np.full(max(1, len(columns)), np.nan, dtype=np.float32)
        for column, key in enumerate(columns):
            value = x.get(key)
            if isinstance(value, str):
                space.categorical.add(column)
                known = codes.setdefault(key, [])
                known += [] if value in known else [value]
                row[column] = known.index(value)
            elif value is not None:
                row[column] = value
        twin = twin or reference_forest(model._parameters, space)
        twin.learn_one(row, y)
        expected = twin.predict_proba(row)
        (adding_up,) = summing_to_1(np.array([list(expected.values())]))
        assert model.predict_proba_one(x) == dict(zip(expected, adding_up, strict=True))
    assert trees(model) == [reference_tree(tree) for tree in twin.trees]


@quick
@given(streams_of_text(), st.integers(1, 50))
def test_learn_many_equals_learn_one_with_text(points, rows):
    model, twin = forest(), forest()
    for first in range(0, len(points), rows):
        some = points[first : first + rows]
        keys = list(dict.fromkeys(key for x, _ in some for key in x)) or ["e"]
        records = [{key: x.get(key) for key in keys} for x, _ in some]
        frame = pd.DataFrame(
            {key: pd.Series([x[key] for x in records], dtype=object) for key in keys}
        )
        model.learn_many(frame, pd.Series([y for _, y in some]))
        for x, (_, y) in zip(records, some, strict=True):
            twin.learn_one(x, y)
    assert state(model) == state(twin)


@pytest.mark.parametrize(("kept_points", "max_memory"), [(0, 15_000), (0, 40_000), (50, 20_000)])
@pytest.mark.parametrize("first", [0, 1, 150, 299])
def test_a_budget_makes_room_for_categories_at_the_first_text_not_at_its_batch(
    first, kept_points, max_memory
):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300))
    c = [None if t < first else "xyz"[t % 3] for t in range(300)]
    frame, y = pd.DataFrame({"a": a, "b": b, "c": c}), pd.Series((a * b > 0).astype(int))
    budget = {"kept_points": kept_points, "max_memory": max_memory}
    one = learned(zip(frame.to_dict("records"), y.tolist(), strict=True), **budget)
    many, late = forest(**budget), forest(**budget)
    many.learn_many(frame, y)
    for some in (slice(0, 200), slice(200, 300)):
        late.learn_many(frame[some], y[some])
    assert state(one) == state(many) == state(late)
    assert any(tree["evictions"] for tree in one._forest.engine.core.stats())  # the budget binds


@pytest.mark.parametrize("make", [lambda X: X, pl.DataFrame, pa.Table.from_pandas])
def test_frames_of_every_make_may_have_text(make):
    frame, labels = make(X), make(pd.DataFrame({"y": Y}))["y"]
    model = forest()
    model.learn_many(frame, labels)
    assert state(model) == state(learned(zip(POINTS, LABELS, strict=True)))
    proba = [[*model.predict_proba_one(x).values()] for x in POINTS]
    many = model.predict_proba_many(frame)
    columns = many.to_pydict() if hasattr(many, "to_pydict") else {c: many[c] for c in many.columns}
    assert np.array([list(columns[c]) for c in columns]).T.tolist() == proba


MIXED = [
    ("a number for text", {"city": 3}, "feature 'city' must be text or None, as before, got 3"),
    ("text for a number", {"size": "3"}, "feature 'size' must be a number or None, got '3'"),
    ("text for a bool", {"open": "yes"}, "feature 'open' must be a number or None, got 'yes'"),
]


@pytest.mark.parametrize(("change", "message"), [row[1:] for row in MIXED],
                         ids=[row[0] for row in MIXED])  # fmt: skip
def test_mixing_later_is_an_error_that_names_the_feature_and_leaves_no_trace(change, message):
    model = learned(zip(POINTS, LABELS, strict=True))
    before = copy.deepcopy(state(model))
    bad = {**POINTS[0], "more": "text", "city": "Paris", **change}
    frame = pd.DataFrame([bad]).astype(object)
    for attempt in (
        lambda: model.learn_one(bad, 1),
        lambda: model.predict_one(bad),
        lambda: model.learn_many(frame, pd.Series([1])),
        lambda: model.predict_many(frame),
    ):
        with pytest.raises(TypeError, match=message):
            attempt()
    assert state(model) == before


def test_mixing_in_a_frame_is_an_error():
    frame = pd.DataFrame({"a": pd.Series(["x", 1.0], dtype=object)})
    model = forest()
    with pytest.raises(TypeError, match=r"feature 'a' must be text or None, as before, got 1\.0"):
        model.learn_many(frame, pd.Series([0, 1]))
    assert model._forest is None


def test_a_refused_point_and_one_of_no_weight_add_no_category():
    model = learned(zip(POINTS, LABELS, strict=True))
    before = copy.deepcopy(state(model))
    model.learn_one({"city": "Paris", "more": "x"}, 0, w=0.0)
    with pytest.raises(ValueError, match="labels of type int"):
        model.learn_one({"city": "Paris", "more": "x"}, "a label")
    assert state(model) == before


def test_a_category_that_was_never_learned_is_treated_as_missing():
    model = learned(zip(POINTS, LABELS, strict=True))
    for x in POINTS[:20]:
        missing = model.predict_proba_one({**x, "city": None})
        assert model.predict_proba_one({**x, "city": "Paris", "unheard": "of"}) == missing
        assert model.predict_proba_one({**x, "city": math.nan}) == missing


def test_a_feature_that_had_no_value_yet_is_text_or_a_number_by_its_first():
    start = [({"a": None, "b": math.nan, "c": 1.0}, i % 2) for i in range(30)]
    model = learned(start)
    assert model._forest.undecided == {"a", "b"}
    assert model.predict_one({"a": "text"}) in (0, 1)
    model.learn_one({"a": "x", "b": 2.0, "c": 1.0}, 0)
    assert model._forest.undecided == set()
    assert model._forest.categorical == {"a"}
    with pytest.raises(TypeError, match="feature 'b' must be a number"):
        model.learn_one({"b": "x"}, 0)


def test_later_categories_are_put_together():
    model = learned([({"a": letter}, i % 2) for i, letter in enumerate("abcde")], max_categories=2)
    assert model._forest.engine.categories.tables[0].values == ["a", "b"]
    assert model.predict_proba_one({"a": "c"}) == model.predict_proba_one({"a": "unknown"})
    with pytest.raises(ValueError, match="max_categories must be"):
        forest(max_categories=0)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_continues_as_the_original_would_have(copied):
    points = list(zip(POINTS, LABELS, strict=True))
    model = learned(points[:100])
    other = copied(model)
    for point in points[100:]:
        model.learn_one(*point)
    assert state(other) != state(model)
    for point in points[100:]:
        other.learn_one(*point)
    assert state(other) == state(model)
