"""Accuracy against time: our current forests next to recorded peers, and the page that shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("river")

from benchmarks import accuracy, record
from benchmarks.accuracy import AGAIN, page_tables, run_missing, slower, together
from benchmarks.compare import FULL
from benchmarks.peers import OURS

ROOT = Path(__file__).parents[2]
PLAN = {"workloads": ["mixture"], "repeats": 1}
SMALL = accuracy.replace(FULL, points={"": 300}, test_points=100, repeats=1, deep=(), sizes=(1, 10))


def measured(peer, trees=10, seconds=1.0, held_out=0.6):
    timed = {"points": 1000, "seconds": seconds}
    return {
        "peer": peer, "workload": "mixture", "trees": trees, "threads": 1, "repeat": 0,
        "learn": timed, "marks": [[1000, seconds]], "held_out": held_out, "finished": True,
    }  # fmt: skip


def figures(*rows):
    return {"plan": PLAN, "start_up": {}, "rows": list(rows)}


def test_ours_and_the_offline_forest_are_those_of_now_and_the_others_those_of_before():
    now = figures(measured(OURS, seconds=0.1), measured("sklearn-forest", seconds=3.0))
    before = figures(
        measured(OURS, seconds=9.0), measured("saffari"), measured("sklearn-forest", seconds=2.0),
        measured("river-arf", seconds=5.0),
    )  # fmt: skip
    both = together(now, before)
    assert [(entry[0], both.microseconds(entry)) for entry in both.rows] == [
        (OURS, pytest.approx(100)), ("sklearn-forest", pytest.approx(3000)),
        ("river-arf", pytest.approx(5000)),
    ]  # fmt: skip
    assert slower(now, before).middle == pytest.approx(1.5)
    tables = page_tables(now, before)
    assert "forest took 1.5 times as long as in that earlier run" in tables["time-caption"]
    assert "| River ARF | 10 | .600 | 5,000 |" in tables["time"]


def test_a_run_that_was_stopped_goes_on(tmp_path, capsys):
    path = tmp_path / "accuracy.json"
    run_missing(SMALL, ["mixture"], None, path)
    rows = record.read(path)["figures"]["rows"]
    assert {(row["peer"], row["trees"]) for row in rows} == {(p, t) for p in AGAIN for t in (1, 10)}
    assert all(row["finished"] and row["learn"]["points"] == 300 for row in rows)
    capsys.readouterr()
    run_missing(SMALL, ["mixture"], None, path)
    assert capsys.readouterr().out == ""


def test_the_page_and_the_figure_are_those_of_the_records(tmp_path, monkeypatch):
    page = tmp_path / "compare.md"
    page.write_text((ROOT / "docs/compare.md").read_text())
    out = str(record.path("accuracy"))
    asked = ["accuracy", "--out", out, "--page", str(page), "--figures", str(tmp_path)]
    monkeypatch.setattr("sys.argv", asked)
    monkeypatch.setattr(accuracy, "run_missing", lambda *_: None)
    accuracy.main()
    assert page.read_text() == (ROOT / "docs/compare.md").read_text()
    for shade in ("light", "dark"):
        drawn, shown = (
            (folder / f"accuracy-{shade}.svg").read_text()
            for folder in (tmp_path, ROOT / "docs/figures")
        )
        assert texts(drawn) == texts(shown)


def texts(svg):
    return [line.strip() for line in svg.splitlines() if "<text" in line]
