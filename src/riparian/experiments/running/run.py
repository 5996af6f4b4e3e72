"""Running a study: what is missing is computed, side by side, and kept as soon as it is done."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from joblib import cpu_count

from riparian.experiments.errors import WorkerLost
from riparian.experiments.progress_bar import bar
from riparian.experiments.running.store import Store
from riparian.experiments.running.study import Row, Study
from riparian.experiments.running.workers import answers


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a study; the message says how to go on."""


def run(study: Study, out: Path, *, jobs: int | None = None, fresh: bool = False) -> Sequence[Row]:
    """All rows of the study, including those that `out` already holds.

    `jobs` processes compute at the same time; None: one per processor. `fresh` forgets what `out`
    holds. If `out` holds runs with other settings, that is a `StudyError`.
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
            "the same command goes on from there"
        ) from None
    except BrokenProcessPool:
        raise WorkerLost(
            f"a process was killed, perhaps because memory ran out; {len(store.done)} of "
            f"{len(study.cells)} pieces are kept in {out}; the same command goes on from there, "
            "perhaps with fewer --jobs"
        ) from None
    return store.rows()
