"""The comparison of intervals: given before a row is learned, and compared at equal coverage."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from benchmarks import record
from benchmarks.interval_peers import (
    ENTRANTS,
    OURS,
    RIVALS,
    UNJUDGED,
    Cell,
    Standings,
    cells_of,
    measure,
    page_tables,
    width_at_equal_coverage,
)
from benchmarks.number_sets import load
from benchmarks.peers import NO_CLASSES, WITH_INTERVALS, Entrant, Task
from benchmarks.standings import write_into

ROOT = Path(__file__).parents[2]
needs_java = pytest.mark.skipif(
    shutil.which("java") is None and "JAVA_HOME" not in os.environ,
    reason="CapyMOA runs on Java, and there is none here",
)
PEERS = [
    pytest.param(name, marks=needs_java if peer.library == "capymoa" else ())
    for name, peer in WITH_INTERVALS.items()
]


def cell(entrant, name="bike", **numbers):
    known = {"coverage": 0.9, "width": 1.0, "score": 2.0, "equal_width": 1.0, **numbers}
    return Cell(entrant, name, 900, 1.0, **known)


@pytest.mark.parametrize("name", PEERS)
def test_an_interval_is_given_before_its_row_is_learned(name):
    if WITH_INTERVALS[name].library == "capymoa":
        pytest.importorskip("capymoa")
    given = load("friedman", 150, 1, None)
    task = Task(10, NO_CLASSES, trees=2, coverage=0.8)
    one, other = (WITH_INTERVALS[name].model(task) for _ in range(2))
    ends = one.give_intervals_then_learn(one.points(given.X, given.y))
    changed = given.y.copy()
    changed[100] += 50
    again = other.give_intervals_then_learn(other.points(given.X, changed))
    assert ends.shape == (150, 2) and (ends[:, 0] <= ends[:, 1]).all()
    np.testing.assert_array_equal(ends[:101], again[:101])
    assert (ends[101:] != again[101:]).any()


def test_a_measurement_judges_the_rows_after_the_first_hundred():
    given = load("friedman", 400, 1, None)
    measured = measure(Entrant("riparian-intervals", 3), "friedman", given)
    assert measured.rows == 400 - UNJUDGED
    assert 0.8 < measured.coverage < 1.0
    assert measured.score > measured.width > 0


def test_widths_are_those_of_intervals_scaled_until_they_hold_nine_of_ten():
    y = np.arange(1.0, 11.0)
    ends = np.column_stack([np.full(10, -3.0), np.full(10, 3.0)])
    assert width_at_equal_coverage(y, ends) == pytest.approx(18.0)  # from -9 to 9
    assert width_at_equal_coverage(np.zeros(10), np.zeros((10, 2))) == 0.0


def test_ours_is_below_where_both_numbers_are_below_those_of_both_rivals():
    first, second = RIVALS
    cells = [cell(name, kind) for name in ENTRANTS for kind in ("bike", "pol", "etth1")]
    cells += [cell(OURS[0], "bike", score=1.9, equal_width=0.9)]
    cells += [cell(OURS[0], "pol", score=1.9)]  # as wide
    cells += [cell(OURS[0], "etth1", score=1.9, equal_width=0.9), cell(second, "etth1", score=1.8)]
    result = Standings.of(cells)
    assert result.below_rivals(OURS[0], "score", "equal_width") == ["bike"]
    assert "on 1 of 3 sets (not on pol, etth1)" in result.claims()
    assert "| bike | **1.900** | 2.000 |" in result.table("score")
    assert Standings.of([*cells, cell(first, "abalone")]).sets == result.sets  # some have it not


def test_the_tables_of_the_site_are_those_of_the_record(tmp_path):
    original = (ROOT / "docs/how-to/intervals.md").read_text()
    page = tmp_path / "intervals.md"
    page.write_text(original)
    result = page_tables(cells_of(record.path("interval-peers")))
    assert all(f"<!-- {name} -->" in original for name in result)
    write_into(page, result)
    assert page.read_text() == original
