"""Forests for numbers compared with their alternatives: root mean squared errors on thirteen sets.

    python -m benchmarks.numbers --out benchmarks/record/numbers.json --data FOLDER

`along` is test-then-train, one row at a time. `offline` learns 70 % of a table in one pass and judges
the rest. A cell is an engine with a number of trees on a set. Each is a process of its own with a limit
of processor time, and is written to the record as soon as it is there. A cell of the record is not run
again: what was stopped goes on. The sets, and how they are scaled, are those of `number_sets.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks import number_sets, record
from benchmarks.number_cell import ALONG, OFFLINE, Job
from benchmarks.peers import FEW, MANY, REGRESSORS, Entrant
from benchmarks.workloads import data_directory

PACKAGES = ("river", "capymoa")
ROWS = 10_000  # of a set, at most: more would take River's forests days
SECONDS = 300.0  # of the processor, for a cell
SEED = 1


def by_name(*entrants: Entrant) -> dict[str, Entrant]:
    return {entrant.name: entrant for entrant in entrants}


# The fast ones first, so that a run that is stopped has many whole columns.
ENTRANTS = {
    ALONG: by_name(
        Entrant("riparian-numbers", FEW),
        Entrant("riparian-numbers", MANY),
        Entrant("riparian-adaptive-numbers", FEW),
        Entrant("riparian-adaptive-numbers", MANY),
        Entrant("same-as-last", 1),
        Entrant("capymoa-knn", 1),
        Entrant("capymoa-arf-numbers", FEW),
        Entrant("capymoa-soknl", FEW),
        Entrant("river-arf-numbers", FEW),
        Entrant("river-amf-numbers", FEW),
        Entrant("capymoa-sgbr", FEW),
        Entrant("river-srp-numbers", FEW),
    ),
    OFFLINE: by_name(
        Entrant("riparian-numbers", FEW),
        Entrant("riparian-numbers", MANY),
        Entrant("sklearn-numbers", MANY),
    ),
}


@dataclass(frozen=True)
class Cell:
    """One measurement, or why there is none."""

    study: str
    entrant: str
    set: str
    seed: int
    rows: int | None  # that were asked for; None: all
    commit: str
    load: float  # of the machine at the end: how many processes wanted a core
    squares: tuple[float, ...] = ()  # see `number_cell.Measured`
    judged: int = 0
    seconds: float = 0.0
    deviation: float = 0.0
    finished: bool = False
    failed: str = ""

    @property
    def key(self) -> tuple[str, str, str, int, int | None]:
        return self.study, self.entrant, self.set, self.seed, self.rows


def measure(entrant: Entrant, job: Job) -> Cell:
    """Run a job in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.json"
        path.write_text(json.dumps(asdict(job)))
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.number_cell", str(path)],
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    figures = (
        json.loads(done.stdout.splitlines()[-1])
        if done.returncode == 0
        else {"failed": done.stderr.strip().splitlines()[-1]}
    )
    return Cell(
        study=job.study,
        entrant=entrant.name,
        set=job.set,
        seed=job.seed,
        rows=job.rows,
        commit=record.commit(),
        load=round(os.getloadavg()[0], 1),
        **figures,
    )


# -- the record ------------------------------------------------------------------------------------


def cells_of(path: Path) -> list[Cell]:
    if not path.exists():
        return []
    cells = record.read(path)["figures"]["cells"]
    return [Cell(**{**cell, "squares": tuple(cell["squares"])}) for cell in cells]


def add(path: Path, cell: Cell) -> None:
    """Add a cell, or replace it. Other processes may have added cells in the meantime."""
    others = [known for known in cells_of(path) if known.key != cell.key]
    cells = [{**asdict(known), "squares": list(known.squares)} for known in (*others, cell)]
    record.write(path, "numbers", {"cells": cells}, PACKAGES, quiet=True)


def jobs(
    study: str,
    entrants: Iterable[str],
    sets: Iterable[str],
    seeds: Iterable[int],
    rows: int | None,
    seconds: float,
    data: Path | None,
) -> Iterator[tuple[Entrant, Job]]:
    sets = [name for name in sets if study == ALONG or name in number_sets.WITHOUT_ORDER]
    for seed in seeds:
        for entrant in (ENTRANTS[study][name] for name in entrants if name in ENTRANTS[study]):
            for name in sets:
                yield entrant, Job(
                    study, entrant.peer, entrant.trees, name, seed,
                    rows if study == ALONG else None,
                    seconds, str(data) if data else None,
                )  # fmt: skip


def missing(path: Path, wanted: Iterable[tuple[Entrant, Job]]) -> Iterator[tuple[Entrant, Job]]:
    """Yield the jobs that the record has no cell of. A cell that failed is one."""
    for entrant, job in wanted:
        key = (job.study, entrant.name, job.set, job.seed, job.rows)
        if key not in {cell.key for cell in cells_of(path)}:
            yield entrant, job


def can_run(entrant: Entrant) -> bool:
    return (
        find_spec(REGRESSORS[entrant.peer].library.replace("scikit-learn", "sklearn")) is not None
    )


def main() -> None:
    every = dict.fromkeys(name for entrants in ENTRANTS.values() for name in entrants)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", nargs="+", choices=ENTRANTS, default=list(ENTRANTS))
    parser.add_argument("--entrants", nargs="+", choices=every, default=list(every))
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="default: all there are")
    parser.add_argument("--rows", type=int, default=ROWS, help="of a set, at most; 0: all")
    parser.add_argument("--seeds", nargs="+", type=int, default=[SEED])
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for a cell, at most")
    parser.add_argument("--data", type=Path, help="directory of the real sets (or RIPARIAN_DATA)")
    parser.add_argument("--out", type=Path, required=True, help="the record, which is added to")
    options = parser.parse_args()
    data = data_directory(options.data)
    sets = options.sets or number_sets.available(data)
    for study in options.studies:
        entrants = [
            name
            for name in options.entrants
            if name in ENTRANTS[study] and can_run(ENTRANTS[study][name])
        ]
        wanted = jobs(
            study, entrants, sets, options.seeds, options.rows or None, options.seconds, data
        )
        for entrant, job in missing(options.out, wanted):
            cell = measure(entrant, job)
            add(options.out, cell)
            mean = sum(cell.squares) / cell.judged if cell.judged else float("nan")
            print(
                f"{study:8} {cell.entrant:24} {cell.set:16} {cell.judged:7,} rows  "
                f"RMSE {mean**0.5:.4f}  {cell.seconds:8.1f} s  {cell.failed}",
                flush=True,
            )


if __name__ == "__main__":
    main()
