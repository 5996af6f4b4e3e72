"""Thresholds: chosen from the rows before, for what they promise, and the same for any batches."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riparian.evaluation import Decision, Scores, Threshold
from riparian.evaluation.ranking import Ranking
from riparian.evaluation.threshold import REFRESH

NAMES = ["in time", "late"]


def rows(count=1000, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 6, size=count)
    return np.where(rng.random(count) < p, "late", "in time"), np.stack([1 - p, p], axis=1)


def ranking(y, proba):
    scores = Scores()
    scores.update(y, proba, NAMES)
    return scores.ranking


def test_a_threshold_for_a_recall_finds_this_share_and_the_next_larger_one_less():
    y, proba = rows(5000)
    decision = Threshold.parse("recall=0.8").choose(ranking(y, proba))
    late = proba[y == "late", 1]
    assert decision.label == "late"
    assert (late >= decision.threshold).mean() >= 0.8
    assert (late >= decision.threshold * 1.02).mean() < 0.8


def test_a_threshold_for_a_cost_costs_less_than_any_other():
    y, proba = rows(5000)

    def cost(threshold):
        predicted = proba[:, 1] >= threshold
        return 5 * ((y == "late") & ~predicted).sum() + ((y != "late") & predicted).sum()

    decision = Threshold.parse("cost=5").choose(ranking(y, proba))
    assert cost(decision.threshold) == min(
        cost(t) for t in ranking(y, proba).curve("late").threshold
    )


def test_a_class_whose_prediction_costs_more_than_it_gains_is_not_predicted():
    y = ["in time", "late", "in time"]
    proba = [[0.5, 0.5], [0.9, 0.1], [0.6, 0.4]]
    assert Threshold("cost", 0.1).choose(ranking(y, proba)) == Decision("late", 1.0)


def test_no_row_takes_part_in_the_choice_of_its_own_threshold():
    y, proba = rows()
    scores = Scores(threshold="recall=0.8")
    for start in range(0, 1000, REFRESH):
        before = Threshold.parse("recall=0.8").choose(scores.ranking)
        some = slice(start, start + REFRESH)
        scores.update(y[some], proba[some], NAMES)
        assert scores.decision == before


@given(st.lists(st.integers(0, 1000), max_size=5))
def test_how_rows_are_cut_changes_no_decision(cuts):
    y, proba = rows()
    whole, parts = Scores(threshold="cost=4"), Scores(threshold="cost=4")
    whole.update(y, proba, NAMES)
    for start, stop in pairwise(sorted({0, *cuts, 1000})):
        parts.update(y[start:stop], proba[start:stop], NAMES)
        parts = Scores.from_state(json.loads(json.dumps(parts.state())))
    assert parts.state() == whole.state()
    assert whole.by_class()[1]["recall"] > 0.3


def test_along_a_stream_the_recall_is_about_the_requested_one():
    scores = Scores(threshold="recall=0.8")
    scores.update(*rows(20_000), NAMES)
    assert scores.by_class()[1]["recall"] == pytest.approx(0.8, abs=0.03)


def test_a_number_and_a_named_class_hold_from_the_first_row_on():
    scores = Scores(positive="late", threshold=0.2)
    scores.update(["late", "late"], [[0.75, 0.25], [0.85, 0.15]], NAMES)
    assert scores.confusion.tolist() == [[0, 0], [1, 1]]
    assert scores.final_decision() == Decision("late", 0.2)


def test_with_more_classes_the_others_are_compared_among_themselves():
    decision = Decision("b", 0.2)
    proba = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.05, 0.9, 0.05]])
    assert decision.labels(proba, np.array(["a", "b", "c"])).tolist() == ["b", "c", "b"]


def test_a_class_that_has_not_come_is_not_predicted():
    assert Decision("z", 0.0).labels(np.array([[0.4, 0.6]]), np.array(["a", "b"])).tolist() == ["b"]


def test_before_two_classes_there_is_no_choice():
    assert Threshold.parse("0.3").choose(Ranking()) is None


@pytest.mark.parametrize(
    "text",
    ["recall=0", "recall=1.5", "cost=-1", "cost=inf", "nan", "1.5", "value=.3", "f1=2", "x", ""],
)
def test_a_rule_that_means_nothing_is_refused_with_what_there_is(text):
    with pytest.raises(ValueError, match=r"threshold|recall|cost"):
        Threshold.parse(text)
