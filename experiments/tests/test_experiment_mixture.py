"""Experiment 1: what is measured in a run, and the settings of the paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riparian import Geometric, OnlineForestClassifier
from riparian.streams import GaussianMixture
from riparian_experiments import mixture

SMALL = replace(mixture.Settings(), sizes=(100, 300, 1000), trees=20, test_points=2000)


@pytest.fixture(scope="module")
def rows():
    """Of the paper's forest in one run, as the study keeps them."""
    return rows_of("paper")


def rows_of(forest):
    task = mixture.Task(SMALL, run=0, forest=forest)
    return [{"forest": forest, **row} for row in mixture.one_run(task)]


def test_the_settings_are_the_papers():
    forest = mixture.Settings().forest(random_state=0)
    assert forest.n_estimators == 100
    assert (forest.candidate_dims, forest.split_points, forest.min_gain) == (1, 10, 0.001)
    assert (forest.alpha, forest.beta) == (Geometric(1, 1.1), 1000)
    assert forest.structure_fraction == 0.5
    assert (forest.kept_points, forest.max_memory) == (0, None)
    assert mixture.RUNS == 10
    sizes = mixture.Settings().sizes
    np.testing.assert_allclose(sizes, np.geomspace(100, 30_000, 10), atol=1)


def test_a_row_for_each_size(rows):
    assert [row["points"] for row in rows] == [100, 300, 1000]


def test_the_forest_is_better_than_its_mean_tree_and_no_better_than_bayes(rows):
    noise = 0.02  # of 2000 test points
    for row in rows:
        assert row["mean_tree"] < row["average"] < row["bayes"] + noise
        assert row["mean_tree"] < row["majority"] < row["bayes"] + noise
        assert row["mean_tree"] < row["best_tree"]


def test_the_vote_is_that_of_a_forest_that_votes(rows):
    rng = np.random.default_rng([SMALL.seed, mixture.STREAM, 0])
    forest = SMALL.forest(random_state=int(rng.integers(2**32))).set_params(voting="majority")
    paper = GaussianMixture.paper()
    for learned, size in zip((0, 100, 300), SMALL.sizes, strict=True):
        forest.partial_fit(*paper.sample(size - learned, rng), classes=np.arange(5))
    test = paper.sample(SMALL.test_points, np.random.default_rng([SMALL.seed, mixture.TEST]))
    assert forest.score(*test) == rows[-1]["majority"]


def test_runs_differ_in_their_streams_and_share_their_test_points(rows):
    other = mixture.one_run(mixture.Task(SMALL, run=1))
    assert [row["bayes"] for row in other] == [row["bayes"] for row in rows]
    assert [row["average"] for row in other] != [row["average"] for row in rows]


def test_the_forest_with_kept_points_differs_in_nothing_else():
    paper, kept = (
        mixture.Task(SMALL, 0, forest).new_forest(0).get_params() for forest in ("paper", "kept")
    )
    assert {name for name in paper if paper[name] != kept[name]} == {"kept_points"}


def test_the_defaults_are_those_of_the_library():
    forest = mixture.Task(mixture.Settings(), 0, "defaults").new_forest(7)
    library = OnlineForestClassifier(eager=False, n_jobs=forest.n_jobs, random_state=7)
    assert forest.get_params() == library.get_params()


def test_the_figure_shows_both_ways_to_combine_the_mean_tree_kept_points_and_bayes(rows):
    (panel,) = mixture.panels([*rows, *rows_of("kept"), *rows_of("defaults")])
    assert [curve.label for curve in panel.curves] == [
        "forest, averaged",
        "forest, by vote",
        "mean tree",
        "forest with kept points, averaged",
        "the library's defaults, averaged",
    ]
    assert panel.lines == {"Bayes classifier": pytest.approx(rows[0]["bayes"])}


def test_every_forest_of_a_run_is_a_cell_of_its_own():
    study = mixture.study(SMALL, runs=2)
    assert [cell.key for cell in study.cells] == [
        {"run": run, "forest": forest} for run in range(2) for forest in mixture.FORESTS
    ]
    assert {curve.forest for curve in mixture.CURVES} == set(mixture.FORESTS)
