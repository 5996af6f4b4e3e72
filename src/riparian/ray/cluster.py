"""The cluster: joining it, and which node gets which shard."""

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

NAMESPACE = "riparian"  # of the names of shards; Ray's default is another one for every program


def join() -> None:
    """Join the cluster that RAY_ADDRESS names, if the program has not joined one itself."""
    if ray.is_initialized():
        return
    if not os.environ.get("RAY_ADDRESS"):
        raise ClusterError(
            "there is no Ray cluster: call ray.init() first to start one on this machine, or "
            "ray.init(address=...) to join another"
        )
    try:
        ray.init(log_to_driver=False)
    except ConnectionError as error:
        raise ClusterError(
            f"RAY_ADDRESS names no Ray cluster, got {os.environ['RAY_ADDRESS']!r}: {error}"
        ) from None


def check_joined() -> None:
    """Ray would start a cluster of its own for a call without one."""
    if not ray.is_initialized():
        raise ClusterError(
            "this program has left the Ray cluster that its forest lives on; if the forest has a "
            "name and the cluster still runs, join it and use RayForestClassifier.attach"
        )


def alive() -> list[dict[str, Any]]:
    return [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]


def cpus() -> int:
    """Of all nodes, at least 1."""
    return max(1, sum(int(node["Resources"].get("CPU", 0)) for node in alive()))


def node_of_each(n_shards: int, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Nodes get shards in proportion to their CPUs; one without a CPU gets none if another has one.

    >>> small, large = {"Resources": {"CPU": 1.0}}, {"Resources": {"CPU": 3.0}}
    >>> [node is large for node in node_of_each(4, [small, {"Resources": {}}, large])]
    [False, True, True, True]
    """
    slots = [node for node in nodes for _ in range(int(node["Resources"].get("CPU", 0)))] or nodes
    return [slots[i * len(slots) // n_shards] for i in range(n_shards)]


def near(node: dict[str, Any]) -> NodeAffinitySchedulingStrategy:
    """On that node, or on another if it goes away."""
    return NodeAffinitySchedulingStrategy(node["NodeID"], soft=True)


def trees_of_each(n_trees: int, n_shards: int) -> list[range]:
    """
    >>> trees_of_each(10, 3)
    [range(0, 3), range(3, 6), range(6, 10)]
    """
    ends = [i * n_trees // n_shards for i in range(n_shards + 1)]
    return [range(i, j) for i, j in pairwise(ends)]


def most_bytes(engine: NativeEngine, trees: int) -> int | None:
    """What a shard of so many trees may come to hold: its part, and all kept points (R19)."""
    budget = engine.rule.budget()
    if budget is None:
        return None
    kept = engine.rule.kept(2**62)
    each = budget + TREE_BYTES + kept * LINK_BYTES
    return kept * engine.point_bytes() + trees * each


def check_memory(engine: NativeEngine, shards: list[range], nodes: list[dict[str, Any]]) -> None:
    """Before anything starts: do the shards of each node fit into it?"""
    needed: Counter[str] = Counter()
    for trees, node in zip(shards, nodes, strict=True):
        most = most_bytes(engine, len(trees))
        if most is None:
            return  # without max_memory nobody can say
        needed[node["NodeID"]] += most
    for node in nodes:
        there, most = node["Resources"].get("memory"), needed[node["NodeID"]]
        if there is not None and most > there:
            raise MemoryShort(
                f"the shards of node {node['NodeManagerAddress']} may come to hold "
                f"{text.size(most)}, and it has {text.size(there)}: lower max_memory "
                "(it is that of the whole forest) or kept_points (every shard keeps them), or add "
                "nodes"
            )
