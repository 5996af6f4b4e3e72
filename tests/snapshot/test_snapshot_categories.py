"""Categories in snapshots (R22): they come back as they were, and lies about them are found."""

from __future__ import annotations

import copy
import functools
import json
import pickle

import numpy as np
import pytest

import riparian
from riparian import OnlineForestClassifier

from snapshots import KINDS, learned, opened, same_forest, sealed
from tables import table

pytestmark = pytest.mark.engine


def forest_of_texts(**changes):
    settings = {"n_estimators": 3, "random_state": 0, "kept_points": 100} | changes
    X, y = table(200)
    return OnlineForestClassifier(**settings).partial_fit(X, y)


COPIES = {
    "snapshot": lambda forest: riparian.from_bytes(forest.to_bytes()),
    "pickle": lambda forest: pickle.loads(pickle.dumps(forest)),
    "copy": copy.deepcopy,
}


@pytest.mark.parametrize("how", COPIES)
def test_a_restored_forest_continues_with_its_categories(how):
    forest = forest_of_texts()
    other = COPIES[how](forest)
    assert other.categories_ == forest.categories_
    X, y = table(200, seed=1, cities=("Nice", "Rome", "Pisa"))
    forest.partial_fit(X, y)
    assert "Nice" not in other.categories_["city"]
    other.partial_fit(X, y)
    assert other.categories_["city"][-2:] == forest.categories_["city"][-2:]
    assert same_forest(other, forest)


def test_a_forest_that_only_predicts_knows_its_categories():
    forest = forest_of_texts()
    X, _ = table(50, seed=2, cities=("Oslo", "Nice"))
    other = riparian.from_bytes(forest.to_bytes(prediction_only=True))
    assert other.categories_ == forest.categories_
    assert other.predict_proba(X).tolist() == forest.predict_proba(X).tolist()


@pytest.mark.parametrize("chosen", [[0, 2], [True, False, True, False], np.array([0, 2]), None])
def test_the_choice_of_columns_is_kept(chosen):
    rows = np.arange(40.0).reshape(10, 4) % 3
    forest = OnlineForestClassifier(2, categorical_features=chosen, random_state=0)
    forest.partial_fit(rows, [0, 1] * 5)
    other = riparian.from_bytes(forest.to_bytes())
    expected = chosen.tolist() if isinstance(chosen, np.ndarray) else chosen
    assert other.categorical_features == expected
    assert same_forest(other, forest)


def test_a_forest_of_numbers_says_nothing_of_categories():
    header, arrays = opened(learned().to_bytes())
    assert "categories" not in header
    assert "category_values" not in arrays
    assert not {"categorical_features", "max_categories"} & header["estimator"].keys()


# -- lies --------------------------------------------------------------------------------------------


@functools.cache
def snapshot(kind):
    return learned(**KINDS[kind]).to_bytes()


def refused(header, arrays, **options):
    with pytest.raises(riparian.SnapshotError) as caught:
        riparian.from_bytes(sealed(header, arrays), **options)
    return caught.value.case, str(caught.value)


HEADER_LIES = [
    {"columns": []}, {"columns": [4]}, {"columns": [2, 3]}, {"columns": [2.0]}, {"columns": 2},
    {"sizes": [99]}, {"sizes": []}, {"sizes": [-1]}, {"sizes": [2**24]}, {"full": [0]},
    {"full": []}, {"most": 0}, {"most": 2**24}, {"most": "all"}, {"more": 1},
]  # fmt: skip


@pytest.mark.parametrize("lie", HEADER_LIES, ids=repr)
def test_forged_tables_are_detected(lie):
    header, arrays = opened(snapshot("categories"))
    header["categories"] |= lie
    assert refused(header, arrays)[0] in ("header", "arrays")


def test_a_part_of_the_description_must_not_be_missing():
    for name in ("columns", "sizes", "full", "most"):
        header, arrays = opened(snapshot("categories"))
        del header["categories"][name]
        assert refused(header, arrays)[0] == "header"


def put(values):
    text = values if isinstance(values, bytes) else json.dumps(values).encode()
    return np.frombuffer(text, dtype=np.uint8)


