"""A long stream that was stopped continues as if it had not been."""

from __future__ import annotations

import pytest
from benchmarks import long_stream, record
from benchmarks.reliability import stream_table

SAME = ("points", "accuracy", "best_accuracy", "forest_bytes", "leaves", "depth")


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(long_stream, "BLOCK", 100)
    monkeypatch.setattr(long_stream, "STAGE", 1000)


@pytest.mark.parametrize("stream", long_stream.STREAMS)
def test_a_stop_changes_nothing(stream, tmp_path, capsys):
    long_stream.run(stream, 3000, tmp_path / "whole.json")
    long_stream.run(stream, 1000, tmp_path / "part.json")
    saved = (tmp_path / "part.riparian").read_bytes()
    long_stream.run(stream, 2000, tmp_path / "part.json")
    (tmp_path / "part.riparian").write_bytes(saved)  # stopped between row and forest
    long_stream.run(stream, 3000, tmp_path / "part.json")
    assert (tmp_path / "part.riparian").read_bytes() == (tmp_path / "whole.riparian").read_bytes()
    whole, part = (record.read(tmp_path / f"{name}.json")["figures"] for name in ("whole", "part"))
    rows = [[{name: row[name] for name in SAME} for row in one["stages"]] for one in (whole, part)]
    assert rows[0] == rows[1]
    assert [row["points"] for row in rows[0]] == [1000, 2000, 3000]
    assert all(row["accuracy"] <= row["best_accuracy"] + 0.02 for row in rows[0])
    assert "| 3,000 | " in stream_table(record.read(tmp_path / "part.json"))
