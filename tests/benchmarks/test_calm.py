"""The study of streams that do not change runs, and its table is that of the record."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("river")  # benchmarks.compare imports its peers

from benchmarks import calm, record, standings

ROOT = Path(__file__).parents[2]


def test_both_forests_learn_the_same_streams() -> None:
    rows = list(calm.rows(None, (1,), trees=3, points=300))
    assert {row["stream"] for row in rows} >= {"mixture", "digits"}
    assert all(0 < row["steady"] <= 1 and 0 < row["adaptive"] <= 1 for row in rows)
    lines = calm.table(rows).splitlines()
    assert len(lines) == 2 + len(rows) + 2


def test_the_means_are_with_and_without_elec() -> None:
    rows = [
        {"stream": stream, "steady": 0.9, "adaptive": adaptive, "replaced": replaced,
         "steady_seconds": 1.0, "adaptive_seconds": seconds}
        for stream, adaptive, replaced, seconds in (("led", 0.898, 0, 2.0), ("elec", 0.8, 7, 8.0))
    ]  # fmt: skip
    assert calm.table(rows).splitlines()[-2:] == [
        "| mean | .900 | .849 | -.0510 | 4.00 | 7 |",
        "| mean without elec | .900 | .898 | -.0020 | 2.00 | 0 |",
    ]


def test_the_table_of_the_site_is_that_of_the_record(tmp_path) -> None:
    page = tmp_path / "compare.md"
    page.write_text((ROOT / "docs/compare.md").read_text())
    result = calm.page_tables(record.read(record.path("calm"))["figures"]["rows"])
    assert all(f"<!-- {name} -->" in page.read_text() for name in result)
    standings.write_into(page, result)
    assert page.read_text() == (ROOT / "docs/compare.md").read_text()
