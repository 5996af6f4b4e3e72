"""The cluster on paper: what bounds it is what the costs say."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from benchmarks import record
from benchmarks.ray_model import (
    BATCH,
    CORES,
    LINK,
    TREES,
    Costs,
    balance,
    page_parts,
    rates,
    table,
)
from benchmarks.standings import write_into

ROOT = Path(__file__).parents[2]

COSTS = Costs(tree=1e-6, checking=1e-7, call=1e-3, row=100.0)


def test_one_node_is_bound_by_its_trees_and_sends_nothing():
    result = rates(COSTS, 1)
    assert result.bound_by == "trees"
    assert result.all == result.trees == pytest.approx(1 / (1e-6 * TREES / CORES))
    assert result.link == math.inf


def test_the_driver_calls_every_shard_for_every_batch():
    assert rates(COSTS, 100).driver == pytest.approx(1 / (1e-7 + 1e-3 * 100 * CORES / BATCH))


def test_there_are_no_more_shards_than_trees():
    assert rates(COSTS, 10**6).trees == pytest.approx(1e6)


def test_at_the_balance_trees_and_link_take_as_long():
    nodes = balance(COSTS)
    assert COSTS.tree * TREES / (nodes * CORES) == pytest.approx(COSTS.row * nodes / LINK)


def test_the_table_has_a_line_for_each_number_of_nodes():
    lines = table(COSTS).splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| 1", "| 10", "| 100", "| 1,000"]
    assert lines[2].endswith("| trees |")


def test_the_page_has_what_the_record_says(tmp_path):
    parts = page_parts(record.read(ROOT / "benchmarks/record/ray-shards.json")["figures"])
    text = (ROOT / "docs/how-to/ray.md").read_text()
    assert all(f"<!-- {name} -->" in text for name in parts)
    page = tmp_path / "ray.md"
    page.write_text(text)
    write_into(page, parts)
    assert page.read_text() == text
