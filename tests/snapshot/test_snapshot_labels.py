"""Labels and the weights of classes come back with their types and their order."""

from __future__ import annotations

import numpy as np
import pytest

import riparian
from riparian import OnlineForestClassifier

from snapshots import learned, mixture, same_forest

pytestmark = pytest.mark.engine


def back(forest):
    return riparian.from_bytes(forest.to_bytes())


LABELS = {
    "int8": np.array([-3, 0, 5], dtype=np.int8),
    "uint64": np.array([0, 1, 2**64 - 1], dtype=np.uint64),
    "big-endian": np.array([1, 2, 3], dtype=">i4"),
    "float": np.array([-1.0, 0.0, 2.0]),
    "str": np.array(["", "oak", "Ümläut\ud800"]),
    "object": np.array(["a", "bb", "nul\0"], dtype=object),
    "bytes": np.array([b"a", b"\xff\x00b", b"c"]),
    "bool": np.array([False, True, True]),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("start", ["open", "closed", "fit"])
def test_labels_come_back_with_their_type(kind, start):
    X, y = mixture(60)
    classes = np.unique(LABELS[kind])
    labels = LABELS[kind][y]
    forest = OnlineForestClassifier(n_estimators=2, random_state=0)
    if start == "fit":
        forest.fit(X[:30], labels[:30]).partial_fit(X[30:], labels[30:])
    else:
        forest.partial_fit(X, labels, classes=classes if start == "closed" else None)
    other = back(forest)
    assert other.classes_.dtype == forest.classes_.dtype
    assert other.classes_.tolist() == forest.classes_.tolist()
    assert other.model_.target.arrived == forest.model_.target.arrived
    assert other.model_.target.closed == forest.model_.target.closed
    assert same_forest(other, forest)


def test_labels_stay_closed_or_open_and_of_their_family():
    closed = OnlineForestClassifier(1).partial_fit([[0.0]], [1], classes=[0, 1, 2])
    other = back(closed)
    with pytest.raises(ValueError, match="only the classes that were given"):
        other.partial_fit([[0.0]], [3])
    assert other.partial_fit([[0.0]], [2]).classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="labels of type int, got str"):
        back(learned()).partial_fit(mixture(1)[0], ["a"])
    assert 9 in back(learned()).partial_fit(mixture(1)[0], [9]).classes_


def test_weights_that_follow_the_stream_go_on_from_where_they_were():
    forest = learned(class_weight="balanced")
    assert (
        back(forest).model_.class_weights.seen.tolist() == forest.model_.class_weights.seen.tolist()
    )


def test_labels_in_an_array_that_is_far_too_wide_are_saved_as_objects():
    X, y = mixture(60)
    labels = np.array(["ash", "elm", "oak"], dtype="<U200000")[y]
    forest = OnlineForestClassifier(n_estimators=2, random_state=0).partial_fit(X, labels)
    loaded = back(forest)
    assert loaded.classes_.dtype == object
    assert loaded.classes_.tolist() == forest.classes_.tolist()
    np.testing.assert_array_equal(loaded.predict_proba(X), forest.predict_proba(X))
    loaded.partial_fit(X, labels)
