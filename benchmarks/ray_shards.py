"""What shards on Ray cost on this machine: throughput, batches, checkpoints, restarts, nodes.

    python -m benchmarks.ray_shards --out benchmarks/record/ray-shards.json

Every time is measured through the public interface, from the first batch to the last tree; making the
shards is timed separately. Plain threads and shards take turns within a repeat, and
ratios are taken there, so that a machine that is busy for a while is busy for both.
"""

from __future__ import annotations

import argparse
import os
import pickle
import shutil
import signal
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import ray
from numpy.typing import NDArray
from ray.cluster_utils import Cluster

from benchmarks import record
from benchmarks.growth import Block, bands
from benchmarks.ray_model import Costs, table
from riparian import OnlineForestClassifier
from riparian.ray import RayForestClassifier
from riparian.ray.journal import Batch

DIMS = 20
STREAM = bands(DIMS)
STORE = 2**30  # bytes of an object store
HOST = "127.0.0.2"  # Ray treats 127.0.0.1 as the address of the machine in its network


@dataclass(frozen=True)
class Scale:
    """How large the runs are."""

    trees: int
    rows: int  # that are learned in a run
    batches: tuple[int, ...]  # rows at a time
    shards: tuple[int, ...]
    repeats: int
    calls: int  # batches of one row, for what a batch costs at least


FULL = Scale(
    trees=100,
    rows=200_000,
    batches=(1_000, 10_000, 100_000),
    shards=(1, 2, 4, 8),
    repeats=3,
    calls=300,
)
QUICK = Scale(trees=10, rows=10_000, batches=(1_000, 5_000), shards=(1, 2), repeats=1, calls=30)


@contextmanager
def cluster_of(*cpus: int) -> Iterator[None]:
    """Start a cluster of nodes with this many CPUs each, on this machine."""
    folder = tempfile.mkdtemp(prefix="rb", dir="/tmp")  # short: sockets have their paths in it
    os.environ |= {
        "RAY_TMPDIR": folder,
        "RAY_AUTH_MODE": "disabled",  # otherwise it writes to the home of the user
    }
    os.mkdir(f"{folder}/ray")
    node = {"node_ip_address": HOST, "object_store_memory": STORE}
    cluster = Cluster()
    try:
        cluster.add_node(**node, num_cpus=cpus[0], include_dashboard=False)
        for more in cpus[1:]:
            cluster.add_node(**node, num_cpus=more)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
        yield
    finally:
        ray.shutdown()
        cluster.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def plain(scale: Scale, threads: int) -> Any:
    return OnlineForestClassifier(scale.trees, random_state=0, n_jobs=threads)


def spread(scale: Scale, shards: int, **options: Any) -> Any:
    return RayForestClassifier(scale.trees, random_state=0, n_shards=shards, **options)


def learned(forest: Any, block: Block, rows: int) -> float:
    """Return the seconds that it takes to learn a block, in batches of n rows."""
    X, y = block
    forest.partial_fit(X[:0], y[:0], classes=range(STREAM.classes))
    began = time.perf_counter()
    for first in range(0, len(y), rows):
        forest.partial_fit(X[first : first + rows], y[first : first + rows])
    if isinstance(forest, RayForestClassifier):
        forest.wait()
    return time.perf_counter() - began


def against_threads(scale: Scale, block: Block) -> list[dict[str, Any]]:
    """Compare one and two threads of one process with shards, for each size of batch."""
    runs = []
    for rows in scale.batches:
        seconds: dict[str, list[float]] = {}
        for _ in range(scale.repeats):
            for threads in (1, 2):
                took = learned(plain(scale, threads), block, rows)
                seconds.setdefault(f"{threads} threads", []).append(took)
            for shards in scale.shards:
                forest = spread(scale, shards)
                seconds.setdefault(f"{shards} shards", []).append(learned(forest, block, rows))
                forest.shutdown()
        runs.append({"batch": rows, "seconds": seconds, "ratios": ratios(seconds)})
        print(f"batches of {rows:,}: {_points_per_second(seconds, scale.rows)}")
        print(f"    {runs[-1]['ratios']}")
    return runs


def ratios(seconds: dict[str, list[float]]) -> dict[str, float]:
    """Return the median speed-up over the repeats."""
    return {
        f"{name} to {base}": round(
            statistics.median(b / s for s, b in zip(took, seconds[base], strict=True)), 3
        )
        for name, took in seconds.items()
        if name.endswith("shards")
        for base in ("1 threads", "2 threads")
    }


def _points_per_second(seconds: dict[str, list[float]], rows: int) -> str:
    rates = {name: rows / statistics.median(took) for name, took in seconds.items()}
    return ", ".join(f"{name} {rate:,.0f} points/s" for name, rate in rates.items())


