"""The tables of the comparison for numbers: made of the record alone, and the arithmetic is right."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

pytest.importorskip("river")

from benchmarks import number_standings, record, standings
from benchmarks.number_cell import ALONG, OFFLINE
from benchmarks.number_standings import LAST, NumberStandings, page_tables, whole_streams
from benchmarks.numbers import ENTRANTS, ROWS, Cell, add, cells_of

ROOT = Path(__file__).parents[2]
OURS, KNN, ARF = "riparian-numbers-100", "capymoa-knn-1", "river-arf-numbers-10"


def cell(entrant, name="bike", squares=(100.0, 300.0), judged=1000, seed=1, **changes):
    known = {"rows": ROWS, "finished": True, "seconds": 1.0, "deviation": 2.0, **changes}
    study = known.pop("study", ALONG)
    return Cell(study, entrant, name, seed, known.pop("rows"), "abc", 1.0, squares, judged, **known)


def standing(*cells):
    return NumberStandings.of(list(cells), ALONG, ROWS)


def test_an_error_is_the_root_of_the_mean_square_over_rows_and_seeds():
    result = standing(cell(KNN), cell(KNN, squares=(500.0,), judged=500, seed=2))
    assert result.error(KNN, "bike") == pytest.approx(math.sqrt(900 / 1500))
    assert math.isnan(result.error(OURS, "bike"))


def test_two_are_compared_on_the_rows_that_both_have():
    stopped = cell(ARF, squares=(400.0,), judged=500, finished=False)
    result = standing(cell(OURS), stopped)
    assert result.times(ARF, OURS, "bike") == pytest.approx(2.0)
    assert math.isnan(result.times(KNN, OURS, "bike"))
    assert "†" in result.table() and "**" in result.table()


def test_a_stopped_engine_is_not_the_best_of_a_table():
    stopped = cell(ARF, squares=(1.0,), judged=500, finished=False)
    row = next(
        line for line in standing(cell(OURS), stopped).table().splitlines() if "bike" in line
    )
    assert row == "| bike | **.632** | .045† |"


def test_ours_is_lowest_where_no_learner_is_better_on_sets_that_all_have():
    result = standing(
        cell(OURS), cell(KNN), cell(LAST, squares=(1.0, 1.0)),
        cell(OURS, "pol"), cell(KNN, "pol", squares=(100.0, 200.0)), cell(OURS, "abalone"),
    )  # fmt: skip
    assert result.rivals == [KNN]
    assert result.lowest(OURS, result.rivals) == ["bike"]
    assert "the lowest error on 1 of 2 sets (bike)" in result.claims()
    assert (
        "the last target is a better prediction than riparian, 100 trees on bike" in result.claims()
    )


def test_what_failed_or_had_other_rows_is_in_no_table():
    result = standing(cell(OURS), cell(KNN, failed="no memory"), cell(ARF, rows=5))
    assert list(result.cells) == [OURS]


def test_a_whole_stream_is_told_in_the_unit_of_its_target():
    whole = cell(OURS, rows=None, squares=(250.0,), judged=1000)
    assert whole_streams([whole, cell(KNN)]) == (
        "- bike, all 1,001 rows: riparian, 100, RMSE 1 in its own unit"
    )


def test_tables_are_made_of_a_record(tmp_path, monkeypatch):
    path, page = tmp_path / "numbers.json", tmp_path / "page.md"
    for study, rows in ((ALONG, ROWS), (OFFLINE, None)):
        for entrant in ENTRANTS[study]:
            add(path, cell(entrant, "pol", study=study, rows=rows))
    page.write_text("".join(f"<!-- {name} -->\n<!-- end -->\n" for name in page_tables([])))
    monkeypatch.setattr("sys.argv", ["number_standings", str(path), "--page", str(page)])
    number_standings.main()
    for text in (page.read_text(), (tmp_path / "numbers-tables.md").read_text()):
        assert "CapyMOA SOKNL, 10" in text and "scikit-learn forest (offline), 100" in text
        assert "1.000 times that of scikit-learn's offline forest" in text


def test_the_tables_of_the_site_are_those_of_the_record(tmp_path):
    page = tmp_path / "compare.md"
    page.write_text((ROOT / "docs/compare.md").read_text())
    result = page_tables(cells_of(record.path("numbers")))
    assert all(f"<!-- {name} -->" in page.read_text() for name in result)
    standings.write_into(page, result)
    assert page.read_text() == (ROOT / "docs/compare.md").read_text()
