"""Compare riparian with its alternatives: the same streams, in one run.

    python -m benchmarks.compare --quick --jobs 2   # a few minutes, on two cores
    python -m benchmarks.compare                    # forty minutes per repeat, on a quiet machine

Each measurement is a separate process (measure.py), restricted to as many cores as it has threads.
Everything has its defaults except trees, threads and seed. Each repeat draws or orders the streams
again. A measurement that takes too long is stopped, and reports how far it got. The record holds every
measurement; standings.py makes the table and the figure from it. `--resume` continues a run that was
stopped.
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

    workloads: tuple[str, ...] | None  # None: all of them
    points: dict[str, int]  # of a stream, at most; "" for all others
    test_points: int
    repeats: int
    seconds: float  # for one model to learn in
    deep: tuple[str, ...]  # workloads with threads
    sizes: tuple[int, ...]  # of forests: trees
    many_points: int | None  # for slow peers with many trees, on deep workloads; None: all, on all
    starts: int  # of a process, for the time to the first prediction

    def length(self, workload: str) -> int:
        return self.points.get(workload, self.points[""])

    def patience(self, run: Run) -> float:
        """Return the time limit of a run, which is ten times as long for many trees of a slow peer."""
        return self.seconds * (10 if is_large(PEERS[run.peer], run.trees) else 1)


FULL = Plan(
    workloads=None,
    points={"": 5_000, "letter": 8_000, "elec": 10_000, "mnist": 3_000},
    test_points=2_000,
    repeats=3,
    seconds=60,
    deep=("mixture", "letter"),
    sizes=(1, FEW, MANY),
    many_points=None,
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
    sizes=(FEW, MANY),
    many_points=100,
    starts=1,
)


@dataclass(frozen=True)
class Run:
    """One measurement: a model on a workload."""

    peer: str
    workload: str
    trees: int
    threads: int
    repeat: int
    points: int
    alone: bool

    @property
    def key(self) -> tuple[str, str, int, int, int, int]:
        return self.peer, self.workload, self.trees, self.threads, self.repeat, self.points


def runs(plan: Plan, workloads: Iterable[str], peers: Iterable[str]) -> Iterator[Run]:
    """Yield small forests first, so that the results of a stopped run can be compared."""
    for repeat in range(plan.repeats):
        for large in (False, True):
            for workload in workloads:
                for peer in (PEERS[name] for name in peers):
                    for trees, threads in settings(peer, plan, workload):
                        if is_large(peer, trees) == large:
                            yield one_run(plan, peer, workload, trees, threads, repeat)


def is_large(peer: Peer, trees: int) -> bool:
    """Return whether learning takes minutes."""
    return trees == MANY and not peer.fast


def one_run(plan: Plan, peer: Peer, workload: str, trees: int, threads: int, repeat: int) -> Run:
    large = is_large(peer, trees)
    alone = threads == 1 and not large and (trees != 1 or not peer.trees)
    points = plan.length(workload)
    if large and plan.many_points is not None:
        points = min(points, plan.many_points)
    return Run(peer.name, workload, trees, threads, repeat, points, alone)


def settings(peer: Peer, plan: Plan, workload: str) -> Iterator[tuple[int, int]]:
    """Yield the numbers of trees and threads to measure."""
    if not peer.trees:
        yield 1, 1
        return
    deep = workload in plan.deep
    for trees in plan.sizes:
        if deep or plan.many_points is None or not is_large(peer, trees):
            yield trees, 1
    if peer.threads and deep:
        yield FEW, 2
        if peer.fast or plan.many_points is not None:
            yield MANY, 2


class Streams:
    """Write the workloads of all repeats to files, so that no process has to draw them again."""

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
    """Runs as many measurements at a time as there are free cores."""

    def __init__(self, streams: Streams, plan: Plan, jobs: int) -> None:
        self.streams = streams
        self.plan = plan
        self.cores = usable_cores()
        self.jobs = min(jobs, len(self.cores))
        self.began = time.monotonic()

    def measure(self, wanted: list[Run]) -> Iterator[dict[str, Any]]:
        """Run those with one thread in parallel, each on a core, and then those with several, alone."""
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
        """Return a row of the record; if the process failed, it has only the reason."""
        job = Job(
            peer=run.peer,
            stream=str(self.streams.path(run.workload, run.repeat)),
            trees=run.trees,
            threads=run.threads,
            seed=run.repeat,
            points=run.points,
            seconds=self.plan.patience(run),
            cores=cores,
            alone=run.alone,
        )
        job_file = self.streams.folder / f"job-{cores[0]}.json"
        job_file.write_text(json.dumps(asdict(job)))
        try:
            limit = 10 * job.seconds + 120
            answer = python("benchmarks.measure", str(job_file), threads=run.threads, limit=limit)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"{run} failed: {error}", file=sys.stderr, flush=True)
            return {**asdict(run), "failed": str(error).splitlines()[-1]}
        measured = json.loads(answer.splitlines()[-1])
        self.say(run, measured)
        return {**asdict(run), **measured, "commit": record.commit()}

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
    """Return what a new interpreter prints."""
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
    """Return the seconds until a new process predicts; the first start is left out."""
    by_peer = {}
    for peer in peers:
        seconds = []
        for _ in range(starts + 1):
            begin = time.perf_counter()
            python("benchmarks.first_prediction", peer)
            seconds.append(time.perf_counter() - begin)
        by_peer[peer] = {"min": min(seconds[1:]), "median": statistics.median(seconds[1:])}
        print(f"first prediction of {peer}: {by_peer[peer]['median']:.2f} s", flush=True)
    return by_peer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few streams, and short: minutes")
    parser.add_argument("--workloads", nargs="+", metavar="NAME", help="default: all there are")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--trees", nargs="+", type=int, metavar="N", help="sizes of forests")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time, each on a core")
    parser.add_argument("--data", type=Path, help="directory of the real sets (or RIPARIAN_DATA)")
    parser.add_argument("--out", type=Path, help="where the record goes; default: none is kept")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="keep what the record has, but for rows of ours from another commit",
    )
    options = parser.parse_args()
    if options.resume and not options.out:
        parser.error("--resume needs --out: it goes on with that record")
    if OURS not in options.peers:
        parser.error(f"--peers must name {OURS}: everything is given in proportion to it")
    if options.trees and not {FEW, MANY}.intersection(options.trees):
        parser.error(f"--trees must name {FEW} or {MANY}: the tables are of such forests")
    plan = QUICK if options.quick else FULL
    plan = replace(
        plan,
        repeats=options.repeats or plan.repeats,
        sizes=tuple(options.trees or plan.sizes),
    )
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
        known = rows_to_keep(options.out) if options.resume else []
        figures: dict[str, Any] = {
            "plan": {**asdict(plan), "workloads": list(workloads), "jobs": machine.jobs},
            "start_up": start_ups(peers, plan.starts),
            "rows": known,
        }
        measured = {key_of(row) for row in known}
        wanted = [run for run in runs(plan, workloads, peers) if run.key not in measured]
        for row in machine.measure(wanted):
            figures["rows"].append(row)
            if options.out:  # after each: it may be the last
                record.write(options.out, "compare", figures, PACKAGES, quiet=True)
    print(standings.Standings.of(figures).text())
    if options.out:
        standings.publish(options.out)


def rows_to_keep(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a record that a new run would measure in the same way."""
    if not path.exists():
        return []
    commit = record.commit()
    rows = record.read(path)["figures"]["rows"]
    return [
        row
        for row in rows
        if "failed" not in row and (not PEERS[row["peer"]].ours or row.get("commit") == commit)
    ]


def key_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return Run(**{name: row[name] for name in Run.__dataclass_fields__}).key


def installed(names: Iterable[str]) -> list[str]:
    present = []
    for name in names:
        try:
            version(PEERS[name].library)
            present.append(name)
        except PackageNotFoundError:
            print(f"{PEERS[name].title} is left out: {PEERS[name].library} is not installed")
    return present


if __name__ == "__main__":
    main()
