"""Input validation: a bad input is an error before anything is learned, and changes nothing.

Each row of a table is one bad input and what the error says of it. A forest that has refused
something is the forest it was, to the last bit.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from riparian import Geometric, OnlineForestClassifier, Polynomial

from engines import mixture, trees_of

pytestmark = pytest.mark.engine

X, Y = mixture(60)
ONES = np.ones(60)


def forest(**changes):
    return OnlineForestClassifier(**({"n_estimators": 3, "random_state": 0} | changes))


def state(forest):
    """Return everything that could have changed."""
    return (
        forest.stats(),
        forest.classes_.tolist(),
        list(forest.model_.target.arrived),
        forest.n_features_in_,
        forest.predict_proba(X).tolist(),
        trees_of(forest),
    )


def put(value, row=7, column=1):
    changed = X.astype(type(value) if isinstance(value, complex) else np.float64)
    changed[row, column] = value
    return changed


def weights(value, row=7):
    changed = ONES.copy()
    changed[row] = value
    return changed


# -- points ---------------------------------------------------------------------------------------

BAD_X = [
    ("one point as a row", X[0], "Expected 2D array, got 1D array instead"),
    ("three dimensions", X[None], "Found array with dim 3, while dim <= 2 is required"),
    ("no array", None, "Expected 2D array, got scalar array instead"),
    ("too many features", np.ones((60, 3)), "X has 3 features, but .* is expecting 2 features"),
    ("too few features", np.ones((60, 1)), "X has 1 features, but .* is expecting 2 features"),
    ("no features", np.ones((60, 0)), r"0 feature\(s\) .* while a minimum of 1 is required"),
    ("words", np.full((60, 2), "oak"), "feature 0 must hold numbers, got 'oak' in row 0"),
    (
        "words among objects",
        np.full((60, 2), "oak", dtype=object),
        "feature 0 must hold numbers, got 'oak' in row 0",
    ),
    ("dates", np.zeros((60, 2), dtype="M8[D]"), "must hold numbers, got values of type datetime64"),
    (
        "durations",
        np.zeros((60, 2), dtype="m8[s]"),
        "must hold numbers, got values of type timedelta64",
    ),
    ("complex numbers", put(1j), "Complex data not supported"),
    ("infinity", put(np.inf), r"infinity or a value too large for float32: X\[7, 1\] is .*inf"),
    ("minus infinity", put(-np.inf), r"too large for float32: X\[7, 1\] is .*-inf"),
    ("beyond float32", put(1e39), r"too large for float32: X\[7, 1\] is .*1e\+39"),
    ("far below float32", put(-1e300), r"too large for float32: X\[7, 1\] is .*-1e\+300"),
    ("just beyond float32", put(3.4028236e38), "too large for float32"),
    ("beyond float64", [[10**400, 1]] * 60, "X must hold numbers"),
]
bad_x = pytest.mark.parametrize(
    ("bad", "message"), [row[1:] for row in BAD_X], ids=[row[0] for row in BAD_X]
)


@bad_x
def test_points_that_are_none_are_not_learned(bad, message):
    f = forest().partial_fit(X, Y)
    before = state(f)
    with pytest.raises(ValueError, match=message):
        f.partial_fit(bad, Y)
    assert state(f) == before


@bad_x
@pytest.mark.parametrize("ask", ["predict", "predict_proba", "predict_trees", "apply"])
def test_points_that_are_none_are_not_predicted(ask, bad, message):
    with pytest.raises(ValueError, match=message):
        getattr(forest().partial_fit(X, Y), ask)(bad)


@pytest.mark.parametrize("largest", [np.finfo(np.float32).max, -np.finfo(np.float32).max, 1e-300])
def test_values_that_fit_float32_are_accepted(largest):
    assert forest().partial_fit(put(float(largest)), Y).stats()["points"] == 60


def test_whole_numbers_bools_and_objects_that_are_numbers_are_accepted():
    for kind in (np.int8, np.uint64, bool, object):
        f = forest().partial_fit(np.abs(X).astype(kind), Y)
        assert f.stats()["points"] == 60


def test_a_missing_value_is_not_an_error():
    f = forest().partial_fit(put(np.nan), Y)
    assert f.stats()["points"] == 60
    assert np.isfinite(f.predict_proba([[np.nan, np.nan]])).all()


# -- labels ---------------------------------------------------------------------------------------

BAD_Y = [
    ("too few", Y[:-1], r"inconsistent numbers of samples: \[60, 59\]"),
    ("too many", np.append(Y, 0), r"inconsistent numbers of samples: \[60, 61\]"),
    ("none", None, "requires y to be passed, but the target y is None"),
    ("two columns", np.c_[Y, Y], r"y should be a 1d array, got an array of shape \(60, 2\)"),
    ("continuous", Y + 0.5, "continuous"),
    ("missing", np.where(Y, 1.0, np.nan), "y contains NaN"),
    ("infinite", np.where(Y, 1.0, np.inf), "y contains infinity"),
    ("complex", Y * 1j, "Complex data not supported"),
    ("dates", Y.astype("M8[D]"), "labels must be numbers, strings or bools, got datetime64"),
    ("words after numbers", Y.astype(str), "labels of type int, got str"),
    ("bools after numbers", Y > 1, "labels of type int, got bool"),
    ("floats after numbers", Y.astype(float), "labels of type int, got float"),
    ("words and numbers", np.array([1, "oak"] * 30, dtype=object), "one type, got int, str"),
    (
        "words and nothing",
        np.array([None, "oak"] * 30, dtype=object),
        "y must have a label for every row, got None",
    ),
]


@pytest.mark.parametrize(
    ("bad", "message"), [row[1:] for row in BAD_Y], ids=[row[0] for row in BAD_Y]
)
def test_labels_that_are_none_are_not_learned(bad, message):
    f = forest().partial_fit(X, Y)
    before = state(f)
    with pytest.raises(ValueError, match=message):
        f.partial_fit(X, bad)
    assert state(f) == before


def test_a_label_that_was_not_among_the_classes_given_is_refused():
    f = forest().partial_fit(X, Y, classes=[0, 1, 2, 3, 4])
    before = state(f)
    with pytest.raises(ValueError, match=r"classes that were given, \[0, 1, 2, 3, 4\], got \[7\]"):
        f.partial_fit(X, np.where(np.arange(60) == 59, 7, Y))
    assert state(f) == before


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([0, 1, 2, 3], r"must stay as in the first call, \[0, 1, 2, 3, 4\], got \[0, 1, 2, 3\]"),
        ([0, 1, 2, 3, 4, 5], "must stay as in the first call"),
        ([], "classes must name at least one label"),
        ([0.5, 1.5], "continuous"),
    ],
)
def test_other_classes_than_at_first_are_refused(classes, message):
    f = forest().partial_fit(X, Y, classes=[0, 1, 2, 3, 4])
    before = state(f)
    with pytest.raises(ValueError, match=message):
        f.partial_fit(X, Y, classes=classes)
    assert state(f) == before


def test_classes_cannot_be_given_once_the_forest_has_started_without():
    f = forest().partial_fit(X, Y)
    before = state(f)
    with pytest.raises(ValueError, match="classes must be given in the first call or not at all"):
        f.partial_fit(X, Y, classes=[0, 1, 2, 3, 4])
    assert state(f) == before


# -- weights --------------------------------------------------------------------------------------

BAD_WEIGHTS = [
    ("negative", weights(-1e-9), "sample_weight must be from 0 to .* got .*-1e-09.* at row 7"),
    ("NaN", weights(np.nan), "sample_weight must be from 0 to .* got .*nan.* at row 7"),
    ("infinite", weights(np.inf), "sample_weight must be from 0 to .* got .*inf.* at row 7"),
    ("huge", weights(1e300), r"sample_weight must be from 0 to .* got .*1e\+300.* at row 7"),
    ("too few", ONES[1:], r"sample_weight must have shape \(60,\), .*\(59,\)"),
    ("a column", ONES[:, None], r"sample_weight must have shape \(60,\), .*\(60, 1\)"),
    ("words", ["heavy"] * 60, "sample_weight"),
    ("complex", [1j] * 60, "sample_weight"),
]


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("bad", "message"), [row[1:] for row in BAD_WEIGHTS], ids=[row[0] for row in BAD_WEIGHTS]
)
def test_weights_that_are_none_are_refused(learn, bad, message):
    f = forest().partial_fit(X, Y)
    before = state(f)
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(f, learn)(X, Y, sample_weight=bad)
    assert state(f) == before


def test_one_weight_may_serve_for_all():
    one = forest().partial_fit(X, Y, sample_weight=3.0)
    assert state(one) == state(forest().partial_fit(X, Y, sample_weight=3 * ONES))


# -- parameters -----------------------------------------------------------------------------------

WHOLE = "must be a whole number, got"
NUMBER = "must be a number, got"
FINITE = "must be finite and >= 0, got"
NOTHING_LEFT = "must be < 1, or no point is left"

BAD_PARAMETERS = [
    *[("n_estimators", bad, ValueError, "must be from 1 to") for bad in (0, -1, 2**40)],
    *[("n_estimators", bad, TypeError, WHOLE) for bad in (1.5, "3", None, True, math.nan)],
    *[
        ("candidate_dims", bad, ValueError, "must be from 0 to 1000000, got")
        for bad in (-0.1, math.nan, math.inf, 1e9)
    ],
    *[
        (
            "candidate_dims",
            bad,
            ValueError,
            "a number or 'sqrt' or '2sqrt' or '4sqrt' or 'third' or 'two thirds', got",
        )
        for bad in ("log2", "")
    ],
    *[("candidate_dims", bad, TypeError, NUMBER) for bad in (None, True, [1.0], 1j)],
    *[("split_points", bad, ValueError, "must be from 1 to") for bad in (0, -1, 2**40)],
    *[("split_points", bad, TypeError, WHOLE) for bad in (1.5, "3", None, True)],
    *[("min_gain", bad, ValueError, FINITE) for bad in (-1e-9, math.nan, math.inf, -math.inf)],
    *[("min_gain", bad, TypeError, NUMBER) for bad in (None, "0.1", True, [0.1])],
    *[
        ("alpha", bad, TypeError, "must be a number, a Geometric or a Polynomial, got")
        for bad in (None, "1.1", (1, 1.1))
    ],
    *[("beta", bad, ValueError, "must be >= 1, got") for bad in (0, 0.5, -4)],
    *[("beta", bad, ValueError, "must be finite, got") for bad in (math.nan, math.inf)],
    *[("beta", bad, TypeError, "a Geometric or a Polynomial, got") for bad in (None, "4", True)],
    ("beta", Geometric(100, 1), ValueError, "must be >= alpha at every depth"),
    ("beta", Polynomial(100, 9), ValueError, "must be >= alpha at every depth"),
    ("structure_fraction", 0, ValueError, "must be > 0, or no leaf can split"),
    *[("structure_fraction", bad, ValueError, FINITE) for bad in (-0.1, math.nan, math.inf)],
    *[("structure_fraction", bad, ValueError, NOTHING_LEFT) for bad in (1, 2)],
    *[("structure_fraction", bad, TypeError, NUMBER) for bad in (None, "0.5", True)],
    *[("ignore_fraction", bad, ValueError, FINITE) for bad in (-0.1, math.nan)],
    *[("ignore_fraction", bad, ValueError, NOTHING_LEFT) for bad in (0.5, 3)],
    *[("ignore_fraction", bad, TypeError, NUMBER) for bad in (None, "0.1", True)],
    *[("fringe_size", bad, ValueError, "must be from 1 to") for bad in (0, -1, 2**70)],
    *[("fringe_size", bad, TypeError, WHOLE) for bad in (1.5, "all", True, math.inf)],
    *[
        ("voting", bad, ValueError, "must be 'average' or 'majority', got")
        for bad in ("soft", None, 1, True, ["average"], np.array(["average"]))
    ],
    *[("random_state", bad, ValueError, "must be from 0 to") for bad in (-1, 2**64)],
    *[
        ("random_state", bad, (ValueError, TypeError), "")
        for bad in ("seed", 1.5, [1], np.random.default_rng(0), True)
    ],
    ("n_jobs", 0, ValueError, ""),
    *[("n_jobs", bad, ValueError, "must be from") for bad in (10**9, -(10**9))],
    *[("n_jobs", bad, TypeError, WHOLE) for bad in (1.5, "all", True)],
]
FIT_ONLY = [
    *[("passes", bad, ValueError, "must be from 1 to") for bad in (0, -1)],
    *[("passes", bad, TypeError, WHOLE) for bad in (1.5, None, "2", True)],
    *[("shuffle", bad, TypeError, "must be") for bad in (None, "no", 2)],
]


def bad_parameters(rows):
    ids = [
        f"{name}={type(bad).__name__ if isinstance(bad, np.random.Generator) else repr(bad):.30}"
        for name, bad, *_ in rows
    ]
    return pytest.mark.parametrize(("name", "bad", "error", "message"), rows, ids=ids)


@bad_parameters(BAD_PARAMETERS)
def test_a_bad_parameter_is_named_and_starts_no_forest(name, bad, error, message):
    f = forest(**{name: bad})
    with pytest.raises(error, match=f"{name}.*{message}"):
        f.partial_fit(X, Y)
    with pytest.raises(NotFittedError):
        f.predict(X)


@bad_parameters(BAD_PARAMETERS + FIT_ONLY)
def test_a_bad_parameter_leaves_the_last_fit_as_it_was(name, bad, error, message):
    f = forest().fit(X, Y)
    before = state(f)
    good = f.get_params()[name]
    f.set_params(**{name: bad})
    with pytest.raises(error, match=f"{name}.*{message}"):
        f.fit(X[:, :1], Y % 2)
    assert state(f.set_params(**{name: good})) == before


def test_a_constructor_checks_nothing():
    # As scikit-learn requires: parameters are only checked when they are used.
    assert forest(min_gain="much").min_gain == "much"


# -- nothing is half-applied ----------------------------------------------------------------------


def test_a_refused_first_batch_leaves_no_forest():
    f = forest()
    with pytest.raises(ValueError, match="classes that were given"):
        f.partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(NotFittedError):
        f.predict(X)
    f.partial_fit(X[:, :1], Y, classes=[0, 1, 2, 3, 4])
    assert f.stats()["points"] == 60


def test_a_refused_fit_leaves_the_forest_as_it_was():
    f = forest().fit(X, Y)
    before = state(f)
    with pytest.raises(ValueError, match="sample_weight"):
        f.fit(np.ones((60, 5)), Y, sample_weight=-ONES)
    with pytest.raises(ValueError, match="continuous"):
        f.fit(np.ones((60, 5)), Y + 0.5)
    assert state(f) == before


def test_a_batch_refused_for_its_threads_teaches_no_label():
    f = forest().partial_fit(X, Y % 2)
    before = state(f)
    with pytest.raises(ValueError, match="n_jobs"):
        f.set_params(n_jobs=0).partial_fit(X, Y)
    assert state(f.set_params(n_jobs=None)) == before


def test_the_message_shows_the_row_and_not_the_whole_matrix():
    with pytest.raises(ValueError, match=re.escape("X[7, 1]")) as refused:
        forest().partial_fit(put(np.inf), Y)
    assert len(str(refused.value)) < 200


# -- what is not an error -------------------------------------------------------------------------


def test_an_empty_batch_teaches_nothing():
    f = forest().partial_fit(X, Y)
    before = state(f)
    assert f.partial_fit(X[:0], Y[:0]) is f
    assert f.partial_fit(np.empty((0, 2)), []) is f
    assert state(f) == before


def test_an_empty_batch_must_have_the_right_features_too():
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 2 features"):
        forest().partial_fit(X, Y).partial_fit(np.empty((0, 3)), [])


def test_a_stream_may_begin_with_an_empty_batch():
    f = forest().partial_fit(np.empty((0, 2)), [])
    with pytest.raises(ValueError, match="no class is known yet"):
        f.predict(X)
    f.partial_fit(X, Y)
    assert state(f) == state(forest().partial_fit(X, Y))


def test_an_empty_batch_may_bring_the_classes():
    f = forest().partial_fit(np.empty((0, 2)), [], classes=["oak", "ash"])
    assert f.predict_proba(X[:1]).tolist() == [[0.5, 0.5]]


def test_fit_needs_a_point():
    with pytest.raises(ValueError, match=r"0 sample\(s\) .* while a minimum of 1 is required"):
        forest().fit(np.empty((0, 2)), [])


def test_no_points_have_no_predictions():
    f = forest().partial_fit(X, Y)
    empty = np.empty((0, 2))
    assert f.predict(empty).tolist() == []
    assert f.predict_proba(empty).shape == (0, 5)
    assert f.apply(empty).shape == f.predict_trees(empty).shape == (0, 3)


def test_a_point_of_no_weight_teaches_nothing():
    f = forest().partial_fit(X, Y)
    before = state(f)
    assert state(f.partial_fit(X, Y, sample_weight=0 * ONES)) == before


@pytest.mark.parametrize(
    "ask", ["predict", "predict_proba", "predict_log_proba", "predict_trees", "apply"]
)
def test_a_forest_that_has_not_started_says_so(ask):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(forest(), ask)(X)


def test_so_do_its_score_its_stats_and_its_classes():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        forest().score(X, Y)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        forest().stats()
    with pytest.raises(AttributeError, match="has not learned anything yet"):
        _ = forest().classes_


# -- a row that comes alone -----------------------------------------------------------------------


def rows_one_by_one(**changes):
    learned = forest(**changes).partial_fit(X[:20], Y[:20])
    for i in range(20, len(Y)):
        learned.partial_fit(X[i : i + 1].astype(np.float32), Y[i : i + 1])
    return learned


@pytest.mark.parametrize("changes", [{}, {"kept_points": 0}, {"class_weight": "balanced"}])
def test_rows_that_come_alone_are_learned_as_those_of_a_batch(changes):
    at_once = forest(**changes).partial_fit(X[:20], Y[:20])
    at_once.partial_fit(X[20:].astype(np.float32), Y[20:])
    assert state(rows_one_by_one(**changes)) == state(at_once)


LONE = X[:1].astype(np.float32)
BAD_LONE = [
    ("an infinity", np.full((1, 2), np.inf, dtype=np.float32), Y[:1], {}, "contains infinity"),
    ("too many features", np.ones((1, 3), dtype=np.float32), Y[:1], {}, "X has 3 features"),
    ("a label of another type", LONE, np.array(["a"]), {}, "y must hold labels of type int"),
    ("no label", LONE, Y[:0], {}, "inconsistent numbers of samples"),
    ("no axis", LONE, np.array(1), {}, "y should be a 1d array|0-d|Expected"),
    ("bad threads", LONE, Y[:1], {"n_jobs": 0}, "n_jobs"),
]


@pytest.mark.parametrize(
    ("row", "label", "changes", "fault"),
    [case[1:] for case in BAD_LONE],
    ids=[c[0] for c in BAD_LONE],
)
def test_a_row_that_comes_alone_is_refused_like_a_batch(row, label, changes, fault):
    learned = forest().partial_fit(X, Y)
    before = state(learned)
    learned.set_params(**changes)
    with pytest.raises((ValueError, TypeError), match=fault):
        learned.partial_fit(row, label)
    learned.set_params(n_jobs=None)
    assert state(learned) == before


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_missing_label_is_named_with_its_row(missing):
    y = np.array(["oak", missing, "elm"], dtype=object)
    with pytest.raises(ValueError, match=r"y must have a label for every row, got .* in row 1"):
        OnlineForestClassifier(1).partial_fit(np.zeros((3, 1)), y)


def test_a_text_among_numbers_is_named_with_its_column():
    frame = pd.DataFrame({"age": [1.0, 2.0], "size": [1.0, 2.0]})
    forest = OnlineForestClassifier(1).partial_fit(frame, [0, 1])
    with pytest.raises(ValueError, match=r"feature 'size' must hold numbers, got 'abc' in row 1"):
        forest.predict(pd.DataFrame({"age": [1, 2], "size": [3, "abc"]}))


@pytest.mark.parametrize("X", [[[1, 2], [3, "abc"]], np.array([["1", "2"], ["3", "abc"]])])
def test_a_text_in_an_array_is_named_with_its_place(X):
    with pytest.raises(ValueError, match=r"feature 1 must hold numbers, got 'abc' in row 1"):
        OnlineForestClassifier(2).fit(X, [0, 1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", math.nan], r"got nan in row 1"),
        (["a", None], "got None in row 1"),
        (["a", 1], "of one type"),
    ],
)
def test_a_list_of_labels_is_not_turned_into_texts(y, message):
    with pytest.raises(ValueError, match=message):
        OnlineForestClassifier(2).fit([[1.0], [2.0]], y)
