"""Forests and boosting answer each row before it is learned, and the table has a line per stream."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("river")  # which draws the streams

from benchmarks import record, retrained

PAGE = Path(__file__).parents[2] / "docs" / "compare.md"


class Memory:
    """A model that answers with the last label of the rows that it was trained on."""

    def __init__(self, **options: object) -> None:
        pass

    def fit(self, X: np.ndarray, codes: np.ndarray) -> None:
        self.last = codes[-1]

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self.last)


def test_boosting_answers_with_what_it_knew_before_each_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retrained, "import_module", lambda name: retrained)
    monkeypatch.setattr(retrained, "Memory", Memory, raising=False)
    monkeypatch.setattr(retrained, "EVERY", 2)
    y = np.array([7, 9, 5, 7, 7, 5])
    answers = list(retrained.retrained("any", "Memory")(np.zeros((6, 1), np.float32), y))
    assert np.concatenate(answers).tolist() == [-1, -1, 9, 9, 7, 7]


def test_a_forest_answers_each_row_before_it_is_learned() -> None:
    X, y = next(retrained.streams(None, points=300))[1]
    answers = np.concatenate(list(retrained.ENGINES["riparian, 10"](X, y)))
    assert len(answers) == 300
    assert (
        0.25 < np.mean(answers == y) < 1
    )  # ahead of guessing, and behind a model that has seen the rows


def test_the_table_has_a_line_per_stream_and_marks_the_best() -> None:
    rows = [
        {"stream": s, "engine": e, "points": 20_000, "accuracy": a, "seconds": 1.25}
        for s, e, a in (
            ("elec", "riparian, 10", 0.9),
            ("elec", "XGBoost, retrained", 0.8),
            ("covtype", "riparian, 10", 0.7),
        )
    ]
    assert retrained.table(rows).splitlines()[2:] == [
        "| elec | 20,000 | **.900** (1.2 s) | .800 (1.2 s) |",
        "| covtype | 20,000 | **.700** (1.2 s) |  |",
    ]


def test_the_page_says_what_the_record_says() -> None:
    rows = record.read(record.path("retrained"))["figures"]["rows"]
    assert retrained.table(rows) in PAGE.read_text()
