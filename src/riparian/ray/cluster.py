"""Join the cluster, and assign shards to nodes."""

from __future__ import annotations

import os
from collections import Counter
from itertools import pairwise
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from riparian.engine.native import NativeEngine
from riparian.engine.rules import TREE_BYTES
from riparian.parameters.forests import LINK_BYTES
from riparian.ray.errors import ClusterError, MemoryShort
from riparian.tools import text

NAMESPACE = "riparian"  # of the names of shards; Ray's default differs for every program


def join() -> None:
    """Join the cluster that RAY_ADDRESS names, if the program has not joined one itself."""
    if ray.is_initialized():
        return
    if not os.environ.get("RAY_ADDRESS"):
        raise ClusterError(
            "this program has not joined a Ray cluster: call ray.init() to start one here, or "
            "ray.init(address=...) to join another"
        )
    try:
        ray.init(log_to_driver=False)
    except ConnectionError as error:
        raise ClusterError(
            f"RAY_ADDRESS must name a Ray cluster, got {os.environ['RAY_ADDRESS']!r}: {error}"
        ) from None


def check_joined() -> None:
    """Raise an error if the program has left the cluster: Ray would silently start another one."""
    if not ray.is_initialized():
        raise ClusterError(
            "this program has left the Ray cluster of its forest; if the forest has a name and the "
            "cluster still runs, join it again and use `attach`"
        )


def alive() -> list[dict[str, Any]]:
    return [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]


def cpus() -> int:
    """Return the number of CPUs of all nodes, at least 1."""
    return max(1, sum(int(node["Resources"].get("CPU", 0)) for node in alive()))


def node_of_each(n_shards: int, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the node of each shard. Nodes get shards in proportion to their CPUs.

    >>> small, large = {"Resources": {"CPU": 1.0}}, {"Resources": {"CPU": 3.0}}
    >>> [node is large for node in node_of_each(4, [small, {"Resources": {}}, large])]
    [False, True, True, True]
    """
    slots = [node for node in nodes for _ in range(int(node["Resources"].get("CPU", 0)))] or nodes
    return [slots[i * len(slots) // n_shards] for i in range(n_shards)]


def near(node: dict[str, Any]) -> NodeAffinitySchedulingStrategy:
    """Return the strategy that prefers this node, and takes another if it goes away."""
    return NodeAffinitySchedulingStrategy(node["NodeID"], soft=True)


def trees_of_each(n_trees: int, n_shards: int) -> list[range]:
    """
    >>> trees_of_each(10, 3)
    [range(0, 3), range(3, 6), range(6, 10)]
    """
    ends = [i * n_trees // n_shards for i in range(n_shards + 1)]
    return [range(i, j) for i, j in pairwise(ends)]


def most_bytes(engine: NativeEngine, trees: int) -> int | None:
    """Return the most memory a shard of n trees may use: its part, and all kept points (R19)."""
    budget = engine.rule.budget()
    if budget is None:
        return None
    kept = engine.rule.kept(2**62)
    each = budget + TREE_BYTES + kept * LINK_BYTES
    return kept * engine.point_bytes() + trees * each


def check_memory(engine: NativeEngine, shards: list[range], nodes: list[dict[str, Any]]) -> None:
    """Raise an error, before anything starts, if the shards of a node may not fit into its memory."""
    needed: Counter[str] = Counter()
    for trees, node in zip(shards, nodes, strict=True):
        most = most_bytes(engine, len(trees))
        if most is None:
            return  # without max_memory there is no limit to check
        needed[node["NodeID"]] += most
    for node in nodes:
        there, most = node["Resources"].get("memory"), needed[node["NodeID"]]
        if there is not None and most > there:
            raise MemoryShort(
                f"the shards of node {node['NodeManagerAddress']} may need "
                f"{text.size(most)}, but it has {text.size(there)}: lower max_memory "
                "(for the whole forest) or kept_points (every shard keeps them), or add "
                "nodes"
            )
