"""The decision of a model: what is predicted, saved with the forest, and refused where it is wrong."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import riparian
from riparian import OnlineForestClassifier, SnapshotError
from riparian.evaluation import Decision
from riparian.loading import from_bytes_with_extra, to_bytes_with_extra

from engines import mixture

pytestmark = pytest.mark.engine


@pytest.fixture
def forest():
    X, y = mixture(200)
    return OnlineForestClassifier(3, random_state=0).partial_fit(X, y)


def test_a_decision_changes_what_is_predicted_and_no_probability(forest):
    X, _ = mixture(50)
    proba = forest.predict_proba(X)
    label = forest.classes_[0]
    forest.decision_ = Decision(label, 0.1)
    assert ((forest.predict(X) == label) == (proba[:, 0] >= 0.1)).all()
    assert (forest.predict_proba(X) == proba).all()
    forest.decision_ = None
    assert (forest.predict(X) == forest.classes_[proba.argmax(axis=1)]).all()


def test_a_decision_is_saved_with_the_forest_and_copied_with_it(forest, tmp_path):
    forest.decision_ = decision = Decision(forest.classes_.tolist()[1], 0.25)
    forest.save(tmp_path / "forest.riparian")
    assert riparian.load(tmp_path / "forest.riparian").decision_ == decision
    assert copy.copy(forest).decision_ == decision
    again, extra = from_bytes_with_extra(to_bytes_with_extra(forest, {"unit": "metres"}))
    assert again.decision_ == decision
    assert extra["unit"] == "metres"


def test_a_forest_that_learns_on_keeps_its_decision_and_one_that_starts_again_has_none(forest):
    X, y = mixture(100)
    forest.decision_ = Decision(forest.classes_.tolist()[0], 0.5)
    assert forest.partial_fit(X, y).decision_ is not None
    assert forest.fit(X, y).decision_ is None


@pytest.mark.parametrize("decision", [("nothing", 0.5), (None, 0.5)])
def test_a_decision_for_a_class_that_is_not_there_is_refused(forest, decision):
    with pytest.raises(ValueError, match="must be for one of the classes"):
        forest.decision_ = Decision(*decision)
    assert forest.decision_ is None


@pytest.mark.parametrize("threshold", [-0.1, 1.5, np.nan])
def test_a_threshold_is_a_probability(threshold):
    with pytest.raises(ValueError, match="a threshold must be from 0 to 1"):
        Decision("a", threshold)


@pytest.mark.parametrize(
    "state",
    [
        {"label": "zz", "threshold": 0.5},
        {"label": 0, "threshold": 2},
        {"label": 0, "threshold": "1"},
    ],
)
def test_a_forged_decision_is_refused(forest, state):
    data = to_bytes_with_extra(forest, {"decision": state})
    with pytest.raises(SnapshotError, match="decision"):
        riparian.from_bytes(data)


@pytest.mark.parametrize("mine", ["yes", {"label": 0}, [1]])
def test_a_value_that_a_user_stored_under_this_name_is_kept(forest, mine):
    again, extra = from_bytes_with_extra(to_bytes_with_extra(forest, {"decision": mine}))
    assert extra == json.loads(json.dumps({"decision": mine}))
    assert again.decision_ is None
