"""Tasks side by side in processes of their own, answers as they come."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]


def answers(
    compute: Callable[[Any], Any], tasks: Sequence[Any], jobs: int
) -> Iterator[tuple[int, Any]]:
    """The index of each task and its answer, in the order in which they are done.

    With one job they are computed here, in their order.
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
    """One thread per process: there are as many processes as processors to keep busy."""
    with threadpool_limits(1):
        return compute(task)


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with the block, even in the middle of a task."""
    others = set(multiprocessing.active_children())
    # Spawned on every system: a fork would copy a library's locks without the threads that hold them.
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
    """A worker ends silently on Ctrl-C, which is for the first process to explain, and when that
    process is killed, which leaves nobody to tell the worker.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
