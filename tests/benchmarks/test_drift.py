"""Forests on streams that change: run point by point, and the record grows by what is missing."""

import os
import shutil

import numpy as np
import pytest

pytest.importorskip("river")

from benchmarks import drift
from benchmarks.drift import BIN, ENTRANTS, Entrant, cells_of, in_bins, kappa, measure, missing
from benchmarks.peers import FOLLOWERS, Task
from benchmarks.streams_of_change import load
from sklearn.metrics import cohen_kappa_score

needs_java = pytest.mark.skipif(
    shutil.which("java") is None and "JAVA_HOME" not in os.environ,
    reason="CapyMOA runs on Java, and there is none here",
)

MARKS = dict.fromkeys(("capymoa-arf", "capymoa-srp", "capymoa-bagging"), needs_java)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=MARKS.get(name, ())) for name in FOLLOWERS]
)
def test_a_follower_answers_each_point_before_it_learns_it(name):
    X, y = load("sea-abrupt", 120, seed=1)
    task = Task(X.shape[1], np.arange(2), trees=3)
    whole, stepwise = (FOLLOWERS[name].model(task) for _ in range(2))
    answers = whole.test_then_train(whole.points(X, y))
    one_by_one = []
    for i in range(len(y)):
        point = stepwise.points(X[i : i + 1], y[i : i + 1])
        one_by_one.append(stepwise.predict(point)[0])
        stepwise.learn(point)
    np.testing.assert_array_equal(answers, one_by_one)


def test_kappa_is_cohens():
    rng = np.random.default_rng(0)
    y, answers = rng.integers(3, size=200), rng.integers(3, size=200)
    assert kappa(y, answers) == pytest.approx(cohen_kappa_score(y, answers))


def test_bins_count_what_is_right_of_each_hundred_and_of_the_rest():
    right = np.ones(2 * BIN + 7, dtype=bool)
    right[BIN + 3] = False
    assert in_bins(right) == [BIN, BIN - 1, 7]


def test_same_as_last_has_no_answer_for_the_first_point():
    model = FOLLOWERS["same-as-last"].model(Task(1, np.arange(3), trees=1))
    y = np.array([2, 0, 0])
    assert model.test_then_train(model.points(np.zeros((3, 1)), y)).tolist() == [-1, 2, 0]


def test_a_cell_says_how_much_was_right_and_where():
    cell = measure(Entrant("riparian-river", 3), "sea-abrupt", 250, seed=1)
    assert cell.points == 250
    counted = [int(count) for count in cell.right.split()]
    assert len(counted) == 3
    assert cell.accuracy == pytest.approx(sum(counted) / 250)
    assert cell.accuracy > 0.5
    assert cell.seconds >= 0


def test_a_measurement_in_the_record_is_not_run_again(tmp_path):
    path = tmp_path / "drift.json"
    asked = (["riparian-river-10"], ["sea-abrupt", "hyperplane"], 60, [1, 2])
    for entrant, stream, points, seed in missing(path, *asked):
        if (stream, seed) != ("hyperplane", 2):  # stopped before the last
            drift.add(path, measure(entrant, stream, points, seed))
    assert len(cells_of(path)) == 3
    left = list(missing(path, *asked))
    assert left == [(ENTRANTS["riparian-river-10"], "hyperplane", 60, 2)]


def test_a_new_measurement_replaces_the_old_one(tmp_path):
    path = tmp_path / "drift.json"
    asked = (["same-as-last-1"], ["sea-abrupt"], 60, [1, 2])
    for again in (False, True):
        for entrant, stream, points, seed in missing(path, *asked, again=again):
            drift.add(path, measure(entrant, stream, points, seed))
        assert sorted(cell.seed for cell in cells_of(path)) == [1, 2]
    assert list(missing(path, *asked)) == [] != list(missing(path, *asked, again=True))


def test_elec_is_left_out_without_its_data(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("RIPARIAN_DATA", raising=False)
    monkeypatch.setattr(drift, "missing", lambda *_: [])
    monkeypatch.setattr("sys.argv", ["drift", "--out", str(tmp_path / "drift.json")])
    drift.main()
    assert "elec is left out" in capsys.readouterr().out
