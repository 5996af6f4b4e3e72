"""A cluster on paper: how fast a forest in shards could learn on more nodes than there are here.

    python -m benchmarks.ray_model benchmarks/record/ray-shards.json --page docs/how-to/ray.md

Three things bound the points per second: the trees of a node, the driver that checks and sends, and the
link by which a batch leaves the driver's node. They come from measured costs, but the speed of the link
is assumed, and it is taken at its worst: every node fetches each batch from the driver's node. (Ray lets
nodes fetch from one another, too.)
"""

from __future__ import annotations

import argparse
import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.standings import markdown, rounded, write_into

NODES = (1, 10, 100, 1000)
CORES = 16  # of a node, each with a shard
TREES = 10_000
BATCH = 100_000  # rows
LINK = 1.25e9  # bytes per second: 10 Gbit/s


@dataclass(frozen=True)
class Costs:
    """What was measured."""

    tree: float  # seconds of one thread, per point and tree
    checking: (
        float  # seconds of the driver, per row: checking it and putting it into the object store
    )
    call: float  # seconds of the driver's processor, per batch and shard
    row: float  # bytes of a row on the link


@dataclass(frozen=True)
class Rates:
    """Return the points per second that each part can process."""

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
    driver = costs.checking + costs.call * shards / BATCH
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
        per_second = rates(costs, nodes)
        parts = [f"{rate:,.0f}" for rate in (per_second.trees, per_second.driver, per_second.link)]
        lines.append(
            f"| {nodes:,} | {' | '.join(parts)} | {per_second.all:,.0f} | {per_second.bound_by} |"
        )
    return "\n".join(lines).replace("inf", "-")


def costs_in_words(costs: Costs) -> str:
    per = [
        f"{1e6 * costs.tree:.2f} µs of one core per point and tree",
        f"{1e6 * costs.checking:.2f} µs of the driver per row for checking and sending it",
        f"{1e3 * costs.call:.1f} ms of the driver per batch and shard",
    ]
    return (
        f"The costs behind it are {', '.join(per)}, and {costs.row:.0f} bytes per row. "
        f"Learning and sending take as long at {balance(costs):.0f} nodes: "
        "√(trees · cost of a tree · speed of the link / (cores · bytes of a row))."
    )


def measured(figures: dict[str, Any]) -> str:
    """Points per second of threads and shards on one machine, by the size of batches."""
    runs = figures["threads and shards"]
    names = list(runs[0]["seconds"])
    rows = figures["scale"]["rows"]

    def rate(run: dict[str, Any], name: str) -> str:
        return f"{rounded(rows / statistics.median(run['seconds'][name]))}"

    head = ["rows per batch", *(name.replace("1 threads", "1 thread") for name in names)]
    head += ["2 shards : 1 thread", "2 shards : 2 threads"]
    body = [
        [
            f"{run['batch']:,}",
            *(rate(run, name) for name in names),
            *(f"{run['ratios'][f'2 shards to {base} threads']:.2f}" for base in (1, 2)),
        ]
        for run in runs
    ]
    return markdown(head, body)


def safety_in_words(figures: dict[str, Any]) -> str:
    safety = figures["safety"]
    megabytes = safety["checkpoint_bytes_per_shard"] / 1e6
    return (
        f"Two shards of {safety['trees_per_shard']:.0f} trees that had learned "
        f"{safety['rows_learned']:,} points of {figures['dims']} columns: starting them took "
        f"{safety['start']:.1f} s, a checkpoint {safety['checkpoint']:.1f} s ({megabytes:.0f} MB each), "
        f"and a killed shard answered again after {safety['restart']:.1f} s, or "
        f"{safety['restart_with_rows']:.1f} s where {safety['rows_sent_again']:,} rows had to be "
        "learned again."
    )


def page_parts(figures: dict[str, Any]) -> dict[str, str]:
    """Return the tables by the name of their place in the page."""
    costs = costs_of(figures)
    return {
        "measured": measured(figures),
        "model": f"{table(costs)}\n\n{costs_in_words(costs)}",
        "safety": safety_in_words(figures),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", type=Path)
    parser.add_argument("--page", type=Path, help="a page with places for the tables")
    given = parser.parse_args()
    parts = page_parts(record.read(given.record)["figures"])
    print("\n\n".join(parts.values()))
    if given.page:
        write_into(given.page, parts)


if __name__ == "__main__":
    main()
