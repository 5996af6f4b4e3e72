"""The studies of eager forests run, and their tables have a row for each."""

from __future__ import annotations

import pytest

pytest.importorskip("river")  # benchmarks.compare imports its peers

from benchmarks import eager


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
