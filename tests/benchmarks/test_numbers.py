"""The comparison for numbers: each engine predicts before it learns, and the record grows by cells."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

pytest.importorskip("river")

from benchmarks import number_cell, numbers
from benchmarks.number_cell import ALONG, BLOCK, OFFLINE, Job, along
from benchmarks.number_sets import load
from benchmarks.numbers import ENTRANTS, Cell, cells_of, jobs, missing
from benchmarks.peers import NO_CLASSES, REGRESSORS, Task

FAST = "riparian-numbers-10", "same-as-last-1"
needs_java = pytest.mark.skipif(
    shutil.which("java") is None and "JAVA_HOME" not in os.environ,
    reason="CapyMOA runs on Java, and there is none here",
)
LEARNERS = [
    pytest.param(name, marks=needs_java if peer.library == "capymoa" else ())
    for name, peer in REGRESSORS.items()
    if not peer.offline
]


def job(**changes):
    asked = {
        "study": ALONG, "peer": "riparian-numbers", "trees": 3, "set": "friedman", "seed": 1,
        "rows": 1200, "seconds": 60.0, "data": None,
    }  # fmt: skip
    return Job(**{**asked, **changes})


@pytest.mark.parametrize("name", LEARNERS)
def test_an_engine_answers_each_row_before_it_learns_it(name):
    given = load("friedman", 80, 1, None)
    task = Task(10, NO_CLASSES, trees=2)
    whole, stepwise = (REGRESSORS[name].model(task) for _ in range(2))
    answers = whole.test_then_train(whole.points(given.X, given.y))
    one_by_one = []
    for i in range(len(given.y)):
        point = stepwise.points(given.X[i : i + 1], given.y[i : i + 1])
        if i > 0:  # the first row is not judged, and ours has no answer yet
            one_by_one.append(stepwise.predict(point)[0])
        stepwise.learn(point)
    np.testing.assert_array_equal(answers[1:], one_by_one)


def test_errors_are_those_of_every_row_but_the_first():
    given = load("friedman", 1200, 1, None)
    model = REGRESSORS["same-as-last"].model(Task(10, NO_CLASSES, 1))
    measured = along(model, given, 60.0)
    assert len(measured.squares) == 3 and measured.judged == 1199 and measured.finished
    assert sum(measured.squares) == pytest.approx(np.sum(np.diff(given.y) ** 2))


def test_what_takes_too_long_is_stopped_after_a_block_and_says_so():
    measured = number_cell.measure(job(seconds=0.0))
    assert (measured.judged, measured.finished) == (BLOCK - 1, False)


def test_what_was_learned_offline_is_judged_on_the_rest():
    measured = number_cell.measure(job(study=OFFLINE))
    assert measured.judged == 360
    assert 0 < measured.squares[0] / 360 < 1  # better than the mean of the target


def test_a_run_has_a_cell_for_each_engine_and_set_and_goes_on_where_it_was_stopped(
    tmp_path, monkeypatch, capsys
):
    path = tmp_path / "numbers.json"
    monkeypatch.delenv("RIPARIAN_DATA", raising=False)
    asked = ["numbers", "--entrants", *FAST, "--rows", "600", "--out", str(path)]
    monkeypatch.setattr("sys.argv", [*asked, "--studies", ALONG])
    numbers.main()
    cells = cells_of(path)
    assert {(cell.entrant, cell.set) for cell in cells} == {
        (name, drawn) for name in FAST for drawn in ("friedman", "friedman-turned")
    }
    assert all(cell.finished and cell.judged == 599 and not cell.failed for cell in cells)
    capsys.readouterr()
    numbers.main()
    assert capsys.readouterr().out == ""


def test_an_engine_that_fails_is_a_cell_with_its_reason(tmp_path):
    entrant = ENTRANTS[ALONG][FAST[0]]
    failed = numbers.measure(entrant, job(set="nothing"))
    assert "set must be one of" in failed.failed
    numbers.add(tmp_path / "numbers.json", failed)
    assert cells_of(tmp_path / "numbers.json") == [failed]


def test_offline_forests_are_compared_on_tables_without_an_order_only():
    sets = ["bike", "pol", "friedman", "friedman-turned"]
    planned = list(jobs(OFFLINE, ENTRANTS[OFFLINE], sets, [1], 100, 1.0, None))
    assert {each.set for _, each in planned} == {"pol", "friedman"}
    assert {each.rows for _, each in planned} == {None}


def test_what_is_measured_again_takes_the_place_of_the_old(tmp_path):
    path = tmp_path / "numbers.json"
    old = Cell(ALONG, FAST[0], "bike", 1, 100, "a", 0.0)
    numbers.add(path, old)
    numbers.add(path, Cell(ALONG, FAST[0], "bike", 1, 100, "b", 0.0))
    assert [cell.commit for cell in cells_of(path)] == ["b"]
    wanted = list(jobs(ALONG, FAST[:1], ["bike", "pol"], [1], 100, 1.0, None))
    assert [each.set for _, each in missing(path, wanted)] == ["pol"]
