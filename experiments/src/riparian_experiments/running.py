"""Run a study: compute the missing cells in several processes, and store each as soon as it is done."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from joblib import cpu_count
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from riparian_experiments.progress_bar import bar
from riparian_experiments.store import Store
from riparian_experiments.study import Row, Study


class WorkerLost(RuntimeError):
    """A process was killed in the middle of its cell; finished cells are kept."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a study; the message says how to continue."""


def run(study: Study, out: Path, *, jobs: int | None = None, fresh: bool = False) -> Sequence[Row]:
    """Return all rows of the study, including those that `out` already holds.

    `jobs` processes compute at the same time; None: one per processor. `fresh` discards what `out`
    holds. If `out` holds runs with other settings, a `StudyError` is raised.
    """
    store = Store.open(study, out, fresh=fresh)
    missing = store.missing()
    tasks = [cell.task for cell in missing]
    try:
        with bar(study.name, len(study.cells), done=len(store.done)) as advance:
            for place, rows in answers(study.compute, tasks, jobs or cpu_count()):
                store.add(missing[place], rows)
                advance(1)
    except KeyboardInterrupt:
        raise Interrupted(
            f"{len(store.done)} of {len(study.cells)} pieces are kept in {out}; "
            "the same command continues from there"
        ) from None
    except BrokenProcessPool:
        raise WorkerLost(
            f"a process was killed, perhaps because memory ran out; {len(store.done)} of "
            f"{len(study.cells)} pieces are kept in {out}; the same command continues from there, "
            "perhaps with fewer --jobs"
        ) from None
    return store.rows()


def answers(
    compute: Callable[[Any], Any], tasks: Sequence[Any], jobs: int
) -> Iterator[tuple[int, Any]]:
    """Yield the index of each task and its answer, in the order in which they finish.

    With one job, this process computes them in their order.
    """
    if jobs == 1 or len(tasks) <= 1:
        for place, task in enumerate(tasks):
            yield place, _alone(compute, task)
        return
    with _pool(min(jobs, len(tasks))) as pool:
        places = {pool.submit(_alone, compute, task): place for place, task in enumerate(tasks)}
        for future in as_completed(places):
            yield places[future], future.result()


def _alone(compute: Callable[[Any], Any], task: Any) -> Any:
    """Compute a task with one thread: there is one process per processor."""
    with threadpool_limits(1):
        return compute(task)


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Start processes that end with the block, even in the middle of a task."""
    others = set(multiprocessing.active_children())
    # Spawn on every system: a fork would copy a library's locks without the threads that hold them.
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _begin)
    try:
        yield pool
    except BaseException:
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Make a worker end silently on Ctrl-C, which the parent reports, or when the parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
