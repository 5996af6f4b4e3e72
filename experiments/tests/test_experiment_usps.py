"""Experiment 2: what is compared, on which points, and the settings of the paper."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from riparian import ConsistencyWarning, Geometric, OnlineForestClassifier
from riparian_experiments import usps
from riparian_experiments.datasets import load
from riparian_experiments.running import run

FEW = replace(usps.Settings(), trees=10)


def task(method, size=150, run=0):
    return usps.Task(FEW, None, run, size, usps.Method(method))


def test_our_settings_are_the_papers():
    forest = usps.Settings().online.forest(usps.Settings().trees, random_state=0)
    assert (forest.n_estimators, forest.passes, forest.shuffle) == (100, 15, True)
    assert (forest.candidate_dims, forest.split_points, forest.min_gain) == (10, 10, 0.1)
    assert (forest.alpha, forest.beta) == (Geometric(10, 1.00001), 10_000)
    assert (forest.kept_points, forest.max_memory) == (0, None)


def test_ours_is_also_there_with_one_pass_and_with_kept_points():
    settings = usps.Settings()
    assert settings.online_once == replace(settings.online, passes=1)
    assert settings.kept == replace(settings.online, kept_points=20_000)
    assert settings.kept_once == replace(settings.kept, passes=1)


def test_the_defaults_are_those_of_the_library():
    forest = usps.Settings().defaults_once.forest(100, random_state=7)
    # 20,000 points are what "auto" comes to, and 512 MB are never reached here.
    forest.set_params(kept_points="auto", max_memory="512MB")
    assert forest.get_params() == OnlineForestClassifier(eager=False, random_state=7).get_params()


def test_saffaris_settings_are_the_papers():
    forest = usps.Settings().saffari.forest(usps.Settings().trees, random_state=0)
    assert (forest.n_estimators, forest.passes, forest.shuffle) == (100, 15, True)
    assert (forest.candidate_dims, forest.split_points, forest.thresholds) == (10, 10, "points")
    assert (forest.min_gain, forest.min_samples, forest.max_depth) == (0.1, 50, None)
    assert forest.replacement_rate is None


def test_the_schedule_meets_the_conditions_of_the_theorem():
    # To the letter: 1.00001^d does outgrow every power of d in the end.
    X, y = np.eye(4), np.arange(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConsistencyWarning)
        usps.Settings().online.forest(trees=1, random_state=0).fit(X, y)


def test_the_offline_forest_is_configured_as_the_papers():
    forest = usps.Settings().offline.forest(usps.Settings().trees, random_state=0)
    assert (forest.n_estimators, forest.max_features, forest.bootstrap) == (100, 10, True)
    assert forest.max_depth is None


def test_sizes_are_evenly_spaced_on_a_logarithmic_axis_up_to_the_whole():
    sizes = usps.spaced_sizes(7291)
    assert (len(sizes), sizes[0], sizes[-1]) == (10, 20, 7291)
    steps = np.diff(np.log(sizes))
    assert steps.max() - steps.min() < 0.03
    assert usps.spaced_sizes(21) == [20, 21]
    with pytest.raises(ValueError, match="at least 20 points, got 19"):
        usps.spaced_sizes(19)


@pytest.mark.parametrize("method", usps.Method)
def test_every_method_learns(method):
    (row,) = usps.one_forest(task(method))
    assert 0.5 < row["accuracy"] <= 1  # of ten digits
    assert row["mean_tree"] < row["majority"]
    assert usps.one_forest(task(method)) == [row]


@pytest.mark.parametrize("method", usps.Method)
def test_twenty_points_of_a_few_classes_are_enough_to_answer(method):
    (row,) = usps.one_forest(task(method, size=20))
    assert 0.05 < row["accuracy"] < 0.9


class Spy(Exception):
    """A method that only reports what it was given to learn."""

    def forest(self, trees, random_state):
        return self

    def fit(self, X, y):
        raise Spy(X)


def learned(method, run=0, size=50):
    spies = replace(FEW, **{str(method): Spy() for method in usps.Method})
    with pytest.raises(Spy) as raised:
        usps.one_forest(usps.Task(spies, None, run, size, method))
    return raised.value.args[0]


def test_the_methods_of_a_run_learn_the_same_points_in_the_same_order():
    first, *others = [learned(method) for method in usps.Method]
    assert len(np.unique(first, axis=0)) == 50
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_runs_learn_different_points():
    assert not np.array_equal(learned(usps.Method.ONLINE, run=1), learned(usps.Method.ONLINE))


def test_a_smaller_part_is_part_of_a_larger_one():
    larger = learned(usps.Method.ONLINE, size=80)
    np.testing.assert_array_equal(learned(usps.Method.ONLINE, size=50), larger[:50])


def test_the_votes_of_the_offline_forest_are_those_of_its_trees():
    data = load(None)
    # Labels with a gap: what a tree answers is an index, and a label is something else.
    odd = data.train.y % 2 == 1
    forest = FEW.offline.forest(5, random_state=0).fit(data.train.X[odd], data.train.y[odd])
    answers = usps._tree_labels(forest, data)
    assert set(np.unique(answers).tolist()) <= {1, 3, 5, 7, 9}


def test_a_study_may_get_another_method_later(tmp_path):
    first, *_ = usps.Method
    run(usps.study(FEW, None, 1, [30], [first]), tmp_path, jobs=1)
    rows = run(usps.study(FEW, None, 1, [30], list(usps.Method)), tmp_path, jobs=1)
    assert [row["method"] for row in rows] == [str(method) for method in usps.Method]


def test_a_panel_shows_the_methods_that_were_run():
    rows = [{"size": 20, "method": str(method), "accuracy": 0.5} for method in usps.Method]
    both = usps.panels(rows, list(usps.Method))
    assert [panel.title for panel in both] == ["15 passes", "one pass"]
    assert {curve.label for panel in both for curve in panel.curves} == {
        method.label for method in usps.Method
    }
    (alone,) = usps.panels(rows, [usps.Method.KEPT_ONCE])
    assert [curve.label for curve in alone.curves] == [usps.Method.KEPT_ONCE.label]


def test_settings_say_which_data_and_name_no_path(tmp_path):
    study = usps.study(FEW, None, 1, [30], list(usps.Method))
    assert study.settings["data"]["name"] == "scikit-learn's digits (not USPS)"
    assert len(study.settings["data"]["sha256"]) == 64
    assert study.title.endswith("on scikit-learn's digits (not USPS)")
