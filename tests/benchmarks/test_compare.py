"""The comparison with the peers: each of them can be measured, and the arithmetic is right."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks import compare, record, standings
from benchmarks.compare import FULL, QUICK, Machine, Streams, runs, usable_cores
from benchmarks.measure import Job, measure, typical
from benchmarks.peers import FEW, MANY, PEERS, Task
from benchmarks.standings import Standings
from benchmarks.workloads import Workload, load

ROOT = Path(__file__).parents[2]
DIGITS = load("digits").scaled()


@pytest.fixture
def stream(tmp_path):
    path = tmp_path / "stream.npz"
    np.savez(path, X=DIGITS.X, y=DIGITS.y, X_test=DIGITS.X_test[:50], y_test=DIGITS.y_test[:50])
    return str(path)


def job(peer, stream, **changes):
    reported = {
        "peer": peer, "stream": stream, "trees": 3, "threads": 1, "seed": 0, "points": 300,
        "seconds": 60.0, "cores": usable_cores(), "alone": True,
    }  # fmt: skip
    return Job(**{**reported, **changes})


# -- the peers -------------------------------------------------------------------------------------


# As in test_capymoa.py: everything else that a peer needs is among the requirements of the tests.
needs_java = pytest.mark.skipif(
    shutil.which("java") is None and "JAVA_HOME" not in os.environ,
    reason="CapyMOA runs on Java, and there is none here",
)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=needs_java if peer.library == "capymoa" else ())
        for name, peer in PEERS.items()
    ],
)
def test_every_peer_learns_predicts_and_keeps_what_it_learned(name):
    peer = PEERS[name]
    model = peer.model(Task(64, np.arange(10), trees=3))
    model.learn(model.points(DIGITS.X[:400], DIGITS.y[:400]))
    answers = model.predict(model.points(DIGITS.X[:400], DIGITS.y[:400]))
    assert (answers == DIGITS.y[:400]).mean() > 0.3  # ten classes
    kept = model.snapshot()
    assert kept is None or len(kept) > 100


@pytest.mark.parametrize(
    "names", [("riparian", "riparian-river"), ("riparian-paper", "riparian-river-paper")]
)
def test_ours_in_river_is_the_same_forest_as_ours(names):
    task = Task(64, np.arange(10), trees=5)
    answers = []
    for name in names:
        model = PEERS[name].model(task)
        model.learn(model.points(DIGITS.X[:500], DIGITS.y[:500]))
        answers.append(model.predict(model.points(DIGITS.X_test, DIGITS.y_test)))
    np.testing.assert_array_equal(*answers)


# -- one measurement -------------------------------------------------------------------------------


def test_an_engine_that_takes_batches_is_timed_in_batches_and_alone(stream):
    result = measure(job("riparian", stream, points=1200))
    assert result.finished
    assert result.learn.points == result.learn_one.points == 1200
    assert [points for points, _ in result.marks] == [1000, 1200]
    assert 0 < result.learn.seconds < result.learn_one.seconds
    assert result.predict.points == 50
    assert result.predict_one.points == 1199  # the first is learned unseen
    assert result.held_out > 0.5
    assert result.prequential > 0.3
    assert result.snapshot > 1000
    assert result.resident_peak >= result.resident_before > 0


def test_an_engine_that_does_not_take_batches_is_timed_point_by_point(stream):
    result = measure(job("riparian-river", stream))
    assert result.learn == result.learn_one
    assert result.learn.points == 300
    assert result.prequential is not None


def test_an_offline_forest_has_all_points_at_once_and_no_prequential_accuracy(stream):
    result = measure(job("sklearn-forest", stream))
    assert [points for points, _ in result.marks] == [300]
    assert result.learn_one.points == 0
    assert result.prequential is None
    assert result.predict_one.points == 50


def test_a_run_that_takes_too_long_is_stopped_and_records_how_far_it_came(stream):
    result = measure(job("river-tree", stream, seconds=0.02))
    assert not result.finished
    assert 0 < result.learn.points < 300


def test_of_several_passes_the_middle_one_counts():
    passes = [[(10, 3.0)], [(10, 1.0)], [(10, 2.0)], [(10, 9.0)]]
    assert typical(passes) == [(10, 2.0)]


# -- the plan --------------------------------------------------------------------------------------


def test_in_short_slow_peers_have_many_trees_only_on_few_streams_and_few_points():
    planned = [run for run in runs(QUICK, ["mixture", "led"], PEERS) if run.peer == "river-arf"]
    assert {(run.workload, run.trees) for run in planned} == {
        ("mixture", FEW), ("mixture", MANY), ("led", FEW)
    }  # fmt: skip
    assert {run.points for run in planned if run.trees == MANY} == {QUICK.many_points}


def test_in_full_everybody_has_one_few_and_many_trees_on_all_streams():
    planned = [run for run in runs(FULL, ["mixture", "sea"], PEERS) if run.peer == "river-arf"]
    assert {(run.workload, run.trees) for run in planned} == {
        (workload, trees) for workload in ("mixture", "sea") for trees in (1, FEW, MANY)
    }
    assert {run.points for run in planned} == {FULL.length("sea")}
    assert planned[-1].trees == MANY  # what takes longest comes last


def test_a_run_reuses_rows_of_other_engines_and_of_ours_at_this_commit(tmp_path):
    path = tmp_path / "compare.json"
    assert compare.rows_to_keep(path) == []
    place = {"alone": True}
    rows = [
        row("river-arf", 1.0, commit="of old", **place),
        row("riparian", 1.0, commit="of old", **place),
        row("riparian", 1.0, commit=record.commit(), trees=MANY, **place),
        {**row("river-amf", 1.0, **place), "failed": "out of memory"},
    ]
    record.write(path, "compare", {"rows": rows})
    kept = compare.rows_to_keep(path)
    assert [(r["peer"], r["trees"]) for r in kept] == [("river-arf", FEW), ("riparian", MANY)]
    (arf, _) = map(compare.key_of, kept)
    assert arf == ("river-arf", "a", FEW, 1, 0, 1000)


def test_every_repeat_measures_ours_with_as_many_trees_and_threads_as_any_peer():
    planned = list(runs(QUICK, ["mixture", "led"], PEERS))
    ours = {
        (run.workload, run.repeat, run.trees, run.threads)
        for run in planned
        if run.peer == "riparian"
    }
    for run in planned:
        trees = run.trees if PEERS[run.peer].trees else FEW
        assert (run.workload, run.repeat, trees, run.threads) in ours


def test_each_measurement_is_a_process_and_a_failure_is_reported(tmp_path, monkeypatch, capsys):
    plan = replace(QUICK, points={"": 200}, test_points=50, repeats=1, seconds=5.0, deep=())
    streams = Streams(tmp_path, None, plan)
    streams.write("digits", 0)
    wanted = list(runs(plan, ["digits"], ["riparian", "sklearn-sgd"]))
    rows = list(Machine(streams, plan, jobs=2).measure(wanted))
    assert [(row["peer"], row["trees"]) for row in rows] == [
        ("riparian", 10), ("riparian", 100), ("sklearn-sgd", 1)
    ]  # fmt: skip
    assert all(row["learn"]["points"] == 200 for row in rows)
    assert "µs per point" in capsys.readouterr().out

    monkeypatch.setattr(sys, "executable", "/bin/false")
    (row,) = Machine(streams, plan, jobs=1).measure(wanted[:1])
    assert "failed" in row
    figures = {"rows": [row], "plan": {"workloads": ["digits"], "repeats": 1}, "start_up": {}}
    assert Standings.of(figures).rows == {}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--peers", "river-tree"], "--peers must name riparian"),
        (["--trees", "1", "3"], "--trees must name 10 or 100"),
    ],
)
def test_only_measurements_for_the_tables_are_made(monkeypatch, capsys, options, error):
    monkeypatch.setattr(sys, "argv", ["compare", *options])
    with pytest.raises(SystemExit):
        compare.main()
    assert error in capsys.readouterr().err


def test_every_column_is_scaled_to_one_and_a_constant_one_stays():
    X = np.array([[2, 7], [4, 7]], dtype=np.float32)
    y = np.array([0, 1])
    scaled = Workload("w", X, y, X + 1, y).scaled()
    np.testing.assert_array_equal(scaled.X, [[0, 0], [1, 0]])
    np.testing.assert_array_equal(scaled.X_test, [[0.5, 1], [1.5, 1]])


# -- standings -------------------------------------------------------------------------------------


def row(peer, seconds, workload="a", repeat=0, trees=FEW, accuracy=0.5, points=1000, **changes):
    timed = {"points": points, "seconds": seconds}
    nothing = {"points": 0, "seconds": 0.0}
    return {
        "peer": peer, "workload": workload, "trees": trees, "threads": 1, "repeat": repeat,
        "points": points,
        "learn": timed, "learn_one": nothing, "predict": timed, "predict_one": nothing,
        "finished": True, "marks": [[points, seconds]], "held_out": accuracy, "prequential": None,
        "resident_before": 1000, "resident_peak": 3_001_000, "snapshot": 10**6, **changes,
    }  # fmt: skip


def standing(*rows, workloads=("a",), repeats=1):
    plan = {"workloads": list(workloads), "repeats": repeats}
    return Standings.of({"rows": list(rows), "plan": plan, "start_up": {}})


def test_a_ratio_is_taken_over_as_many_points_as_the_other_has_learned():
    ours = row("riparian", 4.0, points=2000, marks=[[1000, 1.0], [2000, 4.0]])
    theirs = row("river-arf", 50.0, points=1000, finished=False)
    result = standing(ours, theirs).learn_ratio(("river-arf", FEW, 1))
    assert result.low == result.high == pytest.approx(50)
    half = row("river-arf", 50.0, points=500, finished=False)
    assert standing(ours, half).learn_ratio(("river-arf", FEW, 1)).middle == pytest.approx(100)


def test_streams_are_averaged_within_a_repeat_and_repeats_give_the_spread():
    rows = []
    for repeat, times in enumerate([(2.0, 8.0), (3.0, 27.0)]):
        for workload, seconds in zip("ab", times, strict=True):
            rows.append(row("riparian", 1.0, workload, repeat))
            rows.append(row("river-arf", seconds, workload, repeat))
    result = standing(*rows, workloads="ab", repeats=2).learn_ratio(("river-arf", FEW, 1))
    assert result.low == pytest.approx(4)
    assert result.high == pytest.approx(9)
    assert result.middle == pytest.approx(6)
    assert str(result) == "6.0 (4.0 to 9.0)"


def test_a_single_tree_is_compared_with_few_of_ours():
    both = standing(row("riparian", 1.0), row("river-tree", 5.0, trees=1))
    assert both.learn_ratio(("river-tree", 1, 1)).middle == pytest.approx(5)


def test_an_engine_that_was_stopped_is_marked_in_the_tables():
    both = standing(row("riparian", 1.0), row("river-arf", 5.0, finished=False))
    assert ".500†" in both.accuracy_table()
    ours, theirs = both.table().splitlines()[2:]
    assert "†" not in ours
    assert "†" in theirs


def test_an_accuracy_that_was_not_measured_is_left_out():
    alone = standing(row("riparian", 1.0, prequential=None))
    assert math.isnan(alone.mean_accuracy(("riparian", FEW, 1), "prequential"))


def test_we_are_at_or_above_only_where_no_rival_is_better():
    rows = []
    for workload, theirs in (("a", 0.8), ("b", 0.9), ("c", 0.95)):
        rows.append(row("riparian", 1.0, workload, trees=MANY, accuracy=0.9))
        rows.append(row("river-arf", 1.0, workload, accuracy=0.5))
        rows.append(row("capymoa-srp", 1.0, workload, accuracy=theirs))
    assert standing(*rows, workloads="abc").at_or_above() == ["a", "b"]


def test_we_are_near_the_offline_forest_within_a_point_of_it():
    rows = []
    for workload, theirs in (("a", 0.8), ("b", 0.905), ("c", 0.95)):
        rows.append(row("riparian", 1.0, workload, trees=MANY, accuracy=0.9))
        rows.append(row("sklearn-forest", 1.0, workload, trees=MANY, accuracy=theirs))
    assert standing(*rows, workloads="abc").near_offline() == ["a", "b"]


def test_many_trees_of_a_slow_peer_are_shown_where_all_streams_have_them():
    rows = [row("riparian", 1.0, trees=MANY), row("river-amf", 9.0, trees=MANY)]
    plan = {"workloads": ["a"], "repeats": 1}
    reported = {"rows": rows, "start_up": {}}
    assert "AMF" not in Standings.of({**reported, "plan": plan}).accuracy_table()
    assert (
        "AMF" in Standings.of({**reported, "plan": {**plan, "many_points": None}}).accuracy_table()
    )


def test_the_summary_compares_as_many_trees_of_every_forest():
    rows = [
        row("riparian", 1.0, name, trees=trees, accuracy=accuracy)
        for name, accuracy in (("a", 0.9), ("b", 0.7))
        for trees in (FEW, MANY)
    ]
    rows += [row("river-amf", 5.0, name, accuracy=0.6) for name in "ab"]
    rows.append(row("river-amf", 7.0, "a", trees=MANY, accuracy=0.85))
    head, _, ours, theirs = standing(*rows, workloads="ab").summary_table().splitlines()
    assert [cell.strip() for cell in head.split("|")[2:4]] == [
        "learning time, 10 trees",
        "accuracy, 10 trees",
    ]
    assert ours == "| riparian | 1.0 × | .800 | 1.0 × | .800 |"
    # One of the streams is missing, so our accuracy on the other one stands next to theirs.
    assert theirs == "| River AMF | 5.0 × | .600 | 7.0 × | .850 on 1 of 2 streams (ours: .900) |"


def test_nothing_is_claimed_about_an_engine_that_was_not_measured():
    assert standing(row("riparian", 1.0)).claims() == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234.0, "1,200"), (87.4, "87"), (9.96, "10.0"), (0.0123, "0.012"), (0, "0")],
)
def test_numbers_have_two_digits(value, text):
    assert standings.rounded(value) == text


def test_the_tables_of_the_site_are_those_of_the_record(tmp_path):
    page = tmp_path / "compare.md"
    page.write_text((ROOT / "docs/compare.md").read_text())
    parts = standings.page_tables(record.read(record.path("compare")))
    assert all(f"<!-- {name} -->" in page.read_text() for name in parts if name != "threads")
    standings.write_into(page, parts)
    assert page.read_text() == (ROOT / "docs/compare.md").read_text()


def test_tables_and_figure_are_made_of_a_record(tmp_path):
    rows = [
        row(peer, 2.0, trees=trees)
        for peer in PEERS
        for trees in ((FEW, MANY) if PEERS[peer].trees else (1,))
    ]
    figures = {
        "plan": {"workloads": ["a"], "repeats": 1},
        "start_up": {"riparian": {"min": 0.7, "median": 0.8}},
        "rows": rows,
    }
    kept = {
        "kind": "compare", "date": "2026-01-02T03:04:05", "commit": "abc",
        "machine": {"processor": "p", "cores": 2}, "versions": {"river": "1"}, "figures": figures,
    }  # fmt: skip
    path = tmp_path / "compare.json"
    path.write_text(json.dumps(kept))
    standings.publish(path)
    text = path.with_suffix(".md").read_text()
    assert "first prediction: 0.80 s after the start" in text
    for peer in PEERS.values():
        assert peer.title in text
    assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
