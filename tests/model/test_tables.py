"""Tables as input (R22): frames are learned as they are, and a refused batch changes nothing."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

from riparian import OnlineForestClassifier, SaffariForestClassifier
from riparian.engine import categories
from riparian.model.ensemble import ensemble_of

from snapshots import same_forest
from tables import table

pytestmark = pytest.mark.engine

SETTINGS = {"n_estimators": 4, "random_state": 0}


def forest(**changes):
    return OnlineForestClassifier(**(SETTINGS | changes))


X, Y = table(300)
NEW, NEW_Y = table(100, seed=1, cities=("Oslo", "Nice"))
ROWS = X.astype(object).where(X.notna(), None).to_numpy()

FRAMES = {
    "pandas": lambda X: X,
    "pandas strings": lambda X: X.astype({"city": "string", "open": "boolean", "size": "Float64"}),
    "pandas with arrow": lambda X: X.astype({"city": "string[pyarrow]", "kind": "str"}),
    "polars": lambda X: pl.DataFrame(X),
    "polars strings": lambda X: pl.DataFrame(X).with_columns(pl.col("kind").cast(pl.String)),
    "pyarrow": lambda X: pa.Table.from_pandas(X),
}


@pytest.mark.parametrize("library", FRAMES)
def test_every_frame_gives_the_same_forest(library):
    expected = forest().partial_fit(X, Y).partial_fit(NEW, NEW_Y)
    learned = forest().partial_fit(FRAMES[library](X), Y).partial_fit(FRAMES[library](NEW), NEW_Y)
    assert learned.categories_ == expected.categories_
    assert same_forest(learned, expected)
    assert learned.predict_proba(FRAMES[library](X)).tolist() == expected.predict_proba(X).tolist()


def test_categories_are_listed_by_name_in_the_order_of_arrival():
    frame = pd.DataFrame({"a": ["x", None, "y", "x"], "n": [1.0, 2, 3, 4], "b": [True, False] * 2})
    learned = forest().partial_fit(frame, [0, 1, 0, 1])
    assert learned.categories_ == {"a": ["x", "y"], "b": [True, False]}
    learned.partial_fit(frame.assign(a=["z", "y", "x", None]), [0, 1, 0, 1])
    assert learned.categories_["a"] == ["x", "y", "z"]


def test_a_forest_that_has_not_started_has_no_categories():
    with pytest.raises(AttributeError, match="has not learned anything yet"):
        forest().categories_  # noqa: B018
    assert forest().partial_fit([[1.0]], [0]).categories_ == {}


@pytest.mark.parametrize("Forest", [OnlineForestClassifier, SaffariForestClassifier])
def test_batches_do_not_matter(Forest):
    whole = Forest(**SETTINGS).partial_fit(X, Y)
    parts = Forest(**SETTINGS)
    for first in range(0, 300, 70):
        parts.partial_fit(X[first : first + 70], Y[first : first + 70])
    assert same_forest(parts, whole)


def test_categories_are_learned_as_such():
    """The label depends on the parity of the code, so thresholds would need many splits."""
    rng = np.random.default_rng(0)
    codes = rng.integers(20, size=3000)
    names = np.array([f"item {i * 7 % 20}" for i in range(20)], dtype=object)
    frame = pd.DataFrame({"item": names[codes]})
    learned = forest(n_estimators=10).fit(frame[:2000], codes[:2000] % 2)
    assert learned.score(frame[2000:], codes[2000:] % 2) == 1.0


def test_whole_numbers_of_a_chosen_column_are_recoded_by_arrival():
    rows = np.array([[70, 0.5], [10, 0.1], [70, 0.2], [2**40, 0.3]])
    learned = forest(categorical_features=[0]).partial_fit(rows, [0, 1, 0, 1])
    assert learned.categories_ == {0: [70, 10, 2**40]}
    codes = learned.checked_points(np.array([[10, 1.0], [3, 1.0], [np.nan, 1.0]]))
    assert codes[0, 0] == 1
    assert np.isnan(codes[1:, 0]).all()


@pytest.mark.parametrize(
    "chosen", [["city", "open", "kind"], [0, 2, 3], np.array([True, False, True, True])]
)
def test_columns_can_be_named_numbered_or_masked(chosen):
    learned = forest(categorical_features=chosen).partial_fit(X, Y)
    assert learned.categories_ == forest().partial_fit(X, Y).categories_
    assert [*learned.categories_] == ["city", "open", "kind"]


def test_an_array_of_objects_is_a_table_once_columns_are_chosen():
    expected = forest().partial_fit(X, Y)
    learned = forest(categorical_features=[0, 2, 3]).partial_fit(ROWS, Y)
    assert [*learned.categories_.values()] == [*expected.categories_.values()]
    assert learned.predict_proba(ROWS.tolist()).tolist() == expected.predict_proba(X).tolist()


def test_no_column_is_categorical_if_none_is_chosen():
    numbers = X[["size", "open"]]
    assert forest(categorical_features=None).partial_fit(numbers, Y).categories_ == {}
    assert forest().partial_fit(numbers, Y).categories_ == {"open": [True, False]}


def test_a_category_that_was_never_learned_goes_right_and_is_not_stored():
    learned = forest().partial_fit(X, Y)
    known = learned.categories_
    unknown, missing = X.assign(city="Paris"), X.assign(city=None)
    assert learned.predict_proba(unknown).tolist() == learned.predict_proba(missing).tolist()
    assert learned.categories_ == known


def test_a_point_without_weight_adds_no_category():
    learned = forest().partial_fit(X, Y)
    learned.partial_fit(NEW, NEW_Y, sample_weight=np.where(NEW["city"] == "Nice", 0, 1))
    assert "Nice" not in learned.categories_["city"]
    weights = {0: 0.0, 1: 1.0}
    chosen = forest(class_weight=weights).partial_fit(pd.DataFrame({"a": ["x", "y"]}), [0, 1])
    assert chosen.categories_ == {"a": ["y"]}


# -- what is refused -----------------------------------------------------------------------------------

WHEN = pd.to_datetime(pd.Series(["2024-05-31"] * 300))
BAD_TABLES = [
    ("a number for text", X.assign(city=1), "'city' must not change its type"),
    ("text for a number", X.assign(size="large"), "'size' must hold numbers.*categorical_features"),
    ("text for a bool", X.assign(open="yes"), "'open' must not change its type"),
    ("text and numbers", X.assign(city=["x", 1] * 150), "'city' must hold text or numbers, not both"),
    ("lists", X.assign(city=[[1]] * 300), "'city' must hold categories"),
    ("dates", X.assign(size=WHEN), "'size' must hold .* as before, got dates or times"),
    ("dates as objects", X.assign(city=WHEN.dt.date), "'city'.*turn dates and times into numbers"),
    ("spans", X.assign(size=WHEN - WHEN), "'size' must hold numbers or categories, as before, got "
     "dates or times"),
    ("an infinity", X.assign(size=np.inf), "infinity"),
    ("another column", X.assign(more=1.0), "feature names"),
    ("another order", X[["size", "city", "open", "kind"]], "feature names"),
    ("sparse", csr_matrix((300, 4)), "X must be dense"),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "message"), [row[1:] for row in BAD_TABLES],
                         ids=[row[0] for row in BAD_TABLES])  # fmt: skip
def test_a_refused_batch_changes_nothing(bad, message):
    learned = forest().partial_fit(X, Y)
    before = learned.to_bytes()
    with pytest.raises(ValueError, match=re.compile(message, re.DOTALL)):
        learned.partial_fit(bad, Y)
    with pytest.raises(ValueError, match=re.compile(message, re.DOTALL)):
        learned.predict(bad)
    assert learned.to_bytes() == before
    fresh = forest()
    with pytest.raises(ValueError, match=r"label"):
        fresh.partial_fit(X, np.linspace(0, 1, 300))
    assert not hasattr(fresh, "n_features_in_")


def test_periods_are_neither_numbers_nor_dates():
    with pytest.raises(ValueError, match=r"feature 'when' must hold .*, got values of type period"):
        forest().partial_fit(X.assign(when=WHEN.dt.to_period("D")), Y)


BAD_CHOICES = [
    ("from_type", "must be 'from_dtype', a mask, indices, names or None, got 'from_type'"),
    ([4], "must name columns from 0 to 3, got 4"),
    ([-1], "from 0 to 3, got -1"),
    ([True, False], "as a mask must have 4 entries, one per feature, got 2"),
    (["town"], "must name columns of X, got 'town'; X has"),
    ([0.5], "must be a mask, indices or names"),
    ([[0]], "must be a mask, indices or names"),
]


@pytest.mark.parametrize(("chosen", "message"), BAD_CHOICES, ids=lambda v: str(v)[:12])
def test_a_bad_choice_of_columns_is_refused(chosen, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        forest(categorical_features=chosen).partial_fit(X, Y)


def test_names_cannot_be_chosen_where_there_are_none():
    with pytest.raises(ValueError, match="must name columns of X, got 'a'; X has no names"):
        forest(categorical_features=["a"]).partial_fit([[1.0, 2.0]], [0])


def test_sparse_rows_have_no_categorical_columns():
    with pytest.raises(ValueError, match="if X is sparse"):
        forest(categorical_features=[0]).partial_fit(csr_matrix((3, 2)), [0, 1, 0])


def test_text_that_was_not_chosen_is_refused_by_name():
    with pytest.raises(ValueError, match=r"feature 'kind' must hold numbers.*categorical_features"):
        forest(categorical_features=["city"]).partial_fit(X, Y)


# -- bounds --------------------------------------------------------------------------------------------


def test_later_categories_share_a_code():
    frame = pd.DataFrame({"a": [*"abcdef"] * 10})
    learned = forest(max_categories=3).partial_fit(frame, [0, 1] * 30)
    assert learned.categories_ == {"a": ["a", "b", "c"]}
    codes = learned.checked_points(pd.DataFrame({"a": ["a", "c", "e", "unknown", None]}))
    assert codes[:, 0].tolist()[:4] == [0, 2, 3, 3]
    assert np.isnan(codes[4, 0])


def test_categories_are_charged_to_the_budget():
    names = [f"a long name of a category, number {i}" for i in range(2000)]
    frame = pd.DataFrame({"a": names, "x": np.arange(2000.0)})
    learned = forest(max_memory="1MB").partial_fit(frame, [0, 1] * 1000)
    held = learned.memory()
    assert 0.9 * 10**6 / 8 < held["categories"] <= 10**6 / 8
    assert held["total"] <= 10**6
    assert len(learned.categories_["a"]) < 2000
    with pytest.raises(ValueError, match="max_memory must be at least") as caught:
        forest(max_memory=9000).partial_fit(frame, [0, 1] * 1000)
    least = int(re.search(r"at least (\d+)", str(caught.value))[1])
    forest(max_memory=least).partial_fit(frame[:50], [0, 1] * 25)


@pytest.mark.parametrize("bad", [0, -1, 2**24, 1.5, "many"])
def test_a_bad_bound_is_refused(bad):
    with pytest.raises((TypeError, ValueError), match="max_categories must be"):
        forest(max_categories=bad).partial_fit(X, Y)


def test_without_a_bound_more_categories_than_codes_are_an_error_that_names_the_column(monkeypatch):
    monkeypatch.setattr(categories, "MOST_CATEGORIES", 4)
    frame = pd.DataFrame({"a": [*"abcd"]})
    learned = forest(max_categories=None).partial_fit(frame, [0, 1, 0, 1])
    before = learned.to_bytes()
    for first in (learned, forest(max_categories=None)):
        with pytest.raises(ValueError, match="feature 'a' must have at most 4 categories"):
            first.partial_fit(pd.DataFrame({"a": [*"aexyz"]}), [0, 1, 0, 1, 5])
    assert learned.to_bytes() == before
    assert learned.predict(pd.DataFrame({"a": [*"aexyz"]})).shape == (5,)


# -- what others read ----------------------------------------------------------------------------------


def test_plain_trees_say_which_tests_are_for_a_category():
    learned = forest().partial_fit(X, Y)
    ensemble = ensemble_of(learned, "this")
    assert ensemble.categories == {0: learned.categories_["city"],
                                   2: learned.categories_["open"],
                                   3: learned.categories_["kind"]}  # fmt: skip
    assert ensemble.equals.tolist() == np.isin(ensemble.feature, [0, 2, 3]).tolist()
    assert ensemble.equals.any()
