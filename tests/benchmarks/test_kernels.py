"""Every set of kernels learns the same stream, and is compared with the best one."""

from __future__ import annotations

import pytest
from benchmarks import kernels
from benchmarks.kernels import Case, cases, compared_with_the_best, measure

from riparian import _core


def row(kind: str, stream: str, name: str, learn: float, predict: float) -> dict[str, object]:
    return {
        "kind": kind,
        "stream": stream,
        "kernels": name,
        "learn_us": learn,
        "predict_us": predict,
    }


def test_means_are_geometric_and_relative_to_the_best():
    rows = [
        row("short", "a", "baseline", 4.0, 1.0),
        row("short", "a", "best", 2.0, 1.0),
        row("short", "b", "baseline", 8.0, 4.0),
        row("short", "b", "best", 1.0, 1.0),
    ]
    plain, best = compared_with_the_best(rows)
    assert (plain["kernels"], best["kernels"]) == ("baseline", "best")
    assert plain["learn_times"] == pytest.approx(4)  # of 2 and 8
    assert plain["predict_times"] == pytest.approx(2)  # of 1 and 4
    assert (best["learn_times"], best["predict_times"]) == (1, 1)


def test_only_streams_that_are_drawn_are_long_enough_to_go_far_along():
    kinds = [(case.stream, case.kind) for case in cases(["mixture", "digits"], 500, 600, 900)]
    assert ("mixture", "far along") in kinds
    assert ("digits", "far along") not in kinds
    assert ("digits", "short, kept_points=0") in kinds


def test_each_set_has_a_row():
    rows = measure(Case("short", "riparian", "mixture", 0, 300), None, 1)
    assert [row["kernels"] for row in rows] == _core.kernel_names()
    assert all(row["learn_us"] > 0 and row["predict_us"] > 0 for row in rows)


def test_forests_that_differ_are_an_error(monkeypatch):
    used = []
    monkeypatch.setattr(kernels._core, "kernel_names", lambda: ["one", "another"])
    monkeypatch.setattr(kernels._core, "use_kernels", used.append)
    monkeypatch.setattr(kernels, "seconds_to_learn", lambda model, stream, first: 1.0)
    monkeypatch.setattr(kernels, "seconds_to_predict", lambda model, stream: 1.0)
    snapshots = iter((b"a forest", b"another one"))
    monkeypatch.setattr(
        type(kernels.PEERS["riparian"]), "model", lambda peer, task: Saved(next(snapshots))
    )
    with pytest.raises(SystemExit, match="2 different forests"):
        measure(Case("short", "riparian", "mixture", 0, 300), None, 1)
    assert used == ["one", "another", "another"]  # the best is used again


class Saved:
    def __init__(self, snapshot: bytes) -> None:
        self.bytes = snapshot

    def snapshot(self) -> bytes:
        return self.bytes
