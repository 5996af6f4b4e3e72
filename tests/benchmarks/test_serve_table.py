"""The table of the service's benchmark: from a record to the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import record, serve_table

FOUND = {"per_second": 2001.4, "p50_ms": 1.25, "p99_ms": 4.5, "waited_for_a_core": 0.01}
MARK = {
    **FOUND,
    "second": 0.0,
    "points": 25_000,
    "resident_mb": 300.2,
    "forest_mb": 200.0,
    "log_mb": 9.0,
}
CONTENT = {
    "machine": {"processor": "a processor", "cores": 2}, "commit": "abc", "date": "2026-01-02T03:04",
    "figures": {
        "seconds": 10.0, "minutes": 10.0,
        "services": {"ours": {"predicting, 1": FOUND, "while learning": {**FOUND, "p99_ms": None}},
                     "theirs": {"predicting, 1": FOUND}},
        "sustained": {"ours": [{**MARK, "second": 10.0 * i} for i in range(60)]},
    },
}  # fmt: skip

ROOT = Path(__file__).parents[2]


def test_each_phase_is_a_row_and_what_was_not_measured_is_a_dash():
    lines = serve_table.tables(CONTENT).splitlines()
    assert "| predictions per second, one client | 2,001 | 2,001 |" in lines
    assert "| p50 / p99 of these predictions | 1.2 / - | - |" in lines
    assert sum(line.startswith("| ours | ") for line in lines) == 6
    assert any(line.startswith("| ours | 590 s | 25,000 | 2,001 |") for line in lines)


def test_the_table_takes_its_place_on_the_page_again_and_again(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n\n<!-- figures -->\nold\n<!-- end -->\n\nafter\n")
    for text in ("first", "second"):
        serve_table.write_into(page, text)
    assert page.read_text() == "before\n\n<!-- figures -->\n\nsecond\n\n<!-- end -->\n\nafter\n"
    page.write_text("no place\n")
    with pytest.raises(SystemExit, match="no place for the table"):
        serve_table.write_into(page, "text")


def test_the_page_has_the_numbers_of_the_record(tmp_path):
    text = (ROOT / "docs/how-to/serve.md").read_text()
    page = tmp_path / "serve.md"
    page.write_text(text)
    serve_table.write_into(page, serve_table.tables(record.read(record.path("serve"))))
    assert page.read_text() == text
