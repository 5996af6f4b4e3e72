"""The tables of streams that change: made of a record alone, and the arithmetic is right."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("river")

from benchmarks import drift_standings, record, standings
from benchmarks.around_a_change import PANELS, Fall, around, changes_of, figure, shares_of
from benchmarks.drift import ENTRANTS, Cell, cells_of
from benchmarks.drift_standings import DriftStandings, page_tables, same_tables
from benchmarks.streams_of_change import NAMES
from docs.make_figures import LIGHT

ROOT = Path(__file__).parents[2]
OURS, ARF, SRP = "riparian-adaptive-100", "capymoa-arf-10", "capymoa-srp-10"


def cell(entrant, stream="sea-abrupt", seed=1, accuracy=0.8, seconds=1.0, right=None, points=8000):
    right = right or [round(100 * accuracy)] * (points // 100)
    return Cell(
        entrant, stream, seed, points, accuracy, 2 * accuracy - 1, seconds,
        " ".join(map(str, right)), "abc", 1.0,
    )  # fmt: skip


def standing(*cells):
    return DriftStandings.of(list(cells))


# -- comparison -----------------------------------------------------------------------------------


def test_an_accuracy_is_the_mean_over_the_seeds_and_unknown_where_nothing_was_measured():
    result = standing(cell(ARF, accuracy=0.7), cell(ARF, seed=2, accuracy=0.9))
    assert result.score(ARF, "sea-abrupt") == pytest.approx(0.8)
    assert math.isnan(result.score(ARF, "rbf-slow"))
    assert math.isnan(result.score(OURS, "sea-abrupt"))


def test_a_lead_counts_the_seeds_that_both_have():
    result = standing(
        cell(OURS, seed=1, accuracy=0.8), cell(OURS, seed=2, accuracy=0.2),
        cell(ARF, seed=1, accuracy=0.7),
    )  # fmt: skip
    assert result.lead(OURS, ARF, "sea-abrupt") == pytest.approx(0.1)


def test_equals_share_the_mean_of_their_places_and_the_baseline_has_none():
    result = standing(
        cell(OURS, accuracy=0.9), cell(ARF, accuracy=0.8), cell(SRP, accuracy=0.8),
        cell("same-as-last-1", accuracy=0.99),
    )  # fmt: skip
    assert [result.mean_rank(name) for name in (OURS, ARF, SRP)] == [1, 2.5, 2.5]
    assert result.told_rank("same-as-last-1") == ""


def test_who_was_measured_on_other_seeds_has_no_rank():
    result = standing(cell(OURS), cell(ARF), cell(SRP, seed=2))
    assert all(math.isnan(result.mean_rank(name)) for name in (OURS, ARF, SRP))
    assert "mean rank" not in result.score_table()
    assert result.meets(OURS, ARF) and not result.meets(OURS, SRP)
    assert "against CapyMOA ARF, 10 trees: at or above on 1 of 1 streams" in result.claims()


def test_we_are_at_or_above_where_no_rival_is_better_and_say_nothing_where_one_is_missing():
    cells = [
        cell(OURS, "sea-abrupt", accuracy=0.8), cell(OURS, "rbf-slow", accuracy=0.8),
        cell(ARF, "sea-abrupt", accuracy=0.8), cell(ARF, "rbf-slow", accuracy=0.81),
    ]  # fmt: skip
    result = standing(*cells)
    assert result.at_or_above([ARF]) == ["sea-abrupt"]
    assert "at or above on 1 of 2 streams (SEA, abrupt)" in result.claims()
    assert standing(*cells[:3]).at_or_above([ARF]) is None
    assert result.at_or_above([SRP]) is None


def test_nothing_is_claimed_about_an_engine_that_was_not_measured():
    assert standing(cell(ARF)).claims() == "- nothing of ours is in the record yet"


def test_times_are_those_of_ours_with_as_many_trees_on_the_same_points():
    result = standing(
        cell("riparian-adaptive-10", seconds=1.0), cell("riparian-adaptive-10", seed=2, seconds=2.0),
        cell(ARF, seconds=50.0), cell(ARF, seed=2, seconds=50.0), cell(ARF, "rbf-slow", seconds=9.0),
        cell("capymoa-arf-100", seconds=9.0),
    )  # fmt: skip
    ratio = result.time_ratio(ARF)
    assert (ratio.low, ratio.high) == pytest.approx((25, 50))
    assert result.time_ratio("capymoa-arf-100") is None


def test_the_best_learner_is_in_bold():
    table = standing(
        cell(OURS, accuracy=0.9), cell(ARF, accuracy=0.8), cell("same-as-last-1", accuracy=0.95)
    ).score_table()
    row = next(line for line in table.splitlines() if "SEA" in line)
    assert row == "| SEA, abrupt | **.900** | .800 | .950 |"


# -- around a change -------------------------------------------------------------------------------

# 80 bins: changes at 20, 40 and 60. After each, 5 bins at .5, then .8 again.
FALLING = [80] * 20 + ([50] * 5 + [80] * 15) * 3


def test_changes_are_where_the_streams_have_them():
    assert changes_of(cell(ARF)) == [(20, 40), (40, 60), (60, 80)]


def test_a_fall_has_a_depth_and_a_length():
    fall = Fall.at(np.array(FALLING) / 100, 20, 40)
    assert fall.before == pytest.approx(0.8)
    assert fall.worst == pytest.approx(0.5)
    assert fall.first == pytest.approx(0.65)
    assert fall.points == 800  # bins 5, 6 and 7 after the change are the first three that are good


def test_the_mean_fall_weighs_streams_alike_and_needs_them_all():
    both = [cell(ARF, "sea-abrupt", right=FALLING), cell(ARF, "led-abrupt", right=FALLING)]
    more = cell(ARF, "led-abrupt", seed=2, right=FALLING)
    result = standing(*both, more, cell(SRP, "sea-abrupt", right=FALLING))
    assert result.fall(ARF).points == 800
    assert result.fall(SRP) is None
    assert "CapyMOA SRP" not in result.change_table()


def test_curves_are_laid_over_each_other_at_the_change():
    line = around([cell(ARF, right=FALLING)])
    assert line.tolist() == pytest.approx([0.8] * 10 + [0.5] * 5 + [0.8] * 15)
    assert around([]) is None


def test_the_last_bin_may_hold_fewer_points():
    assert shares_of(cell(ARF, right=[100, 50], points=150)).tolist() == [1.0, 1.0]


# -- pages -----------------------------------------------------------------------------------------


@pytest.fixture
def small_record(tmp_path):
    cells = [
        cell(entrant, stream, seed, right=FALLING)
        for entrant in ENTRANTS
        for stream in NAMES
        for seed in (1, 2)
    ]
    path = tmp_path / "drift.json"
    record.write(path, "drift", {"bin": 100, "cells": [vars(each) for each in cells]})
    return path


def test_tables_and_figures_are_made_of_a_record(small_record, tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    names = page_tables(standing()) | same_tables(standing())
    page.write_text("".join(f"<!-- {name} -->\n<!-- end -->\n" for name in names))
    reported = [
        "drift_standings",
        str(small_record),
        "--same",
        str(small_record),
        "--page",
        str(page),
        "--figures",
        str(tmp_path),
    ]
    monkeypatch.setattr("sys.argv", reported)
    drift_standings.main()
    text = small_record.with_suffix(".md").read_text()
    for entrant in ENTRANTS.values():
        assert entrant.title in text and entrant.title in page.read_text()
    assert "elec, one by one: riparian, adaptive, 100 trees, .800" in text
    assert page.read_text().count("elec, one by one: riparian, adaptive, 100 trees, .800") == 2
    assert small_record.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    for shade in ("light", "dark"):
        svg = (tmp_path / f"drift-{shade}.svg").read_text()
        assert "riparian, adaptive, 100 trees" in svg


def test_a_figure_without_ours_has_the_others():
    drawn = figure([cell("river-arf-10", "led-abrupt", right=FALLING)], LIGHT)
    assert [axes.get_title(loc="left") for axes in drawn.axes] == list(PANELS.values())
    assert [len(axes.lines) for axes in drawn.axes] == [2, 1, 1, 1]  # the change, and the entrants


def test_the_tables_of_the_site_are_those_of_the_record(tmp_path):
    page = tmp_path / "compare.md"
    page.write_text((ROOT / "docs/compare.md").read_text())
    result = page_tables(DriftStandings.of(cells_of(record.path("drift"))))
    result |= same_tables(DriftStandings.of(cells_of(record.path("drift-same"))))
    assert all(f"<!-- {name} -->" in page.read_text() for name in result)
    standings.write_into(page, result)
    assert page.read_text() == (ROOT / "docs/compare.md").read_text()


def test_the_tables_on_the_page_are_those_of_the_record(tmp_path):
    path = tmp_path / "drift.json"
    path.write_text(record.path("drift").read_text())
    drift_standings.publish(path)
    assert (
        path.with_suffix(".md").read_text() == record.path("drift").with_suffix(".md").read_text()
    )
    assert json.loads(path.read_text())["kind"] == "drift"
