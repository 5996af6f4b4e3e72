"""Real clusters of Ray for the tests: on the loopback, without a dashboard, and gone afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import ray
from ray.cluster_utils import Cluster

from riparian.streams import GaussianMixture

FULL = os.environ.get("RIPARIAN_RAY_FULL") == "1"  # `make ray-full`: all cases, and ten kills

STORE = 80 * 2**20  # bytes of an object store

# A node that has gone is noticed in a few seconds, one that is only slow is waited for.
HEALTH = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 5000,
    "health_check_failure_threshold": 10,
}

# Ray takes 127.0.0.1 for the address of the machine in its network; this one stays on the machine.
NODE = {"node_ip_address": "127.0.0.2", "object_store_memory": STORE}


@contextmanager
def cluster_of(cpus: int) -> Iterator[Cluster]:
    """A cluster of one node with this many CPUs, which this process has joined."""
    folder = tempfile.mkdtemp(prefix="rr", dir="/tmp")  # short: sockets have their paths in it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Ray warns of is not ours
        before = dict(os.environ)
        os.environ |= {
            "RAY_TMPDIR": folder,  # "auto" is this cluster, and no other on this machine
            "RAY_AUTH_MODE": "disabled",  # otherwise it writes to the home of the user
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        os.mkdir(f"{folder}/ray")
        cluster = Cluster()
        try:
            cluster.add_node(**NODE, num_cpus=cpus, include_dashboard=False, _system_config=HEALTH)
            ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()
            os.environ.clear()
            os.environ.update(before)
            shutil.rmtree(folder, ignore_errors=True)


def kill(pid: int) -> None:
    """Kill the process of a shard."""
    os.kill(pid, signal.SIGKILL)


def until(true: Any, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.02)


def stream(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = GaussianMixture.paper().sample(n, random_state=seed)
    return X.astype(np.float32), y


def cuts(n: int, pieces: int, seed: int) -> list[slice]:
    """Yield the rows in batches of random sizes."""
    rng = np.random.default_rng(seed)
    ends = [0, *np.sort(rng.integers(0, n + 1, pieces - 1)).tolist(), n]
    return [slice(i, j) for i, j in pairwise(ends)]
