"""What learning and predicting numbers costs is compared set by set."""

from __future__ import annotations

import pytest

pytest.importorskip("river")
pytest.importorskip("capymoa")

from benchmarks import number_times, record
from benchmarks.number_times import ENGINES, OURS, table


def test_the_page_has_the_table_of_the_record():
    path = record.path("number-times")
    made = table(record.read(path)["figures"]["rows"])
    page = path.with_name("numbers.md").read_text()
    assert f"<!-- times -->\n\n{made}\n\n<!-- end -->" in page


def test_the_fastest_turn_of_an_engine_counts_on_each_set():
    rows = [
        {"set": name, "engine": engine, "learn": slow * turn, "predict": 1e-6}
        for name, slow in (("a", 2e-6), ("b", 8e-6))
        for turn in (2, 1)
        for engine in ENGINES
    ]
    rows += [{"set": "b", "engine": OURS, "learn": 4e-6, "predict": 1e-6}]
    ours, other, *_ = table(rows).splitlines()[2:]
    assert ours == "| riparian | 2.8 | 1.0 (1.0 to 1.0) | 1.0 | 1.0 (1.0 to 1.0) |"
    assert "| 4.0 | 1.4 (1.0 to 2.0) |" in other


def test_an_engine_learns_the_first_half_of_a_set(monkeypatch):
    monkeypatch.setattr(number_times, "ENGINES", (OURS, number_times.OFFLINE))
    monkeypatch.setattr(number_times, "TURNS", 1)
    rows = list(number_times.rows(["friedman"], None, n=50))
    assert [row["engine"] for row in rows] == [OURS, number_times.OFFLINE]
    assert all(row["learn"] > 0 and row["predict"] > 0 for row in rows)