def parts(scale: Scale, block: Block) -> dict[str, float]:
    """Measure the processor times that the analytical model (`benchmarks.ray_model`) needs."""
    X, y = block
    began = time.process_time()
    learned(plain(scale, 1), block, len(y))
    tree = (time.process_time() - began) / (len(y) * scale.trees)
    checking = min(_time_checking(block) for _ in range(5)) / len(y)
    call = {shards: _call(scale, shards) for shards in (1, max(scale.shards))}
    most = max(scale.shards)
    each = (call[most] - call[1]) / (most - 1)
    costs = Costs(tree=tree, checking=checking, call=max(each, 1e-6), row=_bytes_on_the_way(X, y))
    return asdict(costs)


def _time_checking(block: Block) -> float:
    """Time checking a batch and putting it into the object store."""
    forest = OnlineForestClassifier(1, random_state=0)
    forest.partial_fit(*(part[:100] for part in block))
    began = time.process_time()
    X, y = forest._checked_batch(*block, first=False, at_least=0)
    forest.model_.target.check(y)
    arrivals = forest.model_.target.join(y)
    ref = ray.put(_batch(X, arrivals))
    took = time.process_time() - began
    del ref
    return took


def _batch(X: NDArray[Any], arrivals: NDArray[Any]) -> Batch:
    return Batch(0, len(X), 0, X, arrivals, None, ([], 0), b"", None, 1)


def _bytes_on_the_way(X: NDArray[Any], y: NDArray[Any]) -> float:
    return len(pickle.dumps(_batch(X, y.astype(np.uint32)), protocol=5)) / len(y)


def _call(scale: Scale, shards: int) -> float:
    """Time the driver's work for a batch of one row; on a real cluster, shards work elsewhere."""
    forest = RayForestClassifier(shards, random_state=0, n_shards=shards, kept_points=0)
    X, y = STREAM.draw(scale.calls, np.random.default_rng(0))
    forest.partial_fit(X[:0], y[:0], classes=range(STREAM.classes))
    began = time.process_time()
    learned(forest, (X, y), 1)
    took = (time.process_time() - began) / scale.calls
    forest.shutdown()
    return took


def safety(scale: Scale, block: Block) -> dict[str, float]:
    """Time the start of two shards, a checkpoint, and the recovery of a killed shard."""
    X, y = block
    folder = Path(tempfile.mkdtemp(prefix="ray-shards"))
    try:
        forest = spread(scale, 2, checkpoint_dir=folder, checkpoint_every=10**9)
        began = time.perf_counter()
        forest.partial_fit(X[:0], y[:0], classes=range(STREAM.classes))
        start = time.perf_counter() - began
        forest.partial_fit(X, y).wait()
        began = time.perf_counter()
        forest.checkpoint()
        checkpoint = time.perf_counter() - began
        sizes = [path.stat().st_size for path in folder.rglob("*.riparian")]
        os.kill(forest.shards()[0]["pid"], signal.SIGKILL)
        began = time.perf_counter()
        forest.predict(X[:1])
        restart = time.perf_counter() - began
        again = min(len(y), 10_000)
        forest.partial_fit(X[:again], y[:again]).wait()
        os.kill(forest.shards()[0]["pid"], signal.SIGKILL)
        began = time.perf_counter()
        forest.predict(X[:1])
        restart_and_rows = time.perf_counter() - began
        forest.shutdown()
    finally:
        shutil.rmtree(folder)
    return {
        "start": start,
        "checkpoint": checkpoint,
        "checkpoint_bytes_per_shard": statistics.mean(sizes),
        "trees_per_shard": scale.trees / 2,
        "rows_learned": len(y),
        "restart": restart,
        "restart_with_rows": restart_and_rows,
        "rows_sent_again": again,
    }


def nodes(scale: Scale, block: Block) -> dict[str, Any]:
    """Compare two shards on one node with two shards on two nodes."""
    rows = max(scale.batches)
    seconds: dict[str, list[float]] = {}
    for name, cpus in (("one node", (2,)), ("two nodes", (1, 1)), ("three nodes", (1, 1, 1))):
        with cluster_of(*cpus):
            for _ in range(scale.repeats):
                forest = spread(scale, len(cpus) if len(cpus) > 1 else 2)
                seconds.setdefault(name, []).append(learned(forest, block, rows))
                forest.shutdown()
    print(_points_per_second(seconds, scale.rows))
    return {"batch": rows, "seconds": seconds}


def measure(scale: Scale) -> dict[str, Any]:
    block = STREAM.draw(scale.rows, np.random.default_rng(0))
    figures: dict[str, Any] = {"scale": asdict(scale), "dims": DIMS}
    with cluster_of(2):
        figures["threads and shards"] = against_threads(scale, block)
        figures["costs"] = parts(scale, block)
        print({name: f"{cost:.3g}" for name, cost in figures["costs"].items()})
        figures["safety"] = safety(scale, block)
        print({name: f"{value:.4g}" for name, value in figures["safety"].items()})
    figures["nodes"] = nodes(scale, block)
    print(table(Costs(**figures["costs"])))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="sizes too small to say much")
    parser.add_argument("--out", type=Path, help="where the record goes; default: none is kept")
    options = parser.parse_args()
    figures = measure(QUICK if options.quick else FULL)
    if options.out:
        record.write(options.out, "ray shards", figures, packages=("ray",))


if __name__ == "__main__":
    main()
