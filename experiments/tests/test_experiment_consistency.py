"""The excess error over Bayes falls, with every fringe; and why honesty matters."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from riparian import OnlineForestClassifier
from riparian.streams import GaussianMixture
from riparian.theory import check_schedule
from riparian_experiments import consistency, third_stream
from riparian_experiments.consistency import FORESTS, PROBLEMS, Task
from riparian_experiments.excess import Yardstick, excess_along, fitted_rate
from riparian_experiments.results import markdown
from riparian_experiments.store import read_runs

import broken

pytestmark = pytest.mark.engine

SMALL = replace(consistency.Settings(), sizes=(300, 3000, 30_000), trees=8, test_points=3000)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("forest", FORESTS)
def test_the_excess_of_trees_and_forest_falls_with_the_points(problem, forest):
    rows = consistency.one_run(Task(SMALL, problem, forest, run=0))
    of_trees = [row["mean_tree"] for row in rows]
    of_forest = [row["forest"] for row in rows]
    assert of_trees[0] > 1.3 * of_trees[1] > 1.3**2 * of_trees[2] > 0
    assert of_forest[0] > 1.3 * of_forest[1] > 1.3**2 * of_forest[2] > 0
    assert all(f < t for f, t in zip(of_forest, of_trees, strict=True))


def test_a_bound_on_the_fringe_is_felt():
    unbounded, bounded = (
        consistency.one_run(Task(SMALL, "2 dimensions", fringe, run=0))[-1]["leaves"]
        for fringe in ("unbounded", "fringe 10")
    )
    assert bounded < unbounded / 2


def test_the_settings_meet_the_conditions_of_the_theorem():
    for settings in (consistency.Settings(), consistency.QUICK, third_stream.LEARNING):
        forest = settings.forest(random_state=0)
        assert check_schedule(forest.alpha, forest.beta).consistent
        assert forest.voting == "majority"
        assert (forest.kept_points, forest.max_memory) == (0, None)
    assert consistency.Settings().sizes[-1] == 10**6


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_problem_has_something_to_learn_and_something_to_get_wrong(problem):
    stream = PROBLEMS[problem]
    X, y = stream.sample(20_000, 0)
    prior = np.bincount(y).max() / len(y)
    assert prior + 0.15 < stream.bayes_accuracy(X, y) < 0.95


# -- what is measured -----------------------------------------------------------------------------


def test_excess_from_probabilities_is_excess_of_errors_without_their_noise():
    mixture = GaussianMixture.paper()
    X, y = mixture.sample(200_000, 1)
    yardstick = Yardstick(X, mixture.bayes_proba(X))
    answers = (X[:, 0] > 4).astype(np.int64)  # of classes 0 and 1: a poor classifier
    counted = np.mean(answers != y) - np.mean(mixture.bayes_predict(X) != y)
    assert yardstick.excess(answers[:, None])[0] == pytest.approx(counted, abs=0.006)
    assert yardstick.excess(mixture.bayes_predict(X)[:, None])[0] == pytest.approx(0, abs=1e-12)


def test_the_vote_that_is_measured_is_that_of_the_forest():
    mixture = GaussianMixture.paper()
    yardstick = Yardstick.of(mixture, 2000, np.random.default_rng(0))
    forest = OnlineForestClassifier(7, voting="majority", random_state=0)
    rows = list(excess_along(mixture, forest, [200, 1000], yardstick, np.random.default_rng(1)))
    assert [row.points for row in rows] == [200, 1000] and forest.stats()["points"] == 1000
    predicted = forest.predict(yardstick.X)
    assert rows[-1].forest == pytest.approx(float(yardstick.excess(predicted[:, None])[0]))


def test_a_rate_is_the_slope_of_every_run_and_its_error_that_of_their_mean():
    sizes = [10.0, 100.0, 1000.0, 10_000.0]
    runs = [[n**slope for n in sizes] for slope in (-0.4, -0.5, -0.6)]
    value, error = fitted_rate([sizes] * 3, runs, least=10)
    assert value == pytest.approx(-0.5)
    assert error == pytest.approx(0.1 / np.sqrt(3))
    bent = [1.0, 1.0, 1000**-0.5, 10_000**-0.5]
    assert fitted_rate([sizes], [bent], least=1000).value == pytest.approx(-0.5)
    assert np.isnan(fitted_rate([sizes], [bent], least=1000).standard_error)
    with pytest.raises(ValueError, match="a rate needs two sizes of at least 5000 points"):
        fitted_rate([sizes], [bent], least=5000)


def test_a_curve_is_labelled_with_its_rate():
    rows = [
        {"problem": problem, "variant": variant, "run": run, "points": n, "leaves": 1,
         "mean_tree": 2 * n**-0.25, "forest": n**-0.5}
        for problem in PROBLEMS for variant in FORESTS for run in (0, 1) for n in (1000, 10_000)
    ]  # fmt: skip
    panels = consistency.panels(rows, fit_from=1000)
    assert [panel.title for panel in panels] == list(PROBLEMS)
    labels = [curve.label for curve in panels[0].curves]
    assert labels[0] == "forest, unbounded: n^-0.500 ± 0.000"
    assert labels[-1] == "tree, kept points: n^-0.250 ± 0.000"


# -- the third stream -----------------------------------------------------------------------------


def test_ignoring_half_of_the_points_hurts():
    settings = replace(SMALL, sizes=(3000, 30_000))
    excess = {
        share: np.mean(
            [
                [row["mean_tree"] for row in third_stream.one_run(
                    third_stream.Task(settings, share, run))]
                for run in range(3)
            ],
            axis=0,
        )
        for share in (0.0, 0.5)
    }  # fmt: skip
    assert (excess[0.5] > 1.1 * excess[0.0]).all()


# -- what honesty is for --------------------------------------------------------------------------


@pytest.fixture(
    scope="module",
    params=[
        (broken.Task(run=1, sizes=(1500,), trees=4), 0),
        (broken.Task(run=1, sizes=(600,), trees=3), 150),  # kept points: most leaves settle
        (broken.Task(run=1, sizes=(600,), trees=3), 600),  # none does, and trees are rebuilt
    ],
    ids=lambda param: f"kept_points={param[1]}",
)
def by_voters(request):
    rows = broken.one_run(*request.param)
    return {row["voters"]: row for row in rows}


def test_a_split_is_independent_of_the_noise_of_estimation_points(by_voters):
    honest = by_voters["estimation"]
    assert abs(honest["made_up"]) < 4 * honest["made_up_error"]


def test_structure_points_that_vote_repeat_the_noise_they_were_split_for(by_voters):
    for voters in ("structure", "both"):
        assert by_voters[voters]["made_up"] > 10 * by_voters[voters]["made_up_error"]


def test_structure_points_predict_worse_than_as_many_estimation_points(by_voters):
    honest, dishonest = by_voters["estimation"], by_voters["structure"]
    assert dishonest["votes"] > 0.95 * honest["votes"]
    assert dishonest["squared_error"] > 1.2 * honest["squared_error"]
    assert dishonest["excess_error"] > honest["excess_error"]


# -- the commands ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "module", "header"),
    [
        ("consistency", consistency, "| points learned | forest, unbounded: n^-"),
        ("third-stream", third_stream, "| points learned | 0% ignored | 50% ignored |"),
    ],
)
def test_a_study_has_a_command(command, module, header, tmp_path, monkeypatch):
    app = pytest.importorskip("riparian_experiments.cli.experiment").app
    runner = pytest.importorskip("typer.testing").CliRunner()
    tiny = replace(consistency.QUICK, sizes=(1000, 3000), trees=2, test_points=500)
    quick = tiny if module is consistency else replace(third_stream.QUICK, learning=tiny)
    monkeypatch.setattr(module, "QUICK", quick)
    options = [command, "--quick", "--jobs", "1", "--seed", "3", "--out", str(tmp_path)]
    result = runner.invoke(app, options)
    assert result.exit_code == 0, result.output
    assert header in result.stdout
    assert '"seed": 3' in (tmp_path / "settings.json").read_text()
    assert (tmp_path / "figure.svg").stat().st_size > 10_000


# -- the results in full --------------------------------------------------------------------------

RESULTS = Path(__file__).parents[2] / "docs" / "experiments" / "consistency"


@pytest.mark.parametrize(
    ("folder", "settings", "runs", "panels"),
    [
        (".", consistency.Settings(), 4, partial(consistency.panels, fit_from=1000)),
        ("third-stream", third_stream.Settings(), 10, third_stream.panels),
        ("structure-votes", broken.Task(run=0), 4, broken.panels),
    ],
)
def test_the_files_of_a_study_have_its_results(folder, settings, runs, panels):
    stored = json.loads((RESULTS / folder / "settings.json").read_text())
    assert stored["settings"] == json.loads(json.dumps(asdict(settings)))
    assert stored["extent"] == {"runs": runs}
    table = (RESULTS / folder / "table.md").read_text().partition("\n\n")[2]
    assert table == markdown(panels(read_runs(RESULTS / folder / "runs.csv")))


def test_to_a_million_points_the_mean_tree_becomes_better_from_each_size_to_the_next():
    rows = read_runs(RESULTS / "runs.csv")
    sizes = consistency.Settings().sizes
    for first in range(0, len(rows), len(sizes)):
        run = rows[first : first + len(sizes)]
        assert tuple(row["points"] for row in run) == sizes
        assert (np.diff([row["mean_tree"] for row in run]) < 0).all()
        least = 2.5 if run[0]["variant"] == "kept points" else 3  # better trees, more alike
        assert run[-1]["forest"] < run[-1]["mean_tree"] / least
