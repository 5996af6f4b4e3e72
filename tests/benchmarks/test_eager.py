"""The studies of eager forests run, and their tables have a row for each."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("river")  # benchmarks.compare imports its peers

from benchmarks import eager, record

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "eager.md"


def test_the_table_has_a_row_for_each_study() -> None:
    figures = {
        "streams": list(eager.streams(None, (1,), points=200)),
        "files": [
            {"stream": "letter", "seed": 1, "model": which, "accuracy": 0.5}
            for which in ("honest", "eager", "offline")
        ],
        "turn": list(eager.turn(100, (1, 2), (1,))),
    }
    lines = eager.table(figures).splitlines()
    assert any(line.startswith("| streams, 100 trees, log loss |") for line in lines)
    assert "| letter, whole file, 100 trees | .5000 | .5000 | .5000 |" in lines
    assert sum(line.startswith("| mixture | 100 |") for line in lines) == 2


def test_forests_of_the_turn_are_compared_on_the_same_points() -> None:
    rows = list(eager.turn(100, (1, 2), (1,)))
    assert [row["at"] for row in rows[:2]] == [1, 2]
    assert all(0 < row["honest"] < 1 and 0 < row["eager"] <= 1 for row in rows)


def test_the_page_says_what_the_record_says() -> None:
    figures, page = record.read(record.path("eager"))["figures"], PAGE.read_text()
    for table in eager.table(figures).split("\n\n"):
        assert table.strip() in page

    def accuracy(stream: str, trees: int, model: str) -> float:
        of = {"stream": stream, "trees": trees, "model": model}
        return eager.mean(figures["streams"], "accuracy", **of)

    streams = list(dict.fromkeys(row["stream"] for row in figures["streams"]))
    ahead, behind = {}, {}
    for trees in (10, 100):
        gaps = [accuracy(s, trees, "eager") - accuracy(s, trees, "offline") for s in streams]
        ahead[trees] = sum(gap >= 0 for gap in gaps)
        assert trees == 10 or min(gaps) > -0.01
        losses = {s: accuracy(s, trees, "honest") - accuracy(s, trees, "eager") for s in streams}
        assert [s for s, loss in losses.items() if loss > 0.001] == ["elec"]
        behind[trees] = f"{losses['elec']:.3f}".lstrip("0")
    assert f"the offline forest on {ahead[100]} of {len(streams)} streams" in page
    assert f"at or above on {ahead[10]}." in page
    assert f"by {behind[100]} with 100 trees and {behind[10]} with ten" in page.replace("\n", " ")
