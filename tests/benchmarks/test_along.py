"""What is measured far along a stream is only what lies far along it."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import along
from benchmarks.workloads import load


class Counting:
    """A model whose every batch takes a second of its own clock."""

    def __init__(self) -> None:
        self.batches = 0

    def points(self, X, y):
        return X, y

    def learn(self, points) -> None:
        self.batches += 1


def test_points_before_the_first_do_not_count(monkeypatch):
    model = Counting()
    monkeypatch.setattr(type(along.PEERS[along.OURS]), "model", lambda peer, task: model)
    monkeypatch.setattr(along.time, "process_time", lambda: float(model.batches))
    stream = load("mixture", points=5000)
    assert along.seconds_along(along.OURS, stream, 3000) == 2.0
    assert model.batches == 5


def test_both_learn_the_same_stream(monkeypatch, capsys):
    pytest.importorskip("river")
    monkeypatch.setattr(along, "BATCH", 20)
    result = along.compare("mixture", 20, 60)
    assert result["times"] == pytest.approx(result["theirs_us"] / result["ours_us"])
    assert np.isfinite(result["times"])
    assert "mixture" in capsys.readouterr().out


def test_the_times_of_the_other_engine_can_come_from_an_earlier_record(tmp_path, monkeypatch):
    monkeypatch.setattr(along, "BATCH", 20)
    path = tmp_path / "along.json"
    rows = [{"stream": "mixture", "ours_us": 2.0, "theirs_us": 600.0, "times": 300.0}]
    along.record.write(path, "along", {"first": 20, "last": 60, "times": 300.0, "rows": rows})
    known, measured = along.their_times(path, 20, 60)
    assert known == {"mixture": 600.0}
    assert measured == along.record.read(path)["date"]
    result = along.compare("mixture", 20, 60, known["mixture"])
    assert result["theirs_us"] == 600.0
    with pytest.raises(SystemExit, match="points 20 to 60, not 20 to 80"):
        along.their_times(path, 20, 80)
