"""Riparian beside what a user would pick instead: the same streams, in one run.

    python -m benchmarks.compare --quick --jobs 2   # some minutes, on two cores
    python -m benchmarks.compare                    # forty minutes a repeat; it should be alone

Each measurement is a process of its own (measure.py), held to as many cores as it may have threads.
Everything is at its defaults but trees, threads and seed. A repeat draws the streams, or orders them,
anew. What takes too long is stopped, and says how far it got. The record holds every measurement;
standings.py makes the table and the figure of it.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import record, standings
from benchmarks.measure import Job
from benchmarks.peers import FEW, MANY, OURS, PEERS, Peer
from benchmarks.workloads import available, data_directory, load

PACKAGES = ("river", "capymoa", "scipy")


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    workloads: tuple[str, ...] | None  # None: all there are
    points: dict[str, int]  # of a stream, at most; "" for all others
    test_points: int
    repeats: int
    seconds: float  # for one model to learn in
    deep: tuple[str, ...]  # workloads with many trees for slow peers too, and with threads
    deep_points: int  # of them, for slow peers
    starts: int  # of a process, for the time to the first prediction

    def length(self, workload: str) -> int:
        return self.points.get(workload, self.points[""])


FULL = Plan(
    workloads=None,
    points={"": 5_000, "letter": 8_000, "elec": 10_000, "mnist": 3_000},
    test_points=2_000,
    repeats=3,
    seconds=60,
    deep=("mixture", "letter"),
    deep_points=300,
    starts=3,
)
QUICK = replace(
    FULL,
    workloads=("mixture", "led", "digits", "letter"),
    points={"": 1_000},
    test_points=1_000,
    repeats=2,
    seconds=4,
    deep=("mixture",),
    deep_points=100,
    starts=1,
)


@dataclass(frozen=True)
class Run:
    """One measurement: what, on what."""

    peer: str
    workload: str
    trees: int
    threads: int
    repeat: int
    points: int
    alone: bool


def runs(plan: Plan, workloads: Iterable[str], peers: Iterable[str]) -> Iterator[Run]:
    for repeat in range(plan.repeats):
        for workload in workloads:
            points = plan.length(workload)
            for peer in (PEERS[name] for name in peers):
                for trees, threads in settings(peer, workload in plan.deep):
                    alone = threads == 1 and (trees == FEW or peer.fast or not peer.trees)
                    few = trees == MANY and not peer.fast
                    at_most = min(points, plan.deep_points) if few else points
                    yield Run(peer.name, workload, trees, threads, repeat, at_most, alone)


def settings(peer: Peer, deep: bool) -> Iterator[tuple[int, int]]:
    """Trees and threads."""
    if not peer.trees:
        yield 1, 1
        return
    yield FEW, 1
    if peer.fast or deep:
        yield MANY, 1
    if peer.threads and deep:
        yield FEW, 2
        yield MANY, 2


class Streams:
    """The workloads of all repeats as files, ready to learn: nobody has to draw them again."""

    def __init__(self, folder: Path, data: Path | None, plan: Plan) -> None:
        self.folder = folder
        self.data = data
        self.plan = plan

    def path(self, workload: str, repeat: int) -> Path:
        return self.folder / f"{workload}-{repeat}.npz"

    def write(self, workload: str, repeat: int) -> None:
        points = self.plan.length(workload)
        stream = load(workload, self.data, points=points, seed=repeat).with_test().scaled()
        test = slice(self.plan.test_points)
        np.savez(
            self.path(workload, repeat),
            X=stream.X,
            y=stream.y,
            X_test=stream.X_test[test],
            y_test=stream.y_test[test],
        )


class Machine:
    """Runs measurements, as many at a time as there are free cores for."""

    def __init__(self, streams: Streams, plan: Plan, jobs: int) -> None:
        self.streams = streams
        self.plan = plan
        self.cores = usable_cores()
        self.jobs = min(jobs, len(self.cores))
        self.began = time.monotonic()

    def measure(self, wanted: list[Run]) -> Iterator[dict[str, Any]]:
        """Those of one thread side by side, on a core each; then those of several, alone."""
        free: queue.SimpleQueue[int] = queue.SimpleQueue()
        for core in self.cores[: self.jobs]:
            free.put(core)

        def on_one_core(run: Run) -> dict[str, Any]:
            core = free.get()
            try:
                return self.process(run, (core,))
            finally:
                free.put(core)

        with ThreadPoolExecutor(self.jobs) as pool:
            yield from pool.map(on_one_core, (run for run in wanted if run.threads == 1))
        for run in wanted:
            if run.threads > 1:
                yield self.process(run, self.cores[: run.threads])

    def process(self, run: Run, cores: tuple[int, ...]) -> dict[str, Any]:
        """A row of the record; of a process that failed, with the reason alone."""
        job = Job(
            peer=run.peer,
            stream=str(self.streams.path(run.workload, run.repeat)),
            trees=run.trees,
            threads=run.threads,
            seed=run.repeat,
            points=run.points,
            seconds=self.plan.seconds,
            cores=cores,
            alone=run.alone,
        )
        told = self.streams.folder / f"job-{cores[0]}.json"
        told.write_text(json.dumps(asdict(job)))
        try:
            limit = 10 * self.plan.seconds + 120
            answer = python("benchmarks.measure", str(told), threads=run.threads, limit=limit)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"{run} failed: {error}", file=sys.stderr, flush=True)
            return {**asdict(run), "failed": str(error).splitlines()[-1]}
        measured = json.loads(answer.splitlines()[-1])
        self.say(run, measured)
        return {**asdict(run), **measured}

    def say(self, run: Run, measured: dict[str, Any]) -> None:
        learn = measured["learn"]
        each = learn["seconds"] / learn["points"] * 1e6
        stopped = "" if measured["finished"] else f"  stopped after {learn['points']:,} points"
        print(
            f"{time.monotonic() - self.began:6.0f} s  {run.workload:10} {run.peer:14} "
            f"{run.trees:4} trees {run.threads} threads  {each:10.2f} µs per point  "
            f"held out {measured['held_out']:.4f}{stopped}",
            flush=True,
        )


def usable_cores() -> tuple[int, ...]:
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def python(module: str, argument: str, threads: int = 1, limit: float = 60) -> str:
    """What a new interpreter prints."""
    limits = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-m", module, argument],
        env={**os.environ, **limits},
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{module} {argument} failed:\n{done.stderr}")
    return done.stdout


def start_ups(peers: Iterable[str], starts: int) -> dict[str, dict[str, float]]:
    """Seconds from nothing to the first prediction; the very first start, from disk, is left out."""
    found = {}
    for peer in peers:
        seconds = []
        for _ in range(starts + 1):
            begin = time.perf_counter()
            python("benchmarks.first_prediction", peer)
            seconds.append(time.perf_counter() - begin)
        found[peer] = {"min": min(seconds[1:]), "median": statistics.median(seconds[1:])}
        print(f"first prediction of {peer}: {found[peer]['median']:.2f} s", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few streams, and short: minutes")
    parser.add_argument("--workloads", nargs="+", metavar="NAME", help="default: all there are")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time, each on a core")
    parser.add_argument("--data", type=Path, help="directory of the real sets (or RIPARIAN_DATA)")
    parser.add_argument("--out", type=Path, help="where the record goes; default: none is kept")
    options = parser.parse_args()
    if OURS not in options.peers:
        parser.error(f"--peers must name {OURS}: everything is given in proportion to it")
    plan = QUICK if options.quick else FULL
    plan = replace(plan, repeats=options.repeats or plan.repeats)
    data = data_directory(options.data)
    there = available(data)
    peers = installed(options.peers)
    workloads = options.workloads or [name for name in plan.workloads or there if name in there]

    with tempfile.TemporaryDirectory() as folder:
        streams = Streams(Path(folder), data, plan)
        for repeat in range(plan.repeats):
            for workload in workloads:
                streams.write(workload, repeat)
        machine = Machine(streams, plan, options.jobs)
        figures: dict[str, Any] = {
            "plan": {**asdict(plan), "workloads": list(workloads), "jobs": machine.jobs},
            "start_up": start_ups(peers, plan.starts),
            "rows": [],
        }
        for repeat in range(plan.repeats):
            wanted = [run for run in runs(plan, workloads, peers) if run.repeat == repeat]
            figures["rows"] += machine.measure(wanted)
            figures["plan"]["repeats"] = repeat + 1
            if options.out:  # after each: it may be the last
                record.write(options.out, "compare", figures, PACKAGES)
    print(standings.Standings.of(figures).text())
    if options.out:
        standings.publish(options.out)


def installed(names: Iterable[str]) -> list[str]:
    found = []
    for name in names:
        try:
            version(PEERS[name].library)
            found.append(name)
        except PackageNotFoundError:
            print(f"{PEERS[name].title} is left out: {PEERS[name].library} is not installed")
    return found


if __name__ == "__main__":
    main()
