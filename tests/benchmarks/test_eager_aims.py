"""What was asked of eager forests stands next to what was measured."""

from __future__ import annotations

import pytest

pytest.importorskip("river")  # benchmarks.compare imports its peers

from benchmarks import eager_aims, record

PAGE = record.path("eager").with_suffix(".md")


def figures(name):
    return record.read(record.path(name))["figures"]


def test_the_page_has_the_table_of_the_records():
    compared = figures("compare")["rows"]
    made = eager_aims.table(figures("eager-aims"), figures("eager"), compared)
    assert f"<!-- aims -->\n\n{made}\n\n<!-- end -->" in PAGE.read_text()


def peer(name, stream, held_out, repeat=0, trees=10):
    return {
        "peer": name, "workload": stream, "trees": trees, "threads": 1, "repeat": repeat,
        "held_out": held_out,
    }  # fmt: skip


def test_a_gap_is_to_the_best_peer_over_the_repeats_that_both_have():
    ours = [
        {"stream": "a", "repeat": 0, "trees": 10, "accuracy": 0.8},
        {"stream": "a", "repeat": 1, "trees": 10, "accuracy": 0.9},
        {"stream": "b", "repeat": 0, "trees": 10, "accuracy": 0.7},
    ]
    compared = [
        peer("river-arf", "a", 0.7), peer("river-arf", "a", 0.9, repeat=1),
        peer("river-amf", "a", 0.78), peer("river-amf", "a", 0.99, trees=100),
        peer("river-arf", "b", None), peer("river-amf", "c", 0.9),
    ]  # fmt: skip
    gaps = eager_aims.gaps_to(ours, compared, 10, ["river-arf", "river-amf"])
    assert gaps == pytest.approx([0.02])


def test_both_forests_of_the_long_stream_learn_the_same_points():
    eager, honest = eager_aims.long((1,), block=20)
    assert (eager["model"], honest["model"]) == ("eager", "honest")
    assert eager["best"] == honest["best"]
    assert len(eager["seconds"]) == len(honest["forest_bytes"]) == eager_aims.LONG_BLOCKS