VALUE_LIES = [
    (lambda v: [*v, 99], "must hold 8 categories"),
    (lambda v: v[:-1], "must hold 8 categories"),
    (lambda v: [*v[:-1], v[0]], "appears twice"),
    (lambda v: [*v[:-1], "text"], "not both"),
    (lambda v: [*v[:-1], None], "as riparian writes them"),
    (lambda v: [*v[:-1], [1]], "as riparian writes them"),
    (lambda v: [*v[:-1], {"a": 1}], "as riparian writes them"),
    (lambda v: [*v[:-1], 77.0], "as riparian writes them"),
    (lambda v: [*v[:-1], 2**65], "fit 64 bits"),
    (lambda v: json.dumps([*v[:-1], 1.5]).replace("1.5", "1e999").encode(), "fits float64"),
    (lambda v: b"[NaN]", "must be valid JSON"),
    (lambda v: b'{"a": 1}', "JSON list"),
    (lambda v: b"[" * 100_000, "must be valid JSON"),
    (lambda v: b'["\xc3\xa9"]', "ASCII"),
    (lambda v: b"", "must be valid JSON"),
]


@pytest.mark.parametrize(("change", "message"), VALUE_LIES)
def test_forged_categories_are_detected(change, message):
    header, arrays = opened(snapshot("categories"))
    values = json.loads(arrays["category_values"].tobytes())
    assert len(values) == 8
    arrays["category_values"] = put(change(values))
    case, reason = refused(header, arrays)
    assert case == "arrays"
    assert message in reason


def test_categories_must_be_there_and_bytes():
    header, arrays = opened(snapshot("categories"))
    without = {name: array for name, array in arrays.items() if name != "category_values"}
    assert "missing" in refused(header, without)[1]
    arrays["category_values"] = arrays["category_values"].astype(np.uint16)
    assert "uint8" in refused(header, arrays)[1]
    del header["categories"]
    assert "'category_values' is unknown" in refused(header, arrays)[1]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        *(
            (name, code)
            for name in ("split_threshold", "kept_rows")
            for code in (8.0, -1.0, 0.5, 1e9)
        ),
        *(("threshold", code) for code in (8.0, 0.5, 1e9, -1.5, -(2.0**24) - 2)),
    ],
)
def test_a_code_of_no_category_is_found(name, code):
    kind = "categories, some put together" if name == "kept_rows" else "categories"
    header, arrays = opened(snapshot(kind))
    if name == "kept_rows":
        place = 2
    elif name == "threshold":
        place = int(np.flatnonzero((arrays["feature"] == 2) & (arrays["child"] > 0))[0])
    else:
        points = np.repeat(arrays["split_points"].astype(int), arrays["dims"].astype(int))
        place = int(np.flatnonzero(np.repeat(arrays["candidate_dims"], points) == 2)[0])
    arrays[name][place] = code
    assert f"{name} must be the code of a category" in refused(header, arrays)[1]


@pytest.mark.parametrize("half", [-1.0, -64.0, -(2.0**24)])
def test_a_split_may_be_any_half(half):
    header, arrays = opened(snapshot("categories, halves of many"))
    assert (arrays["threshold"][np.isin(arrays["feature"], [0, 1])] <= -1).sum() > 3
    place = int(np.flatnonzero(arrays["threshold"] <= -1)[0])
    arrays["threshold"][place] = half
    forest = riparian.from_bytes(sealed(header, arrays))
    assert half in forest.model_.engine.tree(int(place >= arrays["nodes"][0])).threshold
    forest.predict_proba(np.zeros((3, 4)))


def test_many_small_values_are_refused_before_they_are_read():
    header, arrays = opened(snapshot("categories"))
    arrays["category_values"] = put(b"[" + b"0," * 10**6 + b"0]")
    assert refused(header, arrays, max_bytes=10**8)[0] == "size"


def test_many_columns_next_to_a_categorical_one_cost_nothing():
    header, arrays = opened(learned(n=0, categorical_features=[3]).to_bytes())
    header["n_features"] = 2**31 - 1
    header["categories"]["columns"] = [2**31 - 2]
    assert riparian.from_bytes(sealed(header, arrays), max_bytes=10**7).categories_ == {
        2**31 - 2: []
    }
