"""A cluster on paper: how fast a forest in shards could learn on more nodes than there are here.

    python -m benchmarks.ray_model benchmarks/record/ray-shards.json

Three things bound the points per second: the trees of a node, the driver that checks and sends, and the
link by which a batch leaves the driver's node. They come from measured costs, but the speed of the link
is assumed, and it is taken at its worst: every node fetches each batch from the driver's node. (Ray lets
nodes fetch from one another, too.)
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import record

NODES = (1, 10, 100, 1000)
CORES = 16  # of a node, each with a shard
TREES = 10_000
BATCH = 100_000  # rows
LINK = 1.25e9  # bytes per second: 10 Gbit/s


@dataclass(frozen=True)
class Costs:
    """What was measured."""

    tree: float  # seconds of one thread, per point and tree
    door: float  # seconds of the driver, per row: checking it and putting it into the object store
    call: float  # seconds of the driver's processor, per batch and shard
    row: float  # bytes of a row on its way


@dataclass(frozen=True)
class Rates:
    """Points per second that each part could keep up with."""

    trees: float
    driver: float
    link: float

    @property
    def all(self) -> float:
        return min(self.trees, self.driver, self.link)

    @property
    def bound_by(self) -> str:
        return min(vars(self), key=lambda part: getattr(self, part))


def rates(costs: Costs, nodes: int) -> Rates:
    """A forest of TREES, spread evenly."""
    shards = min(TREES, nodes * CORES)
    driver = costs.door + costs.call * shards / BATCH
    away = max(0, nodes - 1)  # the driver is on one of them
    return Rates(
        trees=1 / (costs.tree * math.ceil(TREES / shards)),
        driver=1 / driver,
        link=math.inf if away == 0 else LINK / (costs.row * away),
    )


def balance(costs: Costs) -> float:
    """The number of nodes at which trees and link take as long: more nodes do not help."""
    return math.sqrt(TREES * costs.tree * LINK / (CORES * costs.row))


def costs_of(figures: dict[str, Any]) -> Costs:
    return Costs(**figures["costs"])


def table(costs: Costs) -> str:
    lines = [
        "| nodes | trees | driver | link | points per second | bound by |",
        "|---|---|---|---|---|---|",
    ]
    for nodes in NODES:
        found = rates(costs, nodes)
        parts = [f"{rate:,.0f}" for rate in (found.trees, found.driver, found.link)]
        lines.append(f"| {nodes:,} | {' | '.join(parts)} | {found.all:,.0f} | {found.bound_by} |")
    return "\n".join(lines).replace("inf", "-")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", type=Path)
    costs = costs_of(record.read(parser.parse_args().record)["figures"])
    print(table(costs))
    print(f"\ntrees and link take as long at {balance(costs):.0f} nodes")


if __name__ == "__main__":
    main()
